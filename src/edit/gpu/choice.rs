//! Which kernel computes a batch, with how many words a lane and how many lanes a pair.

use rayon::prelude::*;

use crate::edit::kernels::myers::{Coding, Cooperation, POSITION_BITS, THREAD_SYMBOLS, Variant};
use crate::edit::{EditBand, EditBatch, GROUP_PAIRS, Group, groups, words};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::device::Gpu;
use crate::gpu::kernels::Kernel;
use crate::score::EditMode;

/// Invocations a workgroup of `myers_band`: as many pairs of one pattern.
pub(super) const BAND_WORKGROUP: u32 = 32;
/// Words at most of a band.
const BAND_WORDS: u32 = 16;
/// What a column of `myers_band` costs, of a word and beside words, in units of a word of the other kernels.
const BAND_COST: [f64; 2] = [1.4, 1.5];

/// Words of a lane that are tried.
const LEAST_TRIED_WORDS: u32 = 4;
const MOST_TRIED_WORDS: u32 = 16;

/// Cells of a pair that may come in one dispatch.
const WHOLE_CELLS: u64 = 1 << 32;

/// Sizes of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditShape {
    /// Invocations a workgroup of `myers_thread`.
    pub thread_workgroup: u32,
    /// Words at most that `myers_thread` keeps.
    pub thread_words: u32,
    /// Invocations a workgroup of the others.
    pub lanes_workgroup: u32,
    /// Words at most that a lane of `myers_subgroup` keeps.
    pub subgroup_words: u32,
    /// Words at most that a lane of `myers_workgroup` keeps.
    pub workgroup_words: u32,
    /// Lanes of a pair: a fixed number, or as few as the words ask for.
    pub lanes: Option<u32>,
    /// Least subgroup size of the device.
    pub subgroup_size: u32,
    /// Columns that a dispatch of a pair in strips computes at most.
    pub dispatch_columns: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
}

impl EditShape {
    /// The defaults for an adapter.
    pub fn for_adapter(found: &FoundAdapter, device: &wgpu::Device) -> Self {
        // On an H200, in TCUPS, m = 100 to 1,000 symbols: one invocation with 4 words 34, 7 to 13 words 41, 19 words 35, 25
        // words 28; 2 to 32 lanes of 7 to 12 words 36 to 41, of 4 words 29 to 36, of 20 words 30; through workgroup memory 37
        // with 8 words, 33 with 12.
        let software = found.is_software();
        EditShape {
            thread_workgroup: if software { 16 } else { 32 },
            thread_words: 16,
            lanes_workgroup: if software { 16 } else { 64 },
            subgroup_words: 12,
            workgroup_words: 8,
            lanes: None,
            subgroup_size: found.adapter.get_info().subgroup_min_size.max(1),
            dispatch_columns: u32::MAX,
            workgroup_bytes: device.limits().max_compute_workgroup_storage_size,
        }
    }
}

/// Greatest lengths in a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Longest pattern.
    pub pattern_symbols: u32,
    /// Longest text, as far as it is looked at.
    pub text_symbols: u32,
    /// Greatest distance of interest.
    pub limit: u32,
    /// Workgroups of so many pairs of one pattern that the pairs would fill at best, of so many that they need.
    pub filled: f64,
}

impl Extent {
    /// Those of a batch whose band has texts of at most so many symbols.
    pub fn of(batch: &EditBatch, longest_text: u32) -> Self {
        let band = &batch.band;
        let pattern_symbols = batch.blocks.iter().map(|block| band.patterns.length(block.pattern)).max().unwrap_or(0);
        let greatest_limit = |group: Group| {
            let blocks = batch.blocks[group.blocks].iter();
            let limits = blocks.flat_map(|block| {
                let m = band.patterns.length(block.pattern);
                block.places.clone().map(move |place| band.scheme.limit(m, band.region(place).symbols()))
            });
            limits.max().unwrap_or(0)
        };
        // Only bands of diagonals ask for the limit.
        let limit = match band.scheme.mode {
            EditMode::Global => groups(batch, GROUP_PAIRS).into_par_iter().map(greatest_limit).max().unwrap_or(0),
            _ => u32::MAX,
        };
        let needed: u64 =
            batch.blocks.iter().map(|block| block.pairs().next_multiple_of(u64::from(BAND_WORKGROUP))).sum();
        // In prefix mode no distance beyond is less than the pattern's length.
        let most = if band.scheme.mode == EditMode::Prefix { 2 * pattern_symbols } else { u32::MAX };
        Extent {
            pattern_symbols,
            text_symbols: longest_text.min(most),
            limit,
            filled: batch.pairs() as f64 / needed.max(1) as f64,
        }
    }
}

/// Length of the longest text of a band.
pub(super) fn longest_text(band: &EditBand) -> u32 {
    let longest =
        |range: std::ops::Range<usize>| range.map(|place| band.region(place as u32).symbols()).max().unwrap_or(0);
    let parts = (0..band.len()).into_par_iter().step_by(GROUP_PAIRS);
    parts.map(|first| longest(first..(first + GROUP_PAIRS).min(band.len()))).max().unwrap_or(0)
}

/// Columns that fit a number of loop iterations: one each and one for the word of up to 16 that they come in, and some for
/// what is around them.
pub(super) fn columns_within(loop_iterations: u64) -> u32 {
    (loop_iterations * 3 / 5).min(u64::from(u32::MAX)) as u32 / 32 * 32
}

