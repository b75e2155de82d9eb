//! Speed of engines and CPU threads on reads and their candidate regions.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rayon::prelude::*;

use super::ExperimentContext;
use super::timing::{Rates, Sample, stream_and};
use crate::edit::cpu::EditWorker;
use crate::edit::{Edit, EditBatch, EditReport, GROUP_PAIRS};
use crate::engine::thread_engine::compute_together;
use crate::engine::{BatchReport, Engine};
use crate::error::Result;
use crate::measure::simulate::SEED;
use crate::measure::simulate::reads::{CANDIDATES, SimulatedReads};

/// Shortest length of reads that are measured before long ones.
const SHORTEST: u32 = 50;
/// Number of reads of a batch in quick runs.
const QUICK_READS: u32 = 3;

/// Durations for choosing the size of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchSeconds {
    /// Target duration in seconds. A batch of this duration keeps a device busy.
    pub full: f64,
    /// Maximum duration in seconds.
    pub most: f64,
}

impl SimulatedReads {
    /// Adds reads until their distances take `full` seconds and more reads would not increase the
    /// speed. Stops if twice as many reads would take more than `most` seconds. The number of reads
    /// stays within `counts`.
    pub(crate) fn batch_at_full_speed(
        &self,
        counts: RangeInclusive<u32>,
        seconds: BatchSeconds,
        seed: u64,
        mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
    ) -> Result<Arc<EditBatch>> {
        let BatchSeconds { full, most } = seconds;
        let (mut count, limit) = counts.into_inner();
        let mut before = 0.0;
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

/// Known speeds of a device, for predicting the duration of a measurement.
#[derive(Default)]
pub(super) struct ReadSpeeds {
    rates: Rates,
    /// The longest reads that were measured.
    longest: u32,
}

impl ReadSpeeds {
    /// Returns a batch of reads that fills a device. The number of reads is within `counts`, and
    /// the duration of the batch is within `seconds`. Returns `None` if the lowest number of reads
    /// would exceed the time of a row. If reads of similar length were not measured yet, measures
    /// shorter ones first.
    pub(super) fn fill(
        &mut self,
        context: &ExperimentContext<'_>,
        reads: &SimulatedReads,
        counts: RangeInclusive<u32>,
        seconds: BatchSeconds,
        mut compute: impl FnMut(&Arc<EditBatch>) -> Result<Sample>,
    ) -> Result<Option<Arc<EditBatch>>> {
        let most = context.bench.seconds;
        let least = *counts.start();
        let pairs = u64::from(least * CANDIDATES);
        let shorter = |&length: &u32| Some(length / 10).filter(|&shorter| shorter >= SHORTEST.max(self.longest + 1));
        let lengths: Vec<u32> = std::iter::successors(Some(reads.length), shorter).collect();
        for length in lengths.into_iter().rev() {
            context.check_interrupt()?;
            let batch = SimulatedReads { length, ..reads.clone() }.batch(least, SEED);
            let cells = batch.cells() as f64;
            if self.rates.expected(length, pairs).is_some_and(|rate| cells / rate > most) {
                return Ok(None);
            }
            // Compiles the kernel before the clock starts.
            compute(&batch)?;
            self.rates.add(length, pairs, cells / compute(&batch)?.best().max(1e-9), pairs);
            self.longest = length;
        }
        let counts = if context.quick { QUICK_READS..=QUICK_READS } else { counts };
        let seconds = BatchSeconds { full: seconds.full.min(seconds.most), ..seconds };
        reads.batch_at_full_speed(counts, seconds, SEED, compute).map(Some)
    }
}

/// Computes batches on an engine. The threads of a pool share its host work.
pub(crate) fn on_engine(
    pool: &rayon::ThreadPool,
    engine: &mut dyn Engine<Edit>,
    batches: &[Arc<EditBatch>],
) -> Result<Sample> {
    pool.install(|| compute(engine, batches))
}

/// Computes a batch on all threads of a pool. Each thread is an engine. The kernel time is the mean
/// of the threads' times.
pub(crate) fn on_cpu(pool: &rayon::ThreadPool, interrupt: &Arc<AtomicBool>, batch: &EditBatch) -> Result<Sample> {
    let threads = pool.current_num_threads();
    let started = Instant::now();
    let mut workers: Vec<EditWorker> = (0..threads).map(|_| EditWorker::new(Arc::clone(interrupt))).collect();
    let reports = compute_together(pool, &mut workers, batch)?;
    let sum = || reports.iter().fold(0u64, |sum, report| sum.wrapping_add(distance_sum(report)));
    std::hint::black_box(pool.install(sum));
    let seconds = started.elapsed().as_secs_f64();
    let busy: f64 = reports.iter().filter_map(EditReport::kernel_time).map(|time| time.as_secs_f64()).sum();
    Ok(Sample { seconds, kernel_seconds: Some(busy / threads as f64), traced: 0 })
}

fn compute(engine: &mut dyn Engine<Edit>, batches: &[Arc<EditBatch>]) -> Result<Sample> {
    let mut sum = 0u64;
    let run = stream_and(engine, batches, |report: &EditReport| {
        sum = sum.wrapping_add(distance_sum(report));
        report.distances.pairs() as u64
    })?;
    std::hint::black_box(sum);
    Ok(run)
}

/// Returns the sum of all distances within the limit. Computing it reads the results like a job
/// does, on all threads of the current pool.
fn distance_sum(report: &EditReport) -> u64 {
    let pairs = report.distances.pairs();
    let sum = |first: usize| {
        let distances = report.distances.within(first..(first + GROUP_PAIRS).min(pairs));
        distances.fold(0, |sum: u64, (_, distances)| sum.wrapping_add(distances.distance.into()))
    };
    (0..pairs).into_par_iter().step_by(GROUP_PAIRS).map(sum).reduce(|| 0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::simulate::reads::genome;
    use crate::score::{EditMode, Limit};

    #[test]
    fn reads_are_added_until_the_device_is_full() {
        let reads = SimulatedReads::new(&genome(1000, 7), EditMode::Infix, Limit::None, 10);
        // Up to 100 reads take as long as one.
        let seconds_of = |batch: &EditBatch| 0.01 * (batch.blocks.len() as f64 / 100.0).max(1.0);
        let count = |counts, full, most| {
            let run = |batch: &Arc<EditBatch>| Ok(Sample { seconds: seconds_of(batch), ..Sample::default() });
            reads.batch_at_full_speed(counts, BatchSeconds { full, most }, 1, run).unwrap().blocks.len()
        };
        assert!((100..1000).contains(&count(1..=5000, 0.01, 1.0)));
        assert_eq!(count(1..=64, 0.01, 1.0), 64);
        assert_eq!(count(3..=64, 0.01, 0.01), 3, "more would take too long");
    }
}
