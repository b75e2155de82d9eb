//! From lists of the best to hits with their alignments, in order.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::best::{Best, Candidate};
use super::chunks::Chunks;
use super::{Search, SearchHit};
use crate::alignment::{Alignment, verify_alignment};
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::allpairs::finish::MOST_TOGETHER;
use crate::jobs::session::Execution;
use crate::output::Range32;
use crate::output::columns::Columns;
use crate::pairs::{Hit, cpu};
use crate::score::AlignmentCounts;
use crate::score::statistics::Statistics;
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::trace::{EndRegion, Hint, Workspace, traceback_from};

/// Hits that are traced together, of one query or of several: enough for all threads, and few in memory.
const WINDOW: usize = 1 << 12;

/// What makes hits of pairs.
pub(super) struct Tracer<'a> {
    pub job: &'a Search,
    /// The strands of the job's queries.
    pub queries: Arc<SequenceStore>,
    pub statistics: Option<Statistics>,
    pub chunks: &'a Chunks,
    pub execution: Execution<'a>,
}

/// A query whose hits are being found.
struct Open {
    query: SequenceId,
    /// Pairs that are left, the best first.
    left: std::vec::IntoIter<Candidate>,
    hits: Vec<SearchHit>,
    /// Records of the hits, where a pair may come on both strands.
    records: HashSet<u64>,
}

impl Open {
    /// So many of the pairs that are left may become hits at once.
    fn wanted(&self, most: usize) -> usize {
        (most - self.hits.len()).min(self.left.len())
    }

    /// Takes a hit, unless the pair has one on the other strand, which scores no less.
    fn take(&mut self, hit: SearchHit, most: usize) {
        if self.hits.len() < most && self.records.insert(hit.record) {
            self.hits.push(hit);
        }
    }
}

