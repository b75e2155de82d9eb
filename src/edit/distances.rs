//! Results of a batch's pairs: one for each pair, or a list of the pairs within the limit if there
//! are few.

use std::ops::Range;

use crate::engine::buffer_pool::PooledVec;
use crate::score::{EditDistance, EditMode, EditScheme, Limit, OverlapReach};

/// Distances of numbered pairs. Pairs are numbered by block in the order of the batch, and within a
/// block by region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchDistances {
    /// One entry per pair.
    Each(PooledVec<EditDistance>),
    /// The pairs within the limit, in increasing order. All other pairs exceed the limit.
    Listed {
        /// Number of all pairs, listed or not.
        pairs: usize,
        /// Number of a pair, and its result, which is never [`EditDistance::NONE`].
        list: Vec<(u32, EditDistance)>,
    },
}

impl Default for BatchDistances {
    fn default() -> Self {
        BatchDistances::Each(PooledVec::default())
    }
}

impl BatchDistances {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> usize {
        match self {
            BatchDistances::Each(results) => results.len(),
            BatchDistances::Listed { pairs, .. } => *pairs,
        }
    }

    /// Returns the pairs of a range that are within the limit: their positions in the range, and
    /// their results.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (usize, EditDistance)> {
        let start = range.start;
        let (each, list) = match self {
            BatchDistances::Each(results) => (&results[range], &[][..]),
            BatchDistances::Listed { list, .. } => (&[][..], pairs_in_range(list, range)),
        };
        let each = each.iter().copied().enumerate().filter(|(_, results)| results.is_some());
        each.chain(list.iter().map(move |&(pair, results)| (pair as usize - start, results)))
    }

    /// Converts the results to one entry per pair.
    pub fn into_each(self) -> Vec<EditDistance> {
        match self {
            BatchDistances::Each(mut results) => std::mem::take(&mut *results),
            BatchDistances::Listed { pairs, list } => {
                let mut results = vec![EditDistance::NONE; pairs];
                list.iter().for_each(|&(pair, one)| results[pair as usize] = one);
                results
            }
        }
    }

    /// Converts the results to the list of pairs within the limit.
    pub fn into_listed(self) -> Vec<(u32, EditDistance)> {
        match self {
            BatchDistances::Listed { list, .. } => list,
            BatchDistances::Each(results) => {
                (0..).zip(results.iter().copied()).filter(|(_, result)| result.is_some()).collect()
            }
        }
    }

    /// Converts the results to one entry per pair and returns them for modification.
    pub fn each_mut(&mut self) -> &mut Vec<EditDistance> {
        if matches!(self, BatchDistances::Listed { .. }) {
            *self = BatchDistances::Each(std::mem::take(self).into_each().into());
        }
        match self {
            BatchDistances::Each(results) => results,
            BatchDistances::Listed { .. } => unreachable!("it was made one of each"),
        }
    }
}

/// Returns the part of a list whose pairs are in a range.
pub(super) fn pairs_in_range(list: &[(u32, EditDistance)], range: Range<usize>) -> &[(u32, EditDistance)] {
    let before = |end: usize| list.partition_point(|&(pair, _)| (pair as usize) < end);
    &list[before(range.start)..before(range.end)]
}

/// Returns whether a pattern of this length can exceed its limit for texts of any length. Only then
/// may a list omit a pair. If it is true for a pattern, it is true for all longer patterns.
pub(super) fn can_omit(scheme: &EditScheme, pattern_symbols: u32) -> bool {
    // Leaves a margin, so that rounding cannot reach the full length.
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
    fn lists_convert_to_one_entry_per_pair() {
        let one = |distance| EditDistance { distance, end: 3 };
        let each = vec![EditDistance::NONE, one(2), EditDistance::NONE, EditDistance::NONE, one(0), EditDistance::NONE];
        let mut listed = BatchDistances::Listed { pairs: 6, list: vec![(1, one(2)), (4, one(0))] };
        for range in [0..6, 1..5, 2..4, 4..4, 5..6] {
            let within = |distances: &BatchDistances| distances.within(range.clone()).collect::<Vec<_>>();
            assert_eq!(within(&listed), within(&BatchDistances::Each(each.clone().into())), "{range:?}");
        }
        assert_eq!(listed.within(1..5).collect::<Vec<_>>(), [(0, one(2)), (3, one(0))]);
        assert_eq!((listed.pairs(), listed.clone().into_each()), (6, each.clone()));
        assert_eq!(BatchDistances::Each(each.into()).into_listed(), listed.clone().into_listed());
        listed.each_mut()[0] = one(7);
        assert_eq!(listed.within(0..2).collect::<Vec<_>>(), [(0, one(7)), (1, one(2))]);
    }

    /// Every limit that allows omissions is below the largest distance of any two lengths.
    #[test]
    fn only_limits_below_all_distances_allow_omissions() {
        let limits = [Limit::None, Limit::Shorter(0.1, 0.5), Limit::Shorter(0.5, 1.0), Limit::Shorter(0.1, 1.5)];
        let distances = [0, 1, 5, 31, 100].map(Limit::Distance);
        let rates = [0.0, 0.1, 0.999, 1.0].map(Limit::Rate);
        let mut seen = [0, 0];
        for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
            for limit in limits.into_iter().chain(distances).chain(rates) {
                let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
                assert!(!can_omit(&scheme, 0));
                for m in 1..120 {
                    let may = can_omit(&scheme, m);
                    seen[usize::from(may)] += 1;
                    let most = |n: u32| if mode == EditMode::Global { m.max(n) } else { m };
                    assert!(!may || (1..300).all(|n| scheme.limit(m, n) < most(n)), "{mode:?} {limit:?} {m}");
                    assert!(!may || can_omit(&scheme, m + 1));
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
