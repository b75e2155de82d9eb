//! Results of engines, put in their places.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::EditDistances;
use crate::edit::plan::{Against, CANDIDATES_AT_ONCE, Candidate};
use crate::edit::{Distances, Edit, Places};
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::score::Found;
use crate::seq::{Part, QueryStrands, SequenceId};

/// Puts what engines found in input order: chunk by chunk, or all of it.
pub(super) struct Collector {
    layout: Layout,
    strands: QueryStrands,
    kept: Kept,
}

/// Where a pair stands in its chunk.
#[derive(Clone, Copy)]
enum Layout {
    /// All pairs of so many sequences: with every pattern the later ones.
    Later(usize),
    /// With every pattern so many texts.
    Texts(usize),
    /// Candidates, in the order of computing.
    Candidates,
}

enum Kept {
    /// Of every pair of a chunk, in input order.
    Chunks(Ordered<OpenChunk>),
    /// Of every candidate of a part, where nothing can be handed over before all of them are there.
    Parts(VecDeque<OpenPart>),
}

/// A chunk whose results are coming in.
struct OpenChunk {
    found: Distances,
    /// The first text, where one sequence meets all texts of the chunk: these follow each other, and may be some of all.
    first_text: Option<SequenceId>,
}

/// Candidates that are handed over together.
struct OpenPart {
    range: Range<u32>,
    pairs_left: u64,
    /// What was found, in input order, but for a list that is in none.
    found: Distances,
    order: Option<Vec<u32>>,
}

/// What can be handed over.
pub(super) struct Complete {
    /// Patterns, or candidates where these were given, of each strand.
    pub range: Range<u32>,
    /// What was found of their pairs, in input order; of both strands the reverse one after the forward one.
    pub found: Distances,
    /// Whether it is a whole part of candidates.
    pub is_part: bool,
    /// Which candidate of the part stands at each place of the order of computing; `None` if that is the order of input.
    pub order: Option<Vec<u32>>,
}

impl Collector {
    /// `parts`: of candidates, those that are computed. `orders`: of each part that in which its candidates are computed, if it
    /// is not that of the input.
    pub(super) fn new(job: &EditDistances, parts: &[Part], orders: Vec<Option<Vec<u32>>>) -> Self {
        let strands = job.strands();
        let (layout, are_candidates) = match &job.against {
            Against::Later => (Layout::Later(job.patterns.len()), false),
            Against::Texts(texts) => (Layout::Texts(texts.len()), false),
            Against::Candidates(..) => (Layout::Candidates, true),
        };
        // The candidates of one pattern may be in several chunks.
        let kept = if are_candidates && (job.max_hits.is_some() || orders.iter().any(Option::is_some)) {
            let open = parts.iter().zip(orders).map(|(part, order)| {
                let range = part.queries.clone();
                OpenPart { pairs_left: range.len() as u64, found: nothing_of(range.len() as u64), range, order }
            });
            Kept::Parts(open.collect())
        } else {
            Kept::Chunks(Ordered::new())
        };
        Collector { layout, strands, kept }
    }

    /// How far chunks may be planned ahead: without bound where all is kept in any case.
    pub(super) fn ahead(&self) -> Arc<ReorderWindow> {
        match &self.kept {
            Kept::Chunks(chunks) => chunks.window(),
            Kept::Parts(_) => Arc::default(),
        }
    }

    /// Takes what an engine found.
    pub(super) fn take(&mut self, outcome: &BatchOutcome<Edit>) -> Result<()> {
        let (layout, strands) = (self.layout, self.strands);
        match &mut self.kept {
            Kept::Parts(parts) => take_candidates(parts, outcome),
            Kept::Chunks(chunks) => chunks.add(
                &outcome.chunk,
                outcome.pairs,
                || OpenChunk::new(outcome, strands),
                |chunk| Ok(chunk.take(outcome, layout, strands)),
            ),
        }
    }

    /// What is next, if it is complete.
    pub(super) fn complete(&mut self) -> Option<Complete> {
        match &mut self.kept {
            Kept::Chunks(chunks) => {
                let (range, found) = chunks.complete()?;
                Some(Complete { range, found: in_order(found.found), is_part: false, order: None })
            }
            Kept::Parts(parts) => {
                parts.front().filter(|part| part.pairs_left == 0)?;
                let OpenPart { range, found, order, .. } = parts.pop_front()?;
                Some(Complete { range, found: in_order(found), is_part: true, order })
            }
        }
    }

    /// There is nothing more to come.
    pub(super) fn end(self) -> Result<()> {
        match self.kept {
            Kept::Chunks(chunks) => chunks.end(),
            Kept::Parts(parts) => match parts.front() {
                None => Ok(()),
                Some(part) => Err(Error::Internal(format!("the job is short of {} pairs", part.pairs_left))),
            },
        }
    }
}

