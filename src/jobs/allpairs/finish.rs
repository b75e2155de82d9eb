//! What is made of scores: alignments, the better strand of each pair, bands in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{AllPairs, FEW_RESULTS, PairResult};
use crate::alignment::{Alignment, Cigar, verify_alignment};
use crate::engine::ordered::{Ahead, Ordered};
use crate::engine::owner::Outcome;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::blocks::BlockSink;
use crate::jobs::blocks::source::Begun;
use crate::pairs::{Hit, Pairs, Report, cpu, plan};
use crate::score::{AlignmentCounts, IdentityFilter};
use crate::seq::{Code, SequenceId};
use crate::trace::{EndRegion, Hint, Workspace, traceback_from};

/// Targets of a query for which a thread finds at once where alignments end.
pub(in crate::jobs) const MOST_TOGETHER: usize = 128;

/// Turns an engine's result into the caller's.
pub(in crate::jobs) struct Aligner<'a> {
    job: &'a AllPairs,
    /// The queries here are strands of the job's.
    planned: &'a plan::Job,
    filter: Option<Arc<IdentityFilter>>,
    interrupt: &'a AtomicBool,
}

impl<'a> Aligner<'a> {
    pub(in crate::jobs) fn new(job: &'a AllPairs, planned: &'a plan::Job, interrupt: &'a AtomicBool) -> Self {
        Aligner { job, planned, filter: job.filter(), interrupt }
    }

    /// In an all-against-all of one store the earlier sequence is the query.
    fn orient(&self, hit: &Hit) -> (SequenceId, SequenceId) {
        if self.planned.against.is_none() && hit.query > hit.target {
            (hit.target, hit.query)
        } else {
            (hit.query, hit.target)
        }
    }

    /// Whether a pair's score is enough.
    fn scores_enough(&self, hit: &Hit) -> bool {
        self.job.min_score.is_none_or(|least| hit.score >= least)
    }

