//! Measures the kernels and CPU code for reads and ancestral states.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::MeasuredSpeed;
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::bench::states::{on_cpu, on_engine};
use crate::measure::bench::timing::Sample;
use crate::measure::self_test::kernels_of;
use crate::measure::simulate::SEED;
use crate::measure::simulate::states::{self, PhyloComparison};
use crate::papara::gpu::PhyloGpu;
use crate::papara::{OCTET, PhyloBatch};
use crate::score::PhyloScheme;
use crate::seq::Alphabet;

/// Approximate number of symbols of a read, as in the paper.
const READ: u32 = 100;
/// Number of vectors, as in the paper.
const BENCH_VECTORS: u32 = 320;
/// Number of sites, similar to 16S rRNA.
const BENCH_SITES: u32 = 1500;
/// Target duration of a measurement in seconds.
const SECONDS: f64 = 0.2;
/// Maximum number of reads.
const MAX_READS: u32 = 40_000;

/// Measures every kernel that an adapter can run.
pub(super) fn measure_adapter(adapter: &FoundAdapter) -> Result<Vec<MeasuredSpeed>> {
    let comparison = comparison();
    let of = |kernel: &'static Kernel| {
        let mut engine = PhyloGpu::open(adapter)?.with_kernel(Some(kernel));
        let most = engine.capacity().pairs / u64::from(BENCH_VECTORS / OCTET as u32);
        let counts = 1..=u64::from(MAX_READS).min(most).max(1) as u32;
        speed(kernel.stem, &comparison, counts, |batch| on_engine(&mut engine, std::slice::from_ref(batch)))
    };
    kernels_of(Family::Phylo, adapter).map(of).collect()
}

/// Measures the CPU.
pub(super) fn measure_cpu(pool: &rayon::ThreadPool) -> Result<MeasuredSpeed> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let counts = pool.current_num_threads() as u32..=MAX_READS;
    speed("cpu", &comparison(), counts, |batch| on_cpu(pool, &interrupt, std::slice::from_ref(batch)))
}

fn comparison() -> PhyloComparison {
    let vectors = Arc::new(states::vectors(Alphabet::Dna, BENCH_SITES, BENCH_VECTORS, SEED));
    PhyloComparison::new(&vectors, &states::reads(&vectors, MAX_READS, READ, SEED), PhyloScheme::papara())
}

/// Returns the speed with enough reads for the target duration, within `counts`.
fn speed(
    kernel: &str,
    comparison: &PhyloComparison,
    counts: RangeInclusive<u32>,
    mut compute: impl FnMut(&Arc<PhyloBatch>) -> Result<Sample>,
) -> Result<MeasuredSpeed> {
    let (mut count, limit) = counts.into_inner();
    // Compiles the kernel before the clock starts.
    compute(&comparison.batch(0..count))?;
    loop {
        let batch = comparison.batch(0..count);
        let seconds = compute(&batch)?.best().max(1e-6);
        if seconds >= SECONDS || count >= limit {
            let work = "scores of short reads against ancestral states";
            return Ok(MeasuredSpeed { kernel: kernel.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(2.0, 16.0);
        count = ((f64::from(count) * factor) as u32).min(limit);
    }
}
