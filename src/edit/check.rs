//! What a report of distances can be: whoever computed it, what cannot be is found before anybody reads it.

use rayon::prelude::*;

use super::distances::{Distances, between, may_leave_out};
use super::{EditBatch, EditBlock, EditChunk, EditReport, GROUP_PAIRS, Group, groups};
use crate::engine::check;
use crate::score::{EditDistance, EditMode, EditScheme, OverlapReach};

/// What can be found of a pattern and a text of some lengths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Possible {
    least: u32,
    most: u32,
    text_symbols: u32,
    may_be_none: bool,
}

impl Possible {
    /// Of a pattern of `m` and a text of `n` symbols.
    #[inline]
    pub(super) fn of(scheme: &EditScheme, m: u32, n: u32) -> Self {
        let (least, most) = match scheme.mode {
            EditMode::Global => (m.abs_diff(n), m.max(n)),
            EditMode::Infix | EditMode::Prefix => (m.saturating_sub(n), m),
            EditMode::Overlap(_) => (0, m.min(n)),
        };
        let is_rated = matches!(scheme.mode, EditMode::Overlap(reach) if reach.rate < OverlapReach::ANY_RATE);
        let may_be_none = is_rated || scheme.limit(m, n) < most;
        Possible { least, most, text_symbols: n, may_be_none }
    }

    /// Whether this is among it. Without branches, which loops over many pairs would not be vectorised for.
    #[inline]
    pub(super) fn has(&self, found: EditDistance) -> bool {
        let is_near = (found.distance >= self.least) & (found.distance <= self.most);
        is_near & (found.end <= self.text_symbols) | self.may_be_none & (found == EditDistance::NONE)
    }
}

/// [`crate::engine::Work::check`].
pub(super) fn check(batch: &EditBatch, report: &EditReport) -> Result<(), String> {
    let finished = check_sizes(batch, report)?;
    let mut groups = groups(batch, GROUP_PAIRS).into_iter();
    groups.try_for_each(|group| check_group(batch, &finished, &group, &report.found))
}

/// [`crate::engine::Work::check_on`].
pub(super) fn check_on(pool: &rayon::ThreadPool, batch: &EditBatch, report: &EditReport) -> Result<(), String> {
    if report.found.pairs() <= GROUP_PAIRS {
        return check(batch, report);
    }
    pool.install(|| {
        let finished = check_sizes(batch, report)?;
        let check = |group: Group| check_group(batch, &finished, &group, &report.found);
        groups(batch, GROUP_PAIRS).into_par_iter().try_for_each(check)
    })
}

/// Which blocks are finished, if there are as many results as pairs.
fn check_sizes(batch: &EditBatch, report: &EditReport) -> Result<Vec<bool>, String> {
    let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
    if report.found.pairs() as u64 != batch.pairs() {
        return Err(format!("{} results for {} pairs", report.found.pairs(), batch.pairs()));
    }
    if let Distances::Listed { pairs, list } = &report.found
        && !(list.is_sorted_by(|(one, _), (next, _)| one < next)
            && list.last().is_none_or(|&(pair, _)| (pair as usize) < *pairs))
    {
        return Err("pairs are not listed in their order".into());
    }
    Ok(finished)
}

fn check_group(batch: &EditBatch, finished: &[bool], group: &Group, found: &Distances) -> Result<(), String> {
    let chunk = &batch.chunk;
    let (mut each, mut list) = match found {
        Distances::Each(found) => (&found[group.pairs.clone()], &[][..]),
        Distances::Listed { list, .. } => (&[][..], between(list, group.pairs.clone())),
    };
    let is_list = matches!(found, Distances::Listed { .. });
    let mut first = group.pairs.start;
    for index in group.blocks.clone() {
        let block = &batch.blocks[index];
        let m = chunk.patterns.length(block.pattern);
        let count = block.places.len();
        if is_list {
            let end = first + count;
            let (own, others) = list.split_at(list.iter().take_while(|&&(pair, _)| (pair as usize) < end).count());
            list = others;
            if finished[index] {
                if own.len() < count && !may_leave_out(&chunk.scheme, m) {
                    let mut listed = own.iter().map(|&(pair, _)| pair as usize).peekable();
                    for (pair, place) in (first..).zip(block.places.clone()) {
                        if listed.next_if_eq(&pair).is_none() {
                            check_pair(chunk, block, m, place, EditDistance::NONE)?;
                        }
                    }
                }
                for &(pair, found) in own {
                    let place = block.places.start + (pair as usize - first) as u32;
                    if found == EditDistance::NONE {
                        return Err(format!("a pair of pattern {} is listed without a distance", block.pattern));
                    }
                    check_pair(chunk, block, m, place, found)?;
                }
            }
            first = end;
            continue;
        }
        let (own, others) = each.split_at(count);
        each = others;
        let mut pairs = block.places.clone().zip(own).filter(|_| finished[index]);
        pairs.try_for_each(|(place, found)| check_pair(chunk, block, m, place, *found))?;
    }
    Ok(())
}

/// Checks what was found of a block's pattern of `m` symbols at a place.
#[inline]
fn check_pair(chunk: &EditChunk, block: &EditBlock, m: u32, place: u32, found: EditDistance) -> Result<(), String> {
    let n = chunk.region(place).symbols();
    if Possible::of(&chunk.scheme, m, n).has(found) {
        return Ok(());
    }
    Err(format!(
        "distance {} up to symbol {} of pattern {} of {m} and a text of {n} symbols",
        found.distance, found.end, block.pattern
    ))
}
