//! Probabilities of all pairs of sequences.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::floats::{LANES, OnFloats};
use super::kernel::{MEMORY, PosteriorLanes, PosteriorScratch, Posteriors};
use super::model::Model;
use super::sparse::Sparse;
use crate::seq::Code;
use crate::simd::InstructionSet;
use crate::{Error, Result};

/// Number of row sequences that one task compares with a group of column sequences.
const TASK: usize = 16;

/// Probabilities of residue pairs for every ordered pair of sequences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PairProbabilities {
    sequences: usize,
    pairs: Vec<Sparse>,
}

impl PairProbabilities {
    /// Returns the number of sequences.
    pub(super) fn sequences(&self) -> usize {
        self.sequences
    }

    /// Returns the probabilities of a pair. Rows are residues of `a`, and columns are residues of
    /// `b`.
    pub(super) fn get(&self, a: usize, b: usize) -> &Sparse {
        &self.pairs[a * self.sequences + b]
    }

    /// Creates the table from the probabilities of every unordered pair, in any order. Rows are
    /// residues of the first sequence of the pair.
    pub(super) fn new(lengths: &[usize], pairs: Vec<((usize, usize), Sparse)>) -> Self {
        let sequences = lengths.len();
        let transposed: Vec<Sparse> = pairs.par_iter().map(|((_, b), sparse)| sparse.transposed(lengths[*b])).collect();
        let mut all = vec![Sparse::default(); sequences * sequences];
        for (((a, b), sparse), transposed) in pairs.into_iter().zip(transposed) {
            all[a * sequences + b] = sparse;
            all[b * sequences + a] = transposed;
        }
        PairProbabilities { sequences, pairs: all }
    }
}

/// Computes the probabilities of all pairs. Calls `advance` with the numbers of computed pairs and
/// cells.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn compute(
    model: &Model,
    sequences: &[&[Code]],
    instructions: InstructionSet,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<PairProbabilities> {
    let wanted = model.present_codes(sequences.iter().copied());
    // Sorting gives the lanes of a group nearly the same length. Row sequences are at least as long
    // as the lanes. The number of columns is the length of the longest lane in use, so the longest
    // sequence is always a row.
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&id| (sequences[id].len(), id));
    // Buffers of finished tasks, reused by later tasks.
    let spare: Mutex<Vec<PosteriorScratch>> = Mutex::default();
    let mut pairs = Vec::new();
    for (index, ids) in order.chunks(LANES).enumerate() {
        let first = index * LANES;
        let codes: Vec<&[Code]> = ids.iter().map(|&id| sequences[id]).collect();
        let group = PosteriorLanes::new(model, &codes, &wanted);
        let rows: Vec<usize> = (first + 1..order.len()).collect();
        let entries: Vec<Vec<((usize, usize), Sparse)>> = rows
            .par_chunks(TASK)
            .map(|rows| {
                let mut entries = Vec::new();
                let mut scratch = spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
                for &row in rows {
                    if interrupt.load(Ordering::Relaxed) {
                        return Err(Error::Interrupted);
                    }
                    let lanes = 0..ids.len().min(row - first);
                    let (row_id, codes) = (order[row], sequences[order[row]]);
                    let kernel = Posteriors {
                        model,
                        group: &group,
                        rows: codes,
                        lanes: lanes.clone(),
                        memory: MEMORY,
                        scratch: &mut scratch,
                    };
                    let probabilities = instructions.run(OnFloats(kernel));
                    let mut cells = 0;
                    for lane in lanes.clone() {
                        let other = ids[lane];
                        cells += (codes.len() * sequences[other].len()) as u64;
                        let sparse = Sparse::new(codes.len(), &probabilities[lane]);
                        entries.push(((row_id, other), sparse));
                    }
                    advance(lanes.len() as u64, cells);
                }
                if let Ok(mut spare) = spare.lock() {
                    spare.push(scratch);
                }
                Ok(entries)
            })
            .collect::<Result<_>>()?;
        pairs.extend(entries.into_iter().flatten());
    }
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    Ok(PairProbabilities::new(&lengths, pairs))
}
