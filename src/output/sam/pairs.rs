//! SAM of many pairs: every query is a read, every target a reference, and every pair an alignment.
//!
//! The CIGAR starts and ends with a column of two symbols, whatever end gaps cost. Overhanging ends
//! of the query are clipped (`S`). Overhanging ends of the target are before the position or after
//! the end, as in read mappers and as readers of the format expect. `AS` is the score of the whole
//! alignment including its end gaps, and `NM` counts differences between them. A pair without a
//! column of two symbols has no line.
//!
//! The alignment of a query with the highest score, or the first of several, is primary and has SEQ
//! and QUAL. A search may find several alignments with the target of the primary one. If an
//! alignment covers another part of the query, it is supplementary and also has SEQ and QUAL. The
//! others are secondary and have neither, as in minimap2. Other places of a pattern are always
//! secondary: each one is a place of the whole pattern. Lines stay in input order, so the lines of
//! a query are buffered until the next query starts.
//!
//! Pairs of a list are independent: every line is primary and has SEQ. A pair without a column of
//! two symbols also has a line, as an unmapped read.

use super::super::{Context, FormatBody, Output, OutputPair, PairKind, PairLine};
use super::{
    REVERSE, ReferenceShape, SECONDARY, SUPPLEMENTARY, UNMAPPED, name_problem, push_clip, push_header, push_letters,
    push_qualities, push_tail,
};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::{Range32, push_runs};
use crate::output::numbers::push_unsigned;
use crate::seq::{Alphabet, SequenceId, SequenceStore, reverse_complement};
use std::borrow::Cow;
use std::collections::HashSet;

#[derive(Default)]
pub(in crate::output) struct PairsSam {
    command: String,
    /// Whether pairs are from a list, and therefore independent of each other.
    is_list: bool,
    /// Query whose lines are buffered.
    query: Option<SequenceId>,
    /// Text of the buffered lines, without the flag, SEQ and QUAL.
    text: Vec<u8>,
    lines: Vec<SamLine>,
}

/// A buffered line. Its text follows that of the previous line.
struct SamLine {
    score: i64,
    is_reverse: bool,
    /// Aligned part of the query, on the file's strand.
    query: Range32,
    /// Ends of the three parts of the line's text: before the flag, from the flag to SEQ, and after
    /// QUAL.
    ends: [usize; 3],
}

impl PairsSam {
    pub(in crate::output) fn new(command: &str, context: &Context) -> Result<Self> {
        check(context)?;
        Ok(PairsSam { command: command.to_owned(), ..PairsSam::default() })
    }

    /// Creates a format that writes lines without a header.
    pub(in crate::output) fn of_reads(queries: &SequenceStore) -> Result<Self> {
        check_reads(queries)?;
        Ok(PairsSam::default())
    }

    /// Adds an alignment. All alignments since the last flush must have the same query. Returns
    /// false if the alignment has no column of two symbols, and so no line.
    pub(in crate::output) fn add(&mut self, context: &Context, pair: &OutputPair<'_>) -> Result<bool> {
        self.query = Some(pair.query);
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let Some(middle) = Middle::from_cigar(cigar, pair, context.queries.length(pair.query)) else {
            return Ok(false);
        };
        let out = &mut self.text;
        out.extend_from_slice(context.queries.name(pair.query).as_bytes());
        out.push(b'\t');
        let flag = out.len();
        out.push(b'\t');
        out.extend_from_slice(context.targets.name(pair.target).as_bytes());
        out.push(b'\t');
        push_unsigned(out, u64::from(middle.position) + 1);
        out.extend_from_slice(b"\t255\t");
        push_clip(out, middle.clips[0]);
        push_runs(out, cigar.iter().skip(middle.skipped).take(middle.runs));
        push_clip(out, middle.clips[1]);
        out.extend_from_slice(b"\t*\t0\t0\t");
        let letters = out.len();
        push_tail(out, middle.edits, pair);
        let is_reverse = pair.is_reverse();
        let mut clips = middle.clips;
        if is_reverse {
            clips.reverse();
        }
        let query = Range32 { start: clips[0], end: context.queries.length(pair.query) - clips[1] };
        self.lines.push(SamLine { score: pair.score, is_reverse, query, ends: [flag, letters, out.len()] });
        Ok(true)
    }

