//! Alignment of the pairs of chunks, and delivery of their rows in the order of the list.

use std::sync::Arc;

use super::PairRow;
use super::source::{PairListChunk, PairListChunks};
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::jobs::allpairs::align::PairAligner;
use crate::jobs::allpairs::select::keep_better_strands;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::session::Execution;
use crate::jobs::source::OpenBlocks;
use crate::jobs::{PairResult, Summary};
use crate::pairs::Pairs;

/// Maximum bytes of results that wait for an older chunk. Above it, no further chunk is read. The
/// next constant limits the number of chunks after that older chunk.
const MAX_BYTES: u64 = 1 << 28;
const MAX_CHUNKS: usize = 8;

/// Aligns pairs and delivers their rows.
pub(super) struct PairRowFinisher<'a> {
    chunks: &'a PairListChunks,
    execution: Execution<'a>,
    ordered: Ordered<Vec<PairResult>>,
    /// Index of the chunk that is due.
    next: usize,
    /// Delivery of blocks, each with its number of listed pairs that are left.
    delivery: Delivery<'a, PairRow, u64>,
    /// Numbers of computed and aligned pairs and of their cells.
    computed: Summary,
}

impl<'a> PairRowFinisher<'a> {
    /// Creates a finisher. A block must be added to `blocks` before its first chunk.
    pub(super) fn new(
        chunks: &'a PairListChunks,
        blocks: OpenBlocks<u64>,
        execution: Execution<'a>,
        sink: &'a mut dyn BlockSink<PairRow>,
    ) -> Self {
        let ordered = Ordered::with_limits(MAX_BYTES, MAX_CHUNKS);
        let delivery = Delivery::new(blocks, sink);
        PairRowFinisher { chunks, execution, ordered, next: 0, delivery, computed: Summary::default() }
    }

    /// Returns the limit on reading ahead.
    pub(super) fn window(&self) -> Arc<ReorderWindow> {
        self.ordered.window()
    }

    /// Takes an outcome of the engines.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        self.computed.pairs += outcome.pairs;
        self.computed.cells += outcome.cells;
        let chunk = match outcome.pairs {
            // Every block of this batch was handed to another engine, and its chunk may be
            // complete.
            0 => return Ok(()),
            _ => self.chunks.get(outcome.chunk.index)?,
        };
        let Execution { run, threads } = self.execution;
        let aligner = PairAligner::new(&chunk.all, &chunk.planned, &run.interrupt);
        let (results, aligned) = aligner.results(outcome.report, &threads.pool)?;
        self.computed.aligned += aligned;
        self.ordered.add(&outcome.chunk, outcome.pairs, Vec::new, |gathered| {
            let bytes = results.iter().map(PairResult::bytes).sum();
            gathered.extend(results);
            Ok(bytes)
        })?;
        while let Some((_, results)) = self.ordered.complete() {
            let chunk = self.chunks.take(self.next)?;
            self.next += 1;
            let rows = rows(&chunk, results)?;
            self.delivery.end_done()?;
            self.delivery.rows(&rows)?;
            if !self.delivery.count_off(chunk.pairs.len() as u64) {
                return Err(Error::Internal(format!("the chunk of pair {} is in several blocks", chunk.first)));
            }
        }
        self.delivery.end_done()
    }

    /// Returns the numbers of pairs, cells, aligned pairs and rows of the blocks.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_done()?;
        self.ordered.end()?;
        Ok(Summary { aligned: self.computed.aligned, ..self.delivery.finish()? })
    }

    /// Ends like [`PairRowFinisher::end`], but returns the numbers of computed pairs and cells.
    pub(super) fn end_whole(self) -> Result<Summary> {
        let (pairs, cells) = (self.computed.pairs, self.computed.cells);
        Ok(Summary { pairs, cells, ..self.end()? })
    }
}

/// Returns the rows of a chunk. `results` has one result for each strand of each different pair that
/// reaches the minimum coverages, in any order.
fn rows(chunk: &PairListChunk, mut results: Vec<PairResult>) -> Result<Vec<PairRow>> {
    results.sort_unstable_by_key(|result| (result.query, result.target, result.strand));
    if chunk.planned.strands.copies() > 1 {
        keep_better_strands(&mut results);
    }
    let targets = chunk.all.targets();
    // Most lists name no pair twice. Results are then moved and not copied.
    let are_different = results.len() == chunk.pairs.len();
    let mut results: Vec<((u32, u32), Option<PairResult>)> =
        results.into_iter().map(|result| ((result.query, result.target), Some(result))).collect();
    let may_lack = chunk.all.coverage.is_set();
    let row = |(number, pair): (u64, &(u32, u32))| {
        let index = results.binary_search_by_key(pair, |result| result.0);
        let result = index.ok().and_then(|index| match are_different {
            true => results[index].1.take(),
            false => results[index].1.clone(),
        });
        match result {
            Some(result) => {
                let (queries, targets) = (Arc::clone(&chunk.all.queries), Arc::clone(targets));
                Some(Ok(PairRow { number, queries, targets, result }))
            }
            None if may_lack => None,
            None => Some(Err(Error::Internal(format!("pair {number} has no result")))),
        }
    };
    (chunk.first..).zip(&chunk.pairs).filter_map(row).collect()
}
