//! Consistency: residues of two sequences belong together all the more if they do with the same residues of others
//! (ProbCons), every other sequence by its weight (MSAProbs: Liu, Schmidt and Maskell 2010).

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::all_pairs::AllPairs;
use super::kernel::CUTOFF;
use super::sparse::{Cell, Sparse};
use crate::{Error, Result};

/// Sums that are kept at a time.
const SUMS: usize = 1 << 13;

/// One round, which ends with the probabilities that it began with. `between` are the sequences that a pair is seen through, nearest first; for each sequence its own.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn relax(
    all: AllPairs,
    lengths: &[usize],
    weights: &[f32],
    between: &[Vec<usize>],
    interrupt: &AtomicBool,
) -> Result<AllPairs> {
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
    // Not three of them at a time.
    drop((all, pairs));
    Ok(AllPairs::new(lengths, relaxed))
}

/// The columns of a row that a direct probability lies between, and where their sums begin.
#[derive(Debug, Clone, Copy)]
struct Window {
    first: usize,
    columns: usize,
    start: usize,
}

fn relax_pair(all: &AllPairs, weights: &[f32], a: usize, b: usize, others: &[usize], sums: &mut Vec<f32>) -> Sparse {
    let direct = all.get(a, b);
    let own = weights[a] + weights[b];
    let total = own + others.iter().map(|&other| weights[other]).sum::<f32>();
    let through: Vec<(f32, &Sparse, &Sparse)> =
        others.iter().map(|&other| (weights[other] / total, all.get(a, other), all.get(other, b))).collect();
    let mut relaxed = Sparse::with_capacity(direct.rows(), direct.cells());
    let mut windows: Vec<Window> = Vec::new();
    let mut row = 0;
    while row < direct.rows() {
        // As many rows as have their sums in a cache.
        windows.clear();
        let mut start = 0;
        while row + windows.len() < direct.rows() && start < SUMS {
            let window = match direct.row(row + windows.len()) {
                [] => Window { first: 0, columns: 0, start },
                [first, .., last] => {
                    Window { first: first.column(), columns: last.column() + 1 - first.column(), start }
                }
                [one] => Window { first: one.column(), columns: 1, start },
            };
            start += window.columns;
            windows.push(window);
        }
        sums.clear();
        sums.resize(start, 0.0);
        // One sequence after the other, so that its probabilities stay in the cache.
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
                let sum = own / total * cell.probability() + sums[window.start + cell.column() - window.first];
                (sum >= CUTOFF).then(|| Cell::new(cell.column() as u32, sum.min(1.0)))
            }));
            row += 1;
        }
    }
    relaxed.shrink();
    relaxed
}
