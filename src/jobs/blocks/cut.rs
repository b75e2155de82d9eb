//! Cuts a job into blocks of about equal numbers of cells, at the nearest borders between units.

use std::ops::Range;

use super::Block;
use crate::seq::part::{Extents, QueryPart};

/// Approximate maximum number of pairs in a block. Short sequences have many pairs with few cells,
/// and each pair may be a row in the file of its block.
const MAX_PAIRS: u64 = 1 << 26;

/// Cuts units into blocks of about `cells` cells, or of about `MAX_PAIRS` pairs if a block has more
/// pairs otherwise. A block exceeds these numbers by at most half, unless a single pair exceeds
/// them. `size` returns the pairs and cells of a unit. `split` cuts a unit that is as large as
/// several blocks into the given number of pieces.
pub fn cut(
    units: u64,
    cells: u64,
    size: impl Fn(u64) -> (u64, u128),
    split: impl Fn(u64, u64) -> Vec<Block>,
) -> Vec<Block> {
    cut_within(units, cells, MAX_PAIRS, size, split)
}

fn cut_within(
    units: u64,
    cells: u64,
    most_pairs: u64,
    size: impl Fn(u64) -> (u64, u128),
    split: impl Fn(u64, u64) -> Vec<Block>,
) -> Vec<Block> {
    let cells = cells.max(1);
    // The load of a unit is its number of cells, or its share of `most_pairs` expressed in cells if
    // that is larger.
    let load_of = |(pairs, cells_of_unit): (u64, u128)| {
        cells_of_unit.max(u128::from(pairs) * u128::from(cells) / u128::from(most_pairs))
    };
    let total: u128 = (0..units).map(|unit| load_of(size(unit))).sum();
    let count = total.div_ceil(u128::from(cells)).max(1);
    let goal = total.div_ceil(count).max(1);
    let mut blocks: Vec<Block> = Vec::new();
    // Index and load of the equal part that the last block belongs to, while that block may grow.
    let mut open = None;
    let mut before = 0u128;
    for unit in 0..units {
        let (pairs, unit_cells) = size(unit);
        let load = load_of((pairs, unit_cells));
        let index = ((before + load / 2) / goal).min(count - 1);
        before += load;
        let pieces = u64::try_from((load + goal / 2) / goal).unwrap_or(u64::MAX);
        if pieces > 1 {
            blocks.extend(split(unit, pieces));
            open = None;
            continue;
        }
        match (blocks.last_mut(), open) {
            (Some(last), Some((at, sum))) if at == index && sum + load <= goal + goal / 2 => {
                last.units.end = unit + 1;
                last.pairs += pairs;
                last.cells = last.cells.saturating_add(saturating_u64(unit_cells));
                open = Some((index, sum + load));
            }
            _ => {
                blocks.push(Block { units: unit..unit + 1, targets: None, pairs, cells: saturating_u64(unit_cells) });
                open = Some((index, load));
            }
        }
    }
    blocks
}

/// Blocks of consecutive units whose number is unknown.
#[derive(Debug)]
pub struct GrowingBlocks {
    blocks: Vec<Block>,
    cells: u64,
    most_pairs: u64,
}

impl GrowingBlocks {
    /// Creates an empty list. A block ends with the unit that brings it to `cells` cells or more.
    /// The number of pairs is unlimited.
    pub fn new(cells: u64) -> Self {
        GrowingBlocks { blocks: Vec::new(), cells, most_pairs: u64::MAX }
    }

    /// Creates an empty list with a limited number of pairs per block, because each pair may be a
    /// row.
    pub fn of_rows(cells: u64) -> Self {
        GrowingBlocks { most_pairs: MAX_PAIRS, ..Self::new(cells) }
    }

    /// Adds the next unit.
    pub fn add(&mut self, unit: u64, pairs: u64, cells: u64) {
        let is_open = |block: &&mut Block| block.cells < self.cells && block.pairs < self.most_pairs;
        match self.blocks.last_mut().filter(is_open) {
            Some(block) => {
                block.units.end = unit + 1;
                (block.pairs, block.cells) = (block.pairs + pairs, block.cells.saturating_add(cells));
            }
            None => self.blocks.push(Block { units: unit..unit + 1, targets: None, pairs, cells }),
        }
    }

