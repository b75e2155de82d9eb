//! Results of engines, put in their places.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::EditDistances;
use crate::edit::plan::{Against, Candidate};
use crate::edit::{Edit, EditBlock, Places};
use crate::engine::ordered::{Ahead, Ordered};
use crate::engine::owner::Outcome;
use crate::error::{Error, Result};
use crate::score::Found;
use crate::seq::{Part, SequenceId, Strands};

/// Puts what engines found in input order: band by band, or all of it.
pub(super) struct Collector {
    layout: Layout,
    strands: Strands,
    /// Parts may have some of the texts only.
    some_texts: bool,
    kept: Kept,
}

/// Where a pair stands in its band.
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
    /// Of every pair of a band, in input order.
    Bands(Ordered<Vec<Found>>),
    /// Of every candidate of a part, where nothing can be handed over before all of them are there.
    Parts(VecDeque<OpenPart>),
}

/// Candidates that are handed over together.
struct OpenPart {
    range: Range<u32>,
    pairs_left: u64,
    /// What was found, in input order; empty before the first.
    found: Vec<Found>,
    order: Option<Vec<u32>>,
}

/// What can be handed over.
pub(super) struct Complete {
    /// Patterns, or candidates where these were given, of each strand.
    pub range: Range<u32>,
    /// What was found of their pairs, in input order; of both strands the reverse one after the forward one.
    pub found: Vec<Found>,
    /// Whether it is a whole part of candidates.
    pub is_part: bool,
    /// Which candidate of the part stands at each place of the order of computing; `None` if that is the order of input.
    pub order: Option<Vec<u32>>,
}

impl Collector {
    /// `parts` are those that are computed. `orders`: of each part of candidates that in which these are computed, if it is not
    /// that of the input.
    pub(super) fn new(job: &EditDistances, parts: &[Part], orders: Vec<Option<Vec<u32>>>) -> Self {
        let strands = job.strands();
        let (layout, are_candidates) = match &job.against {
            Against::Later => (Layout::Later(job.patterns.len()), false),
            Against::Texts(texts) => (Layout::Texts(texts.len()), false),
            Against::Candidates(..) => (Layout::Candidates, true),
        };
        // The candidates of one pattern may be in several bands.
        let kept = if are_candidates && (job.max_hits.is_some() || orders.iter().any(Option::is_some)) {
            let open = parts.iter().zip(orders).map(|(part, order)| {
                let range = part.queries.clone();
                OpenPart { pairs_left: range.len() as u64, range, found: Vec::new(), order }
            });
            Kept::Parts(open.collect())
        } else {
            Kept::Bands(Ordered::new())
        };
        let some_texts = parts.iter().any(|part| part.targets.is_some());
        Collector { layout, strands, some_texts, kept }
    }

    /// Of blocks that are not known yet, none of them of candidates.
    pub(super) fn of_blocks(job: &EditDistances) -> Self {
        Collector { some_texts: true, ..Self::new(job, &[], Vec::new()) }
    }

    /// How far bands may be planned ahead: without bound where all is kept in any case.
    pub(super) fn ahead(&self) -> Arc<Ahead> {
        match &self.kept {
            Kept::Bands(bands) => bands.ahead(),
            Kept::Parts(_) => Arc::default(),
        }
    }

