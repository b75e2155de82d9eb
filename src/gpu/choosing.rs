//! Chooses the cheapest of several ways to compute a batch. The speeds of the ways are assumed at
//! first, and finished batches correct them.
//!
//! A way is a kernel with its sizes. A full device computes as many pairs as it can hold at once,
//! while the speed of a single pair is limited by the invocations that share it. The time of a
//! batch is therefore the sum of four parts:
//!
//! - all its cells at the full rate,
//! - the longest chain of dependent cells at the rate of one chain (Graham's bound for list
//!   scheduling),
//! - the overhead of each dispatch,
//! - the overhead of each step of a traceback.
//!
//! The duration of a batch corrects the full rate of its way, but reveals nothing about the other
//! ways. With [`Trials`], the chooser also tries a way that should be about as fast as the best
//! one, if the remaining work can repay the trial.

mod measure;
mod models;
mod store;

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

pub(crate) use self::measure::{MeasuredLoad, grow, measure};
pub(crate) use self::models::{at_once, once_a_model};
pub(crate) use self::store::Store;

/// Overhead in seconds of a dispatch that waits for the previous one (2.8 us on an H200; other
/// devices are slower).
const DISPATCH_SECONDS: f64 = 4e-6;
/// Seconds of one column of a traceback, which waits for memory every few columns (measured on an
/// H200).
const TRACEBACK_COLUMN_SECONDS: f64 = 0.9e-6;
/// Weight of the time during which the device or the host waits for the other. The weight is not 0,
/// because nothing overlaps with the last batch.
const IDLE_WEIGHT: f64 = 0.1;
/// Smallest fraction of a batch's time that its cells take at the full rate. A batch below this
/// fraction does not correct the rate.
const MIN_BULK_PART: f64 = 0.6;
/// Largest factor by which a later batch changes a rate. The first batch may change it by any
/// factor.
const CORRECTION: f64 = 2.0;
/// Largest number of trials of a way whose batches are too short to measure.
const MAX_TRIALS: u32 = 3;

/// Amount of work of a batch, if computed in one way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkEstimate {
    /// Number of cells of all pairs, including padding.
    pub cells: f64,
    /// Number of cells in the longest chain of dependent cells, which is the longest pair or its
    /// chain of tiles.
    pub chain: f64,
    /// Number of dispatches that wait for each other.
    pub dispatches: f64,
    /// Number of columns of the longest alignments that are traced back one after another.
    pub traceback_columns: f64,
    /// Seconds on the host, beyond those that every way needs there.
    pub host_seconds: f64,
    /// Seconds on threads of the host that overlap with the next batch on the device.
    pub meanwhile_seconds: f64,
}

/// Speed of a way in cells per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Rate of a batch with enough pairs to fill the device.
    pub full: f64,
    /// Rate of a single chain of dependent cells.
    pub lone: f64,
}

impl Speed {
    /// Returns the seconds until the results of a batch are available.
    pub fn seconds(&self, work: &WorkEstimate) -> f64 {
        work.cells / self.full
            + work.chain / self.lone
            + work.dispatches * DISPATCH_SECONDS
            + work.traceback_columns * TRACEBACK_COLUMN_SECONDS
            + work.host_seconds
    }

    /// Returns the seconds that a batch adds to a job of many batches: mainly the slower of the
    /// device and the threads of the host.
    pub fn price(&self, work: &WorkEstimate) -> f64 {
        let (seconds, meanwhile) = (self.seconds(work), work.meanwhile_seconds);
        seconds.max(meanwhile) + IDLE_WEIGHT * seconds.min(meanwhile)
    }

    /// Returns the factor for the full rate that explains the seconds measured in the kernel;
    /// `None` if most of the time was not spent at the full rate.
    fn correction(&self, work: &WorkEstimate, seconds: f64) -> Option<f64> {
        let (expected, bulk) = (self.seconds(work) - work.host_seconds, work.cells / self.full);
        (bulk > MIN_BULK_PART * expected && seconds > 0.0).then(|| expected / seconds)
    }

