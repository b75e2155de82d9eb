//! Gap flags by likelihood. The model has the states residue and gap and uses the branch lengths.
//! The rows on both sides of an edge include the whole length of the edge.

use super::{EdgeValues, WIDTH};
use crate::papara::tree::ReferenceTree;
use crate::simd::array_of;

/// Transition probabilities of a branch: `P[s][x]` is the probability of x at the other end, given
/// s at this end.
type Branch = [[f64; 2]; 2];

/// Threshold of 2^-256 for rescaling. If both likelihoods of a factor are smaller, both are divided
/// by it, so that products of many factors do not underflow. After that, the larger likelihood is
/// at least this threshold, unless both are 0.
const SMALL: f64 = f64::from_bits((1023 - 256) << 52);

/// The likelihood model.
pub(super) struct Likelihoods {
    branches: Vec<Branch>,
    all: u32,
    gap: u32,
}

impl Likelihoods {
    /// Creates a model from the fraction of gaps. `all` is the set that counts as a gap at a leaf,
    /// and `gap` has the bits of a gap cell.
    pub(super) fn new(tree: &ReferenceTree, share: f64, all: u32, gap: u32) -> Self {
        Likelihoods { branches: tree.edges.iter().map(|edge| branch(share, edge.length)).collect(), all, gap }
    }

    /// Propagates likelihoods to the other end of an edge.
    fn propagate(&self, row: &[[f64; WIDTH]; 2], edge: usize) -> [[f64; WIDTH]; 2] {
        let branch = &self.branches[edge];
        array_of(|state| array_of(|site| branch[state][0] * row[0][site] + branch[state][1] * row[1][site]))
    }
}

fn branch(share: f64, length: f64) -> Branch {
    let (p, e) = (share, (-length).exp());
    [[1.0 - p + p * e, p * (1.0 - e)], [(1.0 - p) * (1.0 - e), p + (1.0 - p) * e]]
}

/// Returns the elementwise product. Each site may be scaled by a power of two.
fn product(one: &[[f64; WIDTH]; 2], other: &[[f64; WIDTH]; 2]) -> [[f64; WIDTH]; 2] {
    let row: [[f64; WIDTH]; 2] = array_of(|state| array_of(|site| one[state][site] * other[state][site]));
    let is_small = |site: usize| row[0][site] < SMALL && row[1][site] < SMALL;
    let scales: [f64; WIDTH] = array_of(|site| if is_small(site) { 1.0 / SMALL } else { 1.0 });
    row.map(|row| array_of(|site| row[site] * scales[site]))
}

impl EdgeValues for Likelihoods {
    /// Likelihoods of a residue and of a gap, up to a common power of two at each site.
    type Row = [[f64; WIDTH]; 2];

    fn leaf(&self, sets: &[u32; WIDTH], edge: usize) -> Self::Row {
        let gap = sets.map(|set| f64::from(u8::from(set == self.all)));
        self.propagate(&[gap.map(|gap| 1.0 - gap), gap], edge)
    }

    fn combine_two(&self, one: &Self::Row, other: &Self::Row, edge: usize) -> Self::Row {
        self.propagate(&product(one, other), edge)
    }

    fn combine_all(&self, sides: &[Self::Row], edge: usize) -> Self::Row {
        let whole = sides.iter().fold([[1.0; WIDTH]; 2], |whole, side| product(&whole, side));
        self.propagate(&whole, edge)
    }

    fn combine_others(&self, sides: &[Self::Row], first: usize, edges: impl Iterator<Item = usize>) -> Vec<Self::Row> {
        // Products of all factors before and after each one. A factor may be 0, so dividing by it
        // is not possible.
        let mut after = vec![[[1.0; WIDTH]; 2]; sides.len() + 1];
        for (side, row) in sides.iter().enumerate().rev() {
            after[side] = product(&after[side + 1], row);
        }
        let mut before = sides[..first].iter().fold([[1.0; WIDTH]; 2], |whole, side| product(&whole, side));
        let mut rows = Vec::with_capacity(sides.len() - first);
        for ((side, row), edge) in sides.iter().enumerate().skip(first).zip(edges) {
            rows.push(self.propagate(&product(&before, &after[side + 1]), edge));
            before = product(&before, row);
        }
        rows
    }

    fn edge_bits(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH] {
        let whole = product(above, below);
        array_of(|site| if whole[0][site] < whole[1][site] { self.gap } else { 0 })
    }
}
