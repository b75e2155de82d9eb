//! Times that can be believed: the best of several runs, and how many runs there are time for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::Bed;
use crate::engine::{Batch, BatchReport, Engine, Ticket, Work};
use crate::error::{Error, Result};
use crate::measure::simulate::RandomPairs;
use crate::pairs::{Pairs, Want};
use crate::score::Scoring;

/// Seconds that all runs of a measurement should last together.
const BELIEVABLE_SECONDS: f64 = 0.2;
/// Runs that a measurement should have, the first of which also allocates and uploads.
const ENOUGH_RUNS: u32 = 4;
/// The same where the time need not be believed.
const QUICK_RUNS: u32 = 2;
/// Runs at most.
const MAX_RUNS: u32 = 1000;
/// Seconds that a batch should take at most: desktop systems reset a device that does not answer.
const BATCH_SECONDS: f64 = 1.0;

/// The best of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    /// Seconds by the clock, of the run that took the least.
    pub seconds: f64,
    /// Seconds in kernels, of the run that took the least; `None` where the device has no timestamps.
    pub kernel_seconds: Option<f64>,
    /// Pairs whose alignment the engine traced, of the last run.
    pub traced: u64,
    /// Number of runs.
    pub runs: u32,
}

/// What one run took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    /// Seconds by the clock.
    pub seconds: f64,
    /// Seconds in kernels; `None` where the device has no timestamps.
    pub kernel_seconds: Option<f64>,
    /// Pairs whose alignment the engine traced.
    pub traced: u64,
}

impl Sample {
    /// Seconds to judge speed by: those in kernels if they are known.
    pub(crate) fn best(&self) -> f64 {
        self.kernel_seconds.unwrap_or(self.seconds)
    }
}

impl Timing {
    /// 10^9 a second, of a number of cells.
    pub(super) fn gcups(cells: u64, seconds: f64) -> f64 {
        cells as f64 / seconds.max(1e-9) / 1e9
    }

    /// Seconds to judge speed by: those in kernels if they are known.
    pub(super) fn best(&self) -> f64 {
        self.kernel_seconds.unwrap_or(self.seconds)
    }
}

/// Repeats `once` until the time is believable or `most`
/// seconds have gone by; once in any case.
pub(super) fn repeat(bed: &Bed<'_>, most: f64, mut once: impl FnMut() -> Result<Sample>) -> Result<Timing> {
    let begin = Instant::now();
    let mut best = Timing { seconds: f64::INFINITY, kernel_seconds: None, traced: 0, runs: 0 };
    loop {
        bed.check_interrupt()?;
        let Sample { seconds, kernel_seconds: kernel, traced } = once()?;
        best.traced = traced;
        best.runs += 1;
        best.seconds = best.seconds.min(seconds);
        best.kernel_seconds = match (best.kernel_seconds, kernel) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let elapsed = begin.elapsed().as_secs_f64();
        let is_enough = best.runs >= if bed.quick { QUICK_RUNS } else { ENOUGH_RUNS }
            && (bed.quick || elapsed >= BELIEVABLE_SECONDS);
        let last = elapsed / f64::from(best.runs);
        if best.runs >= MAX_RUNS || elapsed + last > most || is_enough {
            return Ok(best);
        }
    }
}

/// Has an engine compute batches, as many in flight as it likes. Every pair has to come back.
pub(super) fn stream(engine: &mut dyn Engine<Pairs>, batches: &[Arc<Batch<Pairs>>]) -> Result<Sample> {
    let (mut score_sum, mut traced) = (0i64, 0);
    let run = stream_and(engine, batches, |report| {
        traced += report.traced.spans.iter().flatten().count() as u64;
        score_sum = report.hits.iter().fold(score_sum, |sum, hit| sum.wrapping_add(hit.score));
        report.hits.len() as u64
    })?;
    std::hint::black_box(score_sum);
    Ok(Sample { traced, ..run })
}

/// [`stream`] for any work. `read` reads a batch's results, as a job reads them, and says of how many pairs they are.
pub(super) fn stream_and<W: Work>(
    engine: &mut dyn Engine<W>,
    batches: &[Arc<Batch<W>>],
    mut read: impl FnMut(&W::Report) -> u64,
) -> Result<Sample> {
    let begin = Instant::now();
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
        // What was submitted is collected whatever happens: the engine is used again.
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
        None => Ok(Sample { seconds: begin.elapsed().as_secs_f64(), kernel_seconds: kernel, traced: 0 }),
    }
}

/// What is known of a kernel's speed, to tell beforehand how long a measurement will take.
#[derive(Debug, Default)]
pub(super) struct Rates {
    /// Length in symbols, pairs, cells per second, pairs in a batch.
    seen: Vec<(u32, u64, f64, u64)>,
}

impl Rates {
    /// Cells per second to be expected: of the measurements with neither longer sequences nor more pairs the best, as
    /// devices do not get slower with more to do.
    pub(super) fn expected(&self, length: u32, pairs: u64) -> Option<f64> {
        let below = self.seen.iter().filter(|seen| seen.0 <= length && seen.1 <= pairs);
        below.map(|seen| seen.2).max_by(f64::total_cmp)
    }

    /// Pairs that a batch may have: as many as take [`BATCH_SECONDS`], or as many as were well in an earlier batch of
    /// this length: where a device is not filled, smaller batches take no less time.
    pub(super) fn batch_pairs(&self, length: u32, pairs: u64, first_guess: u64) -> u64 {
        let cells = u64::from(length).pow(2) as f64;
        let by_rate = match self.expected(length, pairs) {
            Some(rate) => (rate * BATCH_SECONDS / cells) as u64,
            None => first_guess / cells as u64,
        };
        let tried = self.seen.iter().filter(|seen| seen.0 >= length).map(|seen| seen.3).max();
        by_rate.max(tried.unwrap_or(0)).clamp(1, pairs.max(1))
    }

    /// Adds a measurement.
    pub(super) fn add(&mut self, length: u32, pairs: u64, rate: f64, batch_pairs: u64) {
        self.seen.push((length, pairs, rate, batch_pairs));
    }

    /// Measures an engine at `pairs` pairs of `length` symbols; `None` if it would take longer than a row may. Where
    /// nothing is known of nearly as much work, less is tried first.
    pub(super) fn measure(
        &mut self,
        bed: &Bed<'_>,
        engine: &mut dyn Engine<Pairs>,
        scoring: &Arc<Scoring>,
        want: &Want,
        length: u32,
        pairs: u64,
    ) -> Result<Option<Timing>> {
        let most = bed.bench.seconds;
        if self.seen.is_empty() {
            // Pipelines are compiled before the clock runs.
            stream(engine, &RandomPairs::random(scoring, want.clone(), length, 1).batches(1))?;
        }
        let mut fewer = 8;
        while fewer * 8 <= pairs {
            bed.check_interrupt()?;
            if self.is_long(length, fewer, most) {
                return Ok(None);
            }
            if !self.seen.iter().any(|seen| seen.0 <= length && seen.1 >= fewer && seen.1 <= pairs) {
                let work = RandomPairs::random(scoring, want.clone(), length, fewer);
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
        let work = RandomPairs::random(scoring, want.clone(), length, pairs);
        let batches = work.batches(batch_pairs);
        let timing = repeat(bed, most, || stream(engine, &batches))?;
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
    fn rates_come_from_smaller_work_only() {
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
    fn batches_last_a_second_or_are_as_large_as_they_were() {
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