    /// Returns all blocks.
    pub fn blocks(self) -> Vec<Block> {
        self.blocks
    }
}

/// Converts a number and saturates at `u64::MAX`.
pub(in crate::jobs) fn saturating_u64(cells: u128) -> u64 {
    u64::try_from(cells).unwrap_or(u64::MAX)
}

/// A comparison of sequences with targets that can be cut. All strands of a sequence stay in one
/// block.
#[derive(Debug)]
pub struct ComparisonGrid<'a> {
    /// Pairs and cells of one strand.
    pub extents: Extents<'a>,
    /// Number of strands of each sequence that are compared.
    pub copies: u32,
    /// Lengths of the targets.
    pub targets: &'a [u32],
    /// Whether sequences are compared only with the targets after them.
    pub later: bool,
}

impl ComparisonGrid<'_> {
    fn size(&self, sequence: u64, targets: Option<Range<u32>>) -> (u64, u128) {
        let sequence = sequence as u32;
        let (pairs, cells) = self.extents.count(&QueryPart { queries: sequence..sequence + 1, targets });
        (pairs * u64::from(self.copies), cells * u128::from(self.copies))
    }

    /// Cuts along the sequences. A sequence that is too large for a block is cut along its targets.
    pub fn cut(&self, sequences: usize, cells: u64) -> Vec<Block> {
        cut(
            sequences as u64,
            cells,
            |sequence| self.size(sequence, None),
            |sequence, pieces| self.split(sequence, pieces),
        )
    }

    /// Cuts one sequence into `pieces` blocks, or one block per target if there are fewer targets.
    fn split(&self, sequence: u64, pieces: u64) -> Vec<Block> {
        let compared_targets = QueryPart::all(0).compared_targets(sequence as u32, self.targets.len(), self.later);
        let symbols = |target: u32| u128::from(self.targets[target as usize]);
        let (all, pieces): (u128, _) = (compared_targets.clone().map(symbols).sum(), u128::from(pieces));
        let mut ranges: Vec<(u128, Range<u32>)> = Vec::new();
        let mut before = 0;
        for target in compared_targets {
            let index = ((2 * before + symbols(target)) * pieces / (2 * all.max(1))).min(pieces - 1);
            before += symbols(target);
            match ranges.last_mut() {
                Some((last, range)) if *last == index => range.end = target + 1,
                _ => ranges.push((index, target..target + 1)),
            }
        }
        let is_whole = ranges.len() < 2;
        let block = |(_, range): (u128, Range<u32>)| {
            let targets = (!is_whole).then_some(range);
            let (pairs, cells) = self.size(sequence, targets.clone());
            Block { units: sequence..sequence + 1, targets, pairs, cells: saturating_u64(cells) }
        };
        ranges.into_iter().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};
    use proptest::prelude::*;

    fn no_split(_: u64, _: u64) -> Vec<Block> {
        panic!("no unit is too large")
    }

    #[test]
    fn blocks_have_about_equal_numbers_of_cells() {
        let blocks = cut(1000, 10_000, |unit| (1, 95 + u128::from(unit % 10)), no_split);
        assert_eq!(blocks.len(), 10);
        assert!(blocks.iter().all(|block| block.cells.abs_diff(9_950) < 100), "{blocks:?}");
        assert_eq!(cut(0, 5, |_| (1, 1), no_split), []);
        let nothing = Block { units: 0..3, targets: None, pairs: 3, cells: 0 };
        assert_eq!(cut(3, 5, |_| (1, 0), no_split), [nothing]);
    }

    #[test]
    fn growing_blocks_end_at_the_limit() {
        let units = |blocks: Vec<Block>| blocks.into_iter().map(|block| (block.units, block.pairs, block.cells));
        let mut growing = GrowingBlocks::new(10);
        (0..5).for_each(|unit| growing.add(unit, 2, [4, 6, 30, 1, 2][unit as usize]));
        assert!(units(growing.blocks()).eq([(0..2, 4, 10), (2..3, 2, 30), (3..5, 4, 3)]));
        let mut growing = GrowingBlocks { most_pairs: 3, ..GrowingBlocks::of_rows(1_000) };
        (7..12).for_each(|unit| growing.add(unit, 2, 1));
        assert!(units(growing.blocks()).eq([(7..9, 4, 2), (9..11, 4, 2), (11..12, 2, 1)]));
        assert_eq!(GrowingBlocks::of_rows(1).blocks(), []);
    }

    #[test]
    fn blocks_of_short_sequences_have_a_limited_number_of_pairs() {
        let whole = |unit: u64, pieces: u64| {
            let block = Block { units: unit..unit + 1, targets: Some(0..1), pairs: 100, cells: 400 };
            vec![block; pieces as usize]
        };
        // Units have 100 pairs of 4 cells, and 250 pairs fill a block.
        let blocks = cut_within(100, 1_000_000, 250, |_| (100, 400), whole);
        assert_eq!(blocks.iter().map(|block| block.pairs).sum::<u64>(), 10_000);
        assert!(blocks.iter().all(|block| (200..=300).contains(&block.pairs)), "{blocks:?}");
        // If 80 pairs fill a block, every unit is a block. If 40 do, every unit becomes several.
        let blocks = cut_within(100, 1_000_000, 80, |_| (100, 400), whole);
        assert!(blocks.len() == 100 && blocks.iter().all(|block| block.targets.is_none()));
        assert_eq!(cut_within(10, 1_000_000, 40, |_| (100, 400), whole).len(), 30);
        // The cells decide if there are many of them.
        assert_eq!(cut_within(100, 4_000, 1 << 26, |_| (100, 400), whole).len(), 10);
        assert_eq!(cut_within(3, u64::MAX, 1 << 26, |_| (100, 400), whole).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn blocks_contain_every_pair_exactly_once(
            queries in prop::collection::vec(0..50usize, 0..30), targets in prop::option::of(prop::collection::vec(0..50usize, 0..30)),
            cells in 0..20_000u64, copies in 1..3u32
        ) {
            let store = |lengths: &[usize]| {
                let mut builder = SequenceStore::builder(Alphabet::Dna);
                lengths.iter().for_each(|&length| builder.push("s", &vec![1; length]).unwrap());
                builder.build()
            };
            let (queries, later) = (store(&queries), targets.is_none());
            let targets = targets.map_or_else(|| queries.clone(), |targets| store(&targets));
            let extents = Extents::new(&queries, &targets, QueryStrands::default(), later);
            let grid = ComparisonGrid { extents, copies, targets: targets.lengths(), later };
            let blocks = grid.cut(queries.len(), cells);
            let mut next = (0, 0);
            let (mut pairs, mut all) = (0, 0);
            for block in &blocks {
                let sizes = (block.units.start..block.units.end).map(|unit| grid.size(unit, block.targets.clone()));
                let sum = sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
                prop_assert_eq!((block.pairs, u128::from(block.cells)), sum);
                (pairs, all) = (pairs + sum.0, all + sum.1);
                prop_assert_eq!(block.units.start, next.0, "{:?}", blocks);
                match &block.targets {
                    None => {
                        prop_assert_eq!(next.1, 0);
                        next = (block.units.end, 0);
                    }
                    Some(some) => {
                        let first = if later { block.units.start as u32 + 1 } else { 0 };
                        prop_assert_eq!(some.start, next.1.max(first));
                        prop_assert!(!some.is_empty() && block.units.end == block.units.start + 1);
                        let is_last = some.end as usize == targets.len();
                        next = if is_last { (block.units.end, 0) } else { (next.0, some.end) };
                    }
                }
            }
            prop_assert_eq!(next, (queries.len() as u64, 0));
            let whole = grid.extents.count(&QueryPart::all(queries.len()));
            prop_assert_eq!((pairs, all), (whole.0 * u64::from(copies), whole.1 * u128::from(copies)));
            // No block is much larger than requested, unless a single pair is.
            let pair = u128::from(copies) * 49 * 49;
            let most = u128::from(cells.max(1)) * 3 / 2 + 2 * pair;
            prop_assert!(blocks.iter().all(|block| u128::from(block.cells) <= most), "{:?} of {}", blocks, cells);
        }
    }
}
