//! Which of several ways computes a batch: the one of least price, by what is assumed of it until batches have told.
//!
//! A way is a kernel with its sizes. A device is full when it computes as many pairs as it can hold at once; a pair alone
//! cannot go faster than the invocations that share it. So the time of a batch is that of all its cells at the full rate,
//! and of the longest chain of cells that depend on each other at the rate of one chain (Graham's bound for list
//! scheduling), and of what each dispatch and each step of a walk back takes beside.
//!
//! What batches take corrects the full rate of the way that they took. Of the other ways nothing is learnt by that: with
//! [`Trials`], one that should be about as fast as the best is tried, if that pays for the work that remains.

mod measure;
mod models;
mod store;

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

pub(crate) use self::measure::{MeasuredLoad, grow, measure};
pub(crate) use self::models::{at_once, once_a_model};
pub(crate) use self::store::Store;

/// Seconds of a dispatch that waits for the one before it (2.8 us on an H200; other devices are slower).
const DISPATCH_SECONDS: f64 = 4e-6;
/// Seconds of one column of a walk back, which waits for memory at every few of them (measured on an H200).
const WALK_COLUMN_SECONDS: f64 = 0.9e-6;
/// What it counts if the device or the host waits for the other: a batch more than the last has nothing to overlap with.
const IDLE_WEIGHT: f64 = 0.1;
/// The part of a batch's time that its cells have to take at the full rate for the batch to tell of that rate.
const TELLING_PART: f64 = 0.6;
/// By how much a batch after the first that told corrects a rate at most.
const CORRECTION: f64 = 2.0;
/// Trials of a way, if batches come out too small to tell.
const MAX_TRIALS: u32 = 3;

/// What a batch is for one way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkEstimate {
    /// Cells of all pairs, padding included.
    pub cells: f64,
    /// Cells that come one after the other at least: of the longest pair, or of its chain of tiles.
    pub chain: f64,
    /// Dispatches that wait for each other.
    pub dispatches: f64,
    /// Columns of the longest alignments that are walked back one after the other.
    pub walked_columns: f64,
    /// Seconds on the host beside what every way takes there.
    pub host_seconds: f64,
    /// Seconds on threads of the host while the device computes the next batch.
    pub meanwhile_seconds: f64,
}

/// How fast a way is, in cells a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// With enough pairs.
    pub full: f64,
    /// One chain.
    pub lone: f64,
}

impl Speed {
    /// Seconds until the results of a batch are there.
    pub fn seconds(&self, work: &WorkEstimate) -> f64 {
        work.cells / self.full
            + work.chain / self.lone
            + work.dispatches * DISPATCH_SECONDS
            + work.walked_columns * WALK_COLUMN_SECONDS
            + work.host_seconds
    }

    /// Seconds that a batch adds to a job of many: of the device and the threads of the host those of the slower.
    pub fn price(&self, work: &WorkEstimate) -> f64 {
        let (seconds, meanwhile) = (self.seconds(work), work.meanwhile_seconds);
        seconds.max(meanwhile) + IDLE_WEIGHT * seconds.min(meanwhile)
    }

    /// By what the full rate should be multiplied so that a batch takes the seconds in the kernel that it took; `None`
    /// where something else decided.
    fn correction(&self, work: &WorkEstimate, seconds: f64) -> Option<f64> {
        let (expected, bulk) = (self.seconds(work) - work.host_seconds, work.cells / self.full);
        (bulk > TELLING_PART * expected && seconds > 0.0).then(|| expected / seconds)
    }

    /// The same with another full rate.
    fn corrected(self, by: f64) -> Self {
        Speed { full: self.full * by, ..self }
    }
}

/// When it pays to try what is only assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// Seconds of work in a trial.
    pub seconds: f64,
    /// Seconds that a trial takes beside: shaders are compiled, and the device runs dry.
    pub beside_seconds: f64,
    /// By what factor a way may be faster than is assumed.
    pub doubt: f64,
}

impl Trials {
    /// Whether a trial pays of a way that should take `ratio` times as long as the best, with `seconds` of work in it, if
    /// all work that remains takes the best way so many seconds: what it may save then is more than the trial costs,
    /// which counts as lost as a whole.
    pub fn pay(&self, ratio: f64, seconds: f64, remaining_seconds: f64) -> bool {
        (1.0 - ratio / self.doubt) * remaining_seconds > seconds + self.beside_seconds
    }
}

/// A way to compute a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateKernel<W> {
    /// The way: rates of equal ones are the same.
    pub way: W,
    /// What the batch is for it.
    pub work: WorkEstimate,
    /// How fast it is assumed to be.
    pub assumed: Speed,
}

/// What batches have told of a way.
#[derive(Debug, Clone, Copy)]
struct LearnedRate {
    /// By what its assumed full rate is to be multiplied, once a batch has told.
    correction: Option<f64>,
    trials: u32,
    /// A trial is on the device. (One that never ends, as its batch was lost, is not made again.)
    is_trying: bool,
}

/// A batch that ways were priced for.
#[derive(Debug, Clone)]
struct Priced<W> {
    candidates: Vec<CandidateKernel<W>>,
    /// All that remains, in batches like this one.
    remaining_batches: f64,
}

/// Chooses ways, and learns what they take.
#[derive(Debug, Clone)]
pub struct Chooser<W> {
    trials: Option<Trials>,
    /// Seconds that a batch has to take in the kernel for its rate to tell anything.
    telling_seconds: f64,
    told: HashMap<W, LearnedRate>,
    /// The correction of the way of which a batch told last.
    last_correction: f64,
    /// The last batch.
    last: Option<Priced<W>>,
}

