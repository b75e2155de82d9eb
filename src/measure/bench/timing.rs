//! Reliable timings: the best of several runs, and the number of runs that fit in the available
//! time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::ExperimentContext;
use crate::engine::{Batch, BatchReport, Engine, Ticket, Work};
use crate::error::{Error, Result};
use crate::measure::expected_cells;
use crate::measure::simulate::RandomPairs;
use crate::pairs::{Pairs, ResultFilter};
use crate::score::Scoring;

/// Target for the total duration of all runs of a measurement in seconds.
const BELIEVABLE_SECONDS: f64 = 0.2;
/// Target for the number of runs. The first one also allocates and uploads.
const ENOUGH_RUNS: u32 = 4;
/// Target for the number of runs in quick measurements.
const QUICK_RUNS: u32 = 2;
/// Maximum number of runs.
const MAX_RUNS: u32 = 1000;
/// Maximum target duration of a batch in seconds. Desktop systems reset a device that does not
/// answer.
const BATCH_SECONDS: f64 = 1.0;

/// Times of the best of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    /// Lowest clock time of a run in seconds.
    pub seconds: f64,
    /// Lowest kernel time of a run in seconds; `None` if the device has no timestamps.
    pub kernel_seconds: Option<f64>,
    /// Number of pairs in the last run that the engine traced back.
    pub traced: u64,
    /// Number of runs.
    pub runs: u32,
}

/// Times of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    /// Clock time in seconds.
    pub seconds: f64,
    /// Kernel time in seconds; `None` if the device has no timestamps.
    pub kernel_seconds: Option<f64>,
    /// Number of pairs that the engine traced back.
    pub traced: u64,
}

impl Sample {
    /// Returns the kernel time in seconds if it is known, else the clock time.
    pub(crate) fn best(&self) -> f64 {
        self.kernel_seconds.unwrap_or(self.seconds)
    }
}

impl Timing {
    /// Returns the speed in 10^9 cells per second.
    pub(super) fn gcups(cells: u64, seconds: f64) -> f64 {
        cells as f64 / seconds.max(1e-9) / 1e9
    }

    /// Returns the kernel time in seconds if it is known, else the clock time.
    pub(super) fn best(&self) -> f64 {
        self.kernel_seconds.unwrap_or(self.seconds)
    }
}

/// Repeats `once` until the timing is reliable or `most` seconds have passed. Runs it at least
/// once.
pub(super) fn repeat(
    context: &ExperimentContext<'_>,
    most: f64,
    mut once: impl FnMut() -> Result<Sample>,
) -> Result<Timing> {
    let started = Instant::now();
    let mut best = Timing { seconds: f64::INFINITY, kernel_seconds: None, traced: 0, runs: 0 };
    loop {
        context.check_interrupt()?;
        let Sample { seconds, kernel_seconds: kernel, traced } = once()?;
        best.traced = traced;
        best.runs += 1;
        best.seconds = best.seconds.min(seconds);
        best.kernel_seconds = match (best.kernel_seconds, kernel) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let elapsed = started.elapsed().as_secs_f64();
        let is_enough = best.runs >= if context.quick { QUICK_RUNS } else { ENOUGH_RUNS }
            && (context.quick || elapsed >= BELIEVABLE_SECONDS);
        let last = elapsed / f64::from(best.runs);
        if best.runs >= MAX_RUNS || elapsed + last > most || is_enough {
            return Ok(best);
        }
    }
}

/// Computes batches on an engine, with as many batches in flight as it accepts. Fails if a pair is
/// missing.
pub(super) fn stream(engine: &mut dyn Engine<Pairs>, batches: &[Arc<Batch<Pairs>>]) -> Result<Sample> {
    if let Some(batch) = batches.first() {
        engine.expect(expected_cells(batch.chunk.scoring.mode));
    }
    let (mut score_sum, mut traced) = (0i64, 0);
    let run = stream_and(engine, batches, |report| {
        traced += report.traced.spans.iter().flatten().count() as u64;
        score_sum = report.hits.iter().fold(score_sum, |sum, hit| sum.wrapping_add(hit.score));
        report.hits.len() as u64
    })?;
    std::hint::black_box(score_sum);
    Ok(Sample { traced, ..run })
}

/// Computes batches of any kind of work like [`stream`]. `read` reads the results of a batch like a
/// job does, and returns their number of pairs.
pub(super) fn stream_and<W: Work>(
    engine: &mut dyn Engine<W>,
    batches: &[Arc<Batch<W>>],
    mut read: impl FnMut(&W::Report) -> u64,
) -> Result<Sample> {
    let started = Instant::now();
    let most = engine.capacity().batches.max(1);
    let mut in_flight: VecDeque<(Ticket, &Arc<Batch<W>>)> = VecDeque::new();
    let mut kernel = Some(0.0);
    let mut waiting = batches.iter();
    let mut failure = None;
    loop {
        while failure.is_none() && in_flight.len() < most {
            let Some(batch) = waiting.next() else { break };
            match engine.submit(Arc::clone(batch)) {
                Ok(ticket) => in_flight.push_back((ticket, batch)),
                Err(error) => failure = Some(error),
            }
        }
        let Some((ticket, batch)) = in_flight.pop_front() else { break };
        // Every submitted batch is collected even after a failure, because the engine is used
        // again.
        let report = match engine.collect(ticket) {
            Ok(report) => report,
            Err(error) => {
                failure = failure.or(Some(error));
                continue;
            }
        };
        let pairs = read(&report);
        if !report.unfinished().is_empty() || pairs != batch.pairs() {
            failure = failure.or_else(|| {
                let message = format!("{pairs} of {} pairs came back", batch.pairs());
                Some(Error::Unsuited { device: engine.name().into(), message })
            });
        }
        kernel = kernel.zip(report.kernel_time()).map(|(sum, time)| sum + time.as_secs_f64());
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(Sample { seconds: started.elapsed().as_secs_f64(), kernel_seconds: kernel, traced: 0 }),
    }
}

