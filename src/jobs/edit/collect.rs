//! Collects results of engines in input order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::EditDistances;
use crate::edit::plan::{Against, CANDIDATES_AT_ONCE};
use crate::edit::{BatchDistances, Candidate, Edit, TextRegions};
use crate::engine::ordered::{Ordered, ReorderWindow};
use crate::engine::owner::BatchOutcome;
use crate::error::{Error, Result};
use crate::score::EditDistance;
use crate::seq::{QueryPart, QueryStrands, SequenceId};

/// Collects results chunk by chunk, or for whole parts.
pub(super) struct Collector {
    numbering: PairNumbering,
    strands: QueryStrands,
    kept: KeptResults,
}

/// The numbering of pairs in a chunk.
#[derive(Clone, Copy)]
enum PairNumbering {
    /// All pairs of this number of sequences: every pattern with the later sequences.
    Later(usize),
    /// Every pattern with this number of texts.
    Texts(usize),
    /// Candidates in the order of their computation.
    Candidates,
}

/// The results that are kept.
enum KeptResults {
    /// Results of chunks. A chunk has the results of all its pairs in input order.
    Chunks(Ordered<OpenEditChunk>),
    /// Results of parts of candidates that can be reported only when all of them are computed.
    Parts(VecDeque<OpenCandidates>),
}

/// A chunk whose results are arriving.
struct OpenEditChunk {
    distances: BatchDistances,
    /// Number of the first text if a single sequence is compared with all texts of the chunk. These
    /// texts are adjacent and may be a part of all texts.
    first_text: Option<SequenceId>,
}

/// Candidates that are reported together.
struct OpenCandidates {
    range: Range<u32>,
    pairs_left: u64,
    /// Results in input order, except lists, which are unordered.
    distances: BatchDistances,
    order: Option<Vec<u32>>,
}

/// Results that can be reported.
pub(super) struct CompleteResults {
    /// Patterns or candidates, counting each strand.
    pub range: Range<u32>,
    /// Results of their pairs in input order. With both strands, the minus strand follows the plus
    /// strand.
    pub distances: BatchDistances,
    /// Whether this is a whole part of the candidates.
    pub is_part: bool,
    /// Index in the part of each candidate, in the order of computation; `None` if that is the
    /// input order.
    pub order: Option<Vec<u32>>,
}

impl Collector {
    /// Creates a collector. `parts` are the computed parts of the candidates. `orders` has the
    /// order of computation for each part, or `None` if that is the input order.
    pub(super) fn new(job: &EditDistances, parts: &[QueryPart], orders: Vec<Option<Vec<u32>>>) -> Self {
        let strands = job.strands();
        let (numbering, are_candidates) = match &job.against {
            Against::Later => (PairNumbering::Later(job.patterns.len()), false),
            Against::Texts(texts) => (PairNumbering::Texts(texts.len()), false),
            Against::Candidates(..) => (PairNumbering::Candidates, true),
            // The chunks of tiles have their own numbering.
            Against::Tiles(texts, _) => (PairNumbering::Texts(texts.len()), false),
        };
        // The candidates of one pattern may be in several chunks.
        let kept = if are_candidates && (job.max_hits.is_some() || orders.iter().any(Option::is_some)) {
            let open = parts.iter().zip(orders).map(|(part, order)| {
                let range = part.queries.clone();
                OpenCandidates {
                    pairs_left: range.len() as u64,
                    distances: no_results(range.len() as u64),
                    range,
                    order,
                }
            });
            KeptResults::Parts(open.collect())
        } else {
            KeptResults::Chunks(Ordered::new())
        };
        Collector { numbering, strands, kept }
    }

    /// Returns the limit on planning chunks ahead. There is no limit if all results are kept
    /// anyway.
    pub(super) fn window(&self) -> Arc<ReorderWindow> {
        match &self.kept {
            KeptResults::Chunks(chunks) => chunks.window(),
            KeptResults::Parts(_) => Arc::default(),
        }
    }

    /// Takes an outcome of the engines.
    pub(super) fn take(&mut self, outcome: &BatchOutcome<Edit>) -> Result<()> {
        let (numbering, strands) = (self.numbering, self.strands);
        match &mut self.kept {
            KeptResults::Parts(parts) => take_candidates(parts, outcome),
            KeptResults::Chunks(chunks) => chunks.add(
                &outcome.chunk,
                outcome.pairs,
                || OpenEditChunk::new(outcome, strands),
                |chunk| Ok(chunk.take(outcome, numbering, strands)),
            ),
        }
    }

    /// Removes and returns the next results if they are complete.
    pub(super) fn complete(&mut self) -> Option<CompleteResults> {
        match &mut self.kept {
            KeptResults::Chunks(chunks) => {
                let (range, distances) = chunks.complete()?;
                Some(CompleteResults { range, distances: in_order(distances.distances), is_part: false, order: None })
            }
            KeptResults::Parts(parts) => {
                parts.front().filter(|part| part.pairs_left == 0)?;
                let OpenCandidates { range, distances, order, .. } = parts.pop_front()?;
                Some(CompleteResults { range, distances: in_order(distances), is_part: true, order })
            }
        }
    }