    /// Returns the speed with its full rate multiplied by a factor.
    fn corrected(self, by: f64) -> Self {
        Speed { full: self.full * by, ..self }
    }
}

/// Conditions under which a way with an assumed speed is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// Seconds of work in a trial.
    pub seconds: f64,
    /// Overhead of a trial in seconds: its shaders must be compiled, and the device is idle
    /// meanwhile.
    pub overhead_seconds: f64,
    /// Largest expected ratio of the real speed of a way to its assumed speed.
    pub max_speed_ratio: f64,
}

impl Trials {
    /// Returns whether a trial pays off, that is, whether it may save more time than it costs.
    ///
    /// `ratio` is the assumed time of the way divided by the time of the best way. `seconds` is the
    /// work of the trial in seconds, all of which counts as lost. `remaining_seconds` is the time
    /// that the best way needs for all remaining work.
    pub fn pays_off(&self, ratio: f64, seconds: f64, remaining_seconds: f64) -> bool {
        (1.0 - ratio / self.max_speed_ratio) * remaining_seconds > seconds + self.overhead_seconds
    }
}

/// A way to compute a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateKernel<W> {
    /// The way. Equal ways share their corrections.
    pub way: W,
    /// Amount of work of the batch in this way.
    pub work: WorkEstimate,
    /// Assumed speed.
    pub assumed: Speed,
}

/// Measurements of a way.
#[derive(Debug, Clone, Copy)]
struct LearnedRate {
    /// Factor for its assumed full rate, once a batch has measured it.
    correction: Option<f64>,
    trials: u32,
    /// Whether a trial is running on the device. If its batch is lost, the trial is not repeated.
    is_trying: bool,
}

/// A batch with the prices of its ways.
#[derive(Debug, Clone)]
struct Priced<W> {
    candidates: Vec<CandidateKernel<W>>,
    /// Amount of remaining work, in batches of this size.
    remaining_batches: f64,
}

/// Chooses ways, and learns their speeds.
#[derive(Debug, Clone)]
pub struct Chooser<W> {
    trials: Option<Trials>,
    /// Smallest time in the kernel, in seconds, from which a batch counts as a measurement.
    min_seconds: f64,
    learned: HashMap<W, LearnedRate>,
    /// Correction of the way that was measured last.
    last_correction: f64,
    /// The last batch.
    last: Option<Priced<W>>,
}

impl<W: Copy + Eq + Hash> Chooser<W> {
    /// Returns a chooser that learns from batches of at least `min_seconds` seconds in the
    /// kernel.
    ///
    /// With trials, only the ratios of the assumed speeds matter: ways without measurements get the
    /// correction of the way that was measured last. Without trials, their assumed speeds are used
    /// unchanged, so that the chooser moves on to the next way when a way turns out to be slow.
    pub fn new(min_seconds: f64, trials: Option<Trials>) -> Self {
        Chooser { trials, min_seconds, learned: HashMap::new(), last_correction: 1.0, last: None }
    }

    /// Returns the index of the way for a batch of `cells` cells, in a job with `remaining` cells
    /// after it. This is the cheapest way, or a way on trial. Among equal ways the first is chosen.
    /// Returns `None` if there are no candidates.
    pub fn pick(&mut self, candidates: &[CandidateKernel<W>], cells: u64, remaining: u64) -> Option<usize> {
        let best = self.cheapest(candidates)?;
        let remaining_batches = remaining as f64 / cells.max(1) as f64;
        let priced = Priced { candidates: candidates.to_vec(), remaining_batches };
        let trial = self.way_to_try(&priced, false);
        self.last = Some(priced);
        if let Some(index) = trial {
            let learned = self.entry(candidates[index].way);
            (learned.trials, learned.is_trying) = (learned.trials + 1, true);
        }
        trial.or(Some(best))
    }

    /// Returns the index of the cheapest way, the first of equal ones; `None` if there are no
    /// candidates.
    pub fn cheapest(&self, candidates: &[CandidateKernel<W>]) -> Option<usize> {
        let prices = self.prices(candidates);
        (0..prices.len()).min_by(|&one, &other| prices[one].total_cmp(&prices[other]))
    }

