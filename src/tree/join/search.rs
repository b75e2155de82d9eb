//! Which two nodes are joined next, without looking at all pairs.
//!
//! Each pair is a candidate of one of its nodes: of the newer one, or of the later one where both are equally old. Of the total
//! (r - 2) d + T - s - s' of a pair the node knows (R - 2) d - S', by the number R of nodes and the other's sum S' when all
//! candidates were last sorted. What became of it since is, (r - 2) / (R - 2) times that, at least the least that any of the
//! other nodes' sums fell behind: (r - 2) / (R - 2) S' - s'. So candidates are sorted by what is known (as Wheeler 2009 does,
//! where Simonsen, Mailund and Pedersen 2008 sort by distance), and from the first on that cannot give less than the best total so
//! far, no more are looked at. The bound leaves room for every rounding, and totals themselves are summed and compared as ever: so
//! the pair is exactly that of a search through all, ties included. Bounds grow loose with the joins; once too many candidates had
//! to be looked at, all are sorted anew.

use rayon::prelude::*;

use super::{Nodes, Scale};

/// With fewer nodes than this, threads cost more than they bring.
pub(super) const MANY: usize = 512;

/// Places in one piece of work.
const PIECE: usize = 128;

/// Candidates that are looked at for each that would be sorted anew, before it pays.
const LOOKS: u64 = 4;

/// Room for roundings, as a share of the greatest numbers that are added up: some hundred times what they come to.
const ROOM: f64 = 1.0 / (1u64 << 45) as f64;

/// A node's candidates: above what is known of the total, in single precision and no greater than the true number, in bits that
/// are ordered as it is; below the other node's place.
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
            candidates.map(|(known, place)| u64::from(ordered(known)) << 32 | u64::from(place)).collect();
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
fn ordered(known: f64) -> u32 {
    let near = known as f32;
    let below = if f64::from(near) > known { near.next_down() } else { near };
    let bits = below.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// What is known of the candidate's total, or a little less, and the place of the other node.
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
    /// Nodes that were left but for two when all candidates were sorted.
    others: f64,
    /// The sum of each node then; of one that was made since, what it would have been among so many.
    sums: Vec<f64>,
    /// The greatest distance: no join makes a greater one.
    greatest: f64,
    /// Candidates that were looked at since all were sorted.
    looks: u64,
}

/// What one step looks at.
struct Step<'a> {
    nodes: &'a Nodes,
    born: &'a [u32],
    sums: Vec<f64>,
    scale: Scale,
    /// How many there are, but for two, for each when all candidates were sorted.
    share: f64,
    /// How much each node's sum fell behind its share; the least of all is part of `rest`.
    behind: Vec<f64>,
    /// What a total is at least but for what is known of it and for the sum of the candidate's own node.
    rest: f64,
}

impl Search {
    pub(super) fn new(nodes: &Nodes) -> Search {
        let all = nodes.number.len();
        let rows = (0..all).map(|_| Row::default()).collect();
        let distances = (0..all).flat_map(|at| nodes.distances.to_earlier(at));
        let greatest = distances.fold(0.0f64, |greatest, distance| greatest.max(distance.abs()));
        let (born, sums) = (vec![0; all], vec![0.0; all]);
        let mut search = Search { rows, born, steps: 0, others: 0.0, sums, greatest, looks: 0 };
        search.sort(nodes);
        search
    }

    /// Sorts all candidates.
    fn sort(&mut self, nodes: &Nodes) {
        self.others = nodes.left.len() as f64 - 2.0;
        nodes.left.iter().for_each(|&at| {
            self.sums[at as usize] = nodes.sum(at as usize);
            self.born[at as usize] = self.steps;
        });
        let (others, sums, born, steps) = (self.others, &self.sums, &self.born, self.steps);
        self.rows.par_iter_mut().enumerate().filter(|&(at, _)| born[at] == steps).for_each(|(at, row)| {
            let distances = nodes.distances.to_earlier(at);
            let earlier = nodes.left.iter().take_while(|&&other| (other as usize) < at);
            *row = Row::new(earlier.map(|&other| (others * distances[other as usize] - sums[other as usize], other)));
        });
        self.looks = 0;
    }

