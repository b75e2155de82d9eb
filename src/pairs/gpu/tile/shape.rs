//! Chooses a kernel for local scores, and its numbers of lanes and columns.

use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::{Kernel, KernelKind, LaneGrouping, Packing, of_kind};
use crate::pairs::kernels::sw_tile::{self, SATURATED, TileVariant};
use crate::pairs::kernels::tile_tasks::TileRun;
use crate::pairs::{PairsBatch, PairsChunk, ResultFilter};
use crate::score::Scoring;

/// Lanes per pair to choose from.
pub const LANES: [u32; 4] = [4, 8, 16, 32];
/// Columns per lane to choose from.
pub const COLUMNS: [u32; 4] = [12, 20, 24, 28];
/// If more than this share of pairs exceed f16, i32 is faster, because these pairs are computed
/// twice.
const MAX_SATURATED: f64 = 0.2;
/// If bounds leave more than this share of pairs, computing scores is faster. The remaining pairs
/// are computed twice, and if the host has too many of them, the device waits for the longest. On
/// an H200, bounds saved 7% of the time of 343 million pairs of proteins. Computing 0.2% of the
/// pairs again took the same time on the device, and less on the host.
const MAX_LISTED: f64 = 0.004;
/// Weight of a new observation in the average of such a share. Factor by which the average decays
/// when there is no observation.
const SHARE_WEIGHT: f64 = 0.5;
const SHARE_DECAY: f64 = 0.9;
/// Greatest error of bounds, as a fraction 1 / `SLACK_PART` of the least requested score.
const SLACK_PART: i64 = 6;

/// Returns the cost of a row for a lane with this many columns. The cost is proportional to the
/// time on an H200. In f16, it is the cost for two queries.
fn row_cost(packing: Packing, columns: u32) -> f64 {
    // Rates per lane of a device with many pairs.
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

/// Time of a row if few workgroups are active, relative to its time on a full device.
const LOW_OCCUPANCY_ROW_TIME: f64 = 0.35;
/// Approximate number of slots per active workgroup of a device (an H200 has 264 active workgroups
/// for 4096 slots).
const SLOTS_A_WORKGROUP: u64 = 16;

/// Returns the relative time of a row with this many lanes. If lanes are few, there are more
/// borders between passes. If they are many, the profile is so large that a second workgroup does
/// not fit next to the first, and nothing runs while the next profile is made.
fn lanes_cost(lanes: u32, passes: u32) -> f64 {
    match (lanes, passes) {
        (..=4, _) => 1.05,
        (..=8, _) | (..=16, ..=1) => 1.0,
        (..=16, _) => 1.2,
        (_, ..=1) => 1.04,
        _ => 1.25,
    }
}

/// Seconds that another kernel must save. (An H100 takes 0.005 to 0.05 s to compile kernels that its
/// driver has compiled before, and 0.2 to 0.6 s for others.)
const COMPILE_SECONDS: f64 = 0.05;
/// Number of cells that the host computes again before the device compiles kernels for them, as a
/// multiple of the cells that the host computes faster.
const COMPILE_HOST_CELLS: u64 = 4;

/// Sizes of the kernels for local scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileShape {
    /// Invocations per workgroup, or the subgroup size if that is greater.
    pub workgroup: u32,
    /// Lanes per pair. `None` chooses from [`LANES`] for each batch.
    pub lanes: Option<u32>,
    /// Columns per lane. `None` chooses from [`COLUMNS`] for each batch.
    pub columns: Option<u32>,
    /// Whether f16 is chosen automatically where scores fit and two queries can be joined.
    pub halves: bool,
    /// Greatest number of rows that a team may compute one after another, counted over all passes.
    /// For pairs with more rows, the passes are computed in parallel.
    pub most_rows: u64,
    /// Greatest number of cells per thread for which the host computes pairs again. The device
    /// would take longer, because the pairs would use few of its lanes.
    pub host_cells: u64,
}

impl Default for TileShape {
    fn default() -> Self {
        // With these rows, a pair takes about a tenth of a second on an H200 that also computes
        // other pairs.
        TileShape { workgroup: 256, lanes: None, columns: None, halves: true, most_rows: 1 << 16, host_cells: 1 << 29 }
    }
}

impl TileShape {
    /// Returns the defaults for a kind of adapter.
    pub fn for_adapter(adapter: &FoundAdapter) -> Self {
        if adapter.is_software() {
            // Software adapters emulate f16.
            TileShape { workgroup: 16, columns: Some(12), halves: false, ..TileShape::default() }
        } else {
            TileShape::default()
        }
    }

