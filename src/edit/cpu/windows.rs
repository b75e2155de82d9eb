//! Windows of texts that can contain a part within the limit, as pairs for the kernels.

use std::ops::Range;

use super::EditPair;
use super::narrow::{self, NarrowPattern, NarrowRegion};
use crate::edit::pieces::{PackedTexts, PieceFilter};
use crate::edit::{EditBlock, EditChunk, Region};
use crate::score::EditDistance;
use crate::seq::Code;
use crate::simd::InstructionSet;

/// A window of a pair's region.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairWindow {
    /// Index of the pair's result.
    pub pair: usize,
    /// Number of symbols of the region before the window.
    pub before: u32,
}

/// Stores the result of a pair, or updates the result of a window's pair. Indices of windows follow
/// those of all pairs.
#[inline]
pub(super) fn put(index: usize, result: EditDistance, windows: &[PairWindow], results: &mut [EditDistance]) {
    match index.checked_sub(results.len()) {
        None => results[index] = result,
        Some(window) if result.is_some() => {
            let PairWindow { pair, before } = windows[window];
            // The least distance counts, and the first of equal ends.
            results[pair] = results[pair].min(EditDistance { end: result.end + before, ..result });
        }
        Some(_) => {}
    }
}

/// The windows of a block's pairs.
#[derive(Debug, Default)]
pub(super) struct BlockWindows<'a> {
    pub pairs: Vec<EditPair<'a>>,
    pub windows: Vec<PairWindow>,
}

/// Returns the windows of a block whose first pair has the index `first`. Pairs without a window
/// are above the limit. Returns `None` if no filter supports the pattern, or all would be slower
/// than a computation of all pairs.
pub(super) fn pairs_in_windows<'a>(
    chunk: &'a EditChunk,
    block: &EditBlock,
    first: usize,
    instructions: InstructionSet,
) -> Option<BlockWindows<'a>> {
    let packed = chunk.packed.as_deref()?;
    let pattern = chunk.patterns.codes(block.pattern);
    // A limit below the length of the pattern does not depend on the text.
    let limit = chunk.scheme.limit(pattern.len() as u32, u32::MAX);
    let create = || PieceFilter::new(pattern, limit, chunk.all_symbols());
    let filter = chunk.filters.get(block.pattern, create);
    let Some(filter) = filter.get()?.as_ref() else {
        let narrow = NarrowPattern::new(pattern, limit, &chunk.scheme.equality)?;
        let may_be_in = |regions: &[NarrowRegion<'_>]| narrow.may_be_in(instructions, regions);
        return Some(regions_with_parts(chunk, packed, block, first, limit, may_be_in));
    };
    let mut found = BlockWindows::default();
    let mut index = block.regions.start;
    while index < block.regions.end {
        let (until, Region { text, start, end }) = regions_together(chunk, index..block.regions.end);
        let windows = filter.windows(packed, text, start as usize..end as usize);
        let pair = first + (index - block.regions.start) as usize;
        let regions: Vec<Region> = (index..until).map(|index| chunk.region(index)).collect();
        for window in windows {
            found.add(pair, &regions, window, Sought { pattern, codes: chunk.texts.codes(text), limit });
        }
        index = until;
    }
    Some(found)
}

/// Returns the regions of a block that may contain a part within the limit, each as one window.
/// `may_be_in` decides it for at most [`narrow::LANES`] regions. Regions with codes other than A,
/// C, G and T are always returned.
fn regions_with_parts<'a>(
    chunk: &'a EditChunk,
    packed: &PackedTexts,
    block: &EditBlock,
    first: usize,
    limit: u32,
    may_be_in: impl Fn(&[NarrowRegion<'_>]) -> [bool; narrow::LANES],
) -> BlockWindows<'a> {
    let pattern = chunk.patterns.codes(block.pattern);
    let mut found = BlockWindows::default();
    let mut regions = Vec::with_capacity(narrow::LANES);
    let mut index = block.regions.start;
    while index < block.regions.end {
        let indices = index..block.regions.end.min(index + narrow::LANES as u32);
        regions.clear();
        regions.extend(indices.clone().map(|index| {
            let region = chunk.region(index);
            let (text, start) = (packed.text(region.text), region.start as usize);
            NarrowRegion { text, start, symbols: region.symbols() as usize }
        }));
        let is_ambiguous =
            |one: &NarrowRegion<'_>| one.text.ambiguous(one.start..one.start + one.symbols).next().is_some();
        for ((index, region), may_be) in indices.clone().zip(&regions).zip(may_be_in(&regions)) {
            let text = chunk.text(index);
            if (may_be || is_ambiguous(region)) && text.len() + limit as usize >= pattern.len() && !text.is_empty() {
                let pair = first + (index - block.regions.start) as usize;
                found.windows.push(PairWindow { pair, before: 0 });
                found.pairs.push(EditPair { pattern, text, limit });
            }
        }
        index = indices.end;
    }
    found
}

/// Returns the end of the first regions of a range that overlap or adjoin one after another, and the
/// part of the text that they cover. They are searched together.
pub(super) fn regions_together(chunk: &EditChunk, range: Range<u32>) -> (u32, Region) {
    let mut all = chunk.region(range.start);
    let mut until = range.start + 1;
    while until < range.end && follows(all, chunk.region(until)) {
        all.end = chunk.region(until).end;
        until += 1;
    }
    (until, all)
}

/// Returns whether a region starts within or at the end of a part of its text and ends after it.
fn follows(part: Region, region: Region) -> bool {
    region.text == part.text && (part.start..=part.end).contains(&region.start) && region.end >= part.end
}

/// A pattern and the text to search in.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    pub pattern: &'a [Code],
    pub codes: &'a [Code],
    pub limit: u32,
}

impl<'a> BlockWindows<'a> {
    /// Adds the parts of a window in regions of one text, in increasing order. The first region
    /// belongs to the pair with this index.
    pub(super) fn add(&mut self, first_pair: usize, regions: &[Region], window: Range<usize>, sought: Sought<'a>) {
        let Sought { pattern, codes, limit } = sought;
        let first = regions.partition_point(|region| region.end as usize <= window.start);
        let overlapping = regions[first..].iter().take_while(|region| (region.start as usize) < window.end);
        for (pair, region) in (first_pair + first..).zip(overlapping) {
            let part = window.start.max(region.start as usize)..window.end.min(region.end as usize);
            if part.len() + limit as usize >= pattern.len() && !part.is_empty() {
                self.windows.push(PairWindow { pair, before: part.start as u32 - region.start });
                self.pairs.push(EditPair { pattern, text: &codes[part], limit });
            }
        }
    }
}
