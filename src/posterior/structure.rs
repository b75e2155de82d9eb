//! Support by base pairs: two bases are more probably homologous if their partners in the secondary
//! structures are homologous too (PicXAA-R: Sahraeian and Yoon 2011).

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::all_pairs::PairProbabilities;
use super::base_pairs::base_pairs;
use super::kernel::CUTOFF;
use super::sparse::{Sparse, SparseCell};
use crate::seq::{Alphabet, Code};
use crate::{Error, Result};

/// Weight of the support by base pairs relative to the probability itself.
const SUPPORT: f32 = 4.0;

/// Returns the base pairs of all sequences, or `None` if no sequence has any, as in proteins.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn fold(alphabet: Alphabet, sequences: &[&[Code]], interrupt: &AtomicBool) -> Result<Option<Vec<Sparse>>> {
    if alphabet != Alphabet::Dna {
        return Ok(None);
    }
    let fold = |codes: &&[Code]| match interrupt.load(Ordering::Relaxed) {
        true => Err(Error::Interrupted),
        false => Ok(base_pairs(codes)),
    };
    let folds: Vec<Sparse> = sequences.par_iter().map(fold).collect::<Result<_>>()?;
    Ok(folds.iter().any(|pairs| pairs.cells() > 0).then_some(folds))
}

/// Adds the support by base pairs to the probabilities of all pairs of sequences, and drops its
/// input.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn support(
    all: PairProbabilities,
    lengths: &[usize],
    folds: &[Sparse],
    interrupt: &AtomicBool,
) -> Result<PairProbabilities> {
    let pairs: Vec<(usize, usize)> = (0..lengths.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let supported = pairs
        .par_iter()
        .map(|&(a, b)| match interrupt.load(Ordering::Relaxed) {
            true => Err(Error::Interrupted),
            false => Ok(((a, b), support_pair(all.get(a, b), [&folds[a], &folds[b]], lengths[b]))),
        })
        .collect::<Result<Vec<_>>>()?;
    // Dropping the input here limits the memory to two tables instead of three.
    drop((all, pairs));
    Ok(PairProbabilities::new(lengths, supported))
}

/// Adds the support to the probabilities of one pair of sequences. Rows and columns whose sum
/// exceeds 1 are scaled down.
fn support_pair(direct: &Sparse, folds: [&Sparse; 2], columns: usize) -> Sparse {
    let mut values = Vec::with_capacity(direct.cells());
    let mut row_sums = vec![0.0f32; direct.rows()];
    let mut column_sums = vec![0.0f32; columns];
    for (row, row_sum) in row_sums.iter_mut().enumerate() {
        for cell in direct.row(row) {
            let value = cell.probability() + SUPPORT * partners(direct, folds, row, cell.column());
            values.push(value);
            *row_sum += value;
            column_sums[cell.column()] += value;
        }
    }
    let mut supported = Sparse::with_capacity(direct.rows(), direct.cells());
    let mut values = values.into_iter();
    for (row, row_sum) in row_sums.into_iter().enumerate() {
        let cells = direct.row(row).iter().zip(values.by_ref()).filter_map(|(cell, value)| {
            let value = value / row_sum.max(column_sums[cell.column()]).max(1.0);
            (value >= CUTOFF).then(|| SparseCell::new(cell.column() as u32, value))
        });
        supported.push_row(cells);
    }
    supported.shrink();
    supported
}

/// Returns the probability that the partners of two bases are aligned, summed over all partners on
/// the same side.
fn partners(direct: &Sparse, [rows, columns]: [&Sparse; 2], row: usize, column: usize) -> f32 {
    let mut sum = 0.0;
    for first in rows.row(row) {
        let aligned = direct.row(first.column());
        for second in columns.row(column) {
            if (first.column() > row) == (second.column() > column)
                && let Ok(at) = aligned.binary_search_by_key(&second.column(), |cell| cell.column())
            {
                sum += first.probability() * second.probability() * aligned[at].probability();
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_partners_raise_a_probability() {
        let direct = Sparse::new(4, &[(3, 3, 0.5), (1, 1, 0.2), (0, 1, 0.25), (0, 0, 0.25)]);
        let fold = |first: u32| Sparse::from_any_order(4, [(first, 3, 0.5), (3, first, 0.5)].into_iter());
        let supported = support_pair(&direct, [&fold(0), &fold(0)], 4);
        let at = |row: usize, at: usize| supported.row(row)[at].probability();
        // The support of (0, 0) is 4 * 0.5 * 0.5 * 0.5, and that of (3, 3) is half as much.
        assert!((at(0, 0) - 0.75).abs() < 1e-3 && (at(0, 1) - 0.25).abs() < 1e-3, "{} {}", at(0, 0), at(0, 1));
        assert!((at(1, 0) - 0.2).abs() < 1e-3 && (at(3, 0) - 0.75).abs() < 1e-3);
        let other = support_pair(&direct, [&fold(0), &fold(2)], 4);
        assert_eq!(other, support_pair(&direct, [&Sparse::new(4, &[]), &Sparse::new(4, &[])], 4));
    }

    #[test]
    fn sums_of_rows_and_columns_are_at_most_one() {
        let direct = Sparse::new(4, &[(3, 3, 1.0), (1, 0, 0.5), (0, 1, 0.5), (0, 0, 0.5)]);
        let fold = Sparse::from_any_order(4, [(0, 3, 1.0), (3, 0, 1.0)].into_iter());
        let supported = support_pair(&direct, [&fold, &fold], 4);
        assert!((supported.row(0)[0].probability() - 4.5 / 5.0).abs() < 1e-3);
        assert!((supported.row(0)[1].probability() - 0.5 / 5.0).abs() < 1e-3);
        assert!((supported.row(1)[0].probability() - 0.5 / 5.0).abs() < 1e-3);
    }

    #[test]
    fn proteins_and_long_sequences_have_no_base_pairs() {
        let never = AtomicBool::new(false);
        assert_eq!(fold(Alphabet::Protein, &[&[1; 20]], &never).unwrap(), None);
        assert_eq!(fold(Alphabet::Dna, &[&[4; 900], &[1; 20]], &never).unwrap(), None);
        assert!(matches!(fold(Alphabet::Dna, &[&[1]], &AtomicBool::new(true)), Err(Error::Interrupted)));
    }
}
