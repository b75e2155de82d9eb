//! Kernels for ClustalW's pairwise stage against the textbook, and their speeds.

use std::sync::Arc;
use std::time::Instant;

use super::KernelSpeed;
use crate::clustal::gpu::ClustalGpu;
use crate::clustal::{Clustal, ClustalBand, ClustalBatch, ClustalCosts};
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, Kind};
use crate::jobs::bench::SEED;
use crate::pairs::gpu::tune::random_store;
use crate::seq::{Alphabet, Code, SequenceStore};

/// Residues of sequences in the measurement: the longest of the paper.
const BENCH_RESIDUES: usize = 1523;
/// Sequences of which every pair is computed, at most.
const MOST_SEQUENCES: u32 = 512;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;

/// Sequences of a family: random ones, in which all but about a quarter is their ancestor's.
fn family(count: u32, residues: usize) -> Arc<SequenceStore> {
    let alphabet = Alphabet::Protein;
    let ancestor = random_store(alphabet, 1, residues, SEED);
    let others = random_store(alphabet, count as usize, residues, SEED + 1);
    let mut store = SequenceStore::builder(alphabet);
    for number in 0..count {
        let both = others.codes(number).iter().zip(ancestor.codes(0));
        let own = both.map(|(&other, &code)| if other % 4 == 0 { other } else { code });
        store.push_valid(others.name(number), &own.collect::<Vec<Code>>());
    }
    Arc::new(store.build())
}

/// All pairs of the first so many sequences.
fn batch(store: &Arc<SequenceStore>, count: u32) -> Arc<ClustalBatch> {
    let order = (0..count).collect();
    let band = ClustalBand { sequences: Arc::clone(store), costs: Arc::new(ClustalCosts::protein()), order };
    let blocks = (0..count).map(|query| band.block(query, query + 1..count)).collect();
    Arc::new(ClustalBatch { band: Arc::new(band), blocks })
}

/// Seconds of a batch in the kernels, or in all where that can't be told.
fn seconds(engine: &mut dyn Engine<Clustal>, batch: &Arc<ClustalBatch>) -> Result<f64> {
    let begin = Instant::now();
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    Ok(report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6))
}

/// Measures every kernel of the room; those that begin at the ends that `sw_ends` finds with the time of that.
pub(super) fn bench_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let store = family(MOST_SEQUENCES, BENCH_RESIDUES);
    let own = KERNELS.iter().filter(|kernel| matches!(kernel.kind, Kind::Clustal(_)));
    own.map(|kernel| speed(found, kernel, &store)).collect()
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
        if seconds >= SECONDS || count >= MOST_SEQUENCES {
            let work =
                if kernel.follows() { "ends of proteins' alignments" } else { "identities of proteins' alignments" };
            return Ok(KernelSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((f64::from(count) * factor).ceil() as u32).min(MOST_SEQUENCES);
    }
}
