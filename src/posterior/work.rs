//! Probabilities of pairs of sequences as work: what a block, a batch and a report are.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use super::floats::LANES;
use super::model::Model;
use super::sparse::Sparse;
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::{Error, Result};

/// Blocks whose reports a task checks at least.
const BLOCKS_A_TASK: usize = 16;

/// What the blocks of a batch share.
#[derive(Debug)]
pub struct PosteriorChunk {
    /// The sequences.
    pub sequences: Arc<SequenceStore>,
    /// By rising length, so that neighbours differ little in it: blocks count places in it.
    pub(super) order: Vec<SequenceId>,
    pub(super) model: Model,
    /// Codes that are in a sequence.
    pub(super) wanted: Vec<bool>,
}

impl PosteriorChunk {
    /// The codes of the sequence at a place of the order.
    pub(super) fn codes(&self, place: u32) -> &[Code] {
        self.sequences.codes(self.order[place as usize])
    }

    /// The length of the sequence at a place of the order.
    pub(super) fn length(&self, place: u32) -> u32 {
        self.sequences.length(self.order[place as usize])
    }

    fn cells(&self, row: u32, column: u32) -> u64 {
        u64::from(self.length(row)) * u64::from(self.length(column))
    }

    /// A sequence against a range of the order.
    fn block(&self, row: u32, columns: Range<u32>) -> PosteriorBlock {
        PosteriorBlock { row, cells: columns.clone().map(|column| self.cells(row, column)).sum(), columns }
    }
}

/// The least piece of work: one sequence, of which residues are rows, against no longer ones of a group, of which they are
/// columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PosteriorBlock {
    /// The place of the sequence in the order.
    pub row: u32,
    /// The places of the others; all of one group of as many as the CPU has lanes.
    pub columns: Range<u32>,
    /// Cells of all its pairs together.
    pub cells: u64,
}

/// Probabilities of pairs of residues.
#[derive(Debug, Clone, Copy)]
pub struct Posterior;

/// Blocks that are computed together.
pub type PosteriorBatch = Batch<Posterior>;

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct PosteriorReport {
    /// One a pair: of all blocks in their order, of a block's columns in theirs. Of blocks that are not finished nothing is in
    /// them.
    pub(super) probabilities: Vec<Sparse>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with kernels, where it can be told.
    pub kernel_time: Option<Duration>,
}

impl PosteriorReport {
    /// Probable pairs of residues, of all pairs of sequences together.
    pub fn found(&self) -> usize {
        self.probabilities.iter().map(Sparse::cells).sum()
    }
}

impl PosteriorReport {
    /// The first pair whose probabilities another report has different, if only in the last bit.
    pub fn differs(&self, other: &Self) -> Option<usize> {
        let (own, others) = (&self.probabilities, &other.probabilities);
        if own.len() != others.len() {
            return Some(own.len().min(others.len()));
        }
        own.iter().zip(others).position(|(a, b)| a != b)
    }
}

impl BatchReport for PosteriorReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

impl Work for Posterior {
    type Chunk = PosteriorChunk;
    type Block = PosteriorBlock;
    type Class = ();
    type Report = PosteriorReport;

    fn pairs(block: &PosteriorBlock) -> u64 {
        block.columns.len() as u64
    }

    fn cells(block: &PosteriorBlock) -> u64 {
        block.cells
    }

    fn first_cells(chunk: &PosteriorChunk, block: &PosteriorBlock) -> Option<u64> {
        block.columns.clone().next().map(|column| chunk.cells(block.row, column))
    }

    fn one_block(_chunk: &PosteriorChunk, _store_bytes: u64) -> bool {
        false
    }

    fn split(
        chunk: &PosteriorChunk,
        block: PosteriorBlock,
        portion: Portion,
    ) -> (PosteriorBlock, Option<PosteriorBlock>) {
        let PosteriorBlock { row, columns: Range { start, end }, .. } = block;
        let (mut cut, mut cells) = (start, 0);
        while cut < end && u64::from(cut - start) < portion.pairs.max(1) {
            cells += chunk.cells(row, cut);
            if cut > start && cells > portion.cells {
                break;
            }
            cut += 1;
        }
        if cut == end { (block, None) } else { (chunk.block(row, start..cut), Some(chunk.block(row, cut..end))) }
    }