    /// A result without alignment.
    fn scored(&self, hit: &Hit) -> PairResult {
        let (row, target) = self.orient(hit);
        let (query, strand) = self.planned.strands.of(row);
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

    /// Engines may keep more pairs than this exact test does; how many are aligned must not depend on the engine.
    fn may_reach(&self, hit: &Hit) -> bool {
        if !self.scores_enough(hit) {
            return false;
        }
        let Some(filter) = &self.filter else { return true };
        let (m, n) = (self.planned.queries.length(hit.query), self.planned.targets().length(hit.target));
        filter.may_reach(hit.score, hit.matches, m, n)
    }

    /// What comes of a report, in no particular order, and how many pairs were aligned for it; those that the engine did not
    /// trace on the threads of the pool.
    pub(in crate::jobs) fn results(&self, report: Report, pool: &rayon::ThreadPool) -> Result<(Vec<PairResult>, u64)> {
        let Report { hits, traced, mut ends, .. } = report;
        if self.job.score_only {
            let enough = hits.iter().filter(|hit| self.scores_enough(hit));
            return Ok((enough.map(|hit| self.scored(hit)).collect(), 0));
        }
        let open: Vec<usize> = (0..hits.len()).filter(|&place| self.may_reach(&hits[place])).collect();
        let aligned = open.len() as u64;
        if ends.is_empty() && self.job.is_local() && !self.job.check {
            ends = self.ends(&hits, &open, pool)?;
        }
        let align = |workspace: &mut Workspace, &place: &usize| {
            self.align(&hits[place], traced.cigar(place), ends.get(place), workspace).transpose()
        };
        let is_traced = |&place: &usize| traced.spans.get(place).is_some_and(Option::is_some);
        let results: Result<Vec<PairResult>> = if open.len() <= FEW_RESULTS && open.iter().all(is_traced) {
            // The threads of the CPU trace what they compute, and all of them may be at work.
            let mut workspace = Workspace::default();
            open.iter().filter_map(|place| align(&mut workspace, place)).collect()
        } else {
            let open = open.par_iter();
            pool.install(|| open.map_init(Workspace::default, align).filter_map(|result| result).collect())
        };
        Ok((results?, aligned))
    }

    /// Where the alignments of the hits at these places end, of which an engine sent scores only: one for each hit.
    fn ends(&self, hits: &[Hit], open: &[usize], pool: &rayon::ThreadPool) -> Result<Vec<EndRegion>> {
        let (queries, targets) = (&self.planned.queries, self.planned.targets());
        let oriented = |&place: &usize| (self.orient(&hits[place]), place);
        let mut pairs: Vec<((SequenceId, SequenceId), usize)> = open.iter().map(oriented).collect();
        pairs.sort_unstable();
        let groups: Vec<_> = pairs.chunk_by(|a, b| a.0.0 == b.0.0).flat_map(|of| of.chunks(MOST_TOGETHER)).collect();
        let found = |workspace: &mut cpu::Workspace, group: &&[((SequenceId, SequenceId), usize)]| {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let symbols: Vec<&[Code]> = group.iter().map(|((_, target), _)| targets.codes(*target)).collect();
            cpu::ends(queries.codes(group[0].0.0), &symbols, &self.job.scoring, workspace)
        };
        let found: Result<Vec<Vec<EndRegion>>> =
            pool.install(|| groups.par_iter().map_init(cpu::Workspace::default, found).collect());
        let mut ends = vec![EndRegion::default(); hits.len()];
        for ((_, place), end) in pairs.iter().zip(found?.into_iter().flatten()) {
            ends[*place] = end;
        }
        Ok(ends)
    }

    /// The alignment of a pair, traced back here unless the engine did; `None` if it has not the identity asked for.
    fn align(
        &self,
        hit: &Hit,
        traced: Option<Cigar>,
        end: Option<&EndRegion>,
        workspace: &mut Workspace,
    ) -> Result<Option<PairResult>> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (job, planned) = (self.job, self.planned);
        let (row, target) = self.orient(hit);
        let (query, strand) = planned.strands.of(row);
        let (a, b) = (planned.queries.codes(row), planned.targets().codes(target));
        let alignment = match traced.filter(|_| !job.is_local()) {
            Some(cigar) => Alignment::whole(hit.score, cigar),
            None => {
                // A local traceback that is told the score ends there; checked, it looks for a greater one.
                let score = (!(job.is_local() && job.check)).then_some(hit.score);
                // Fails if the engine's score or matches are not what the traceback finds.
                traceback_from(a, b, &job.scoring, Hint { score, matches: hit.matches }, end, workspace)?
            }
        };
        let counts = alignment.cigar.counts();
        let (in_query, in_target) = (alignment.query_range(), alignment.target_range());
        let fits = if job.is_local() {
            in_query.end <= a.len() && in_target.end <= b.len()
        } else {
            (in_query, in_target) == (0..a.len(), 0..b.len())
        };
        if !fits || hit.matches.is_some_and(|matches| matches != counts.matches) {
            let names = (job.queries.name(query), job.targets().name(target));
            return Err(Error::Internal(format!("{} and {}: the device's alignment is damaged", names.0, names.1)));
        }
        if job.check {
            let rescored = verify_alignment(&alignment, a, b, &job.scoring)?;
            if rescored != hit.score {
                let names = (job.queries.name(query), job.targets().name(target));
                return Err(Error::Internal(format!(
                    "{} and {}: the alignment has score {rescored}, not {}",
                    names.0, names.1, hit.score
                )));
            }
        }
        let identity = job.definition.identity(&counts, a.len() as u32, b.len() as u32);
        let keep = self.filter.as_ref().is_none_or(|filter| filter.passes(identity));
        let score = alignment.score;
        let result = PairResult { query, target, strand, score, counts, identity, alignment: Some(alignment) };
        Ok(keep.then_some(result))
    }
}

/// Traces pairs back, puts bands together and hands them over in order.
pub(super) struct Finisher<'a> {
    aligner: Aligner<'a>,
    pool: &'a rayon::ThreadPool,
    sink: &'a mut dyn BlockSink<PairResult>,
    /// Pairs that are left of the block that is due, and of those after it.
    blocks: Begun<u64>,
    /// Pairs of each band, and what came of them.
    bands: Ordered<(u64, Vec<PairResult>)>,
    summary: Summary,
}

