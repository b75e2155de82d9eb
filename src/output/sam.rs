//! The format `sam`: SAM 1.6. For two very long sequences, there is one reference, the target, and
//! one read, the query. For many pairs, see [`PairsSam`].
//!
//! This module formats SAM without a library, because the output consists of three header lines and
//! one line per alignment. A library would copy every sequence and every CIGAR, which can be as
//! long as genomes here.
//!
//! As in `paf`, end gaps stay in the CIGAR if they cost as much as inner gaps. Other end gaps are
//! omitted, and the unaligned ends of the query are clipped (`S`), so that SEQ contains the whole
//! strand. The best alignment is primary. Any other alignment is supplementary if it aligns a part
//! of the query that no earlier one aligns. Otherwise it is secondary and has no SEQ, as in
//! minimap2. The mapping quality is 255 (not available). If there is no alignment, the query is
//! unmapped.
//!
//! QUAL contains the qualities of a query from FASTQ wherever SEQ contains its letters.
//!
//! Search hits also have BLAST's tags for the E-value (`EV:f`) and the bit score (`BS:f`).

mod pairs;

use super::columns::push_runs;
use super::long_context::{LongContext, LongPairAlignment};
use super::numbers::{push_integer, push_unsigned};
use super::{ByteSink, Context, Output, OutputPair, Range32};
use crate::error::{Error, Result};
use crate::score::statistics::{BitScore, Evalue};
use crate::score::{EndGaps, Mode, Significance};
use crate::seq::{Alphabet, Code};

pub(super) use pairs::{PairsSam, check_name};

const UNMAPPED: u64 = 4;
const REVERSE: u64 = 16;
const SECONDARY: u64 = 256;
const SUPPLEMENTARY: u64 = 2048;

/// Number of symbols that are converted to letters at once.
const LETTERS_AT_ONCE: usize = 1 << 16;

/// Returns the reason why SAM cannot contain a name of a reference or a read, or `None` if it can.
pub fn name_problem(name: &str, is_reference: bool) -> Option<String> {
    let is_printable = |c: char| c.is_ascii_graphic();
    if let Some(c) = name.chars().find(|&c| !is_printable(c)) {
        return Some(format!("SAM has no names with '{}'", c.escape_default()));
    }
    if !is_reference {
        return match name.len() {
            0 => Some("SAM has no empty names".into()),
            255.. => Some("SAM has no names of reads with more than 254 letters".into()),
            _ if name.contains('@') => Some("SAM has no names of reads with '@'".into()),
            _ if name == "*" => Some("'*' is no name in SAM".into()),
            _ => None,
        };
    }
    let first = name.chars().next();
    if let Some(c) = first.filter(|c| matches!(c, '*' | '=')) {
        return Some(format!("SAM has no names of references that begin with '{c}'"));
    }
    let forbidden = r#"\,"`'()[]{}<>"#;
    match name.chars().find(|&c| forbidden.contains(c)) {
        Some(c) => Some(format!("SAM has no names of references with {c}")),
        None if name.is_empty() => Some("SAM has no empty names".into()),
        None => None,
    }
}

/// Writes the header and all alignments.
pub(super) fn write(
    context: &LongContext,
    command: &str,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    push_header(command, [(context.target_name(), context.target_length())].into_iter(), output)?;
    let mut earlier: Vec<Range32> = Vec::new();
    for alignment in alignments {
        record(context, alignment, &mut earlier, output)?;
    }
    if earlier.is_empty() {
        output.buffer().extend_from_slice(context.query_name().as_bytes());
        output.buffer().push(b'\t');
        push_unsigned(output.buffer(), UNMAPPED);
        output.buffer().extend_from_slice(b"\t*\t0\t0\t*\t*\t0\t0\t");
        push_letters(context.query_codes(), context.alphabet(), output)?;
        output.buffer().push(b'\t');
        push_qualities(context.query_qualities(), false, output)?;
        output.buffer().push(b'\n');
    }
    Ok(())
}

