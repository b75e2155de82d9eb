//! Which two nodes are joined next, without looking at all pairs.
//!
//! Each pair is a candidate of one of its nodes: of the newer one, or of the later one where both are sequences. Candidates are
//! sorted by distance (Simonsen, Mailund and Pedersen 2008). A total is never less than what the distance and the greatest sum
//! of all give, added in the same way, as every rounding keeps order: from the first candidate on that gives more than the best
//! total so far, no more are looked at. So the pair is exactly that of a search through all, ties included.

use rayon::prelude::*;

use super::{Distances, Nodes, Scale};

/// With fewer nodes than this, threads cost more than they bring.
pub(super) const MANY: usize = 512;

/// Places in one piece of work.
const PIECE: usize = 128;

/// A node's candidates: above a distance of single precision, no greater than the true one, in bits that are ordered as it is;
/// below the other node's place.
#[derive(Default)]
struct Row {
    sorted: Vec<u64>,
    /// Those before are of no more use.
    start: usize,
    /// The first that may be of use: most rows are done with it, without a look at the list.
    head: Option<u64>,
}

impl Row {
    fn new(candidates: impl Iterator<Item = (f64, u32)>) -> Row {
        let mut sorted: Vec<u64> =
            candidates.map(|(distance, place)| u64::from(ordered(distance)) << 32 | u64::from(place)).collect();
        sorted.sort_unstable();
        Row { head: sorted.first().copied(), sorted, start: 0 }
    }

    /// Drops the candidates before a place of the list.
    fn drop_before(&mut self, start: usize) {
        self.start = start;
        self.head = self.sorted.get(start).copied();
    }
}

/// Bits of the greatest single-precision number that is no greater, ordered as numbers are.
fn ordered(distance: f64) -> u32 {
    let near = distance as f32;
    let below = if f64::from(near) > distance { near.next_down() } else { near };
    let bits = below.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// A distance that is no greater than the candidate's own, and the place of the other node.
fn candidate(entry: u64) -> (f64, usize) {
    let bits = (entry >> 32) as u32;
    let bits = if bits >> 31 == 1 { bits & !(1 << 31) } else { !bits };
    (f64::from(f32::from_bits(bits)), entry as u32 as usize)
}

/// The best pair so far: less is better, then the lesser later place, then the lesser earlier one.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Best {
    total: f64,
    later: usize,
    earlier: usize,
}

impl Best {
    fn of(self, other: Best) -> Best {
        if other < self { other } else { self }
    }
}

/// Candidates of all nodes.
pub(super) struct Search {
    rows: Vec<Row>,
    /// The step that made the node at each place; `u32::MAX` where there is none.
    born: Vec<u32>,
    steps: u32,
}

/// What one step looks at.
struct Step<'a> {
    nodes: &'a Nodes,
    born: &'a [u32],
    sums: Vec<f64>,
    greatest: f64,
    scale: Scale,
}

impl Search {
    pub(super) fn new(distances: &Distances) -> Search {
        let row = |at: usize| Row::new(distances.to_earlier(at).iter().copied().zip(0..));
        let all = distances.sequences();
        Search { rows: (0..all).into_par_iter().map(row).collect(), born: vec![0; all], steps: 0 }
    }

    /// The pair of the least total, the earlier place first; of several that with the least later place, then the least
    /// earlier one.
    pub(super) fn least(&mut self, nodes: &Nodes) -> (usize, usize) {
        let mut sums = vec![0.0; self.born.len()];
        let mut greatest = f64::NEG_INFINITY;
        for &at in &nodes.left {
            let sum = nodes.sum(at as usize);
            sums[at as usize] = sum;
            greatest = greatest.max(sum);
        }
        let step = Step { nodes, born: &self.born, sums, greatest, scale: nodes.scale() };
        // Comparisons with what is no number leave this pair.
        let none = Best { total: step.scale.worst(), later: 0, earlier: 0 };
        let best = if nodes.left.len() < MANY {
            let best = step.first_of(0, &mut self.rows, none);
            step.all_of(0, &mut self.rows, best)
        } else {
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let first = pieces.map(|(piece, rows)| step.first_of(piece * PIECE, rows, none));
            let best = first.reduce(|| none, Best::of);
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let all = pieces.map(|(piece, rows)| step.all_of(piece * PIECE, rows, best));
            all.reduce(|| best, Best::of)
        };
        match best.later {
            0 => (nodes.left[0] as usize, nodes.left[1] as usize),
            later => (best.earlier, later),
        }
    }

    /// The candidates after a join.
    pub(super) fn joined(&mut self, nodes: &Nodes, (earlier, later): (usize, usize)) {
        self.steps += 1;
        self.born[later] = u32::MAX;
        self.born[earlier] = self.steps;
        self.rows[later] = Row::default();
        let others = nodes.left.iter().filter(|&&at| at as usize != earlier);
        self.rows[earlier] = Row::new(others.map(|&at| (nodes.distances.get(at as usize, earlier), at)));
    }
}

impl Step<'_> {
    /// The better one of the best pair so far and the first candidate of each of these rows, the first of which is that of
    /// place `from`. Drops candidates that are no more.
    fn first_of(&self, from: usize, rows: &mut [Row], mut best: Best) -> Best {
        for (at, row) in (from..).zip(rows) {
            while let Some(entry) = row.head {
                let (distance, other) = candidate(entry);
                if self.born[other] <= self.born[at] {
                    if self.total(distance, at, other) <= best.total {
                        best = best.of(self.pair(at, other));
                    }
                    break;
                }
                row.drop_before(row.start + 1);
            }
        }
        best
    }

    /// The better one of the best pair so far and all candidates of these rows.
    fn all_of(&self, from: usize, rows: &mut [Row], mut best: Best) -> Best {
        for (at, row) in (from..).zip(rows) {
            if row.head.is_none_or(|head| self.ends(head, at, best)) {
                continue;
            }
            let (mut end, mut gone) = (row.start, 0);
            for &entry in &row.sorted[row.start..] {
                if self.ends(entry, at, best) {
                    break;
                }
                let (distance, other) = candidate(entry);
                end += 1;
                if self.born[other] > self.born[at] {
                    gone += 1;
                    continue;
                }
                if self.total(distance, at, other) <= best.total {
                    best = best.of(self.pair(at, other));
                }
            }
            if gone > 0 {
                let mut kept = end;
                for place in (row.start..end).rev() {
                    let (_, other) = candidate(row.sorted[place]);
                    if self.born[other] <= self.born[at] {
                        kept -= 1;
                        row.sorted[kept] = row.sorted[place];
                    }
                }
                row.drop_before(kept);
            }
        }
        best
    }

    /// Whether no candidate of a row can be better from this one on.
    fn ends(&self, entry: u64, at: usize, best: Best) -> bool {
        let (distance, _) = candidate(entry);
        let one = self.scale.total(distance, self.greatest, self.sums[at]);
        let least = one.min(self.scale.total(distance, self.sums[at], self.greatest));
        // No pair of this row has a lesser later place than its own.
        least > best.total || (least == best.total && at > best.later)
    }

    /// The total of a pair with this distance.
    fn total(&self, distance: f64, a: usize, b: usize) -> f64 {
        self.scale.total(distance, self.sums[a.min(b)], self.sums[a.max(b)])
    }

    fn pair(&self, a: usize, b: usize) -> Best {
        let (earlier, later) = (a.min(b), a.max(b));
        Best { total: self.total(self.nodes.distances.get(earlier, later), earlier, later), later, earlier }
    }
}
