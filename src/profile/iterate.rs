//! Iteration: every sequence is taken out of an alignment and aligned with the others anew, and what scores best is kept.
//!
//! This is what ClustalW 2.1 does for `-iteration`, with all that is odd in it:
//!
//! - The objective function adds the costs of gaps instead of taking them off, and the *least* score is the best.
//! - Every sequence is taken out of the alignment as it was at first. More rounds than one find nothing new.
//! - The tree that weighs the others is made of distances that are one place off: they count from the sequence that was taken
//!   out, which stands where it does without its gaps.
//! - While a tree is climbed all leaves of that tree have one name, so that the last of them weighs all.

use rayon::prelude::*;

use super::group::Group;
use super::path;
use super::progressive::{Progressive, SUM, Work};
use super::rows::{GAP, Row, moved, packed, places, row};
use crate::alignment::MultipleAlignment;
use crate::alignment::join::JoinedColumns;
use crate::error::{Error, Result};
use crate::score::clustal::{ClustalMatrix, ClustalTable, ClustalTableOptions, LETTERS};
use crate::tree::{Distances, neighbour_joining};

/// Aligned sequences.
#[derive(Debug, Clone, Default)]
pub(super) struct Aligned {
    /// The sequences.
    pub(super) ids: Vec<u32>,
    /// The row of each.
    pub(super) rows: Vec<Row>,
}

impl Aligned {
    /// In the order of the store.
    pub(super) fn sorted(self) -> Aligned {
        let mut both: Vec<(u32, Row)> = self.ids.into_iter().zip(self.rows).collect();
        both.sort_unstable_by_key(|own| own.0);
        let (ids, rows) = both.into_iter().unzip();
        Aligned { ids, rows }
    }
}

/// What does not change whichever sequence is taken out.
struct Common<'a> {
    work: &'a Work<'a>,
    aligned: &'a Aligned,
    /// The matrix of the objective function.
    table: ClustalTable,
    /// What each pair scores: of each sequence those before it.
    pairs: Vec<Vec<f32>>,
    /// The distances, as above.
    distances: Vec<Vec<f64>>,
    /// Whether the leaves of trees have names of their own.
    has_names: bool,
}

/// An alignment, and what it scores: the less the better.
struct Candidate {
    score: i64,
    /// Which sequence was taken out.
    out: usize,
    /// The rows, that sequence first.
    rows: Vec<Row>,
}

