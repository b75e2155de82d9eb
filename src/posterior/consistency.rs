//! Consistency: residues of two sequences belong together all the more if they do with the same residues of others
//! (ProbCons), every other sequence by its weight (MSAProbs: Liu, Schmidt and Maskell 2010).

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::all_pairs::AllPairs;
use super::kernel::CUTOFF;
use super::sparse::{Cell, Sparse};
use crate::{Error, Result};

/// One round. `between` are the sequences that a pair is seen through, nearest first; for each sequence its own.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn relax(
    all: &AllPairs,
    lengths: &[usize],
    weights: &[f32],
    between: &[Vec<usize>],
    interrupt: &AtomicBool,
) -> Result<AllPairs> {
    let sequences = all.sequences();
    let pairs: Vec<(usize, usize)> = (0..sequences).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let relaxed = pairs
        .par_iter()
        .map_init(
            || vec![0.0f32; longest],
            |sums, &(a, b)| {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let mut others: Vec<usize> = between[a].iter().chain(&between[b]).copied().collect();
                others.sort_unstable();
                others.dedup();
                others.retain(|&other| other != a && other != b);
                Ok(((a, b), relax_pair(all, weights, (a, b), &others, &mut sums[..lengths[b]])))
            },
        )
        .collect::<Result<Vec<_>>>()?;
    Ok(AllPairs::new(lengths, relaxed))
}

fn relax_pair(all: &AllPairs, weights: &[f32], (a, b): (usize, usize), others: &[usize], sums: &mut [f32]) -> Sparse {
    let direct = all.get(a, b);
    let own = weights[a] + weights[b];
    let total = own + others.iter().map(|&other| weights[other]).sum::<f32>();
    let through: Vec<(f32, &Sparse, &Sparse)> =
        others.iter().map(|&other| (weights[other] / total, all.get(a, other), all.get(other, b))).collect();
    Sparse::filled(direct.rows(), |row, cells| {
        let there = direct.row(row);
        if there.is_empty() {
            return;
        }
        for (weight, to, from) in &through {
            for step in to.row(row) {
                let share = weight * step.probability();
                for end in from.row(step.column()) {
                    sums[end.column()] += share * end.probability();
                }
            }
        }
        for cell in there {
            let sum = own / total * cell.probability() + sums[cell.column()];
            if sum >= CUTOFF {
                cells.push(Cell::new(cell.column() as u32, sum.min(1.0)));
            }
        }
        sums.fill(0.0);
    })
}
