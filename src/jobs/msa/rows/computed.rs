//! Computes counts: ClustalW's identities by lists of pairs, and other counts from the rows of
//! other jobs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::super::{ClustalEngines, PairDistances, clustal};
use super::PairCounts;
use crate::clustal::{Clustal, ClustalPlan};
use crate::engine::check::finished;
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, BatchOutcome};
use crate::engine::queue::QueuedChunk;
use crate::engine::thread_engine::thread_engines;
use crate::error::{Error, Result};
use crate::jobs::blocks::{self, Block, BlockSink};
use crate::jobs::deliver::Delivery;
use crate::jobs::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use crate::jobs::source::{BlockChunks, ChunkCutter, OpenBlocks};
use crate::jobs::{Feed, PairResult, Run, Summary, engines};
use crate::seq::SequenceId;

/// Cuts a plan. Units are its lists of pairs. A list has one query.
pub(super) fn cut(plan: &ClustalPlan, cells: u64) -> Result<Vec<Block>> {
    let size = |unit: u64| {
        let list = &plan.blocks[unit as usize];
        (list.targets.len() as u64, u128::from(list.cells))
    };
    let whole = |unit: u64, _: u64| {
        let list = &plan.blocks[unit as usize];
        vec![Block { units: unit..unit + 1, targets: None, pairs: list.targets.len() as u64, cells: list.cells }]
    };
    Ok(blocks::cut::cut(plan.blocks.len() as u64, cells, size, whole))
}

/// Returns the number of identities of an alignment.
pub(super) fn identities_of(row: &PairResult) -> u32 {
    // The number is at most the length of a sequence.
    row.counts.matches as u32
}

/// ClustalW's pairs, and the state between blocks.
pub(super) struct ClustalLists {
    plan: Arc<ClustalPlan>,
    /// Number of pairs before each list.
    pairs_before: Vec<u64>,
    threads: Threads,
    engines: SessionEngines<Clustal>,
}

impl ClustalLists {
    pub(super) fn new(job: &PairDistances, engines: Option<ClustalEngines>, run: &Run) -> Result<Self> {
        let plan = clustal::plan(job)?;
        let mut pairs_before = vec![0];
        let mut pairs = 0;
        pairs_before.extend(plan.blocks.iter().map(|list| {
            pairs += list.targets.len() as u64;
            pairs
        }));
        let (threads, plan) = (Threads::shared(run)?, Arc::new(plan));
        // The engines of a whole job also continue from block to block.
        let engines = SessionEngines::new(SessionStart::for_blocks(engines), || open_engines(&plan, run, &threads))?;
        Ok(ClustalLists { pairs_before, engines, threads, plan })
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.plan.blocks.len()
    }

    /// Computes blocks. Each block is one chunk.
    pub(super) fn run(&mut self, job: &PairDistances, feed: Feed<'_, PairCounts>) -> Result<Summary> {
        let Feed { source: blocks, run, sink } = feed;
        let started = Instant::now();
        let ClustalLists { plan, pairs_before, threads, engines } = self;
        let execution = Execution { run, threads };
        let engine_set = engines.get_or_open(|| open_engines(plan, run, threads))?;
        let open_blocks = OpenBlocks::default();
        let cutter = ListChunks { plan: Arc::clone(plan), next: None, open_blocks: open_blocks.clone() };
        let known = cells_now(blocks.as_ref());
        let mut ordered: Ordered<Vec<u32>> = Ordered::new();
        let mut due = Delivery::new(open_blocks.clone(), sink);
        let reserve = || thread_engines(threads.count(), &run.interrupt);
        let control = execution.control_for_source(blocks.as_ref(), ordered.window());
        let chunks = BlockChunks::new(blocks, cutter);
        let ran = owner::run_set(engine_set, reserve, chunks, known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            add_counts(plan, pairs_before, &mut ordered, &outcome)?;
            while let Some((units, counts)) = ordered.complete() {
                if job.check {
                    let pairs = units.clone().flat_map(|unit| plan.chunk.pairs(&plan.blocks[unit as usize]));
                    let identities: Vec<_> = pairs.zip(counts.iter().copied()).collect();
                    clustal::check(&plan.chunk, &identities, threads.count())?;
                }
                let mut rest = &counts[..];
                let rows: Vec<PairCounts> = units
                    .clone()
                    .map(|unit| {
                        let (list_counts, others) = rest.split_at(plan.blocks[unit as usize].targets.len());
                        rest = others;
                        PairCounts { unit, first: 0, counts: list_counts.to_vec() }
                    })
                    .collect();
                due.rows_from(units.start.into(), &rows)?;
                due.end_block_at(units.end.into())?;
            }
            Ok(())
        })?;
        ordered.end()?;
        let written = due.written();
        due.finish()?;
        let (pairs, cells) = open_blocks.totals();
        let seconds = started.elapsed().as_secs_f64();
        Ok(Summary { pairs, cells, aligned: pairs, written, seconds, ..Summary::default() }.with_engines(ran))
    }
}

