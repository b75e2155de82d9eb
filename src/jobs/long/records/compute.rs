//! Computes the pairs of a block.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::{LongRecordHit, LongRecordPairs, TopPer};
use crate::engine::patience::PATIENCE;
use crate::engine::stats::RunStats;
use crate::error::{Error, Result};
use crate::files::fingerprint::Fingerprint;
use crate::host::default_limit;
use crate::jobs::block::Block;
use crate::jobs::long::checkpoint::{Checkpoint, checksum};
use crate::jobs::long::copies::CodeCopies;
use crate::jobs::long::run::SAVE_EVERY;
use crate::jobs::long::{LongAlignment, LongDetails, LongHit, Strand};
use crate::jobs::{Run, Summary};
use crate::long::LongEngine;
use crate::long::chain::engine_pool::EnginePool;
use crate::seq::{SequenceId, SequenceStore};

/// Maximum number of cells of a pair that one thread computes while other threads compute other
/// pairs: at most about a second.
const SMALL_CELLS: u64 = 1 << 32;

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
        engine_pool: &mut EnginePool,
        run: &Run,
    ) -> Result<(Vec<LongRecordHit>, Summary<LongDetails>)> {
        let begin = Instant::now();
        let strands = self.strands_of(block)?;
        let _lock = self.checkpoint()?;
        let mut longest_first: Vec<u64> = block.units.clone().collect();
        longest_first.sort_by_key(|&unit| Reverse(self.cells_of(unit)));
        let floors = ListThresholds::new(self);
        let tasks = PairTasks { job: self, strands, floors: &floors, run };
        let first_small = longest_first.partition_point(|&unit| self.cells_of(unit) > SMALL_CELLS);
        let (large, small) = longest_first.split_at(first_small);
        let engines = if small.len() > 1 { engine_pool.engines_of_threads() } else { Vec::new() };
        // Threads would be idle if there were fewer pairs.
        let are_apart = engines.len() > 1 && small.len() >= engines.len();
        let together = if are_apart { large } else { &longest_first };
        let (mut hits, mut summary) = tasks.one_by_one(together, engine_pool)?;
        if are_apart {
            let (hits_of_small, summary_of_small) = tasks.side_by_side(small, engines)?;
            hits.extend(hits_of_small);
            if large.is_empty() { summary = summary_of_small } else { summary.add(summary_of_small) }
        }
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
        let LongRecordPairs { settings, queries, targets, top_per } = self;
        let lengths = |store: &SequenceStore, ids: &[SequenceId]| {
            let bytes: Vec<u8> = ids.iter().flat_map(|&id| store.length(id).to_le_bytes()).collect();
            format!("{} records, lengths {:016x}", ids.len(), checksum(&bytes))
        };
        settings
            .fingerprint_of(queries, targets)
            .with("queries", lengths(&settings.query, queries))
            .with("targets", lengths(&settings.target, targets))
            .with("top_per", format!("{top_per:?}"))
    }

    /// Returns the job of a unit. With several pairs, each has its own directory in the checkpoint.
    fn pair_of_unit(&self, unit: u64) -> LongAlignment {
        let (query, target) = self.ids(unit);
        let mut pair = self.pair((query, target));
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

    /// Computes pairs one after the other, each on all engines.
    fn one_by_one(&self, units: &[u64], engine_pool: &mut EnginePool) -> Result<(PairHits, Summary<LongDetails>)> {
        let mut copies = CodeCopies::default();
        let (mut all, mut total) = (PairHits::new(), None);
        for &unit in units {
            let (hits, summary) = self.pair(unit, None, &mut copies, engine_pool)?;
            all.push((unit, hits));
            add(&mut total, summary);
        }
        Ok((all, total.unwrap_or_default()))
    }

    /// Computes pairs at the same time, each on one engine.
    fn side_by_side(
        &self,
        units: &[u64],
        engines: Vec<Box<dyn LongEngine>>,
    ) -> Result<(PairHits, Summary<LongDetails>)> {
        let begin = Instant::now();
        let memory = self.job.settings.host_memory.unwrap_or_else(default_limit) / engines.len().max(1) as u64;
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Ok((PairHits::new(), Vec::new()))));
        let work = |engine: Box<dyn LongEngine>| {
            let patience: Duration = self.run.patience.unwrap_or(PATIENCE);
            let (mut engine_pool, mut copies) = (EnginePool::new(vec![engine], None, patience), CodeCopies::default());
            let mut total = None;
            while let Some(&unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                let computed = self.pair(unit, Some(memory), &mut copies, &mut engine_pool);
                let mut done = lock(&done);
                let Ok((all, _)) = &mut *done else { return };
                match computed {
                    Ok((hits, summary)) => {
                        all.push((unit, hits));
                        add(&mut total, summary);
                    }
                    Err(error) => {
                        // The other threads end after their pairs.
                        *done = Err(error);
                        return;
                    }
                }
            }
            if let (Ok((_, totals)), Some(total)) = (&mut *lock(&done), total) {
                totals.push(total);
            }
        };
        std::thread::scope(|scope| {
            let mut engines = engines.into_iter();
            let on_this_thread = engines.next();
            for engine in engines {
                // If the system refuses a thread, the others compute its pairs.
                let _ = Builder::new().name("pairwave-pair".into()).spawn_scoped(scope, || work(engine));
            }
            on_this_thread.into_iter().for_each(work);
        });
        let (hits, totals) = done.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        if hits.len() < units.len() {
            return Err(Error::Internal("a thread ended before its pairs".into()));
        }
        let mut engines = Vec::new();
        let mut total: Option<Summary<LongDetails>> = None;
        for mut summary in totals {
            engines.append(&mut summary.engines);
            add(&mut total, summary);
        }
        let seconds = begin.elapsed().as_secs_f64();
        let engines = RunStats::from_engines(engines, seconds).engines;
        Ok((hits, Summary { engines, seconds, ..total.unwrap_or_default() }))
    }
}

/// Adds a summary to the total so far.
fn add(total: &mut Option<Summary<LongDetails>>, summary: Summary<LongDetails>) {
    match total {
        Some(total) => total.add(summary),
        // Two engines may have the same name, so the rows of one summary are not merged.
        None => *total = Some(summary),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