    /// Returns the duration of a trial batch in seconds ([`Trials::seconds`]), if a way would be
    /// tried on a batch like the last one.
    pub fn trial_seconds(&self) -> Option<f64> {
        self.last.as_ref().and_then(|last| self.way_to_try(last, true))?;
        self.trials.map(|trials| trials.seconds)
    }

    /// Updates the corrections with a batch that took `seconds` seconds in the kernel.
    pub fn learn(&mut self, candidate: &CandidateKernel<W>, seconds: f64) {
        let (before, unmeasured, is_long_enough) =
            (self.correction(candidate), self.unmeasured(), seconds > self.min_seconds);
        let speed = candidate.assumed.corrected(before.unwrap_or(unmeasured));
        let by = speed.correction(&candidate.work, seconds).filter(|_| is_long_enough);
        let learned = self.entry(candidate.way);
        learned.is_trying = false;
        let Some(by) = by else { return };
        let correction = match before {
            Some(before) => before * by.clamp(1.0 / CORRECTION, CORRECTION),
            None => unmeasured * by,
        };
        learned.correction = Some(correction);
        self.last_correction = correction;
    }

    /// Returns the speed of a way, corrected by its measurements.
    pub fn speed(&self, candidate: &CandidateKernel<W>) -> Speed {
        candidate.assumed.corrected(self.correction(candidate).unwrap_or_else(|| self.unmeasured()))
    }

    fn entry(&mut self, way: W) -> &mut LearnedRate {
        self.learned.entry(way).or_insert(LearnedRate { correction: None, trials: 0, is_trying: false })
    }

    fn correction(&self, candidate: &CandidateKernel<W>) -> Option<f64> {
        self.learned.get(&candidate.way)?.correction
    }

    /// Returns the correction of ways without measurements.
    fn unmeasured(&self) -> f64 {
        if self.trials.is_some() { self.last_correction } else { 1.0 }
    }

    fn prices(&self, candidates: &[CandidateKernel<W>]) -> Vec<f64> {
        let price = |candidate: &CandidateKernel<W>, by: f64| candidate.assumed.corrected(by).price(&candidate.work);
        let learned = candidates.iter().filter_map(|candidate| Some((candidate, self.correction(candidate)?)));
        let best = learned.min_by(|&(one, by), &(other, by_other)| price(one, by).total_cmp(&price(other, by_other)));
        let unmeasured = match (self.trials, best) {
            (Some(_), Some((_, correction))) => correction,
            _ => self.unmeasured(),
        };
        let known = |candidate: &CandidateKernel<W>| self.correction(candidate).unwrap_or(unmeasured);
        candidates.iter().map(|candidate| price(candidate, known(candidate))).collect()
    }

    /// Returns the index of the way to try: the cheapest candidate whose trial pays off, provided
    /// that the best way is measured. `small` states that the trial would use a batch of trial
    /// size, not this batch.
    fn way_to_try(&self, priced: &Priced<W>, small: bool) -> Option<usize> {
        let (trials, candidates) = (self.trials?, &priced.candidates);
        let prices = self.prices(candidates);
        let best = self.cheapest(candidates).filter(|&best| self.correction(&candidates[best]).is_some())?;
        let remaining_seconds = prices[best] * priced.remaining_batches;
        let is_due = |&index: &usize| {
            let learned = self.learned.get(&candidates[index].way);
            let is_open = learned.is_none_or(|learned| {
                learned.correction.is_none() && !learned.is_trying && learned.trials < MAX_TRIALS
            });
            let seconds = if small { trials.seconds } else { prices[index].max(trials.seconds) };
            is_open && trials.pays_off(prices[index] / prices[best], seconds, remaining_seconds)
        };
        (0..candidates.len()).filter(is_due).min_by(|&one, &other| prices[one].total_cmp(&prices[other]))
    }
}

#[cfg(test)]
mod tests;
