//! From what kernels hand over to probabilities: the sum over all alignments and the last steps are the CPU's own.

use rayon::prelude::*;

use crate::posterior::floats::{LANES, Lane};
use crate::posterior::kernel::CUTOFF;
use crate::posterior::kernels::layout::Pair;
use crate::posterior::kernels::tasks::Tasks;
use crate::posterior::scale::{BLOCK, NO_EXPONENTS, STEP, Shares, Total};
use crate::posterior::sparse::Sparse;
use crate::posterior::work::{PosteriorBatch, PosteriorReport};

/// Words of an output before data: survivors that were wanted, and nothing.
pub(super) const OUTPUT_HEADER: usize = 4;

/// The report of a batch, without times, and the survivors that there was room needed for.
pub(super) fn read(words: &[u32], tasks: &Tasks, capacity: u32, batch: &PosteriorBatch) -> (PosteriorReport, u64) {
    let (used, data) = (words[0], &words[OUTPUT_HEADER..]);
    let (results, arena) = data.split_at(tasks.result_words as usize);
    let arena = &arena[..2 * used.min(capacity) as usize];
    // Longer lists than there is memory for are told by their number.
    let lists = tasks.list.iter().flat_map(|task| std::iter::repeat_n(task.list, task.count as usize));
    let all: Vec<(&Pair, u32)> = tasks.pairs.iter().zip(lists).collect();
    let sparse: Vec<Option<Sparse>> = all.par_iter().map(|&(pair, list)| one(pair, list, results, arena)).collect();
    let mut probabilities = vec![Some(Sparse::default()); batch.pairs() as usize];
    for (sparse, &place) in sparse.into_iter().zip(&tasks.places) {
        probabilities[place as usize] = sparse;
    }
    let mut report = PosteriorReport::default();
    let mut all = probabilities.into_iter();
    for (index, block) in batch.blocks.iter().enumerate() {
        let mut is_finished = true;
        for sparse in all.by_ref().take(block.columns.len()) {
            is_finished &= sparse.is_some();
            report.probabilities.push(match sparse {
                // Nothing was computed of sequences without residues.
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

/// The probabilities of a pair; `None` if there was no room for them.
fn one(pair: &Pair, list: u32, results: &[u32], arena: &[u32]) -> Option<Sparse> {
    let mut rest = &results[pair.out_begin as usize..];
    let [header, rows, groups, columns, blocks] = pair.parts().map(|words| {
        let (part, after) = rest.split_at(words as usize);
        rest = after;
        part
    });
    let mut total = Total::default();
    let last = rows.len() - 1;
    for (row, &value) in rows[..last].iter().enumerate() {
        total.add(f32::from_bits(value), groups[row / STEP] as i32);
    }
    for (column, &value) in columns.iter().enumerate() {
        total.add(f32::from_bits(value), blocks[column / BLOCK] as i32);
    }
    let &[exponent, _, count, begin] = header else { return None };
    let begin = 2 * begin as usize;
    let own = (count <= list).then(|| arena.get(begin..begin + 2 * count as usize)).flatten()?;
    // Values are in units of two to the exponent that the kernel took the sum for.
    let shares = Shares::new(&[total; LANES], 0..1);
    let share = shares.of(&Lane::splat(exponent as i32), &NO_EXPONENTS).0[0];
    let found = own.chunks_exact(2).filter_map(|survivor| {
        let probability = f32::from_bits(survivor[1]) * share;
        let place = (survivor[0] >> 16, survivor[0] & 0xffff);
        (probability >= CUTOFF).then_some((place.0, place.1, probability.min(1.0)))
    });
    Some(Sparse::from_any_order(rows.len(), found))
}
