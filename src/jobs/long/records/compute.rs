//! Computes the pairs of a block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::queue::{PairQueue, PairSpeeds, PairsOfThreads, SMALL_CELLS, WaitingPair};
use super::{LongRecordHit, LongRecordPairs, TopPer};
use crate::engine::guard::lock;
use crate::engine::patience::PATIENCE;
use crate::engine::stats::RunStats;
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::host::default_limit;
use crate::jobs::block::Block;
use crate::jobs::long::checkpoint::{Checkpoint, checksum};
use crate::jobs::long::copies::CodeCopies;
use crate::jobs::long::run::SAVE_EVERY;
use crate::jobs::long::{LongAlignment, LongDetails, LongHit, LongSession, Strand};
use crate::jobs::{Run, Summary};
use crate::long::LongEngine;
use crate::long::chain::engine_pool::EnginePool;
use crate::seq::{SequenceId, SequenceStore};

/// Alignments of each computed pair, with the numbers of the pairs.
type PairHits = Vec<(u64, Vec<LongHit>)>;

/// A computation of some pairs.
struct PairTasks<'a> {
    job: &'a LongRecordPairs,
    strands: &'static [Strand],
    floors: &'a ListThresholds,
    run: &'a Run,
}

/// The manifest of a checkpoint of several pairs has no sizes. Each pair has its own manifest.
#[derive(serde::Serialize, serde::Deserialize)]
struct NoSizes {}

impl LongRecordPairs {
    /// Computes the alignments of a block, in the order of the rows.
    ///
    /// # Errors
    /// The errors of [`Job::feed`](crate::jobs::Job::feed).
    pub(super) fn compute(
        &self,
        block: &Block,
        session: &mut LongSession,
        run: &Run,
    ) -> Result<(Vec<LongRecordHit>, Summary<LongDetails>)> {
        let begin = Instant::now();
        let strands = self.strands_of(block)?;
        let _lock = self.checkpoint()?;
        let floors = ListThresholds::new(self);
        let tasks = PairTasks { job: self, strands, floors: &floors, run };
        let (mut hits, mut summary) = tasks.all(&block.units.clone().collect::<Vec<u64>>(), session)?;
        hits.sort_by_key(|(unit, _)| *unit);
        let row = |(unit, hits): (u64, Vec<LongHit>)| {
            let (query, target) = self.ids(unit);
            hits.into_iter().map(move |hit| LongRecordHit { query, target, hit })
        };
        let mut rows: Vec<LongRecordHit> = hits.into_iter().flat_map(row).collect();
        self.select(&mut rows);
        summary.written = rows.len() as u64;
        summary.seconds = begin.elapsed().as_secs_f64();
        Ok((rows, summary))
    }

    /// Opens the checkpoint of several pairs, which excludes other jobs and other runs. A single
    /// pair has no other checkpoint than its own.
    fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        let Some(directory) = self.settings.checkpoint.as_ref().filter(|_| self.pairs() > 1) else { return Ok(None) };
        let every = self.settings.tuning.save_every.unwrap_or(SAVE_EVERY);
        let (checkpoint, NoSizes {}) = Checkpoint::open(directory, every, self.fingerprint(), NoSizes {})?;
        Ok(Some(checkpoint))
    }

    /// Returns the fingerprint of the whole job.
    fn fingerprint(&self) -> Fingerprint {
        let LongRecordPairs { settings, queries, targets, top_per, max_evalue } = self;
        let lengths = |store: &SequenceStore, ids: &[SequenceId]| {
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| store.length(id).to_le_bytes()).collect();
            format!("{} records, lengths {:016x}", ids.len(), checksum(&bytes))
        };
        let job = settings
            .fingerprint_of(queries, targets)
            .with("queries", lengths(&settings.query, queries))
            .with("targets", lengths(&settings.target, targets))
            .with("top_per", format!("{top_per:?}"));
        max_evalue.iter().fold(job, |job, most| job.with("max_evalue", format!("{most:?}")))
    }

    /// Returns the job of a unit. With several pairs, each has its own directory in the checkpoint.
    fn pair_of_unit(&self, unit: u64) -> LongAlignment {
        let (query, target) = self.ids(unit);
        let mut pair = self.pair(query, target);
        if self.pairs() > 1 {
            pair.checkpoint = pair.checkpoint.map(|directory| directory.join(format!("pair-{query}-{target}")));
        }
        pair
    }
}

