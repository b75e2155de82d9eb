//! The search for the next pair of nodes to join, without considering all pairs.
//!
//! Each pair is stored as a candidate of one of its nodes: of the newer one, or of the later node
//! if both are equally old. While there are r nodes, the total of a pair is (r - 2) d + T - s - s',
//! where d is its distance, T is twice the sum of all distances, and s and s' are the sums of its
//! nodes. Let R be the number of nodes when all candidates were last sorted, and S' the sum of the
//! other node at that time. The row of the candidate's node stores its known value (R - 2) d - S'.
//! The current value (r - 2) d - s' is at least (r - 2) / (R - 2) times the known value, plus the
//! least deficit (r - 2) / (R - 2) S' - s' of any node. So candidates are sorted by the known value
//! (as in Wheeler 2009; Simonsen, Mailund and Pedersen 2008 sort by distance). A row is searched up
//! to the first candidate whose bound exceeds the best total. The bound allows for every rounding
//! error, and totals are summed and compared as in a full search. So the pair is exactly the result
//! of a full search, including ties. The bounds become loose with further joins. When too many
//! candidates have been considered, all are sorted again.

use rayon::prelude::*;

use super::{Nodes, Scale};

/// With fewer nodes, threads cost more time than they save.
pub(super) const MIN_PARALLEL_NODES: usize = 512;

/// Number of rows that a thread processes at a time.
const PIECE: usize = 128;

/// All candidates are sorted again when the number of candidates considered is this many times the
/// number of candidates to sort.
const SORT_RATIO: u64 = 4;

/// Allowance for rounding errors, relative to the greatest summands. It is about a hundred times
/// the actual errors.
const ROOM: f64 = 1.0 / (1u64 << 45) as f64;

/// Sorted candidates of a node. The upper bits of an entry are the known part of the total, rounded
/// down to single precision and encoded so that integers have the same order. The lower bits are
/// the index of the other node.
#[derive(Default)]
struct CandidateRow {
    sorted: Vec<u64>,
    /// Entries before this index are no longer needed.
    start: usize,
    /// The first entry that may be needed. For most rows, the search needs only this and not the
    /// list.
    head: Option<u64>,
}

impl CandidateRow {
    fn new(candidates: impl Iterator<Item = (f64, u32)>) -> CandidateRow {
        let mut sorted: Vec<u64> =
            candidates.map(|(known, index)| u64::from(ordered(known)) << 32 | u64::from(index)).collect();
        sorted.sort_unstable();
        CandidateRow { head: sorted.first().copied(), sorted, start: 0 }
    }

    /// Drops the entries before an index.
    fn drop_before(&mut self, start: usize) {
        self.start = start;
        self.head = self.sorted.get(start).copied();
    }
}

/// Rounds down to single precision, and returns bits that have the order of the numbers as
/// integers.
fn ordered(known: f64) -> u32 {
    let near = known as f32;
    let below = if f64::from(near) > known { near.next_down() } else { near };
    let bits = below.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Decodes an entry: the known part of the total, rounded down, and the index of the other node.
fn candidate(entry: u64) -> (f64, usize) {
    let bits = (entry >> 32) as u32;
    let bits = if bits >> 31 == 1 { bits & !(1 << 31) } else { !bits };
    (f64::from(f32::from_bits(bits)), entry as u32 as usize)
}

/// A pair of nodes. Less is better: first by total, then by later index, and then by earlier index.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct BestPair {
    total: f64,
    later: usize,
    earlier: usize,
}

impl BestPair {
    fn lesser(self, other: BestPair) -> BestPair {
        if other < self { other } else { self }
    }
}

/// The candidates of all nodes.
pub(super) struct JoinSearch {
    rows: Vec<CandidateRow>,
    /// Step that created the node at each index; `u32::MAX` if there is no node.
    born: Vec<u32>,
    steps: u32,
    /// Number of nodes minus two when all candidates were last sorted.
    others: f64,
    /// Sum of each node at that time. For a node created later, it is extrapolated to that number
    /// of nodes.
    sums: Vec<f64>,
    /// Greatest absolute distance. No join creates a greater one.
    greatest: f64,
    /// Number of candidates considered since all were sorted.
    looks: u64,
}

/// Values that one step of the search needs.
struct SearchStep<'a> {
    nodes: &'a Nodes,
    born: &'a [u32],
    sums: Vec<f64>,
    scale: Scale,
    /// Current number of nodes minus two, divided by that number when all candidates were sorted.
    share: f64,
    /// Deficit of each node's sum (see the module documentation), minus the least deficit, which is
    /// part of `rest`.
    behind: Vec<f64>,
    /// Lower bound of a total without its known part and without the sum of the candidate's own
    /// node.
    rest: f64,
}

