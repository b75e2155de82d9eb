//! Sets of characters: of two what both have, if anything, else what either has (Fitch 1971); of more what most have (Hartigan
//! 1973), which is the same of two.

use std::array::from_fn;

use super::{Values, WIDTH};

/// Sets of so many bits.
pub(super) struct Sets {
    pub(super) bits: usize,
}

/// How many sets have each character, at each site.
type Counts = Vec<[u32; WIDTH]>;

fn join(one: u32, other: u32) -> u32 {
    let both = one & other;
    if both != 0 { both } else { one | other }
}

impl Sets {
    fn counts(&self, sides: &[[u32; WIDTH]]) -> Counts {
        let mut counts = vec![[0; WIDTH]; self.bits];
        for side in sides {
            for (bit, counts) in counts.iter_mut().enumerate() {
                counts.iter_mut().zip(side).for_each(|(count, set)| *count += set >> bit & 1);
            }
        }
        counts
    }

    /// What most have, of all that were counted but one.
    fn most(&self, counts: &Counts, without: &[u32; WIDTH]) -> [u32; WIDTH] {
        let count = |bit: usize, site: usize| counts[bit][site] - (without[site] >> bit & 1);
        from_fn(|site| {
            let most = (0..self.bits).map(|bit| count(bit, site)).max().unwrap_or(0);
            (0..self.bits).filter(|&bit| count(bit, site) == most).fold(0, |set, bit| set | 1 << bit)
        })
    }
}

impl Values for Sets {
    type Row = [u32; WIDTH];

    fn leaf(&self, sets: &[u32; WIDTH], _edge: usize) -> Self::Row {
        *sets
    }

    fn two(&self, one: &Self::Row, other: &Self::Row, _edge: usize) -> Self::Row {
        from_fn(|site| join(one[site], other[site]))
    }

    fn many(&self, sides: &[Self::Row], _edge: usize) -> Self::Row {
        self.most(&self.counts(sides), &[0; WIDTH])
    }

    fn others(&self, sides: &[Self::Row], first: usize, _edges: impl Iterator<Item = usize>) -> Vec<Self::Row> {
        let counts = self.counts(sides);
        sides[first..].iter().map(|side| self.most(&counts, side)).collect()
    }

    fn both(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH] {
        self.two(above, below, 0)
    }
}
