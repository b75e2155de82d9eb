//! Plausibility checks of reports. They detect impossible results of any engine before the results
//! are used.

use rayon::prelude::*;

use super::distances::{BatchDistances, can_omit, pairs_in_range};
use super::{BlockGroup, EditBatch, EditBlock, EditChunk, EditReport, GROUP_PAIRS, group_blocks};
use crate::engine::check;
use crate::score::{EditDistance, EditMode, EditScheme, OverlapReach};

/// The possible results of a pattern and a text with given lengths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Possible {
    least: u32,
    most: u32,
    text_symbols: u32,
    may_be_none: bool,
}

impl Possible {
    /// Returns the possible results for a pattern of `m` and a text of `n` symbols.
    #[inline]
    pub(super) fn for_lengths(scheme: &EditScheme, m: u32, n: u32) -> Self {
        let (least, most) = match scheme.mode {
            EditMode::Global => (m.abs_diff(n), m.max(n)),
            EditMode::Infix | EditMode::Prefix => (m.saturating_sub(n), m),
            EditMode::Overlap(_) => (0, m.min(n)),
        };
        let is_rated = matches!(scheme.mode, EditMode::Overlap(reach) if reach.rate < OverlapReach::ANY_RATE);
        let may_be_none = is_rated || scheme.limit(m, n) < most;
        Possible { least, most, text_symbols: n, may_be_none }
    }

    /// Checks whether a result is possible. It has no branches, so that loops over many pairs can
    /// be vectorised.
    #[inline]
    pub(super) fn has(&self, result: EditDistance) -> bool {
        let is_near = (result.distance >= self.least) & (result.distance <= self.most);
        is_near & (result.end <= self.text_symbols) | self.may_be_none & (result == EditDistance::NONE)
    }
}

/// Implements [`crate::engine::Work::check`].
pub(super) fn check(batch: &EditBatch, report: &EditReport) -> Result<(), String> {
    let finished = check_sizes(batch, report)?;
    let mut groups = group_blocks(batch, GROUP_PAIRS).into_iter();
    groups.try_for_each(|group| check_group(batch, &finished, &group, &report.distances))
}

/// Implements [`crate::engine::Work::check_on`].
pub(super) fn check_on(pool: &rayon::ThreadPool, batch: &EditBatch, report: &EditReport) -> Result<(), String> {
    if report.distances.pairs() <= GROUP_PAIRS {
        return check(batch, report);
    }
    pool.install(|| {
        let finished = check_sizes(batch, report)?;
        let check = |group: BlockGroup| check_group(batch, &finished, &group, &report.distances);
        group_blocks(batch, GROUP_PAIRS).into_par_iter().try_for_each(check)
    })
}

/// Returns which blocks are finished, if the number of results equals the number of pairs.
fn check_sizes(batch: &EditBatch, report: &EditReport) -> Result<Vec<bool>, String> {
    let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
    if report.distances.pairs() as u64 != batch.pairs() {
        return Err(format!("{} results for {} pairs", report.distances.pairs(), batch.pairs()));
    }
    if let BatchDistances::Listed { pairs, list } = &report.distances
        && !(list.is_sorted_by(|(one, _), (next, _)| one < next)
            && list.last().is_none_or(|&(pair, _)| (pair as usize) < *pairs))
    {
        return Err("the listed pairs are not in increasing order".into());
    }
    Ok(finished)
}

fn check_group(
    batch: &EditBatch,
    finished: &[bool],
    group: &BlockGroup,
    distances: &BatchDistances,
) -> Result<(), String> {
    let chunk = &batch.chunk;
    let (mut each, mut list) = match distances {
        BatchDistances::Each(distances) => (&distances[group.pairs.clone()], &[][..]),
        BatchDistances::Listed { list, .. } => (&[][..], pairs_in_range(list, group.pairs.clone())),
    };
    let is_list = matches!(distances, BatchDistances::Listed { .. });
    let mut first = group.pairs.start;
    for index in group.blocks.clone() {
        let block = &batch.blocks[index];
        let m = chunk.patterns.length(block.pattern);
        let count = block.regions.len();
        if is_list {
            let end = first + count;
            let (listed_pairs, others) =
                list.split_at(list.iter().take_while(|&&(pair, _)| (pair as usize) < end).count());
            list = others;
            if finished[index] {
                if listed_pairs.len() < count && !can_omit(&chunk.scheme, m) {
                    let mut listed = listed_pairs.iter().map(|&(pair, _)| pair as usize).peekable();
                    for (pair, region_index) in (first..).zip(block.regions.clone()) {
                        if listed.next_if_eq(&pair).is_none() {
                            check_pair(chunk, block, m, region_index, EditDistance::NONE)?;
                        }
                    }
                }
                for &(pair, distances) in listed_pairs {
                    let region_index = block.regions.start + (pair as usize - first) as u32;
                    if distances == EditDistance::NONE {
                        return Err(format!("a pair of pattern {} is listed without a distance", block.pattern));
                    }
                    check_pair(chunk, block, m, region_index, distances)?;
                }
            }
            first = end;
            continue;
        }
        let (results, others) = each.split_at(count);
        each = others;
        let mut pairs = block.regions.clone().zip(results).filter(|_| finished[index]);
        pairs.try_for_each(|(region_index, distances)| check_pair(chunk, block, m, region_index, *distances))?;
    }
    Ok(())
}

/// Checks the result of a block's pattern of `m` symbols and one region.
#[inline]
fn check_pair(
    chunk: &EditChunk,
    block: &EditBlock,
    m: u32,
    region_index: u32,
    result: EditDistance,
) -> Result<(), String> {
    let n = chunk.region(region_index).symbols();
    if Possible::for_lengths(&chunk.scheme, m, n).has(result) {
        return Ok(());
    }
    Err(format!(
        "impossible distance {} with end {} of pattern {} with {m} symbols and a text with {n} symbols",
        result.distance, result.end, block.pattern
    ))
}