    /// Returns all sizes of a kernel that fit in the adapter's memory.
    pub(super) fn variants(
        &self,
        adapter: &AdapterDescription,
        scoring: &Scoring,
        grouping: LaneGrouping,
        packing: Packing,
    ) -> Vec<TileVariant> {
        let [least, most] = adapter.subgroup_sizes;
        let by_subgroups = grouping == LaneGrouping::Subgroup;
        let workgroup = if by_subgroups { self.workgroup.max(most) } else { self.workgroup };
        let workgroup = workgroup.min(adapter.max_workgroup_invocations);
        let lanes = self.lanes.map_or(LANES.to_vec(), |lanes| vec![lanes]);
        let columns = self.columns.map_or(COLUMNS.to_vec(), |columns| vec![columns]);
        let sizes = lanes.iter().flat_map(|&lanes| columns.iter().map(move |&columns| (lanes, columns)));
        let variant = |(lanes, columns)| TileVariant {
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

/// Kernels for a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pairs::gpu) struct TileKernels {
    pub grouping: LaneGrouping,
    /// Whether queries that can be joined are computed in f16.
    pub halves: bool,
    /// Packing of all other queries.
    pub alone: Packing,
    /// Greatest error of bounds, or 0 if exact scores are needed.
    pub slack: i64,
}

impl TileKernels {
    /// Returns the fraction of a query's lanes that a second chain of queries must fill to be
    /// computed next to it.
    pub(super) fn least_fill(self) -> f64 {
        match self.alone {
            Packing::One => 0.4,
            Packing::Queries => 0.0,
            Packing::Targets => 0.65,
        }
    }
}

/// Average share of pairs that are computed twice.
#[derive(Debug, Clone, Copy, Default)]
struct ObservedShare(f64);

impl ObservedShare {
    /// Adds the observation of `count` in `pairs` pairs.
    fn observe(&mut self, count: usize, pairs: u64) {
        let share = count as f64 / pairs.max(1) as f64;
        self.0 += SHARE_WEIGHT * (share - self.0);
    }

    /// Returns whether the share is less than `most`. If it is not, the share decays, so that the
    /// faster way is tried again later.
    fn is_below(&mut self, most: f64) -> bool {
        let is_below = self.0 < most;
        if !is_below {
            self.0 *= SHARE_DECAY;
        }
        is_below
    }
}

/// State of the local kernels of a device.
#[derive(Debug, Clone, Default)]
pub(in crate::pairs::gpu) struct Tiles {
    /// Share of pairs that exceeded f16.
    saturated: ObservedShare,
    /// Share of pairs that bounds did not rule out.
    listed: ObservedShare,
    /// Number of cells above [`TileShape::host_cells`] that were computed again.
    further_again: u64,
    /// Variants that batches have used, without what depends on the batch.
    compiled: Vec<TileVariant>,
    /// Expected seconds of all batches so far.
    past_seconds: f64,
}

impl Tiles {
    /// Chooses the kernels for a batch: the kernel that the user selected, or the fastest that the
    /// device supports.
    pub(super) fn choose_kernels(
        &mut self,
        gpu: &Gpu,
        shape: &TileShape,
        kernel: Option<&'static Kernel>,
        batch: &PairsBatch,
        shorter: u32,
    ) -> Option<TileKernels> {
        let scoring = &batch.chunk.scoring;
        let symbols_fit = sw_tile::f16_holds_symbols(scoring);
        let can = |kind| {
            let is_there = gpu.device.features().contains(of_kind(kind).features);
            // If a subgroup can be smaller than the least number of lanes, its lanes cannot share a
            // pair.
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
            return Some(TileKernels { grouping, halves: alone == Packing::Queries, alone, slack });
        }
        let (grouping, _) =
            there(LaneGrouping::Subgroup, Packing::One).or_else(|| there(LaneGrouping::Workgroup, Packing::One))?;
        let has_halves = shape.halves && symbols_fit && there(LaneGrouping::Subgroup, Packing::Queries).is_some();
        let halves = has_halves && (sw_tile::f16_holds(scoring, shorter) || self.saturated.is_below(MAX_SATURATED));
        let alone = if halves { Packing::Targets } else { Packing::One };
        Some(TileKernels { grouping, halves, alone, slack: self.slack(batch) })
    }

    /// Returns the greatest allowed error of bounds for a batch. It is 0 if all scores are
    /// requested, or if bounds recently ruled out too few pairs.
    fn slack(&mut self, batch: &PairsBatch) -> i64 {
        let ResultFilter::AtLeast(thresholds) = &batch.chunk.filter else { return 0 };
        let least = batch.blocks.iter().map(|block| thresholds.threshold(block.query)).min().unwrap_or(0);
        if self.listed.is_below(MAX_LISTED) { least.clamp(0, SATURATED.into()) / SLACK_PART } else { 0 }
    }

    /// Adds the observation that `saturated` of `pairs` pairs exceeded f16.
    pub(super) fn observe_saturated(&mut self, saturated: usize, pairs: u64) {
        self.saturated.observe(saturated, pairs);
    }

    /// Adds a batch of `batch_seconds` expected seconds. Returns the expected seconds of work from its
    /// start: `remaining_seconds` of the job, or half of the seconds of all earlier batches if these
    /// are more. A session of many small blocks has more work than each of its blocks.
    pub(super) fn expected_seconds(&mut self, batch_seconds: f64, remaining_seconds: f64) -> f64 {
        let expected = remaining_seconds.max(self.past_seconds / 2.0);
        self.past_seconds += batch_seconds;
        expected
    }

    /// Returns the variants of earlier batches, for a batch with this many expected seconds of work
    /// from its start.
    pub(super) fn compiled(&self, remaining_seconds: f64) -> CompiledVariants<'_> {
        CompiledVariants { variants: &self.compiled, remaining_seconds }
    }

    /// Records a variant of a batch.
    pub(super) fn record_compiled(&mut self, variant: TileVariant) {
        let variant = TileVariant { group: None, passes: false, split: false, ..variant };
        if !self.compiled.contains(&variant) {
            self.compiled.push(variant);
        }
    }

    /// Returns whether the host computes `cells` cells of pairs again. `most` is the number for
    /// which the device would take longer. The host computes more until the kernels have to be
    /// compiled anyway.
    pub(super) fn host_recomputes(&mut self, cells: u64, most: u64) -> bool {
        let further = cells.saturating_sub(most);
        self.further_again = self.further_again.saturating_add(further);
        further == 0 || self.further_again <= most.saturating_mul(COMPILE_HOST_CELLS)
    }

    /// Adds the observation that bounds did not rule out `listed` of `pairs` pairs.
    pub(super) fn observe_listed(&mut self, listed: usize, pairs: u64) {
        self.listed.observe(listed, pairs);
    }
}

/// Returns the estimated cost of runs with a variant, on a device with `slots` slots for
/// workgroups. It counts padding rows and columns, and the overhead of a row. If the passes of the
/// longest run take longer than all runs together, the cost is the time of these passes. `longest`
/// is the length of each run's longest target.
fn cost(variant: &TileVariant, runs: &[TileRun], longest: &[u32], chunk: &PairsChunk, slots: u64) -> f64 {
    let row = row_cost(variant.packing, variant.columns);
    let steps = |rows: u32| f64::from(rows) + 4.0 * (1 + variant.delay_steps()) as f64;
    let all_and_alone = |(run, &longest): (&TileRun, &u32)| {
        let middle = run.targets.start + run.targets.len() as u32 / 2;
        let rows = chunk.order.get(middle as usize).map_or(0, |&target| chunk.targets.length(target));
        let (lanes, passes) = (run.lanes(chunk, variant), run.passes(chunk, variant));
        let row = row * lanes_cost(variant.lanes, passes);
        // If there are several runs, other queries use the remaining lanes of a query's last pass.
        let lanes = if runs.len() > 1 { lanes } else { passes * variant.lanes };
        (row * f64::from(lanes) * steps(rows) * run.targets.len() as f64, row * f64::from(passes) * steps(longest))
    };
    let together = |(sum, most): (f64, f64), (all, alone): (f64, f64)| (sum + all, most.max(alone));
    let (all, alone) = runs.iter().zip(longest).map(all_and_alone).fold((0.0, 0.0), together);
    let at_work = (slots / SLOTS_A_WORKGROUP).max(1) as f64 * f64::from(variant.workgroup);
    (all / at_work).max(alone * LOW_OCCUPANCY_ROW_TIME)
}

/// Variants that are compiled, and the work that another variant may save time for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompiledVariants<'a> {
    variants: &'a [TileVariant],
    remaining_seconds: f64,
}

