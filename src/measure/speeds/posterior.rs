//! Measures the kernels for posterior probabilities of pairs.

use std::sync::Arc;
use std::time::Instant;

use super::MeasuredSpeed;
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Kernel;
use crate::measure::self_test::posterior::{batch, own_kernels};
use crate::measure::simulate::family;
use crate::posterior::gpu::PosteriorGpu;
use crate::posterior::{Posterior, PosteriorBatch};
use crate::seq::Alphabet;

/// Lengths of sequences in residues, on hardware and on software adapters.
const BENCH_RESIDUES: [usize; 2] = [400, 200];
/// Maximum number of sequences. Every pair of them is computed.
const MAX_SEQUENCES: usize = 256;
/// Target duration of a measurement in seconds.
const SECONDS: f64 = 0.2;

/// Returns the kernel time of a batch in seconds, or the total time if the kernel time is unknown.
fn seconds(engine: &mut dyn Engine<Posterior>, batch: &Arc<PosteriorBatch>) -> Result<f64> {
    let started = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| started.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel for posterior probabilities. The backward sums include the time of the
/// forward sums.
pub(super) fn measure_adapter(adapter: &FoundAdapter) -> Result<Vec<MeasuredSpeed>> {
    own_kernels().map(|kernel| speed(adapter, kernel)).collect()
}

/// Returns the speed with enough pairs for the target duration.
fn speed(adapter: &FoundAdapter, kernel: &'static Kernel) -> Result<MeasuredSpeed> {
    let mut engine = PosteriorGpu::open(adapter)?.with_kernel(Some(kernel));
    let residues = BENCH_RESIDUES[usize::from(adapter.is_software())];
    let of = |count: usize| batch(&family(Alphabet::Protein, &vec![residues; count]));
    let mut count = 2;
    // Compiles the kernels before the clock starts.
    seconds(&mut engine, &of(count)?)?;
    loop {
        let batch = of(count)?;
        let seconds = seconds(&mut engine, &batch)?;
        if seconds >= SECONDS || count >= MAX_SEQUENCES {
            let work =
                if kernel.is_later_stage() { "forward sums of proteins" } else { "probabilities of proteins' pairs" };
            return Ok(MeasuredSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((count as f64 * factor).ceil() as usize).min(MAX_SEQUENCES);
    }
}
