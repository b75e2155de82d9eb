//! Scores become lists of the best, and these the hits of one query after the other.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::SearchHit;
use super::bands::Batch;
use super::best::Candidate;
use super::tracing::Tracer;
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::source::Begun;
use crate::pairs::{Floors, Pairs};
use crate::seq::SequenceId;

/// Puts hits into the lists of their queries, and hands over those of a batch when it is done.
pub(super) struct Gatherer<'a> {
    tracer: Tracer<'a>,
    floors: &'a Floors,
    /// Of batches of queries.
    delivery: Delivery<'a, SearchHit, Batch>,
    /// Pairs of each band.
    bands: Ordered<u64>,
    aligned: u64,
}

impl<'a> Gatherer<'a> {
    /// Of batches that are begun before there are any results of them.
    pub(super) fn new(
        tracer: Tracer<'a>,
        floors: &'a Floors,
        batches: Begun<Batch>,
        sink: &'a mut dyn BlockSink<SearchHit>,
    ) -> Self {
        Gatherer { tracer, floors, delivery: Delivery::new(batches, sink), bands: Ordered::new(), aligned: 0 }
    }

    /// How far bands may be planned ahead.
    pub(super) fn ahead(&self) -> Arc<ReorderWindow> {
        self.bands.window()
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        if !outcome.report.hits.is_empty() {
            self.keep_best(&outcome)?;
        }
        let begin = || outcome.chunk.pairs;
        self.bands.add(&outcome.chunk, outcome.pairs, begin, |_| Ok(0))?;
        while let Some((queries, pairs)) = self.bands.complete() {
            self.hand_over()?;
            self.count(queries, pairs)?;
        }
        self.hand_over()
    }

    /// Puts hits into the lists of their batch. What one list leaves out for its floor, no other one needs: in some of the subjects
    /// there are as many that score more as a query may have in all.
    fn keep_best(&mut self, outcome: &BatchOutcome<Pairs>) -> Result<()> {
        let (tracer, floors) = (&self.tracer, self.floors);
        let (chunk, subjects) = tracer.chunks.of_store(&outcome.batch.chunk.targets)?;
        let (strands, most) = (tracer.job.strands(), tracer.job.most_kept());
        let first = outcome.chunk.queries.start;
        let is_own = |batch: &Batch| batch.queries.contains(&first) && batch.chunks.contains(&chunk);
        let keep = |batch: &mut Batch| {
            for hit in &outcome.report.hits {
                if hit.score < floors.least(hit.query) || !tracer.is_significant(hit, subjects.store.length(hit.target))
                {
                    continue;
                }
                let (query, strand) = strands.of(hit.query);
                let (record, subject) = (subjects.record(hit.target), hit.target);
                let pair = Candidate { score: Reverse(hit.score), record, strand, chunk, subject };
                let place = query - batch.queries.start / strands.copies();
                if let Some(floor) = batch.best[place as usize].add(pair, most) {
                    let first = hit.query - hit.query % strands.copies();
                    (first..first + strands.copies()).for_each(|query| floors.raise(query, floor));
                }
            }
        };
        let kept = self.delivery.blocks().find(is_own, keep);
        kept.ok_or_else(|| Error::Internal(format!("a result of queries from {first} on, which nobody searches for")))
    }

    /// So many pairs of these queries are done, which are of the batch that is next.
    fn count(&mut self, queries: Range<SequenceId>, pairs: u64) -> Result<()> {
        let took = self.delivery.blocks().first(|batch| {
            let is_own = batch.queries.start <= queries.start && queries.end <= batch.queries.end;
            batch.left = batch.left.checked_sub(pairs).filter(|_| is_own)?;
            Some(())
        });
        took.flatten().ok_or_else(|| Error::Internal(format!("a band of queries {queries:?} is of another batch")))
    }

    /// Hands over the hits of batches that are done, in their order.
    pub(super) fn hand_over(&mut self) -> Result<()> {
        let (tracer, delivery) = (&self.tracer, &mut self.delivery);
        while let Some(batch) = delivery.take_if(|batch| batch.left == 0) {
            let queries = tracer.job.strands().sequences(batch.queries);
            let handed = tracer.hand_over(queries.zip(batch.best), &mut |hits| delivery.rows(hits), &mut self.aligned);
            tracer.chunks.release(&batch.chunks);
            handed?;
            if batch.is_last {
                tracer.job.subjects.check_unchanged()?;
                delivery.end_taken()?;
            }
        }
        Ok(())
    }

    /// There is nothing more to come.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.hand_over()?;
        self.bands.end()?;
        let batches = self.delivery.blocks();
        match batches.first(|batch| (batch.queries.clone(), batch.left)) {
            None => {
                let (pairs, cells) = batches.totals();
                let (aligned, written) = (self.aligned, self.delivery.written());
                Ok(Summary { pairs, cells, aligned, written, ..Summary::default() })
            }
            Some((queries, left)) => Err(Error::Internal(format!("queries {queries:?} are short of {left} pairs"))),
        }
    }
}
