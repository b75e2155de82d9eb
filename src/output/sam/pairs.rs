//! SAM of many pairs: every query is a read, every target a reference, every pair an alignment.
//!
//! The CIGAR begins and ends with a column of two symbols whatever end gaps cost: what hangs over of the query is clipped
//! (`S`), and what hangs over of the target lies before the position or after the end, as a read mapper has it and as
//! readers of the format expect. `AS` is the score of the whole alignment, its end gaps included; `NM` counts what lies
//! between them. A pair without a column of two symbols has no line.
//!
//! Of the alignments of a query the one that scores most is primary and has SEQ and QUAL; of several the first. The others are
//! secondary and have neither, as in minimap2. Lines stay in input order, so that those of one query are kept until the next
//! query begins.
//!
//! Pairs of a list are each by themselves: every line is primary and has SEQ, and a pair without a column of two symbols has
//! a line as well, of an unmapped read.

use super::super::{Body, Context, Line, Output, Pair};
use super::{
    REVERSE, SECONDARY, UNMAPPED, name_problem, push_clip, push_header, push_letters, push_qualities, push_tail,
};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::push_runs;
use crate::output::numbers::push_unsigned;
use crate::seq::{Alphabet, SequenceId, SequenceStore, reverse_complement};
use std::borrow::Cow;
use std::collections::HashSet;

pub(in crate::output) struct Sam {
    command: String,
    /// Every pair is by itself.
    is_list: bool,
    /// Whose lines are kept.
    query: Option<SequenceId>,
    /// The lines without flag, SEQ and QUAL.
    text: Vec<u8>,
    lines: Vec<Kept>,
}

/// Where a line's text lies: after the one before.
struct Kept {
    score: i64,
    is_reverse: bool,
    /// Ends of what stands before the flag, between it and SEQ, and after QUAL.
    ends: [usize; 3],
}

impl Sam {
    pub(in crate::output) fn new(command: &str, context: &Context) -> Result<Self> {
        let sam = Sam { command: command.to_owned(), ..Self::of_reads(&context.queries)? };
        check_names(&context.targets, true)?;
        Ok(sam)
    }

    /// One that writes lines alone.
    pub(in crate::output) fn of_reads(queries: &SequenceStore) -> Result<Self> {
        if queries.alphabet() != Alphabet::Dna {
            let letters = queries.alphabet().letters();
            return Err(Error::usage(format!("SAM is for nucleotides, but these are {letters}; use paf")));
        }
        check_names(queries, false)?;
        Ok(Sam { command: String::new(), is_list: false, query: None, text: Vec::new(), lines: Vec::new() })
    }

    /// Adds an alignment to those of its query. All before must be of the same one. Gives false if it has no column of two
    /// symbols, and so no line.
    pub(in crate::output) fn add(&mut self, context: &Context, pair: &Pair<'_>) -> Result<bool> {
        self.query = Some(pair.query);
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let Some(middle) = Middle::of(cigar, pair, context.queries.length(pair.query)) else { return Ok(false) };
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
        self.lines.push(Kept { score: pair.score, is_reverse, ends: [flag, letters, out.len()] });
        Ok(true)
    }

    pub(in crate::output) fn of_list(command: &str, context: &Context) -> Result<Self> {
        Ok(Sam { is_list: true, ..Sam::new(command, context)? })
    }

    /// The line of a query that is not aligned.
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

    /// Writes the lines of the query so far.
    pub(in crate::output) fn flush(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        let Some(query) = self.query.take() else { return Ok(()) };
        let best = self.lines.iter().map(|line| line.score).max();
        let (mut is_primary_out, mut start) = (false, 0);
        for Kept { score, is_reverse, ends } in self.lines.drain(..) {
            let is_primary = !is_primary_out && Some(score) == best;
            is_primary_out |= is_primary;
            let out = output.buffer();
            out.extend_from_slice(&self.text[start..ends[0]]);
            push_unsigned(out, if is_primary { 0 } else { SECONDARY } + if is_reverse { REVERSE } else { 0 });
            out.extend_from_slice(&self.text[ends[0]..ends[1]]);
            match is_primary {
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

/// Names and lengths that SAM does not have, and references of one name.
fn check_names(store: &SequenceStore, are_references: bool) -> Result<()> {
    let mut seen = HashSet::new();
    for id in 0..store.len() as SequenceId {
        let name = store.name(id);
        let is_double = are_references && !seen.insert(name);
        check_name(name, are_references.then(|| store.length(id)), is_double)?;
    }
    Ok(())
}

/// Whether SAM has a read of this name, or a reference of this name and length, which is another one's already if it
/// `is_double`.
pub(in crate::output) fn check_name(name: &str, reference: Option<u32>, is_double: bool) -> Result<()> {
    let is_long = reference.is_some_and(|length| length > i32::MAX as u32);
    let problem = name_problem(name, reference.is_some())
        .or_else(|| is_long.then(|| "SAM has no references of 2^31 symbols or more".into()))
        .or_else(|| is_double.then(|| "SAM has no two references of one name".into()));
    match problem {
        Some(problem) => Err(Error::usage(format!("record '{name}': {problem}; use paf"))),
        None => Ok(()),
    }
}

/// An alignment between its first and its last column of two symbols.
struct Middle {
    /// Runs before and in it.
    skipped: usize,
    runs: usize,
    /// Query symbols before and after it.
    clips: [u32; 2],
    /// Target symbols before it.
    position: u32,
    edits: u64,
}

impl Middle {
    /// `None` if no column has two symbols.
    fn of(cigar: &Cigar, pair: &Pair<'_>, query_length: u32) -> Option<Self> {
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

impl Body for Sam {
    fn begin(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        let targets = &context.targets;
        let ids = 0..targets.len() as SequenceId;
        push_header(&self.command, ids.map(|id| (targets.name(id), targets.length(id))), output)
    }

    fn go_on(&mut self, _context: &Context) -> Result<()> {
        Err(Error::Internal("the references of SAM are in its header, before the first pair".into()))
    }

    fn lines(&self) -> Option<&dyn Line> {
        None
    }

    fn pair(&mut self, context: &Context, pair: &Pair<'_>, output: &mut Output) -> Result<()> {
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
        let pair = Pair {
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
        let Middle { skipped, runs, clips, position, edits } = Middle::of(&cigar, &pair, query_length)?;
        let mut out = Vec::new();
        push_runs(&mut out, cigar.iter().skip(skipped).take(runs));
        Some((String::from_utf8(out).unwrap(), clips, position, edits))
    }

    #[test]
    fn end_gaps_are_clipped_or_stepped_over() {
        let found = |text: &str, clips, position, edits| Some((text.to_owned(), clips, position, edits));
        assert_eq!(middle("2I6=1X10=2D", 0, 0, 19), found("6=1X10=", [2, 0], 0, 1));
        assert_eq!(middle("2D6=1X2=2I6=2I", 0, 0, 19), found("6=1X2=2I6=", [0, 2], 2, 3));
        // Several runs of gaps at an end.
        assert_eq!(middle("2I3D10=1D4I", 0, 0, 16), found("10=", [2, 4], 3, 0));
        assert_eq!(middle("3=1I2=", 5, 7, 20), found("3=1I2=", [5, 9], 7, 1));
        assert_eq!((middle("3D2I", 0, 0, 2), middle("", 0, 0, 0)), (None, None));
    }
}
