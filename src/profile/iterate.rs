//! Iteration: removes each sequence from an alignment, aligns it with the others again, and keeps
//! the best result.
//!
//! This reproduces `-iteration` of ClustalW 2.1 with all of its oddities:
//!
//! - The objective function adds the costs of gaps instead of subtracting them, and the *smallest*
//!   score is the best.
//! - Every sequence is removed from the initial alignment, not from the best one so far. Further
//!   rounds therefore change nothing.
//! - The tree that determines the weights of the other sequences uses distances that are shifted by
//!   one position. The distances start with the removed sequence, which has been aligned again.
//! - All leaves of that tree have the same name when their weights are looked up. The last leaf
//!   therefore determines all weights.

use rayon::prelude::*;

use super::group::ProfileGroup;
use super::path;
use super::progressive::{Progressive, ProgressiveAligner, WEIGHT_SUM};
use super::rows::{GAP, GappedRow, move_columns, packed, residue_columns, row};
use crate::alignment::MultipleAlignment;
use crate::alignment::join::JoinedColumns;
use crate::error::{Error, Result};
use crate::score::clustal::{ClustalMatrix, ClustalTable, ClustalTableOptions, LETTERS};
use crate::tree::{Distances, neighbour_joining};

/// Aligned sequences with their rows.
#[derive(Debug, Clone, Default)]
pub(super) struct IteratedRows {
    /// The sequences.
    pub(super) ids: Vec<u32>,
    /// Row of each sequence.
    pub(super) rows: Vec<GappedRow>,
}

impl IteratedRows {
    /// Sorts the sequences by their order in the store.
    pub(super) fn sorted(self) -> IteratedRows {
        let mut both: Vec<(u32, GappedRow)> = self.ids.into_iter().zip(self.rows).collect();
        both.sort_unstable_by_key(|row| row.0);
        let (ids, rows) = both.into_iter().unzip();
        IteratedRows { ids, rows }
    }
}

/// Data that does not depend on the removed sequence.
struct IterationContext<'a> {
    work: &'a ProgressiveAligner<'a>,
    aligned: &'a IteratedRows,
    /// Matrix of the objective function.
    table: ClustalTable,
    /// Score of each pair of sequences. Entry `b` contains the pairs of `b` with all sequences
    /// before it.
    pairs: Vec<Vec<f32>>,
    /// Distance of each pair of sequences, in the same order.
    distances: Vec<Vec<f64>>,
    /// Whether each leaf of a tree has its own name.
    has_names: bool,
}

/// An alignment and its score. Smaller scores are better.
struct RealignedCandidate {
    score: i64,
    /// Index of the sequence that was removed.
    out: usize,
    /// Rows of the alignment, starting with this sequence.
    rows: Vec<GappedRow>,
}

