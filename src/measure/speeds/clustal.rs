//! Measures the kernels of ClustalW's pairwise stage.

use std::sync::Arc;
use std::time::Instant;

use super::MeasuredSpeed;
use crate::clustal::gpu::ClustalGpu;
use crate::clustal::{Clustal, ClustalBatch};
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Kernel;
use crate::measure::self_test::clustal::{batch, own_kernels};
use crate::measure::simulate::family;
use crate::seq::{Alphabet, SequenceStore};

/// Lengths of sequences in residues: the longest of the paper on hardware, and a shorter one on
/// software adapters.
const BENCH_RESIDUES: [usize; 2] = [1523, 500];
/// Maximum number of sequences. Every pair of them is computed.
const MAX_SEQUENCES: u32 = 512;
/// Target duration of a measurement in seconds.
const SECONDS: f64 = 0.2;

/// Returns the kernel time of a batch in seconds, or the total time if the kernel time is unknown.
fn seconds(engine: &mut dyn Engine<Clustal>, batch: &Arc<ClustalBatch>) -> Result<f64> {
    let started = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| started.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel of the stage. Kernels that start at the ends found by `sw_ends` are
/// measured together with it.
pub(super) fn measure_adapter(adapter: &FoundAdapter) -> Result<Vec<MeasuredSpeed>> {
    let residues = BENCH_RESIDUES[usize::from(adapter.is_software())];
    let store = family(Alphabet::Protein, &[residues; MAX_SEQUENCES as usize]);
    own_kernels().map(|kernel| speed(adapter, kernel, &store)).collect()
}

/// Returns the speed with enough pairs for the target duration.
fn speed(adapter: &FoundAdapter, kernel: &'static Kernel, store: &Arc<SequenceStore>) -> Result<MeasuredSpeed> {
    let mut engine = ClustalGpu::open(adapter)?.with_kernel(Some(kernel));
    let mut count = 2;
    // Compiles the kernel before the clock starts.
    seconds(&mut engine, &batch(store, count))?;
    loop {
        let batch = batch(store, count);
        let seconds = seconds(&mut engine, &batch)?;
        if seconds >= SECONDS || count >= MAX_SEQUENCES {
            let work = if kernel.is_later_stage() {
                "ends of proteins' alignments"
            } else {
                "identities of proteins' alignments"
            };
            return Ok(MeasuredSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((f64::from(count) * factor).ceil() as u32).min(MAX_SEQUENCES);
    }
}
