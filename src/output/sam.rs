//! The format `sam`: SAM 1.6. Very long targets are references, and very long queries are reads. For
//! many pairs, see [`PairsSam`].
//!
//! This module formats SAM without a library, because the output consists of three header lines and
//! one line per alignment. A library would copy every sequence and every CIGAR, which can be as
//! long as genomes here.
//!
//! The CIGAR starts and ends with a column of two symbols, whatever end gaps cost. The ends of the
//! query before and after it are clipped (`S`), so that SEQ contains the whole strand. The best
//! alignment of a query is primary. Any other alignment is supplementary if it aligns a part of the
//! query that no better one aligns. Otherwise it is secondary and has no SEQ, as in minimap2. The
//! mapping quality is 255 (not available). A query without a column of two symbols in any alignment
//! is unmapped.
//!
//! QUAL contains the qualities of a query from FASTQ wherever SEQ contains its letters.
//!
//! SAM has no alignments that cross the end of a reference. Such an alignment of circular sequences
//! has several lines, which refer to each other (`SA`), and the references are marked (`TP:circular`).
//!
//! Search hits also have BLAST's tags for the E-value (`EV:f`) and the bit score (`BS:f`).

mod pairs;

use std::cmp::Reverse;

use super::aligned_part::AlignedCore;
use super::columns::push_runs;
use super::long_context::{LongContext, LongPairAlignment};
use super::numbers::{push_integer, push_unsigned};
use super::{ByteSink, LongPairEnd, Output, OutputPair, Range32};
use crate::error::{Error, Result};
use crate::score::Significance;
use crate::score::statistics::{BitScore, Evalue};
use crate::seq::{Alphabet, Code, SequenceId};

pub(super) use pairs::{PairsSam, check, check_reads, check_record, double_name};

const UNMAPPED: u64 = 4;
const REVERSE: u64 = 16;
const SECONDARY: u64 = 256;
const SUPPLEMENTARY: u64 = 2048;

/// Number of symbols that are converted to letters at once.
const LETTERS_AT_ONCE: usize = 1 << 16;

/// Returns the reason why `format`, SAM or VCF, cannot contain a name of a reference or a read, or
/// `None` if it can.
pub fn name_problem(format: &str, name: &[u8], is_reference: bool) -> Option<String> {
    for part in name.utf8_chunks() {
        if let Some(c) = part.valid().chars().find(|c| !c.is_ascii_graphic()) {
            return Some(format!("{format} has no names with '{}'", c.escape_default()));
        }
        if let Some(byte) = part.invalid().first() {
            return Some(format!("{format} has no names with byte 0x{byte:02X}, which is not UTF-8"));
        }
    }
    // Only printable ASCII is left.
    let name = &*String::from_utf8_lossy(name);
    if !is_reference {
        return match name.len() {
            0 => Some(format!("{format} has no empty names")),
            255.. => Some(format!("{format} has no names of reads with more than 254 letters")),
            _ if name.contains('@') => Some(format!("{format} has no names of reads with '@'")),
            _ if name == "*" => Some(format!("'*' is no name in {format}")),
            _ => None,
        };
    }
    let first = name.chars().next();
    if let Some(c) = first.filter(|c| matches!(c, '*' | '=')) {
        return Some(format!("{format} has no names of references that begin with '{c}'"));
    }
    let forbidden = r#"\,"`'()[]{}<>"#;
    match name.chars().find(|&c| forbidden.contains(c)) {
        Some(c) => Some(format!("{format} has no names of references with {c}")),
        None if name.is_empty() => Some(format!("{format} has no empty names")),
        None => None,
    }
}

/// Writes the header and all alignments, query by query.
pub(super) fn write(
    context: &LongContext,
    command: &str,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    let targets = context.targets();
    let references = context.target_ids().iter().map(|&id| (targets.name(id), targets.length(id)));
    let shape = if context.circular().target { ReferenceShape::Circular } else { ReferenceShape::Linear };
    push_header(command, references, shape, output)?;
    let mut rest = alignments;
    for &query in context.query_ids() {
        let count = rest.iter().take_while(|alignment| alignment.query_id == query).count();
        let (of_query, others) = rest.split_at(count);
        rest = others;
        let ranks = ranks(context, of_query)?;
        for (index, rank) in (0..).zip(&ranks) {
            rank.map_or(Ok(()), |rank| record(context, of_query, &ranks, index, rank, output))?;
        }
        if ranks.iter().all(Option::is_none) {
            unmapped(context, query, output)?;
        }
    }
    match rest {
        [] => Ok(()),
        _ => Err(Error::Internal("alignments that are not in the order of their queries".into())),
    }
}

