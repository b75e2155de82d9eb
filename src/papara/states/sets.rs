//! Sets of ancestral characters. Two sets combine to their intersection, or to their union if the
//! intersection is empty (Fitch 1971). More than two sets combine to their most frequent characters
//! (Hartigan 1973). For two sets, both rules agree.

use super::{EdgeValues, WIDTH};
use crate::simd::array_of;

/// The set model, with the number of bits of a set.
pub(super) struct FitchSets {
    pub(super) bits: usize,
}

/// Number of sets that contain each character, at each site.
type CharacterCounts = Vec<[u32; WIDTH]>;

fn join(one: u32, other: u32) -> u32 {
    let both = one & other;
    if both != 0 { both } else { one | other }
}

impl FitchSets {
    fn counts(&self, sides: &[[u32; WIDTH]]) -> CharacterCounts {
        let mut counts = vec![[0; WIDTH]; self.bits];
        for side in sides {
            for (bit, counts) in counts.iter_mut().enumerate() {
                counts.iter_mut().zip(side).for_each(|(count, set)| *count += set >> bit & 1);
            }
        }
        counts
    }

    /// Returns the most frequent characters of all counted sets except `without`.
    fn most_frequent(&self, counts: &CharacterCounts, without: &[u32; WIDTH]) -> [u32; WIDTH] {
        let count = |bit: usize, site: usize| counts[bit][site] - (without[site] >> bit & 1);
        array_of(|site| {
            let most = (0..self.bits).map(|bit| count(bit, site)).max().unwrap_or(0);
            (0..self.bits).filter(|&bit| count(bit, site) == most).fold(0, |set, bit| set | 1 << bit)
        })
    }
}

impl EdgeValues for FitchSets {
    type Row = [u32; WIDTH];

    fn leaf(&self, sets: &[u32; WIDTH], _edge: usize) -> Self::Row {
        *sets
    }

    fn combine_two(&self, one: &Self::Row, other: &Self::Row, _edge: usize) -> Self::Row {
        array_of(|site| join(one[site], other[site]))
    }

    fn combine_all(&self, sides: &[Self::Row], _edge: usize) -> Self::Row {
        self.most_frequent(&self.counts(sides), &[0; WIDTH])
    }

    fn combine_others(&self, sides: &[Self::Row], first: usize, _edges: impl Iterator<Item = usize>) -> Vec<Self::Row> {
        let counts = self.counts(sides);
        sides[first..].iter().map(|side| self.most_frequent(&counts, side)).collect()
    }

    fn edge_bits(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH] {
        self.combine_two(above, below, 0)
    }
}
