//! Collects scores in lists of the best pairs, and delivers the hits of one query after the other.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::SearchHit;
use super::best::HitCandidate;
use super::cutter::QueryBatch;
use super::tracing::HitTracer;
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::source::OpenBlocks;
use crate::pairs::Pairs;
use crate::seq::SequenceId;

/// Adds pairs to the lists of their queries, and delivers the hits of a batch when it is complete.
pub(super) struct Gatherer<'a> {
    tracer: HitTracer<'a>,
    /// Delivery of batches of queries.
    delivery: Delivery<'a, SearchHit, QueryBatch>,
    /// Number of pairs in each chunk of the queue.
    ordered: Ordered<u64>,
    aligned: u64,
}

impl<'a> Gatherer<'a> {
    /// Creates a gatherer. A batch must be added to `batches` before its first results.
    pub(super) fn new(
        tracer: HitTracer<'a>,
        batches: OpenBlocks<QueryBatch>,
        sink: &'a mut dyn BlockSink<SearchHit>,
    ) -> Self {
        Gatherer { tracer, delivery: Delivery::new(batches, sink), ordered: Ordered::new(), aligned: 0 }
    }

    /// Returns the limit on planning chunks ahead.
    pub(super) fn window(&self) -> Arc<ReorderWindow> {
        self.ordered.window()
    }

    /// Takes an outcome of the engines.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        if !outcome.report.hits.is_empty() {
            self.keep_best(&outcome)?;
        }
        let initial = || outcome.chunk.pairs;
        self.ordered.add(&outcome.chunk, outcome.pairs, initial, |_| Ok(0))?;
        while let Some((queries, pairs)) = self.ordered.complete() {
            self.deliver()?;
            self.count(queries, pairs)?;
        }
        self.deliver()
    }

    /// Adds pairs to the lists of their batch. Raises the threshold of a query when its list is
    /// full. Another block may search the same query in other subjects. The threshold is valid
    /// there as well, because the query already has as many better pairs as it may have in total. If
    /// only the pairs with the best score are reported, every score is a threshold.
    fn keep_best(&mut self, outcome: &BatchOutcome<Pairs>) -> Result<()> {
        let (tracer, thresholds) = (&self.tracer, self.tracer.thresholds);
        let (chunk, subjects) = tracer.chunks.of_store(&outcome.batch.chunk.targets)?;
        let (strands, most) = (tracer.job.strands(), tracer.job.max_kept());
        let reports_best_scores = tracer.job.reports_best_scores();
        let first = outcome.chunk.queries.start;
        let is_own = |batch: &QueryBatch| batch.queries.contains(&first) && batch.chunks.contains(&chunk);
        let keep = |batch: &mut QueryBatch| {
            for hit in &outcome.report.hits {
                let symbols = subjects.store.length(hit.target);
                if hit.score < thresholds.threshold(hit.query)
                    || !tracer.is_significant(hit, symbols)
                    || !tracer.may_cover(hit, symbols)
                {
                    continue;
                }
                let (query, strand) = strands.sequence_of(hit.query);
                let (record, subject) = (subjects.record(hit.target), hit.target);
                let pair = HitCandidate { score: Reverse(hit.score), record, strand, chunk, subject };
                let index = query - batch.queries.start / strands.copies();
                let floor = batch.best[index as usize].add(pair, most);
                if let Some(floor) = floor.max(reports_best_scores.then_some(hit.score)) {
                    let first = hit.query - hit.query % strands.copies();
                    (first..first + strands.copies()).for_each(|query| thresholds.raise(query, floor));
                }
            }
        };
        let kept = self.delivery.blocks().find(is_own, keep);
        kept.ok_or_else(|| Error::Internal(format!("a result of queries from {first} on, which are not in progress")))
    }

    /// Subtracts computed pairs of these queries, which must belong to the batch that is due.
    fn count(&mut self, queries: Range<SequenceId>, pairs: u64) -> Result<()> {
        let took = self.delivery.blocks().first(|batch| {
            let is_own = batch.queries.start <= queries.start && queries.end <= batch.queries.end;
            batch.left = batch.left.checked_sub(pairs).filter(|_| is_own)?;
            Some(())
        });
        took.flatten()
            .ok_or_else(|| Error::Internal(format!("a chunk of queries {queries:?} belongs to another batch")))
    }

    /// Delivers the hits of complete batches, in order.
    pub(super) fn deliver(&mut self) -> Result<()> {
        let (tracer, delivery) = (&self.tracer, &mut self.delivery);
        while let Some(batch) = delivery.take_if(|batch| batch.left == 0) {
            let queries = tracer.job.strands().sequences(batch.queries);
            let delivered = tracer.deliver(queries.zip(batch.best), &mut |hits| delivery.rows(hits), &mut self.aligned);
            tracer.chunks.release(&batch.chunks);
            delivered?;
            if batch.is_last {
                tracer.job.subjects.check_unchanged()?;
                delivery.end_taken()?;
            }
        }
        Ok(())
    }

    /// Ends the search after the last outcome.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.deliver()?;
        self.ordered.end()?;
        let batches = self.delivery.blocks();
        match batches.first(|batch| (batch.queries.clone(), batch.left)) {
            None => {
                let (pairs, cells) = batches.totals();
                let (aligned, written) = (self.aligned, self.delivery.written());
                Ok(Summary { pairs, cells, aligned, written, ..Summary::default() })
            }
            Some((queries, left)) => Err(Error::Internal(format!("queries {queries:?} lack {left} pairs"))),
        }
    }
}