impl CompiledVariants<'_> {
    /// Returns whether queries that do not fill the lanes of another packing are computed with this
    /// packing. The other one would take up to twice as long for them.
    pub(super) fn is_worth_another(&self, packing: Packing) -> bool {
        let is_compiled = self.variants.iter().any(|variant| variant.packing == packing);
        is_compiled || self.remaining_seconds / 2.0 >= COMPILE_SECONDS
    }
}

/// Returns the variant with the least cost for all runs together, on a device with `slots` slots
/// for workgroups, or a compiled variant if compiling another one takes longer than it saves. All
/// runs use one variant. With several variants, few workgroups would be active at the end of each
/// variant's runs.
pub(super) fn cheapest(
    variants: &[TileVariant],
    runs: &[TileRun],
    chunk: &PairsChunk,
    slots: u64,
    compiled: CompiledVariants<'_>,
) -> Option<TileVariant> {
    let longest: Vec<u32> = runs.iter().map(|run| chunk.longest(run.targets.clone())).collect();
    let costs = variants.iter().map(|&variant| (variant, cost(&variant, runs, &longest, chunk, slots)));
    let costs: Vec<(TileVariant, f64)> = costs.collect();
    let least = |among: &dyn Fn(&TileVariant) -> bool| {
        let among = costs.iter().filter(|(variant, _)| among(variant));
        among.min_by(|(_, one), (_, other)| one.total_cmp(other)).copied()
    };
    let (best, best_cost) = least(&|_| true)?;
    let ready = least(&|variant| compiled.variants.contains(variant));
    let saved_seconds = |cost: f64| (1.0 - best_cost / cost) * compiled.remaining_seconds;
    Some(ready.filter(|&(_, cost)| saved_seconds(cost) < COMPILE_SECONDS).map_or(best, |(variant, _)| variant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::PairsBatch;
    use crate::pairs::kernels::tile_tasks::single_runs;
    use crate::pairs::plan::PairsSpec;
    use crate::score::Gaps;
    use crate::seq::{Alphabet, QueryStrands, SequenceStore};

    #[test]
    fn other_variant_is_compiled_only_if_it_saves_time() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        (0..20).for_each(|_| store.push("s", &[1; 300]).unwrap());
        let (queries, scoring) = (std::sync::Arc::new(store.build()), std::sync::Arc::new(Scoring::truong()));
        let (filter, strands) = (ResultFilter::Scores, QueryStrands::default());
        let job = PairsSpec { queries, against: None, scoring, filter, strands, parts: None };
        let (_, chunk, blocks) = job.chunks(u64::MAX, u64::MAX).next().unwrap();
        let batch = PairsBatch { chunk, blocks: blocks.into_iter().map(|(_, block)| block).collect() };
        let (grouping, packing, gaps) = (LaneGrouping::Subgroup, Packing::One, Gaps::linear(10));
        let variant = |lanes, columns| TileVariant {
            grouping,
            packing,
            lanes,
            columns,
            workgroup: 64,
            codes: 16,
            gaps,
            group: None,
            passes: false,
            split: false,
        };
        let variants = [variant(16, 12), variant(16, 20), variant(32, 28)];
        let choose = |compiled: CompiledVariants<'_>| {
            cheapest(&variants, &single_runs(&batch), &batch.chunk, 100, compiled).unwrap()
        };
        let mut tiles = Tiles::default();
        let best = choose(tiles.compiled(f64::INFINITY));
        let other = variants.into_iter().find(|variant| *variant != best).unwrap();
        for seconds in [0.0, 1e9] {
            assert_eq!(choose(tiles.compiled(seconds)), best, "nothing is compiled");
        }
        // Another size, and what depends on a batch, do not matter.
        tiles.record_compiled(TileVariant { passes: true, group: Some(4), ..other });
        tiles.record_compiled(variant(8, 8));
        assert_eq!([0.0, 1e9].map(|seconds| choose(tiles.compiled(seconds))), [other, best]);
        tiles.record_compiled(best);
        assert_eq!(choose(tiles.compiled(0.0)), best);
        let worth = |seconds, packing| tiles.compiled(seconds).is_worth_another(packing);
        assert_eq!([0.05, 1.0].map(|seconds| worth(seconds, Packing::One)), [true, true]);
        assert_eq!([0.05, 1.0].map(|seconds| worth(seconds, Packing::Targets)), [false, true]);
    }

    /// The work of a session is estimated from its past, because each block is a job of its own.
    #[test]
    fn sessions_of_small_blocks_expect_more_work() {
        let mut tiles = Tiles::default();
        let expected: Vec<f64> = (0..6).map(|_| tiles.expected_seconds(0.25, 0.25)).collect();
        assert_eq!(expected, [0.25, 0.25, 0.25, 0.375, 0.5, 0.625]);
        assert_eq!(tiles.expected_seconds(0.25, 3.0), 3.0);
    }

    #[test]
    fn host_recomputes_until_kernels_are_worth_compiling() {
        let mut tiles = Tiles::default();
        let answers = [100, 300, 50, 250, 200, 50, 150].map(|cells| tiles.host_recomputes(cells, 100));
        assert_eq!(answers, [true, true, true, true, false, true, false]);
        assert!(Tiles::default().host_recomputes(0, 0) && !Tiles::default().host_recomputes(1, 0));
        assert!(Tiles::default().host_recomputes(u64::MAX, u64::MAX));
    }
}