/// The kernel for a batch, as `kernel` says or as is expected to be fastest.
///
/// # Errors
/// [`crate::Error::Unsuited`] if the kernel that was asked for cannot compute the batch.
pub(super) fn choose(
    gpu: &Gpu,
    shape: &EditShape,
    kernel: Option<&'static Kernel>,
    (mode, extent): (EditMode, Extent),
    coding: &Coding,
    loop_budget: Option<u64>,
) -> Result<Variant> {
    let Extent { pattern_symbols, text_symbols, .. } = extent;
    let has_subgroups = gpu.device.features().contains(wgpu::Features::SUBGROUP) && shape.subgroup_size >= 4;
    let columns = loop_budget.map_or(u32::MAX, columns_within).min(shape.dispatch_columns);
    let base = Variant {
        cooperation: Cooperation::Thread,
        bits: coding.bits,
        stride: coding.stride,
        words: words(pattern_symbols),
        workgroup: shape.thread_workgroup,
        lanes: 1,
        mode,
        strips: false,
        row_words: 0,
    };
    let band_words = extent.limit / 32 + 1;
    let band = Variant {
        cooperation: Cooperation::Band,
        words: band_words,
        workgroup: BAND_WORKGROUP,
        row_words: (base.words + 2 * band_words + 2) | 1,
        ..base
    };
    let band_fits = mode == EditMode::Global
        && band_words <= BAND_WORDS
        && text_symbols <= columns
        && band.workgroup_bytes() <= shape.workgroup_bytes;
    let band_cost = (BAND_COST[0] * f64::from(band_words) + BAND_COST[1]) / extent.filled;
    let thread_fits =
        pattern_symbols <= THREAD_SYMBOLS && text_symbols < (1 << POSITION_BITS) && text_symbols <= columns;
    let cooperation = match kernel {
        Some(kernel) => {
            let cooperation = kernel.cooperation();
            cooperation.ok_or_else(|| gpu.unsuited(format!("{} computes no distances", kernel.stem)))?
        }
        None if band_fits && band_cost < f64::from(base.words) => Cooperation::Band,
        None if thread_fits && base.words <= shape.thread_words => Cooperation::Thread,
        None if has_subgroups => Cooperation::Subgroup,
        None => Cooperation::Workgroup,
    };
    let mut variant = match cooperation {
        Cooperation::Thread if thread_fits => base,
        Cooperation::Thread => return Err(gpu.unsuited("sequences too long for one invocation")),
        Cooperation::Band if band_fits => band,
        Cooperation::Band => return Err(gpu.unsuited("the band needs whole sequences and a lower limit")),
        Cooperation::Subgroup if !has_subgroups => return Err(gpu.unsuited("it has no subgroup operations")),
        cooperation => {
            let (most_lanes, most_words) = match cooperation {
                Cooperation::Subgroup => (shape.subgroup_size.min(shape.lanes_workgroup), shape.subgroup_words),
                _ => (shape.lanes_workgroup, shape.workgroup_words),
            };
            let few = base.words.div_ceil(most_words).next_power_of_two();
            let lanes = shape.lanes.unwrap_or(few).min(most_lanes);
            // Strips of equal height.
            let strips = base.words.div_ceil(lanes * most_words);
            let words = base.words.div_ceil(lanes * strips);
            let cells = u64::from(pattern_symbols) * u64::from(text_symbols);
            let strips = strips > 1 || text_symbols > columns || cells > WHOLE_CELLS;
            Variant { cooperation, words, workgroup: shape.lanes_workgroup, lanes, strips, ..base }
        }
    };
    if let EditMode::Overlap(reach) = mode
        && (variant.strips || !reach.fits(pattern_symbols.max(text_symbols)))
    {
        return Err(gpu.unsuited("overlaps of sequences as long as these are not computed"));
    }
    while variant.workgroup_bytes() > shape.workgroup_bytes && variant.workgroup > variant.lanes {
        variant.workgroup /= 2;
    }
    if variant.workgroup_bytes() > shape.workgroup_bytes {
        return Err(gpu.unsuited("too little workgroup memory"));
    }
    Ok(variant)
}

/// Other ways to compute what `usual` computes: other numbers of lanes, through shuffles and through workgroup memory, and one
/// invocation a pair.
pub(super) fn others(gpu: &Gpu, shape: &EditShape, usual: &Variant, extent: Extent) -> Vec<Variant> {
    if usual.strips || usual.cooperation == Cooperation::Band {
        return Vec::new();
    }
    let words = words(extent.pattern_symbols);
    let has_subgroups = gpu.device.features().contains(wgpu::Features::SUBGROUP) && shape.subgroup_size >= 4;
    let mut others = Vec::new();
    if extent.pattern_symbols <= THREAD_SYMBOLS && extent.text_symbols < 1 << POSITION_BITS {
        let workgroup = shape.thread_workgroup;
        others.push(Variant { cooperation: Cooperation::Thread, words, workgroup, lanes: 1, ..*usual });
    }
    for (cooperation, most_lanes, most_words) in [
        (Cooperation::Subgroup, if has_subgroups { shape.subgroup_size } else { 1 }, MOST_TRIED_WORDS),
        (Cooperation::Workgroup, shape.lanes_workgroup, shape.workgroup_words),
    ] {
        let lanes = (1..=5).map(|power| 1 << power).filter(|lanes| *lanes <= most_lanes.min(shape.lanes_workgroup));
        others.extend(lanes.filter_map(|lanes| {
            let words = words.div_ceil(lanes);
            let is_likely = (LEAST_TRIED_WORDS..=most_words).contains(&words);
            is_likely.then_some(Variant { cooperation, words, workgroup: shape.lanes_workgroup, lanes, ..*usual })
        }));
    }
    others.retain(|variant| variant != usual && variant.workgroup_bytes() <= shape.workgroup_bytes);
    others
}

#[cfg(test)]
mod tests;
