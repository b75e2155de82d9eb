//! Where a job is cut: a block after each so many cells, at the border of units that is nearest.

use std::ops::Range;

use super::Block;
use crate::seq::part::{Extents, Part};

/// Pairs of a block, about, at most: of short sequences very many have few cells, and each may be a row of its block's file.
const MAX_PAIRS: u64 = 1 << 26;

/// Cuts units into blocks of about so many cells, or of `MAX_PAIRS` pairs; none has half as many more, unless a pair has. `size`
/// gives a unit's pairs and cells. One that is worth two blocks or more `split` cuts into so many.
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
    // What a unit counts: its cells, or for its pairs as many as would fill a block with their number.
    let load_of = |(pairs, own): (u64, u128)| own.max(u128::from(pairs) * u128::from(cells) / u128::from(most_pairs));
    let total: u128 = (0..units).map(|unit| load_of(size(unit))).sum();
    let count = total.div_ceil(u128::from(cells)).max(1);
    let goal = total.div_ceil(count).max(1);
    let mut blocks: Vec<Block> = Vec::new();
    // Which of the equal parts the last block is, and its load, while it may grow.
    let mut open = None;
    let mut before = 0u128;
    for unit in 0..units {
        let (pairs, own) = size(unit);
        let load = load_of((pairs, own));
        let place = ((before + load / 2) / goal).min(count - 1);
        before += load;
        let pieces = u64::try_from((load + goal / 2) / goal).unwrap_or(u64::MAX);
        if pieces > 1 {
            blocks.extend(split(unit, pieces));
            open = None;
            continue;
        }
        match (blocks.last_mut(), open) {
            (Some(last), Some((at, sum))) if at == place && sum + load <= goal + goal / 2 => {
                last.units.end = unit + 1;
                last.pairs += pairs;
                last.cells = last.cells.saturating_add(at_most(own));
                open = Some((place, sum + load));
            }
            _ => {
                blocks.push(Block { units: unit..unit + 1, targets: None, pairs, cells: at_most(own) });
                open = Some((place, load));
            }
        }
    }
    blocks
}

/// Blocks of units that come one after the other, of which nobody knows how many there are.
#[derive(Debug)]
pub struct Growing {
    blocks: Vec<Block>,
    cells: u64,
    most_pairs: u64,
}

impl Growing {
    /// A block ends with the unit with which it has so many cells. Its pairs do not matter.
    pub fn new(cells: u64) -> Self {
        Growing { blocks: Vec::new(), cells, most_pairs: u64::MAX }
    }

    /// The same where each pair may be a row.
    pub fn of_rows(cells: u64) -> Self {
        Growing { most_pairs: MAX_PAIRS, ..Self::new(cells) }
    }

    /// The next unit.
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

    /// All blocks.
    pub fn blocks(self) -> Vec<Block> {
        self.blocks
    }
}

/// The number, or the greatest that there is.
pub(in crate::jobs) fn at_most(cells: u128) -> u64 {
    u64::try_from(cells).unwrap_or(u64::MAX)
}

/// An all-against-all to cut: sequences, of each of which all strands are in one block, and the targets that they meet.
#[derive(Debug)]
pub struct Grid<'a> {
    /// Pairs and cells of one strand.
    pub extents: Extents<'a>,
    /// QueryStrands of each sequence that are compared.
    pub copies: u32,
    /// Lengths of the targets.
    pub targets: &'a [u32],
    /// Sequences meet only the targets after them.
    pub later: bool,
}