impl PairTasks<'_> {
    /// Computes a pair.
    fn pair(
        &self,
        unit: u64,
        host_memory: Option<u64>,
        copies: &mut CodeCopies,
        engine_pool: &mut EnginePool,
    ) -> Result<(Vec<LongHit>, Summary<LongDetails>)> {
        let mut pair = self.job.pair_of_unit(unit);
        pair.host_memory = host_memory.or(pair.host_memory);
        let list = self.job.list(unit);
        let done = pair.execute(self.strands, self.floors.of_list(list), copies, engine_pool, self.run)?;
        self.floors.add(list, &done.0);
        Ok(done)
    }

    /// Computes pairs. If there are few of them, all devices compute one pair together, and then the
    /// next. Otherwise each device computes several pairs at the same time. Meanwhile, threads of
    /// the CPU compute small pairs.
    fn all(&self, units: &[u64], LongSession { engine_pool, host }: &mut LongSession) -> Result<Results> {
        if engine_pool.is_host_alone() {
            return self.on_threads(units, engine_pool);
        }
        let queue =
            |units: &[u64], speeds| PairQueue::new(self.job, units, self.strands.len() as u64, SMALL_CELLS, speeds);
        let (small, large): (Vec<u64>, Vec<u64>) =
            units.iter().partition(|&&unit| self.job.cells_of(unit) <= SMALL_CELLS);
        let threads = match host {
            Some(host) if small.len() >= 2 => host.engines_for_pairs(),
            _ => Vec::new(),
        };
        let (mut all, mut waiting) = (Results::default(), units);
        if engine_pool.has_host() && !are_many(units, engine_pool) {
            // The CPU and the devices compute large pairs together.
            if threads.is_empty() {
                return self.one_by_one(&queue(units, None), engine_pool);
            }
            all = self.one_by_one(&queue(&large, None), engine_pool)?;
            waiting = &small;
        }
        let hosts = engine_pool.set_aside_hosts();
        let thread = threads.first().map_or(1.0, |engine| engine.speed());
        let devices =
            engine_pool.by_speed().into_iter().filter_map(|member| member.query(|engine| engine.speed())).sum();
        let queue = queue(waiting, Some(PairSpeeds { devices, thread }));
        let apart = if are_many(waiting, engine_pool) { engine_pool.engines_for_pairs() } else { Vec::new() };
        let work = if apart.is_empty() { DeviceWork::Together(engine_pool) } else { DeviceWork::Apart(apart) };
        let mut computed = self.side_by_side(&queue, threads, work);
        if let (Ok(computed), false) = (&mut computed, queue.is_empty()) {
            // Devices have failed.
            add_all(computed, self.one_by_one(&queue, engine_pool)?);
        }
        engine_pool.put_back(hosts);
        add_all(&mut all, computed?);
        Ok(all)
    }

    /// Computes pairs on the threads of the CPU: all threads compute each large pair together, and
    /// then each thread computes separate pairs.
    fn on_threads(&self, units: &[u64], engine_pool: &mut EnginePool) -> Result<Results> {
        let threads = if units.len() < 2 { Vec::new() } else { engine_pool.engines_for_pairs() };
        let PairsOfThreads { together, alone } = PairsOfThreads::new(self.job, units, threads.len());
        let queue = |units: &[u64]| PairQueue::new(self.job, units, self.strands.len() as u64, u64::MAX, None);
        let mut all = self.one_by_one(&queue(&together), engine_pool)?;
        if alone.is_empty() {
            return Ok(all);
        }
        let queue = queue(&alone);
        add_all(&mut all, self.side_by_side(&queue, threads, DeviceWork::None)?);
        if queue.is_empty() { Ok(all) } else { Err(Error::Internal("a thread left pairs".into())) }
    }

    /// Computes pairs one after the other, each on all engines.
    fn one_by_one(&self, queue: &PairQueue, engine_pool: &mut EnginePool) -> Result<Results> {
        let mut copies = CodeCopies::default();
        let (mut all, mut total) = (PairHits::new(), None);
        while let Some(WaitingPair { unit, .. }) = queue.take_longest() {
            let (hits, summary) = self.pair(unit, None, &mut copies, engine_pool)?;
            all.push((unit, hits));
            add(&mut total, summary);
        }
        Ok((all, total.unwrap_or_default()))
    }

    /// Computes pairs at the same time: small ones on these engines of threads, and any pairs on
    /// devices. Pairs remain in the queue if their devices fail.
    fn side_by_side(
        &self,
        queue: &PairQueue,
        threads: Vec<Box<dyn LongEngine>>,
        devices: DeviceWork<'_>,
    ) -> Result<Results> {
        let begin = Instant::now();
        let memory = self.job.settings.host_memory.unwrap_or_else(default_limit);
        let (together, apart) = match devices {
            DeviceWork::None => (None, Vec::new()),
            DeviceWork::Together(engine_pool) => (Some(engine_pool), Vec::new()),
            DeviceWork::Apart(engines) => (None, engines),
        };
        let has_devices = together.is_some() || !apart.is_empty();
        let of_devices = match (threads.is_empty(), has_devices) {
            (true, _) => memory,
            (false, true) => memory / 2,
            (false, false) => 0,
        };
        let of_thread = (memory - of_devices) / threads.len().max(1) as u64;
        let of_part = of_devices / apart.len().max(1) as u64;
        let done = Mutex::new(Ok(Computed::default()));
        let patience: Duration = self.run.patience.unwrap_or(PATIENCE);
        let alone = |engine, take: fn(&PairQueue) -> Option<WaitingPair>, memory| {
            let mut own_pool = EnginePool::new(vec![engine], None, patience);
            let total = self.work(queue, (take, memory), &mut own_pool, &done);
            lock(&done).iter_mut().for_each(|all| all.apart.extend(total.clone()));
        };
        let on_thread = |engine| alone(engine, PairQueue::take_small, of_thread);
        let on_device = |engine| alone(engine, PairQueue::take_longest, of_part);
        std::thread::scope(|scope| {
            let mut threads = threads.into_iter();
            let on_this_thread = if has_devices { None } else { threads.next() };
            // If the system refuses a thread, the others compute its pairs.
            let start = || Builder::new().name("pairwave-pair".into());
            for engine in apart {
                let _ = start().spawn_scoped(scope, || on_device(engine));
            }
            for engine in threads {
                let _ = start().spawn_scoped(scope, || on_thread(engine));
            }
            on_this_thread.into_iter().for_each(on_thread);
            if let Some(engine_pool) = together {
                let total = self.work(queue, (PairQueue::take_longest, of_devices), engine_pool, &done);
                lock(&done).iter_mut().for_each(|all| all.together = total.clone());
            }
        });
        let Computed { hits, apart, together } = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        let mut engines = Vec::new();
        let mut total: Option<Summary<LongDetails>> = None;
        for mut summary in apart {
            engines.append(&mut summary.engines);
            add(&mut total, summary);
        }
        let seconds = begin.elapsed().as_secs_f64();
        let mut engines = RunStats::from_engines(engines, seconds).engines;
        if let Some(mut summary) = together {
            // Two devices may have the same name.
            engines.splice(0..0, std::mem::take(&mut summary.engines));
            add(&mut total, summary);
        }
        Ok((hits, Summary { engines, seconds, ..total.unwrap_or_default() }))
    }

    /// Computes pairs as long as `take` returns one and no pair has failed. Returns the summary of
    /// the computed pairs. A pair whose only engine failed returns to the queue.
    fn work(
        &self,
        queue: &PairQueue,
        (take, memory): (impl Fn(&PairQueue) -> Option<WaitingPair>, u64),
        engine_pool: &mut EnginePool,
        done: &Mutex<Result<Computed>>,
    ) -> Option<Summary<LongDetails>> {
        let (mut copies, mut total) = (CodeCopies::default(), None);
        while let Some(pair) = take(queue) {
            let computed = self.pair(pair.unit, Some(memory), &mut copies, engine_pool);
            let mut done = lock(done);
            // After an error, all threads end after their pairs.
            let Ok(all) = &mut *done else { break };
            match computed {
                Ok((hits, summary)) => {
                    all.hits.push((pair.unit, hits));
                    add(&mut total, summary);
                }
                Err(Error::Device { .. } | Error::Unsuited { .. }) => {
                    queue.give_back(pair);
                    break;
                }
                Err(error) => *done = Err(error),
            }
        }
        total
    }
}