impl ProgressiveAligner<'_> {
    /// Removes each sequence and aligns it with the others again. Returns the best alignment if it
    /// is better than the initial one. `weights` are used for the score of the initial alignment.
    pub(super) fn iterate(
        &self,
        aligned: &IteratedRows,
        weights: &[i32],
        has_names: bool,
    ) -> Result<Option<Vec<GappedRow>>> {
        let sequences = aligned.rows.len();
        if sequences <= 2 {
            return Ok(None);
        }
        let matrix =
            ClustalMatrix::built_in("blosum45").ok_or_else(|| Error::Internal("a matrix is missing".into()))?;
        let mut common = IterationContext {
            work: self,
            aligned,
            table: matrix.table(ClustalTableOptions { scale: 100, negative: true, transitions: None }),
            pairs: Vec::new(),
            distances: Vec::new(),
            has_names,
        };
        let rows = &aligned.rows;
        common.pairs = (0..sequences)
            .into_par_iter()
            .map(|b| (0..b).map(|a| common.pair_score(&rows[a], &rows[b])).collect())
            .collect();
        common.distances = (0..sequences)
            .into_par_iter()
            .map(|b| (0..b).map(|a| self.distance(&rows[a], &rows[b])).collect())
            .collect();
        let before = total(weights, |a, b| common.pairs[b][a]);
        let candidates = (0..sequences).into_par_iter().map(|out| common.realign_sequence(out));
        let better =
            |a: RealignedCandidate, b: RealignedCandidate| if (b.score, b.out) < (a.score, a.out) { b } else { a };
        let best = candidates.try_reduce_with(|a, b| Ok(better(a, b))).transpose()?;
        Ok(best.filter(|best| best.score < before).map(|RealignedCandidate { out, mut rows, .. }| {
            rows[..=out].rotate_left(1);
            rows
        }))
    }

    /// Returns the fraction of letters in the first row that differ from the second row or face a
    /// gap. The letter Z is ignored.
    fn distance(&self, first: &[u8], second: &[u8]) -> f64 {
        let counts = |letter: u8| letter != GAP && LETTERS[self.letters.codes[letter as usize] as usize] != b'Z';
        let (mut same, mut all) = (0u32, 0u32);
        for (a, b) in first.iter().zip(second).filter(|(a, _)| counts(**a)) {
            all += 1;
            same += u32::from(a == b);
        }
        let percent = if all == 0 { 0.0 } else { (100.0 * f64::from(same) / f64::from(all)) as f32 };
        (100.0 - f64::from(percent)) / 100.0
    }

    /// Aligns along the tree and iterates at every join ([`Iterate::Tree`](super::Iterate::Tree)).
    /// Works on the rows of all sequences.
    pub(super) fn align_iterating(&self, delayed: &[bool]) -> Result<Progressive> {
        let leaves = self.guide.tree.leaves;
        let steps = self.steps(delayed);
        let mut nodes: Vec<IteratedRows> = (0..leaves as u32)
            .map(|id| match delayed[id as usize] {
                true => IteratedRows::default(),
                false => IteratedRows { ids: vec![id], rows: vec![self.letters.numbers(self.store, id)] },
            })
            .collect();
        nodes.resize_with(leaves + self.guide.tree.joins.len(), IteratedRows::default);
        let mut done = 0;
        for join in self.joins_in_order() {
            let [first, second] =
                self.guide.tree.joins[join].children.map(|child| std::mem::take(&mut nodes[child as usize]));
            nodes[leaves + join] = match (first.ids.is_empty(), second.ids.is_empty()) {
                (false, false) if first.ids.len() >= second.ids.len() => self.join_rows(&first, &second)?,
                (false, false) => self.join_rows(&second, &first)?,
                (true, _) => second,
                (_, true) => first,
            };
            done += 1;
            (self.run.progress)(done, steps);
        }
        let mut aligned = nodes.pop().unwrap_or_default();
        let mut order = self.order(delayed);
        if aligned.ids.is_empty() {
            let first = self.first_if_all_delayed();
            order.push(first);
            aligned = IteratedRows { ids: vec![first], rows: vec![self.letters.numbers(self.store, first)] };
        }
        let mut queue = self.delayed_sequences(&order);
        while let Some(next) = queue.next() {
            let (weights, _) = self.delayed_weights(&aligned.ids, next as usize);
            let leaf = IteratedRows { ids: vec![next], rows: vec![self.letters.numbers(self.store, next)] };
            let weight = self.guide.weights[next as usize];
            aligned = self.join_weighed(&aligned, &leaf, [&weights, &[weight]])?;
            order.push(next);
            queue.add(next);
            done += 1;
            (self.run.progress)(done, steps);
        }
        let width = aligned.rows.first().map_or(0, Vec::len);
        let alignment = MultipleAlignment::new(width, aligned.rows.iter().map(|row| residue_columns(row)).collect())
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not increase".into()))?;
        Ok(Progressive { alignment, order })
    }

    fn join_rows(&self, first: &IteratedRows, second: &IteratedRows) -> Result<IteratedRows> {
        let weights = [first, second]
            .map(|side| side.ids.iter().map(|&id| self.guide.weights[id as usize]).collect::<Vec<i32>>());
        self.join_weighed(first, second, [&weights[0], &weights[1]])
    }

    /// Aligns two groups of rows and iterates on the result.
    fn join_weighed(&self, first: &IteratedRows, second: &IteratedRows, weights: [&[i32]; 2]) -> Result<IteratedRows> {
        let group = |side: &IteratedRows, weights: &[i32]| {
            ProfileGroup::from_rows(&self.letters, &side.ids, &side.rows, weights)
        };
        let path = self.path(&group(first, weights[0]), &group(second, weights[1]))?;
        let JoinedColumns { maps: [to_first, to_second], columns: width } = path::join_columns(&path);
        let mut joined = IteratedRows {
            ids: [&first.ids[..], &second.ids].concat(),
            rows: [move_columns(&first.rows, &to_first, width), move_columns(&second.rows, &to_second, width)].concat(),
        };
        if let Some(better) = self.iterate(&joined, &vec![1; joined.ids.len()], false)? {
            joined.rows = better;
        }
        Ok(joined.sorted())
    }

    /// Iterates on the final alignment.
    pub(super) fn iterate_on(&self, progressive: Progressive, delayed: &[bool]) -> Result<Progressive> {
        let Progressive { alignment, order } = &progressive;
        let ids: Vec<u32> = (0..self.store.len() as u32).collect();
        let sequence = |&id: &u32| {
            row(&self.letters.numbers(self.store, id), alignment.residue_columns(id as usize), alignment.columns())
        };
        let aligned = IteratedRows { rows: ids.iter().map(sequence).collect(), ids };
        let weights = self.weights_in_the_end(order, delayed);
        let Some(better) = self.iterate(&aligned, &weights, true)? else { return Ok(progressive) };
        let width = better.first().map_or(0, Vec::len);
        let alignment = MultipleAlignment::new(width, better.iter().map(|row| residue_columns(row)).collect())
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not increase".into()))?;
        Ok(Progressive { alignment, order: progressive.order })
    }

    /// Returns the weights that ClustalW uses after it has aligned all sequences.
    fn weights_in_the_end(&self, order: &[u32], delayed: &[bool]) -> Vec<i32> {
        let mut weights = self.guide.weights.to_vec();
        let in_time = order.len() - delayed.iter().filter(|&&delayed| delayed).count();
        if !self.options.weighted {
            return weights;
        }
        // If all sequences are delayed, the first one is not aligned with another.
        let mut is_even = false;
        for end in in_time.max(1)..order.len() {
            let (ids, next) = (&order[..end], order[end] as usize);
            let (delayed_ids, all_even) = self.delayed_weights(ids, next);
            is_even |= all_even;
            ids.iter().zip(delayed_ids).for_each(|(&id, weight)| weights[id as usize] = weight);
            if is_even {
                weights[next] = 1;
            }
        }
        weights
    }
}