    /// Returns the rank of each buffered line as a flag: 0 for the primary line.
    fn ranks(&self, kind: PairKind) -> Vec<u64> {
        let best = self.lines.iter().map(|line| line.score).max();
        let Some(primary) = self.lines.iter().position(|line| Some(line.score) == best) else { return Vec::new() };
        // The text from the flag on starts with the name of the target.
        let target = |line: &SamLine| self.text[line.ends[0] + 1..].split(|&byte| byte == b'\t').next();
        let mut apart = vec![self.lines[primary].query];
        let rank = |(index, line): (usize, &SamLine)| {
            if index == primary {
                return 0;
            }
            let is_apart = |other: &Range32| other.end <= line.query.start || line.query.end <= other.start;
            if kind == PairKind::Edit || target(line) != target(&self.lines[primary]) || !apart.iter().all(is_apart) {
                return SECONDARY;
            }
            apart.push(line.query);
            SUPPLEMENTARY
        };
        self.lines.iter().enumerate().map(rank).collect()
    }

    pub(in crate::output) fn of_list(command: &str, context: &Context) -> Result<Self> {
        Ok(PairsSam { is_list: true, ..PairsSam::new(command, context)? })
    }

    /// Writes the line of an unaligned query.
    fn unmapped(context: &Context, query: SequenceId, output: &mut Output) -> Result<()> {
        let out = output.buffer();
        out.extend_from_slice(context.queries.name(query).as_bytes());
        out.push(b'\t');
        push_unsigned(out, UNMAPPED);
        out.extend_from_slice(b"\t*\t0\t0\t*\t*\t0\t0\t");
        push_letters(context.queries.codes(query), context.queries.alphabet(), output)?;
        output.buffer().push(b'\t');
        push_qualities(context.queries.qualities(query), false, output)?;
        output.buffer().push(b'\n');
        output.pass_on()
    }

    /// Writes the buffered lines of the query.
    pub(in crate::output) fn flush(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        let Some(query) = self.query.take() else { return Ok(()) };
        let ranks = self.ranks(context.contents.kind);
        let mut start = 0;
        for (SamLine { is_reverse, ends, .. }, rank) in self.lines.drain(..).zip(ranks) {
            let out = output.buffer();
            out.extend_from_slice(&self.text[start..ends[0]]);
            push_unsigned(out, rank + if is_reverse { REVERSE } else { 0 });
            out.extend_from_slice(&self.text[ends[0]..ends[1]]);
            match rank != SECONDARY {
                true => {
                    let forward = context.queries.codes(query);
                    let codes =
                        if is_reverse { Cow::Owned(reverse_complement(forward)) } else { Cow::Borrowed(forward) };
                    push_letters(&codes, context.queries.alphabet(), output)?;
                    output.buffer().push(b'\t');
                    push_qualities(context.queries.qualities(query), is_reverse, output)?;
                }
                false => out.extend_from_slice(b"*\t*"),
            }
            output.buffer().extend_from_slice(&self.text[ends[1]..ends[2]]);
            output.pass_on()?;
            start = ends[2];
        }
        self.text.clear();
        Ok(())
    }
}

/// Checks that SAM can contain all queries and targets.
pub(in crate::output) fn check(context: &Context) -> Result<()> {
    check_reads(&context.queries)?;
    check_names(&context.targets, true)
}

/// Checks that SAM can contain all queries.
pub(in crate::output) fn check_reads(queries: &SequenceStore) -> Result<()> {
    if queries.alphabet() != Alphabet::Dna {
        let letters = queries.alphabet().letters();
        return Err(Error::usage(format!("SAM is for nucleotides, but these are {letters}; use paf")));
    }
    check_names(queries, false)
}

/// Checks names and lengths that SAM cannot contain, and duplicate names of references.
fn check_names(store: &SequenceStore, are_references: bool) -> Result<()> {
    let mut seen = HashSet::new();
    for id in 0..store.len() as SequenceId {
        check_record(store, id, are_references)?;
        if are_references && !seen.insert(store.name_bytes(id)) {
            return Err(double_name(store, id, id.into()));
        }
    }
    Ok(())
}

/// Checks that SAM can contain a sequence as a reference or as a read.
pub(in crate::output) fn check_record(store: &SequenceStore, id: SequenceId, is_reference: bool) -> Result<()> {
    let is_long = is_reference && store.length(id) > i32::MAX as u32;
    let problem = name_problem("SAM", store.name_bytes(id), is_reference)
        .or_else(|| is_long.then(|| "SAM has no references of 2^31 symbols or more".into()));
    match problem {
        Some(problem) => Err(store.record_error(id, format!("{problem}; use paf"))),
        None => Ok(()),
    }
}

