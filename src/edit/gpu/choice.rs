//! Which kernels can compute a batch, with how many words a lane and how many lanes a pair, and what they should cost;
//! [`crate::gpu::choosing`] takes one. Words a lane and lanes a pair decide as in figures 7 to 9 of Chacon et al. (2014).

use super::extent::{BAND_WORKGROUP, Extent};
use super::heads;
use crate::edit::distances::may_leave_out;
use crate::edit::kernels::myers::{Coding, LaneGrouping, POSITION_BITS, Selection, THREAD_SYMBOLS, Variant};
use crate::edit::words;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::{CandidateKernel, Speed, WorkEstimate};
use crate::gpu::device::Gpu;
use crate::gpu::kernel_set::KernelSizes;
use crate::gpu::kernels::Kernel;
use crate::score::{EditMode, EditScheme};
/// Words at most of a band.
const BAND_WORDS: u32 = 16;
/// What a column of `myers_band` costs, of a word and beside words, in units of a word of the other kernels.
const BAND_COST: [f64; 2] = [1.4, 1.5];

/// Words of a lane that are tried.
const MIN_TRIED_WORDS: u32 = 4;
const MAX_TRIED_WORDS: u32 = 16;

/// What the kernels do on an H200, in 10^12 cells a second, by the words that a lane keeps (m = 100 to 1,000 symbols;
/// between two rows by proportion). One invocation a pair: as many words as are kept in registers, and more.
const THREAD_RATES: [&[(u32, f64)]; 2] =
    [&[(1, 20.0), (2, 28.0), (4, 34.0), (7, 41.0)], &[(16, 36.0), (19, 35.0), (25, 28.0), (32, 20.0)]];
/// 2 to 32 lanes through shuffles.
const SUBGROUP_RATES: &[(u32, f64)] = &[(1, 17.0), (2, 25.0), (4, 33.0), (7, 40.0), (12, 40.0), (20, 30.0)];
/// And through workgroup memory.
const WORKGROUP_RATES: &[(u32, f64)] = &[(1, 15.0), (2, 23.0), (4, 33.0), (5, 37.0), (8, 37.0), (12, 33.0)];

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
    /// Pairs within the limit that a batch has room to list: a fixed number, 0 for no list, or a part of its pairs.
    pub list_room: Option<u32>,
    /// Words of the heads of patterns that are computed first: a fixed number, 0 for none, or what the limit asks for.
    pub head_words: Option<u32>,
}

impl KernelSizes for EditShape {
    fn for_adapter(found: &FoundAdapter, gpu: &Gpu) -> Self {
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
            workgroup_bytes: gpu.device.limits().max_compute_workgroup_storage_size,
            list_room: None,
            head_words: None,
        }
    }
}

/// Pairs that a list has room for at least, if there are as many.
const MIN_LIST_ROOM: u32 = 1024;
/// Pairs of a batch to one that a list has room for.
const LIST_SHARE: u32 = 8;

/// How a kernel lists pairs within the limit: the greatest distance that it lists, and pairs that there is room for. `None` where
/// the results of all pairs are to be read: none can be left out of a list, or most would be on it.
pub(super) fn listing(shape: &EditShape, scheme: &EditScheme, extent: &Extent, pairs: u32) -> Option<(u32, u32)> {
    if !may_leave_out(scheme, extent.least_pattern_symbols) {
        return None;
    }
    let room = shape.list_room.unwrap_or((pairs / LIST_SHARE).max(MIN_LIST_ROOM)).min(pairs);
    (room > 0).then_some((extent.limit, room))
}

/// Columns that fit a number of loop iterations: one each and one for the word of up to 16 that they come in, and some for
/// what is around them.
pub(super) fn columns_within(loop_iterations: u64) -> u32 {
    (loop_iterations * 3 / 5).min(u64::from(u32::MAX)) as u32 / 32 * 32
}

