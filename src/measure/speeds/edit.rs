//! Measures the kernels and CPU code for Levenshtein distances.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::MeasuredSpeed;
use crate::edit::EditBatch;
use crate::edit::gpu::EditGpu;
use crate::edit::kernels::myers::LaneGrouping;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, selectable};
use crate::measure::bench::reads::{BatchSeconds, on_cpu, on_engine};
use crate::measure::bench::timing::Sample;
use crate::measure::simulate::SEED;
use crate::measure::simulate::reads::{CANDIDATES, SimulatedReads, genome};
use crate::score::{EditMode, Limit};
use crate::seq::SequenceStore;

/// Number of symbols of a read, similar to short reads.
const READ: u32 = 150;
/// Number of symbols of the genome.
const GENOME: usize = 1 << 24;
/// Target duration and maximum duration of a measurement.
const SECONDS: BatchSeconds = BatchSeconds { full: 0.2, most: 1.0 };
/// Maximum number of reads.
const MAX_READS: u64 = 200_000;

/// Measures every kernel on an adapter.
pub(super) fn measure_adapter(adapter: &FoundAdapter, pool: &rayon::ThreadPool) -> Result<Vec<MeasuredSpeed>> {
    let genome = genome(GENOME, SEED);
    let mut speeds = Vec::new();
    for kernel in selectable(Family::Edit) {
        let mut engine = EditGpu::open(adapter)?.with_kernel(Some(kernel));
        let limit = MAX_READS.min(engine.capacity().pairs / u64::from(CANDIDATES)).max(1) as u32;
        let is_band = kernel.lane_grouping() == Some(LaneGrouping::Band);
        let speed = speed(kernel.stem, &genome, is_band, 1..=limit, |batch| {
            on_engine(pool, &mut engine, std::slice::from_ref(batch))
        });
        match speed {
            Ok(speed) => speeds.push(speed),
            Err(Error::Unsuited { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(speeds)
}

/// Measures the CPU.
pub(super) fn measure_cpu(pool: &rayon::ThreadPool) -> Result<Vec<MeasuredSpeed>> {
    let genome = genome(GENOME, SEED);
    let interrupt = Arc::new(AtomicBool::new(false));
    let counts = pool.current_num_threads() as u32..=MAX_READS as u32;
    let of = |is_band| speed("cpu", &genome, is_band, counts.clone(), |batch| on_cpu(pool, &interrupt, batch));
    Ok(vec![of(false)?, of(true)?])
}

fn speed(
    kernel: &str,
    genome: &Arc<SequenceStore>,
    is_band: bool,
    counts: RangeInclusive<u32>,
    mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
) -> Result<MeasuredSpeed> {
    let (work, mode, limit) = match is_band {
        true => ("distances of short reads as wholes within a tenth", EditMode::Global, Limit::Rate(0.1)),
        false => ("distances of short reads to parts of regions", EditMode::Infix, Limit::None),
    };
    let reads = SimulatedReads::new(genome, mode, limit, READ);
    // Compiles the kernel before the clock starts.
    compute(&reads.batch(*counts.start(), SEED))?;
    let batch = reads.batch_at_full_speed(counts, SECONDS, SEED, &mut compute)?;
    let seconds = compute(&batch)?.best().max(1e-9);
    Ok(MeasuredSpeed { kernel: kernel.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 })
}
