//! Alignments of a group's pairs from the rows that its scores left ([`super::checkpoint`]).
//!
//! **Parts.** The walk back goes from one kept row to the one above. Between them the cells of some columns are computed
//! again, with directions, for one pair at a time, rows side by side ([`super::pair_difference`]): from the column where
//! the walk stands back to a column c. dh and f of the row above are those that were kept. What lies left of c is left
//! out: down column c nothing but a gap is taken to come from the row above, so that no value is above the true one.
//!
//! **Why that is enough.** A path that comes through the row above in column c, or before it, has a value of V(c) + o
//! there at most, where o is the opening: a gap leads from there to c. Up to the cell of the walk, h rows below and more
//! than h columns after c, it takes h diagonal steps at most, each of at most s, and opens a gap of columns. So its value
//! is V(c) + s h at most. If the walk's cell has more within the part, and o more where it stands in a gap, then no path with
//! its value comes from there: all of them lie within the part, and by the argument of [`crate::trace`]'s chunks the walk
//! within the part is the canonical one. If not, the part is made wider. The first column needs no proof.
//!
//! A path down the first column of all has no diagonal steps, but s is at least what a border rises by, too. Below a border
//! that does not rise at all every column has the value of c, so that nothing is ever proved there: all columns are taken at once.
//!
//! **Diagonals.** Most parts have no gap. Of the rows that are kept the values are, so a look at one cell tells whether the
//! diagonal from there has the value of the walk's cell. If so, it has it in each of its cells, and is the canonical way through
//! all of them, for that takes a diagonal step wherever it may. Only the low bits are kept: what had no more than these
//! in common, the sum of the whole walk tells, since no way has more than the value. Such a walk is done again by parts alone.
//!
//! Values are taken along the row above and down the last column. The sum of all that the walk takes is compared with the
//! pair's value in the end.

mod part;
#[cfg(test)]
mod tests;
mod walk;

use std::time::{Duration, Instant};

use self::part::{Buffers, Retrace};
use self::walk::Walk;
use super::checkpoint::Checkpoints;
use super::difference::Greatest;
use crate::alignment::packed;
use crate::error::Result;
use crate::score::{DifferenceScoring, Substitution};
use crate::seq::Code;
use crate::simd::{InstructionSet, LaneElement};

/// Pairs of which one at least is traced, so that it pays to keep rows of all.
const PAIRS_A_TRACE: u64 = 8;

/// Pairs after which older ones count half.
const RECENT_PAIRS: u64 = 4096;

/// Memory for alignments of groups, and what was learnt of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracer<E> {
    walks: Vec<Walk>,
    buffers: Buffers<E>,
    pairs: u64,
    traced: u64,
}

/// A group whose scores were computed with rows kept.
pub(super) struct Scored<'a, E> {
    pub level: InstructionSet,
    pub form: &'a DifferenceScoring<E>,
    pub substitution: &'a Substitution,
    /// Not empty.
    pub query: &'a [Code],
    /// The codes that it has.
    pub codes: &'a [Code],
    pub targets: &'a [&'a [Code]],
    pub kept: &'a mut Checkpoints<E>,
}

/// A lane whose alignment is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub lane: usize,
    /// That of its pair among others.
    pub place: usize,
    /// Whether the target is the alignment's query.
    pub is_turned: bool,
    pub greatest: Greatest,
}

/// Alignments of hits: runs, packed, and where each hit's are; `None` for one that was not traced.
#[derive(Debug, Default)]
pub(super) struct Traces {
    pub words: Vec<u32>,
    pub spans: Vec<Option<(usize, u32)>>,
    /// What they took.
    pub time: Duration,
}

impl<E: LaneElement> Tracer<E> {
    /// Whether so many of the pairs of late were traced that rows are worth keeping.
    pub(super) fn pays(&self) -> bool {
        self.traced * PAIRS_A_TRACE >= self.pairs
    }

    /// Counts pairs.
    pub(super) fn count(&mut self, pairs: usize, traced: usize) {
        if self.pairs > RECENT_PAIRS {
            (self.pairs, self.traced) = (self.pairs / 2, self.traced / 2);
        }
        (self.pairs, self.traced) = (self.pairs + pairs as u64, self.traced + traced as u64);
    }

    /// Traces lanes of a group, as far as what was kept allows; `spans` are those of all pairs by their place.
    ///
    /// # Errors
    /// [`crate::Error::Internal`] if an alignment has not the value of its pair: one of the two was computed wrongly.
    pub(super) fn trace(
        &mut self,
        mut group: Scored<'_, E>,
        mut wanted: Vec<Wanted>,
        traces: &mut Traces,
        spans: &mut [Option<(usize, u32)>],
    ) -> Result<()> {
        let begin = Instant::now();
        let Scored { level, form, query, targets, .. } = group;
        wanted.retain(|wanted| !targets[wanted.lane].is_empty());
        let count = wanted.len();
        if self.walks.len() < count {
            self.walks.resize_with(count, Walk::default);
        }
        let (walks, buffers) = (&mut self.walks[..count], &mut self.buffers);
        let start = |walk: &mut Walk, Wanted { lane, place, is_turned, greatest }| {
            (walk.lane, walk.place, walk.is_turned) = (lane, place, is_turned);
            walk.begin(form, targets[lane].len(), query.len(), greatest);
        };
        walks.iter_mut().zip(&wanted).for_each(|(walk, &wanted)| start(walk, wanted));
        level.run(Retrace { group: &mut group, buffers: &mut *buffers, walks: &mut *walks });
        let mut is_astray = false;
        for (walk, &wanted) in walks.iter_mut().zip(&wanted).filter(|(walk, _)| walk.is_astray()) {
            start(walk, wanted);
            (walk.trusts_bits, is_astray) = (false, true);
        }
        if is_astray {
            // Those that are done stay as they are.
            level.run(Retrace { group: &mut group, buffers, walks: &mut *walks });
        }
        let mut lost = 0;
        for walk in walks {
            let span = walk.runs()?.map(|runs| packed::pack_from_last(runs, &mut traces.words));
            lost += usize::from(span.is_none());
            spans[walk.place] = span;
        }
        group.kept.learn(lost, count);
        traces.time += begin.elapsed();
        Ok(())
    }
}
