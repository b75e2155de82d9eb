//! What was found of a batch's pairs: of each of them, or a list of those within the limit where these are few.

use std::ops::Range;

use crate::engine::buffer_pool::PooledVec;
use crate::score::{EditDistance, EditMode, EditScheme, Limit, OverlapReach};

/// Distances of pairs that are counted through: of all blocks of a batch in their order, of a block's places in theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distances {
    /// One entry a pair.
    Each(PooledVec<EditDistance>),
    /// The pairs within the limit, by their number, which rises. All others are above it.
    Listed {
        /// Pairs, listed or not.
        pairs: usize,
        /// A pair's number and what was found, which is never [`EditDistance::NONE`].
        list: Vec<(u32, EditDistance)>,
    },
}

impl Default for Distances {
    fn default() -> Self {
        Distances::Each(PooledVec::default())
    }
}

impl Distances {
    /// Number of pairs.
    pub fn pairs(&self) -> usize {
        match self {
            Distances::Each(found) => found.len(),
            Distances::Listed { pairs, .. } => *pairs,
        }
    }

    /// Those of a range of pairs that are within the limit: how many pairs of the range come before, and what was found.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (usize, EditDistance)> {
        let start = range.start;
        let (each, list) = match self {
            Distances::Each(found) => (&found[range], &[][..]),
            Distances::Listed { list, .. } => (&[][..], between(list, range)),
        };
        let each = each.iter().copied().enumerate().filter(|(_, found)| found.is_some());
        each.chain(list.iter().map(move |&(pair, found)| (pair as usize - start, found)))
    }

    /// One entry a pair.
    pub fn into_each(self) -> Vec<EditDistance> {
        match self {
            Distances::Each(mut found) => std::mem::take(&mut *found),
            Distances::Listed { pairs, list } => {
                let mut found = vec![EditDistance::NONE; pairs];
                list.iter().for_each(|&(pair, one)| found[pair as usize] = one);
                found
            }
        }
    }

    /// One entry a pair, to be changed; a list becomes that.
    pub fn each_mut(&mut self) -> &mut Vec<EditDistance> {
        if matches!(self, Distances::Listed { .. }) {
            *self = Distances::Each(std::mem::take(self).into_each().into());
        }
        match self {
            Distances::Each(found) => found,
            Distances::Listed { .. } => unreachable!("it was made one of each"),
        }
    }
}

/// The part of a list whose pairs are in a range.
pub(super) fn between(list: &[(u32, EditDistance)], range: Range<usize>) -> &[(u32, EditDistance)] {
    let before = |end: usize| list.partition_point(|&(pair, _)| (pair as usize) < end);
    &list[before(range.start)..before(range.end)]
}

/// Whether a pattern of so many symbols can be too far from a text, however long that is: only then may a pair be left out of
/// a list. What holds for a pattern holds for longer ones.
pub(super) fn may_leave_out(scheme: &EditScheme, pattern_symbols: u32) -> bool {
    // So that rounding cannot reach the whole of a length.
    const MAX_RATE: f64 = 0.999;
    pattern_symbols > 0
        && match (scheme.mode, scheme.limit) {
            (EditMode::Overlap(reach), _) => reach.rate < OverlapReach::ANY_RATE,
            (_, Limit::None) => false,
            (_, Limit::Distance(distance)) => distance < pattern_symbols,
            (_, Limit::Rate(rate)) => rate <= MAX_RATE,
            (EditMode::Global, Limit::Shorter(rate, further)) => rate <= MAX_RATE && further <= 1.0,
            (EditMode::Infix | EditMode::Prefix, Limit::Shorter(..)) => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Equality;
    use crate::seq::Alphabet;

    #[test]
    fn a_list_stands_for_each() {
        let one = |distance| EditDistance { distance, end: 3 };
        let each = vec![EditDistance::NONE, one(2), EditDistance::NONE, EditDistance::NONE, one(0), EditDistance::NONE];
        let mut listed = Distances::Listed { pairs: 6, list: vec![(1, one(2)), (4, one(0))] };
        for range in [0..6, 1..5, 2..4, 4..4, 5..6] {
            let of = |distances: &Distances| distances.within(range.clone()).collect::<Vec<_>>();
            assert_eq!(of(&listed), of(&Distances::Each(each.clone().into())), "{range:?}");
        }
        assert_eq!(listed.within(1..5).collect::<Vec<_>>(), [(0, one(2)), (3, one(0))]);
        assert_eq!((listed.pairs(), listed.clone().into_each()), (6, each.clone()));
        listed.each_mut()[0] = one(7);
        assert_eq!(listed.within(0..2).collect::<Vec<_>>(), [(0, one(7)), (1, one(2))]);
    }

    /// What may be left out is always less than what two lengths allow at most.
    #[test]
    fn only_limits_below_all_distances_leave_something_out() {
        let limits = [Limit::None, Limit::Shorter(0.1, 0.5), Limit::Shorter(0.5, 1.0), Limit::Shorter(0.1, 1.5)];
        let distances = [0, 1, 5, 31, 100].map(Limit::Distance);
        let rates = [0.0, 0.1, 0.999, 1.0].map(Limit::Rate);
        let mut seen = [0, 0];
        for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
            for limit in limits.into_iter().chain(distances).chain(rates) {
                let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
                assert!(!may_leave_out(&scheme, 0));
                for m in 1..120 {
                    let may = may_leave_out(&scheme, m);
                    seen[usize::from(may)] += 1;
                    let most = |n: u32| if mode == EditMode::Global { m.max(n) } else { m };
                    assert!(!may || (1..300).all(|n| scheme.limit(m, n) < most(n)), "{mode:?} {limit:?} {m}");
                    assert!(!may || may_leave_out(&scheme, m + 1));
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