impl<W: Copy + Eq + Hash> Chooser<W> {
    /// Learns from batches that take so many seconds or more in the kernel. With trials, assumptions have to say only how
    /// ways compare: those of which nothing was told are thought to differ from what is assumed as the best one does that
    /// was. Without, they are believed as they are, so that a way that falls short makes room for the next.
    pub fn new(telling_seconds: f64, trials: Option<Trials>) -> Self {
        Chooser { trials, telling_seconds, told: HashMap::new(), last_correction: 1.0, last: None }
    }

    /// The place of the way to take for a batch of so many cells, of a job of which `remaining` are to follow: the
    /// cheapest, or one that is tried. Of equal ones the first; `None` if there are none.
    pub fn pick(&mut self, candidates: &[CandidateKernel<W>], cells: u64, remaining: u64) -> Option<usize> {
        let best = self.cheapest(candidates)?;
        let remaining_batches = remaining as f64 / cells.max(1) as f64;
        let priced = Priced { candidates: candidates.to_vec(), remaining_batches };
        let trial = self.due(&priced, false);
        self.last = Some(priced);
        if let Some(place) = trial {
            let told = self.entry(candidates[place].way);
            (told.trials, told.is_trying) = (told.trials + 1, true);
        }
        trial.or(Some(best))
    }

    /// The place of the cheapest way. Of equal ones the first; `None` if there are none.
    pub fn cheapest(&self, candidates: &[CandidateKernel<W>]) -> Option<usize> {
        let prices = self.prices(candidates);
        (0..prices.len()).min_by(|&one, &other| prices[one].total_cmp(&prices[other]))
    }

    /// Whether the next batch should be small ([`Trials::seconds`]), since a way is tried if it is like the last.
    pub fn trial_seconds(&self) -> Option<f64> {
        self.last.as_ref().and_then(|last| self.due(last, true))?;
        self.trials.map(|trials| trials.seconds)
    }

    /// A batch took so many seconds in the kernel.
    pub fn learn(&mut self, candidate: &CandidateKernel<W>, seconds: f64) {
        let (before, untold, is_telling) = (self.correction(candidate), self.untold(), seconds > self.telling_seconds);
        let speed = candidate.assumed.corrected(before.unwrap_or(untold));
        let by = speed.correction(&candidate.work, seconds).filter(|_| is_telling);
        let told = self.entry(candidate.way);
        told.is_trying = false;
        let Some(by) = by else { return };
        let correction = match before {
            Some(before) => before * by.clamp(1.0 / CORRECTION, CORRECTION),
            None => untold * by,
        };
        told.correction = Some(correction);
        self.last_correction = correction;
    }

    /// How fast a way is, as far as it is known.
    pub fn speed(&self, candidate: &CandidateKernel<W>) -> Speed {
        candidate.assumed.corrected(self.correction(candidate).unwrap_or_else(|| self.untold()))
    }

    fn entry(&mut self, way: W) -> &mut LearnedRate {
        self.told.entry(way).or_insert(LearnedRate { correction: None, trials: 0, is_trying: false })
    }

    fn correction(&self, candidate: &CandidateKernel<W>) -> Option<f64> {
        self.told.get(&candidate.way)?.correction
    }

    /// The correction of what no batch told of, beside nothing else.
    fn untold(&self) -> f64 {
        if self.trials.is_some() { self.last_correction } else { 1.0 }
    }

    fn prices(&self, candidates: &[CandidateKernel<W>]) -> Vec<f64> {
        let price = |candidate: &CandidateKernel<W>, by: f64| candidate.assumed.corrected(by).price(&candidate.work);
        let told = candidates.iter().filter_map(|candidate| Some((candidate, self.correction(candidate)?)));
        let best = told.min_by(|&(one, by), &(other, by_other)| price(one, by).total_cmp(&price(other, by_other)));
        let untold = match (self.trials, best) {
            (Some(_), Some((_, correction))) => correction,
            _ => self.untold(),
        };
        let known = |candidate: &CandidateKernel<W>| self.correction(candidate).unwrap_or(untold);
        candidates.iter().map(|candidate| price(candidate, known(candidate))).collect()
    }

    /// The way to try, if the cheapest is known and it pays to try another: the one of least price. `small`: with a batch
    /// of the size of a trial, not with this one.
    fn due(&self, priced: &Priced<W>, small: bool) -> Option<usize> {
        let (trials, candidates) = (self.trials?, &priced.candidates);
        let prices = self.prices(candidates);
        let best = self.cheapest(candidates).filter(|&best| self.correction(&candidates[best]).is_some())?;
        let remaining_seconds = prices[best] * priced.remaining_batches;
        let is_due = |&place: &usize| {
            let told = self.told.get(&candidates[place].way);
            let is_open =
                told.is_none_or(|told| told.correction.is_none() && !told.is_trying && told.trials < MAX_TRIALS);
            let seconds = if small { trials.seconds } else { prices[place].max(trials.seconds) };
            is_open && trials.pay(prices[place] / prices[best], seconds, remaining_seconds)
        };
        (0..candidates.len()).filter(is_due).min_by(|&one, &other| prices[one].total_cmp(&prices[other]))
    }
}

#[cfg(test)]
mod tests;
