//! Alignment of scored pairs: end positions of local alignments, traceback, rescoring, identity.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::run::check_interrupt;
use crate::alignment::{Alignment, Cigar, verify_alignment};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::{Error, Result};
use crate::pairs::cpu::{self, ScoredTarget};
use crate::score::{AlignmentCounts, IdentityDefinition, Mode, Scoring};
use crate::seq::{Code, SequenceId};
use crate::simd::MAX_LANES;
use crate::trace::{EndRegion, Hint, TracebackWorkspace, traceback_from};

/// Maximum number of targets of a query whose alignment ends are found in one call. It fills the
/// lanes of the widest vector.
const TOGETHER: usize = MAX_LANES;

/// Options for aligning the pairs of a job.
#[derive(Clone, Copy)]
pub(super) struct Aligning<'a> {
    pub scoring: &'a Scoring,
    pub definition: IdentityDefinition,
    /// Whether alignments are rescored.
    pub check: bool,
    pub interrupt: &'a AtomicBool,
}

/// A pair whose alignment end is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WantedEnd {
    /// Index of the pair.
    pub index: usize,
    /// Row of the query. The pairs of one row are computed together.
    pub row: SequenceId,
    /// Number of cells of the matrix.
    pub cells: u64,
}

/// Divides pairs into groups of one row and of similar size, the largest groups first. A pair alone
/// takes up to twice as long as its share of a group. Therefore a group is divided into single pairs
/// only if it exceeds twice the mean work of a thread.
fn groups_of_ends(wanted: &mut [WantedEnd], threads: usize) -> Vec<&[WantedEnd]> {
    wanted.sort_unstable_by_key(|pair| (pair.row, std::cmp::Reverse(pair.cells), pair.index));
    let cells = |group: &[WantedEnd]| group.iter().map(|pair| pair.cells).sum::<u64>();
    let mean = cells(wanted) / threads as u64;
    let size = |group: &&[WantedEnd]| if cells(group) > 2 * mean { 1 } else { TOGETHER };
    let rows = wanted.chunk_by(|one, other| one.row == other.row);
    let filled = rows.flat_map(|pairs| pairs.chunks(TOGETHER));
    let mut groups: Vec<&[WantedEnd]> = filled.flat_map(|group| group.chunks(size(&group))).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(cells(group)));
    groups
}

/// A pair with a known score.
pub(super) struct ScoredPair<'a> {
    /// Symbols of the query on the aligned strand.
    pub query: &'a [Code],
    pub target: &'a [Code],
    pub score: i64,
    /// Number of matches of the alignment, if the engine counted them.
    pub matches: Option<u64>,
    /// Columns of the alignment, if the engine traced it back.
    pub traced: Option<Cigar>,
    /// End of the alignment, if it was computed before ([`Aligning::ends`]).
    pub end: Option<&'a EndRegion>,
}

/// An aligned pair.
pub(super) struct AlignedPair {
    /// The canonical alignment.
    pub alignment: Alignment,
    /// Numbers of its columns by kind.
    pub counts: AlignmentCounts,
    /// Its identity as a fraction.
    pub identity: f64,
}

