//! Which of the kernels for local scores, and with how many lanes and columns.

use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::{Kernel, KernelKind, LaneGrouping, Packing, of_kind};
use crate::pairs::kernels::sw_tile::{self, SATURATED, Variant};
use crate::pairs::kernels::tile_tasks::Run;
use crate::pairs::{Batch, PairsChunk, Want};
use crate::score::Scoring;

/// Lanes of a pair that are tried, and columns of a lane.
pub const LANES: [u32; 4] = [4, 8, 16, 32];
/// Columns of a lane that are tried.
pub const COLUMNS: [u32; 4] = [12, 20, 24, 28];
/// Share of pairs that halves do not hold from which on words are faster: these pairs are computed twice.
const MAX_SATURATED: f64 = 0.2;
/// Share of pairs that bounds do not leave out from which on scores are faster: these pairs are computed twice, and if the host has too
/// much of them the device waits for the longest. On an H200 bounds saved 7% of the time of 343 million pairs of proteins; 0.2%
/// computed again by the device took as much, by the host less.
const MAX_LISTED: f64 = 0.004;
/// How such a share follows what batches show, and how it fades where none shows it.
const SHARE_MEMORY: f64 = 0.5;
const SHARE_FADING: f64 = 0.9;
/// Bounds are too low by this part of the least score that is asked for at most.
const SLACK_PART: i64 = 6;

/// What a row costs a lane with so many columns (of halves: for two queries): its time on an H200, in units that are the same for
/// all of them.
fn row_cost(packing: Packing, columns: u32) -> f64 {
    // Rates per lane of a device full of pairs.
    let rate = match (packing, columns) {
        (Packing::One, ..=8) => 2.1,
        (Packing::One, ..=16) => 2.3,
        (Packing::One, ..=20) => 2.95,
        (Packing::One, _) => 3.1,
        (Packing::Queries, ..=8) => 2.8,
        (Packing::Queries, ..=12) => 3.4,
        (Packing::Queries, ..=16) => 4.4,
        (Packing::Queries, ..=20) => 4.5,
        (Packing::Queries, ..=24) => 4.7,
        (Packing::Queries, _) => 4.3,
        (Packing::Targets, ..=8) => 2.3,
        (Packing::Targets, ..=16) => 3.3,
        (Packing::Targets, ..=20) => 3.5,
        (Packing::Targets, _) => 3.6,
    };
    f64::from(columns) / rate
}

/// How long a row takes that nothing else is computed beside, of what it takes on a full device.
const LONE_ROW: f64 = 0.35;
/// More slots are given than a device has workgroups at work, by about this factor (an H200 has 264 of 4096).
const SLOTS_A_WORKGROUP: u64 = 16;

/// How much longer a row takes in a form of so many lanes: few have more borders between passes, and of many the profile leaves
/// no room for workgroups that compute while another one makes its next.
fn lanes_cost(lanes: u32, passes: u32) -> f64 {
    match (lanes, passes) {
        (..=4, _) => 1.05,
        (..=8, _) | (..=16, ..=1) => 1.0,
        (..=16, _) => 1.2,
        (_, ..=1) => 1.04,
        _ => 1.25,
    }
}

/// Sizes of the kernels for local scores, as far as they are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileShape {
    /// Invocations a workgroup, or the subgroup's size if that is greater.
    pub workgroup: u32,
    /// Lanes of a pair; `None` for what suits a query best, of [`LANES`].
    pub lanes: Option<u32>,
    /// Columns of a lane; `None` for what suits a query best, of [`COLUMNS`].
    pub columns: Option<u32>,
    /// Halves are used unasked, where scores fit and two queries can be put together.
    pub halves: bool,
    /// Rows of all passes that a team goes down one after the other at most; where there are more, a pair's passes are computed side
    /// by side.
    pub most_rows: u64,
    /// Cells a thread of pairs that are computed a second time up to which the host does it: a device would be busy longer, with few
    /// of its lanes.
    pub host_cells: u64,
}

impl Default for TileShape {
    fn default() -> Self {
        // A tenth of a second on an H200, where other pairs keep it busy too.
        TileShape { workgroup: 256, lanes: None, columns: None, halves: true, most_rows: 1 << 16, host_cells: 1 << 29 }
    }
}