impl JoinSearch {
    pub(super) fn new(nodes: &Nodes) -> JoinSearch {
        let all = nodes.number.len();
        let rows = (0..all).map(|_| CandidateRow::default()).collect();
        let distances = (0..all).flat_map(|at| nodes.distances.to_earlier(at));
        let greatest = distances.fold(0.0f64, |greatest, distance| greatest.max(distance.abs()));
        let (born, sums) = (vec![0; all], vec![0.0; all]);
        let mut search = JoinSearch { rows, born, steps: 0, others: 0.0, sums, greatest, looks: 0 };
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
            *row = CandidateRow::new(
                earlier.map(|&other| (others * distances[other as usize] - sums[other as usize], other)),
            );
        });
        self.looks = 0;
    }

    fn step<'a>(nodes: &'a Nodes, born: &'a [u32], then: &[f64], others: f64, greatest: f64) -> SearchStep<'a> {
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
        SearchStep { nodes, born, sums, scale, share, behind, rest: scale.twice + least - room }
    }

    /// Returns the pair with the least total, the earlier index first. Among equal totals, it is
    /// the pair with the least later index, and then with the least earlier index.
    pub(super) fn closest_pair(&mut self, nodes: &Nodes) -> (usize, usize) {
        let left = nodes.left.len() as u64;
        if self.looks > SORT_RATIO * left * left / 2 {
            self.sort(nodes);
        }
        let step = Self::step(nodes, &self.born, &self.sums, self.others, self.greatest);
        // This pair stays if the totals are NaN.
        let none = BestPair { total: step.scale.max_total(), later: 0, earlier: 0 };
        let (best, looks) = if nodes.left.len() < MIN_PARALLEL_NODES {
            let best = step.first_of(0, &mut self.rows, none);
            step.all_of(0, &mut self.rows, best)
        } else {
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let first = pieces.map(|(piece, rows)| step.first_of(piece * PIECE, rows, none));
            let best = first.reduce(|| none, BestPair::lesser);
            let pieces = self.rows.par_chunks_mut(PIECE).enumerate();
            let all = pieces.map(|(piece, rows)| step.all_of(piece * PIECE, rows, best));
            all.reduce(|| (best, 0), |(a, some), (b, more)| (a.lesser(b), some + more))
        };
        self.looks += looks;
        match best.later {
            0 => (nodes.left[0] as usize, nodes.left[1] as usize),
            later => (best.earlier, later),
        }
    }

    /// Updates the candidates after a join.
    pub(super) fn update_after_join(&mut self, nodes: &Nodes, earlier: usize, later: usize) {
        self.steps += 1;
        self.born[later] = u32::MAX;
        self.born[earlier] = self.steps;
        self.rows[later] = CandidateRow::default();
        let left = (nodes.left.len() as f64 - 2.0).max(1.0);
        self.sums[earlier] = nodes.sum(earlier) * (self.others / left);
        let known = |at: u32| self.others * nodes.distances.get(at as usize, earlier) - self.sums[at as usize];
        let others = nodes.left.iter().filter(|&&at| at as usize != earlier);
        self.rows[earlier] = CandidateRow::new(others.map(|&at| (known(at), at)));
    }
}

impl SearchStep<'_> {
    /// Returns the better of `best` and the first valid candidate of each row. `from` is the index
    /// of the first row. Drops candidates that are no longer valid.
    fn first_of(&self, from: usize, rows: &mut [CandidateRow], mut best: BestPair) -> BestPair {
        for (at, row) in (from..).zip(rows) {
            while let Some(entry) = row.head {
                let (_, other) = candidate(entry);
                if self.born[other] <= self.born[at] {
                    best = best.lesser(self.pair(at, other));
                    break;
                }
                row.drop_before(row.start + 1);
            }
        }
        best
    }

    /// Returns the best of `best` and all candidates of these rows, and the number of candidates
    /// considered.
    fn all_of(&self, from: usize, rows: &mut [CandidateRow], mut best: BestPair) -> (BestPair, u64) {
        let mut looks = 0;
        for (at, row) in (from..).zip(rows) {
            if row.head.is_none_or(|head| self.total_bound(head, at) > best.total) {
                continue;
            }
            let (mut end, mut gone) = (row.start, 0);
            for &entry in &row.sorted[row.start..] {
                if self.total_bound(entry, at) > best.total {
                    break;
                }
                let (_, other) = candidate(entry);
                end += 1;
                looks += 1;
                if self.born[other] > self.born[at] {
                    gone += 1;
                    continue;
                }
                if self.total_bound(entry, at) + self.behind[other] <= best.total {
                    best = best.lesser(self.pair(at, other));
                }
            }
            if gone > 0 {
                let mut kept = end;
                for index in (row.start..end).rev() {
                    let (_, other) = candidate(row.sorted[index]);
                    if self.born[other] <= self.born[at] {
                        kept -= 1;
                        row.sorted[kept] = row.sorted[index];
                    }
                }
                row.drop_before(kept);
            }
        }
        (best, looks)
    }

    /// Returns a lower bound of the totals of a row's candidates from this entry on.
    fn total_bound(&self, entry: u64, at: usize) -> f64 {
        let (known, _) = candidate(entry);
        self.share * known + self.rest - self.sums[at]
    }

    fn pair(&self, a: usize, b: usize) -> BestPair {
        let (earlier, later) = (a.min(b), a.max(b));
        let total = self.scale.total(self.nodes.distances.get(earlier, later), self.sums[earlier], self.sums[later]);
        BestPair { total, later, earlier }
    }
}
