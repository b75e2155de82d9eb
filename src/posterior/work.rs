//! Chunks, blocks, batches and reports for the computation of pair probabilities on engines.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use super::all_pairs::{IndexedPairs, MeanProbabilities};
use super::floats::LANES;
use super::model::Model;
use super::sparse::Sparse;
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::{Error, Result};

/// Minimum number of blocks whose results one task checks.
const MIN_BLOCKS_PER_TASK: usize = 16;

/// Number of cells of the pairs that are computed under all models before other pairs. Pairs that
/// wait for a model need more memory than their mean.
const SEGMENT_CELLS: u64 = 1 << 29;

/// Data that the blocks of a batch share.
#[derive(Debug)]
pub struct PosteriorChunk {
    /// The sequences.
    pub sequences: Arc<SequenceStore>,
    /// Sequences in order of length, so that neighbours have similar lengths. The positions in
    /// blocks index this list.
    pub(super) order: Vec<SequenceId>,
    pub(super) model: Model,
    /// Whether each code occurs in a sequence.
    pub(super) wanted: Vec<bool>,
}

impl PosteriorChunk {
    /// Returns the codes of the sequence at a position of the order.
    pub(super) fn codes(&self, position: u32) -> &[Code] {
        self.sequences.codes(self.order[position as usize])
    }

    /// Returns the length of the sequence at a position of the order.
    pub(super) fn length(&self, position: u32) -> u32 {
        self.sequences.length(self.order[position as usize])
    }

    fn cells(&self, row: u32, column: u32) -> u64 {
        u64::from(self.length(row)) * u64::from(self.length(column))
    }

    /// Creates the block of a row sequence against a range of positions.
    fn block(&self, row: u32, columns: Range<u32>) -> PosteriorBlock {
        PosteriorBlock { row, cells: columns.clone().map(|column| self.cells(row, column)).sum(), columns }
    }
}

/// The smallest unit of work: one row sequence against several column sequences, which are not
/// longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PosteriorBlock {
    /// Position of the row sequence in the order.
    pub row: u32,
    /// Positions of the column sequences. All belong to the same group, whose sequences fill the
    /// lanes of the CPU kernel.
    pub columns: Range<u32>,
    /// Number of cells of all pairs.
    pub cells: u64,
}

/// The job kind that computes the probabilities of residue pairs.
#[derive(Debug, Clone, Copy)]
pub struct Posterior;

/// Blocks that an engine computes together.
pub type PosteriorBatch = Batch<Posterior>;

/// Result of a batch.
#[derive(Debug, Clone, Default)]
pub struct PosteriorReport {
    /// Probabilities of each pair of sequences, ordered by block and then by column sequence.
    /// Entries of unfinished blocks are placeholders.
    pub(super) probabilities: Vec<Sparse>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device spent in kernels, if it is known.
    pub kernel_time: Option<Duration>,
}

impl PosteriorReport {
    /// Returns the first pair whose probabilities differ from another report in at least one bit.
    pub fn differs(&self, other: &Self) -> Option<usize> {
        let (these, others) = (&self.probabilities, &other.probabilities);
        if these.len() != others.len() {
            return Some(these.len().min(others.len()));
        }
        these.iter().zip(others).position(|(a, b)| a != b)
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
        finished(batch, report)?.into_iter().try_for_each(|(block, these)| check_block(&batch.chunk, block, these))
    }

    fn check_on(pool: &rayon::ThreadPool, batch: &PosteriorBatch, report: &PosteriorReport) -> Result<(), String> {
        let finished = finished(batch, report)?;
        let check = |(block, these)| check_block(&batch.chunk, block, these);
        pool.install(|| finished.into_par_iter().with_min_len(MIN_BLOCKS_PER_TASK).try_for_each(check))
    }
}

