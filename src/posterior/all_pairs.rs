//! Probabilities of all pairs of sequences.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::floats::{LANES, OnFloats};
use super::kernel::{CUTOFF, MEMORY, PosteriorLanes, PosteriorScratch, Posteriors};
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
    pub(super) fn new(lengths: &[usize], pairs: IndexedPairs) -> Self {
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

/// Probabilities of pairs of sequences, and the ids of the sequences. Rows are residues of the first
/// sequence of a pair.
pub(super) type IndexedPairs = Vec<((usize, usize), Sparse)>;

/// Mean probabilities of pairs over several models. The order of the added results does not change
/// them.
#[derive(Debug)]
pub(super) struct MeanProbabilities {
    models: u32,
    pairs: Vec<PairMean>,
    /// Index of each pair in `pairs`. Empty for one model.
    places: HashMap<(usize, usize), usize>,
    /// Probabilities that are not yet added, with the index of their pair.
    pending: Vec<(usize, Sparse)>,
    pending_cells: usize,
}

/// The probabilities of a pair of sequences: their mean if all models have been added.
#[derive(Debug, Default)]
struct PairMean {
    ids: (usize, usize),
    /// Number of models that have been added.
    added: u32,
    mean: Sparse,
}

impl PairMean {
    /// Adds the probabilities under one model. After the last model, probabilities below the cutoff
    /// are removed.
    fn add(&mut self, probabilities: &Sparse, models: u32) {
        self.mean.add_share(probabilities, models);
        self.added += 1;
        if self.added == models {
            self.mean.retain_from(CUTOFF);
        }
    }
}

/// Number of cells that are added to the means together, by all threads of the current pool.
const PENDING_CELLS: usize = 1 << 17;

impl MeanProbabilities {
    /// Creates means over a number of models, with memory for some pairs.
    pub(super) fn new(models: usize, pairs: usize) -> Self {
        MeanProbabilities {
            models: models as u32,
            pairs: Vec::with_capacity(pairs),
            places: HashMap::new(),
            pending: Vec::new(),
            pending_cells: 0,
        }
    }

    /// Returns the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Adds the probabilities of a pair under one model. Rows are residues of sequence `a`, and
    /// columns are residues of sequence `b`.
    pub(super) fn add(&mut self, a: usize, b: usize, probabilities: Sparse) {
        let ids = (a, b);
        if self.models == 1 {
            self.pairs.push(PairMean { ids, added: 1, mean: probabilities });
            return;
        }
        let place = *self.places.entry(ids).or_insert_with(|| {
            self.pairs.push(PairMean { ids, added: 0, mean: Sparse::empty(probabilities.rows()) });
            self.pairs.len() - 1
        });
        self.pending_cells += probabilities.cells();
        self.pending.push((place, probabilities));
        if self.pending_cells > PENDING_CELLS {
            self.add_pending();
        }
    }

    fn add_pending(&mut self) {
        let (models, pairs) = (self.models, &mut self.pairs);
        let mut pending = std::mem::take(&mut self.pending);
        self.pending_cells = 0;
        pending.sort_unstable_by_key(|&(place, _)| place);
        let of_pairs = pending.chunk_by(|(a, _), (b, _)| a == b);
        let mut sums: Vec<_> = of_pairs.map(|shares| (std::mem::take(&mut pairs[shares[0].0]), shares)).collect();
        sums.par_iter_mut().for_each(|(pair, shares)| shares.iter().for_each(|(_, share)| pair.add(share, models)));
        for (pair, shares) in sums {
            pairs[shares[0].0] = pair;
        }
    }

    /// Returns the means, without those below the minimum probability.
    pub(super) fn into_pairs(mut self) -> IndexedPairs {
        self.add_pending();
        self.pairs.into_iter().map(|pair| (pair.ids, pair.mean)).collect()
    }
}

/// Computes the mean probabilities of all pairs under some models. Calls `advance` with the numbers
/// of computed pairs and cells.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn compute(
    models: &[Model],
    sequences: &[&[Code]],
    instructions: InstructionSet,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<PairProbabilities> {
    // All models of an alphabet have the same codes.
    let wanted = models.first().map(|model| model.present_codes(sequences.iter().copied())).unwrap_or_default();
    // Sorting gives the lanes of a group nearly the same length. Row sequences are at least as long
    // as the lanes. The number of columns is the length of the longest lane in use, so the longest
    // sequence is always a row.
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&id| (sequences[id].len(), id));
    // Buffers of finished tasks, reused by later tasks.
    let spare: Mutex<Vec<PosteriorScratch>> = Mutex::default();
    let mut means = MeanProbabilities::new(models.len(), sequences.len() * sequences.len() / 2);
    for (index, ids) in order.chunks(LANES).enumerate() {
        let first = index * LANES;
        let codes: Vec<&[Code]> = ids.iter().map(|&id| sequences[id]).collect();
        let rows: Vec<usize> = (first + 1..order.len()).collect();
        for model in models {
            let group = PosteriorLanes::new(model, &codes, &wanted);
            let entries: Vec<IndexedPairs> = rows
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
                            entries.push(((row_id, other), Sparse::new(codes.len(), &probabilities[lane])));
                        }
                        advance(lanes.len() as u64, cells);
                    }
                    if let Ok(mut spare) = spare.lock() {
                        spare.push(scratch);
                    }
                    Ok(entries)
                })
                .collect::<Result<_>>()?;
            entries.into_iter().flatten().for_each(|((a, b), probabilities)| means.add(a, b, probabilities));
        }
    }
    let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
    Ok(PairProbabilities::new(&lengths, means.into_pairs()))
}
