//! The format `paf`: minimap2's pairwise mapping format with a base-level alignment.
//!
//! If end gaps cost as much as inner gaps, a line describes both sequences from end to end. The
//! spans are then 0 to the length, and `cg` contains every column. If end gaps are free or have
//! their own costs, they are omitted, as minimap2 omits clipped symbols. A local alignment has the
//! spans of its two parts. In any case, the symbols that `cg` consumes add up to the spans, as
//! readers check.
//!
//! For a pattern in a text, the query span is the pattern without the symbols that hang over an end
//! of the text, and the target span is the part where it was found. `NM` is the distance without
//! the cost of these symbols, and there is no `AS`.
//!
//! Column 10 counts matches, and column 11 counts columns. The mapping quality is 255, unknown. The
//! strand is - if the query's reverse complement is aligned: the query span then refers to the
//! file's strand, and `cg` follows the target. `NM` counts mismatches and gap columns, `AS` is the
//! score, and `de` is the gap-compressed divergence: 1 - matches / (matches + mismatches + gap
//! openings). An alignment without columns has no `de` and no `cg`. Search hits have their E-value
//! and bit score (`EV:f` and `BS:f`, as in SAM). Alignments of circular sequences are numbered
//! (`al:i`). An alignment that crosses an origin has several lines. The tag `cs` is optional
//! (`differences`).

mod differences;
mod intervals;

use super::aligned_part::{WrittenColumns, has_charged_ends};
use super::columns::{Range32, push_runs};
use super::numbers::{push_fraction, push_integer, push_unsigned};
use super::sam::push_significance;
use super::{Context, FormatBody, OutputPair, PairLine};
use crate::error::Result;
use crate::seq::Strand;
use std::sync::Arc;

use differences::push_differences;

pub use differences::CsForm;
pub use intervals::PafIntervals;

/// The format, with or without the tag `cs`.
#[derive(Clone, Default)]
pub(super) struct Paf {
    pub(super) cs: Option<CsForm>,
}

impl FormatBody for Paf {
    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

impl PairLine for Paf {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let part = PafPart::from_pair(context, pair)?;
        let query_length = context.queries.length(pair.query);
        // The span refers to the query as in its file. `cg` always follows the target.
        let (span, is_reverse) = match pair.long_hit() {
            Some(hit) => (hit.in_file(part.query, query_length), hit.is_reverse),
            None => (part.query, pair.strand == Strand::Minus),
        };
        let query = PafSide { name: context.queries.name_bytes(pair.query), length: query_length, span };
        let target = PafSide {
            name: context.targets.name_bytes(pair.target),
            length: context.targets.length(pair.target),
            span: part.target,
        };
        part.push(pair, query, is_reverse, target, out);
        if let Some(form) = self.cs {
            part.push_cs(context, pair, form, out);
        }
        if let Some(number) = pair.long_hit().and_then(|hit| hit.number) {
            out.extend_from_slice(b"\tal:i:");
            push_unsigned(out, u64::from(number));
        }
        out.push(b'\n');
        Ok(())
    }
}

/// A sequence in a record.
struct PafSide<'a> {
    name: &'a [u8],
    /// Length of the whole sequence.
    length: u32,
    /// Aligned part.
    span: Range32,
}

impl PafSide<'_> {
    /// Appends the four columns of the sequence and a tab.
    fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.name);
        for number in [self.length, self.span.start, self.span.end] {
            out.push(b'\t');
            push_unsigned(out, u64::from(number));
        }
        out.push(b'\t');
    }
}

/// The parts and columns of a record.
struct PafPart<'a> {
    /// Part of the query, on the compared strand.
    query: Range32,
    target: Range32,
    written: WrittenColumns<'a>,
}

impl<'a> PafPart<'a> {
    fn from_pair(context: &Context, pair: &OutputPair<'a>) -> Result<Self> {
        let is_charged = has_charged_ends(context);
        let written = WrittenColumns::from_pair(context, pair, is_charged || pair.edits().is_some())?;
        let columns = &written.columns;
        let all = |length| Range32 { start: 0, end: length };
        let (query, target) = match pair.edits() {
            Some(edits) => (columns.whole_query, Range32 { start: pair.target_start, end: edits.end }),
            None if is_charged => (all(context.queries.length(pair.query)), all(context.targets.length(pair.target))),
            None => (columns.query, columns.target),
        };
        Ok(PafPart { query, target, written })
    }

    /// Appends the record without the end of the line.
    fn push(
        &self,
        pair: &OutputPair<'_>,
        query: PafSide<'_>,
        is_reverse: bool,
        target: PafSide<'_>,
        out: &mut Vec<u8>,
    ) {
        let (counts, total) = (self.written.columns.counts, self.written.total());
        query.push(out);
        out.extend_from_slice(if is_reverse { b"-\t" } else { b"+\t" });
        target.push(out);
        push_unsigned(out, counts.matches);
        out.push(b'\t');
        push_unsigned(out, total);
        out.extend_from_slice(b"\t255\tNM:i:");
        push_unsigned(out, self.written.edits());
        if pair.edits().is_none() {
            out.extend_from_slice(b"\tAS:i:");
            push_integer(out, pair.score);
        }
        push_significance(out, pair);
        if total > 0 {
            let events = counts.mismatches + self.written.gap_openings();
            out.extend_from_slice(b"\tde:f:");
            push_fraction(out, events as f64 / (counts.matches + events) as f64);
            out.extend_from_slice(b"\tcg:Z:");
            push_runs(out, self.written.runs());
        }
    }

    /// Appends the tag `cs`, unless there are no columns.
    fn push_cs(&self, context: &Context, pair: &OutputPair<'_>, form: CsForm, out: &mut Vec<u8>) {
        if self.written.total() == 0 {
            return;
        }
        out.extend_from_slice(b"\tcs:Z:");
        let query = &context.queries.codes(pair.query)[self.query.start as usize..];
        let target = &context.targets.codes(pair.target)[self.target.start as usize..];
        push_differences(out, self.written.runs(), [query, target], context.queries.alphabet(), form);
    }
}