/// Minimum number of pairs per device for separate pairs on each device.
const PAIRS_PER_DEVICE: usize = 4;

/// Returns whether each device computes separate pairs.
fn are_many(units: &[u64], engine_pool: &EnginePool) -> bool {
    units.len() >= PAIRS_PER_DEVICE * engine_pool.members.len()
}

/// Alignments and a summary of pairs.
type Results = (PairHits, Summary<LongDetails>);

/// The devices that compute while threads compute small pairs.
enum DeviceWork<'a> {
    None,
    /// All devices compute each pair together.
    Together(&'a mut EnginePool),
    /// Each engine computes separate pairs.
    Apart(Vec<Box<dyn LongEngine>>),
}

/// Results of threads and devices that compute at the same time.
#[derive(Default)]
struct Computed {
    hits: PairHits,
    /// Summaries of threads and of engines with separate pairs.
    apart: Vec<Summary<LongDetails>>,
    together: Option<Summary<LongDetails>>,
}

/// Adds the results of later pairs.
fn add_all(all: &mut Results, (hits, summary): Results) {
    if all.0.is_empty() {
        all.1 = summary
    } else {
        all.1.add(summary)
    }
    all.0.extend(hits);
}

/// Adds a summary to the total so far.
fn add(total: &mut Option<Summary<LongDetails>>, summary: Summary<LongDetails>) {
    match total {
        Some(total) => total.add(summary),
        // Two engines may have the same name, so the rows of one summary are not merged.
        None => *total = Some(summary),
    }
}

