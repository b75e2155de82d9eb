//! Reads and their candidate regions in a genome (Chacon et al. 2014, section 4.1), and who computes their distances.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rayon::prelude::*;

pub(crate) use super::timing::Sample;
use super::timing::{Rates, stream_and};
use super::{Bed, SEED};
use crate::edit::cpu::EditWorker;
use crate::edit::{Edit, EditBand, EditBatch, EditBlock, EditReport, GROUP_PAIRS, Places, Region};
use crate::engine::thread_engine::compute_together;
use crate::engine::{Engine, Reported};
use crate::error::Result;
use crate::measure::simulate::random;
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Candidate regions of a read.
pub(crate) const CANDIDATES: u32 = 20;
/// A read of m symbols has up to m / [`ERRORS`] errors, so that its region has as many symbols more at both ends.
const ERRORS: u32 = 5;
/// Of so many symbols of a read one is not the genome's.
pub(crate) const CHANGED: u32 = 20;
/// The shortest reads that are tried before long ones.
const SHORTEST: u32 = 50;
/// Reads of a batch where only the way is tried.
const QUICK_READS: u32 = 3;

/// A random genome.
pub(crate) fn genome(symbols: usize, seed: u64) -> Arc<SequenceStore> {
    Arc::new(random_store(Alphabet::Dna, 1, symbols, seed))
}

/// What reads of one length are compared for.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    /// Where they are from.
    pub genome: Arc<SequenceStore>,
    /// What is computed.
    pub scheme: Arc<EditScheme>,
    /// Symbols of a read.
    pub length: u32,
}

impl Reads {
    /// Reads of so many symbols.
    pub(crate) fn new(genome: &Arc<SequenceStore>, mode: EditMode, limit: Limit, length: u32) -> Self {
        let scheme = EditScheme { mode, equality: Equality::dna(Ambiguity::Overlap, true), limit };
        Reads { genome: Arc::clone(genome), scheme: Arc::new(scheme), length }
    }

    /// Symbols of a region in which a read of `length` symbols is looked for; `length` if it is compared as a whole.
    pub(crate) fn region_symbols(mode: EditMode, length: u32) -> u32 {
        if mode == EditMode::Global { length } else { length + 2 * (length / ERRORS) }
    }

    /// Symbols of this one's regions.
    pub(crate) fn text_symbols(&self) -> u32 {
        Self::region_symbols(self.scheme.mode, self.length)
    }

    /// `count` reads, each with the region that it is from and other random ones.
    pub(crate) fn batch(&self, count: u32, seed: u64) -> Arc<EditBatch> {
        let genome = self.genome.codes(0);
        let symbols = self.text_symbols();
        let before = (symbols - self.length) / 2;
        let starts = genome.len() as u32 - symbols + 1;
        let parts = (0..count).into_par_iter().map(|read| {
            let mut next = random(seed ^ u64::from(read) << 32);
            let mut region = || {
                let start = next() % starts;
                Region { text: 0, start, end: start + symbols }
            };
            let regions: Vec<Region> = (0..CANDIDATES).map(|_| region()).collect();
            let first = (regions[0].start + before) as usize;
            let own = genome[first..first + self.length as usize].iter();
            // Another base.
            let changed =
                |&code: &Code| if next().is_multiple_of(CHANGED) { (code << 1 | code >> 3) & 15 } else { code };
            (own.map(changed).collect::<Vec<Code>>(), regions)
        });
        let parts: Vec<(Vec<Code>, Vec<Region>)> = parts.collect();
        let mut patterns = SequenceStore::builder(Alphabet::Dna);
        let mut regions = Vec::with_capacity(parts.len() * CANDIDATES as usize);
        for (index, (codes, own)) in parts.into_iter().enumerate() {
            patterns.push_valid(format!("read{index}"), &codes);
            regions.extend(own);
        }
        let cells = u64::from(CANDIDATES) * u64::from(self.length) * u64::from(symbols);
        let blocks = (0..count).map(|pattern| {
            let first = pattern * CANDIDATES;
            EditBlock { pattern, places: first..first + CANDIDATES, cells }
        });
        let (texts, scheme) = (Arc::clone(&self.genome), Arc::clone(&self.scheme));
        let band = EditBand::new(Arc::new(patterns.build()), texts, scheme, Places::Regions(Arc::new(regions)));
        Arc::new(EditBatch { band: Arc::new(band), blocks: blocks.collect() })
    }

    /// Adds reads until their distances take `full` seconds and more would not be computed faster; but not if twice as
    /// many would take more than `most` seconds. From `least` to `limit` reads.
    pub(crate) fn grown(
        &self,
        (least, limit): (u32, u32),
        (full, most): (f64, f64),
        seed: u64,
        mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
    ) -> Result<Arc<EditBatch>> {
        let (mut count, mut before) = (least, 0.0);
        loop {
            let batch = self.batch(count, seed);
            let seconds = compute(&batch)?.best().max(1e-6);
            let rate = f64::from(count) / seconds;
            let is_filled = seconds >= full && (rate < 1.1 * before || 2.0 * seconds > most);
            if is_filled || count >= limit || 2.0 * seconds > most {
                tracing::debug!(length = self.length, count, seconds, "a full device");
                return Ok(batch);
            }
            before = rate;
            let factor = (1.2 * full / seconds).clamp(2.0, 16.0);
            count = ((f64::from(count) * factor) as u32).min(limit);
        }
    }
}

/// What is known of the speed of a device, to tell beforehand how long a measurement will take.
#[derive(Default)]
pub(super) struct Sizes {
    rates: Rates,
    /// The longest reads that were tried.
    longest: u32,
}