    fn step<'a>(nodes: &'a Nodes, born: &'a [u32], then: &[f64], others: f64, greatest: f64) -> Step<'a> {
        let mut sums = vec![0.0; born.len()];
        let scale = nodes.scale();
        let share = scale.others / others;
        let mut behind = vec![0.0; born.len()];
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for &at in &nodes.left {
            let at = at as usize;
            sums[at] = nodes.sum(at);
            behind[at] = share * then[at] - sums[at];
            least = least.min(behind[at]);
            most = most.max(sums[at].abs()).max(share * then[at].abs());
        }
        nodes.left.iter().for_each(|&at| behind[at as usize] -= least);
        let room = ROOM * (scale.others * greatest + scale.twice.abs() + 4.0 * most);
        Step { nodes, born, sums, scale, share, behind, rest: scale.twice + least - room }
    }

    /// The pair of the least total, the earlier place first; of several that with the least later place, then the least
    /// earlier one.
    pub(super) fn least(&mut self, nodes: &Nodes) -> (usize, usize) {
        let left = nodes.left.len() as u64;
        if self.looks > LOOKS * left * left / 2 {
            self.sort(nodes);
        }
        let step = Self::step(nodes, &self.born, &self.sums, self.others, self.greatest);
        // Comparisons with what is no number leave this pair.
        let none = Best { total: step.scale.worst(), later: 0, earlier: 0 };
        let (best, looks) = if nodes.left.len() < MANY {
            let best = step.first_of(0, &mut self.rows, none);
            step.all_of(0, &mut self.rows, best)
        } else {
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let first = pieces.map(|(piece, rows)| step.first_of(piece * PIECE, rows, none));
            let best = first.reduce(|| none, Best::of);
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let all = pieces.map(|(piece, rows)| step.all_of(piece * PIECE, rows, best));
            all.reduce(|| (best, 0), |(a, some), (b, more)| (a.of(b), some + more))
        };
        self.looks += looks;
        match best.later {
            0 => (nodes.left[0] as usize, nodes.left[1] as usize),
            later => (best.earlier, later),
        }
    }

    /// The candidates after a join.
    pub(super) fn joined(&mut self, nodes: &Nodes, earlier: usize, later: usize) {
        self.steps += 1;
        self.born[later] = u32::MAX;
        self.born[earlier] = self.steps;
        self.rows[later] = Row::default();
        let left = (nodes.left.len() as f64 - 2.0).max(1.0);
        self.sums[earlier] = nodes.sum(earlier) * (self.others / left);
        let known = |at: u32| self.others * nodes.distances.get(at as usize, earlier) - self.sums[at as usize];
        let others = nodes.left.iter().filter(|&&at| at as usize != earlier);
        self.rows[earlier] = Row::new(others.map(|&at| (known(at), at)));
    }
}

impl Step<'_> {
    /// The better one of the best pair so far and the first candidate of each of these rows, the first of which is that of
    /// place `from`. Drops candidates that are no more.
    fn first_of(&self, from: usize, rows: &mut [Row], mut best: Best) -> Best {
        for (at, row) in (from..).zip(rows) {
            while let Some(entry) = row.head {
                let (_, other) = candidate(entry);
                if self.born[other] <= self.born[at] {
                    best = best.of(self.pair(at, other));
                    break;
                }
                row.drop_before(row.start + 1);
            }
        }
        best
    }

    /// The better one of the best pair so far and all candidates of these rows, and how many were looked at.
    fn all_of(&self, from: usize, rows: &mut [Row], mut best: Best) -> (Best, u64) {
        let mut looks = 0;
        for (at, row) in (from..).zip(rows) {
            if row.head.is_none_or(|head| self.least(head, at) > best.total) {
                continue;
            }
            let (mut end, mut gone) = (row.start, 0);
            for &entry in &row.sorted[row.start..] {
                if self.least(entry, at) > best.total {
                    break;
                }
                let (_, other) = candidate(entry);
                end += 1;
                looks += 1;
                if self.born[other] > self.born[at] {
                    gone += 1;
                    continue;
                }
                if self.least(entry, at) + self.behind[other] <= best.total {
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
        (best, looks)
    }

    /// The least total of a row's pairs from this candidate on.
    fn least(&self, entry: u64, at: usize) -> f64 {
        let (known, _) = candidate(entry);
        self.share * known + self.rest - self.sums[at]
    }

    fn pair(&self, a: usize, b: usize) -> Best {
        let (earlier, later) = (a.min(b), a.max(b));
        let total = self.scale.total(self.nodes.distances.get(earlier, later), self.sums[earlier], self.sums[later]);
        Best { total, later, earlier }
    }
}
