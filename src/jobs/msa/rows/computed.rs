//! Counts as they are computed: ClustalW's identities by lists of pairs, others out of rows of other jobs.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::super::{Engines, PairDistances, clustal};
use super::PairCounts;
use crate::clustal::{Clustal, Plan};
use crate::engine::check::finished;
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, BatchOutcome};
use crate::engine::queue::QueuedChunk;
use crate::engine::thread_engine::thread_engines;
use crate::error::{Error, Result};
use crate::jobs::blocks::{self, Block, BlockSink};
use crate::jobs::deliver::Delivery;
use crate::jobs::session::{Execution, SessionEngines, SessionStart, Threads, cells_now};
use crate::jobs::source::{Begun, BlockChunks, ChunkCutter};
use crate::jobs::{Feed, PairResult, Run, Summary, engines};
use crate::seq::SequenceId;

/// Cuts a plan: units are its lists of pairs, of which each has a query.
pub(super) fn cut(plan: &Plan, cells: u64) -> Result<Vec<Block>> {
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

/// The identities of an alignment.
pub(super) fn identities_of(row: &PairResult) -> u32 {
    // No more than a sequence has symbols.
    row.counts.matches as u32
}

/// ClustalW's pairs, with what lasts from block to block.
pub(super) struct Lists {
    plan: Arc<Plan>,
    /// Pairs of the lists before each.
    begins: Vec<u64>,
    threads: Threads,
    engines: SessionEngines<Clustal>,
}

impl Lists {
    pub(super) fn new(job: &PairDistances, engines: Option<Engines>, run: &Run) -> Result<Self> {
        let plan = clustal::plan(job)?;
        let mut begins = vec![0];
        let mut pairs = 0;
        begins.extend(plan.blocks.iter().map(|list| {
            pairs += list.targets.len() as u64;
            pairs
        }));
        let (threads, plan) = (Threads::shared(run)?, Arc::new(plan));
        // The engines of a whole job go on from block to block as well.
        let engines = SessionEngines::new(SessionStart::of_blocks(engines), || open_engines(&plan, run, &threads))?;
        Ok(Lists { begins, engines, threads, plan })
    }

    /// Lists that there are.
    pub(super) fn len(&self) -> usize {
        self.plan.blocks.len()
    }

    /// Computes blocks, of which each is a chunk.
    pub(super) fn run(&mut self, job: &PairDistances, feed: Feed<'_, PairCounts>) -> Result<Summary> {
        let Feed { source: blocks, run, sink } = feed;
        let begin = Instant::now();
        let Lists { plan, begins, threads, engines } = self;
        let execution = Execution { run, threads };
        let engine_set = engines.get_or_open(|| open_engines(plan, run, threads))?;
        let begun = Begun::default();
        let bander = ListChunks { plan: Arc::clone(plan), next: None, begun: begun.clone() };
        let known = cells_now(blocks.as_ref());
        let mut ordered: Ordered<Vec<u32>> = Ordered::new();
        let mut due = Delivery::new(begun.clone(), sink);
        let reserve = || thread_engines(threads.count(), &run.interrupt);
        let control = execution.control_of(blocks.as_ref(), ordered.window());
        let chunks = BlockChunks::new(blocks, bander);
        let ran = owner::run_set(engine_set, reserve, chunks, known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            gather(plan, begins, &mut ordered, &outcome)?;
            while let Some((units, counts)) = ordered.complete() {
                if job.check {
                    let pairs = units.clone().flat_map(|unit| plan.chunk.pairs(&plan.blocks[unit as usize]));
                    let found: Vec<_> = pairs.zip(counts.iter().copied()).collect();
                    clustal::check(&plan.chunk, &found, threads.count())?;
                }
                let mut rest = &counts[..];
                let rows: Vec<PairCounts> = units
                    .clone()
                    .map(|unit| {
                        let (own, others) = rest.split_at(plan.blocks[unit as usize].targets.len());
                        rest = others;
                        PairCounts { unit, first: 0, counts: own.to_vec() }
                    })
                    .collect();
                due.rows_from(units.start.into(), &rows)?;
                due.reached(units.end.into())?;
            }
            Ok(())
        })?;
        ordered.end()?;
        let written = due.written();
        due.finish()?;
        let (pairs, cells) = begun.totals();
        let seconds = begin.elapsed().as_secs_f64();
        Ok(Summary { pairs, cells, aligned: pairs, written, seconds, ..Summary::default() }.with_engines(ran))
    }
}

fn open_engines(plan: &Plan, run: &Run, threads: &Threads) -> Result<Engines> {
    engines::open_clustal(run, threads.count(), plan.blocks.iter().map(|list| list.cells).sum())
}

/// Blocks as chunks.
struct ListChunks {
    plan: Arc<Plan>,
    next: Option<QueuedChunk<Clustal>>,
    begun: Begun<Range<u64>>,
}

impl ChunkCutter<Clustal> for ListChunks {
    fn begin(&mut self, block: Block) {
        let own = &self.plan.blocks[block.units.start as usize..block.units.end as usize];
        let (pairs, cells) =
            own.iter().fold((0, 0), |(pairs, cells), list| (pairs + list.targets.len() as u64, cells + list.cells));
        self.begun.add(block.units.clone(), pairs, cells);
        let blocks = own.iter().map(|list| ((), list.clone())).collect();
        self.next = Some((block.units.start as u32..block.units.end as u32, Arc::clone(&self.plan.chunk), blocks));
    }

    fn next(&mut self) -> Option<QueuedChunk<Clustal>> {
        self.next.take()
    }
}

/// Puts what an engine found at its places in a chunk.
fn gather(plan: &Plan, begins: &[u64], ordered: &mut Ordered<Vec<u32>>, outcome: &BatchOutcome<Clustal>) -> Result<()> {
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
            let (own, others) = rest.split_at(piece.targets.len());
            rest = others;
            if is_finished {
                // Lists stand by their queries, and those of one by their targets.
                let after = |list: &crate::clustal::ClustalBlock| {
                    (list.query, list.targets.start) <= (piece.query, piece.targets.start)
                };
                let list = plan.blocks.partition_point(after) - 1;
                let within = u64::from(piece.targets.start - plan.blocks[list].targets.start);
                let place = (begins[list] - begins[info.queries.start as usize] + within) as usize;
                counts[place..place + own.len()].iter_mut().zip(own).for_each(|(to, one)| *to = one.identities);
            }
        }
        Ok(bytes)
    })
}

/// Makes rows of counts of those of another job, which has one a pair, in order.
pub(super) struct Counting<'a, F> {
    /// The query, the other one and the count of a row.
    of: F,
    sink: &'a mut dyn BlockSink<PairCounts>,
    /// The row that may grow.
    open: Option<PairCounts>,
    /// Rows in all.
    written: &'a mut u64,
}

impl<'a, F> Counting<'a, F> {
    pub(super) fn new(of: F, sink: &'a mut dyn BlockSink<PairCounts>, written: &'a mut u64) -> Self {
        Counting { of, sink, open: None, written }
    }
}

impl<R, F: FnMut(&R) -> (SequenceId, SequenceId, u32)> BlockSink<R> for Counting<'_, F> {
    fn rows(&mut self, rows: &[R]) -> Result<()> {
        let mut done = Vec::new();
        for row in rows {
            let (unit, first, count) = (self.of)(row);
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
