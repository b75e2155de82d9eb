//! Scores become lists of the best, and these the hits of one query after the other.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::SearchHit;
use super::best::{Best, Candidate};
use super::tracing::Tracer;
use crate::engine::ordered::{Ahead, Ordered};
use crate::engine::owner::Outcome;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::pairs::{Floors, Pairs};
use crate::seq::SequenceId;

/// Puts hits into the lists of their queries, and hands over those of a batch when it is done.
pub(super) struct Gatherer<'a> {
    tracer: Tracer<'a>,
    floors: &'a Floors,
    /// Batches of queries that are not handed over, the first with the pairs that are left of it.
    batches: VecDeque<(Range<SequenceId>, u64)>,
    /// Of each sequence of the queries.
    best: Vec<Best>,
    /// Pairs of each band.
    bands: Ordered<u64>,
    rows: &'a mut dyn FnMut(&[SearchHit]) -> Result<()>,
    summary: Summary,
}

impl<'a> Gatherer<'a> {
    /// The batches are all queries, strands counted.
    pub(super) fn new(
        tracer: Tracer<'a>,
        floors: &'a Floors,
        batches: Vec<Range<SequenceId>>,
        rows: &'a mut dyn FnMut(&[SearchHit]) -> Result<()>,
    ) -> Self {
        let subjects = tracer.job.subjects.size().sequences;
        let pairs = |batch: &Range<SequenceId>| batch.len() as u64 * subjects;
        let batches: VecDeque<_> = batches.into_iter().map(|batch| (batch.clone(), pairs(&batch))).collect();
        let summary = Summary { pairs: batches.iter().map(|(_, pairs)| pairs).sum(), ..Summary::default() };
        let best = (0..tracer.job.queries.len()).map(|_| Best::default()).collect();
        Gatherer { tracer, floors, batches, best, bands: Ordered::new(), rows, summary }
    }

    /// How far bands may be planned ahead.
    pub(super) fn ahead(&self) -> Arc<Ahead> {
        self.bands.ahead()
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: Outcome<Pairs>) -> Result<()> {
        let (chunk, subjects) = self.tracer.chunks.of_store(&outcome.batch.band.targets)?;
        let (strands, most) = (self.tracer.job.strands(), self.tracer.job.most_kept());
        for hit in outcome.report.hits {
            if hit.score < self.floors.least(hit.query)
                || !self.tracer.is_significant(&hit, subjects.store.length(hit.target))
            {
                continue;
            }
            let (query, strand) = strands.of(hit.query);
            let (record, subject) = (subjects.record(hit.target), hit.target);
            let pair = Candidate { score: Reverse(hit.score), record, strand, chunk, subject };
            if let Some(floor) = self.best[query as usize].add(pair, most) {
                let first = hit.query - hit.query % strands.copies();
                (first..first + strands.copies()).for_each(|query| self.floors.raise(query, floor));
            }
        }
        let begin = || outcome.band.pairs;
        self.bands.add(&outcome.band, outcome.pairs, begin, |_| Ok(0))?;
        while let Some((queries, pairs)) = self.bands.complete() {
            self.count(queries, pairs)?;
        }
        Ok(())
    }

    /// So many pairs of these queries are done, which are of the batch that is next.
    fn count(&mut self, queries: Range<SequenceId>, pairs: u64) -> Result<()> {
        let batch = self.batches.front_mut().filter(|(batch, _)| batch.start <= queries.start);
        let left = batch.and_then(|(_, left)| {
            *left = left.checked_sub(pairs)?;
            Some(*left)
        });
        match left {
            None => Err(Error::Internal(format!("a band of queries {queries:?} is of another batch"))),
            Some(0) => self.hand_over(),
            Some(_) => Ok(()),
        }
    }

    /// Hands over the hits of the batch that is next, and of those after it that have no pairs.
    fn hand_over(&mut self) -> Result<()> {
        while let Some((batch, _)) = self.batches.pop_front_if(|(_, left)| *left == 0) {
            let queries = self.tracer.job.strands().sequences(batch);
            let best = queries.map(|query| (query, std::mem::take(&mut self.best[query as usize])));
            self.tracer.hand_over(best, self.rows, &mut self.summary)?;
        }
        Ok(())
    }

    /// There is nothing more to come.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.hand_over()?;
        self.bands.end()?;
        match self.batches.front() {
            None => Ok(self.summary),
            Some((queries, left)) => Err(Error::Internal(format!("queries {queries:?} are short of {left} pairs"))),
        }
    }
}
