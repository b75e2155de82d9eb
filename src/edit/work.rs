//! Levenshtein distances as work: patterns against texts, or against regions of texts that a read mapper found.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use super::distances::{Distances, between, may_leave_out};
use crate::engine::{Batch, Portion, Reported, Work, check};
use crate::score::{EditMode, EditScheme, Found, Reach};
use crate::seq::{Code, SequenceId, SequenceStore};

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The text.
    pub text: SequenceId,
    /// Its first symbol, from 0.
    pub start: u32,
    /// The symbol after its last; not less than `start`, not beyond the text.
    pub end: u32,
}

impl Region {
    /// Number of symbols.
    pub fn symbols(&self) -> u32 {
        self.end - self.start
    }
}

/// What patterns are compared with: places that blocks count on.
#[derive(Debug, Clone)]
pub enum Places {
    /// Whole texts, in this order.
    Texts(Arc<[SequenceId]>),
    /// Parts of texts.
    Regions(Arc<Vec<Region>>),
}

/// What the blocks of a batch share.
#[derive(Debug)]
pub struct EditBand {
    /// Where patterns are.
    pub patterns: Arc<SequenceStore>,
    /// Where texts are; the same store in an all-against-all of one file.
    pub texts: Arc<SequenceStore>,
    /// What is computed.
    pub scheme: Arc<EditScheme>,
    /// What patterns are compared with.
    pub places: Places,
}

impl EditBand {
    /// The region at a place.
    #[inline]
    pub fn region(&self, place: u32) -> Region {
        match &self.places {
            Places::Texts(order) => {
                let text = order[place as usize];
                Region { text, start: 0, end: self.texts.length(text) }
            }
            Places::Regions(regions) => regions[place as usize],
        }
    }

    /// Symbols of the region at a place.
    pub fn text(&self, place: u32) -> &[Code] {
        let region = self.region(place);
        &self.texts.codes(region.text)[region.start as usize..region.end as usize]
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        match &self.places {
            Places::Texts(order) => order.len(),
            Places::Regions(regions) => regions.len(),
        }
    }

    /// Whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The least piece of work: one pattern against a run of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditBlock {
    /// The pattern.
    pub pattern: SequenceId,
    /// The places.
    pub places: Range<u32>,
    /// Cells of all its pairs together.
    pub cells: u64,
}

impl EditBlock {
    /// Pairs in the block.
    pub fn pairs(&self) -> u64 {
        self.places.len() as u64
    }
}

/// Levenshtein distances.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

/// Blocks that are computed together, all of patterns of one [`words`] class.
pub type EditBatch = Batch<Edit>;

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct EditReport {
    /// Of all blocks' pairs. What stands for blocks that are not finished has no meaning.
    pub found: Distances,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with the kernel, where it can be told.
    pub kernel_time: Option<Duration>,
}

impl Reported for EditReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

/// Blocks of a batch that are looked at together, and their pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indices of the blocks.
    pub blocks: Range<usize>,
    /// Where their pairs are among those of the batch.
    pub pairs: Range<usize>,
}

/// Cuts a batch into groups of so many pairs or, where a block is larger, more.
pub fn groups(batch: &EditBatch, pairs: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut open = Group { blocks: 0..0, pairs: 0..0 };
    for (index, block) in batch.blocks.iter().enumerate() {
        open.blocks.end = index + 1;
        open.pairs.end += block.places.len();
        if open.pairs.len() >= pairs {
            let next = Group { blocks: index + 1..index + 1, pairs: open.pairs.end..open.pairs.end };
            groups.push(std::mem::replace(&mut open, next));
        }
    }
    if !open.blocks.is_empty() {
        groups.push(open);
    }
    groups
}

/// Pairs that one thread looks at at a time.
pub const GROUP_PAIRS: usize = 1 << 14;

