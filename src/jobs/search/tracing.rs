//! Turns lists of the best pairs into hits with alignments, in order.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::best::{BestHits, HitCandidate};
use super::chunks::SubjectChunkCache;
use super::{Search, SearchHit};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::Result;
use crate::jobs::aligning::{AlignedPair, Aligning, EndFinder, ScoredPair, WantedEnd};
use crate::jobs::session::Execution;
use crate::output::Range32;
use crate::output::columns::AlignmentColumns;
use crate::pairs::cpu::ScoredTarget;
use crate::pairs::{PairHit, ScoreThresholds};
use crate::score::AlignmentCounts;
use crate::score::statistics::Statistics;
use crate::seq::{SequenceId, SequenceStore};
use crate::trace::{EndRegion, TracebackWorkspace};

/// Number of pairs that are traced back together, for one or several queries. It keeps all threads
/// busy and needs little memory.
pub(super) const WINDOW: usize = 1 << 12;

/// Turns pairs into hits.
pub(super) struct HitTracer<'a> {
    pub job: &'a Search,
    /// The strands of the queries.
    pub queries: Arc<SequenceStore>,
    pub statistics: Option<Statistics>,
    pub chunks: &'a SubjectChunkCache,
    /// Lowest score of each strand of the queries that engines report.
    pub thresholds: &'a ScoreThresholds,
    pub execution: Execution<'a>,
}

/// A query whose hits are not complete.
struct OpenQuery {
    query: SequenceId,
    /// The remaining pairs, best first.
    left: std::vec::IntoIter<HitCandidate>,
    hits: Vec<SearchHit>,
    /// Records of the hits. A pair may occur on both strands.
    records: HashSet<u64>,
    /// Whether only hits with the score of the best hit are wanted.
    top_only: bool,
}

/// A pair that may become a hit.
struct HitTrial {
    /// Index of its query in the window.
    index: usize,
    query: SequenceId,
    pair: HitCandidate,
}

impl OpenQuery {
    /// Returns the number of remaining pairs that may become hits now.
    fn pairs_to_trace(&self, most: usize) -> usize {
        match self.left.as_slice().first() {
            Some(next) if self.has_place(next.score.0) => (most - self.hits.len()).min(self.left.len()),
            _ => 0,
        }
    }

    /// Returns whether a pair with this score may become a hit. Pairs arrive best first.
    fn has_place(&self, score: i64) -> bool {
        !self.top_only || self.hits.first().is_none_or(|best| best.score == score)
    }

    /// Adds a hit, unless the other strand of the pair is already a hit, with at least this score.
    fn take(&mut self, hit: SearchHit, most: usize) {
        if self.hits.len() < most && self.has_place(hit.score) && self.records.insert(hit.record) {
            self.hits.push(hit);
        }
    }
}