/// Puts what was found of candidates in their part.
fn take_candidates(parts: &mut VecDeque<OpenPart>, outcome: &BatchOutcome<Edit>) -> Result<()> {
    if outcome.pairs == 0 {
        // The part may have been handed over.
        return Ok(());
    }
    let begin = outcome.chunk.queries.start;
    let wrong = || Error::Internal("the job has more pairs than it began with".into());
    let part = parts.iter_mut().find(|part| part.range.contains(&begin)).ok_or_else(wrong)?;
    part.pairs_left = part.pairs_left.checked_sub(outcome.pairs).ok_or_else(wrong)?;
    let begin = begin - part.range.start;
    let order = part.order.as_deref();
    put(&mut part.found, outcome, order.is_none(), |_, place| {
        let place = begin + place;
        order.map_or(place, |order| order[place as usize]) as usize
    });
    Ok(())
}

impl OpenChunk {
    /// Nothing of the chunk of an outcome.
    fn new(outcome: &BatchOutcome<Edit>, strands: QueryStrands) -> Self {
        let info = &outcome.chunk;
        let copies = strands.copies() as usize;
        let first_text = match &outcome.batch.chunk.places {
            // A part that names its texts is a chunk of one sequence, which meets all texts of the chunk.
            Places::Texts(order) if info.queries.len() == copies && info.pairs == (copies * order.len()) as u64 => {
                order.iter().min().copied()
            }
            Places::Texts(_) | Places::Regions(_) | Places::Candidates(..) => None,
        };
        OpenChunk { found: nothing_of(info.pairs), first_text }
    }

    /// Puts what was found at its places; the bytes that this takes.
    fn take(&mut self, outcome: &BatchOutcome<Edit>, layout: Layout, strands: QueryStrands) -> u64 {
        let OpenChunk { found, first_text } = self;
        match &outcome.batch.chunk.places {
            Places::Regions(_) | Places::Candidates(..) => put(found, outcome, true, |_, place| place as usize),
            Places::Texts(order) => {
                let first = strands.of(outcome.chunk.queries.start).0;
                let copies = strands.copies() as usize;
                put(found, outcome, false, |pattern, place| {
                    let text = order[place as usize];
                    let (own, copy) = (strands.of(pattern).0, pattern as usize % copies);
                    let place = match *first_text {
                        Some(first) => (text - first) as usize,
                        None => layout.place(first, own, text),
                    };
                    place * copies + copy
                })
            }
        }
    }
}

impl Layout {
    /// Place of a pair in its chunk, which begins with the pattern `begin`; of its results, if both strands are compared.
    /// An engine may have taken either of two sequences of one store as the pattern.
    #[inline]
    fn place(self, begin: SequenceId, pattern: SequenceId, text: SequenceId) -> usize {
        match self {
            Layout::Texts(texts) => (pattern - begin) as usize * texts + text as usize,
            Layout::Later(sequences) => {
                let (pattern, text) = (pattern.min(text) as usize, pattern.max(text) as usize);
                let rows = pattern - begin as usize;
                // With each pattern before this one come all but those up to it.
                let before = rows * (sequences - 1) - (begin as usize * rows + rows * rows.saturating_sub(1) / 2);
                before + text - pattern - 1
            }
            Layout::Candidates => unreachable!("candidates are regions"),
        }
    }
}

/// Of so many pairs nothing yet: a list, as long as engines list what is within the limit.
fn nothing_of(pairs: u64) -> Distances {
    // Numbers of listed pairs have 32 bits.
    match u32::try_from(pairs) {
        Ok(_) => Distances::Listed { pairs: pairs as usize, list: Vec::new() },
        Err(_) => Distances::Each(vec![Found::NONE; pairs as usize].into()),
    }
}

