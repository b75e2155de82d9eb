//! Alignments of a group's pairs from the rows that the score kernel kept ([`super::checkpoint`]).
//!
//! **Parts.** The traceback goes from one kept row to the kept row above. Between them, the cells
//! of some columns are recomputed with directions, for one pair at a time, with rows in adjacent
//! lanes ([`super::pair_difference`]). The columns extend from the traceback's current column back
//! to a column c. dh and f of the row above are the kept ones. Cells left of c are skipped. Column
//! c is assumed to be reached only by a gap from the row above, so that no value exceeds the true
//! one.
//!
//! **Why a part is sufficient.** Let o be the cost of opening a gap, and s the greatest value of a
//! diagonal step. A path that passes the row above in column c or before it has a value of at most
//! V(c) + o there, because a gap leads from there to c. Let the current cell be h rows below and
//! more than h columns after c. From c to this cell, the path has at most h diagonal steps, and it
//! opens a gap of columns, which costs o. Its value is therefore at most V(c) + s h. If the current
//! cell has a greater value within the part (by more than o if the traceback is inside a gap), then
//! no path with its value passes there. All such paths lie within the part, and by the argument
//! about bands in [`crate::trace`], the traceback within the part is canonical. Otherwise the part
//! is widened. A part that starts at the first column needs no proof.
//!
//! A path down the first column of the matrix has no diagonal steps, but s is also at least the
//! rise of a border per symbol. If a border does not rise at all, every column below it has the
//! value of c, and the proof never succeeds. In this case, the part has all columns.
//!
//! **Diagonals.** Most parts have no gap. The kept rows also contain values. One comparison tests
//! whether the cell that a diagonal leads to in the row above has the value that the current cell
//! requires. If so, the diagonal is a best path. It is also the canonical one, because the
//! traceback prefers diagonal steps. Only the low bits of values are kept. If only these agree, the
//! sum over the whole traceback reveals it, because no path exceeds the true value. Such a
//! traceback is repeated with parts alone.
//!
//! The traceback sums the values along the row above and down the last column. At the end, the sum
//! is compared with the pair's value.

mod lane;
mod part;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use self::lane::LaneTraceback;
use self::part::{GroupTraceback, PartBuffers};
use super::checkpoint::Checkpoints;
use super::difference::Greatest;
use crate::alignment::packed;
use crate::error::Result;
use crate::score::{DifferenceScoring, Substitution};
use crate::seq::Code;
use crate::simd::{InstructionSet, LaneElement};

/// Rows are kept if at least one pair in this many is traced.
const PAIRS_A_TRACE: u64 = 8;

/// Number of pairs after which the counts of earlier pairs are halved.
const RECENT_PAIRS: u64 = 4096;

/// Memory for the alignments of groups, and statistics of recent pairs.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupTracer<E> {
    lane_traces: Vec<LaneTraceback>,
    buffers: PartBuffers<E>,
    pairs: u64,
    traced: u64,
}

/// A group whose scores were computed while rows were kept.
pub(super) struct ScoredGroup<'a, E> {
    pub instructions: InstructionSet,
    pub form: &'a DifferenceScoring<E>,
    pub substitution: &'a Substitution,
    /// The query, not empty.
    pub query: &'a [Code],
    /// Distinct codes of the query.
    pub codes: &'a [Code],
    pub targets: &'a [&'a [Code]],
    pub kept: &'a mut Checkpoints<E>,
}

/// A lane whose alignment is requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedTrace {
    pub lane: usize,
    /// Index of the lane's pair in the block.
    pub index: usize,
    /// Whether the target is the alignment's query.
    pub is_exchanged: bool,
    pub greatest: Greatest,
}

/// Packed alignments of hits. Each span has the index of the first run and the number of runs, or
/// is `None` if the hit was not traced.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub words: Vec<u32>,
    pub spans: Vec<Option<(usize, u32)>>,
    /// Time that the tracebacks took.
    pub time: Duration,
}

impl<E: LaneElement> GroupTracer<E> {
    /// Returns whether enough of the recent pairs were traced for kept rows to save time.
    pub(super) fn are_kept_rows_worthwhile(&self) -> bool {
        self.traced * PAIRS_A_TRACE >= self.pairs
    }

    /// Adds pairs to the statistics.
    pub(super) fn count(&mut self, pairs: usize, traced: usize) {
        if self.pairs > RECENT_PAIRS {
            (self.pairs, self.traced) = (self.pairs / 2, self.traced / 2);
        }
        (self.pairs, self.traced) = (self.pairs + pairs as u64, self.traced + traced as u64);
    }

    /// Traces lanes of a group as far as the kept rows allow. `spans` holds the spans of all pairs
    /// of the block.
    ///
    /// [`crate::Error::Internal`] if the value of an alignment differs from the value of its pair,
    /// which means that one of the two is wrong.
    pub(super) fn trace(
        &mut self,
        mut group: ScoredGroup<'_, E>,
        mut wanted: Vec<WantedTrace>,
        traces: &mut Traces,
        spans: &mut [Option<(usize, u32)>],
    ) -> Result<()> {
        let begin = Instant::now();
        let ScoredGroup { instructions, form, query, targets, .. } = group;
        wanted.retain(|wanted| !targets[wanted.lane].is_empty());
        let count = wanted.len();
        if self.lane_traces.len() < count {
            self.lane_traces.resize_with(count, LaneTraceback::default);
        }
        let (lane_traces, buffers) = (&mut self.lane_traces[..count], &mut self.buffers);
        let start = |lane_trace: &mut LaneTraceback, WantedTrace { lane, index, is_exchanged, greatest }| {
            (lane_trace.lane, lane_trace.index, lane_trace.is_exchanged) = (lane, index, is_exchanged);
            lane_trace.start(form, targets[lane].len(), query.len(), greatest);
        };
        lane_traces.iter_mut().zip(&wanted).for_each(|(lane_trace, &wanted)| start(lane_trace, wanted));
        instructions.run(GroupTraceback { group: &mut group, buffers: &mut *buffers, lane_traces: &mut *lane_traces });
        let mut is_astray = false;
        for (lane_trace, &wanted) in
            lane_traces.iter_mut().zip(&wanted).filter(|(lane_trace, _)| lane_trace.is_astray())
        {
            start(lane_trace, wanted);
            (lane_trace.trusts_bits, is_astray) = (false, true);
        }
        if is_astray {
            // Tracebacks that are already complete do not change.
            instructions.run(GroupTraceback { group: &mut group, buffers, lane_traces: &mut *lane_traces });
        }
        let mut lost = 0;
        for lane_trace in lane_traces {
            let span = lane_trace.runs()?.map(|runs| packed::pack_from_last(runs, &mut traces.words));
            lost += usize::from(span.is_none());
            spans[lane_trace.index] = span;
        }
        group.kept.learn(lost, count);
        traces.time += begin.elapsed();
        Ok(())
    }
}