/// Scores that an alignment must reach to be among the best of its list. They rise with every
/// computed pair, so that later pairs are pruned earlier. Alignments with a lower score cannot be
/// selected, so the selection does not depend on the order of the pairs.
struct ListThresholds {
    min_score: i64,
    top: usize,
    /// The best scores of each list, at most `top`; empty if each pair has its own list.
    best: Mutex<Vec<BinaryHeap<Reverse<i64>>>>,
}

impl ListThresholds {
    fn new(job: &LongRecordPairs) -> Self {
        let lists = match job.top_per {
            TopPer::Pair => 0,
            TopPer::Query => job.queries.len(),
            TopPer::All => 1,
        };
        let best = Mutex::new(vec![BinaryHeap::new(); lists]);
        ListThresholds { min_score: job.settings.min_score, top: job.settings.top as usize, best }
    }

    /// Returns the score that the next pair of a list must reach.
    fn of_list(&self, list: usize) -> i64 {
        let best = lock(&self.best);
        let full_list = best.get(list).filter(|scores| scores.len() >= self.top);
        full_list.and_then(BinaryHeap::peek).map_or(self.min_score, |least| least.0.max(self.min_score))
    }

    /// Adds the alignments of a pair to its list.
    fn add(&self, list: usize, hits: &[LongHit]) {
        let mut best = lock(&self.best);
        let Some(scores) = best.get_mut(list) else { return };
        for hit in hits {
            scores.push(Reverse(hit.score));
            if scores.len() > self.top {
                scores.pop();
            }
        }
    }
}

impl LongRecordPairs {
    /// Returns the number of the list that a unit belongs to.
    fn list(&self, unit: u64) -> usize {
        match self.top_per {
            TopPer::Pair | TopPer::All => 0,
            TopPer::Query => (unit / self.targets.len() as u64) as usize,
        }
    }
}
