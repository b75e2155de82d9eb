//! Kernels for probabilities of pairs against the CPU, bit by bit, and their speeds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::clustal::family;
use super::{KernelSpeed, KernelTest, test_of};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, Engine, Work};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, Kind, find};
use crate::posterior::cpu::Workspace;
use crate::posterior::gpu::PosteriorGpu;
use crate::posterior::{Plan, Posterior, PosteriorBatch};
use crate::seq::{Alphabet, SequenceStore};

/// Residues of sequences in the test: around blocks, groups and strips.
const LENGTHS: [usize; 12] = [150, 90, 65, 64, 63, 40, 33, 24, 16, 9, 5, 1];

/// Residues of sequences in the measurement, and where loops end early.
const BENCH_RESIDUES: [usize; 2] = [400, 200];
/// Sequences of which every pair is computed, at most.
const MOST_SEQUENCES: usize = 256;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;

/// All pairs of a store.
fn batch(store: &Arc<SequenceStore>) -> Result<Arc<PosteriorBatch>> {
    let plan = Plan::new(Arc::clone(store))?;
    Ok(Arc::new(Batch { band: plan.band, blocks: plan.blocks }))
}

/// Compares an engine with the CPU on families of both alphabets; the number of pairs compared.
fn compare(engine: &mut dyn Engine<Posterior>) -> Result<u64> {
    let mut pairs = 0;
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let batch = batch(&family(alphabet, &LENGTHS))?;
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        Posterior::check(&batch, &report).map_err(Error::Internal)?;
        let expected = Posterior::compute(&batch, &mut Workspace::default(), &AtomicBool::new(false))?;
        if let Some(pair) = report.differs(&expected) {
            return Err(Error::Internal(format!("{alphabet:?}: probabilities of pair {pair} are not the CPU's")));
        }
        pairs += batch.pairs();
    }
    Ok(pairs)
}

/// Tests the kernels on an adapter; the forward sums together with what follows.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let test = |kernel: &'static Kernel| {
        let last = if kernel.follows() { find("posterior_backward") } else { Some(kernel) };
        compare(&mut PosteriorGpu::open(found)?.with_kernel(last))
    };
    own_kernels().map(|kernel| test_of(kernel.stem, test(kernel))).collect()
}

/// The kernels of the room.
fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, Kind::Posterior(_)))
}

/// Seconds of a batch in the kernels, or in all where that can't be told.
fn seconds(engine: &mut dyn Engine<Posterior>, batch: &Arc<PosteriorBatch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel of the room; the backward sums with the time of the forward ones.
pub(super) fn bench_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
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
        if seconds >= SECONDS || count >= MOST_SEQUENCES {
            let work = if kernel.follows() { "forward sums of proteins" } else { "probabilities of proteins' pairs" };
            return Ok(KernelSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((count as f64 * factor).ceil() as usize).min(MOST_SEQUENCES);
    }
}
