//! Speeds of the kernels for ClustalW's pairwise stage.

use std::sync::Arc;
use std::time::Instant;

use super::KernelSpeed;
use crate::clustal::gpu::ClustalGpu;
use crate::clustal::{Clustal, ClustalBatch};
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Kernel;
use crate::measure::self_test::clustal::{batch, own_kernels};
use crate::measure::simulate::family;
use crate::seq::{Alphabet, SequenceStore};

/// Residues of sequences in the measurement: the longest of the paper; and where loops end early.
const BENCH_RESIDUES: [usize; 2] = [1523, 500];
/// Sequences of which every pair is computed, at most.
const MAX_SEQUENCES: u32 = 512;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;

/// Seconds of a batch in the kernels, or in all where that can't be told.
fn seconds(engine: &mut dyn Engine<Clustal>, batch: &Arc<ClustalBatch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel of the module. Kernels that start at the ends that `sw_ends` finds are
/// measured together with it.
pub(super) fn of_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let residues = BENCH_RESIDUES[usize::from(found.is_software())];
    let store = family(Alphabet::Protein, &[residues; MAX_SEQUENCES as usize]);
    own_kernels().map(|kernel| speed(found, kernel, &store)).collect()
}

/// The speed with as many pairs as take long enough.
fn speed(found: &FoundAdapter, kernel: &'static Kernel, store: &Arc<SequenceStore>) -> Result<KernelSpeed> {
    let mut engine = ClustalGpu::open(found)?.with_kernel(Some(kernel));
    let mut count = 2;
    // Compiled before the clock runs.
    seconds(&mut engine, &batch(store, count))?;
    loop {
        let batch = batch(store, count);
        let seconds = seconds(&mut engine, &batch)?;
        if seconds >= SECONDS || count >= MAX_SEQUENCES {
            let work =
                if kernel.follows() { "ends of proteins' alignments" } else { "identities of proteins' alignments" };
            return Ok(KernelSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((f64::from(count) * factor).ceil() as u32).min(MAX_SEQUENCES);
    }
}
