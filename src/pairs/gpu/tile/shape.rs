//! Which of the kernels for local scores, and with how many lanes and columns.

use crate::gpu::adapter::{AdapterDescription, FoundAdapter};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::{Cooperation, Kernel, Kind, Numbers, of_kind};
use crate::pairs::kernels::sw_tile::{self, Variant};
use crate::pairs::kernels::tile_tasks::Run;
use crate::pairs::{Band, Batch};
use crate::score::Scoring;

/// Lanes of a pair that are tried, and columns of a lane.
pub const LANES: [u32; 4] = [4, 8, 16, 32];
/// Columns of a lane that are tried. All leave 4 over 8, so that the profile has no padding but that of its rows.
pub const COLUMNS: [u32; 3] = [12, 20, 28];
/// What a row costs a lane beside its cells, in cells.
const ROW_CELLS: f64 = 4.0;
/// How much longer a row takes where two teams load from the same banks.
const CONFLICTS: f64 = 1.15;
/// Share of pairs that halves do not hold from which on words are faster: these pairs are computed twice.
const MOST_SATURATED: f64 = 0.2;
/// How that share follows what batches show, and how it fades where none shows it.
const SATURATED_MEMORY: f64 = 0.5;
const SATURATED_FADING: f64 = 0.9;

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
    /// Rows that a workgroup goes down in one dispatch at most, if a pair has more.
    pub most_rows: u64,
}

impl Default for TileShape {
    fn default() -> Self {
        // A fraction of a second.
        TileShape { workgroup: 256, lanes: None, columns: None, halves: true, most_rows: 1 << 19 }
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
    pub cooperation: Cooperation,
    /// Queries that go together are computed in halves.
    pub halves: bool,
    /// All others are, too.
    pub halves_alone: bool,
}

/// What is known of local scores on a device.
#[derive(Debug, Clone)]
pub(in crate::pairs::gpu) struct Tiles {
    pub shape: TileShape,
    /// Share of pairs that halves did not hold.
    saturated: f64,
}

impl Tiles {
    pub(in crate::pairs::gpu) fn new(shape: TileShape) -> Self {
        Tiles { shape, saturated: 0.0 }
    }

    /// The kernels for a batch: those by the one that was named, or the fastest that the device has.
    pub(super) fn ways(
        &mut self,
        gpu: &Gpu,
        kernel: Option<&'static Kernel>,
        batch: &Batch,
        shorter: u32,
    ) -> Option<Ways> {
        let scoring = &batch.band.scoring;
        let symbols_fit = sw_tile::halves_hold_symbols(scoring);
        let can = |kind| {
            let is_there = gpu.device.features().contains(of_kind(kind).features);
            // Less than the fewest lanes share no pair.
            is_there
                && (kind == Kind::Tile(Cooperation::Workgroup, Numbers::Words)
                    || gpu.description.subgroup_sizes[0] >= LANES[0])
        };
        let of_kind = |cooperation, numbers| can(Kind::Tile(cooperation, numbers)).then_some((cooperation, numbers));
        if let Some(kernel) = kernel {
            let Kind::Tile(cooperation, numbers) = kernel.kind else { return None };
            let (cooperation, numbers) = of_kind(cooperation, numbers)?;
            let halves = numbers == Numbers::Halves && symbols_fit;
            return Some(Ways { cooperation, halves, halves_alone: halves });
        }
        let (cooperation, _) = of_kind(Cooperation::Subgroup, Numbers::Words)
            .or_else(|| of_kind(Cooperation::Workgroup, Numbers::Words))?;
        let has_halves = self.shape.halves && symbols_fit && of_kind(Cooperation::Subgroup, Numbers::Halves).is_some();
        let halves = has_halves && (sw_tile::halves_hold(scoring, shorter) || self.saturated < MOST_SATURATED);
        if !halves {
            // Some day other pairs come.
            self.saturated *= SATURATED_FADING;
        }
        Some(Ways { cooperation, halves, halves_alone: false })
    }

    /// Learns how many of so many pairs halves did not hold.
    pub(super) fn observe_saturated(&mut self, saturated: usize, pairs: u64) {
        let share = saturated as f64 / pairs.max(1) as f64;
        self.saturated += SATURATED_MEMORY * (share - self.saturated);
    }

    /// All sizes of a kernel that the adapter has room for.
    pub(super) fn variants(
        &self,
        adapter: &AdapterDescription,
        scoring: &Scoring,
        way: (Cooperation, Numbers),
    ) -> Vec<Variant> {
        let (cooperation, numbers) = way;
        let [least, most] = adapter.subgroup_sizes;
        let by_subgroups = cooperation == Cooperation::Subgroup;
        let workgroup = if by_subgroups { self.shape.workgroup.max(most) } else { self.shape.workgroup };
        let workgroup = workgroup.min(adapter.max_workgroup_invocations);
        let lanes = self.shape.lanes.map_or(LANES.to_vec(), |lanes| vec![lanes]);
        let columns = self.shape.columns.map_or(COLUMNS.to_vec(), |columns| vec![columns]);
        let sizes = lanes.iter().flat_map(|&lanes| columns.iter().map(move |&columns| (lanes, columns)));
        let variant = |(lanes, columns)| Variant {
            cooperation,
            numbers,
            lanes,
            columns,
            workgroup,
            codes: scoring.alphabet.size() as u32,
            affine: !scoring.gaps.is_linear(),
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

/// What a run costs in a variant, in cells: rows of padding, columns of padding, and what a row costs beside its cells.
fn cost(variant: &Variant, run: &Run, band: &Band) -> f64 {
    let middle = run.targets.start + run.targets.len() as u32 / 2;
    let rows = f64::from(band.order.get(middle as usize).map_or(0, |&target| band.targets.length(target)));
    let steps = rows + 4.0 * (1 + variant.delay_steps()) as f64;
    let lanes = f64::from(variant.passes_of(run.symbols(band)) * variant.lanes);
    let conflicts = if variant.lanes < 8 { CONFLICTS } else { 1.0 };
    lanes * steps * (f64::from(variant.columns) + ROW_CELLS) * conflicts
}

/// Runs by the variant that suits each best.
pub(super) fn by_variant(runs: Vec<Run>, band: &Band, variants: &[Variant]) -> Vec<(Variant, Vec<Run>)> {
    let mut all: Vec<(Variant, Vec<Run>)> = variants.iter().map(|&variant| (variant, Vec::new())).collect();
    for run in runs {
        let costs = all.iter().map(|(variant, _)| cost(variant, &run, band));
        let best = costs.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(place, _)| place);
        if let Some(place) = best {
            all[place].1.push(run);
        }
    }
    all.retain(|(_, runs)| !runs.is_empty());
    all
}