impl Sizes {
    /// Reads that fill a device, from `least` to `limit`, of which those of a batch take about `full` and not more than
    /// `longest` seconds; `None` if the fewest would take longer than a row may. Where nothing is known of
    /// reads that are nearly as long, shorter ones are tried first.
    pub(super) fn fill(
        &mut self,
        bed: &Bed<'_>,
        reads: &Reads,
        (least, limit): (u32, u32),
        (full, longest): (f64, f64),
        mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
    ) -> Result<Option<Arc<EditBatch>>> {
        let most = bed.bench.seconds;
        let pairs = u64::from(least * CANDIDATES);
        let shorter = |&length: &u32| Some(length / 10).filter(|&shorter| shorter >= SHORTEST.max(self.longest + 1));
        let lengths: Vec<u32> = std::iter::successors(Some(reads.length), shorter).collect();
        for length in lengths.into_iter().rev() {
            bed.check_interrupt()?;
            let batch = Reads { length, ..reads.clone() }.batch(least, SEED);
            let cells = batch.cells() as f64;
            if self.rates.expected(length, pairs).is_some_and(|rate| cells / rate > most) {
                return Ok(None);
            }
            // Compiled before the clock runs.
            compute(&batch)?;
            self.rates.add(length, pairs, cells / compute(&batch)?.best().max(1e-9), pairs);
            self.longest = length;
        }
        let limits = if bed.quick { (QUICK_READS, QUICK_READS) } else { (least, limit) };
        reads.grown(limits, (full.min(longest), longest), SEED, compute).map(Some)
    }
}

/// Computes batches on an engine, whose work on the host the threads of a pool share.
pub(crate) fn on_engine(
    pool: &rayon::ThreadPool,
    engine: &mut dyn Engine<Edit>,
    batches: &[Arc<EditBatch>],
) -> Result<Sample> {
    pool.install(|| compute(engine, batches))
}

/// Computes a batch on all threads of a pool, each an engine. Their time in kernels is the mean of what they took.
pub(crate) fn on_cpu(pool: &rayon::ThreadPool, interrupt: &Arc<AtomicBool>, batch: &EditBatch) -> Result<Sample> {
    let threads = pool.current_num_threads();
    let begin = Instant::now();
    let mut workers: Vec<EditWorker> = (0..threads).map(|_| EditWorker::new(Arc::clone(interrupt))).collect();
    let reports = compute_together(pool, &mut workers, batch)?;
    let sum = || reports.iter().fold(0u64, |sum, report| sum.wrapping_add(sum_of(report)));
    std::hint::black_box(pool.install(sum));
    let seconds = begin.elapsed().as_secs_f64();
    let busy: f64 = reports.iter().filter_map(EditReport::kernel_time).map(|time| time.as_secs_f64()).sum();
    Ok(Sample { seconds, kernel_seconds: Some(busy / threads as f64), traced: 0 })
}

fn compute(engine: &mut dyn Engine<Edit>, batches: &[Arc<EditBatch>]) -> Result<Sample> {
    let mut sum = 0u64;
    let run = stream_and(engine, batches, |report: &EditReport| {
        sum = sum.wrapping_add(sum_of(report));
        report.found.pairs() as u64
    })?;
    std::hint::black_box(sum);
    Ok(run)
}

/// The sum of all distances within the limit, for which results have to be read as a job reads them: by all threads of the pool
/// that this runs in.
fn sum_of(report: &EditReport) -> u64 {
    let pairs = report.found.pairs();
    let sum = |first: usize| {
        let found = report.found.within(first..(first + GROUP_PAIRS).min(pairs));
        found.fold(0, |sum: u64, (_, found)| sum.wrapping_add(found.distance.into()))
    };
    (0..pairs).into_par_iter().step_by(GROUP_PAIRS).map(sum).reduce(|| 0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::oracle;

    #[test]
    fn reads_are_found_in_the_first_of_their_regions() {
        let genome = genome(1_000_000, 7);
        for (mode, symbols) in [(EditMode::Infix, 140), (EditMode::Global, 100)] {
            let reads = Reads::new(&genome, mode, Limit::None, 100);
            let batch = reads.batch(30, 3);
            assert_eq!((batch.pairs(), batch.cells()), (600, 600 * 100 * symbols));
            assert_eq!(batch.band.patterns, reads.batch(30, 3).band.patterns);
            assert_ne!(batch.band.patterns, reads.batch(30, 4).band.patterns);
            for block in &batch.blocks {
                let read = batch.band.patterns.codes(block.pattern);
                let distance = |place| oracle::find(read, batch.band.text(place), &reads.scheme).distance;
                let first = block.places.start;
                assert!(distance(first) < 20, "{mode:?}: {}", distance(first));
                assert!(distance(first + 1) > 20, "{mode:?}: {}", distance(first + 1));
            }
        }
    }

    #[test]
    fn reads_are_added_until_a_device_is_full() {
        let reads = Reads::new(&genome(1000, 7), EditMode::Infix, Limit::None, 10);
        // Up to 100 reads take as long as one.
        let seconds_of = |batch: &EditBatch| 0.01 * (batch.blocks.len() as f64 / 100.0).max(1.0);
        let count = |limits, seconds| {
            let run = |batch: &Arc<EditBatch>| Ok(Sample { seconds: seconds_of(batch), ..Sample::default() });
            reads.grown(limits, seconds, 1, run).unwrap().blocks.len()
        };
        assert!((100..1000).contains(&count((1, 5000), (0.01, 1.0))));
        assert_eq!(count((1, 64), (0.01, 1.0)), 64);
        assert_eq!(count((3, 64), (0.01, 0.01)), 3, "more would take too long");
    }
}
