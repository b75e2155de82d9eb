//! Several local alignments of a query with a subject, which BLAST calls HSPs.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use rayon::prelude::*;

use super::SearchHit;
use super::best::{BestHits, HitCandidate};
use super::tracing::{HitTracer, WINDOW};
use crate::alignment::Alignment;
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::Result;
use crate::jobs::aligning::{AlignedPair, ScoredPair};
use crate::seq::{Code, SequenceId, Strand};
use crate::trace::{LocalAlignments, TracebackWorkspace};

/// A subject that may have hits.
struct SubjectTrial {
    /// Its strands with sufficient scores, best first.
    strands: Vec<HitCandidate>,
    /// Whether another strand of the query may have a sufficient score.
    may_have_others: bool,
}

/// The hits of a query with one subject, best first.
pub(super) type SubjectHits = Vec<SearchHit>;

/// A query whose subjects are not complete.
struct OpenSubjects {
    query: SequenceId,
    /// The remaining subjects, in the order of the greatest scores that they may have.
    left: VecDeque<SubjectTrial>,
    /// Subjects with hits.
    found: Vec<SubjectHits>,
}

/// The alignments of one strand of a pair.
struct StrandAlignments<'a> {
    pair: HitCandidate,
    query: &'a [Code],
    subject: &'a [Code],
    alignments: LocalAlignments<'a>,
    /// Score of the first alignment, if it is known and not found yet.
    first_score: Option<i64>,
    next: NextAlignment,
}

/// The best remaining alignment of a strand.
enum NextAlignment {
    NotSearched,
    Found(AlignedPair),
    /// No alignment with a sufficient score is left.
    Exhausted,
}

/// Returns the position of a subject in the list of its query.
fn rank(score: i64, record: u64) -> (Reverse<i64>, u64) {
    (Reverse(score), record)
}

impl OpenSubjects {
    /// Groups the pairs of a query, which are sorted best first, by subject. A subject with fewer
    /// than `strands` pairs may have others.
    fn new(query: SequenceId, pairs: Vec<HitCandidate>, strands: usize) -> Self {
        let mut positions: HashMap<u64, usize> = HashMap::new();
        let mut left: VecDeque<SubjectTrial> = VecDeque::new();
        for pair in pairs {
            let position = *positions.entry(pair.record).or_insert(left.len());
            match left.get_mut(position) {
                Some(trial) => trial.strands.push(pair),
                None => left.push_back(SubjectTrial { strands: vec![pair], may_have_others: false }),
            }
        }
        for trial in &mut left {
            trial.may_have_others = trial.strands.len() < strands;
        }
        OpenSubjects { query, left, found: Vec::new() }
    }

    /// Returns the number of remaining subjects that are certainly needed to find the best `most`
    /// subjects.
    fn subjects_to_trace(&self, most: usize, top_only: bool) -> usize {
        let Some(next) = self.left.front().map(|trial| trial.strands[0]) else { return 0 };
        if top_only && self.found.iter().any(|hits| hits[0].score > next.score.0) {
            return 0;
        }
        let bound = rank(next.score.0, next.record);
        let certain = self.found.iter().filter(|hits| rank(hits[0].score, hits[0].record) < bound).count();
        most.saturating_sub(certain).min(self.left.len())
    }
}

/// Returns the hits of the best `most` subjects of a query, the best subject first. With `top_only`,
/// returns only the hits with the best score.
pub(super) fn hits_of_best(mut subjects: Vec<SubjectHits>, most: usize, top_only: bool) -> Vec<SearchHit> {
    subjects.sort_by_key(|hits| rank(hits[0].score, hits[0].record));
    subjects.truncate(most);
    let mut hits: Vec<SearchHit> = subjects.into_iter().flatten().collect();
    if let Some(best) = hits.first().map(|hit| hit.score).filter(|_| top_only) {
        hits.retain(|hit| hit.score == best);
    }
    hits
}

