//! Gap flags by parsimony (Berger and Stamatakis 2011). Each side of an edge has no gap, a closed
//! gap or an open gap.
//!
//! At a node next to a leaf, closed and open gaps count. At other nodes, only closed gaps count.
//! The result is a closed gap if all sides count, an open gap if only some do, and no gap
//! otherwise.

use super::{EdgeValues, WIDTH};
use crate::simd::array_of;

/// Bits of a side. `CLOSED` is set for every gap. `OPEN` is set in addition if the gap is open.
/// `LEAF` marks a leaf.
const CLOSED: u8 = 1;
const OPEN: u8 = 2;
const LEAF: u8 = 4;

/// The parsimony model: the set that counts as a gap at a leaf, and the bits of a gap cell.
pub(super) struct ParsimonyGaps {
    pub(super) all: u32,
    pub(super) gap: u32,
}

/// Numbers of sides of a node at each site: all sides, leaves, gaps and closed gaps.
#[derive(Clone, Copy)]
struct SideCounts {
    sides: [u32; WIDTH],
    leaves: [u32; WIDTH],
    gaps: [u32; WIDTH],
    closed: [u32; WIDTH],
}

impl SideCounts {
    fn from_sides(sides: &[[u8; WIDTH]]) -> Self {
        let count = |is: fn(u8) -> bool| {
            let add = |sum: [u32; WIDTH], side: &[u8; WIDTH]| array_of(|site| sum[site] + u32::from(is(side[site])));
            sides.iter().fold([0; WIDTH], add)
        };
        SideCounts { sides: count(|_| true), leaves: count(is_leaf), gaps: count(is_gap), closed: count(is_closed) }
    }

    fn without(&self, side: &[u8; WIDTH]) -> Self {
        let less =
            |counts: &[u32; WIDTH], is: fn(u8) -> bool| array_of(|site| counts[site] - u32::from(is(side[site])));
        SideCounts {
            sides: less(&self.sides, |_| true),
            leaves: less(&self.leaves, is_leaf),
            gaps: less(&self.gaps, is_gap),
            closed: less(&self.closed, is_closed),
        }
    }

    fn sum(&self) -> [u8; WIDTH] {
        array_of(|site| {
            let count = if self.leaves[site] > 0 { self.gaps[site] } else { self.closed[site] };
            if count == 0 {
                0
            } else if count == self.sides[site] {
                CLOSED
            } else {
                CLOSED | OPEN
            }
        })
    }
}

fn is_leaf(side: u8) -> bool {
    side & LEAF != 0
}

fn is_gap(side: u8) -> bool {
    side & CLOSED != 0
}

fn is_closed(side: u8) -> bool {
    side & (CLOSED | OPEN) == CLOSED
}

fn join(one: &[u8; WIDTH], other: &[u8; WIDTH]) -> [u8; WIDTH] {
    array_of(|site| {
        let (one, other) = (one[site], other[site]);
        // The shift moves `OPEN` to the position of `CLOSED`. An open gap does not count unless one
        // side is a leaf.
        let leaves = (one | other) >> 2 & 1;
        let counts = |side: u8| side & (leaves | !(side >> 1)) & 1;
        let (all, any) = (counts(one) & counts(other), counts(one) | counts(other));
        any | (any ^ all) << 1
    })
}

impl EdgeValues for ParsimonyGaps {
    type Row = [u8; WIDTH];

    fn leaf(&self, sets: &[u32; WIDTH], _edge: usize) -> Self::Row {
        sets.map(|set| if set == self.all { CLOSED | LEAF } else { LEAF })
    }

    fn combine_two(&self, one: &Self::Row, other: &Self::Row, _edge: usize) -> Self::Row {
        join(one, other)
    }

    fn combine_all(&self, sides: &[Self::Row], _edge: usize) -> Self::Row {
        SideCounts::from_sides(sides).sum()
    }

    fn combine_others(&self, sides: &[Self::Row], first: usize, _edges: impl Iterator<Item = usize>) -> Vec<Self::Row> {
        let counts = SideCounts::from_sides(sides);
        sides[first..].iter().map(|side| counts.without(side).sum()).collect()
    }

    fn edge_bits(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH] {
        join(above, below).map(|side| if is_closed(side) { self.gap } else { 0 })
    }
}
