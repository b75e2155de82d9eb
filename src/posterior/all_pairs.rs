//! The probabilities of all pairs of sequences.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::floats::{LANES, Over};
use super::kernel::{Group, MEMORY, Posteriors, Scratch};
use super::model::Model;
use super::sparse::Sparse;
use crate::seq::Code;
use crate::simd::InstructionSet;
use crate::{Error, Result};

/// Sequences that are compared with a group in one task.
const TASK: usize = 16;

/// Of every ordered pair of sequences the probabilities of their residues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AllPairs {
    sequences: usize,
    pairs: Vec<Sparse>,
}

impl AllPairs {
    /// Sequences.
    pub(super) fn sequences(&self) -> usize {
        self.sequences
    }

    /// Rows are the first sequence's residues, columns the second's.
    pub(super) fn get(&self, a: usize, b: usize) -> &Sparse {
        &self.pairs[a * self.sequences + b]
    }

    /// From every pair once, in any order, each as rows of the sequence that is named first.
    pub(super) fn new(lengths: &[usize], pairs: Vec<((usize, usize), Sparse)>) -> Self {
        let sequences = lengths.len();
        let transposed: Vec<Sparse> = pairs.par_iter().map(|((_, b), sparse)| sparse.transposed(lengths[*b])).collect();
        let mut all = vec![Sparse::default(); sequences * sequences];
        for (((a, b), sparse), transposed) in pairs.into_iter().zip(transposed) {
            all[a * sequences + b] = sparse;
            all[b * sequences + a] = transposed;
        }
        AllPairs { sequences, pairs: all }
    }
}

/// Computes them. `advance` hears of pairs and cells.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn compute(
    model: &Model,
    sequences: &[&[Code]],
    level: InstructionSet,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<AllPairs> {
    let mut wanted = vec![false; model.codes()];
    for &code in sequences.iter().copied().flatten() {
        wanted[usize::from(code)] = true;
    }
    // Lanes of one group are of nearly the same length, rows at least as long: a group has as many columns as its longest
    // lane that is wanted, and the longest of all is a lane of none.
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&id| (sequences[id].len(), id));
    // Memory that tasks leave to others.
    let spare: Mutex<Vec<Scratch>> = Mutex::default();
    let mut pairs = Vec::new();
    for (index, ids) in order.chunks(LANES).enumerate() {
        let first = index * LANES;
        let codes: Vec<&[Code]> = ids.iter().map(|&id| sequences[id]).collect();
        let group = Group::new(model, &codes, &wanted);
        let rows: Vec<usize> = (first + 1..order.len()).collect();
        let found: Vec<Vec<((usize, usize), Sparse)>> = rows
            .par_chunks(TASK)
            .map(|rows| {
                let mut found = Vec::new();
                let mut scratch = spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
                for &row in rows {
                    if interrupt.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    let lanes = 0..ids.len().min(row - first);
                    let (own, codes) = (order[row], sequences[order[row]]);
                    let kernel = Posteriors {
                        model,
                        group: &group,
                        rows: codes,
                        lanes: lanes.clone(),
                        memory: MEMORY,
                        scratch: &mut scratch,
                    };
                    let probabilities = level.run(Over(kernel));
                    let mut cells = 0;
                    for lane in lanes.clone() {
                        let other = ids[lane];
                        cells += (codes.len() * sequences[other].len()) as u64;
                        let sparse = Sparse::new(codes.len(), &probabilities[lane]);
                        found.push(((own, other), sparse));
                    }
                    advance(lanes.len() as u64, cells);
                }
                if let Ok(mut spare) = spare.lock() {
                    spare.push(scratch);
                }
                Ok(found)
            })
            .collect::<Result<_>>()?;
        pairs.extend(found.into_iter().flatten());
    }
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    Ok(AllPairs::new(&lengths, pairs))
}