/// Words of 32 rows that kernels keep for a pattern: patterns of one class can share a batch. Exact up to 8 words, then in
/// steps of at most a seventh.
pub fn words(pattern_symbols: u32) -> u32 {
    let words = pattern_symbols.div_ceil(32).max(1);
    if words <= 8 {
        return words;
    }
    // Steps of an eighth of the power of two below.
    let step = (1 << (31 - (words - 1).leading_zeros())) / 8;
    words.next_multiple_of(step)
}

impl Work for Edit {
    type Band = EditBand;
    type Block = EditBlock;
    type Class = u32;
    type Report = EditReport;

    fn pairs(block: &EditBlock) -> u64 {
        block.pairs()
    }

    fn cells(block: &EditBlock) -> u64 {
        block.cells
    }

    fn first_cells(band: &EditBand, block: &EditBlock) -> Option<u64> {
        if block.places.is_empty() {
            return None;
        }
        Some(u64::from(band.patterns.length(block.pattern)) * u64::from(band.region(block.places.start).symbols()))
    }

    fn one_block(_band: &EditBand, _store_bytes: u64) -> bool {
        false
    }

    fn split(band: &EditBand, block: EditBlock, portion: Portion) -> (EditBlock, Option<EditBlock>) {
        if block.cells <= portion.cells && block.pairs() <= portion.pairs {
            return (block, None);
        }
        let m = u64::from(band.patterns.length(block.pattern));
        let (mut end, mut cells) = (block.places.start, 0);
        while end < block.places.end {
            let more = m * u64::from(band.region(end).symbols());
            let full = cells + more > portion.cells || u64::from(end - block.places.start) >= portion.pairs;
            if full && end > block.places.start {
                break;
            }
            cells += more;
            end += 1;
        }
        if end == block.places.end {
            return (block, None);
        }
        let EditBlock { pattern, places, cells: all } = block;
        let tail = EditBlock { pattern, places: end..places.end, cells: all - cells };
        (EditBlock { pattern, places: places.start..end, cells }, Some(tail))
    }

    fn check(batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        let finished = check_sizes(batch, report)?;
        let mut groups = groups(batch, GROUP_PAIRS).into_iter();
        groups.try_for_each(|group| check_group(batch, &finished, &group, &report.found))
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &EditBatch, report: &EditReport) -> Result<(), String> {
        if batch.pairs() <= GROUP_PAIRS as u64 {
            return Self::check(batch, report);
        }
        let finished = check_sizes(batch, report)?;
        let check = |group: Group| check_group(batch, &finished, &group, &report.found);
        pool.install(|| groups(batch, GROUP_PAIRS).into_par_iter().try_for_each(check))
    }
}

/// Which blocks are finished, if there are as many results as pairs.
fn check_sizes(batch: &EditBatch, report: &EditReport) -> Result<Vec<bool>, String> {
    let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
    if report.found.pairs() as u64 != batch.pairs() {
        return Err(format!("{} results for {} pairs", report.found.pairs(), batch.pairs()));
    }
    if let Distances::Listed { pairs, list } = &report.found
        && !(list.is_sorted_by(|(one, _), (next, _)| one < next)
            && list.last().is_none_or(|&(pair, _)| (pair as usize) < *pairs))
    {
        return Err("pairs are not listed in their order".into());
    }
    Ok(finished)
}

