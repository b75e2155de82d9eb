//! What is made of scores: the better strand of each pair, chunks in order.

use std::sync::Arc;

use super::PairResult;
use super::align::Aligner;
use super::lines::{Gathering, LineSettler, LineWriter};
use super::select::Selection;
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::engine::postprocess::Postprocess;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::source::Begun;
use crate::pairs::Pairs;

/// What came of a chunk so far.
#[derive(Default)]
struct Gathered {
    /// Pairs that it has.
    pairs: u64,
    rows: Vec<PairResult>,
    lines: Gathering,
}

/// Traces pairs back, puts chunks together and hands them over in order.
pub(super) struct Finisher<'a> {
    aligner: Aligner,
    pool: &'a rayon::ThreadPool,
    /// Makes bytes of results where they come up, if the sink takes these.
    lines: Option<(Arc<LineSettler>, LineWriter)>,
    chunks: Ordered<Gathered>,
    /// Of blocks, each with its pairs that are computed and not handed over.
    delivery: Delivery<'a, PairResult, u64>,
    aligned: u64,
}

impl<'a> Finisher<'a> {
    /// `blocks`: how many pairs each has that are computed.
    pub(super) fn new(
        aligner: Aligner,
        pool: &'a rayon::ThreadPool,
        blocks: Begun<u64>,
        sink: &'a mut dyn BlockSink<PairResult>,
    ) -> Self {
        let delivery = Delivery::new(blocks, sink);
        let settler = |encoder| (Arc::new(LineSettler::new(aligner.clone(), encoder)), LineWriter::default());
        let lines = delivery.encoder().map(settler);
        Finisher { aligner, pool, lines, chunks: Ordered::new(), delivery, aligned: 0 }
    }

    /// How far chunks may be planned ahead.
    pub(super) fn ahead(&self) -> Arc<ReorderWindow> {
        self.chunks.window()
    }

    /// What is done with reports on the threads of their engines.
    pub(super) fn settle(&self) -> Option<Arc<dyn Postprocess<Pairs>>> {
        self.lines.as_ref().map(|(settler, _)| Arc::clone(settler) as Arc<dyn Postprocess<Pairs>>)
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: BatchOutcome<Pairs>) -> Result<()> {
        let pairs = outcome.chunk.pairs;
        if let Some((settler, _)) = &self.lines {
            let begin = || Gathered { pairs, lines: settler.gathering(), ..Gathered::default() };
            let settled = settler.settled(outcome.report)?;
            self.aligned += settled.aligned;
            self.chunks.add(&outcome.chunk, outcome.pairs, begin, |gathered| gathered.lines.add(settled))?;
        } else {
            let begin = || Gathered { pairs, ..Gathered::default() };
            let (results, aligned) = self.aligner.results(outcome.report, self.pool)?;
            self.aligned += aligned;
            self.chunks.add(&outcome.chunk, outcome.pairs, begin, |gathered| {
                let bytes = results.iter().map(PairResult::bytes).sum();
                gathered.rows.extend(results);
                Ok(bytes)
            })?;
        }
        self.hand_over()
    }

    /// Hands over every complete chunk whose turn it is.
    fn hand_over(&mut self) -> Result<()> {
        while let Some((queries, Gathered { pairs, mut rows, mut lines })) = self.chunks.complete() {
            let strands = self.aligner.planned.strands;
            let selection = Selection::of(&self.aligner.job, strands.copies() > 1);
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

    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_done()?;
        self.chunks.end()?;
        Ok(Summary { aligned: self.aligned, ..self.delivery.finish()? })
    }
}
