//! Kernels for ClustalW's pairwise stage against the textbook, and their speeds.

use std::sync::Arc;
use std::time::Instant;

use super::{KernelSpeed, KernelTest, test_of};
use crate::clustal::gpu::ClustalGpu;
use crate::clustal::{Clustal, ClustalBand, ClustalBatch, ClustalCosts, PairIdentities, oracle};
use crate::engine::{Engine, Work};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, Kind, find};
use crate::measure::bench::SEED;
use crate::pairs::gpu::tune::random_store;
use crate::seq::{Alphabet, Code, SequenceStore};

/// Residues of sequences in the test: of less and of more than one slice of every kernel, and around those.
const LENGTHS: [usize; 12] = [150, 90, 61, 60, 47, 40, 39, 24, 20, 12, 5, 1];

/// Residues of sequences in the measurement: the longest of the paper; and where loops end early.
const BENCH_RESIDUES: [usize; 2] = [1523, 500];
/// Sequences of which every pair is computed, at most.
const MOST_SEQUENCES: u32 = 512;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.2;

/// Sequences of a family: random ones, in which all but about a quarter is their ancestor's.
pub(super) fn family(alphabet: Alphabet, lengths: &[usize]) -> Arc<SequenceStore> {
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let ancestor = random_store(alphabet, 1, longest, SEED);
    let others = random_store(alphabet, lengths.len(), longest, SEED + 1);
    let mut store = SequenceStore::builder(alphabet);
    for (number, &length) in (0..).zip(lengths) {
        // From the end, so that short ones are not all alike.
        let both = others.codes(number)[longest - length..].iter().zip(&ancestor.codes(0)[longest - length..]);
        let own = both.map(|(&other, &code)| if other % 4 == 0 { other } else { code });
        store.push_valid(others.name(number), &own.collect::<Vec<Code>>());
    }
    Arc::new(store.build())
}

/// All pairs of the first so many sequences.
fn batch(store: &Arc<SequenceStore>, count: u32) -> Arc<ClustalBatch> {
    let order = (0..count).collect();
    let costs = if store.alphabet() == Alphabet::Dna { ClustalCosts::dna() } else { ClustalCosts::protein() };
    let band = ClustalBand { sequences: Arc::clone(store), costs: Arc::new(costs), order };
    let blocks = (0..count).map(|query| band.block(query, query + 1..count)).collect();
    Arc::new(ClustalBatch { band: Arc::new(band), blocks })
}

/// Compares an engine with the textbook on families of both alphabets; the number of pairs compared.
fn compare(engine: &mut dyn Engine<Clustal>) -> Result<u64> {
    let mut pairs = 0;
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let batch = batch(&family(alphabet, &LENGTHS), LENGTHS.len() as u32);
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        Clustal::check(&batch, &report).map_err(Error::Internal)?;
        pairs += same(&batch, &report.identities)?;
    }
    Ok(pairs)
}

/// Compares identities with what they have to be; the number of pairs.
fn same(batch: &ClustalBatch, found: &[PairIdentities]) -> Result<u64> {
    let band = &batch.band;
    let pairs = batch.blocks.iter().flat_map(|block| band.pairs(block));
    for ((first, second), found) in pairs.zip(found) {
        let [a, b] = [first, second].map(|id| band.sequences.codes(id));
        let expected = oracle::identities(a, b, &band.costs);
        if *found != expected {
            return Err(Error::Internal(format!(
                "{found:?} of {} and {} residues, {:?}, should be {expected:?}",
                a.len(),
                b.len(),
                band.sequences.alphabet()
            )));
        }
    }
    Ok(batch.pairs())
}

/// Tests the kernels on an adapter; `sw_ends` in both directions together with what follows.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let test = |kernel: &'static Kernel| {
        let last = if kernel.follows() { find("nw_forward_reverse") } else { Some(kernel) };
        compare(&mut ClustalGpu::open(found)?.with_kernel(last))
    };
    own_kernels().map(|kernel| test_of(kernel.stem, test(kernel))).collect()
}

/// The kernels of the room.
fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, Kind::Clustal(_)))
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
    let residues = BENCH_RESIDUES[usize::from(found.is_software())];
    let store = family(Alphabet::Protein, &[residues; MOST_SEQUENCES as usize]);
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
        if seconds >= SECONDS || count >= MOST_SEQUENCES {
            let work =
                if kernel.follows() { "ends of proteins' alignments" } else { "identities of proteins' alignments" };
            return Ok(KernelSpeed { kernel: kernel.stem.into(), work, gcups: batch.cells() as f64 / seconds / 1e9 });
        }
        let factor = (1.2 * SECONDS / seconds).clamp(1.5, 16.0).sqrt();
        count = ((f64::from(count) * factor).ceil() as u32).min(MOST_SEQUENCES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_is_seen() {
        let batch = batch(&family(Alphabet::Protein, &LENGTHS), LENGTHS.len() as u32);
        let band = &batch.band;
        let pairs = batch.blocks.iter().flat_map(|block| band.pairs(block));
        let of = |(a, b)| oracle::identities(band.sequences.codes(a), band.sequences.codes(b), &band.costs);
        let right: Vec<PairIdentities> = pairs.map(of).collect();
        assert_eq!(same(&batch, &right).expect("it is the same"), batch.pairs());
        let wrong: [fn(&mut PairIdentities); 4] = [
            |pair| pair.identities = pair.identities.wrapping_sub(1),
            |pair| pair.identities += 1,
            |pair| pair.start[0] += 1,
            |pair| pair.end[1] += 1,
        ];
        for spoil in wrong {
            let mut found = right.clone();
            spoil(&mut found[3]);
            let error = same(&batch, &found).expect_err("one is wrong");
            assert!(error.to_string().contains("should be"), "{error}");
        }
    }
}