/// What has one speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way {
    /// Words of the longest pattern.
    pub words: u32,
    /// How they are computed.
    pub variant: Variant,
    /// How heads are computed first, if they are.
    pub heads: Option<Variant>,
}

/// What is known of a batch and a device where ways are looked for.
#[derive(Clone, Copy)]
pub(super) struct Situation<'a> {
    pub gpu: &'a Gpu,
    pub shape: &'a EditShape,
    /// The kernel that was asked for.
    pub kernel: Option<&'static Kernel>,
    pub mode: EditMode,
    pub extent: Extent,
    pub coding: &'a Coding,
    pub loop_budget: Option<u64>,
    /// Cells of the batch.
    pub cells: u64,
    /// Whether pairs may be left out that are above the limit: [`may_leave_out`].
    pub may_leave_out: bool,
    /// The part of the pairs that heads should keep.
    pub kept: f64,
}

impl Situation<'_> {
    fn has_subgroups(&self) -> bool {
        self.gpu.device.features().contains(wgpu::Features::SUBGROUP) && self.shape.subgroup_size >= 4
    }

    /// Columns of a dispatch.
    fn columns(&self) -> u32 {
        self.loop_budget.map_or(u32::MAX, columns_within).min(self.shape.dispatch_columns)
    }

    /// Words of the longest pattern.
    fn words(&self) -> u32 {
        words(self.extent.pattern_symbols)
    }

    /// The ways to compute the batch, of equal ones the first to be preferred: with the kernel that was asked for, or all
    /// that may be fastest somewhere.
    ///
    /// # Errors
    /// [`crate::Error::Unsuited`] if there is none.
    pub(super) fn candidates(&self) -> Result<Vec<CandidateKernel<Way>>> {
        let mut candidates = self.wholes()?;
        let with_heads = self.with_heads(&candidates);
        if self.shape.head_words.is_some_and(|words| words > 0) && with_heads.is_some() {
            candidates.clear();
        }
        candidates.extend(with_heads);
        Ok(candidates)
    }

    /// The same with heads computed first, where that may pay; `wholes` are the ways without.
    fn with_heads(&self, wholes: &[CandidateKernel<Way>]) -> Option<CandidateKernel<Way>> {
        let is_head = matches!(self.mode, EditMode::Infix | EditMode::Prefix) && self.may_leave_out;
        let head_words = match self.shape.head_words {
            _ if !is_head => return None,
            Some(words) => Some(words).filter(|words| (1..self.words()).contains(words)),
            None => heads::words_of(&self.extent, self.coding),
        }?;
        let fastest = |ways: &[CandidateKernel<Way>]| {
            ways.iter().copied().max_by(|a, b| a.assumed.full.total_cmp(&b.assumed.full))
        };
        let extent = Extent { pattern_symbols: 32 * head_words, ..self.extent };
        let (head, whole) = (fastest(&Situation { extent, ..*self }.wholes().ok()?)?, fastest(wholes)?);
        let Way { words, variant, .. } = whole.way;
        let heads = Variant { selection: Selection::Heads(head_words), ..head.way.variant };
        let way = Way { words, variant: Variant { selection: Selection::Kept, ..variant }, heads: Some(heads) };
        // In units of cells of wholes.
        let part = f64::from(head_words) / f64::from(words) * whole.assumed.full / head.assumed.full;
        let work =
            WorkEstimate { cells: self.cells as f64 * (part + self.kept), dispatches: 2.0, ..WorkEstimate::default() };
        Some(CandidateKernel { way, work, ..whole })
    }

    /// The ways without heads.
    fn wholes(&self) -> Result<Vec<CandidateKernel<Way>>> {
        let lanes = self.shape.lanes;
        if let Some(kernel) = self.kernel {
            let grouping = kernel.lane_grouping();
            let grouping =
                grouping.ok_or_else(|| self.gpu.unsuited(format!("{} computes no distances", kernel.stem)))?;
            let variant = self.variant(grouping, lanes).map_err(|why| self.gpu.unsuited(why))?;
            return Ok(vec![self.candidate(variant, 1.0)]);
        }
        let dividing = if self.has_subgroups() { LaneGrouping::Subgroup } else { LaneGrouping::Workgroup };
        let divided = self.variant(dividing, lanes);
        // Whoever fixes the number of lanes wants them wherever a pair is divided.
        let may_be_alone = lanes.is_none() || self.words() <= self.shape.thread_words;
        let alone = if may_be_alone { self.variant(LaneGrouping::Thread, None).ok() } else { None };
        // A lane alone does what one invocation does, but slower.
        let shared = divided.ok().filter(|variant| variant.lanes > 1 || alone.is_none());
        let mut variants: Vec<Variant> = alone.into_iter().chain(shared).collect();
        if lanes.is_none() && self.loop_budget.is_none() && divided.is_ok_and(|usual| !usual.strips) {
            let others: Vec<Variant> = self.tried().filter(|variant| !variants.contains(variant)).collect();
            variants.extend(others);
        }
        let mut candidates: Vec<CandidateKernel<Way>> =
            variants.iter().map(|&variant| self.candidate(variant, 1.0)).collect();
        if let Ok(band) = self.variant(LaneGrouping::Band, None) {
            let cost = (BAND_COST[0] * f64::from(band.words) + BAND_COST[1]) / self.extent.filled;
            let best = candidates.iter().map(|other| other.assumed.full).fold(0.0, f64::max);
            let candidate = self.candidate(band, cost / f64::from(self.words()));
            let assumed = if best > 0.0 { Speed { full: best, ..candidate.assumed } } else { candidate.assumed };
            candidates.push(CandidateKernel { assumed, ..candidate });
        }
        match divided {
            Err(why) if candidates.is_empty() => Err(self.gpu.unsuited(why)),
            _ => Ok(candidates),
        }
    }

    /// A way whose cells count so many times.
    fn candidate(&self, variant: Variant, weight: f64) -> CandidateKernel<Way> {
        let work = WorkEstimate { cells: self.cells as f64 * weight, dispatches: 1.0, ..WorkEstimate::default() };
        let full = 1e12 * rate(self.shape, &variant);
        CandidateKernel {
            way: Way { words: self.words(), variant, heads: None },
            work,
            assumed: Speed { full, lone: f64::INFINITY },
        }
    }

    /// Other numbers of lanes than the usual one, through shuffles and through workgroup memory.
    fn tried(&self) -> impl Iterator<Item = Variant> {
        let shape = self.shape;
        let most_lanes = if self.has_subgroups() { shape.subgroup_size.min(shape.lanes_workgroup) } else { 1 };
        let ways = [
            (LaneGrouping::Subgroup, most_lanes, MAX_TRIED_WORDS),
            (LaneGrouping::Workgroup, shape.lanes_workgroup, shape.workgroup_words),
        ];
        ways.into_iter().flat_map(move |(grouping, most_lanes, most_words)| {
            let lanes = (1..=5).map(|power| 1 << power).filter(move |lanes| *lanes <= most_lanes);
            lanes.filter_map(move |lanes| {
                let words = self.words().div_ceil(lanes);
                let is_likely = (MIN_TRIED_WORDS..=most_words).contains(&words);
                let variant = is_likely.then(|| self.divided(grouping, lanes, most_words).ok()).flatten();
                variant.filter(|variant| !variant.strips)
            })
        })
    }

    /// The sizes of a kernel for the batch, or why it does not suit.
    fn variant(&self, grouping: LaneGrouping, lanes: Option<u32>) -> Result<Variant, &'static str> {
        let (shape, Extent { pattern_symbols, text_symbols, limit, .. }) = (self.shape, self.extent);
        let base = self.base(grouping);
        match grouping {
            LaneGrouping::Thread => {
                let fits = pattern_symbols <= THREAD_SYMBOLS && text_symbols < (1 << POSITION_BITS);
                if !fits || text_symbols > self.columns() {
                    return Err("sequences too long for one invocation");
                }
                self.fitted(base)
            }
            LaneGrouping::Band => {
                let words = limit / 32 + 1;
                let row_words = (base.words.saturating_add(2 * words) + 2) | 1;
                let band = Variant { words, workgroup: BAND_WORKGROUP, row_words, ..base };
                let fits = self.mode == EditMode::Global && words <= BAND_WORDS && text_symbols <= self.columns();
                if !fits || band.workgroup_bytes() > shape.workgroup_bytes {
                    return Err("the band needs whole sequences and a lower limit");
                }
                Ok(band)
            }
            LaneGrouping::Subgroup if !self.has_subgroups() => Err("it has no subgroup operations"),
            _ => {
                let (most_lanes, most_words) = match grouping {
                    LaneGrouping::Subgroup => (shape.subgroup_size.min(shape.lanes_workgroup), shape.subgroup_words),
                    _ => (shape.lanes_workgroup, shape.workgroup_words),
                };
                let few = base.words.div_ceil(most_words).next_power_of_two();
                self.divided(grouping, lanes.unwrap_or(few).min(most_lanes), most_words)
            }
        }
    }

    fn base(&self, grouping: LaneGrouping) -> Variant {
        Variant {
            grouping,
            bits: self.coding.bits,
            stride: self.coding.stride,
            words: self.words(),
            workgroup: self.shape.thread_workgroup,
            lanes: 1,
            mode: self.mode,
            strips: false,
            row_words: 0,
            selection: Selection::All,
        }
    }

    /// Pairs divided among so many lanes of at most so many words; in strips of equal height, if these are too few.
    fn divided(&self, grouping: LaneGrouping, lanes: u32, most_words: u32) -> Result<Variant, &'static str> {
        let Extent { pattern_symbols, text_symbols, .. } = self.extent;
        let base = self.base(grouping);
        let strips = base.words.div_ceil(lanes * most_words);
        let words = base.words.div_ceil(lanes * strips);
        let cells = u64::from(pattern_symbols) * u64::from(text_symbols);
        let strips = strips > 1 || text_symbols > self.columns() || cells > WHOLE_CELLS;
        self.fitted(Variant { words, workgroup: self.shape.lanes_workgroup, lanes, strips, ..base })
    }

    /// The same in workgroups whose memory there is.
    fn fitted(&self, mut variant: Variant) -> Result<Variant, &'static str> {
        let Extent { pattern_symbols, text_symbols, .. } = self.extent;
        if let EditMode::Overlap(reach) = self.mode
            && (variant.strips || !reach.fits(pattern_symbols.max(text_symbols)))
        {
            return Err("overlaps of sequences as long as these are not computed");
        }
        let most = self.shape.workgroup_bytes;
        while variant.workgroup_bytes() > most && variant.workgroup > variant.lanes {
            variant.workgroup /= 2;
        }
        if variant.workgroup_bytes() > most { Err("too little workgroup memory") } else { Ok(variant) }
    }
}

/// What a way is assumed to do, in 10^12 cells a second.
fn rate(shape: &EditShape, variant: &Variant) -> f64 {
    let rates = match variant.grouping {
        LaneGrouping::Subgroup => SUBGROUP_RATES,
        LaneGrouping::Workgroup => WORKGROUP_RATES,
        _ => THREAD_RATES[usize::from(variant.words > shape.thread_words)],
    };
    let after = rates.partition_point(|&(words, _)| words < variant.words);
    let row = |place: usize| rates[place.min(rates.len() - 1)];
    let ((words, from), (end, to)) = (row(after.saturating_sub(1)), row(after));
    if end > words { from + (to - from) * f64::from(variant.words - words) / f64::from(end - words) } else { from }
}

#[cfg(test)]
mod tests;