impl TileShape {
    /// The defaults for a kind of adapter.
    pub fn for_adapter(found: &FoundAdapter) -> Self {
        if found.is_software() {
            // Halves are emulated there.
            TileShape { workgroup: 16, columns: Some(12), halves: false, ..TileShape::default() }
        } else {
            TileShape::default()
        }
    }
}

/// The kernels for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pairs::gpu) struct Ways {
    pub grouping: LaneGrouping,
    /// Queries that go together are computed in halves.
    pub halves: bool,
    /// How all others are computed.
    pub alone: Packing,
    /// By how much bounds may be too low, where such are enough; 0 for scores.
    pub slack: i64,
}

impl Ways {
    /// How much of a query others have to fill, so that they are computed beside it: all in one, or each alone.
    pub(super) fn least_fill(self) -> f64 {
        match self.alone {
            Packing::One => 0.4,
            Packing::Queries => 0.0,
            Packing::Targets => 0.65,
        }
    }
}

/// A share of pairs that are computed twice, as batches show it.
#[derive(Debug, Clone, Copy, Default)]
struct Share(f64);

impl Share {
    /// Learns that it was `count` of so many pairs.
    fn observe(&mut self, count: usize, pairs: u64) {
        let share = count as f64 / pairs.max(1) as f64;
        self.0 += SHARE_MEMORY * (share - self.0);
    }

    /// Whether it is less than `most`. If not, it fades: some day other pairs come.
    fn is_below(&mut self, most: f64) -> bool {
        let is_below = self.0 < most;
        if !is_below {
            self.0 *= SHARE_FADING;
        }
        is_below
    }
}

/// What is known of local scores on a device.
#[derive(Debug, Clone)]
pub(in crate::pairs::gpu) struct Tiles {
    pub shape: TileShape,
    /// Pairs that halves did not hold.
    saturated: Share,
    /// Pairs that bounds did not leave out.
    listed: Share,
}

impl Tiles {
    pub(in crate::pairs::gpu) fn new(shape: TileShape) -> Self {
        Tiles { shape, saturated: Share::default(), listed: Share::default() }
    }

    /// The kernels for a batch: those by the one that was named, or the fastest that the device has.
    pub(super) fn ways(
        &mut self,
        gpu: &Gpu,
        kernel: Option<&'static Kernel>,
        batch: &Batch,
        shorter: u32,
    ) -> Option<Ways> {
        let scoring = &batch.chunk.scoring;
        let symbols_fit = sw_tile::halves_hold_symbols(scoring);
        let can = |kind| {
            let is_there = gpu.device.features().contains(of_kind(kind).features);
            // Less than the fewest lanes share no pair.
            is_there
                && (kind == KernelKind::Tile(LaneGrouping::Workgroup, Packing::One)
                    || gpu.description.subgroup_sizes[0] >= LANES[0])
        };
        let there = |grouping, packing| can(KernelKind::Tile(grouping, packing)).then_some((grouping, packing));
        if let Some(kernel) = kernel {
            let KernelKind::Tile(grouping, packing) = kernel.kind else { return None };
            let (grouping, packing) = there(grouping, packing)?;
            let alone = if symbols_fit { packing } else { Packing::One };
            let slack = self.slack(batch);
            return Some(Ways { grouping, halves: alone == Packing::Queries, alone, slack });
        }
        let (grouping, _) =
            there(LaneGrouping::Subgroup, Packing::One).or_else(|| there(LaneGrouping::Workgroup, Packing::One))?;
        let has_halves = self.shape.halves && symbols_fit && there(LaneGrouping::Subgroup, Packing::Queries).is_some();
        let halves = has_halves && (sw_tile::halves_hold(scoring, shorter) || self.saturated.is_below(MAX_SATURATED));
        let alone = if halves { Packing::Targets } else { Packing::One };
        Some(Ways { grouping, halves, alone, slack: self.slack(batch) })
    }

    /// By how much bounds may be too low for a batch: 0 if all scores are asked for, or so many that bounds leave few out.
    fn slack(&mut self, batch: &Batch) -> i64 {
        let Want::AtLeast(floors) = &batch.chunk.want else { return 0 };
        let least = batch.blocks.iter().map(|block| floors.least(block.query)).min().unwrap_or(0);
        if self.listed.is_below(MAX_LISTED) { least.clamp(0, SATURATED.into()) / SLACK_PART } else { 0 }
    }

