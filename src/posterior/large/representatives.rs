//! Sequences that represent a group of aligned sequences. The pairs of representatives of two groups
//! show which columns are homologous.

use std::borrow::Borrow;

use super::model::ColumnPair;
use crate::posterior::floats::LANES;
use crate::posterior::kernel::CUTOFF;
use crate::posterior::sparse::Sparse;

/// One representative in `COVERING` is selected for the columns that it covers.
const COVERING: usize = 3;

/// Number of representatives that cover a column sufficiently.
const SUFFICIENT_COVER: u8 = 2;

/// Minimum number of columns without a sufficient cover that a selected sequence adds to.
const MIN_COVERED: usize = 8;

/// A sequence that represents a part of its group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Representative {
    /// Index of the sequence.
    pub sequence: usize,
    /// Weight of the sequences that it represents.
    pub weight: f32,
    /// Columns of its residues.
    pub places: Vec<u32>,
}

/// Representatives of two groups. All of their pairs are used.
#[derive(Debug, Clone, Default)]
pub(super) struct PairedRepresentatives {
    /// Representatives of the group whose columns are rows.
    pub a: Vec<Representative>,
    /// Representatives of the other group.
    pub b: Vec<Representative>,
}

impl PairedRepresentatives {
    /// Returns the pairs, in the order of their probabilities.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Representative, &Representative)> {
        self.b.chunks(LANES).flat_map(move |lanes| self.a.iter().flat_map(move |a| lanes.iter().map(move |b| (a, b))))
    }

    /// Computes the probabilities of pairs of columns, in increasing order: the mean probability of
    /// all pairs of representatives that have residues in both columns. Therefore columns that few
    /// sequences share are aligned, too. `probabilities` belong to the pairs of sequences ([`PairedRepresentatives::pairs`]). `rows` is the number of columns of the first
    /// group. Returns `None` if there are no representatives.
    pub(super) fn column_pairs(&self, rows: usize, probabilities: &[impl Borrow<Sparse>]) -> Option<Vec<ColumnPair>> {
        if probabilities.is_empty() {
            return None;
        }
        let [a_weights, b_weights] = [&self.a, &self.b].map(|all| column_weights(all));
        // The cells of each row, in the order of pairs, so that sums do not depend on threads.
        let mut starts = vec![0u32; rows + 2];
        for ((a, _), sparse) in self.pairs().zip(probabilities) {
            for (residue, &place) in a.places.iter().enumerate() {
                starts[place as usize + 2] += sparse.borrow().row(residue).len() as u32;
            }
        }
        for row in 2..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut cells = vec![(0u32, 0.0f32); starts[rows + 1] as usize];
        for ((a, b), sparse) in self.pairs().zip(probabilities) {
            let weight = a.weight * b.weight;
            for (residue, &place) in a.places.iter().enumerate() {
                let next = &mut starts[place as usize + 1];
                for cell in sparse.borrow().row(residue) {
                    cells[*next as usize] = (b.places[cell.column()], weight * cell.probability());
                    *next += 1;
                }
            }
        }
        let mut sums = vec![0.0f32; b_weights.len()];
        let (mut touched, mut merged) = (Vec::new(), Vec::new());
        for row in 0..rows {
            for &(column, probability) in &cells[starts[row] as usize..starts[row + 1] as usize] {
                if sums[column as usize] == 0.0 {
                    touched.push(column);
                }
                sums[column as usize] += probability;
            }
            touched.sort_unstable();
            touched.dedup();
            let mean = |column: u32| {
                let sum = std::mem::take(&mut sums[column as usize]);
                (row as u32, column, sum / (a_weights[row] * b_weights[column as usize]))
            };
            merged.extend(touched.drain(..).map(mean).filter(|entry| entry.2 >= CUTOFF / 4.0));
        }
        Some(merged)
    }
}

/// Returns the sum of the weights of the representatives with a residue in each column, up to the
/// last such column.
fn column_weights(representatives: &[Representative]) -> Vec<f32> {
    let mut weights = vec![0.0; column_count(representatives)];
    for one in representatives {
        one.places.iter().for_each(|&place| weights[place as usize] += one.weight);
    }
    weights
}

/// Returns the number of columns up to the last one with a residue.
fn column_count(representatives: &[Representative]) -> usize {
    representatives.iter().filter_map(|one| one.places.last()).max().map_or(0, |&last| last as usize + 1)
}

/// Selects at most `limit` representatives. Two thirds are spread evenly over the weights, and their
/// new weights add up to the total weight. One third covers the columns in which fewer than
/// [`SUFFICIENT_COVER`] selected sequences have residues. These sequences keep their weights. If
/// there are no such columns, fewer representatives are selected.
pub(super) fn select_representatives(all: Vec<Representative>, limit: usize) -> Vec<Representative> {
    if limit == 0 {
        return Vec::new();
    }
    if all.len() <= limit {
        return all;
    }
    let mut cover = vec![0u8; column_count(&all)];
    let (mut selected, others) = spread_over_weights(all, limit - limit / COVERING);
    selected.iter().for_each(|one| add_cover(&mut cover, one));
    add_covering(&mut selected, others, limit, &mut cover);
    selected
}