    /// Ends the collection after the last outcome.
    pub(super) fn end(self) -> Result<()> {
        match self.kept {
            KeptResults::Chunks(chunks) => chunks.end(),
            KeptResults::Parts(parts) => match parts.front() {
                None => Ok(()),
                Some(part) => Err(Error::Internal(format!("the job lacks {} pairs", part.pairs_left))),
            },
        }
    }
}

/// Adds the results of candidates to their part.
fn take_candidates(parts: &mut VecDeque<OpenCandidates>, outcome: &BatchOutcome<Edit>) -> Result<()> {
    if outcome.pairs == 0 {
        // The part may already have been reported.
        return Ok(());
    }
    let first = outcome.chunk.queries.start;
    let wrong = || Error::Internal("the job has more pairs than it started with".into());
    let part = parts.iter_mut().find(|part| part.range.contains(&first)).ok_or_else(wrong)?;
    part.pairs_left = part.pairs_left.checked_sub(outcome.pairs).ok_or_else(wrong)?;
    let first = first - part.range.start;
    let order = part.order.as_deref();
    put(&mut part.distances, outcome, order.is_none(), |_, position| {
        let index = first + position;
        order.map_or(index, |order| order[index as usize]) as usize
    });
    Ok(())
}

impl OpenEditChunk {
    /// Creates the collection for the chunk of an outcome, without results.
    fn new(outcome: &BatchOutcome<Edit>, strands: QueryStrands) -> Self {
        let info = &outcome.chunk;
        let copies = strands.copies() as usize;
        let first_text = match &outcome.batch.chunk.regions {
            // A part that names its texts is a chunk of one sequence, which is compared with all
            // texts of the chunk.
            TextRegions::Texts(order)
                if info.queries.len() == copies && info.pairs == (copies * order.len()) as u64 =>
            {
                order.iter().min().copied()
            }
            TextRegions::Texts(_) | TextRegions::Regions(_) | TextRegions::Candidates(..) | TextRegions::Tiles(..) => {
                None
            }
        };
        OpenEditChunk { distances: no_results(info.pairs), first_text }
    }

    /// Adds results. Returns the memory in bytes that they take.
    fn take(&mut self, outcome: &BatchOutcome<Edit>, numbering: PairNumbering, strands: QueryStrands) -> u64 {
        let OpenEditChunk { distances, first_text } = self;
        match &outcome.batch.chunk.regions {
            TextRegions::Regions(_) | TextRegions::Candidates(..) => {
                put(distances, outcome, true, |_, position| position as usize)
            }
            TextRegions::Tiles(_, tiles) => {
                let first = outcome.chunk.queries.start;
                put(distances, outcome, true, |pattern, position| {
                    (pattern - first) as usize * tiles.len() + position as usize
                })
            }
            TextRegions::Texts(order) => {
                let first = strands.sequence_of(outcome.chunk.queries.start).0;
                let copies = strands.copies() as usize;
                put(distances, outcome, false, |pattern, position| {
                    let text = order[position as usize];
                    let (sequence, copy) = (strands.sequence_of(pattern).0, pattern as usize % copies);
                    let index = match *first_text {
                        Some(first) => (text - first) as usize,
                        None => numbering.index(first, sequence, text),
                    };
                    index * copies + copy
                })
            }
        }
    }
}

impl PairNumbering {
    /// Returns the number of a pair in its chunk, which starts with the pattern `first`. Both
    /// strands of a pair have the same number. For two sequences of one set, an engine may have
    /// used either as the pattern.
    #[inline]
    fn index(self, first: SequenceId, pattern: SequenceId, text: SequenceId) -> usize {
        match self {
            PairNumbering::Texts(texts) => (pattern - first) as usize * texts + text as usize,
            PairNumbering::Later(sequences) => {
                let (pattern, text) = (pattern.min(text) as usize, pattern.max(text) as usize);
                let rows = pattern - first as usize;
                // Each earlier pattern is compared with all sequences after it.
                let before = rows * (sequences - 1) - (first as usize * rows + rows * rows.saturating_sub(1) / 2);
                before + text - pattern - 1
            }
            PairNumbering::Candidates => unreachable!("candidates are regions"),
        }
    }
}

/// Returns an empty collection for this number of pairs. It starts as a list, and remains one while
/// engines report lists of the pairs within the limit.
fn no_results(pairs: u64) -> BatchDistances {
    // Numbers of listed pairs have 32 bits.
    match u32::try_from(pairs) {
        Ok(_) => BatchDistances::Listed { pairs: pairs as usize, list: Vec::new() },
        Err(_) => BatchDistances::Each(vec![EditDistance::NONE; pairs as usize].into()),
    }
}