/// Known speeds of a kernel, for predicting the duration of a measurement.
#[derive(Debug, Default)]
pub(super) struct Rates {
    /// All measurements so far.
    seen: Vec<MeasuredRate>,
}

/// The speed of a measurement.
#[derive(Debug)]
struct MeasuredRate {
    /// Length of the sequences in symbols.
    length: u32,
    pairs: u64,
    cells_per_second: f64,
    batch_pairs: u64,
}

impl Rates {
    /// Returns the expected speed in cells per second. It is the best speed among measurements with
    /// no longer sequences and no more pairs, because devices do not become slower with more work.
    pub(super) fn expected(&self, length: u32, pairs: u64) -> Option<f64> {
        let below = self.seen.iter().filter(|seen| seen.length <= length && seen.pairs <= pairs);
        below.map(|seen| seen.cells_per_second).max_by(f64::total_cmp)
    }

    /// Returns the number of pairs of a batch that takes [`BATCH_SECONDS`], or the largest number
    /// that was measured for this length. If a device is not filled, smaller batches take no less
    /// time.
    pub(super) fn batch_pairs(&self, length: u32, pairs: u64, first_guess: u64) -> u64 {
        let cells = u64::from(length).pow(2) as f64;
        let by_rate = match self.expected(length, pairs) {
            Some(rate) => (rate * BATCH_SECONDS / cells) as u64,
            None => first_guess / cells as u64,
        };
        let tried = self.seen.iter().filter(|seen| seen.length >= length).map(|seen| seen.batch_pairs).max();
        by_rate.max(tried.unwrap_or(0)).clamp(1, pairs.max(1))
    }

    /// Adds a measurement.
    pub(super) fn add(&mut self, length: u32, pairs: u64, cells_per_second: f64, batch_pairs: u64) {
        self.seen.push(MeasuredRate { length, pairs, cells_per_second, batch_pairs });
    }

    /// Measures an engine with `pairs` pairs of `length` symbols. Returns `None` if it would exceed
    /// the time of a row. If similar amounts of work were not measured yet, measures less work
    /// first.
    pub(super) fn measure(
        &mut self,
        context: &ExperimentContext<'_>,
        engine: &mut dyn Engine<Pairs>,
        scoring: &Arc<Scoring>,
        filter: &ResultFilter,
        length: u32,
        pairs: u64,
    ) -> Result<Option<Timing>> {
        let most = context.bench.seconds;
        if self.seen.is_empty() {
            // Compiles the pipelines before the clock starts.
            stream(engine, &RandomPairs::random(scoring, filter.clone(), length, 1).batches(1))?;
        }
        let mut fewer = 8;
        while fewer * 8 <= pairs {
            context.check_interrupt()?;
            if self.is_long(length, fewer, most) {
                return Ok(None);
            }
            if !self.seen.iter().any(|seen| seen.length <= length && (fewer..=pairs).contains(&seen.pairs)) {
                let work = RandomPairs::random(scoring, filter.clone(), length, fewer);
                let run = stream(engine, &work.batches(fewer))?;
                let seconds = run.best().max(1e-9);
                self.add(length, fewer, work.cells() as f64 / seconds, fewer);
            }
            fewer *= 8;
        }
        if self.is_long(length, pairs, most) {
            return Ok(None);
        }
        let batch_pairs = self.batch_pairs(length, pairs, engine.capacity().cells);
        let work = RandomPairs::random(scoring, filter.clone(), length, pairs);
        let batches = work.batches(batch_pairs);
        let timing = repeat(context, most, || stream(engine, &batches))?;
        self.add(length, pairs, work.cells() as f64 / timing.best().max(1e-9), batch_pairs);
        Ok(Some(timing))
    }

    fn is_long(&self, length: u32, pairs: u64, most: f64) -> bool {
        let cells = u64::from(length).pow(2) as f64 * pairs as f64;
        self.expected(length, pairs).is_some_and(|rate| cells / rate > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_rates_come_only_from_smaller_work() {
        let mut rates = Rates::default();
        assert_eq!(rates.expected(100, 100), None);
        rates.add(100, 8, 1e6, 8);
        rates.add(200, 8, 4e6, 8);
        rates.add(100, 64, 2e6, 64);
        assert_eq!(rates.expected(100, 8), Some(1e6));
        assert_eq!(rates.expected(150, 100), Some(2e6));
        assert_eq!(rates.expected(200, 8), Some(4e6));
        assert_eq!(rates.expected(99, 8), None);
    }

    #[test]
    fn batches_last_a_second_or_are_as_large_as_before() {
        let mut rates = Rates::default();
        assert_eq!(rates.batch_pairs(100, 1000, 50_000), 5);
        rates.add(100, 8, 1e4, 8);
        assert_eq!(rates.batch_pairs(100, 64, 50_000), 8);
        rates.add(100, 64, 3e5, 64);
        assert_eq!(rates.batch_pairs(100, 1000, 50_000), 64);
        rates.add(100, 512, 5e6, 64);
        assert_eq!(rates.batch_pairs(100, 100_000, 50_000), 500);
        assert_eq!(rates.batch_pairs(100, 300, 50_000), 64);
    }
}
