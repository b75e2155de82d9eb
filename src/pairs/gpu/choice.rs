//! Candidate kernels for a batch with their expected costs. [`crate::gpu::choosing`] selects the
//! kernel.

use super::Config;
use super::matrix::TEAM_STEP_CELLS;
use super::shape::MatrixKernelShape;
use crate::gpu::adapter::AdapterDescription;
use crate::gpu::choosing::{CandidateKernel, Chooser, Speed, WorkEstimate};
use crate::gpu::kernels::{Family, Kernel, KernelKind, Scan, ScoreType, of_kind, selectable};
use crate::pairs::kernels::matrix::MatrixVariant;
use crate::pairs::kernels::nw_slice_half;
use crate::pairs::plan::cost::{PairsSpeeds, host_trace_seconds};
use crate::pairs::{BatchLengths, PairsBatch, PairsBlock, ResultFilter};

/// Host seconds per pair to apply the filter that `nw_slice` would apply on the device.
const HOST_PAIR_SECONDS: f64 = 5e-8;
/// Host seconds to read an alignment, if all threads read.
const HOST_ALIGNMENT_SECONDS: f64 = 2e-7;
/// Least duration of a batch in seconds for it to update the cost of its kernel.
const MIN_MEASURED_SECONDS: f64 = 0.02;
/// Weight of a new observation in the average share of pairs that the filter keeps.
const OPEN_SHARE_MEMORY: f64 = 0.5;

/// Facts about a batch and its device that determine the choice.
pub(super) struct BatchSituation<'a> {
    pub batch: &'a PairsBatch,
    /// Greatest lengths of the batch. They are cached here because computing them reads every pair.
    pub extent: BatchLengths,
    pub shape: &'a MatrixKernelShape,
    pub adapter: &'a AdapterDescription,
    pub features: wgpu::Features,
    /// Columns per slice of `nw_slice`.
    pub slice: u32,
    /// Variant of `nw_slice_half`, if it can compute the batch.
    pub half: Option<nw_slice_half::HalfSliceVariant>,
    /// Whether `nw_slice_half` may be chosen automatically.
    pub halves: bool,
    /// Number of arenas.
    pub arenas: u32,
    /// Quads per arena.
    pub arena_quads: u64,
    /// Number of host threads that trace pairs for the device.
    pub threads: usize,
    /// Whether the computed values include numbers of matches. A traceback needs them.
    pub carries_matches: bool,
}

/// A kernel for a batch, and the batch's work for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelChoice {
    pub kernel: &'static Kernel,
    pub work: WorkEstimate,
    /// Whether the kernel also traces alignments back.
    pub aligned: bool,
}

/// Key of a speed: a kernel, whether it traces back, and whether gaps are linear.
type SpeedKey = (KernelKind, bool, bool);

/// Known costs of kernels on a device.
#[derive(Debug, Clone)]
pub(super) struct Prices {
    linear: PairsSpeeds,
    affine: PairsSpeeds,
    /// Average share of pairs that the bound on the identity keeps.
    open_share: f64,
    chooser: Chooser<SpeedKey>,
}

impl Prices {
    /// Returns the initial costs. Speeds that were measured for the configuration take precedence.
    /// Otherwise the costs are for a device on which `nw_slice` reaches the configuration's speed,
    /// or about `assumed` cells per second if that speed is unknown.
    pub(super) fn new(config: Config, assumed: f64) -> Self {
        let known = if config.cells_per_second > 0.0 { config.cells_per_second } else { assumed };
        Prices {
            // Measured speeds are for one kind of gaps, and an engine is opened for one job.
            linear: config.speeds.unwrap_or_else(|| PairsSpeeds::typical(false, known)),
            affine: config.speeds.unwrap_or_else(|| PairsSpeeds::typical(true, known)),
            open_share: 0.0,
            // Kernels are compared when a device is opened for a long job ([`super::tune`]), and
            // the result is cached. A job itself tries no other kernels.
            chooser: Chooser::new(MIN_MEASURED_SECONDS, None),
        }
    }