impl Grid<'_> {
    fn size(&self, sequence: u64, targets: Option<Range<u32>>) -> (u64, u128) {
        let sequence = sequence as u32;
        let (pairs, cells) = self.extents.of(&Part { queries: sequence..sequence + 1, targets });
        (pairs * u64::from(self.copies), cells * u128::from(self.copies))
    }

    /// Cuts it along the sequences, and one that is too much along its targets.
    pub fn cut(&self, sequences: usize, cells: u64) -> Vec<Block> {
        cut(
            sequences as u64,
            cells,
            |sequence| self.size(sequence, None),
            |sequence, pieces| self.split(sequence, pieces),
        )
    }

    /// One sequence in so many blocks, or as many as it has targets.
    fn split(&self, sequence: u64, pieces: u64) -> Vec<Block> {
        let met = Part::all(0).met(sequence as u32, self.targets.len(), self.later);
        let symbols = |target: u32| u128::from(self.targets[target as usize]);
        let (all, pieces): (u128, _) = (met.clone().map(symbols).sum(), u128::from(pieces));
        let mut ranges: Vec<(u128, Range<u32>)> = Vec::new();
        let mut before = 0;
        for target in met {
            let place = ((2 * before + symbols(target)) * pieces / (2 * all.max(1))).min(pieces - 1);
            before += symbols(target);
            match ranges.last_mut() {
                Some((last, range)) if *last == place => range.end = target + 1,
                _ => ranges.push((place, target..target + 1)),
            }
        }
        let is_whole = ranges.len() < 2;
        let block = |(_, range): (u128, Range<u32>)| {
            let targets = (!is_whole).then_some(range);
            let (pairs, cells) = self.size(sequence, targets.clone());
            Block { units: sequence..sequence + 1, targets, pairs, cells: at_most(cells) }
        };
        ranges.into_iter().map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};
    use proptest::prelude::*;

    fn none(_: u64, _: u64) -> Vec<Block> {
        panic!("nothing is too much")
    }

    #[test]
    fn blocks_are_about_equal() {
        let blocks = cut(1000, 10_000, |unit| (1, 95 + u128::from(unit % 10)), none);
        assert_eq!(blocks.len(), 10);
        assert!(blocks.iter().all(|block| block.cells.abs_diff(9_950) < 100), "{blocks:?}");
        assert_eq!(cut(0, 5, |_| (1, 1), none), []);
        let nothing = Block { units: 0..3, targets: None, pairs: 3, cells: 0 };
        assert_eq!(cut(3, 5, |_| (1, 0), none), [nothing]);
    }

    #[test]
    fn blocks_grow_until_they_are_full() {
        let units = |blocks: Vec<Block>| blocks.into_iter().map(|block| (block.units, block.pairs, block.cells));
        let mut growing = Growing::new(10);
        (0..5).for_each(|unit| growing.add(unit, 2, [4, 6, 30, 1, 2][unit as usize]));
        assert!(units(growing.blocks()).eq([(0..2, 4, 10), (2..3, 2, 30), (3..5, 4, 3)]));
        let mut growing = Growing { most_pairs: 3, ..Growing::of_rows(1_000) };
        (7..12).for_each(|unit| growing.add(unit, 2, 1));
        assert!(units(growing.blocks()).eq([(7..9, 4, 2), (9..11, 4, 2), (11..12, 2, 1)]));
        assert_eq!(Growing::of_rows(1).blocks(), []);
    }

    #[test]
    fn short_sequences_make_blocks_of_no_more_pairs_than_can_be_rows() {
        let whole = |unit: u64, pieces: u64| {
            let block = Block { units: unit..unit + 1, targets: Some(0..1), pairs: 100, cells: 400 };
            vec![block; pieces as usize]
        };
        // Units of 100 pairs of 4 cells, of which 250 pairs are enough.
        let blocks = cut_within(100, 1_000_000, 250, |_| (100, 400), whole);
        assert_eq!(blocks.iter().map(|block| block.pairs).sum::<u64>(), 10_000);
        assert!(blocks.iter().all(|block| (200..=300).contains(&block.pairs)), "{blocks:?}");
        // Of 80, every unit is one, and of 40 each has several.
        let blocks = cut_within(100, 1_000_000, 80, |_| (100, 400), whole);
        assert!(blocks.len() == 100 && blocks.iter().all(|block| block.targets.is_none()));
        assert_eq!(cut_within(10, 1_000_000, 40, |_| (100, 400), whole).len(), 30);
        // Cells are what counts where they are many.
        assert_eq!(cut_within(100, 4_000, 1 << 26, |_| (100, 400), whole).len(), 10);
        assert_eq!(cut_within(3, u64::MAX, 1 << 26, |_| (100, 400), whole).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn blocks_hold_every_pair_once(
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
            let grid = Grid { extents, copies, targets: targets.lengths(), later };
            let blocks = grid.cut(queries.len(), cells);
            let mut next = (0, 0);
            let (mut pairs, mut all) = (0, 0);
            for block in &blocks {
                let own = (block.units.start..block.units.end).map(|unit| grid.size(unit, block.targets.clone()));
                let sum = own.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
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
            let whole = grid.extents.of(&Part::all(queries.len()));
            prop_assert_eq!((pairs, all), (whole.0 * u64::from(copies), whole.1 * u128::from(copies)));
            // No block is far above what was asked for, unless a pair is.
            let pair = u128::from(copies) * 49 * 49;
            let most = u128::from(cells.max(1)) * 3 / 2 + 2 * pair;
            prop_assert!(blocks.iter().all(|block| u128::from(block.cells) <= most), "{:?} of {}", blocks, cells);
        }
    }
}
