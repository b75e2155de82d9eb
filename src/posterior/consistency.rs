//! Consistency: two residues are more probably homologous if both are homologous to the same
//! residues of other sequences (ProbCons). Other sequences are weighted (MSAProbs: Liu, Schmidt and
//! Maskell 2010).

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::all_pairs::PairProbabilities;
use super::kernel::CUTOFF;
use super::sparse::{Sparse, SparseCell};
use crate::{Error, Result};

/// Maximum number of sums in memory at the same time, so that they fit the cache.
const SUMS: usize = 1 << 13;

/// Weights in a round of consistency.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConsistencyWeights<'a> {
    pub sequences: &'a [f32],
    /// Weight of the probabilities of a pair itself, relative to the sum of the weights of its two
    /// sequences.
    pub direct: f32,
}

/// Performs one round of consistency and drops its input. `between` lists the third sequences of
/// each sequence, the nearest first.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn apply_consistency(
    all: PairProbabilities,
    lengths: &[usize],
    weights: ConsistencyWeights<'_>,
    between: &[Vec<usize>],
    interrupt: &AtomicBool,
) -> Result<PairProbabilities> {
    let sequences = all.sequences();
    let pairs: Vec<(usize, usize)> = (0..sequences).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let relaxed = pairs
        .par_iter()
        .map_init(Vec::new, |sums, &(a, b)| {
            if interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let mut others: Vec<usize> = between[a].iter().chain(&between[b]).copied().collect();
            others.sort_unstable();
            others.dedup();
            others.retain(|&other| other != a && other != b);
            Ok(((a, b), relax_pair(&all, weights, a, b, &others, sums)))
        })
        .collect::<Result<Vec<_>>>()?;
    // Dropping the input here limits the memory to two tables instead of three.
    drop((all, pairs));
    Ok(PairProbabilities::new(lengths, relaxed))
}

/// Range of columns with direct probabilities in a row, and the offset of the sums of these
/// columns.
#[derive(Debug, Clone, Copy)]
struct DirectWindow {
    first: usize,
    columns: usize,
    start: usize,
}

fn relax_pair(
    all: &PairProbabilities,
    weights: ConsistencyWeights<'_>,
    a: usize,
    b: usize,
    others: &[usize],
    sums: &mut Vec<f32>,
) -> Sparse {
    let direct = all.get(a, b);
    let ConsistencyWeights { sequences: weights, direct: relative } = weights;
    let direct_weight = relative * (weights[a] + weights[b]);
    let total = direct_weight + others.iter().map(|&other| weights[other]).sum::<f32>();
    let through: Vec<(f32, &Sparse, &Sparse)> =
        others.iter().map(|&other| (weights[other] / total, all.get(a, other), all.get(other, b))).collect();
    let mut relaxed = Sparse::with_capacity(direct.rows(), direct.cells());
    let mut windows: Vec<DirectWindow> = Vec::new();
    let mut row = 0;
    while row < direct.rows() {
        // Each batch contains as many rows as have their sums in the cache.
        windows.clear();
        let mut start = 0;
        while row + windows.len() < direct.rows() && start < SUMS {
            let window = match direct.row(row + windows.len()) {
                [] => DirectWindow { first: 0, columns: 0, start },
                [first, .., last] => {
                    DirectWindow { first: first.column(), columns: last.column() + 1 - first.column(), start }
                }
                [one] => DirectWindow { first: one.column(), columns: 1, start },
            };
            start += window.columns;
            windows.push(window);
        }
        sums.clear();
        sums.resize(start, 0.0);
        // Processes one third sequence after the other, so that its probabilities stay in the
        // cache.
        for (weight, to, from) in &through {
            for (row, window) in (row..).zip(&windows).filter(|(_, window)| window.columns > 0) {
                let sums = &mut sums[window.start..][..window.columns];
                for step in to.row(row) {
                    let share = weight * step.probability();
                    for end in from.row(step.column()) {
                        if let Some(sum) = sums.get_mut(end.column().wrapping_sub(window.first)) {
                            *sum += share * end.probability();
                        }
                    }
                }
            }
        }
        for window in &windows {
            relaxed.push_row(direct.row(row).iter().filter_map(|cell| {
                let sum =
                    direct_weight / total * cell.probability() + sums[window.start + cell.column() - window.first];
                (sum >= CUTOFF).then(|| SparseCell::new(cell.column() as u32, sum.min(1.0)))
            }));
            row += 1;
        }
    }
    relaxed.shrink();
    relaxed
}