impl IterationContext<'_> {
    /// Returns the contribution of a pair of rows to the objective function: the scores of letters
    /// plus gap costs.
    fn pair_score(&self, first: &[u8], second: &[u8]) -> f32 {
        let codes = &self.work.letters.codes;
        let options = self.work.options;
        let (mut letters, mut gaps) = (0.0f32, 0.0f32);
        // Whether each row has opened a gap since the last column with two letters.
        let mut open = [false; 2];
        for (&a, &b) in first.iter().zip(second) {
            let side = match (a == GAP, b == GAP) {
                (true, true) => continue,
                (false, false) => {
                    letters += self.table.score(codes[a as usize], codes[b as usize]) as f32;
                    open = [false; 2];
                    continue;
                }
                (is_first, _) => usize::from(!is_first),
            };
            gaps += if open[side] { options.gap_extend } else { options.gap_open };
            open[side] = true;
        }
        letters + gaps
    }

    /// Removes a sequence and aligns it again.
    fn realign_sequence(&self, out: usize) -> Result<RealignedCandidate> {
        let (work, IteratedRows { ids, rows }) = (self.work, self.aligned);
        let sequences = rows.len();
        let removed: GappedRow = rows[out].iter().copied().filter(|&letter| letter != GAP).collect();
        let others: Vec<usize> = (0..sequences).filter(|&other| other != out).collect();
        let other_rows: Vec<&GappedRow> = others.iter().map(|&other| &rows[other]).collect();
        let other_rows = packed(&other_rows);
        let other_ids: Vec<u32> = others.iter().map(|&other| ids[other]).collect();
        let weights = self.tree_weights(&others, &removed, &other_rows);
        let aligned = |removed: &GappedRow,
                       other_rows: &[GappedRow],
                       weights: &[i32],
                       identity: Option<f64>|
         -> Result<(GappedRow, Vec<GappedRow>)> {
            let first = ProfileGroup::from_rows(&work.letters, &other_ids, other_rows, &weights[1..]);
            let second = ProfileGroup::from_rows(&work.letters, &[ids[out]], &[removed], &weights[..1]);
            let path = work.path_at(&first, &second, identity)?;
            let JoinedColumns { maps: [to_first, to_second], columns: width } = path::join_columns(&path);
            Ok((row(removed, &to_second, width), move_columns(other_rows, &to_first, width)))
        };
        // The first alignment assumes no similarity. The similarity for the final alignment is
        // measured on it.
        let (removed, other_rows) = aligned(&removed, &other_rows, &vec![100; sequences], None)?;
        let likeness: Vec<f64> = other_rows.iter().map(|row| 100.0 - work.distance(&removed, row) * 100.0).collect();
        let most = likeness.iter().map(|&percent| percent as i32).max().unwrap_or(0);
        let mut weighed = vec![most * WEIGHT_SUM];
        weighed.extend(likeness.iter().zip(weights).map(|(&percent, weight)| percent as i32 * weight));
        let weights = normalised(weighed, sequences as i32);
        let identity = likeness.iter().sum::<f64>() / f64::from(likeness.len() as f32);
        let (removed, other_rows) = aligned(&removed, &other_rows, &weights, Some(identity))?;
        let with_removed: Vec<f32> = other_rows.iter().map(|row| self.pair_score(&removed, row)).collect();
        let score = total(&weights, |a, b| match a {
            0 => with_removed[b - 1],
            _ => self.pairs[others[b - 1]][others[a - 1]],
        });
        let mut rows = vec![removed];
        rows.extend(other_rows);
        Ok(RealignedCandidate { score, out, rows })
    }

    /// Returns the weights of the other sequences, computed from their tree.
    fn tree_weights(&self, others: &[usize], removed: &[u8], other_rows: &[GappedRow]) -> Vec<i32> {
        let leaves = others.len();
        let even = |parts: usize| vec![(WEIGHT_SUM / parts as i32).max(1); leaves];
        if !self.work.options.weighted {
            return even(leaves);
        }
        let among = |a: usize, b: usize| self.distances[others[b]][others[a]];
        let mut distances = Distances::new(leaves);
        if leaves == 2 {
            distances.set(0, 1, among(0, 1));
        } else {
            // ClustalW's distances are shifted by one position.
            for b in 1..leaves {
                distances.set(0, b, self.work.distance(removed, &other_rows[b - 1]));
                (1..b).for_each(|a| distances.set(a, b, among(a - 1, b - 1)));
            }
        }
        let unrooted = neighbour_joining(distances, self.work.run.threads);
        let shares = unrooted.rooted(self.work.run.threads).shares();
        if self.has_names {
            return normalised(shares, leaves as i32 + 1);
        }
        // The last leaf determines all weights.
        let mut last = unrooted.centre.last().map_or(0, |last| last.0 as usize);
        while let Some(join) = last.checked_sub(leaves) {
            last = unrooted.joins[join].children[1] as usize;
        }
        even(if shares[last] > 0 { leaves } else { leaves + 1 })
    }
}

/// Scales weights to a sum of about 1,000. If all weights are 0, each becomes 1,000 / `parts`.
fn normalised(mut weights: Vec<i32>, parts: i32) -> Vec<i32> {
    let mut sum: i32 = weights.iter().sum();
    if sum == 0 {
        weights.fill(1);
        sum = parts;
    }
    weights.iter_mut().for_each(|weight| *weight = (*weight * WEIGHT_SUM / sum).max(1));
    weights
}

/// Returns the objective function, computed in single precision and in the order of ClustalW.
fn total(weights: &[i32], pair: impl Fn(usize, usize) -> f32) -> i64 {
    let sum = weights.iter().sum::<i32>() as f32;
    let shares: Vec<f32> = weights.iter().map(|&weight| weight as f32 / sum).collect();
    let mut total = 0.0f32;
    for a in 0..weights.len() {
        for b in a + 1..weights.len() {
            total += shares[a] * shares[b] * pair(a, b);
        }
    }
    total as i64
}
