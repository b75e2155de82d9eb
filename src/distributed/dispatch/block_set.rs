//! Sets of blocks, stored as ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers, stored as ranges that do not touch each other.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockSet {
    /// First number of each range, mapped to the number after its last one.
    ranges: BTreeMap<usize, usize>,
}

impl BlockSet {
    /// Returns the range that contains `block`.
    fn range_containing(&self, block: usize) -> Option<(usize, usize)> {
        let (&start, &end) = self.ranges.range(..=block).next_back()?;
        (block < end).then_some((start, end))
    }

    pub(super) fn contains(&self, block: usize) -> bool {
        self.range_containing(block).is_some()
    }

    /// Returns the range with the smallest numbers.
    pub(super) fn first(&self) -> Option<Range<usize>> {
        self.ranges.iter().next().map(|(&start, &end)| start..end)
    }

    /// Adds a block. Returns whether it is new.
    pub(super) fn insert(&mut self, block: usize) -> bool {
        if self.contains(block) {
            return false;
        }
        let (mut start, mut end) = (block, block + 1);
        if let Some((&before, &until)) = self.ranges.range(..block).next_back()
            && until == block
        {
            start = before;
        }
        if let Some(after) = self.ranges.remove(&end) {
            end = after;
        }
        self.ranges.insert(start, end);
        true
    }

    /// Removes a block. Returns whether the set contained it.
    pub(super) fn remove(&mut self, block: usize) -> bool {
        let Some((start, end)) = self.range_containing(block) else { return false };
        self.ranges.remove(&start);
        if start < block {
            self.ranges.insert(start, block);
        }
        if block + 1 < end {
            self.ranges.insert(block + 1, end);
        }
        true
    }

    /// Removes and returns the `count` smallest numbers of the first range, or the whole range if
    /// it is shorter.
    pub(super) fn take_first(&mut self, count: usize) -> Option<Range<usize>> {
        let (start, end) = self.ranges.pop_first()?;
        let cut = end.min(start + count);
        if cut < end {
            self.ranges.insert(cut, end);
        }
        Some(start..cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn block_set_equals_a_set_of_numbers() {
        for seed in 0..200 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut spans, mut set) = (BlockSet::default(), BTreeSet::new());
            for _ in 0..300 {
                let block = random.usize(..24);
                match random.u8(..5) {
                    0 | 1 => assert_eq!(spans.insert(block), set.insert(block)),
                    2 | 3 => assert_eq!(spans.remove(block), set.remove(&block)),
                    _ => {
                        let taken = spans.take_first(1 + block % 4);
                        assert_eq!(taken.is_none(), set.is_empty());
                        for one in taken.into_iter().flatten() {
                            assert_eq!(set.pop_first(), Some(one));
                        }
                    }
                }
                assert_eq!(spans.contains(block), set.contains(&block));
                assert_eq!(spans.first().map(|range| range.start), set.first().copied());
                let ranges: Vec<usize> = spans.ranges.iter().flat_map(|(&start, &end)| start..end).collect();
                assert!(ranges.iter().eq(&set), "{ranges:?}, {set:?}");
                assert!(spans.ranges.iter().zip(spans.ranges.keys().skip(1)).all(|((_, end), next)| end < next));
            }
        }
    }
}
