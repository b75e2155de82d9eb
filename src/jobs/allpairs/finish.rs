//! Turns scores into rows: selects the better strand of each pair, and delivers chunks in order.

use std::sync::Arc;

use super::PairResult;
use super::align::PairAligner;
use super::lines::{ChunkLines, LineSettler, LineWriter};
use super::select::ResultSelection;
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::engine::postprocess::Postprocess;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::source::OpenBlocks;
use crate::pairs::Pairs;

/// Results of a chunk so far.
#[derive(Default)]
struct GatheredChunk {
    /// Number of pairs of the chunk.
    pairs: u64,
    rows: Vec<PairResult>,
    lines: ChunkLines,
}

/// Traces pairs back, completes chunks and delivers them in order.
pub(super) struct PairFinisher<'a> {
    aligner: PairAligner,
    pool: &'a rayon::ThreadPool,
    /// Encoder of results, if the sink accepts bytes. It runs on the threads that compute the
    /// results.
    lines: Option<(Arc<LineSettler>, LineWriter)>,
    chunks: Ordered<GatheredChunk>,
    /// Delivery of blocks, each with its number of computed pairs that were not delivered.
    delivery: Delivery<'a, PairResult, u64>,
    aligned: u64,
}

impl<'a> PairFinisher<'a> {
    /// Creates a finisher. `blocks` has the number of computed pairs of each block.
    pub(super) fn new(
        aligner: PairAligner,
        pool: &'a rayon::ThreadPool,
        blocks: OpenBlocks<u64>,
        sink: &'a mut dyn BlockSink<PairResult>,
    ) -> Self {
        let delivery = Delivery::new(blocks, sink);
        let settler = |encoder| (Arc::new(LineSettler::new(aligner.clone(), encoder)), LineWriter::default());
        let lines = delivery.encoder().map(settler);
        PairFinisher { aligner, pool, lines, chunks: Ordered::new(), delivery, aligned: 0 }
    }

    /// Returns the limit on planning chunks ahead.
    pub(super) fn window(&self) -> Arc<ReorderWindow> {
        self.chunks.window()
    }

    /// Returns the function that processes reports on the threads of their engines.
    pub(super) fn postprocess(&self) -> Option<Arc<dyn Postprocess<Pairs>>> {
        self.lines.as_ref().map(|(settler, _)| Arc::clone(settler) as Arc<dyn Postprocess<Pairs>>)
    }

    /// Takes an outcome of the engines.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        let pairs = outcome.chunk.pairs;
        if let Some((settler, _)) = &self.lines {
            let initial = || GatheredChunk { pairs, lines: settler.chunk_lines(), ..GatheredChunk::default() };
            let settled = settler.format_settled(outcome.report)?;
            self.aligned += settled.aligned;
            self.chunks.add(&outcome.chunk, outcome.pairs, initial, |gathered| gathered.lines.add(settled))?;
        } else {
            let initial = || GatheredChunk { pairs, ..GatheredChunk::default() };
            let (results, aligned) = self.aligner.results(outcome.report, self.pool)?;
            self.aligned += aligned;
            self.chunks.add(&outcome.chunk, outcome.pairs, initial, |gathered| {
                let bytes = results.iter().map(PairResult::bytes).sum();
                gathered.rows.extend(results);
                Ok(bytes)
            })?;
        }
        self.deliver()
    }

    /// Delivers every complete chunk that is due.
    fn deliver(&mut self) -> Result<()> {
        while let Some((queries, GatheredChunk { pairs, mut rows, mut lines })) = self.chunks.complete() {
            let strands = self.aligner.planned.strands;
            let selection = ResultSelection::from_job(&self.aligner.job, strands.copies() > 1);
            let sequences = strands.sequences(queries);
            self.delivery.end_done()?;
            if let Some((settler, writer)) = &mut self.lines {
                selection.order(&mut lines.keys, Some(self.pool));
                debug_assert!(lines.keys.iter().all(|key| sequences.contains(&key.query)));
                let pool = self.pool;
                self.delivery.bytes(lines.keys.len(), |sink| writer.write(settler, &lines, pool, sink))?;
            } else {
                selection.order(&mut rows, None);
                debug_assert!(rows.iter().all(|row| sequences.contains(&row.query)));
                self.delivery.rows(&rows)?;
            }
            if !self.delivery.count_off(pairs) {
                return Err(Error::Internal(format!("chunk of {sequences:?} is in several blocks")));
            }
        }
        self.delivery.end_done()
    }

    /// Ends all blocks. Returns the numbers of pairs, cells, aligned pairs and rows.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_done()?;
        self.chunks.end()?;
        Ok(Summary { aligned: self.aligned, ..self.delivery.finish()? })
    }
}