/// Returns the finished blocks with their probabilities.
fn finished<'a>(
    batch: &'a PosteriorBatch,
    report: &'a PosteriorReport,
) -> Result<Vec<(&'a PosteriorBlock, &'a [Sparse])>, String> {
    let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
    if report.probabilities.len() as u64 != batch.pairs() {
        return Err(format!("{} probabilities for {} pairs", report.probabilities.len(), batch.pairs()));
    }
    let mut rest = &report.probabilities[..];
    let with_pairs = |(block, is_finished): (&'a PosteriorBlock, bool)| {
        let (block_pairs, others) = rest.split_at(block.columns.len());
        rest = others;
        is_finished.then_some((block, block_pairs))
    };
    Ok(batch.blocks.iter().zip(finished).filter_map(with_pairs).collect())
}

fn check_block(chunk: &PosteriorChunk, block: &PosteriorBlock, these: &[Sparse]) -> Result<(), String> {
    for (column, sparse) in block.columns.clone().zip(these) {
        let lengths = [block.row, column].map(|index| chunk.length(index) as usize);
        if !(sparse.rows() == lengths[0] && sparse.is_within(lengths[1])) {
            return Err(format!("probabilities outside the residues of sequences of {lengths:?} residues"));
        }
    }
    Ok(())
}

/// All pairs of a store as blocks.
#[derive(Debug, Clone)]
pub struct PosteriorPlan {
    /// Data that all blocks share.
    pub chunk: Arc<PosteriorChunk>,
    /// The blocks, ordered by the group of their columns.
    pub blocks: Vec<PosteriorBlock>,
}

impl PosteriorPlan {
    /// Plans all pairs of a store under the first model of its alphabet.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for bytes and for sequences that are too long.
    pub fn new(sequences: Arc<SequenceStore>) -> Result<Self> {
        let model = super::model_of(&sequences)?;
        let all = [(0..sequences.len()).collect()];
        Ok(PosteriorPlan::within(&sequences, model, &all))
    }

    /// Plans all pairs of a store once for each model of its alphabet.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for bytes and for sequences that are too long.
    pub fn of_all_models(sequences: &Arc<SequenceStore>) -> Result<Vec<Self>> {
        let all = [(0..sequences.len()).collect()];
        let plan = |model| PosteriorPlan::within(sequences, model, &all);
        Ok(super::models_of(sequences)?.into_iter().map(plan).collect())
    }

    /// Plans the pairs within each group of sequences of a store.
    pub(super) fn within(sequences: &Arc<SequenceStore>, model: Model, groups: &[Vec<usize>]) -> Self {
        let mut planned = PosteriorPlanner::default();
        for group in groups.iter().filter(|group| group.len() > 1) {
            let mut members: Vec<SequenceId> = group.iter().map(|&member| member as SequenceId).collect();
            members.sort_by_key(|&id| (sequences.length(id), id));
            let places = planned.push(&members);
            for first in places.clone().step_by(LANES) {
                planned.add(first + 1..places.end, first..places.end.min(first + LANES as u32));
            }
        }
        planned.into_plan(sequences, model)
    }

    /// Plans the pairs of each sequence of the first group with each sequence of the second group,
    /// for several pairs of groups.
    pub(super) fn between<'a>(
        sequences: &Arc<SequenceStore>,
        model: Model,
        groups: impl Iterator<Item = [&'a [SequenceId]; 2]>,
    ) -> Self {
        let mut planned = PosteriorPlanner::default();
        for [rows, columns] in groups {
            let (columns, rows) = (planned.push(columns), planned.push(rows));
            for first in columns.clone().step_by(LANES) {
                planned.add_all(rows.clone(), first..columns.end.min(first + LANES as u32));
            }
        }
        planned.into_plan(sequences, model)
    }

