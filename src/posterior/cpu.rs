//! The CPU engine for the probabilities of pairs of sequences. Each engine is one thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::floats::{LANES, OnFloats};
use super::kernel::{MEMORY, PosteriorLanes, PosteriorScratch, Posteriors};
use super::sparse::Sparse;
use super::work::{Posterior, PosteriorBatch, PosteriorReport};
use crate::engine::thread_engine::CpuKind;
use crate::error::{Error, Result};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// Scratch memory of a thread, reused for all batches.
#[derive(Debug)]
pub struct PosteriorWorkspace {
    instructions: InstructionSet,
    scratch: PosteriorScratch,
}

impl Default for PosteriorWorkspace {
    fn default() -> Self {
        PosteriorWorkspace { instructions: InstructionSet::best(), scratch: PosteriorScratch::default() }
    }
}

impl CpuKind for Posterior {
    type Scratch = PosteriorWorkspace;

    const CELLS: u64 = 1 << 27;
    const PAIRS: u64 = 1 << 14;
    const GROUP_PAIRS: u64 = LANES as u64;

    fn compute(
        batch: &PosteriorBatch,
        workspace: &mut PosteriorWorkspace,
        interrupt: &AtomicBool,
    ) -> Result<PosteriorReport> {
        let begin = Instant::now();
        let chunk = &batch.chunk;
        let mut probabilities = Vec::with_capacity(batch.pairs() as usize);
        // Consecutive blocks often have the same group as columns, so its lanes are reused.
        let mut known: Option<(u32, PosteriorLanes)> = None;
        for block in &batch.blocks {
            if interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if block.columns.is_empty() {
                continue;
            }
            let first = block.columns.start / LANES as u32 * LANES as u32;
            let lanes = (block.columns.start - first) as usize..(block.columns.end - first) as usize;
            let group = match known.take() {
                Some((known_first, group)) if known_first == first => group,
                _ => {
                    let end = (first as usize + LANES).min(chunk.order.len()) as u32;
                    let codes: Vec<&[Code]> = (first..end).map(|index| chunk.codes(index)).collect();
                    PosteriorLanes::new(&chunk.model, &codes, &chunk.wanted)
                }
            };
            let rows = chunk.codes(block.row);
            let kernel = Posteriors {
                model: &chunk.model,
                group: &group,
                rows,
                lanes: lanes.clone(),
                memory: MEMORY,
                scratch: &mut workspace.scratch,
            };
            let residue_pairs = workspace.instructions.run(OnFloats(kernel));
            probabilities.extend(lanes.map(|lane| Sparse::new(rows.len(), &residue_pairs[lane])));
            known = Some((first, group));
        }
        Ok(PosteriorReport { probabilities, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}
