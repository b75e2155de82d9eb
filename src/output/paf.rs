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
//! and bit score (`EV:f` and `BS:f`, as in SAM).

use super::columns::{Range32, push_runs};
use super::numbers::{push_fraction, push_integer, push_unsigned};
use super::sam::push_significance;
use super::{Context, FormatBody, OutputPair, PairLine};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Mode};
use crate::seq::Strand;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Paf;

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
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let columns = context.columns(pair)?;
        let counts = columns.counts;
        let query_length = context.queries.length(pair.query);
        let target_length = context.targets.length(pair.target);
        let is_charged = context.scoring.mode == Mode::Global && context.scoring.end_gaps == EndGaps::Charged;
        let is_whole = is_charged || pair.edits().is_some();
        let (query, target, total, gaps, openings) = if is_whole {
            let all = |length| Range32 { start: 0, end: length };
            let target = match pair.edits() {
                Some(edits) => Range32 { start: pair.target_start, end: edits.end },
                None => all(target_length),
            };
            let query = if is_charged && pair.edits().is_none() { all(query_length) } else { columns.whole_query };
            (query, target, columns.total(), counts.gap_columns, counts.gap_openings)
        } else {
            let inner = (columns.inner_total(), columns.inner_gaps(), columns.inner_gap_openings);
            (columns.query, columns.target, inner.0, inner.1, inner.2)
        };

        // The span refers to the query as in its file. `cg` always follows the target.
        let (query, strand) = match pair.long_hit() {
            Some(hit) => (hit.in_file(query, query_length), if hit.is_reverse { b'-' } else { b'+' }),
            None => (query, if pair.strand == Strand::Minus { b'-' } else { b'+' }),
        };
        out.extend_from_slice(context.queries.name_bytes(pair.query));
        push_span(out, query_length, query);
        out.extend_from_slice(&[b'\t', strand, b'\t']);
        out.extend_from_slice(context.targets.name_bytes(pair.target));
        push_span(out, target_length, target);
        out.push(b'\t');
        push_unsigned(out, counts.matches);
        out.push(b'\t');
        push_unsigned(out, total);
        out.extend_from_slice(b"\t255\tNM:i:");
        push_unsigned(out, counts.mismatches + gaps);
        if pair.edits().is_none() {
            out.extend_from_slice(b"\tAS:i:");
            push_integer(out, pair.score);
        }
        push_significance(out, pair);
        if total > 0 {
            let events = counts.mismatches + openings;
            out.extend_from_slice(b"\tde:f:");
            push_fraction(out, events as f64 / (counts.matches + events) as f64);
            out.extend_from_slice(b"\tcg:Z:");
            if is_whole {
                push_runs(out, cigar.iter());
            } else {
                push_runs(out, columns.inner_runs(cigar));
            }
        }
        out.push(b'\n');
        Ok(())
    }
}

fn push_span(out: &mut Vec<u8>, length: u32, span: Range32) {
    for number in [length, span.start, span.end] {
        out.push(b'\t');
        push_unsigned(out, u64::from(number));
    }
}
