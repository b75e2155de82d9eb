//! Rows of chunks, in the order of the list.

use std::sync::Arc;

use super::PairRow;
use super::source::{Chunk, Chunks};
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::jobs::allpairs::align::Aligner;
use crate::jobs::allpairs::select::keep_better_strands;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::session::Execution;
use crate::jobs::source::Begun;
use crate::jobs::{PairResult, Summary};
use crate::pairs::Pairs;

/// Bytes of results that wait for an older chunk, and chunks after it, beyond which none is read.
const MAX_BYTES: u64 = 1 << 28;
const MAX_CHUNKS: usize = 8;

/// Aligns pairs and hands their rows over.
pub(super) struct Finisher<'a> {
    chunks: &'a Chunks,
    execution: Execution<'a>,
    bands: Ordered<Vec<PairResult>>,
    /// The band whose turn it is.
    next: usize,
    /// Of blocks, each with its pairs of the list that are left.
    delivery: Delivery<'a, PairRow, u64>,
    /// Pairs that were computed and aligned, and their cells.
    computed: Summary,
}

impl<'a> Finisher<'a> {
    /// Of blocks that are begun before their chunks come.
    pub(super) fn new(
        chunks: &'a Chunks,
        blocks: Begun<u64>,
        execution: Execution<'a>,
        sink: &'a mut dyn BlockSink<PairRow>,
    ) -> Self {
        let bands = Ordered::with_limits(MAX_BYTES, MAX_CHUNKS);
        let delivery = Delivery::new(blocks, sink);
        Finisher { chunks, execution, bands, next: 0, delivery, computed: Summary::default() }
    }

    /// How far chunks may be read ahead.
    pub(super) fn ahead(&self) -> Arc<ReorderWindow> {
        self.bands.window()
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        self.computed.pairs += outcome.pairs;
        self.computed.cells += outcome.cells;
        let chunk = match outcome.pairs {
            // All blocks were left to others, who may be done.
            0 => return Ok(()),
            _ => self.chunks.of(outcome.chunk.index)?,
        };
        let Execution { run, threads } = self.execution;
        let aligner = Aligner::new(&chunk.all, &chunk.planned, &run.interrupt);
        let (results, aligned) = aligner.results(outcome.report, &threads.pool)?;
        self.computed.aligned += aligned;
        self.bands.add(&outcome.chunk, outcome.pairs, Vec::new, |gathered| {
            let bytes = results.iter().map(PairResult::bytes).sum();
            gathered.extend(results);
            Ok(bytes)
        })?;
        while let Some((_, results)) = self.bands.complete() {
            let chunk = self.chunks.take(self.next)?;
            self.next += 1;
            let rows = rows(&chunk, results)?;
            self.delivery.end_done()?;
            self.delivery.rows(&rows)?;
            if !self.delivery.count_off(rows.len() as u64) {
                return Err(Error::Internal(format!("the chunk of pair {} is in several blocks", chunk.first)));
            }
        }
        self.delivery.end_done()
    }

    /// Returns the pairs and cells of the blocks, and what became of them.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_done()?;
        self.bands.end()?;
        Ok(Summary { aligned: self.computed.aligned, ..self.delivery.finish()? })
    }

    /// As [`Finisher::end`], with the pairs that were computed and their cells.
    pub(super) fn end_whole(self) -> Result<Summary> {
        let (pairs, cells) = (self.computed.pairs, self.computed.cells);
        Ok(Summary { pairs, cells, ..self.end()? })
    }
}

/// The rows of a chunk, of which these are the results in any order, one for each strand of each different pair.
fn rows(chunk: &Chunk, mut results: Vec<PairResult>) -> Result<Vec<PairRow>> {
    results.sort_unstable_by_key(|result| (result.query, result.target, result.strand));
    if chunk.planned.strands.copies() > 1 {
        keep_better_strands(&mut results);
    }
    let targets = chunk.all.targets();
    // Most lists name no pair twice, and no alignment has to be copied.
    let are_different = results.len() == chunk.pairs.len();
    let mut results: Vec<((u32, u32), Option<PairResult>)> =
        results.into_iter().map(|result| ((result.query, result.target), Some(result))).collect();
    let row = |(number, pair): (u64, &(u32, u32))| {
        let place = results.binary_search_by_key(pair, |result| result.0);
        let found = place.ok().and_then(|place| match are_different {
            true => results[place].1.take(),
            false => results[place].1.clone(),
        });
        let result = found.ok_or_else(|| Error::Internal(format!("pair {number} has no result")))?;
        Ok(PairRow { number, queries: Arc::clone(&chunk.all.queries), targets: Arc::clone(targets), result })
    };
    (chunk.first..).zip(&chunk.pairs).map(row).collect()
}