/// Adds the results of finished blocks. `index` returns the number of a pair, given its pattern and
/// its position in the chunk of the batch. With `is_contiguous`, adjacent positions have adjacent
/// numbers. A list remains an unordered list if the report is a list. Returns the memory in bytes
/// that the results take.
fn put(
    all: &mut BatchDistances,
    outcome: &BatchOutcome<Edit>,
    is_contiguous: bool,
    index: impl Fn(SequenceId, u32) -> usize,
) -> u64 {
    let report = &outcome.report;
    let mut is_unfinished = vec![false; outcome.batch.blocks.len()];
    report.unfinished.iter().for_each(|&index| is_unfinished[index] = true);
    let blocks = outcome.batch.blocks.iter().zip(is_unfinished);
    match &report.distances {
        BatchDistances::Each(distances) => {
            let was_list = matches!(all, BatchDistances::Listed { .. });
            let all = all.each_mut();
            let mut rest = distances.as_slice();
            for (block, is_unfinished) in blocks {
                let (block_results, others) = rest.split_at(block.regions.len());
                rest = others;
                if is_unfinished || block_results.is_empty() {
                    continue;
                }
                if is_contiguous {
                    let to = index(block.pattern, block.regions.start);
                    all[to..to + block_results.len()].copy_from_slice(block_results);
                } else {
                    let places = block.regions.clone();
                    places.zip(block_results).for_each(|(from, &one)| all[index(block.pattern, from)] = one);
                }
            }
            if was_list { size_of_val(&**all) as u64 } else { 0 }
        }
        BatchDistances::Listed { list, .. } => {
            let mut rest = list.as_slice();
            let mut first = 0;
            let mut count = 0;
            for (block, is_unfinished) in blocks {
                let end = first + block.regions.len();
                while let Some((&(pair, one), others)) = rest.split_first()
                    && (pair as usize) < end
                {
                    rest = others;
                    if is_unfinished {
                        continue;
                    }
                    let to = index(block.pattern, block.regions.start + (pair as usize - first) as u32);
                    match all {
                        BatchDistances::Each(all) => all[to] = one,
                        BatchDistances::Listed { list, .. } => {
                            list.push((to as u32, one));
                            count += 1;
                        }
                    }
                }
                first = end;
            }
            count * size_of::<(u32, EditDistance)>() as u64
        }
    }
}

/// Sorts a list by number. The results of each batch are mostly sorted, which makes the sort fast.
fn in_order(mut distances: BatchDistances) -> BatchDistances {
    if let BatchDistances::Listed { list, .. } = &mut distances {
        list.sort_by_key(|&(pair, _)| pair);
    }
    distances
}

/// Returns the order that makes the candidates of every pattern adjacent and otherwise keeps the
/// input order. Returns `None` if they are already adjacent.
pub(super) fn by_pattern(candidates: &[Candidate], patterns: usize) -> Option<Vec<u32>> {
    // Most read mappers write sorted candidates, and many threads can check this together. Each
    // part includes the first candidate of the next part.
    let parts = (0..candidates.len()).into_par_iter().step_by(CANDIDATES_AT_ONCE);
    let part = |first: usize| &candidates[first..(first + CANDIDATES_AT_ONCE + 1).min(candidates.len())];
    if parts.map(part).all(|part| part.is_sorted_by_key(|candidate| candidate.pattern)) {
        return None;
    }
    let mut seen = vec![false; patterns];
    let groups = candidates.chunk_by(|a, b| a.pattern == b.pattern);
    let is_grouped =
        groups.map(|group| group[0].pattern as usize).all(|pattern| !std::mem::replace(&mut seen[pattern], true));
    if is_grouped {
        return None;
    }
    // This is a counting sort. It starts with the index of the first candidate of each pattern.
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
    fn pairs_are_numbered_in_input_order() {
        for first in 0..5u32 {
            let numbering = PairNumbering::Later(9);
            let pairs = (first..9).flat_map(|pattern| (pattern + 1..9).map(move |text| (pattern, text)));
            for (index, (pattern, text)) in pairs.enumerate() {
                assert_eq!(numbering.index(first, pattern, text), index);
                assert_eq!(numbering.index(first, text, pattern), index);
            }
        }
        assert_eq!(PairNumbering::Texts(7).index(3, 5, 6), 20);
    }

    #[test]
    fn candidates_are_grouped_by_pattern() {
        let candidate = |pattern| Candidate { pattern, region: Region { text: 0, start: 0, end: 0 } };
        let order = |patterns: &[u32]| {
            let candidates: Vec<Candidate> = patterns.iter().copied().map(candidate).collect();
            by_pattern(&candidates, 5)
        };
        assert_eq!(order(&[]), None);
        assert_eq!(order(&[3, 3, 1, 0, 0, 4]), None);
        assert_eq!(order(&[0, 0, 2, 3, 3]), None);
        assert_eq!(order(&[3, 1, 3, 0, 1, 1]), Some(vec![3, 1, 4, 5, 0, 2]));
        // The order is violated only between the parts of two threads.
        let parts = [vec![2; CANDIDATES_AT_ONCE], vec![1; 3], vec![2; 5]].concat();
        let moved = order(&parts).expect("the candidates of pattern 2 are not adjacent");
        assert_eq!(moved[..3], [0, 1, 2].map(|index| (CANDIDATES_AT_ONCE + index) as u32));
        assert_eq!(order(&[vec![1; CANDIDATES_AT_ONCE], vec![2; 3]].concat()), None);
    }
}