impl Work<'_> {
    /// Takes out each sequence, aligns it with the others, and gives back what is better than before. `weights` are those by which
    /// the alignment is measured as it is.
    pub(super) fn iterate(&self, aligned: &Aligned, weights: &[i32], has_names: bool) -> Result<Option<Vec<Row>>> {
        let sequences = aligned.rows.len();
        if sequences <= 2 {
            return Ok(None);
        }
        let matrix =
            ClustalMatrix::built_in("blosum45").ok_or_else(|| Error::Internal("a matrix is missing".into()))?;
        let mut common = Common {
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
        let candidates = (0..sequences).into_par_iter().map(|out| common.without(out));
        let better = |a: Candidate, b: Candidate| if (b.score, b.out) < (a.score, a.out) { b } else { a };
        let best = candidates.try_reduce_with(|a, b| Ok(better(a, b))).transpose()?;
        Ok(best.filter(|best| best.score < before).map(|Candidate { out, mut rows, .. }| {
            rows[..=out].rotate_left(1);
            rows
        }))
    }

    /// The part of letters of the first row that the second has otherwise, or not at all. Z is passed over.
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

    /// Aligns by the rows of all: what [`Iterate::Tree`](super::Iterate::Tree) needs.
    pub(super) fn align_iterating(&self, late: &[bool]) -> Result<Progressive> {
        let leaves = self.guide.tree.leaves;
        let steps = self.steps(late);
        let mut nodes: Vec<Aligned> = (0..leaves as u32)
            .map(|id| match late[id as usize] {
                true => Aligned::default(),
                false => Aligned { ids: vec![id], rows: vec![self.letters.numbers(self.store, id)] },
            })
            .collect();
        nodes.resize_with(leaves + self.guide.tree.joins.len(), Aligned::default);
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
        let mut order = self.order(late);
        if aligned.ids.is_empty() {
            let first = self.most_alike();
            order.push(first);
            aligned = Aligned { ids: vec![first], rows: vec![self.letters.numbers(self.store, first)] };
        }
        let mut ways = self.late_ways(&order);
        while let Some(next) = ways.next() {
            let (weights, _) = self.late_weights(&aligned.ids, next as usize);
            let leaf = Aligned { ids: vec![next], rows: vec![self.letters.numbers(self.store, next)] };
            let weight = self.guide.weights[next as usize];
            aligned = self.join_weighed(&aligned, &leaf, [&weights, &[weight]])?;
            order.push(next);
            ways.add(next);
            done += 1;
            (self.run.progress)(done, steps);
        }
        let width = aligned.rows.first().map_or(0, Vec::len);
        let alignment = MultipleAlignment::new(width, aligned.rows.iter().map(|row| places(row)).collect())
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not rise".into()))?;
        Ok(Progressive { alignment, order })
    }

    fn join_rows(&self, first: &Aligned, second: &Aligned) -> Result<Aligned> {
        let weights = [first, second]
            .map(|side| side.ids.iter().map(|&id| self.guide.weights[id as usize]).collect::<Vec<i32>>());
        self.join_weighed(first, second, [&weights[0], &weights[1]])
    }

    /// Aligns rows with rows, and iterates.
    fn join_weighed(&self, first: &Aligned, second: &Aligned, weights: [&[i32]; 2]) -> Result<Aligned> {
        let group = |side: &Aligned, weights: &[i32]| Group::of_rows(&self.letters, &side.ids, &side.rows, weights);
        let path = self.path(&group(first, weights[0]), &group(second, weights[1]))?;
        let JoinedColumns { maps: [to_first, to_second], columns: width } = path::joined(&path);
        let mut joined = Aligned {
            ids: [&first.ids[..], &second.ids].concat(),
            rows: [moved(&first.rows, &to_first, width), moved(&second.rows, &to_second, width)].concat(),
        };
        if let Some(better) = self.iterate(&joined, &vec![1; joined.ids.len()], false)? {
            joined.rows = better;
        }
        Ok(joined.sorted())
    }

    /// Iterates on what was aligned in the end.
    pub(super) fn iterate_on(&self, found: Progressive, late: &[bool]) -> Result<Progressive> {
        let Progressive { alignment, order } = &found;
        let ids: Vec<u32> = (0..self.store.len() as u32).collect();
        let sequence =
            |&id: &u32| row(&self.letters.numbers(self.store, id), alignment.places(id as usize), alignment.columns());
        let aligned = Aligned { rows: ids.iter().map(sequence).collect(), ids };
        let weights = self.weights_in_the_end(order, late);
        let Some(better) = self.iterate(&aligned, &weights, true)? else { return Ok(found) };
        let width = better.first().map_or(0, Vec::len);
        let alignment = MultipleAlignment::new(width, better.iter().map(|row| places(row)).collect())
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not rise".into()))?;
        Ok(Progressive { alignment, order: found.order })
    }

    /// What sequences count once all are aligned.
    fn weights_in_the_end(&self, order: &[u32], late: &[bool]) -> Vec<i32> {
        let mut weights = self.guide.weights.to_vec();
        let in_time = order.len() - late.iter().filter(|&&late| late).count();
        if !self.options.weighted {
            return weights;
        }
        // If all are late the first of them is aligned with none.
        let mut is_even = false;
        for end in in_time.max(1)..order.len() {
            let (ids, next) = (&order[..end], order[end] as usize);
            let (found, all_even) = self.late_weights(ids, next);
            is_even |= all_even;
            ids.iter().zip(found).for_each(|(&id, weight)| weights[id as usize] = weight);
            if is_even {
                weights[next] = 1;
            }
        }
        weights
    }
}