fn check_group(batch: &EditBatch, finished: &[bool], group: &Group, found: &Distances) -> Result<(), String> {
    let band = &batch.band;
    let (mut each, mut list) = match found {
        Distances::Each(found) => (&found[group.pairs.clone()], &[][..]),
        Distances::Listed { list, .. } => (&[][..], between(list, group.pairs.clone())),
    };
    let is_list = matches!(found, Distances::Listed { .. });
    let mut first = group.pairs.start;
    for index in group.blocks.clone() {
        let block = &batch.blocks[index];
        let m = band.patterns.length(block.pattern);
        let count = block.places.len();
        if is_list {
            let end = first + count;
            let (own, others) = list.split_at(list.iter().take_while(|&&(pair, _)| (pair as usize) < end).count());
            list = others;
            if finished[index] {
                if own.len() < count && !may_leave_out(&band.scheme, m) {
                    let mut listed = own.iter().map(|&(pair, _)| pair as usize).peekable();
                    for (pair, place) in (first..).zip(block.places.clone()) {
                        if listed.next_if_eq(&pair).is_none() {
                            check_pair(band, (block, m), place, Found::NONE)?;
                        }
                    }
                }
                for &(pair, found) in own {
                    let place = block.places.start + (pair as usize - first) as u32;
                    if found == Found::NONE {
                        return Err(format!("a pair of pattern {} is listed without a distance", block.pattern));
                    }
                    check_pair(band, (block, m), place, found)?;
                }
            }
            first = end;
            continue;
        }
        let (own, others) = each.split_at(count);
        each = others;
        let mut pairs = block.places.clone().zip(own).filter(|_| finished[index]);
        pairs.try_for_each(|(place, found)| check_pair(band, (block, m), place, *found))?;
    }
    Ok(())
}

/// Checks what was found of a block's pattern of `m` symbols at a place.
#[inline]
fn check_pair(band: &EditBand, (block, m): (&EditBlock, u32), place: u32, found: Found) -> Result<(), String> {
    let n = band.region(place).symbols();
    let (least, most) = match band.scheme.mode {
        EditMode::Global => (m.abs_diff(n), m.max(n)),
        EditMode::Infix | EditMode::Prefix => (m.saturating_sub(n), m),
        EditMode::Overlap(_) => (0, m.min(n)),
    };
    let is_possible = (least..=most).contains(&found.distance) && found.end <= n;
    let is_rated = matches!(band.scheme.mode, EditMode::Overlap(reach) if reach.rate < Reach::ANY_RATE);
    let may_be_none = is_rated || band.scheme.limit(m, n) < most;
    if is_possible || may_be_none && found == Found::NONE {
        return Ok(());
    }
    Err(format!(
        "distance {} up to symbol {} of pattern {} of {m} and a text of {n} symbols",
        found.distance, found.end, block.pattern
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_block_and_pair_once() {
        let mut store = SequenceStore::builder(crate::seq::Alphabet::Dna);
        store.push("s", &[1, 2, 4]).unwrap();
        let store = Arc::new(store.build());
        let scheme = EditScheme {
            mode: EditMode::Global,
            equality: crate::score::Equality::literal(crate::seq::Alphabet::Dna),
            limit: crate::score::Limit::None,
        };
        let places = Places::Texts([0; 40].into());
        let band = EditBand { patterns: Arc::clone(&store), texts: store, scheme: Arc::new(scheme), places };
        let block = |places: Range<u32>| EditBlock { pattern: 0, places, cells: 1 };
        let blocks = vec![block(0..3), block(0..0), block(3..4), block(0..40), block(5..5), block(7..9)];
        let batch = EditBatch { band: Arc::new(band), blocks };
        let cut =
            |pairs| groups(&batch, pairs).into_iter().map(|group| (group.blocks, group.pairs)).collect::<Vec<_>>();
        assert_eq!(cut(4), [(0..3, 0..4), (3..4, 4..44), (4..6, 44..46)]);
        assert_eq!(cut(100), [(0..6, 0..46)]);
        assert_eq!(cut(46), [(0..6, 0..46)]);
    }

    #[test]
    fn classes_grow_by_a_seventh_at_most() {
        assert_eq!([0, 1, 32, 33, 256, 257, 500, 512, 513].map(words), [1, 1, 1, 2, 8, 9, 16, 16, 18]);
        let mut last = 0;
        for symbols in 1..1_000_000u32 {
            let exact = symbols.div_ceil(32);
            let class = words(symbols);
            assert!(class >= exact && class >= last && f64::from(class) <= f64::from(exact) * 8.0 / 7.0, "{symbols}");
            last = class;
        }
    }
}