impl HitTracer<'_> {
    /// Delivers the hits of these queries like [`HitTracer::deliver`], with up to `max_hsps`
    /// alignments of each subject.
    pub(super) fn deliver_several(
        &self,
        queries: impl Iterator<Item = (SequenceId, BestHits)>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        aligned: &mut u64,
    ) -> Result<()> {
        let (most, top_only) = (self.job.max_hits, self.job.top_hits_only);
        let (mut window, mut wanted) = (Vec::new(), 0);
        for (query, best) in queries {
            let strands = if self.has_all_pairs(query, &best) { 1 } else { self.job.strands().copies() as usize };
            let open = OpenSubjects::new(query, self.sorted(best), strands);
            wanted += open.subjects_to_trace(most, top_only);
            window.push(open);
            if wanted >= WINDOW {
                self.finish_several(std::mem::take(&mut window), rows, aligned)?;
                wanted = 0;
            }
        }
        self.finish_several(window, rows, aligned)
    }

    /// Returns whether the list of a query contains all pairs with sufficient scores. A full list,
    /// here or in another block, drops pairs.
    fn has_all_pairs(&self, query: SequenceId, best: &BestHits) -> bool {
        let job = self.job;
        let floor = job.floor(job.queries.length(query), job.subjects.lengths(), self.statistics.as_ref());
        let threshold = self.thresholds.threshold(job.strands().query(query, Strand::Plus));
        best.len() < job.max_kept() && threshold <= floor
    }

    /// Aligns the subjects of some queries, best first, until each query has its hits. Then delivers
    /// the hits.
    fn finish_several(
        &self,
        mut window: Vec<OpenSubjects>,
        rows: &mut dyn FnMut(&[SearchHit]) -> Result<()>,
        aligned: &mut u64,
    ) -> Result<()> {
        let (most, top_only) = (self.job.max_hits, self.job.top_hits_only);
        let workspaces = WorkspacePool::default();
        loop {
            let mut trials: Vec<(usize, SubjectTrial)> = Vec::new();
            for (index, open) in window.iter_mut().enumerate() {
                let wanted = open.subjects_to_trace(most, top_only);
                trials.extend(open.left.drain(..wanted).map(|trial| (index, trial)));
            }
            if trials.is_empty() {
                break;
            }
            let align = |(index, trial): &(usize, SubjectTrial)| {
                workspaces.with(|workspace| self.subject_hits(window[*index].query, trial, workspace))
            };
            let align_all = || trials.par_iter().map(align).collect();
            let results: Result<Vec<(SubjectHits, u64)>> = self.execution.threads.pool.install(align_all);
            for ((index, _), (hits, count)) in trials.iter().zip(results?) {
                *aligned += count;
                if !hits.is_empty() {
                    window[*index].found.push(hits);
                }
            }
        }
        let hits: Vec<SearchHit> =
            window.into_iter().flat_map(|open| hits_of_best(open.found, most, top_only)).collect();
        if !hits.is_empty() {
            rows(&hits)?;
        }
        Ok(())
    }

    /// Returns the hits of a query with a subject, and the number of alignments that were found for
    /// them.
    fn subject_hits(
        &self,
        query: SequenceId,
        trial: &SubjectTrial,
        workspace: &mut TracebackWorkspace,
    ) -> Result<(SubjectHits, u64)> {
        let opened = self.chunks.opened(trial.strands[0].chunk)?;
        let subject = opened.store.codes(trial.strands[0].subject);
        let mut strands = self.strand_alignments(query, trial, subject)?;
        let (mut hits, mut count) = (Vec::new(), 0);
        while hits.len() < self.job.max_hsps {
            for strand in &mut strands {
                self.search_next(query, strand, workspace)?;
            }
            let found = strands.iter_mut().filter_map(|strand| match &strand.next {
                NextAlignment::Found(aligned) => Some((aligned.alignment.score, strand)),
                _ => None,
            });
            // The plus strand is first, and stays the best if scores are equal.
            let best = found.reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((score, strand)) = best else { break };
            let next = std::mem::replace(&mut strand.next, NextAlignment::NotSearched);
            let NextAlignment::Found(aligned) = next else { break };
            strand.alignments.exclude(&aligned.alignment);
            count += 1;
            let mut hit = self.scored_hit(query, &strand.pair, score)?;
            if self.passes(&mut hit, aligned) {
                hits.push(hit);
            }
        }
        Ok((hits, count))
    }

    /// Prepares the alignments of the strands of a pair, the plus strand first.
    fn strand_alignments<'a>(
        &'a self,
        query: SequenceId,
        trial: &SubjectTrial,
        subject: &'a [Code],
    ) -> Result<Vec<StrandAlignments<'a>>> {
        let job = self.job;
        let lengths = (job.queries.length(query), subject.len() as u32);
        let mut least = job.floor(lengths.0, lengths.1..=lengths.1, self.statistics.as_ref());
        if job.reports_best_scores() {
            least = least.max(trial.strands[0].score.0);
        }
        let mut strands = Vec::new();
        for strand in [Strand::Plus, Strand::Minus] {
            let known = trial.strands.iter().find(|pair| pair.strand == strand);
            if known.is_none() && !trial.may_have_others {
                continue;
            }
            let codes = self.queries.codes(job.strands().query(query, strand));
            strands.push(StrandAlignments {
                pair: HitCandidate { strand, ..trial.strands[0] },
                query: codes,
                subject,
                alignments: LocalAlignments::new(codes, subject, &job.scoring, least)?,
                first_score: known.map(|pair| pair.score.0),
                next: NextAlignment::NotSearched,
            });
        }
        Ok(strands)
    }

    /// Finds the best remaining alignment of a strand, unless it is known.
    fn search_next(
        &self,
        query: SequenceId,
        strand: &mut StrandAlignments<'_>,
        workspace: &mut TracebackWorkspace,
    ) -> Result<()> {
        if !matches!(strand.next, NextAlignment::NotSearched) {
            return Ok(());
        }
        self.execution.run.check_interrupt()?;
        let names = || [self.job.queries.name(query), "the subject"];
        let found = match strand.first_score.take() {
            Some(score) => {
                let pair = ScoredPair {
                    query: strand.query,
                    target: strand.subject,
                    score,
                    matches: None,
                    traced: None,
                    end: None,
                };
                Some(self.aligning().align(pair, names, workspace)?)
            }
            None => {
                let complete = |alignment: Alignment| {
                    let counts = alignment.cigar.counts();
                    self.aligning().complete(alignment, counts, [strand.query, strand.subject], names)
                };
                strand.alignments.find(workspace)?.map(complete).transpose()?
            }
        };
        strand.next = found.map_or(NextAlignment::Exhausted, NextAlignment::Found);
        Ok(())
    }
}