/// Returns the flags that classify the alignments of a query: primary, supplementary or secondary.
/// An alignment without a column of two symbols has no line.
fn ranks(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Vec<Option<u64>>> {
    let mut best_first: Vec<usize> = (0..alignments.len()).collect();
    let whole_score = |one: &LongPairAlignment<'_>| one.part_of.map_or(one.score, |whole| whole.score);
    best_first.sort_by_key(|&index| Reverse((whole_score(&alignments[index]), alignments[index].score)));
    let mut ranks = vec![None; alignments.len()];
    // Parts of the query, on the file's strand, of better lines that are not secondary.
    let mut better: Vec<Range32> = Vec::new();
    for index in best_first {
        let (strand, pair) = context.pair(&alignments[index])?;
        let Some(core) = AlignedCore::from_pair(strand, &pair)? else { continue };
        let part = hit_of(&pair)?.in_file(core.query, strand.queries.length(pair.query));
        let is_apart = |other: &Range32| other.end <= part.start || part.end <= other.start;
        let rank = match better.is_empty() {
            true => 0,
            false if better.iter().all(is_apart) => SUPPLEMENTARY,
            false => SECONDARY,
        };
        if rank != SECONDARY {
            better.push(part);
        }
        ranks[index] = Some(rank);
    }
    Ok(ranks)
}

fn hit_of(pair: &OutputPair<'_>) -> Result<LongPairEnd> {
    pair.long_hit().ok_or_else(|| Error::Internal("a pair without its strand".into()))
}

/// Writes the line of a query without alignments.
fn unmapped(context: &LongContext, query: SequenceId, output: &mut Output) -> Result<()> {
    let queries = context.queries();
    output.buffer().extend_from_slice(queries.name(query).as_bytes());
    output.buffer().push(b'\t');
    push_unsigned(output.buffer(), UNMAPPED);
    output.buffer().extend_from_slice(b"\t*\t0\t0\t*\t*\t0\t0\t");
    push_letters(queries.codes(query), context.alphabet(), output)?;
    output.buffer().push(b'\t');
    push_qualities(queries.qualities(query), false, output)?;
    output.buffer().push(b'\n');
    output.pass_on()
}

/// The form of the references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceShape {
    /// The references have two ends. This is not written.
    Linear,
    /// The last symbol of a reference is next to its first symbol.
    Circular,
}