    /// Learns how many of so many pairs halves did not hold.
    pub(super) fn observe_saturated(&mut self, saturated: usize, pairs: u64) {
        self.saturated.observe(saturated, pairs);
    }

    /// Learns how many of so many pairs bounds did not leave out.
    pub(super) fn observe_listed(&mut self, listed: usize, pairs: u64) {
        self.listed.observe(listed, pairs);
    }

    /// All sizes of a kernel that the adapter has room for.
    pub(super) fn variants(
        &self,
        adapter: &AdapterDescription,
        scoring: &Scoring,
        grouping: LaneGrouping,
        packing: Packing,
    ) -> Vec<Variant> {
        let [least, most] = adapter.subgroup_sizes;
        let by_subgroups = grouping == LaneGrouping::Subgroup;
        let workgroup = if by_subgroups { self.shape.workgroup.max(most) } else { self.shape.workgroup };
        let workgroup = workgroup.min(adapter.max_workgroup_invocations);
        let lanes = self.shape.lanes.map_or(LANES.to_vec(), |lanes| vec![lanes]);
        let columns = self.shape.columns.map_or(COLUMNS.to_vec(), |columns| vec![columns]);
        let sizes = lanes.iter().flat_map(|&lanes| columns.iter().map(move |&columns| (lanes, columns)));
        let variant = |(lanes, columns)| Variant {
            grouping,
            packing,
            lanes,
            columns,
            workgroup,
            codes: scoring.alphabet.size() as u32,
            gaps: scoring.gaps,
            group: None,
            passes: false,
            split: false,
        };
        sizes
            .map(variant)
            .filter(|variant| variant.lanes <= if by_subgroups { least } else { workgroup })
            .filter(|variant| variant.workgroup_bytes() <= adapter.workgroup_memory_bytes)
            .collect()
    }
}

/// What runs cost in a variant on a device that has so many `slots` for its workgroups: rows and columns of padding, and what a row
/// costs beside its cells; or the longest run's passes one after the other, if all others end before it. `longest`: of each run the
/// longest target.
fn cost(variant: &Variant, runs: &[Run], longest: &[u32], chunk: &PairsChunk, slots: u64) -> f64 {
    let row = row_cost(variant.packing, variant.columns);
    let steps = |rows: u32| f64::from(rows) + 4.0 * (1 + variant.delay_steps()) as f64;
    let all_and_alone = |(run, &longest): (&Run, &u32)| {
        let middle = run.targets.start + run.targets.len() as u32 / 2;
        let rows = chunk.order.get(middle as usize).map_or(0, |&target| chunk.targets.length(target));
        let (lanes, passes) = (run.lanes(chunk, variant), run.passes(chunk, variant));
        let row = row * lanes_cost(variant.lanes, passes);
        // Others take what is left of a query's last pass.
        let lanes = if runs.len() > 1 { lanes } else { passes * variant.lanes };
        (row * f64::from(lanes) * steps(rows) * run.targets.len() as f64, row * f64::from(passes) * steps(longest))
    };
    let together = |(sum, most): (f64, f64), (all, alone): (f64, f64)| (sum + all, most.max(alone));
    let (all, alone) = runs.iter().zip(longest).map(all_and_alone).fold((0.0, 0.0), together);
    let at_work = (slots / SLOTS_A_WORKGROUP).max(1) as f64 * f64::from(variant.workgroup);
    (all / at_work).max(alone * LONE_ROW)
}

/// The variant in which all runs together cost the least, of a device that has so many slots for workgroups. One for all: each has
/// an end, at which few workgroups are at work.
pub(super) fn cheapest(variants: &[Variant], runs: &[Run], chunk: &PairsChunk, slots: u64) -> Option<Variant> {
    let longest: Vec<u32> = runs.iter().map(|run| chunk.longest(run.targets.clone())).collect();
    let costs = variants.iter().map(|variant| (variant, cost(variant, runs, &longest, chunk, slots)));
    costs.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(variant, _)| *variant)
}