    fn check(batch: &PosteriorBatch, report: &PosteriorReport) -> Result<(), String> {
        finished(batch, report)?.into_iter().try_for_each(|(block, own)| check_block(&batch.chunk, block, own))
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &PosteriorBatch, report: &PosteriorReport) -> Result<(), String> {
        let finished = finished(batch, report)?;
        let check = |(block, own)| check_block(&batch.chunk, block, own);
        pool.install(|| finished.into_par_iter().with_min_len(BLOCKS_A_TASK).try_for_each(check))
    }
}

/// The blocks that are finished, and what came of their pairs.
fn finished<'a>(
    batch: &'a PosteriorBatch,
    report: &'a PosteriorReport,
) -> Result<Vec<(&'a PosteriorBlock, &'a [Sparse])>, String> {
    let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
    if report.probabilities.len() as u64 != batch.pairs() {
        return Err(format!("probabilities of {} pairs for {}", report.probabilities.len(), batch.pairs()));
    }
    let mut rest = &report.probabilities[..];
    let with_own = |(block, is_finished): (&'a PosteriorBlock, bool)| {
        let (own, others) = rest.split_at(block.columns.len());
        rest = others;
        is_finished.then_some((block, own))
    };
    Ok(batch.blocks.iter().zip(finished).filter_map(with_own).collect())
}

fn check_block(chunk: &PosteriorChunk, block: &PosteriorBlock, own: &[Sparse]) -> Result<(), String> {
    for (column, sparse) in block.columns.clone().zip(own) {
        let lengths = [block.row, column].map(|place| chunk.length(place) as usize);
        if !(sparse.rows() == lengths[0] && sparse.is_within(lengths[1])) {
            return Err(format!("probabilities that sequences of {lengths:?} residues cannot have"));
        }
    }
    Ok(())
}

/// All pairs of a store.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What all blocks share.
    pub chunk: Arc<PosteriorChunk>,
    /// The blocks: of a group's columns one after the other.
    pub blocks: Vec<PosteriorBlock>,
}

impl Plan {
    /// Of all sequences.
    ///
    /// # Errors
    /// [`Error::Usage`] of bytes, and of sequences that are too long.
    pub fn new(sequences: Arc<SequenceStore>) -> Result<Self> {
        let model = super::model_of(&sequences)?;
        let mut wanted = vec![false; model.codes()];
        let mut order: Vec<SequenceId> = (0..sequences.len() as SequenceId).collect();
        for &id in &order {
            sequences.codes(id).iter().for_each(|&code| wanted[usize::from(code)] = true);
        }
        order.sort_by_key(|&id| (sequences.length(id), id));
        let count = order.len() as u32;
        let chunk = PosteriorChunk { sequences, order, model, wanted };
        let mut blocks = Vec::new();
        for first in (0..count).step_by(LANES) {
            let rows = first + 1..count;
            blocks.extend(rows.map(|row| chunk.block(row, first..row.min(first + LANES as u32))));
        }
        Ok(Plan { chunk: Arc::new(chunk), blocks })
    }

    /// Where probabilities are gathered.
    pub fn gather(&self) -> Gathered {
        Gathered { pairs: Vec::with_capacity(self.blocks.iter().map(Posterior::pairs).sum::<u64>() as usize) }
    }
}

/// Probabilities of pairs of sequences as they came: rows are of the sequence that is named first.
#[derive(Debug, Default)]
pub struct Gathered {
    pub(super) pairs: Vec<((usize, usize), Sparse)>,
}

impl Gathered {
    /// Takes what an engine finished.
    ///
    /// # Errors
    /// [`Error::Internal`] if the report names blocks that there are not.
    pub fn add(&mut self, batch: &PosteriorBatch, report: PosteriorReport) -> Result<()> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished).map_err(Error::Internal)?;
        let mut all = report.probabilities.into_iter();
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            for (column, sparse) in block.columns.clone().zip(all.by_ref()) {
                if is_finished {
                    let [row, other] = [block.row, column].map(|place| batch.chunk.order[place as usize] as usize);
                    self.pairs.push(((row, other), sparse));
                }
            }
        }
        Ok(())
    }
}
