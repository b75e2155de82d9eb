//! What one thread does with pairs: those of one first sequence, by the second's length, as many at a time as there are
//! lanes.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::ends::{Group, Memory, find};
use crate::clustal::walk::{Found, Walker};
use crate::clustal::{Clustal, ClustalBatch, ClustalCosts, ClustalReport, PairIdentities};
use crate::engine::thread_engine::CpuKind;
use crate::error::{Error, Result};
use crate::score::difference::STEPS;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::{InstructionSet, MAX_I32_LANES};

/// A gigabyte: for sequences of some 25,000 residues.
const ROOM: usize = 1 << 28;

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Clone)]
pub struct Workspace {
    level: InstructionSet,
    memory: Memory,
    /// Elements of rows that may be kept of a group.
    pub(super) room: usize,
    walker: Walker,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(InstructionSet::best())
    }

    /// A workspace for these instructions, which change no result.
    pub fn with(level: InstructionSet) -> Self {
        Workspace { level, memory: Memory::default(), room: ROOM, walker: Walker::default() }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuKind for Clustal {
    type Scratch = Workspace;

    const CELLS: u64 = 1 << 28;
    const PAIRS: u64 = 1 << 14;
    const GROUP_PAIRS: u64 = MAX_I32_LANES as u64;

    fn compute(batch: &ClustalBatch, workspace: &mut Workspace, interrupt: &AtomicBool) -> Result<ClustalReport> {
        let begin = Instant::now();
        let pairs: Vec<_> = batch.blocks.iter().flat_map(|block| batch.chunk.pairs(block)).collect();
        let over = || interrupt.load(Ordering::Relaxed);
        let identities = compute(&batch.chunk.sequences, &batch.chunk.costs, &pairs, workspace, over);
        let identities = identities.ok_or(Error::Interrupted)?;
        Ok(ClustalReport { identities, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}

/// Identities of pairs, each of a first sequence and a second one, all known; `None` if `is_over` says so before all are.
///
/// # Panics
/// For an alphabet with more codes than the tables of costs have room for ([`crate::seq::Alphabet::Bytes`]).
pub fn compute(
    sequences: &SequenceStore,
    costs: &ClustalCosts,
    pairs: &[(SequenceId, SequenceId)],
    workspace: &mut Workspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<PairIdentities>> {
    assert!(sequences.alphabet().size() <= STEPS, "the kernels index the tables by codes unchecked");
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&index| (pairs[index].0, Reverse(sequences.length(pairs[index].1))));
    let mut identities = vec![PairIdentities::default(); pairs.len()];
    let Workspace { level, memory, room, walker } = workspace;
    for same in order.chunk_by(|&a, &b| pairs[a].0 == pairs[b].0) {
        let first = sequences.codes(pairs[same[0]].0);
        for indices in same.chunks(level.i32_lanes()) {
            if is_over() {
                return None;
            }
            let seconds: Vec<&[Code]> = indices.iter().map(|&index| sequences.codes(pairs[index].1)).collect();
            let lanes = find(*level, &Group { first, seconds: &seconds, costs, room: *room }, memory);
            for ((&index, second), lane) in indices.iter().zip(seconds).zip(lanes) {
                let (start, end) = (lane.place.start, lane.place.end);
                let found = Found { first, second, score: lane.score, start, end };
                let number = walker.identities(&found, costs, &lane.corridors);
                identities[index] = PairIdentities { identities: number, start, end };
            }
        }
    }
    Some(identities)
}

/// Identities of pairs, each of a first sequence and a second one, all known, on so many threads.
///
/// # Panics
/// For the same alphabets as [`compute`].
pub fn identities(
    sequences: &SequenceStore,
    costs: &ClustalCosts,
    pairs: &[(SequenceId, SequenceId)],
    threads: usize,
) -> Vec<PairIdentities> {
    let part = pairs.len().div_ceil(threads.max(1)).max(1);
    let part_of = |pairs: &[_]| compute(sequences, costs, pairs, &mut Workspace::new(), || false).unwrap_or_default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = pairs.chunks(part).map(|pairs| scope.spawn(|| part_of(pairs))).collect();
        let done =
            parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.collect()
    })
}