/// Puts what was found of finished blocks where `place` says, of a pattern and a place of the batch's chunk. `in_a_row`: what
/// follows each other there does so here. A list stays one if that is what came; it is then in no order. Gives the bytes that this
/// takes.
fn put(
    all: &mut Distances,
    outcome: &BatchOutcome<Edit>,
    in_a_row: bool,
    place: impl Fn(SequenceId, u32) -> usize,
) -> u64 {
    let report = &outcome.report;
    let mut left_out = vec![false; outcome.batch.blocks.len()];
    report.unfinished.iter().for_each(|&index| left_out[index] = true);
    let blocks = outcome.batch.blocks.iter().zip(left_out);
    match &report.found {
        Distances::Each(found) => {
            let was_list = matches!(all, Distances::Listed { .. });
            let all = all.each_mut();
            let mut rest = found.as_slice();
            for (block, left_out) in blocks {
                let (own, others) = rest.split_at(block.places.len());
                rest = others;
                if left_out || own.is_empty() {
                    continue;
                }
                if in_a_row {
                    let to = place(block.pattern, block.places.start);
                    all[to..to + own.len()].copy_from_slice(own);
                } else {
                    let places = block.places.clone();
                    places.zip(own).for_each(|(from, &one)| all[place(block.pattern, from)] = one);
                }
            }
            if was_list { size_of_val(&**all) as u64 } else { 0 }
        }
        Distances::Listed { list, .. } => {
            let mut rest = list.as_slice();
            let mut first = 0;
            let mut count = 0;
            for (block, left_out) in blocks {
                let end = first + block.places.len();
                while let Some((&(pair, one), others)) = rest.split_first()
                    && (pair as usize) < end
                {
                    rest = others;
                    if left_out {
                        continue;
                    }
                    let to = place(block.pattern, block.places.start + (pair as usize - first) as u32);
                    match all {
                        Distances::Each(all) => all[to] = one,
                        Distances::Listed { list, .. } => {
                            list.push((to as u32, one));
                            count += 1;
                        }
                    }
                }
                first = end;
            }
            count * size_of::<(u32, Found)>() as u64
        }
    }
}

/// A list by rising numbers: what came of each batch mostly is, which the sort makes use of.
fn in_order(mut found: Distances) -> Distances {
    if let Distances::Listed { list, .. } = &mut found {
        list.sort_by_key(|&(pair, _)| pair);
    }
    found
}

/// The order in which every pattern's candidates follow each other, and stay in input order; `None` if they do.
pub(super) fn by_pattern(candidates: &[Candidate], patterns: usize) -> Option<Vec<u32>> {
    // What most read mappers write, which many threads see at once. Each part has the first candidate of the next.
    let parts = (0..candidates.len()).into_par_iter().step_by(CANDIDATES_AT_ONCE);
    let part = |first: usize| &candidates[first..(first + CANDIDATES_AT_ONCE + 1).min(candidates.len())];
    if parts.map(part).all(|own| own.is_sorted_by_key(|candidate| candidate.pattern)) {
        return None;
    }
    let mut seen = vec![false; patterns];
    let groups = candidates.chunk_by(|a, b| a.pattern == b.pattern);
    let is_grouped =
        groups.map(|group| group[0].pattern as usize).all(|pattern| !std::mem::replace(&mut seen[pattern], true));
    if is_grouped {
        return None;
    }
    // By counting: where each pattern's candidates begin.
    let mut starts = vec![0u32; patterns + 1];
    candidates.iter().for_each(|candidate| starts[candidate.pattern as usize + 1] += 1);
    (1..starts.len()).for_each(|pattern| starts[pattern] += starts[pattern - 1]);
    let mut order = vec![0; candidates.len()];
    for (index, candidate) in (0..).zip(candidates) {
        let next = &mut starts[candidate.pattern as usize];
        order[*next as usize] = index;
        *next += 1;
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Region;

    #[test]
    fn every_pair_has_its_place() {
        for begin in 0..5u32 {
            let layout = Layout::Later(9);
            let pairs = (begin..9).flat_map(|pattern| (pattern + 1..9).map(move |text| (pattern, text)));
            for (place, (pattern, text)) in pairs.enumerate() {
                assert_eq!(layout.place(begin, pattern, text), place);
                assert_eq!(layout.place(begin, text, pattern), place);
            }
        }
        assert_eq!(Layout::Texts(7).place(3, 5, 6), 20);
    }

    #[test]
    fn candidates_are_put_together_by_pattern() {
        let candidate = |pattern| Candidate { pattern, region: Region { text: 0, start: 0, end: 0 } };
        let order = |patterns: &[u32]| {
            let candidates: Vec<Candidate> = patterns.iter().copied().map(candidate).collect();
            by_pattern(&candidates, 5)
        };
        assert_eq!(order(&[]), None);
        assert_eq!(order(&[3, 3, 1, 0, 0, 4]), None);
        assert_eq!(order(&[0, 0, 2, 3, 3]), None);
        assert_eq!(order(&[3, 1, 3, 0, 1, 1]), Some(vec![3, 1, 4, 5, 0, 2]));
        // What is out of order between the parts of two threads.
        let parts = [vec![2; CANDIDATES_AT_ONCE], vec![1; 3], vec![2; 5]].concat();
        let moved = order(&parts).expect("those of 2 are apart");
        assert_eq!(moved[..3], [0, 1, 2].map(|index| (CANDIDATES_AT_ONCE + index) as u32));
        assert_eq!(order(&[vec![1; CANDIDATES_AT_ONCE], vec![2; 3]].concat()), None);
    }
}
