//! Candidates for computing a batch and their estimated costs. Candidates differ in the kernel, the
//! words per lane and the lanes per pair. [`crate::gpu::choosing`] selects one. The effect of words
//! and lanes on the speed is shown in figures 7 to 9 of Chacon et al. (2014).

use super::extent::{EditExtent, PATTERN_WORKGROUP};
use super::heads;
use crate::edit::distances::can_omit;
use crate::edit::kernels::myers::{Coding, EditVariant, LaneGrouping, POSITION_BITS, PairSelection, THREAD_SYMBOLS};
use crate::edit::pattern_words;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::choosing::{CandidateKernel, Speed, WorkEstimate};
use crate::gpu::device::Gpu;
use crate::gpu::kernel_set::KernelSizes;
use crate::gpu::kernels::Kernel;
use crate::score::{EditMode, EditScheme};

/// Maximum number of u32 words in a band.
const BAND_WORDS: u32 = 16;
/// Cost of a column of `myers_band`: first the cost per word, then the fixed cost. The unit is the
/// cost of a word in the other kernels.
const BAND_COST: [f64; 2] = [1.4, 1.5];

/// Maximum number of u32 words of a pattern in `myers_scan`.
const SCAN_WORDS: u32 = 8;
/// Maximum number of codes whose match bits a lane holds in `myers_scan`.
const SCAN_SETS: u32 = 4;

/// Range of words per lane that trials cover.
const MIN_TRIED_WORDS: u32 = 4;
const MAX_TRIED_WORDS: u32 = 16;

/// Speed of the kernels on an H200 in 10^12 cells per second, by the words that a lane keeps (m =
/// 100 to 1,000 symbols). Values between two rows are interpolated. `myers_thread` has one table
/// for words in registers and one for more words.
const THREAD_RATES: [&[(u32, f64)]; 2] =
    [&[(1, 20.0), (2, 28.0), (4, 34.0), (7, 41.0)], &[(16, 36.0), (19, 35.0), (25, 28.0), (32, 20.0)]];
/// Speed of `myers_subgroup` with 2 to 32 lanes.
const SUBGROUP_RATES: &[(u32, f64)] = &[(1, 17.0), (2, 25.0), (4, 33.0), (7, 40.0), (12, 40.0), (20, 30.0)];
/// Speed of `myers_workgroup`.
const WORKGROUP_RATES: &[(u32, f64)] = &[(1, 15.0), (2, 23.0), (4, 33.0), (5, 37.0), (8, 37.0), (12, 33.0)];

/// Speed of `myers_scan` and `myers_scan_workgroup`, from the number of operations per column: 6.5,
/// and 10 to 11 per word.
const SCAN_RATES: &[(u32, f64)] = &[(1, 28.0), (2, 33.0), (4, 37.0), (8, 41.0)];

/// Maximum number of cells of a pair that one dispatch computes without dividing the pair into
/// strips.
const WHOLE_CELLS: u64 = 1 << 32;

/// Sizes of the kernels on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditShape {
    /// Invocations per workgroup of `myers_thread`.
    pub thread_workgroup: u32,
    /// Maximum number of u32 words that `myers_thread` keeps in registers.
    pub thread_words: u32,
    /// Invocations per workgroup of the other kernels.
    pub lanes_workgroup: u32,
    /// Maximum number of u32 words that a lane of `myers_subgroup` keeps.
    pub subgroup_words: u32,
    /// Maximum number of u32 words that a lane of `myers_workgroup` keeps.
    pub workgroup_words: u32,
    /// Lanes per pair: a fixed number, or the smallest number that the words require.
    pub lanes: Option<u32>,
    /// Minimum subgroup size of the device.
    pub subgroup_size: u32,
    /// Maximum number of columns that a dispatch computes if pairs are divided into strips.
    pub dispatch_columns: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Capacity of the list of pairs within the limit. A fixed number, 0 for no list, or `None` for
    /// a fraction of the batch.
    pub list_room: Option<u32>,
    /// Number of u32 words of the heads that are computed first (module `heads`). A fixed number,
    /// 0 for no heads, or `None` for the number that the limit requires.
    pub head_words: Option<u32>,
}