    fn assumed(&self, batch: &PairsBatch, kernel: &Kernel, aligned: bool) -> Speed {
        let PairsSpeeds(speeds) = if batch.chunk.scoring.gaps.is_linear() { &self.linear } else { &self.affine };
        let speed = speeds[kernel_index(kernel)];
        if aligned { speed.aligned } else { speed.scores }
    }

    fn candidate(&self, batch: &PairsBatch, choice: &KernelChoice) -> CandidateKernel<SpeedKey> {
        CandidateKernel {
            way: (choice.kernel.kind, choice.aligned, batch.chunk.scoring.gaps.is_linear()),
            work: choice.work,
            assumed: self.assumed(batch, choice.kernel, choice.aligned),
        }
    }

    /// Returns the cells per second of a chosen kernel on a full device.
    pub(super) fn full_rate(&self, batch: &PairsBatch, choice: &KernelChoice) -> f64 {
        self.chooser.speed(&self.candidate(batch, choice)).full
    }

    /// Returns the kernel with the least cost.
    pub(super) fn choose(&self, situation: &BatchSituation<'_>) -> KernelChoice {
        let possible = chosen(situation);
        let choices = possible.flat_map(|kernel| [false, true].map(|aligned| (kernel, aligned)));
        let mut choices: Vec<KernelChoice> =
            choices.filter_map(|(kernel, aligned)| self.possible(situation, kernel, aligned)).collect();
        if matches!(situation.batch.chunk.filter, ResultFilter::Reaching(_)) {
            self.price_survivors(situation.batch, &mut choices);
        }
        let candidates: Vec<CandidateKernel<SpeedKey>> =
            choices.iter().map(|choice| self.candidate(situation.batch, choice)).collect();
        let cheapest = self.chooser.cheapest(&candidates);
        cheapest.map_or_else(
            || requested_choice(situation, of_kind(KernelKind::Slice(ScoreType::I32))),
            |index| choices[index],
        )
    }