    /// Takes what an engine found.
    pub(super) fn take(&mut self, outcome: &Outcome<Edit>) -> Result<()> {
        let info = &outcome.band;
        let begin = info.queries.start;
        let (layout, strands, some_texts) = (self.layout, self.strands, self.some_texts);
        match &mut self.kept {
            Kept::Parts(parts) => {
                if outcome.pairs == 0 {
                    // The part may have been handed over.
                    return Ok(());
                }
                let wrong = || Error::Internal("the job has more pairs than it began with".into());
                let part = parts.iter_mut().find(|part| part.range.contains(&begin)).ok_or_else(wrong)?;
                part.pairs_left = part.pairs_left.checked_sub(outcome.pairs).ok_or_else(wrong)?;
                if part.found.is_empty() {
                    part.found.resize(part.range.len(), Found::NONE);
                }
                let begin = begin - part.range.start;
                for (block, own) in finished(outcome) {
                    let places = (begin + block.places.start) as usize..(begin + block.places.end) as usize;
                    match &part.order {
                        Some(order) => {
                            order[places].iter().zip(own).for_each(|(&to, &one)| part.found[to as usize] = one);
                        }
                        None => part.found[places].copy_from_slice(own),
                    }
                }
                Ok(())
            }
            Kept::Bands(bands) => bands.add(info, outcome.pairs, Vec::new, |band| {
                let mut bytes = 0;
                if band.is_empty() {
                    band.resize(info.pairs as usize, Found::NONE);
                    bytes = size_of_val(&**band) as u64;
                }
                let copies = strands.copies() as usize;
                for (block, own) in finished(outcome) {
                    let places = block.places.start as usize..block.places.end as usize;
                    match &outcome.batch.band.places {
                        Places::Regions(_) => band[places].copy_from_slice(own),
                        Places::Texts(order) => {
                            let first = strands.of(begin).0;
                            let (pattern, copy) = (strands.of(block.pattern).0, block.pattern as usize % copies);
                            // A part that names its texts is a band of one sequence, which meets all texts of the band.
                            let is_one = info.queries.len() == copies;
                            let is_part = some_texts && is_one && info.pairs == (copies * order.len()) as u64;
                            let part = if is_part { order.iter().min() } else { None };
                            for (&text, &one) in order[places].iter().zip(own) {
                                let place = match part {
                                    Some(first) => (text - first) as usize,
                                    None => layout.place(first, pattern, text),
                                };
                                band[place * copies + copy] = one;
                            }
                        }
                    }
                }
                Ok(bytes)
            }),
        }
    }

    /// What is next, if it is complete.
    pub(super) fn complete(&mut self) -> Option<Complete> {
        match &mut self.kept {
            Kept::Bands(bands) => {
                let (range, found) = bands.complete()?;
                Some(Complete { range, found, is_part: false, order: None })
            }
            Kept::Parts(parts) => {
                parts.front().filter(|part| part.pairs_left == 0)?;
                let OpenPart { range, found, order, .. } = parts.pop_front()?;
                Some(Complete { range, found, is_part: true, order })
            }
        }
    }

    /// There is nothing more to come.
    pub(super) fn end(self) -> Result<()> {
        match self.kept {
            Kept::Bands(bands) => bands.end(),
            Kept::Parts(parts) => match parts.front() {
                None => Ok(()),
                Some(part) => Err(Error::Internal(format!("the job is short of {} pairs", part.pairs_left))),
            },
        }
    }
}

impl Layout {
    /// Place of a pair in its band, which begins with the pattern `begin`; of its results, if both strands are compared.
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

/// The blocks that were finished, with what was found.
fn finished(outcome: &Outcome<Edit>) -> impl Iterator<Item = (&EditBlock, &[Found])> {
    let mut rest = outcome.report.found.as_slice();
    let mut left_out = vec![false; outcome.batch.blocks.len()];
    outcome.report.unfinished.iter().for_each(|&index| left_out[index] = true);
    outcome.batch.blocks.iter().zip(left_out).filter_map(move |(block, left_out)| {
        let (own, others) = rest.split_at(block.places.len());
        rest = others;
        (!left_out).then_some((block, own))
    })
}

/// The order in which every pattern's candidates follow each other, and stay in input order; `None` if they do.
pub(super) fn by_pattern(candidates: &[Candidate], patterns: usize) -> Option<Vec<u32>> {
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
        assert_eq!(order(&[3, 1, 3, 0, 1, 1]), Some(vec![3, 1, 4, 5, 0, 2]));
    }
}
