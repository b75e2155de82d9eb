//! Results of scored pairs, with alignments if they are requested.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::{AllPairs, MAX_RESULTS_ALONE, PairResult};
use crate::alignment::Cigar;
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::Result;
use crate::jobs::aligning::{AlignedPair, Aligning, EndFinder, ScoredPair, WantedEnd};
use crate::pairs::cpu::ScoredTarget;
use crate::pairs::{PairHit, PairsReport, ResultFilter, plan};
use crate::score::{AlignmentCounts, IdentityFilter};
use crate::seq::SequenceId;
use crate::trace::{EndRegion, TracebackWorkspace};

/// Turns results of engines into results for the caller.
#[derive(Clone)]
pub(in crate::jobs) struct PairAligner {
    pub(super) job: AllPairs,
    /// The plan. Its queries are the strands of the job's queries.
    pub(super) planned: plan::PairsSpec,
    filter: Option<Arc<IdentityFilter>>,
    interrupt: Arc<AtomicBool>,
}

impl PairAligner {
    pub(in crate::jobs) fn new(job: &AllPairs, planned: &plan::PairsSpec, interrupt: &Arc<AtomicBool>) -> Self {
        let (job, planned, interrupt) = (job.clone(), planned.clone(), Arc::clone(interrupt));
        PairAligner { filter: job.filter(), job, planned, interrupt }
    }

    /// Returns query and target of a hit. In a comparison of one set with itself, the earlier
    /// sequence is the query.
    fn orient(&self, hit: &PairHit) -> (SequenceId, SequenceId) {
        if self.planned.against.is_none() && hit.query > hit.target {
            (hit.target, hit.query)
        } else {
            (hit.query, hit.target)
        }
    }

    /// Returns whether the score of a pair reaches the minimum.
    pub(super) fn scores_enough(&self, hit: &PairHit) -> bool {
        self.job.min_score.is_none_or(|least| hit.score >= least)
    }

    /// Returns whether the score of a pair reaches the thresholds of its sequences.
    fn reaches_thresholds(&self, hit: &PairHit) -> bool {
        let ResultFilter::AtLeast(thresholds) = &self.planned.filter else { return true };
        // Both sequences of a set have a threshold, and either may be the query of the engine.
        let is_one_set = self.planned.against.is_none();
        hit.score >= thresholds.threshold(hit.query) && (!is_one_set || hit.score >= thresholds.threshold(hit.target))
    }

    /// Returns whether the lengths of a pair allow the coverages.
    fn may_cover(&self, hit: &PairHit) -> bool {
        if !self.job.coverage.is_set() {
            return true;
        }
        let (row, target) = self.orient(hit);
        self.job.coverage.may_pass(self.planned.queries.length(row), self.planned.targets().length(target))
    }

    /// Returns a result without an alignment.
    pub(super) fn scored(&self, hit: &PairHit) -> PairResult {
        let (row, target) = self.orient(hit);
        let (query, strand) = self.planned.strands.sequence_of(row);
        PairResult {
            query,
            target,
            strand,
            score: hit.score,
            alignment: None,
            counts: AlignmentCounts::default(),
            identity: 0.0,
        }
    }

    /// Returns whether a pair may pass the filters. Engines may report more pairs than pass this
    /// exact test. The number of aligned pairs must not depend on the engine.
    pub(super) fn may_reach(&self, hit: &PairHit) -> bool {
        if !self.scores_enough(hit) || !self.reaches_thresholds(hit) || !self.may_cover(hit) {
            return false;
        }
        let Some(filter) = &self.filter else { return true };
        let (m, n) = (self.planned.queries.length(hit.query), self.planned.targets().length(hit.target));
        filter.may_reach(hit.score, hit.matches, m, n)
    }