impl Aligning<'_> {
    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// Returns whether tracebacks are faster with known alignment ends. With `check`, the traceback
    /// finds the ends itself.
    pub(super) fn finds_ends(&self) -> bool {
        self.is_local() && !self.check
    }

    /// Finds the ends of the alignments of some of `count` pairs, and returns an end for each of
    /// the `count` pairs. `find` passes the symbols at some indices of one row to the finder.
    ///
    /// Runs on the threads of `pool` if given, otherwise on the calling thread.
    pub(super) fn ends(
        &self,
        count: usize,
        mut wanted: Vec<WantedEnd>,
        find: impl Fn(&[WantedEnd], &mut EndFinder<'_>) -> Result<Vec<EndRegion>> + Sync,
        pool: Option<&rayon::ThreadPool>,
    ) -> Result<Vec<EndRegion>> {
        let groups = groups_of_ends(&mut wanted, pool.map_or(1, rayon::ThreadPool::current_num_threads));
        let score_group = |workspace: &mut cpu::ScoreWorkspace, group: &&[WantedEnd]| {
            check_interrupt(self.interrupt)?;
            find(group, &mut EndFinder { scoring: self.scoring, workspace })
        };
        let group_ends: Result<Vec<Vec<EndRegion>>> = match pool {
            Some(pool) => {
                let workspaces = WorkspacePool::default();
                let score = |group| workspaces.with(|workspace| score_group(workspace, group));
                pool.install(|| groups.par_iter().with_max_len(1).map(score).collect())
            }
            None => {
                let mut workspace = cpu::ScoreWorkspace::default();
                groups.iter().map(|group| score_group(&mut workspace, group)).collect()
            }
        };
        let mut ends = vec![EndRegion::default(); count];
        for (wanted, end) in groups.into_iter().flatten().zip(group_ends?.into_iter().flatten()) {
            ends[wanted.index] = end;
        }
        Ok(ends)
    }

    /// Aligns a pair, unless the engine traced it back. `names` returns the names of its sequences,
    /// for errors.
    ///
    /// # Errors
    /// [`Error::Internal`] if the engine reported a wrong score, number of matches or alignment;
    /// [`Error::Interrupted`].
    pub(super) fn align<'n>(
        &self,
        pair: ScoredPair<'_>,
        names: impl Fn() -> [&'n str; 2],
        workspace: &mut TracebackWorkspace,
    ) -> Result<AlignedPair> {
        check_interrupt(self.interrupt)?;
        let ScoredPair { query, target, score, matches, traced, end } = pair;
        let wrong = |what: String| {
            let [query, target] = names();
            Error::Internal(format!("{query} and {target}: {what}"))
        };
        let alignment = match traced.filter(|_| !self.is_local()) {
            Some(cigar) => Alignment::end_to_end(score, cigar),
            None => {
                // A local traceback stops when it reaches a known score. With `check`, it looks for
                // a greater one.
                let known = (!(self.is_local() && self.check)).then_some(score);
                // Fails if the traceback finds another score or another number of matches.
                traceback_from(query, target, self.scoring, Hint { score: known, matches }, end, workspace)?
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
        // The alignment must have the reported score.
        self.complete(Alignment { score, ..alignment }, counts, [query, target], names)
    }

    /// Returns an alignment of a query and a target with its identity, given the numbers of its
    /// columns. Rescores it, if alignments are checked.
    ///
    /// # Errors
    /// [`Error::Internal`] if the alignment has another score.
    pub(super) fn complete<'n>(
        &self,
        alignment: Alignment,
        counts: AlignmentCounts,
        [query, target]: [&[Code]; 2],
        names: impl Fn() -> [&'n str; 2],
    ) -> Result<AlignedPair> {
        if self.check {
            let (rescored, score) = (verify_alignment(&alignment, query, target, self.scoring)?, alignment.score);
            if rescored != score {
                let [query, target] = names();
                let what = format!("the alignment has score {rescored}, not {score}");
                return Err(Error::Internal(format!("{query} and {target}: {what}")));
            }
        }
        let identity = self.definition.identity(&counts, query.len() as u32, target.len() as u32);
        Ok(AlignedPair { alignment, counts, identity })
    }
}

/// Finds the ends of local alignments.
pub(super) struct EndFinder<'a> {
    scoring: &'a Scoring,
    workspace: &'a mut cpu::ScoreWorkspace,
}

impl EndFinder<'_> {
    /// Returns the ends of the alignments of a query with targets.
    pub(super) fn ends(&mut self, query: &[Code], targets: &[ScoredTarget<'_>]) -> Result<Vec<EndRegion>> {
        cpu::ends(query, targets, self.scoring, self.workspace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pairs of rows with the given numbers of cells.
    fn pairs(rows: &[&[u64]]) -> Vec<WantedEnd> {
        let of_row =
            |(row, cells): (SequenceId, &&[u64])| cells.iter().map(move |&cells| (row, cells)).collect::<Vec<_>>();
        let all = (0..).zip(rows).flat_map(of_row).enumerate();
        all.map(|(index, (row, cells))| WantedEnd { index, row, cells }).collect()
    }

    #[test]
    fn groups_have_one_row_and_large_ones_are_divided() {
        let (many, few) = ([1; 100], [30, 10, 20]);
        for threads in [1, 2, 16] {
            let mut wanted = pairs(&[&many, &few, &[]]);
            let groups = groups_of_ends(&mut wanted, threads);
            let mut indices: Vec<usize> = groups.iter().flat_map(|group| group.iter().map(|pair| pair.index)).collect();
            indices.sort_unstable();
            assert_eq!(indices, (0..103).collect::<Vec<_>>());
            assert!(groups.iter().all(|group| group.iter().all(|pair| pair.row == group[0].row)));
            let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
            let cells: Vec<u64> = groups.iter().map(|group| group.iter().map(|pair| pair.cells).sum()).collect();
            assert!(cells.is_sorted_by(|one, next| one >= next), "{cells:?}");
            // The mean work of 16 threads is 10 cells.
            let expected = if threads < 16 { vec![64, 3, 36] } else { vec![1; 103] };
            assert_eq!(sizes, expected, "{threads} threads");
        }
        assert!(groups_of_ends(&mut [], 4).is_empty());
    }
}