/// Writes the header with these references and their lengths.
pub(super) fn push_header<'a>(
    command: &str,
    references: impl Iterator<Item = (&'a str, u32)>,
    shape: ReferenceShape,
    output: &mut Output,
) -> Result<()> {
    output.buffer().extend_from_slice(b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n");
    for (name, length) in references {
        let out = output.buffer();
        out.extend_from_slice(b"@SQ\tSN:");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\tLN:");
        push_unsigned(out, u64::from(length));
        if shape == ReferenceShape::Circular {
            out.extend_from_slice(b"\tTP:circular");
        }
        out.push(b'\n');
        output.pass_on()?;
    }
    let out = output.buffer();
    out.extend_from_slice(concat!("@PG\tID:pairwave\tPN:pairwave\tVN:", env!("CARGO_PKG_VERSION"), "\tCL:").as_bytes());
    // A tab would start another tag.
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    out.extend_from_slice(command.chars().map(blank).collect::<String>().as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Writes the line of an alignment of a query. `rank` contains the flags that classify it.
fn record(
    all: &LongContext,
    of_query: &[LongPairAlignment<'_>],
    ranks: &[Option<u64>],
    index: usize,
    rank: u64,
    output: &mut Output,
) -> Result<()> {
    let alignment = &of_query[index];
    let (context, pair) = all.pair(alignment)?;
    let Some(core) = AlignedCore::from_pair(context, &pair)? else { return Ok(()) };
    let (queries, out) = (all.queries(), output.buffer());
    let (query_length, is_reverse) = (queries.length(alignment.query_id), hit_of(&pair)?.is_reverse);
    out.extend_from_slice(queries.name(alignment.query_id).as_bytes());
    out.push(b'\t');
    push_unsigned(out, rank + if is_reverse { REVERSE } else { 0 });
    out.push(b'\t');
    out.extend_from_slice(all.targets().name(alignment.target_id).as_bytes());
    out.push(b'\t');
    push_unsigned(out, u64::from(core.target.start) + 1);
    out.extend_from_slice(b"\t255\t");
    push_clip(out, core.query.start);
    push_runs(out, core.runs.iter().copied());
    push_clip(out, query_length - core.query.end);
    out.extend_from_slice(b"\t*\t0\t0\t");
    if rank == SECONDARY {
        out.extend_from_slice(b"*\t*");
    } else {
        push_letters(context.queries.codes(pair.query), all.alphabet(), output)?;
        output.buffer().push(b'\t');
        push_qualities(queries.qualities(alignment.query_id), is_reverse, output)?;
    }
    push_tags(output.buffer(), core.edits().into(), &pair);
    push_other_parts(all, of_query, ranks, index, output)?;
    output.buffer().push(b'\n');
    output.pass_on()
}

/// Writes the tag `SA` with the other parts of an alignment that crosses an origin. The primary part
/// is first.
fn push_other_parts(
    all: &LongContext,
    of_query: &[LongPairAlignment<'_>],
    ranks: &[Option<u64>],
    index: usize,
    output: &mut Output,
) -> Result<()> {
    let number = |index: usize| of_query[index].part_of.map(|whole| whole.number);
    let is_other = |&other: &usize| other != index && number(other).is_some() && number(other) == number(index);
    let mut others: Vec<usize> = (0..of_query.len()).filter(is_other).filter(|&other| ranks[other].is_some()).collect();
    others.sort_by_key(|&other| ranks[other] != Some(0));
    for (position, &other) in others.iter().enumerate() {
        let (context, pair) = all.pair(&of_query[other])?;
        let Some(core) = AlignedCore::from_pair(context, &pair)? else { continue };
        let out = output.buffer();
        out.extend_from_slice(if position == 0 { b"\tSA:Z:" } else { b"" });
        out.extend_from_slice(context.targets.name(pair.target).as_bytes());
        out.push(b',');
        push_unsigned(out, u64::from(core.target.start) + 1);
        out.extend_from_slice(if of_query[other].is_reverse { b",-," } else { b",+," });
        push_clip(out, core.query.start);
        push_runs(out, core.runs.iter().copied());
        push_clip(out, context.queries.length(pair.query) - core.query.end);
        out.extend_from_slice(b",255,");
        push_unsigned(out, core.edits().into());
        out.push(b';');
        output.pass_on()?;
    }
    Ok(())
}

/// Writes QUAL: the qualities of FASTQ, reversed if the query's reverse complement is aligned, or
/// `*` if there are none.
fn push_qualities(qualities: &[u8], is_reverse: bool, output: &mut impl ByteSink) -> Result<()> {
    if qualities.is_empty() {
        output.buffer().push(b'*');
    } else if is_reverse {
        output.buffer().extend(qualities.iter().rev());
    } else {
        output.buffer().extend_from_slice(qualities);
    }
    output.pass_on()
}

/// Appends the tags, which follow QUAL, and the end of the line.
fn push_tail(out: &mut Vec<u8>, edits: u64, pair: &OutputPair<'_>) {
    push_tags(out, edits, pair);
    out.push(b'\n');
}

/// Appends the tags.
fn push_tags(out: &mut Vec<u8>, edits: u64, pair: &OutputPair<'_>) {
    out.extend_from_slice(b"\tNM:i:");
    push_unsigned(out, edits);
    out.extend_from_slice(b"\tAS:i:");
    push_integer(out, pair.score);
    push_significance(out, pair);
}

/// Appends the tags of E-value and bit score, with the names that BLAST's SAM uses, if they are
/// known.
pub(super) fn push_significance(out: &mut Vec<u8>, pair: &OutputPair<'_>) {
    if let Some(Significance { bits, evalue }) = pair.significance() {
        out.extend_from_slice(format!("\tEV:f:{}\tBS:f:{}", Evalue(evalue), BitScore(bits)).as_bytes());
    }
}

fn push_clip(out: &mut Vec<u8>, symbols: u32) {
    if symbols > 0 {
        push_unsigned(out, u64::from(symbols));
        out.push(b'S');
    }
}

fn push_letters(codes: &[Code], alphabet: Alphabet, output: &mut impl ByteSink) -> Result<()> {
    for piece in codes.chunks(LETTERS_AT_ONCE) {
        output.buffer().extend(piece.iter().map(|&code| alphabet.decode(code)));
        output.pass_on()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_invalid_in_sam_are_refused() {
        let name_problem =
            |format: &str, name: &str, is_reference: bool| super::name_problem(format, name.as_bytes(), is_reference);
        for name in ["chr1", "gi|9626243|ref|NC_001416.1|", "a*b=c", "~"] {
            assert_eq!((name_problem("SAM", name, true), name_problem("SAM", name, false)), (None, None), "{name}");
        }
        assert_eq!(name_problem("SAM", "a(b)", false), None);
        for (name, is_reference, part) in [
            ("", true, "empty"),
            ("", false, "empty"),
            ("*", false, "no name"),
            ("*a", true, "begin with '*'"),
            ("=", true, "begin with '='"),
            ("a(b)", true, "with ("),
            ("a@b", false, "'@'"),
            ("caf\u{e9}", true, "\\u{e9}"),
        ] {
            let problem = name_problem("SAM", name, is_reference).expect(name);
            assert!(problem.contains(part), "{problem}");
        }
        let bytes = super::name_problem("VCF", b"a\xFF\xE9", true);
        assert_eq!(bytes.as_deref(), Some("VCF has no names with byte 0xFF, which is not UTF-8"));
        let first = super::name_problem("SAM", b"\xC3\xA9\xFF", false);
        assert_eq!(first.as_deref(), Some("SAM has no names with '\\u{e9}'"));
        assert!(
            name_problem("SAM", &"x".repeat(255), false).is_some()
                && name_problem("SAM", &"x".repeat(254), false).is_none()
        );
    }
}