    /// Returns the results of a report in any order, and the number of aligned pairs. The threads
    /// of the pool align the pairs that the engine did not trace back.
    pub(in crate::jobs) fn results(
        &self,
        report: PairsReport,
        pool: &rayon::ThreadPool,
    ) -> Result<(Vec<PairResult>, u64)> {
        let PairsReport { hits, traced, mut ends, .. } = report;
        if self.job.score_only {
            let enough = hits.iter().filter(|hit| self.scores_enough(hit));
            return Ok((enough.map(|hit| self.scored(hit)).collect(), 0));
        }
        let open: Vec<usize> = (0..hits.len()).filter(|&index| self.may_reach(&hits[index])).collect();
        let aligned = open.len() as u64;
        if ends.is_empty() && self.aligning().finds_ends() {
            ends = self.ends(&hits, open.clone(), Some(pool))?;
        }
        let align = |workspace: &mut TracebackWorkspace, &index: &usize| {
            self.align(&hits[index], traced.cigar(index), ends.get(index), workspace).transpose()
        };
        let is_traced = |&index: &usize| traced.spans.get(index).is_some_and(Option::is_some);
        let results: Result<Vec<PairResult>> = if open.len() <= MAX_RESULTS_ALONE && open.iter().all(is_traced) {
            // CPU threads have traced these pairs themselves, and all of them may be busy.
            let mut workspace = TracebackWorkspace::default();
            open.iter().filter_map(|index| align(&mut workspace, index)).collect()
        } else {
            let workspaces = WorkspacePool::default();
            let align = |index| workspaces.with(|workspace| align(workspace, index));
            pool.install(|| open.par_iter().filter_map(align).collect())
        };
        Ok((results?, aligned))
    }

    /// Finds the ends of the alignments of hits that will be traced back. Returns an empty list if
    /// ends are not needed.
    pub(super) fn missing_ends(&self, hits: &[PairHit], pool: Option<&rayon::ThreadPool>) -> Result<Vec<EndRegion>> {
        if !self.aligning().finds_ends() {
            return Ok(Vec::new());
        }
        let open: Vec<usize> = (0..hits.len()).filter(|&index| self.may_reach(&hits[index])).collect();
        self.ends(hits, open, pool)
    }

    /// Finds the ends of the alignments of the hits with the indices in `open`. Returns an end for
    /// each hit.
    fn ends(&self, hits: &[PairHit], open: Vec<usize>, pool: Option<&rayon::ThreadPool>) -> Result<Vec<EndRegion>> {
        let (queries, targets) = (&self.planned.queries, self.planned.targets());
        let wanted = |index: usize| {
            let (row, target) = self.orient(&hits[index]);
            let cells = u64::from(queries.length(row)) * u64::from(targets.length(target));
            WantedEnd { index, row, cells }
        };
        let find = |group: &[WantedEnd], finder: &mut EndFinder<'_>| {
            let target = |wanted: &WantedEnd| {
                let hit = &hits[wanted.index];
                ScoredTarget { codes: targets.codes(self.orient(hit).1), score: hit.score }
            };
            finder.ends(queries.codes(group[0].row), &group.iter().map(target).collect::<Vec<_>>())
        };
        self.aligning().ends(hits.len(), open.into_iter().map(wanted).collect(), find, pool)
    }

    fn aligning(&self) -> Aligning<'_> {
        let AllPairs { scoring, definition, check, .. } = &self.job;
        Aligning { scoring, definition: *definition, check: *check, interrupt: &self.interrupt }
    }

    /// Aligns a pair, unless the engine traced it back. Returns `None` if its identity or a coverage
    /// is too low.
    pub(super) fn align(
        &self,
        hit: &PairHit,
        traced: Option<Cigar>,
        end: Option<&EndRegion>,
        workspace: &mut TracebackWorkspace,
    ) -> Result<Option<PairResult>> {
        let (job, planned) = (&self.job, &self.planned);
        let (row, target) = self.orient(hit);
        let (query, strand) = planned.strands.sequence_of(row);
        let (m, n) = (planned.queries.length(row), planned.targets().length(target));
        if let Some(EndRegion { query, target }) = end.filter(|_| job.is_local())
            && !job.coverage.may_pass_before([query.end, target.end], m, n)
        {
            return Ok(None);
        }
        let pair = ScoredPair {
            query: planned.queries.codes(row),
            target: planned.targets().codes(target),
            score: hit.score,
            matches: hit.matches,
            traced,
            end,
        };
        let names = || [job.queries.name(query), job.targets().name(target)];
        let AlignedPair { alignment, counts, identity } = self.aligning().align(pair, names, workspace)?;
        let keep =
            self.filter.as_ref().is_none_or(|filter| filter.passes(identity)) && job.coverage.passes(&counts, m, n);
        let score = alignment.score;
        let result = PairResult { query, target, strand, score, counts, identity, alignment: Some(alignment) };
        Ok(keep.then_some(result))
    }
}