    /// Returns the blocks of plans that have the same pairs and different models. In their order,
    /// few pairs wait for a model.
    pub fn in_order_of_pairs(plans: &[Self]) -> Vec<(&Arc<PosteriorChunk>, &[PosteriorBlock])> {
        let [first, ..] = plans else { return Vec::new() };
        let segment_cells = if plans.len() == 1 { u64::MAX } else { SEGMENT_CELLS };
        let (mut parts, mut start, mut cells) = (Vec::new(), 0, 0);
        for (index, block) in first.blocks.iter().enumerate() {
            cells += block.cells;
            let end = index + 1;
            if cells >= segment_cells || end == first.blocks.len() {
                parts.extend(plans.iter().map(|plan| (&plan.chunk, &plan.blocks[start..end])));
                (start, cells) = (end, 0);
            }
        }
        parts
    }

    /// Returns the number of cells of all blocks.
    pub fn cells(&self) -> u64 {
        self.blocks.iter().map(|block| block.cells).sum()
    }
}

/// Plans selected pairs of sequences, as positions in an order.
#[derive(Debug, Default)]
struct PosteriorPlanner {
    order: Vec<SequenceId>,
    /// Position of each row sequence, and positions of its column sequences.
    blocks: Vec<(u32, Range<u32>)>,
}

impl PosteriorPlanner {
    /// Appends sequences that are compared, and returns their positions. The first one fills the
    /// first lane of a group.
    fn push(&mut self, sequences: &[SequenceId]) -> Range<u32> {
        let filler = self.order.last().copied().unwrap_or_default();
        self.order.resize(self.order.len().next_multiple_of(LANES), filler);
        let start = self.order.len() as u32;
        self.order.extend_from_slice(sequences);
        start..self.order.len() as u32
    }

    /// Adds the pairs of each row with the columns before it.
    fn add(&mut self, rows: Range<u32>, columns: Range<u32>) {
        self.blocks.extend(rows.map(|row| (row, columns.start..row.min(columns.end))));
    }

    /// Adds the pairs of each row with all columns.
    fn add_all(&mut self, rows: Range<u32>, columns: Range<u32>) {
        self.blocks.extend(rows.map(|row| (row, columns.clone())));
    }

    fn into_plan(self, sequences: &Arc<SequenceStore>, model: Model) -> PosteriorPlan {
        let PosteriorPlanner { order, blocks } = self;
        let wanted = model.present_codes(order.iter().map(|&id| sequences.codes(id)));
        let chunk = PosteriorChunk { sequences: Arc::clone(sequences), order, model, wanted };
        let blocks = blocks.into_iter().map(|(row, columns)| chunk.block(row, columns)).collect();
        PosteriorPlan { chunk: Arc::new(chunk), blocks }
    }
}

/// Collected probabilities of pairs of sequences: means over one or several models.
#[derive(Debug)]
pub struct GatheredProbabilities {
    means: MeanProbabilities,
}

impl GatheredProbabilities {
    /// Creates an empty collection for the results of plans that have the same pairs and different
    /// models.
    pub fn of_plans(plans: &[PosteriorPlan]) -> Self {
        let pairs = plans.first().map_or(0, |plan| plan.blocks.iter().map(Posterior::pairs).sum::<u64>());
        GatheredProbabilities { means: MeanProbabilities::new(plans.len(), pairs as usize) }
    }

    /// Returns the number of pairs.
    #[allow(clippy::len_without_is_empty, reason = "only the number is needed")]
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Adds the finished blocks of a report.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the report contains blocks that do not exist.
    pub fn add(&mut self, batch: &PosteriorBatch, report: PosteriorReport) -> Result<()> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished).map_err(Error::Internal)?;
        let mut all = report.probabilities.into_iter();
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            for (column, sparse) in block.columns.clone().zip(all.by_ref()) {
                if is_finished {
                    let [row, other] = [block.row, column].map(|index| batch.chunk.order[index as usize] as usize);
                    self.means.add(row, other, sparse);
                }
            }
        }
        Ok(())
    }

    /// Returns the means of all pairs.
    pub(super) fn into_pairs(self) -> IndexedPairs {
        self.means.into_pairs()
    }
}