impl HitTracer<'_> {
    /// Returns whether the E-value of a pair is small enough.
    pub(super) fn is_significant(&self, hit: &PairHit, subject_symbols: u32) -> bool {
        let (Some(statistics), Some(most)) = (&self.statistics, self.job.max_evalue) else { return true };
        let query_symbols = self.queries.length(hit.query);
        statistics.evalue(hit.score, query_symbols, subject_symbols, &self.job.database_size()) <= most
    }

    /// Returns whether the lengths of a pair allow the coverages.
    pub(super) fn may_cover(&self, hit: &PairHit, subject_symbols: u32) -> bool {
        self.job.coverage.may_pass(self.queries.length(hit.query), subject_symbols)
    }

    /// Delivers the hits of these queries: the best pairs of each list that pass the filters. Adds
    /// the number of aligned pairs to `aligned`.
    pub(super) fn deliver(
        &self,
        queries: impl Iterator<Item = (SequenceId, BestHits)>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        aligned: &mut u64,
    ) -> Result<()> {
        if self.job.max_hsps > 1 {
            return self.deliver_several(queries, rows, aligned);
        }
        let most = self.job.max_hits;
        let (mut window, mut wanted) = (Vec::new(), 0);
        for (query, best) in queries {
            let sorted = self.sorted(best);
            let (left, top_only) = (sorted.into_iter(), self.job.top_hits_only);
            let open = OpenQuery { query, left, hits: Vec::new(), records: HashSet::new(), top_only };
            wanted += open.pairs_to_trace(most);
            window.push(open);
            if wanted >= WINDOW {
                self.finish(std::mem::take(&mut window), rows, aligned)?;
                wanted = 0;
            }
        }
        self.finish(window, rows, aligned)
    }

    /// Returns the pairs of a query that may become hits, best first.
    pub(super) fn sorted(&self, best: BestHits) -> Vec<HitCandidate> {
        let mut sorted = best.into_sorted();
        if self.job.reports_best_scores() {
            // Every pair becomes a hit, so the first one is the best hit.
            let top = sorted.first().map(|best| best.score);
            sorted.truncate(sorted.partition_point(|pair| Some(pair.score) == top));
        }
        sorted
    }

    /// Traces back the pairs of some queries, best first, until each query has its hits. Then
    /// delivers the hits.
    fn finish(
        &self,
        mut window: Vec<OpenQuery>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        aligned: &mut u64,
    ) -> Result<()> {
        let most = self.job.max_hits;
        let workspaces = WorkspacePool::default();
        loop {
            let mut trials: Vec<HitTrial> = Vec::new();
            for (index, open) in window.iter_mut().enumerate() {
                let mut wanted = open.pairs_to_trace(most);
                while wanted > 0
                    && let Some(pair) = open.left.next()
                {
                    // The other strand of this pair came earlier and was a hit.
                    if !open.records.contains(&pair.record) {
                        trials.push(HitTrial { index, query: open.query, pair });
                        wanted -= 1;
                    }
                }
            }
            if trials.is_empty() {
                break;
            }
            if !self.job.score_only {
                *aligned += trials.len() as u64;
            }
            let started = Instant::now();
            let ends = self.ends(&trials)?;
            let found = started.elapsed().as_secs_f64();
            let hit = |(at, trial): (usize, &HitTrial)| {
                workspaces.with(|workspace| self.hit(trial.query, &trial.pair, ends.get(at), workspace))
            };
            let traced = || trials.par_iter().enumerate().map(hit).collect();
            let hits: Result<Vec<Option<SearchHit>>> = self.execution.threads.pool.install(traced);
            let seconds = started.elapsed().as_secs_f64();
            tracing::debug!(pairs = trials.len(), ends = found, seconds, "aligned");
            for (trial, hit) in trials.iter().zip(hits?) {
                hit.into_iter().for_each(|hit| window[trial.index].take(hit, most));
            }
        }
        let hits: Vec<SearchHit> = window.into_iter().flat_map(|open| open.hits).collect();
        if !hits.is_empty() {
            rows(&hits)?;
        }
        Ok(())
    }

    /// Returns the ends of the alignments of these pairs if they help the traceback. Scores alone
    /// do not determine them.
    fn ends(&self, trials: &[HitTrial]) -> Result<Vec<EndRegion>> {
        let aligning = self.aligning();
        if self.job.score_only || !aligning.finds_ends() {
            return Ok(Vec::new());
        }
        let wanted = |(index, trial): (usize, &HitTrial)| {
            let row = self.job.strands().query(trial.query, trial.pair.strand);
            let subject_symbols = self.chunks.opened(trial.pair.chunk)?.store.length(trial.pair.subject);
            let cells = u64::from(self.queries.length(row)) * u64::from(subject_symbols);
            Ok(WantedEnd { index, row, cells })
        };
        let wanted: Result<Vec<WantedEnd>> = trials.iter().enumerate().map(wanted).collect();
        let find = |group: &[WantedEnd], finder: &mut EndFinder<'_>| {
            let pairs = || group.iter().map(|wanted| &trials[wanted.index].pair);
            let opened: Vec<_> = pairs().map(|pair| self.chunks.opened(pair.chunk)).collect::<Result<_>>()?;
            let targets = opened.iter().zip(pairs()).map(|(chunk, pair)| {
                let codes = chunk.store.codes(pair.subject);
                ScoredTarget { codes, score: pair.score.0 }
            });
            finder.ends(self.queries.codes(group[0].row), &targets.collect::<Vec<_>>())
        };
        aligning.ends(trials.len(), wanted?, find, Some(&self.execution.threads.pool))
    }

    pub(super) fn aligning(&self) -> Aligning<'_> {
        let Search { scoring, definition, check, .. } = self.job;
        Aligning { scoring, definition: *definition, check: *check, interrupt: &self.execution.run.interrupt }
    }

    /// Turns a pair into a hit. Returns `None` if its alignment does not pass the filters.
    fn hit(
        &self,
        query: SequenceId,
        pair: &HitCandidate,
        end: Option<&EndRegion>,
        workspace: &mut TracebackWorkspace,
    ) -> Result<Option<SearchHit>> {
        self.execution.run.check_interrupt()?;
        let (job, score) = (self.job, pair.score.0);
        let mut hit = self.scored_hit(query, pair, score)?;
        if job.score_only {
            return Ok(Some(hit));
        }
        let pair = ScoredPair {
            query: self.queries.codes(job.strands().query(query, pair.strand)),
            target: hit.subjects.codes(hit.subject),
            score,
            matches: None,
            traced: None,
            end,
        };
        let names = || [job.queries.name(query), hit.subjects.name(hit.subject)];
        let aligned = self.aligning().align(pair, names, workspace)?;
        Ok(self.passes(&mut hit, aligned).then_some(hit))
    }

    /// Returns a hit with this score, without its alignment.
    pub(super) fn scored_hit(&self, query: SequenceId, pair: &HitCandidate, score: i64) -> Result<SearchHit> {
        let chunk = self.chunks.opened(pair.chunk)?;
        let subject_index = chunk.index(pair.subject);
        let (m, n) = (self.job.queries.length(query), chunk.store.length(pair.subject));
        let significance = |statistics: &Statistics| statistics.significance(score, m, n, &self.job.database_size());
        Ok(SearchHit {
            query,
            subjects: chunk.store,
            subject: pair.subject,
            subject_index,
            record: pair.record,
            strand: pair.strand,
            score,
            significance: self.statistics.as_ref().map(significance),
            alignment: None,
            counts: AlignmentCounts::default(),
            identity: 0.0,
        })
    }

    /// Adds the alignment to a hit. Returns whether the hit passes the filters.
    pub(super) fn passes(&self, hit: &mut SearchHit, aligned: AlignedPair) -> bool {
        let AlignedPair { alignment, counts, identity } = aligned;
        (hit.counts, hit.identity) = (counts, identity);
        let (m, n) = (self.job.queries.length(hit.query), hit.subjects.length(hit.subject));
        let cover = || {
            let part = |range: std::ops::Range<usize>| Range32 { start: range.start as u32, end: range.end as u32 };
            let (query, target) = (part(alignment.query_range()), part(alignment.target_range()));
            let inner = AlignmentColumns::from_cigar(&alignment.cigar, counts, query, target).query;
            f64::from(inner.end.saturating_sub(inner.start)) / f64::from(m.max(1))
        };
        let passes = self.job.min_identity.is_none_or(|least| reaches(identity, least))
            && self.job.coverage.passes(&counts, m, n)
            && self.job.min_query_cover.is_none_or(|least| reaches(cover(), least));
        hit.alignment = Some(alignment);
        passes
    }
}

/// Returns whether a fraction reaches a limit, without rounding errors: nine of ten symbols reach
/// 90%.
fn reaches(value: f64, least: f64) -> bool {
    100.0 * value >= 100.0 * least
}
