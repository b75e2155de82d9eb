//! `paf`: minimap2's pairwise mapping format with a base-level alignment.
//!
//! The line describes what the score covers. With charged end gaps that is the whole of both sequences: the spans are 0
//! to the length, and `cg` holds every column. With free end gaps the end gaps are left out, as minimap2 leaves out
//! what it clips, and a local alignment has the spans of its two parts. In any case the symbols that `cg` consumes add
//! up to the spans, as readers check.
//!
//! A pattern in a text is all of the query; the target's span is the part where it was found. `NM` is the distance, and
//! there is no `AS`.
//!
//! Column 10 counts matches and column 11 columns; mapping quality is 255, unknown; the strand is - where the query's
//! reverse complement is aligned: its span is then that on the strand that the file has, and `cg` goes along the target.
//! `NM` counts mismatches and gap columns, `AS` is the score, `de` the gap-compressed divergence: 1 - matches / (matches +
//! mismatches + gap openings). Without a column there is no `de` and no `cg`. Hits of a search have their E-value and their bits
//! (`EV:f` and `BS:f`, as in SAM).

use super::columns::{Range32, push_runs};
use super::numbers::{push_fraction, push_integer, push_unsigned};
use super::sam::push_significance;
use super::{Body, Context, Line, Pair};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Mode};
use crate::seq::Strand;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Paf;

impl Body for Paf {
    fn lines(&self) -> Option<&dyn Line> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn Line>> {
        Some(Arc::new(self.clone()))
    }
}

impl Line for Paf {
    fn push(&self, context: &Context, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()> {
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
            (all(query_length), target, columns.total(), counts.gap_columns, counts.gap_openings)
        } else {
            let inner = (columns.inner_total(), columns.inner_gaps(), columns.inner_gap_openings);
            (columns.query, columns.target, inner.0, inner.1, inner.2)
        };

        // The span is that of the query as its file has it; `cg` goes along the target in any case.
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