    /// Returns the kernel that traces a batch back in the least time, and this time in seconds.
    /// Returns `None` if no kernel can.
    pub(super) fn choose_aligned(&self, situation: &BatchSituation<'_>) -> Option<(KernelChoice, f64)> {
        let possible = chosen(situation);
        let choices = possible.filter_map(|kernel| self.possible(situation, kernel, true));
        let priced = choices.map(|choice| (choice, self.seconds(situation.batch, &choice)));
        priced.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Lowers the cost of kernels that compute scores only. Of the pairs that a filter keeps,
    /// either the host traces alignments while the device computes, or the device does so
    /// afterwards. The faster of the two counts.
    fn price_survivors(&self, batch: &PairsBatch, choices: &mut [KernelChoice]) {
        let aligned = choices.iter().filter(|choice| choice.aligned).map(|choice| self.seconds(batch, choice));
        let Some(aligned) = aligned.min_by(f64::total_cmp) else { return };
        for choice in choices.iter_mut().filter(|choice| choice.kernel.scan().is_none()) {
            let on_device = self.seconds(batch, choice) + self.open_share * aligned;
            choice.work.meanwhile_seconds = choice.work.meanwhile_seconds.min(on_device);
        }
    }

    /// Returns the seconds until the results of a batch are available.
    fn seconds(&self, batch: &PairsBatch, choice: &KernelChoice) -> f64 {
        self.chooser.speed(&self.candidate(batch, choice)).seconds(&choice.work)
    }

    /// Returns a kernel with the batch's work for it. The work includes the tracebacks that the
    /// kernel leaves to the host. Returns `None` if the kernel cannot be used in this way.
    fn possible(&self, situation: &BatchSituation<'_>, kernel: &'static Kernel, aligned: bool) -> Option<KernelChoice> {
        let batch = situation.batch;
        if is_half(kernel) && !(situation.halves && situation.half.is_some()) {
            return None;
        }
        let wants_traceback = batch.chunk.filter.has_alignments() && situation.carries_matches;
        if aligned && (kernel.scan().is_none() || !wants_traceback) {
            return None;
        }
        let work = estimate_work(situation, kernel, aligned)?;
        let traced_by_host = match batch.chunk.filter {
            _ if aligned => 0.0,
            ResultFilter::Scores | ResultFilter::AtLeast(_) => 0.0,
            ResultFilter::Alignments => 1.0,
            ResultFilter::Reaching(_) => self.open_share,
        };
        // Threads trace one batch while the device computes the next.
        let is_linear = batch.chunk.scoring.gaps.is_linear();
        let meanwhile_seconds = host_trace_seconds(traced_by_host * batch.cells() as f64, is_linear, situation.threads);
        // If alignments are requested, a kernel that can store directions stores them. The only
        // exception is a pair that exceeds its memory.
        let is_possible =
            aligned || kernel.scan().is_none() || !wants_traceback || estimate_work(situation, kernel, true).is_none();
        is_possible.then_some(KernelChoice { kernel, work: WorkEstimate { meanwhile_seconds, ..work }, aligned })
    }

    /// Updates the speed of a kernel from the duration of a batch.
    pub(super) fn observe(&mut self, batch: &PairsBatch, choice: &KernelChoice, seconds: f64) {
        let candidate = self.candidate(batch, choice);
        self.chooser.learn(&candidate, seconds);
    }

    /// Updates the share of kept pairs from the result of a filter.
    pub(super) fn observe_open(&mut self, open: u64, pairs: u64) {
        let share = open as f64 / pairs.max(1) as f64;
        self.open_share += OPEN_SHARE_MEMORY * (share - self.open_share);
    }
}

/// Lists the kernels that may be chosen automatically and that the device supports.
fn chosen(situation: &BatchSituation<'_>) -> impl Iterator<Item = &'static Kernel> {
    selectable(Family::Pairs).filter(|kernel| kernel.is_chosen() && situation.features.contains(kernel.features))
}

/// Returns the index of a kernel among the kernels for pairs.
fn kernel_index(kernel: &Kernel) -> usize {
    selectable(Family::Pairs).position(|row| row.stem == kernel.stem).unwrap_or(0)
}

fn is_half(kernel: &Kernel) -> bool {
    kernel.kind == KernelKind::Slice(ScoreType::F16)
}

/// Returns the requested kernel with its work. It replaces `nw_slice_half` by `nw_slice` if the
/// former cannot compute the batch.
pub(super) fn requested_choice(situation: &BatchSituation<'_>, kernel: &'static Kernel) -> KernelChoice {
    let is_beyond = is_half(kernel) && situation.half.is_none();
    let kernel = if is_beyond { of_kind(KernelKind::Slice(ScoreType::I32)) } else { kernel };
    let aligned = kernel.scan().is_some() && situation.carries_matches && situation.batch.chunk.filter.has_alignments();
    KernelChoice { kernel, work: estimate_work(situation, kernel, aligned).unwrap_or_default(), aligned }
}

/// Returns the work that a batch is for a kernel, or `None` if the kernel's memory cannot hold a
/// pair.
fn estimate_work(situation: &BatchSituation<'_>, kernel: &Kernel, aligned: bool) -> Option<WorkEstimate> {
    let batch = situation.batch;
    let extent = &situation.extent;
    let rows = (extent.target_symbols.max(1) as u64).next_multiple_of(4);
    let Some(scan) = kernel.scan() else {
        let half = situation.half.filter(|_| is_half(kernel));
        let unit = half.map_or(situation.slice, |variant| variant.slice) as u64;
        let padded = |symbols: u32| (symbols.max(1) as u64).next_multiple_of(unit) as f64;
        let chain = padded(extent.query_symbols) * rows as f64;
        let of_half = half.map(|variant| nw_slice_half::computed_cells(batch, variant.slice));
        let cells = of_half.unwrap_or_else(|| padded_cells(batch, padded));
        return Some(WorkEstimate { cells, chain, dispatches: 1.0, ..WorkEstimate::default() });
    };
    let variant = situation.shape.variant(scan, batch, extent, situation.adapter, situation.arenas, aligned);
    let rows_words = (rows / 4) as u32;
    let quads = variant.task_quads(extent.query_symbols, rows_words);
    if quads > situation.arena_quads {
        return None;
    }
    let pairs = batch.pairs() as f64;
    let tasks = (pairs / variant.slots() as f64).max(batch.blocks.len() as f64);
    let a_pair = if aligned { HOST_ALIGNMENT_SECONDS } else { HOST_PAIR_SECONDS };
    let host_seconds =
        if matches!(batch.chunk.filter, ResultFilter::Reaching(_)) || aligned { a_pair * pairs } else { 0.0 };
    if scan == Scan::Checkpoint {
        let columns = variant.padded_columns(extent.query_symbols);
        if rows * columns > TEAM_STEP_CELLS {
            return None;
        }
        // If memory holds fewer workgroups than the device could run, they compute less in the same
        // time. Memory holds more of them if pairs are small.
        let together = variant.tasks_together(tasks as u64) as f64;
        let cells = |block: &PairsBlock| {
            let symbols = batch.chunk.queries.length(block.query);
            let rows = block.cells / u64::from(symbols.max(1)) / block.pairs().max(1);
            let quads = variant.task_quads(symbols, (rows as u32).div_ceil(4).max(1));
            let room = situation.arena_quads / quads * u64::from(situation.arenas);
            let wait = (together / room.max(1) as f64).max(1.0);
            block.cells as f64 * variant.padded_columns(symbols) as f64 / symbols.max(1) as f64 * wait
        };
        return Some(WorkEstimate {
            cells: batch.blocks.iter().map(cells).sum(),
            chain: (columns * rows) as f64,
            dispatches: 1.0,
            host_seconds,
            ..WorkEstimate::default()
        });
    }
    let rounds = (tasks * quads as f64 / (situation.arenas as f64 * situation.arena_quads as f64)).ceil().max(1.0);
    // A step has a fixed overhead, which weighs more if a lane has fewer cells per step.
    let step_weight = if scan == Scan::Rows { 1.0 } else { (1.0 + 4.0 / variant.columns as f64) / 1.25 };
    let padded = |symbols: u32| variant.padded_columns(symbols) as f64 * step_weight;
    let columns = padded(extent.query_symbols);
    let (chain, steps) = longest_chain(&variant, scan, columns, rows as f64, extent.query_symbols);
    let columns_walked = if aligned { 0.6 * extent.sum as f64 } else { 0.0 };
    Some(WorkEstimate {
        cells: padded_cells(batch, padded),
        chain: rounds * chain,
        dispatches: rounds * (steps + 1.0),
        traceback_columns: rounds * columns_walked,
        host_seconds,
        ..WorkEstimate::default()
    })
}

/// Returns the cells of a batch if the function `padded` determines the columns of every query.
fn padded_cells(batch: &PairsBatch, padded: impl Fn(u32) -> f64) -> f64 {
    let columns = |query| batch.chunk.queries.length(query);
    batch.blocks.iter().map(|b| b.cells as f64 * padded(columns(b.query)) / columns(b.query).max(1) as f64).sum()
}

/// Returns the number of cells in the longest chain of dependent cells, and the number of
/// successive dispatches.
fn longest_chain(variant: &MatrixVariant, scan: Scan, columns: f64, rows: f64, query_symbols: u32) -> (f64, f64) {
    if scan != Scan::TiledDiagonal {
        return (columns * rows, 1.0);
    }
    let tile_columns = variant.padded_columns(query_symbols) as f64 / variant.column_unit() as f64;
    let tile_rows = (rows / variant.tile_rows as f64).ceil();
    let diagonals = tile_columns + tile_rows - 1.0;
    (diagonals * columns / tile_columns * rows.min(variant.tile_rows as f64), diagonals)
}