impl<'a> Finisher<'a> {
    /// `blocks`: how many pairs each has that are computed.
    pub(super) fn new(
        aligner: Aligner<'a>,
        pool: &'a rayon::ThreadPool,
        blocks: Begun<u64>,
        sink: &'a mut dyn BlockSink<PairResult>,
    ) -> Self {
        Finisher { aligner, pool, sink, blocks, bands: Ordered::new(), summary: Summary::default() }
    }

    /// How far bands may be planned ahead.
    pub(super) fn ahead(&self) -> Arc<Ahead> {
        self.bands.ahead()
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: Outcome<Pairs>) -> Result<()> {
        let (results, aligned) = self.aligner.results(outcome.report, self.pool)?;
        self.summary.aligned += aligned;
        let begin = || (outcome.band.pairs, Vec::new());
        self.bands.add(&outcome.band, outcome.pairs, begin, |(_, gathered)| {
            let bytes = results.iter().map(PairResult::bytes).sum();
            gathered.extend(results);
            Ok(bytes)
        })?;
        self.hand_over()
    }

    /// Hands over every complete band whose turn it is.
    fn hand_over(&mut self) -> Result<()> {
        while let Some((queries, (pairs, mut results))) = self.bands.complete() {
            results.sort_unstable_by_key(|result| (result.query, result.target, result.strand));
            let strands = self.aligner.planned.strands;
            if strands.copies() > 1 {
                keep_better_strands(&mut results);
            }
            if let Some(most) = self.aligner.job.max_hits {
                keep_best(&mut results, most, self.aligner.job.is_local());
            }
            let sequences = strands.sequences(queries);
            debug_assert!(results.iter().all(|result| sequences.contains(&result.query)));
            self.end_blocks()?;
            if !results.is_empty() {
                self.sink.rows(&results)?;
            }
            self.summary.written += results.len() as u64;
            let took = self.blocks.first(|left| left.checked_sub(pairs).map(|rest| *left = rest)).flatten();
            took.ok_or_else(|| Error::Internal(format!("band of {sequences:?} is in several blocks")))?;
        }
        self.end_blocks()
    }

    /// Ends the blocks of which nothing is left.
    fn end_blocks(&mut self) -> Result<()> {
        while self.blocks.end_if(|left| *left == 0).is_some() {
            self.sink.end()?;
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> Result<Summary> {
        self.end_blocks()?;
        self.bands.end()?;
        match self.blocks.first(|left| *left) {
            None => {
                let (pairs, cells) = self.blocks.totals();
                Ok(Summary { pairs, cells, ..self.summary })
            }
            Some(left) => Err(Error::Internal(format!("a block is short of {left} pairs"))),
        }
    }
}

/// Keeps of the two strands of each pair the one that scores more; of equal ones the forward one. `results` are sorted by
/// query, target and strand.
pub(in crate::jobs) fn keep_better_strands(results: &mut Vec<PairResult>) {
    results.dedup_by(|minus, plus| {
        let is_same = (minus.query, minus.target) == (plus.query, plus.target);
        if is_same && minus.score > plus.score {
            std::mem::swap(minus, plus);
        }
        is_same
    });
}

/// Keeps at most `most` results of each query, in place and in order: the best by identity and then score, or by score
/// and then identity (a local alignment of few symbols often has an identity of 1). `results` are sorted by query and
/// target.
pub(super) fn keep_best(results: &mut Vec<PairResult>, most: usize, score_first: bool) {
    let mut kept = Vec::with_capacity(results.len());
    for hits in results.chunk_by_mut(|a, b| a.query == b.query) {
        // Stable: equal hits stay in the order of their targets.
        hits.sort_by(|a, b| {
            let (by_identity, by_score) = (b.identity.total_cmp(&a.identity), b.score.cmp(&a.score));
            if score_first { by_score.then(by_identity) } else { by_identity.then(by_score) }
        });
        let most = most.min(hits.len());
        let best = &mut hits[..most];
        best.sort_by_key(|result| result.target);
        kept.extend(best.iter().cloned());
    }
    *results = kept;
}
