//! A thread of the CPU as an engine for probabilities of pairs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::floats::{LANES, Over};
use super::kernel::{Group, MEMORY, Posteriors, Scratch};
use super::sparse::Sparse;
use super::work::{Posterior, PosteriorBatch, PosteriorReport};
use crate::engine::thread_engine::CpuKind;
use crate::error::{Error, Result};
use crate::seq::Code;
use crate::simd::InstructionSet;

/// What a thread keeps from batch to batch.
#[derive(Debug)]
pub struct Workspace {
    level: InstructionSet,
    scratch: Scratch,
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace { level: InstructionSet::best(), scratch: Scratch::default() }
    }
}

impl CpuKind for Posterior {
    type Scratch = Workspace;

    const CELLS: u64 = 1 << 27;
    const PAIRS: u64 = 1 << 14;
    const GROUP_PAIRS: u64 = LANES as u64;

    fn compute(batch: &PosteriorBatch, workspace: &mut Workspace, interrupt: &AtomicBool) -> Result<PosteriorReport> {
        let begin = Instant::now();
        let chunk = &batch.chunk;
        let mut probabilities = Vec::with_capacity(batch.pairs() as usize);
        // Neighbouring blocks have the columns of one group.
        let mut known: Option<(u32, Group)> = None;
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
                Some((own, group)) if own == first => group,
                _ => {
                    let end = (first as usize + LANES).min(chunk.order.len()) as u32;
                    let codes: Vec<&[Code]> = (first..end).map(|place| chunk.codes(place)).collect();
                    Group::new(&chunk.model, &codes, &chunk.wanted)
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
            let found = workspace.level.run(Over(kernel));
            probabilities.extend(lanes.map(|lane| Sparse::new(rows.len(), &found[lane])));
            known = Some((first, group));
        }
        Ok(PosteriorReport { probabilities, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}
