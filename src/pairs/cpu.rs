//! The CPU engine for pairs. Every thread is an engine of its own. It computes several targets
//! against one query at the same time in vector lanes. It also traces its own pairs: from the rows
//! that the score kernels kept (`traceback`) if possible, and otherwise with [`crate::trace`].
//!
//! Global scores are computed from differences between cells ([`crate::score::difference`]), local
//! scores from the cells themselves, in the narrowest lanes that hold them.

mod banded;
mod checkpoint;
pub mod compute;
mod difference;
mod group;
mod local;
mod pair_difference;
mod pair_local;
mod share;
mod skew;
mod traceback;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{PackedAlignments, PairsBatch, PairsReport};
use crate::alignment::packed;
use crate::engine::Engine;
use crate::engine::thread_engine::{CpuKind, ThreadEngine, thread_engines};
use crate::error::{Error, Result};
use crate::pairs::Pairs;
use crate::score::Mode;
use crate::trace::{self, Hint, traceback_from};

use self::traceback::Traces;
pub use compute::{LaneForm, ScoreWorkspace, ScoredTarget, ends};

/// Number of matrix rows that kernels compute together. The values of a column are loaded and
/// stored once per this many cells.
const ROWS: usize = 4;

/// One CPU thread as an engine for pairs.
pub type CpuWorker = ThreadEngine<Pairs>;

/// Returns `threads` workers, at least one.
pub fn workers(threads: usize, interrupt: &Arc<AtomicBool>) -> Vec<Box<dyn Engine<Pairs>>> {
    thread_engines(threads, interrupt)
}

/// Memory that a worker reuses for all batches.
#[derive(Debug)]
pub struct PairsScratch {
    compute: ScoreWorkspace,
    /// Workspace for tracebacks. `None` if the worker traces nothing.
    trace: Option<trace::TracebackWorkspace>,
}

impl Default for PairsScratch {
    fn default() -> Self {
        PairsScratch { compute: ScoreWorkspace::default(), trace: Some(trace::TracebackWorkspace::default()) }
    }
}

impl PairsScratch {
    /// Returns memory for a worker that leaves all tracebacks to the job. Used to measure scores.
    pub fn for_scores() -> Self {
        PairsScratch { trace: None, ..PairsScratch::default() }
    }
}

impl CpuKind for Pairs {
    type Scratch = PairsScratch;

    /// Cells per batch. A worker cannot be interrupted while it computes scores, only during
    /// tracebacks. This limit keeps the wait short.
    const CELLS: u64 = 1 << 31;
    /// Pairs per batch. This limit matters for very short sequences, whose alignments take longer
    /// than their scores.
    const PAIRS: u64 = 1 << 16;
    const GROUP_PAIRS: u64 = 64;

    fn compute(batch: &PairsBatch, scratch: &mut PairsScratch, interrupt: &AtomicBool) -> Result<PairsReport> {
        let begin = Instant::now();
        let PairsScratch { compute, trace } = scratch;
        let mut computed = compute::run_tracing(batch, trace.is_some(), compute)?;
        let kernel_time = Some(begin.elapsed().saturating_sub(computed.trace_time()));
        let traced = match trace {
            Some(workspace) => trace_hits(batch, &mut computed, workspace, interrupt)?,
            None => PackedAlignments::default(),
        };
        Ok(PairsReport { hits: computed.hits, traced, ends: computed.ends, kernel_time, ..PairsReport::default() })
    }
}

/// Traces all hits that have no alignment yet. The results equal the alignments that
/// [`crate::jobs::allpairs`] computes.
fn trace_hits(
    batch: &PairsBatch,
    computed: &mut compute::ComputedHits,
    workspace: &mut trace::TracebackWorkspace,
    interrupt: &AtomicBool,
) -> Result<PackedAlignments> {
    let chunk = &batch.chunk;
    // Packed runs cannot represent the position of a local alignment. The job therefore traces
    // local alignments itself, from their end regions.
    if !chunk.filter.has_alignments() || chunk.scoring.mode == Mode::Local {
        return Ok(PackedAlignments::default());
    }
    let Traces { mut words, mut spans, .. } = computed.traces.take().unwrap_or_default();
    spans.resize(computed.hits.len(), None);
    for (index, (hit, span)) in computed.hits.iter().zip(&mut spans).enumerate() {
        if span.is_some() {
            continue;
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let is_turned = chunk.earlier_is_query && hit.target < hit.query;
        let (a, b) = (chunk.queries.codes(hit.query), chunk.targets.codes(hit.target));
        let (query, target) = if is_turned { (b, a) } else { (a, b) };
        let hint = Hint { score: Some(hit.score), matches: hit.matches };
        // The traceback returns an error if its score or number of matches differs from the hit's.
        let alignment = traceback_from(query, target, &chunk.scoring, hint, computed.ends.get(index), workspace)?;
        *span = Some(packed::pack(&alignment.cigar, &mut words));
    }
    Ok(PackedAlignments { words: words.into(), spans })
}
