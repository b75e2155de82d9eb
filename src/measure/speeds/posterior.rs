//! Speeds of the kernels for probabilities of pairs.

use std::sync::Arc;
use std::time::Instant;

use super::KernelSpeed;
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Kernel;
use crate::measure::self_test::posterior::{batch, own_kernels};
use crate::measure::simulate::family;
use crate::posterior::gpu::PosteriorGpu;
use crate::posterior::{Posterior, PosteriorBatch};
use crate::seq::Alphabet;

/// Residues of sequences in the measurement, and where loops end early.
const BENCH_RESIDUES: [usize; 2] = [400, 200];
/// Sequences of which every pair is computed, at most.
const MAX_SEQUENCES: usize = 256;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;

/// Seconds of a batch in the kernels, or in all where that can't be told.
fn seconds(engine: &mut dyn Engine<Posterior>, batch: &Arc<PosteriorBatch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel of the room; the backward sums with the time of the forward ones.
pub(super) fn of_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    own_kernels().map(|kernel| speed(found, kernel)).collect()
}

/// The speed with as many pairs as take long enough.
fn speed(found: &FoundAdapter, kernel: &'static Kernel) -> Result<KernelSpeed> {
    let mut engine = PosteriorGpu::open(found)?.with_kernel(Some(kernel));
    let residues = BENCH_RESIDUES[usize::from(found.is_software())];
    let of = |count: usize| batch(&family(Alphabet::Protein, &vec![residues; count]));
    let mut count = 2;
    // Compiled before the clock runs.
    seconds(&mut engine, &of(count)?)?;
    loop {
        let batch = of(count)?;
        let seconds = seconds(&mut engine, &batch)?;
        if seconds >= SECONDS || count >= MAX_SEQUENCES {
            let work = if kernel.follows() { "forward sums of proteins" } else { "probabilities of proteins' pairs" };
            return Ok(KernelSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((count as f64 * factor).ceil() as usize).min(MAX_SEQUENCES);
    }
}