impl Common<'_> {
    /// What a pair of rows adds to the objective function: letters, and the costs of gaps.
    fn pair_score(&self, first: &[u8], second: &[u8]) -> f32 {
        let codes = &self.work.letters.codes;
        let options = self.work.options;
        let (mut letters, mut gaps) = (0.0f32, 0.0f32);
        // Whether a gap of each has begun since there was a letter in both.
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

    /// The alignment with one sequence taken out and aligned anew.
    fn without(&self, out: usize) -> Result<Candidate> {
        let (work, Aligned { ids, rows }) = (self.work, self.aligned);
        let sequences = rows.len();
        let own: Row = rows[out].iter().copied().filter(|&letter| letter != GAP).collect();
        let others: Vec<usize> = (0..sequences).filter(|&other| other != out).collect();
        let other_rows: Vec<&Row> = others.iter().map(|&other| &rows[other]).collect();
        let other_rows = packed(&other_rows);
        let other_ids: Vec<u32> = others.iter().map(|&other| ids[other]).collect();
        let weights = self.tree_weights(&others, &own, &other_rows);
        let aligned =
            |own: &Row, other_rows: &[Row], weights: &[i32], identity: Option<f64>| -> Result<(Row, Vec<Row>)> {
                let first = Group::of_rows(&work.letters, &other_ids, other_rows, &weights[1..]);
                let second = Group::of_rows(&work.letters, &[ids[out]], &[own], &weights[..1]);
                let path = work.path_at(&first, &second, identity)?;
                let JoinedColumns { maps: [to_first, to_second], columns: width } = path::joined(&path);
                Ok((row(own, &to_second, width), moved(other_rows, &to_first, width)))
            };
        // Once as strangers, to see how alike they are.
        let (own, other_rows) = aligned(&own, &other_rows, &vec![100; sequences], None)?;
        let likeness: Vec<f64> = other_rows.iter().map(|row| 100.0 - work.distance(&own, row) * 100.0).collect();
        let most = likeness.iter().map(|&percent| percent as i32).max().unwrap_or(0);
        let mut weighed = vec![most * SUM];
        weighed.extend(likeness.iter().zip(weights).map(|(&percent, weight)| percent as i32 * weight));
        let weights = normalised(weighed, sequences as i32);
        let identity = likeness.iter().sum::<f64>() / f64::from(likeness.len() as f32);
        let (own, other_rows) = aligned(&own, &other_rows, &weights, Some(identity))?;
        let with_own: Vec<f32> = other_rows.iter().map(|row| self.pair_score(&own, row)).collect();
        let score = total(&weights, |a, b| match a {
            0 => with_own[b - 1],
            _ => self.pairs[others[b - 1]][others[a - 1]],
        });
        let mut rows = vec![own];
        rows.extend(other_rows);
        Ok(Candidate { score, out, rows })
    }

    /// How much the others count by their tree.
    fn tree_weights(&self, others: &[usize], own: &[u8], other_rows: &[Row]) -> Vec<i32> {
        let leaves = others.len();
        let even = |parts: usize| vec![(SUM / parts as i32).max(1); leaves];
        if !self.work.options.weighted {
            return even(leaves);
        }
        let among = |a: usize, b: usize| self.distances[others[b]][others[a]];
        let mut distances = Distances::new(leaves);
        if leaves == 2 {
            distances.set(0, 1, among(0, 1));
        } else {
            // One place off.
            for b in 1..leaves {
                distances.set(0, b, self.work.distance(own, &other_rows[b - 1]));
                (1..b).for_each(|a| distances.set(a, b, among(a - 1, b - 1)));
            }
        }
        let unrooted = neighbour_joining(distances, self.work.run.threads);
        let shares = unrooted.rooted(self.work.run.threads).shares();
        if self.has_names {
            return normalised(shares, leaves as i32 + 1);
        }
        // All by the name of the last leaf.
        let mut last = unrooted.centre.last().map_or(0, |last| last.0 as usize);
        while let Some(join) = last.checked_sub(leaves) {
            last = unrooted.joins[join].children[1] as usize;
        }
        even(if shares[last] > 0 { leaves } else { leaves + 1 })
    }
}

/// Weights with a sum of about a thousand; if all are 0 they count the same, and one of so many parts.
fn normalised(mut weights: Vec<i32>, parts: i32) -> Vec<i32> {
    let mut sum: i32 = weights.iter().sum();
    if sum == 0 {
        weights.fill(1);
        sum = parts;
    }
    weights.iter_mut().for_each(|weight| *weight = (*weight * SUM / sum).max(1));
    weights
}

/// The objective function of pairs, in single precision and in order.
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