/// Divides representatives into at most `limit` that are spread evenly over the weights, and all
/// others.
fn spread_over_weights(all: Vec<Representative>, limit: usize) -> (Vec<Representative>, Vec<Representative>) {
    let step = all.iter().map(|one| one.weight).sum::<f32>() / limit as f32;
    let (mut selected, mut others) = (Vec::new(), Vec::new());
    let (mut sum, mut next) = (0.0, step / 2.0);
    for one in all {
        sum += one.weight;
        if sum > next && selected.len() < limit {
            let mut weight = 0.0;
            while sum > next {
                weight += step;
                next += step;
            }
            selected.push(Representative { weight, ..one });
        } else {
            others.push(one);
        }
    }
    (selected, others)
}

fn add_cover(cover: &mut [u8], one: &Representative) {
    one.places.iter().for_each(|&place| cover[place as usize] = cover[place as usize].saturating_add(1));
}

/// Adds sequences from `others`, up to `limit` representatives. Each time, the sequence is added that
/// covers the most columns without a sufficient cover.
fn add_covering(selected: &mut Vec<Representative>, mut others: Vec<Representative>, limit: usize, cover: &mut [u8]) {
    while selected.len() < limit {
        let gain =
            |one: &Representative| one.places.iter().filter(|&&place| cover[place as usize] < SUFFICIENT_COVER).count();
        let gains = others.iter().map(gain).enumerate();
        // The first of several.
        let Some((index, gained)) = gains.rev().max_by_key(|&(_, gained)| gained) else { break };
        if gained < MIN_COVERED {
            break;
        }
        let one = others.remove(index);
        add_cover(cover, &one);
        selected.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(sequence: usize, weight: f32, places: std::ops::Range<u32>) -> Representative {
        Representative { sequence, weight, places: places.collect() }
    }

    #[test]
    fn representatives_are_limited_and_keep_the_weight() {
        let few = select_representatives((0..5).map(|at| one(at, 1.0, 0..0)).collect(), 8);
        assert_eq!(few.len(), 5);
        let weight = |at| if at == 50 { 40.0 } else { 1.0 };
        let some = select_representatives((0..100).map(|at| one(at, weight(at), 0..0)).collect(), 6);
        assert!(some.len() <= 6 && some.iter().any(|one| one.sequence == 50 && one.weight > 20.0), "{some:?}");
        assert!((some.iter().map(|one| one.weight).sum::<f32>() - 139.0).abs() < 0.1);
        assert!(select_representatives(vec![one(0, 1.0, 0..9)], 0).is_empty());
    }

    #[test]
    fn rare_columns_have_representatives() {
        let places = |at| match at {
            40 => 0..300,
            70 => 95..220,
            92 => 100..107,
            _ => 0..100,
        };
        for limit in [3, 6, 24] {
            let selected = select_representatives((0..100).map(|at| one(at, 1.0, places(at))).collect(), limit);
            assert!(selected.len() <= limit);
            let is_there = |at| selected.iter().any(|one| one.sequence == at);
            // The second one is needed, too, if the limit allows it. The third one covers too little.
            assert_eq!([40, 70, 92].map(is_there), [true, limit > 3, false], "limit {limit}");
        }
        // No column is rare.
        assert_eq!(select_representatives((0..100).map(|at| one(at, 1.0, 0..100)).collect(), 24).len(), 16);
    }

    #[test]
    fn probabilities_are_means_over_pairs_with_both_columns() {
        let (a, b) = (vec![one(0, 99.0, 0..1), one(1, 1.0, 0..2)], vec![one(2, 97.0, 0..1), one(3, 3.0, 0..2)]);
        let both = PairedRepresentatives { a, b };
        let of = |pairs: &[(u32, u32, f32)], rows| Sparse::new(rows, pairs);
        let probabilities: Vec<Sparse> = both
            .pairs()
            .map(|(a, b)| match (a.sequence, b.sequence) {
                (1, 3) => of(&[(1, 1, 0.875), (0, 0, 0.5)], 2),
                _ => of(&[(0, 0, 0.5)], a.places.len()),
            })
            .collect();
        let means = both.column_pairs(2, &probabilities).unwrap();
        let near = |(row, column, mean): ColumnPair, expected: f32| {
            assert_eq!(row, column);
            assert!((mean - expected).abs() < 1e-3, "{mean} {expected}");
        };
        assert_eq!(means.len(), 2);
        near(means[0], 0.5);
        near(means[1], 0.875);
        assert!(PairedRepresentatives::default().column_pairs(2, &[] as &[Sparse]).is_none());
    }
}