impl KernelSizes for EditShape {
    fn for_adapter(adapter: &FoundAdapter, gpu: &Gpu) -> Self {
        let software = adapter.is_software();
        EditShape {
            thread_workgroup: if software { 16 } else { 32 },
            thread_words: 16,
            lanes_workgroup: if software { 16 } else { 64 },
            subgroup_words: 12,
            workgroup_words: 8,
            lanes: None,
            subgroup_size: adapter.description.subgroup_sizes[0].max(1),
            dispatch_columns: u32::MAX,
            workgroup_bytes: gpu.device.limits().max_compute_workgroup_storage_size,
            list_room: None,
            head_words: None,
        }
    }
}

/// Minimum capacity of a list, unless the batch has fewer pairs.
const MIN_LIST_ROOM: u32 = 1024;
/// Number of pairs of a batch per entry of the list's capacity.
const LIST_SHARE: u32 = 8;

/// Returns the greatest distance that a kernel lists, and the capacity of its list. Returns `None`
/// if the results of all pairs must be read, because a list could not omit any pair.
pub(super) fn listing(shape: &EditShape, scheme: &EditScheme, extent: &EditExtent, pairs: u32) -> Option<(u32, u32)> {
    if !can_omit(scheme, extent.least_pattern_symbols) {
        return None;
    }
    let room = shape.list_room.unwrap_or((pairs / LIST_SHARE).max(MIN_LIST_ROOM)).min(pairs);
    (room > 0).then_some((extent.limit, room))
}

/// Returns the number of columns that fit in this many loop iterations. Each column takes one
/// iteration, each u32 with up to 16 symbols takes another one, and the code around them takes
/// some.
pub(super) fn columns_within(loop_iterations: u64) -> u32 {
    (loop_iterations * 3 / 5).min(u64::from(u32::MAX)) as u32 / 32 * 32
}

/// A combination of kernel variants, whose speed is recorded as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EditMethod {
    /// Number of u32 words of the longest pattern.
    pub words: u32,
    /// Variant of the main kernel.
    pub variant: EditVariant,
    /// Variant that computes the heads first, if any.
    pub heads: Option<EditVariant>,
}

/// Properties of a batch and a device that determine the candidates.
#[derive(Clone, Copy)]
pub(super) struct SelectionContext<'a> {
    pub gpu: &'a Gpu,
    pub shape: &'a EditShape,
    /// The requested kernel.
    pub kernel: Option<&'static Kernel>,
    pub mode: EditMode,
    pub extent: EditExtent,
    pub coding: &'a Coding,
    pub loop_budget: Option<u64>,
    /// Number of cells of the batch.
    pub cells: u64,
    /// Whether pairs that exceed the limit may be omitted ([`can_omit`]).
    pub can_omit: bool,
    /// Expected fraction of pairs that heads keep.
    pub kept: f64,
}