/// Writes the header with these references and their lengths.
pub(super) fn push_header<'a>(
    command: &str,
    references: impl Iterator<Item = (&'a str, u32)>,
    output: &mut Output,
) -> Result<()> {
    output.buffer().extend_from_slice(b"@HD\tVN:1.6\tSO:unsorted\tGO:query\n");
    for (name, length) in references {
        let out = output.buffer();
        out.extend_from_slice(b"@SQ\tSN:");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\tLN:");
        push_unsigned(out, u64::from(length));
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

/// Writes one line. `earlier` contains the parts of the query, on the file's strand, of earlier
/// lines that are not secondary.
fn record(
    all: &LongContext,
    alignment: &LongPairAlignment<'_>,
    earlier: &mut Vec<Range32>,
    output: &mut Output,
) -> Result<()> {
    let (context, pair) = all.pair(alignment)?;
    let Some(aligned) = SamAlignment::from_pair(context, &pair)? else { return Ok(()) };
    let (query_length, out) = (all.query_length(), output.buffer());
    let hit = pair.long_hit().ok_or_else(|| Error::Internal("a pair without its strand".into()))?;
    let part = hit.in_file(aligned.query, query_length);
    let is_apart = |other: &Range32| other.end <= part.start || part.end <= other.start;
    let rank = match earlier.is_empty() {
        true => 0,
        false if earlier.iter().all(is_apart) => SUPPLEMENTARY,
        false => SECONDARY,
    };
    out.extend_from_slice(all.query_name().as_bytes());
    out.push(b'\t');
    push_unsigned(out, rank + if hit.is_reverse { REVERSE } else { 0 });
    out.push(b'\t');
    out.extend_from_slice(all.target_name().as_bytes());
    out.push(b'\t');
    push_unsigned(out, u64::from(aligned.target_start) + 1);
    out.extend_from_slice(b"\t255\t");
    push_clip(out, aligned.query.start);
    push_runs(out, aligned.runs());
    push_clip(out, query_length - aligned.query.end);
    out.extend_from_slice(b"\t*\t0\t0\t");
    if rank == SECONDARY {
        out.extend_from_slice(b"*\t*");
    } else {
        earlier.push(part);
        push_letters(context.queries.codes(pair.query), all.alphabet(), output)?;
        output.buffer().push(b'\t');
        push_qualities(all.query_qualities(), hit.is_reverse, output)?;
    }
    push_tail(output.buffer(), aligned.edits, &pair);
    output.pass_on()
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

/// Appends the tags, which follow QUAL.
fn push_tail(out: &mut Vec<u8>, edits: u64, pair: &OutputPair<'_>) {
    out.extend_from_slice(b"\tNM:i:");
    push_unsigned(out, edits);
    out.extend_from_slice(b"\tAS:i:");
    push_integer(out, pair.score);
    push_significance(out, pair);
    out.push(b'\n');
}

/// Appends the tags of E-value and bit score, with the names that BLAST's SAM uses, if they are
/// known.
pub(super) fn push_significance(out: &mut Vec<u8>, pair: &OutputPair<'_>) {
    if let Some(Significance { bits, evalue }) = pair.significance() {
        out.extend_from_slice(format!("\tEV:f:{}\tBS:f:{}", Evalue(evalue), BitScore(bits)).as_bytes());
    }
}

/// The written part of an alignment.
struct SamAlignment<'a> {
    /// Part of the query, on the aligned strand.
    query: Range32,
    target_start: u32,
    /// Number of mismatches and gap columns.
    edits: u64,
    columns: super::AlignmentColumns,
    cigar: &'a crate::alignment::Cigar,
    is_whole: bool,
}

impl<'a> SamAlignment<'a> {
    /// Selects the columns that are written. Returns `None` if there are none.
    fn from_pair(context: &Context, pair: &OutputPair<'a>) -> Result<Option<Self>> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let columns = context.columns(pair)?;
        let is_whole = context.scoring.mode == Mode::Global && context.scoring.end_gaps == EndGaps::Charged;
        let (query, target_start, gaps, total) = if is_whole {
            let all = Range32 { start: 0, end: context.queries.length(pair.query) };
            (all, 0, columns.counts.gap_columns, columns.total())
        } else {
            (columns.query, columns.target.start, columns.inner_gaps(), columns.inner_total())
        };
        let edits = columns.counts.mismatches + gaps;
        Ok((total > 0).then_some(SamAlignment { query, target_start, edits, columns, cigar, is_whole }))
    }

    fn runs(&self) -> Box<dyn Iterator<Item = (u32, crate::alignment::Op)> + 'a> {
        if self.is_whole { Box::new(self.cigar.iter()) } else { Box::new(self.columns.inner_runs(self.cigar)) }
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
    use super::*;

    #[test]
    fn names_invalid_in_sam_are_refused() {
        for name in ["chr1", "gi|9626243|ref|NC_001416.1|", "a*b=c", "~"] {
            assert_eq!((name_problem(name, true), name_problem(name, false)), (None, None), "{name}");
        }
        assert_eq!(name_problem("a(b)", false), None);
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
            let problem = name_problem(name, is_reference).expect(name);
            assert!(problem.contains(part), "{problem}");
        }
        assert!(name_problem(&"x".repeat(255), false).is_some() && name_problem(&"x".repeat(254), false).is_none());
    }
}
