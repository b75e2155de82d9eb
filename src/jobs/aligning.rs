//! From the scores of pairs to their alignments: where these end, their columns, and their identity.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::run::check_interrupt;
use crate::alignment::{Alignment, Cigar, verify_alignment};
use crate::error::{Error, Result};
use crate::pairs::cpu;
use crate::score::{AlignmentCounts, IdentityDefinition, Mode, Scoring};
use crate::seq::Code;
use crate::trace::{EndRegion, Hint, Workspace, traceback_from};

/// Targets of a query for which a thread finds at once where alignments end.
const MOST_TOGETHER: usize = 128;

/// How the pairs of a job are aligned.
#[derive(Clone, Copy)]
pub(super) struct Aligning<'a> {
    pub scoring: &'a Scoring,
    pub definition: IdentityDefinition,
    /// Alignments are rescored.
    pub check: bool,
    pub interrupt: &'a AtomicBool,
}

/// A pair whose score is known.
pub(super) struct ScoredPair<'a> {
    /// Symbols of the query, on the strand that is aligned.
    pub query: &'a [Code],
    pub target: &'a [Code],
    pub score: i64,
    /// Matches of the alignment, if the engine counted them.
    pub matches: Option<u64>,
    /// Columns of the alignment, if the engine traced it.
    pub traced: Option<Cigar>,
    /// Where the alignment ends, if that was found ([`Aligning::ends`]).
    pub end: Option<&'a EndRegion>,
}

/// A pair that is aligned.
pub(super) struct AlignedPair {
    /// The canonical alignment.
    pub alignment: Alignment,
    /// Its columns, counted.
    pub counts: AlignmentCounts,
    /// Its identity, a fraction.
    pub identity: f64,
}

impl Aligning<'_> {
    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// Whether it pays to find where alignments end before they are traced back. (Checked, the traceback looks itself.)
    pub(super) fn finds_ends(&self) -> bool {
        self.is_local() && !self.check
    }

    /// Finds where the alignments of some of `count` pairs end. `order` has the places of these pairs, those of one row one
    /// after the other, and `row` gives the row of a place. `find` gives the symbols of the pairs at some places of one row
    /// to the finder. The result has an end for each of all pairs.
    ///
    /// The threads of `pool` find them, or the caller's if there is none.
    pub(super) fn ends<R: PartialEq>(
        &self,
        count: usize,
        order: &[usize],
        row: impl Fn(usize) -> R,
        find: impl Fn(&[usize], &mut EndFinder<'_>) -> Result<Vec<EndRegion>> + Sync,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<Vec<EndRegion>> {
        let rows = order.chunk_by(|&one, &other| row(one) == row(other));
        let groups: Vec<&[usize]> = rows.flat_map(|places| places.chunks(MOST_TOGETHER)).collect();
        let found = |workspace: &mut cpu::Workspace, group: &&[usize]| {
            check_interrupt(self.interrupt)?;
            find(group, &mut EndFinder { scoring: self.scoring, workspace })
        };
        let found: Result<Vec<Vec<EndRegion>>> = match pool {
            Some(pool) => pool.install(|| groups.par_iter().map_init(cpu::Workspace::default, found).collect()),
            None => {
                let mut workspace = cpu::Workspace::default();
                groups.iter().map(|group| found(&mut workspace, group)).collect()
            }
        };
        let mut ends = vec![EndRegion::default(); count];
        for (&place, end) in order.iter().zip(found?.into_iter().flatten()) {
            ends[place] = end;
        }
        Ok(ends)
    }

    /// Aligns a pair, unless the engine did. `names` are those of its sequences, for errors.
    ///
    /// # Errors
    /// [`Error::Internal`] if the engine's score, matches or columns are not those of the pair; [`Error::Interrupted`].
    pub(super) fn align<'n>(
        &self,
        pair: ScoredPair<'_>,
        names: impl Fn() -> [&'n str; 2],
        workspace: &mut Workspace,
    ) -> Result<AlignedPair> {
        check_interrupt(self.interrupt)?;
        let ScoredPair { query, target, score, matches, traced, end } = pair;
        let wrong = |what: String| {
            let [query, target] = names();
            Error::Internal(format!("{query} and {target}: {what}"))
        };
        let alignment = match traced.filter(|_| !self.is_local()) {
            Some(cigar) => Alignment::whole(score, cigar),
            None => {
                // A local traceback that is told the score ends there; checked, it looks for a greater one.
                let told = (!(self.is_local() && self.check)).then_some(score);
                // Fails if the engine's score or matches are not what the traceback finds.
                traceback_from(query, target, self.scoring, Hint { score: told, matches }, end, workspace)?
            }
        };
        let counts = alignment.cigar.counts();
        let (in_query, in_target) = (alignment.query_range(), alignment.target_range());
        let fits = if self.is_local() {
            in_query.end <= query.len() && in_target.end <= target.len()
        } else {
            (in_query, in_target) == (0..query.len(), 0..target.len())
        };
        if !fits || matches.is_some_and(|matches| matches != counts.matches) {
            return Err(wrong("the device's alignment is damaged".into()));
        }
        if self.check {
            let rescored = verify_alignment(&alignment, query, target, self.scoring)?;
            if rescored != score {
                return Err(wrong(format!("the alignment has score {rescored}, not {score}")));
            }
        }
        let identity = self.definition.identity(&counts, query.len() as u32, target.len() as u32);
        Ok(AlignedPair { alignment, counts, identity })
    }
}

/// Finds where local alignments end.
pub(super) struct EndFinder<'a> {
    scoring: &'a Scoring,
    workspace: &'a mut cpu::Workspace,
}

impl EndFinder<'_> {
    /// Returns where the alignments of a query with targets end.
    pub(super) fn ends(&mut self, query: &[Code], targets: &[&[Code]]) -> Result<Vec<EndRegion>> {
        cpu::ends(query, targets, self.scoring, self.workspace)
    }
}