impl SelectionContext<'_> {
    fn has_subgroups(&self) -> bool {
        self.gpu.device.features().contains(wgpu::Features::SUBGROUP) && self.shape.subgroup_size >= 4
    }

    /// Returns the maximum number of columns of a dispatch.
    fn columns(&self) -> u32 {
        self.loop_budget.map_or(u32::MAX, columns_within).min(self.shape.dispatch_columns)
    }

    /// Returns the number of u32 words of the longest pattern.
    fn words(&self) -> u32 {
        pattern_words(self.extent.pattern_symbols)
    }

    /// Returns the candidates for the batch: with the requested kernel, or all that may be the
    /// fastest. Among equal candidates, the first one is preferred.
    ///
    /// # Errors
    /// Returns [`crate::Error::Unsuited`] if there is no candidate.
    pub(super) fn candidates(&self) -> Result<Vec<CandidateKernel<EditMethod>>> {
        let mut candidates = self.candidates_without_heads()?;
        let with_heads = self.with_heads(&candidates);
        if self.shape.head_words.is_some_and(|words| words > 0) && with_heads.is_some() {
            candidates.clear();
        }
        candidates.extend(with_heads);
        Ok(candidates)
    }

    /// Returns the fastest candidate with heads, if heads may pay off. `candidates_without_heads`
    /// are the candidates without heads. The pairs that heads keep can have any pattern, so they
    /// need a kernel whose workgroups do not share one.
    fn with_heads(
        &self,
        candidates_without_heads: &[CandidateKernel<EditMethod>],
    ) -> Option<CandidateKernel<EditMethod>> {
        let is_head = matches!(self.mode, EditMode::Infix | EditMode::Prefix) && self.can_omit;
        let head_words = match self.shape.head_words {
            _ if !is_head => return None,
            Some(words) => Some(words).filter(|words| (1..self.words()).contains(words)),
            None => heads::head_words(&self.extent, self.coding),
        }?;
        let fastest = |methods: &[CandidateKernel<EditMethod>], may_share: bool| {
            let suited = methods.iter().filter(|method| may_share || !method.way.variant.grouping.shares_pattern());
            let seconds = |method: &CandidateKernel<EditMethod>| method.work.cells / method.assumed.full;
            suited.copied().min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
        };
        let extent = EditExtent { pattern_symbols: 32 * head_words, ..self.extent };
        let (head, whole) = (
            fastest(&SelectionContext { extent, ..*self }.candidates_without_heads().ok()?, true)?,
            fastest(candidates_without_heads, false)?,
        );
        let EditMethod { words, variant, .. } = whole.way;
        let heads = EditVariant { selection: PairSelection::Heads(head_words), ..head.way.variant };
        let method = EditMethod {
            words,
            variant: EditVariant { selection: PairSelection::Kept, ..variant },
            heads: Some(heads),
        };
        // The unit of work is a cell of a whole pattern.
        let head_cost = head.work.cells / head.assumed.full / (whole.work.cells / whole.assumed.full);
        let part = f64::from(head_words) / f64::from(words) * head_cost;
        let work =
            WorkEstimate { cells: self.cells as f64 * (part + self.kept), dispatches: 2.0, ..WorkEstimate::default() };
        Some(CandidateKernel { way: method, work, ..whole })
    }

    /// Returns the candidates without heads.
    fn candidates_without_heads(&self) -> Result<Vec<CandidateKernel<EditMethod>>> {
        let lanes = self.shape.lanes;
        if let Some(kernel) = self.kernel {
            let grouping = kernel.lane_grouping();
            let grouping =
                grouping.ok_or_else(|| self.gpu.refusal(format!("{} does not compute distances", kernel.stem)))?;
            let variant = self.variant(grouping, lanes).map_err(|why| self.gpu.refusal(why))?;
            return Ok(vec![self.candidate(variant, 1.0)]);
        }
        let dividing = if self.has_subgroups() { LaneGrouping::Subgroup } else { LaneGrouping::Workgroup };
        let divided = self.variant(dividing, lanes);
        // If the number of lanes is fixed, it applies to all pairs that are divided.
        let may_be_alone = lanes.is_none() || self.words() <= self.shape.thread_words;
        let alone = if may_be_alone { self.variant(LaneGrouping::Thread, None).ok() } else { None };
        // A kernel with a single lane per pair does the same as `myers_thread`, but more slowly.
        let shared = divided.ok().filter(|variant| variant.lanes > 1 || alone.is_none());
        let mut variants: Vec<EditVariant> = alone.into_iter().chain(shared).collect();
        if lanes.is_none() && self.loop_budget.is_none() && divided.is_ok_and(|usual| !usual.strips) {
            let others: Vec<EditVariant> = self.tried().filter(|variant| !variants.contains(variant)).collect();
            variants.extend(others);
        }
        let mut candidates: Vec<CandidateKernel<EditMethod>> =
            variants.iter().map(|&variant| self.candidate(variant, 1.0)).collect();
        for grouping in [LaneGrouping::ScanSubgroup, LaneGrouping::ScanWorkgroup] {
            let scan = self.variant(grouping, None);
            candidates.extend(scan.ok().map(|scan| self.candidate(scan, 1.0 / self.extent.filled)));
        }
        if let Ok(band) = self.variant(LaneGrouping::Band, None) {
            let cost = (BAND_COST[0] * f64::from(band.words) + BAND_COST[1]) / self.extent.filled;
            let best = candidates.iter().map(|other| other.assumed.full).fold(0.0, f64::max);
            let candidate = self.candidate(band, cost / f64::from(self.words()));
            let assumed = if best > 0.0 { Speed { full: best, ..candidate.assumed } } else { candidate.assumed };
            candidates.push(CandidateKernel { assumed, ..candidate });
        }
        match divided {
            Err(why) if candidates.is_empty() => Err(self.gpu.refusal(why)),
            _ => Ok(candidates),
        }
    }

    /// Returns a candidate whose cells cost `weight` times as much.
    fn candidate(&self, variant: EditVariant, weight: f64) -> CandidateKernel<EditMethod> {
        let work = WorkEstimate { cells: self.cells as f64 * weight, dispatches: 1.0, ..WorkEstimate::default() };
        let full = 1e12 * rate(self.shape, &variant);
        CandidateKernel {
            way: EditMethod { words: self.words(), variant, heads: None },
            work,
            assumed: Speed { full, lone: f64::INFINITY },
        }
    }

    /// Returns variants with other numbers of lanes than the default, with subgroups and with
    /// workgroup memory.
    fn tried(&self) -> impl Iterator<Item = EditVariant> {
        let shape = self.shape;
        let max_lanes = if self.has_subgroups() { shape.subgroup_size.min(shape.lanes_workgroup) } else { 1 };
        let methods = [
            (LaneGrouping::Subgroup, max_lanes, MAX_TRIED_WORDS),
            (LaneGrouping::Workgroup, shape.lanes_workgroup, shape.workgroup_words),
        ];
        methods.into_iter().flat_map(move |(grouping, max_lanes, max_words)| {
            let lanes = (1..=5).map(|power| 1 << power).filter(move |lanes| *lanes <= max_lanes);
            lanes.filter_map(move |lanes| {
                let words = self.words().div_ceil(lanes);
                let is_likely = (MIN_TRIED_WORDS..=max_words).contains(&words);
                let variant = is_likely.then(|| self.divided(grouping, lanes, max_words).ok()).flatten();
                variant.filter(|variant| !variant.strips)
            })
        })
    }

    /// Returns the variant of a kernel for the batch, or the reason why the kernel is unsuited.
    fn variant(&self, grouping: LaneGrouping, lanes: Option<u32>) -> Result<EditVariant, &'static str> {
        let (shape, EditExtent { pattern_symbols, text_symbols, limit, .. }) = (self.shape, self.extent);
        let base = self.base(grouping);
        match grouping {
            LaneGrouping::Thread => {
                let fits = pattern_symbols <= THREAD_SYMBOLS && text_symbols < (1 << POSITION_BITS);
                if !fits || text_symbols > self.columns() {
                    return Err("the sequences are too long for one invocation");
                }
                self.fitted(base)
            }
            LaneGrouping::Band => {
                let words = limit / 32 + 1;
                let row_words = (base.words.saturating_add(2 * words) + 2) | 1;
                let band = EditVariant { words, workgroup: PATTERN_WORKGROUP, row_words, ..base };
                let fits = self.mode == EditMode::Global && words <= BAND_WORDS && text_symbols <= self.columns();
                if !fits || band.workgroup_bytes() > shape.workgroup_bytes {
                    return Err("myers_band supports only whole sequences with a lower limit");
                }
                Ok(band)
            }
            LaneGrouping::Subgroup | LaneGrouping::ScanSubgroup if !self.has_subgroups() => {
                Err("it has no subgroup operations")
            }
            LaneGrouping::ScanSubgroup | LaneGrouping::ScanWorkgroup => self.scan(base),
            _ => {
                let (max_lanes, max_words) = match grouping {
                    LaneGrouping::Subgroup => (shape.subgroup_size.min(shape.lanes_workgroup), shape.subgroup_words),
                    _ => (shape.lanes_workgroup, shape.workgroup_words),
                };
                let few = base.words.div_ceil(max_words).next_power_of_two();
                self.divided(grouping, lanes.unwrap_or(few).min(max_lanes), max_words)
            }
        }
    }

    fn base(&self, grouping: LaneGrouping) -> EditVariant {
        EditVariant {
            grouping,
            bits: self.coding.bits,
            stride: self.coding.stride,
            words: self.words(),
            workgroup: self.shape.thread_workgroup,
            lanes: 1,
            mode: self.mode,
            strips: false,
            row_words: 0,
            code_lanes: 0,
            selection: PairSelection::All,
        }
    }

    /// Returns the variant of `myers_scan` or its twin with these words.
    fn scan(&self, base: EditVariant) -> Result<EditVariant, &'static str> {
        let text_symbols = self.extent.text_symbols;
        if self.mode != EditMode::Infix || base.words > SCAN_WORDS {
            return Err("myers_scan supports only parts of texts, and patterns of at most 256 symbols");
        }
        if text_symbols >= (1 << POSITION_BITS) || text_symbols > self.columns() {
            return Err("the texts are too long for one invocation");
        }
        let mut variant = EditVariant { workgroup: PATTERN_WORKGROUP, ..base };
        if base.grouping == LaneGrouping::ScanSubgroup {
            let lanes = 1 << self.shape.subgroup_size.min(PATTERN_WORKGROUP).ilog2();
            variant.code_lanes = variant.codes().next_power_of_two().min(lanes);
            if variant.codes().div_ceil(variant.code_lanes) > SCAN_SETS {
                return Err("the lanes of a subgroup cannot hold the match bits of all symbols");
            }
        }
        if variant.workgroup_bytes() > self.shape.workgroup_bytes {
            return Err("its workgroup memory is too small");
        }
        Ok(variant)
    }

    /// Returns a variant with `lanes` lanes of at most `max_words` words. If these are too few, it
    /// computes strips of equal height.
    fn divided(&self, grouping: LaneGrouping, lanes: u32, max_words: u32) -> Result<EditVariant, &'static str> {
        let EditExtent { pattern_symbols, text_symbols, .. } = self.extent;
        let base = self.base(grouping);
        let strips = base.words.div_ceil(lanes * max_words);
        let words = base.words.div_ceil(lanes * strips);
        let cells = u64::from(pattern_symbols) * u64::from(text_symbols);
        let strips = strips > 1 || text_symbols > self.columns() || cells > WHOLE_CELLS;
        self.fitted(EditVariant { words, workgroup: self.shape.lanes_workgroup, lanes, strips, ..base })
    }

    /// Returns the variant with workgroups that fit the available memory.
    fn fitted(&self, mut variant: EditVariant) -> Result<EditVariant, &'static str> {
        let EditExtent { pattern_symbols, text_symbols, .. } = self.extent;
        if let EditMode::Overlap(reach) = self.mode
            && (variant.strips || !reach.fits(pattern_symbols.max(text_symbols)))
        {
            return Err("the sequences are too long for overlaps");
        }
        let most = self.shape.workgroup_bytes;
        while variant.workgroup_bytes() > most && variant.workgroup > variant.lanes {
            variant.workgroup /= 2;
        }
        if variant.workgroup_bytes() > most { Err("its workgroup memory is too small") } else { Ok(variant) }
    }
}

/// Returns the assumed speed of a variant in 10^12 cells per second.
fn rate(shape: &EditShape, variant: &EditVariant) -> f64 {
    let rates = match variant.grouping {
        LaneGrouping::Subgroup => SUBGROUP_RATES,
        LaneGrouping::Workgroup => WORKGROUP_RATES,
        LaneGrouping::ScanSubgroup | LaneGrouping::ScanWorkgroup => SCAN_RATES,
        _ => THREAD_RATES[usize::from(variant.words > shape.thread_words)],
    };
    let after = rates.partition_point(|&(words, _)| words < variant.words);
    let row = |index: usize| rates[index.min(rates.len() - 1)];
    let ((words, from), (end, to)) = (row(after.saturating_sub(1)), row(after));
    if end > words { from + (to - from) * f64::from(variant.words - words) / f64::from(end - words) } else { from }
}

#[cfg(test)]
mod tests;