impl Tracer<'_> {
    /// Whether a pair's E-value is small enough.
    pub(super) fn is_significant(&self, hit: &Hit, subject_symbols: u32) -> bool {
        let (Some(statistics), Some(most)) = (&self.statistics, self.job.max_evalue) else { return true };
        let query_symbols = self.queries.length(hit.query);
        statistics.evalue(hit.score, query_symbols, subject_symbols, &self.job.database_size()) <= most
    }

    /// Hands over the hits of these queries, each the best of its list that pass.
    pub(super) fn hand_over(
        &self,
        queries: impl Iterator<Item = (SequenceId, Best)>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        summary: &mut Summary,
    ) -> Result<()> {
        let most = self.job.max_hits;
        let (mut window, mut wanted) = (Vec::new(), 0);
        for (query, best) in queries {
            let left = best.into_sorted().into_iter();
            let open = Open { query, left, hits: Vec::new(), records: HashSet::new() };
            wanted += open.wanted(most);
            window.push(open);
            if wanted >= WINDOW {
                self.finish(std::mem::take(&mut window), rows, summary)?;
                wanted = 0;
            }
        }
        self.finish(window, rows, summary)
    }

    /// Traces the pairs of some queries from the best on down, until each has its hits, and hands these over.
    fn finish(
        &self,
        mut window: Vec<Open>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        summary: &mut Summary,
    ) -> Result<()> {
        let most = self.job.max_hits;
        loop {
            let mut pairs: Vec<(usize, SequenceId, Candidate)> = Vec::new();
            for (place, open) in window.iter_mut().enumerate() {
                let mut wanted = open.wanted(most);
                while wanted > 0
                    && let Some(pair) = open.left.next()
                {
                    // A pair's other strand came before, and was a hit.
                    if !open.records.contains(&pair.record) {
                        pairs.push((place, open.query, pair));
                        wanted -= 1;
                    }
                }
            }
            if pairs.is_empty() {
                break;
            }
            if !self.job.score_only {
                summary.aligned += pairs.len() as u64;
            }
            let ends = self.ends(&pairs)?;
            let hit = |workspace: &mut Workspace,
                       (at, &(place, query, pair)): (usize, &(usize, SequenceId, Candidate))| {
                self.hit(query, &pair, ends.get(at), workspace).map(|hit| hit.map(|hit| (place, hit)))
            };
            let hits: Result<Vec<Option<(usize, SearchHit)>>> = self
                .execution
                .threads
                .pool
                .install(|| pairs.par_iter().enumerate().map_init(Workspace::default, hit).collect());
            hits?.into_iter().flatten().for_each(|(place, hit)| window[place].take(hit, most));
        }
        let hits: Vec<SearchHit> = window.into_iter().flat_map(|open| open.hits).collect();
        if !hits.is_empty() {
            rows(&hits)?;
        }
        summary.written += hits.len() as u64;
        Ok(())
    }

    /// Where the alignments of these pairs end, if that helps to trace them: their scores tell nothing of it.
    fn ends(&self, pairs: &[(usize, SequenceId, Candidate)]) -> Result<Vec<EndRegion>> {
        let job = self.job;
        if job.score_only || !job.is_local() || job.check {
            return Ok(Vec::new());
        }
        let same = |a: &(usize, SequenceId, Candidate), b: &(usize, SequenceId, Candidate)| {
            (a.1, a.2.strand) == (b.1, b.2.strand)
        };
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&at| (pairs[at].1, pairs[at].2.strand));
        let groups: Vec<&[usize]> =
            order.chunk_by(|&a, &b| same(&pairs[a], &pairs[b])).flat_map(|of| of.chunks(MOST_TOGETHER)).collect();
        let found = |workspace: &mut cpu::Workspace, group: &&[usize]| {
            self.execution.run.check_interrupt()?;
            let (_, query, first) = pairs[group[0]];
            let opened: Result<Vec<_>> = group.iter().map(|&at| self.chunks.opened(pairs[at].2.chunk)).collect();
            let opened = opened?;
            let subjects: Vec<&[Code]> =
                group.iter().zip(&opened).map(|(&at, chunk)| chunk.store.codes(pairs[at].2.subject)).collect();
            let row = job.strands().query(query, first.strand);
            cpu::ends(self.queries.codes(row), &subjects, &job.scoring, workspace)
        };
        let found: Result<Vec<Vec<EndRegion>>> = self
            .execution
            .threads
            .pool
            .install(|| groups.par_iter().map_init(cpu::Workspace::default, found).collect());
        let mut ends = vec![EndRegion::default(); pairs.len()];
        for (&at, end) in order.iter().zip(found?.into_iter().flatten()) {
            ends[at] = end;
        }
        Ok(ends)
    }

    /// A pair as a hit; `None` if its alignment does not pass.
    fn hit(
        &self,
        query: SequenceId,
        pair: &Candidate,
        end: Option<&EndRegion>,
        workspace: &mut Workspace,
    ) -> Result<Option<SearchHit>> {
        self.execution.run.check_interrupt()?;
        let (job, score) = (self.job, pair.score.0);
        let chunk = self.chunks.opened(pair.chunk)?;
        let place = chunk.place(pair.subject);
        let (m, n) = (job.queries.length(query), chunk.store.length(pair.subject));
        let significance = |statistics: &Statistics| statistics.significance(score, m, n, &job.database_size());
        let mut hit = SearchHit {
            query,
            subjects: chunk.store,
            subject: pair.subject,
            place,
            record: pair.record,
            strand: pair.strand,
            score,
            significance: self.statistics.as_ref().map(significance),
            alignment: None,
            counts: AlignmentCounts::default(),
            identity: 0.0,
        };
        if job.score_only {
            return Ok(Some(hit));
        }
        let alignment = self.align(&hit, end, workspace)?;
        hit.counts = alignment.cigar.counts();
        hit.identity = job.definition.identity(&hit.counts, m, n);
        let cover = || {
            let part = |range: std::ops::Range<usize>| Range32 { start: range.start as u32, end: range.end as u32 };
            let (query, target) = (part(alignment.query_range()), part(alignment.target_range()));
            let inner = Columns::of(&alignment.cigar, hit.counts, query, target).query;
            f64::from(inner.end.saturating_sub(inner.start)) / f64::from(m.max(1))
        };
        let passes = job.min_identity.is_none_or(|least| reaches(hit.identity, least))
            && job.min_query_cover.is_none_or(|least| reaches(cover(), least));
        hit.alignment = Some(alignment);
        Ok(passes.then_some(hit))
    }

    /// The canonical alignment of a pair.
    fn align(&self, hit: &SearchHit, end: Option<&EndRegion>, workspace: &mut Workspace) -> Result<Alignment> {
        let (job, scoring) = (self.job, &*self.job.scoring);
        let row = job.strands().query(hit.query, hit.strand);
        let (a, b) = (self.queries.codes(row), hit.subjects.codes(hit.subject));
        // A local traceback that is told the score ends there; checked, it looks for a greater one.
        let score = (!(job.is_local() && job.check)).then_some(hit.score);
        // Fails if the engine's score is not what the traceback finds.
        let alignment = traceback_from(a, b, scoring, Hint { score, matches: None }, end, workspace)?;
        if job.check {
            let rescored = verify_alignment(&alignment, a, b, scoring)?;
            if rescored != hit.score {
                let names = (job.queries.name(hit.query), hit.subjects.name(hit.subject));
                return Err(Error::Internal(format!(
                    "{} and {}: the alignment has score {rescored}, not {}",
                    names.0, names.1, hit.score
                )));
            }
        }
        Ok(alignment)
    }
}

/// Whether a fraction is enough, as it is written: 90% of ten symbols are 0.9.
fn reaches(value: f64, least: f64) -> bool {
    100.0 * value >= 100.0 * least
}