fn open_engines(plan: &ClustalPlan, run: &Run, threads: &Threads) -> Result<ClustalEngines> {
    engines::open_clustal(run, threads.count(), plan.blocks.iter().map(|list| list.cells).sum())
}

/// Turns each block into one chunk.
struct ListChunks {
    plan: Arc<ClustalPlan>,
    next: Option<QueuedChunk<Clustal>>,
    open_blocks: OpenBlocks<Range<u64>>,
}

impl ChunkCutter<Clustal> for ListChunks {
    fn begin(&mut self, block: Block) {
        let lists = &self.plan.blocks[block.units.start as usize..block.units.end as usize];
        let (pairs, cells) =
            lists.iter().fold((0, 0), |(pairs, cells), list| (pairs + list.targets.len() as u64, cells + list.cells));
        self.open_blocks.add(block.units.clone(), pairs, cells);
        let blocks = lists.iter().map(|list| ((), list.clone())).collect();
        self.next = Some((block.units.start as u32..block.units.end as u32, Arc::clone(&self.plan.chunk), blocks));
    }

    fn next(&mut self) -> Option<QueuedChunk<Clustal>> {
        self.next.take()
    }
}

/// Adds the counts of an outcome to its chunk.
fn add_counts(
    plan: &ClustalPlan,
    pairs_before: &[u64],
    ordered: &mut Ordered<Vec<u32>>,
    outcome: &BatchOutcome<Clustal>,
) -> Result<()> {
    let (batch, info) = (&outcome.batch, &outcome.chunk);
    let done = finished(batch.blocks.len(), &outcome.report.unfinished).map_err(Error::Internal)?;
    ordered.add(info, outcome.pairs, Vec::new, |counts| {
        let mut bytes = 0;
        if counts.is_empty() {
            counts.resize(info.pairs as usize, 0);
            bytes = size_of_val(&counts[..]) as u64;
        }
        let mut rest = &outcome.report.identities[..];
        for (piece, is_finished) in batch.blocks.iter().zip(done) {
            let (identities, others) = rest.split_at(piece.targets.len());
            rest = others;
            if is_finished {
                // Lists are ordered by their queries, and lists of one query by their targets.
                let after = |list: &crate::clustal::ClustalBlock| {
                    (list.query, list.targets.start) <= (piece.query, piece.targets.start)
                };
                let list = plan.blocks.partition_point(after) - 1;
                let within = u64::from(piece.targets.start - plan.blocks[list].targets.start);
                let index = (pairs_before[list] - pairs_before[info.queries.start as usize] + within) as usize;
                counts[index..index + identities.len()]
                    .iter_mut()
                    .zip(identities)
                    .for_each(|(to, one)| *to = one.identities);
            }
        }
        Ok(bytes)
    })
}

/// Turns the rows of another job into rows of counts. The other job has one row per pair, in order.
pub(super) struct CountingSink<'a, F> {
    /// Returns query, target and count of a row.
    count: F,
    sink: &'a mut dyn BlockSink<PairCounts>,
    /// The row that may still grow.
    open: Option<PairCounts>,
    /// Total number of rows.
    written: &'a mut u64,
}

impl<'a, F> CountingSink<'a, F> {
    pub(super) fn new(count: F, sink: &'a mut dyn BlockSink<PairCounts>, written: &'a mut u64) -> Self {
        CountingSink { count, sink, open: None, written }
    }
}

impl<R, F: FnMut(&R) -> (SequenceId, SequenceId, u32)> BlockSink<R> for CountingSink<'_, F> {
    fn rows(&mut self, rows: &[R]) -> Result<()> {
        let mut done = Vec::new();
        for row in rows {
            let (unit, first, count) = (self.count)(row);
            match self.open.as_mut().filter(|open| open.unit == unit) {
                Some(open) => open.counts.push(count),
                None => done.extend(self.open.replace(PairCounts { unit, first, counts: vec![count] })),
            }
        }
        *self.written += done.len() as u64;
        if done.is_empty() { Ok(()) } else { self.sink.rows(&done) }
    }

    fn end(&mut self) -> Result<()> {
        if let Some(row) = self.open.take() {
            *self.written += 1;
            self.sink.rows(&[row])?;
        }
        self.sink.end()
    }
}