/// Returns the error of a reference that has the name of an earlier one. `record` is its number in
/// the file, from 0.
pub(in crate::output) fn double_name(store: &SequenceStore, id: SequenceId, record: u64) -> Error {
    let problem = "SAM has no two references of one name";
    store.record_error(id, format!("record {} has the name of an earlier one, but {problem}; use paf", record + 1))
}

/// The part of an alignment from its first to its last column of two symbols.
struct Middle {
    /// Number of runs before the part, and in it.
    skipped: usize,
    runs: usize,
    /// Number of query symbols before and after the part.
    clips: [u32; 2],
    /// Number of target symbols before the part.
    position: u32,
    edits: u64,
}

impl Middle {
    /// Returns `None` if no column has two symbols.
    fn from_cigar(cigar: &Cigar, pair: &OutputPair<'_>, query_length: u32) -> Option<Self> {
        let first = cigar.iter().position(|(_, op)| !op.is_gap())?;
        let end = cigar.iter().rposition(|(_, op)| !op.is_gap())? + 1;
        let symbols = |runs: usize, consumes: fn(Op) -> bool| -> u32 {
            cigar.iter().take(runs).filter(|run| consumes(run.1)).map(|run| run.0).sum()
        };
        let before = pair.query_start + symbols(first, Op::consumes_query);
        let through = pair.query_start + symbols(end, Op::consumes_query);
        let middle = cigar.iter().take(end).skip(first);
        let edits = middle.filter(|run| run.1 != Op::Match).map(|run| u64::from(run.0)).sum();
        Some(Middle {
            skipped: first,
            runs: end - first,
            clips: [before, query_length - through],
            position: pair.target_start + symbols(first, Op::consumes_target),
            edits,
        })
    }
}

impl FormatBody for PairsSam {
    fn begin(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        let targets = &context.targets;
        let ids = 0..targets.len() as SequenceId;
        push_header(&self.command, ids.map(|id| (targets.name(id), targets.length(id))), ReferenceShape::Linear, output)
    }

    fn accept_context(&mut self, _context: &Context) -> Result<()> {
        Err(Error::Internal("the references of SAM are in its header, before the first pair".into()))
    }

    fn lines(&self) -> Option<&dyn PairLine> {
        None
    }

    fn pair(&mut self, context: &Context, pair: &OutputPair<'_>, output: &mut Output) -> Result<()> {
        if self.is_list || self.query != Some(pair.query) {
            self.flush(context, output)?;
        }
        if !self.add(context, pair)? && self.is_list {
            Self::unmapped(context, pair.query, output)?;
        }
        Ok(())
    }

    fn end(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        self.flush(context, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Strand;

    fn middle(
        cigar: &str,
        query_start: u32,
        target_start: u32,
        query_length: u32,
    ) -> Option<(String, [u32; 2], u32, u64)> {
        let cigar: Cigar = cigar.parse().unwrap();
        let pair = OutputPair {
            query: 0,
            target: 1,
            strand: Strand::Plus,
            score: 0,
            alignment: Some(&cigar),
            query_start,
            target_start,
            counts: None,
            details: crate::output::Details::None,
        };
        let Middle { skipped, runs, clips, position, edits } = Middle::from_cigar(&cigar, &pair, query_length)?;
        let mut out = Vec::new();
        push_runs(&mut out, cigar.iter().skip(skipped).take(runs));
        Some((String::from_utf8(out).unwrap(), clips, position, edits))
    }

    #[test]
    fn end_gaps_are_clipped_in_sam() {
        let fields = |text: &str, clips, position, edits| Some((text.to_owned(), clips, position, edits));
        assert_eq!(middle("2I6=1X10=2D", 0, 0, 19), fields("6=1X10=", [2, 0], 0, 1));
        assert_eq!(middle("2D6=1X2=2I6=2I", 0, 0, 19), fields("6=1X2=2I6=", [0, 2], 2, 3));
        // Several runs of gaps at an end.
        assert_eq!(middle("2I3D10=1D4I", 0, 0, 16), fields("10=", [2, 4], 3, 0));
        assert_eq!(middle("3=1I2=", 5, 7, 20), fields("3=1I2=", [5, 9], 7, 1));
        assert_eq!((middle("3D2I", 0, 0, 2), middle("", 0, 0, 0)), (None, None));
    }
}
