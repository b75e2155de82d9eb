//! Computation of pairs by one thread. The pairs of one first sequence are sorted by the length of
//! the second sequence, and each lane takes one pair.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::ends::{ClustalLaneGroup, EndsScratch, find};
use crate::clustal::recursion::{ClustalRecursion, LocalRectangle};
use crate::clustal::{Clustal, ClustalBatch, ClustalCosts, ClustalReport, PairIdentities};
use crate::engine::thread_engine::CpuKind;
use crate::error::{Error, Result};
use crate::score::difference::STEPS;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::{InstructionSet, MAX_I32_LANES};

/// Default maximum number of stored row elements: one gigabyte, enough for sequences of about
/// 25,000 residues.
const MAX_ELEMENTS: usize = 1 << 28;

/// Scratch memory of a thread, reused for all batches.
#[derive(Debug, Clone)]
pub struct ClustalWorkspace {
    instructions: InstructionSet,
    memory: EndsScratch,
    /// Maximum number of row elements that may be stored for a group.
    pub(super) max_elements: usize,
    recursion: ClustalRecursion,
}

impl ClustalWorkspace {
    /// Creates a workspace for the best instruction set of the processor.
    pub fn new() -> Self {
        Self::with(InstructionSet::best())
    }

    /// Creates a workspace for an instruction set. Results do not depend on it.
    pub fn with(instructions: InstructionSet) -> Self {
        ClustalWorkspace {
            instructions,
            memory: EndsScratch::default(),
            max_elements: MAX_ELEMENTS,
            recursion: ClustalRecursion::default(),
        }
    }
}

impl Default for ClustalWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuKind for Clustal {
    type Scratch = ClustalWorkspace;

    const CELLS: u64 = 1 << 28;
    const PAIRS: u64 = 1 << 14;
    const GROUP_PAIRS: u64 = MAX_I32_LANES as u64;

    fn compute(
        batch: &ClustalBatch,
        workspace: &mut ClustalWorkspace,
        interrupt: &AtomicBool,
    ) -> Result<ClustalReport> {
        let begin = Instant::now();
        let pairs: Vec<_> = batch.blocks.iter().flat_map(|block| batch.chunk.pairs(block)).collect();
        let over = || interrupt.load(Ordering::Relaxed);
        let identities = compute(&batch.chunk.sequences, &batch.chunk.costs, &pairs, workspace, over);
        let identities = identities.ok_or(Error::Interrupted)?;
        Ok(ClustalReport { identities, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}

/// Returns the identities of pairs of a first and a second sequence, in the order of `pairs`.
/// Returns `None` if `is_over` returns true before all pairs are finished.
///
/// # Panics
/// Panics if the alphabet has more codes than the cost tables ([`crate::seq::Alphabet::Bytes`]).
pub fn compute(
    sequences: &SequenceStore,
    costs: &ClustalCosts,
    pairs: &[(SequenceId, SequenceId)],
    workspace: &mut ClustalWorkspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<PairIdentities>> {
    assert!(sequences.alphabet().size() <= STEPS, "the kernels index the tables by codes unchecked");
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&index| (pairs[index].0, Reverse(sequences.length(pairs[index].1))));
    let mut identities = vec![PairIdentities::default(); pairs.len()];
    let ClustalWorkspace { instructions, memory, max_elements, recursion } = workspace;
    for same in order.chunk_by(|&a, &b| pairs[a].0 == pairs[b].0) {
        let first = sequences.codes(pairs[same[0]].0);
        for indices in same.chunks(instructions.i32_lanes()) {
            if is_over() {
                return None;
            }
            let seconds: Vec<&[Code]> = indices.iter().map(|&index| sequences.codes(pairs[index].1)).collect();
            let lanes = find(
                *instructions,
                &ClustalLaneGroup { first, seconds: &seconds, costs, max_elements: *max_elements },
                memory,
            );
            for ((&index, second), lane) in indices.iter().zip(seconds).zip(lanes) {
                let (start, end) = (lane.ends.start, lane.ends.end);
                let rectangle = LocalRectangle { first, second, score: lane.score, start, end };
                let count = recursion.identities(&rectangle, costs, &lane.corridors);
                identities[index] = PairIdentities { identities: count, start, end };
            }
        }
    }
    Some(identities)
}

/// Returns the identities of pairs of a first and a second sequence, in the order of `pairs`.
/// Computes them on `threads` threads.
///
/// # Panics
/// Panics for the same alphabets as [`compute`].
pub fn identities(
    sequences: &SequenceStore,
    costs: &ClustalCosts,
    pairs: &[(SequenceId, SequenceId)],
    threads: usize,
) -> Vec<PairIdentities> {
    let part = pairs.len().div_ceil(threads.max(1)).max(1);
    let compute_part =
        |pairs: &[_]| compute(sequences, costs, pairs, &mut ClustalWorkspace::new(), || false).unwrap_or_default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = pairs.chunks(part).map(|pairs| scope.spawn(|| compute_part(pairs))).collect();
        let done =
            parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.collect()
    })
}
