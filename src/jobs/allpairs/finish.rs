//! What is made of scores: alignments, the better strand of each pair, bands in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::lines::{Gathering, LineSettler, LineWriter};
use super::select::Selection;
use super::{AllPairs, FEW_RESULTS, PairResult};
use crate::alignment::{Alignment, Cigar, verify_alignment};
use crate::engine::ordered::{Ahead, Ordered};
use crate::engine::owner::Outcome;
use crate::engine::settle::Settle;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::source::Begun;
use crate::pairs::{Hit, Pairs, Report, cpu, plan};
use crate::score::{AlignmentCounts, IdentityFilter};
use crate::seq::{Code, SequenceId};
use crate::trace::{EndRegion, Hint, Workspace, traceback_from};

/// Targets of a query for which a thread finds at once where alignments end.
pub(in crate::jobs) const MOST_TOGETHER: usize = 128;

/// Turns an engine's result into the caller's.
#[derive(Clone)]
pub(in crate::jobs) struct Aligner {
    pub(super) job: AllPairs,
    /// The queries here are strands of the job's.
    pub(super) planned: plan::Job,
    filter: Option<Arc<IdentityFilter>>,
    interrupt: Arc<AtomicBool>,
}

impl Aligner {
    pub(in crate::jobs) fn new(job: &AllPairs, planned: &plan::Job, interrupt: &Arc<AtomicBool>) -> Self {
        let (job, planned, interrupt) = (job.clone(), planned.clone(), Arc::clone(interrupt));
        Aligner { filter: job.filter(), job, planned, interrupt }
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
    pub(super) fn scores_enough(&self, hit: &Hit) -> bool {
        self.job.min_score.is_none_or(|least| hit.score >= least)
    }

    /// A result without alignment.
    pub(super) fn scored(&self, hit: &Hit) -> PairResult {
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
    pub(super) fn may_reach(&self, hit: &Hit) -> bool {
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
        if ends.is_empty() && self.finds_ends() {
            ends = self.ends(&hits, &open, Some(pool))?;
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

    /// Whether it pays to find where alignments end before they are traced back. (Checked, the traceback looks itself.)
    fn finds_ends(&self) -> bool {
        self.job.is_local() && !self.job.check
    }

    /// Where alignments end that are to be traced back, of hits of which an engine sent scores only; nothing where that need not
    /// be known.
    pub(super) fn missing_ends(&self, hits: &[Hit], pool: Option<&rayon::ThreadPool>) -> Result<Vec<EndRegion>> {
        if !self.finds_ends() {
            return Ok(Vec::new());
        }
        let open: Vec<usize> = (0..hits.len()).filter(|&place| self.may_reach(&hits[place])).collect();
        self.ends(hits, &open, pool)
    }

    /// Where the alignments of the hits at these places end: one for each hit. On the threads of the pool, if there is one.
    fn ends(&self, hits: &[Hit], open: &[usize], pool: Option<&rayon::ThreadPool>) -> Result<Vec<EndRegion>> {
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
        let found: Result<Vec<Vec<EndRegion>>> = match pool {
            Some(pool) => pool.install(|| groups.par_iter().map_init(cpu::Workspace::default, found).collect()),
            None => {
                let mut workspace = cpu::Workspace::default();
                groups.iter().map(|group| found(&mut workspace, group)).collect()
            }
        };
        let mut ends = vec![EndRegion::default(); hits.len()];
        for ((_, place), end) in pairs.iter().zip(found?.into_iter().flatten()) {
            ends[*place] = end;
        }
        Ok(ends)
    }

    /// The alignment of a pair, traced back here unless the engine did; `None` if it has not the identity asked for.
    pub(super) fn align(
        &self,
        hit: &Hit,
        traced: Option<Cigar>,
        end: Option<&EndRegion>,
        workspace: &mut Workspace,
    ) -> Result<Option<PairResult>> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (job, planned) = (&self.job, &self.planned);
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

/// What came of a band so far.
#[derive(Default)]
struct Gathered {
    /// Pairs that it has.
    pairs: u64,
    rows: Vec<PairResult>,
    lines: Gathering,
}

/// Traces pairs back, puts bands together and hands them over in order.
pub(super) struct Finisher<'a> {
    aligner: Aligner,
    pool: &'a rayon::ThreadPool,
    /// Makes bytes of results where they come up, if the sink takes these.
    lines: Option<(Arc<LineSettler>, LineWriter)>,
    bands: Ordered<Gathered>,
    /// Of blocks, each with its pairs that are computed and not handed over.
    delivery: Delivery<'a, PairResult, u64>,
    aligned: u64,
}

impl<'a> Finisher<'a> {
    /// `blocks`: how many pairs each has that are computed.
    pub(super) fn new(
        aligner: Aligner,
        pool: &'a rayon::ThreadPool,
        blocks: Begun<u64>,
        sink: &'a mut dyn BlockSink<PairResult>,
    ) -> Self {
        let delivery = Delivery::new(blocks, sink);
        let settler = |encoder| (Arc::new(LineSettler::new(aligner.clone(), encoder)), LineWriter::default());
        let lines = delivery.encoder().map(settler);
        Finisher { aligner, pool, lines, bands: Ordered::new(), delivery, aligned: 0 }
    }

    /// How far bands may be planned ahead.
    pub(super) fn ahead(&self) -> Arc<Ahead> {
        self.bands.ahead()
    }

    /// What is done with reports on the threads of their engines.
    pub(super) fn settle(&self) -> Option<Arc<dyn Settle<Pairs>>> {
        self.lines.as_ref().map(|(settler, _)| Arc::clone(settler) as Arc<dyn Settle<Pairs>>)
    }

    /// Takes what engines found.
    pub(super) fn take(&mut self, outcome: Outcome<Pairs>) -> Result<()> {
        let pairs = outcome.band.pairs;
        if let Some((settler, _)) = &self.lines {
            let begin = || Gathered { pairs, lines: settler.gathering(), ..Gathered::default() };
            let settled = settler.settled(outcome.report)?;
            self.aligned += settled.aligned;
            self.bands.add(&outcome.band, outcome.pairs, begin, |gathered| gathered.lines.add(settled))?;
        } else {
            let begin = || Gathered { pairs, ..Gathered::default() };
            let (results, aligned) = self.aligner.results(outcome.report, self.pool)?;
            self.aligned += aligned;
            self.bands.add(&outcome.band, outcome.pairs, begin, |gathered| {
                let bytes = results.iter().map(PairResult::bytes).sum();
                gathered.rows.extend(results);
                Ok(bytes)
            })?;
        }
        self.hand_over()
    }

    /// Hands over every complete band whose turn it is.
    fn hand_over(&mut self) -> Result<()> {
        while let Some((queries, Gathered { pairs, mut rows, mut lines })) = self.bands.complete() {
            let strands = self.aligner.planned.strands;
            let selection = Selection::of(&self.aligner.job, strands.copies() > 1);
            let sequences = strands.sequences(queries);
            self.delivery.end_done()?;
            if let Some((settler, writer)) = &mut self.lines {
                selection.order(&mut lines.keys, Some(self.pool));
                debug_assert!(lines.keys.iter().all(|key| sequences.contains(&key.query)));
                let pool = self.pool;
                self.delivery.bytes(lines.keys.len(), |sink| writer.write(settler, &lines, pool, sink))?;
            } else {
                selection.order(&mut rows, None);
                debug_assert!(rows.iter().all(|row| sequences.contains(&row.query)));
                self.delivery.rows(&rows)?;
            }
            if !self.delivery.count_off(pairs) {
                return Err(Error::Internal(format!("band of {sequences:?} is in several blocks")));
            }
        }
        self.delivery.end_done()
    }

    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_done()?;
        self.bands.end()?;
        Ok(Summary { aligned: self.aligned, ..self.delivery.finish()? })
    }
}
