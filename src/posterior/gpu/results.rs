//! Converts results of the kernels to probabilities. The CPU computes the sum over all alignments
//! and divides the products by it.

use rayon::prelude::*;

use crate::posterior::floats::{LANES, LaneArray};
use crate::posterior::kernel::CUTOFF;
use crate::posterior::kernels::layout::PosteriorPair;
use crate::posterior::kernels::tasks::PosteriorTasks;
use crate::posterior::scale::{BLOCK, LaneShares, LaneTotal, NO_EXPONENTS, STEP};
use crate::posterior::sparse::Sparse;
use crate::posterior::work::{PosteriorBatch, PosteriorReport};

/// Number of u32 values before the data of an output: the number of survivors that needed memory,
/// and unused values.
pub(super) const OUTPUT_HEADER: usize = 4;

/// Returns the report of a batch without times, and the number of survivors that needed memory.
pub(super) fn read(
    words: &[u32],
    tasks: &PosteriorTasks,
    capacity: u32,
    batch: &PosteriorBatch,
) -> (PosteriorReport, u64) {
    let (used, data) = (words[0], &words[OUTPUT_HEADER..]);
    let (results, arena) = data.split_at(tasks.result_words as usize);
    let arena = &arena[..2 * used.min(capacity) as usize];
    // The length of a list shows whether it fitted its memory.
    let lists = tasks.list.iter().flat_map(|task| std::iter::repeat_n(task.list, task.count as usize));
    let all: Vec<(&PosteriorPair, u32)> = tasks.pairs.iter().zip(lists).collect();
    let end_gap = batch.chunk.model.end_gap;
    let sparse: Vec<Option<Sparse>> =
        all.par_iter().map(|&(pair, list)| decode_pair(pair, list, end_gap, [results, arena])).collect();
    let mut probabilities = vec![Some(Sparse::default()); batch.pairs() as usize];
    for (sparse, &position) in sparse.into_iter().zip(&tasks.places) {
        probabilities[position as usize] = sparse;
    }
    let mut report = PosteriorReport::default();
    let mut all = probabilities.into_iter();
    for (index, block) in batch.blocks.iter().enumerate() {
        let mut is_finished = true;
        for sparse in all.by_ref().take(block.columns.len()) {
            is_finished &= sparse.is_some();
            report.probabilities.push(match sparse {
                // Sequences without residues were not computed.
                Some(sparse) if sparse.rows() == 0 => Sparse::new(batch.chunk.length(block.row) as usize, &[]),
                Some(sparse) => sparse,
                None => Sparse::default(),
            });
        }
        if !is_finished {
            report.unfinished.push(index);
        }
    }
    (report, u64::from(used))
}

/// Returns the probabilities of a pair, or `None` if they did not fit in memory.
fn decode_pair(pair: &PosteriorPair, list: u32, end_gap: f32, [results, arena]: [&[u32]; 2]) -> Option<Sparse> {
    let mut rest = &results[pair.out_begin as usize..];
    let [header, rows, groups, columns, blocks] = pair.parts().map(|words| {
        let (part, after) = rest.split_at(words as usize);
        rest = after;
        part
    });
    let mut total = LaneTotal::default();
    let last = rows.len() - 1;
    for (row, &value) in rows[..last].iter().enumerate() {
        total.add(f32::from_bits(value) * end_gap, groups[row / STEP] as i32);
    }
    for (column, &value) in columns.iter().enumerate() {
        let end = if column + 1 == columns.len() { 1.0 } else { end_gap };
        total.add(f32::from_bits(value) * end, blocks[column / BLOCK] as i32);
    }
    let &[exponent, _, count, start] = header else { return None };
    let start = 2 * start as usize;
    let survivors = (count <= list).then(|| arena.get(start..start + 2 * count as usize)).flatten()?;
    // Values are in units of 2 to the power of the exponent that the kernel used for the sum.
    let shares = LaneShares::new(&[total; LANES], 0..1);
    let share = shares.factors(&LaneArray::splat(exponent as i32), &NO_EXPONENTS).0[0];
    let pairs = survivors.chunks_exact(2).filter_map(|survivor| {
        let probability = f32::from_bits(survivor[1]) * share;
        let position = (survivor[0] >> 16, survivor[0] & 0xffff);
        (probability >= CUTOFF).then_some((position.0, position.1, probability.min(1.0)))
    });
    Some(Sparse::from_any_order(rows.len(), pairs))
}
