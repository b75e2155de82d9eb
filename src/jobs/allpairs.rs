//! All pairs of one set of sequences, or of two: scores, filter, alignments.
//!
//! Engines compute scores ([`crate::engine::owner`]); pairs that may reach the identity asked for are traced back by
//! them, or on CPU threads while they go on, and handed over in input order: by query, then by target. An all-against-all
//! gives each pair once, with the earlier sequence as the query.
//!
//! Local alignments ([`Mode::Local`]) take the same way. No score bounds their identity, so that with an identity to reach
//! every pair with a column is traced and tested. Pairs in which nothing scores more than 0 are handed over like others,
//! with an empty alignment: [`AllPairs::min_score`] of 1 leaves them out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::edit_filter::{self, EditFilter, Prefiltered};
use super::{Job, Run, Summary};
use crate::alignment::{Alignment, Cigar, verify_alignment};
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, Control, Outcome};
use crate::engine::stats::EngineStats;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::pairs::Pairs;
use crate::pairs::cpu::workers;
use crate::pairs::plan::selected::{selected_bands, selected_cells};
use crate::pairs::plan::{self, PlannedBand};
use crate::pairs::{Hit, Want};
use crate::score::{AlignmentCounts, IdentityDefinition, IdentityFilter, Mode, Scoring};
use crate::seq::{Alphabet, SequenceId, SequenceStore};
use crate::trace::{Hint, Workspace, traceback};

/// Pairs whose results are held until their band is complete, where every pair is handed over.
const BAND_PAIRS_ALIGNED: u64 = 1 << 18;
/// The same for bare scores.
const BAND_PAIRS_SCORED: u64 = 1 << 22;
/// The same where a filter lets few pairs through.
const BAND_PAIRS_FILTERED: u64 = 1 << 26;
/// Traced results that are not worth waking other threads for: more come from a GPU only.
const FEW_RESULTS: usize = 1 << 16;
/// Batches of all engines in a band: several, so that the next band begins before the last one ends.
const BATCHES_A_BAND: u64 = 4;

/// An all-against-all job.
#[derive(Debug, Clone)]
pub struct AllPairs {
    /// The queries.
    pub queries: Arc<SequenceStore>,
    /// The targets; `None` for all pairs of the queries.
    pub against: Option<Arc<SequenceStore>>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// How identity is defined.
    pub definition: IdentityDefinition,
    /// Hand over only pairs with at least this identity, a fraction.
    pub min_identity: Option<f64>,
    /// Hand over only pairs with at least this score. It is tested before anything is aligned.
    pub min_score: Option<i64>,
    /// Scores only, no alignments. Not together with `min_identity`.
    pub score_only: bool,
    /// At most this many pairs a query: those of greatest identity, then score, then earliest target. (With
    /// `score_only` by score; of local alignments those of greatest score, then identity.)
    pub max_hits: Option<usize>,
    /// Rescore every alignment and fail if it does not have the score that was computed.
    pub check: bool,
    /// Whether edit distances are computed before scores.
    pub edit_filter: EditFilter,
}

/// One pair's result.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// The query.
    pub query: SequenceId,
    /// The target.
    pub target: SequenceId,
    /// The score.
    pub score: i64,
    /// The alignment, unless scores only were asked for.
    pub alignment: Option<Alignment>,
    /// Its columns, counted; all 0 with scores only.
    pub counts: AlignmentCounts,
    /// Its identity, a fraction; 0 with scores only.
    pub identity: f64,
}

impl PairResult {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> u64 {
        let cigar = self.alignment.as_ref().map_or(0, |alignment| alignment.cigar.bytes());
        size_of::<Self>() as u64 + cigar
    }
}

impl AllPairs {
    /// All pairs of a store, every one aligned.
    pub fn new(queries: Arc<SequenceStore>, scoring: Arc<Scoring>) -> Self {
        AllPairs {
            queries,
            against: None,
            scoring,
            definition: IdentityDefinition::default(),
            min_identity: None,
            min_score: None,
            score_only: false,
            max_hits: None,
            check: false,
            edit_filter: EditFilter::default(),
        }
    }

    /// Where targets are.
    pub fn targets(&self) -> &Arc<SequenceStore> {
        self.against.as_ref().unwrap_or(&self.queries)
    }

    /// The filter, if there is one.
    fn filter(&self) -> Option<Arc<IdentityFilter>> {
        let threshold = self.min_identity.filter(|&threshold| threshold > 0.0)?;
        Some(Arc::new(IdentityFilter::new(self.definition, threshold, &self.scoring)))
    }

    /// The pairs and what engines are to report of them.
    pub fn job(&self) -> plan::Job {
        let want = match self.filter() {
            _ if self.score_only => Want::Scores,
            Some(filter) => Want::Reaching(filter),
            None => Want::Alignments,
        };
        plan::Job {
            queries: Arc::clone(&self.queries),
            against: self.against.clone(),
            scoring: Arc::clone(&self.scoring),
            want,
        }
    }

    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// Computes what a pass over edit distances left, or everything.
    pub(super) fn finish_on(
        &self,
        engines: Vec<Box<dyn Engine<Pairs>>>,
        prefiltered: Option<Prefiltered>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        rows: impl FnMut(&[PairResult]) -> Result<()>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let job = self.job();
        let (pairs, mut cells) = (job.pairs(), job.cells());
        let at_once: u64 = engines.iter().fold(1, |sum, engine| engine.usual_cells().saturating_add(sum));
        let band_pairs = match job.want {
            Want::Scores => BAND_PAIRS_SCORED,
            Want::Alignments => BAND_PAIRS_ALIGNED,
            Want::Reaching(_) => BAND_PAIRS_FILTERED,
        };
        let (selection, before, mut told) = match prefiltered {
            Some(prefiltered) => {
                (prefiltered.selection, Some((prefiltered.ran, prefiltered.seconds)), prefiltered.told)
            }
            None => (None, None, (0, 0)),
        };
        let is_told = selection.is_some();
        let band_cells = at_once.saturating_mul(BATCHES_A_BAND);
        let mut finisher = Finisher {
            aligner: Aligner { job: self, filter: self.filter(), interrupt: &run.interrupt },
            pool,
            rows,
            bands: Ordered::new(),
            summary: Summary { pairs, cells, ..Summary::default() },
        };
        let reserve = || workers(pool.current_num_threads(), &run.interrupt);
        let ahead = finisher.bands.ahead();
        let control = Control { ahead, ..run.control() };
        let bands: Box<dyn Iterator<Item = PlannedBand> + Send> = match selection {
            None => Box::new(job.bands(band_cells, band_pairs)),
            Some(selection) => {
                cells = selected_cells(&job, &selection);
                Box::new(selected_bands(job, selection, band_pairs as usize))
            }
        };
        let ran = owner::run(engines, reserve, bands, cells, &control, |outcome| {
            // Of what was told already, the selected pairs come once more.
            if !is_told {
                // A pass that selected too many pairs has told of some, which are computed once more.
                let again = (told.0.min(outcome.pairs), told.1.min(outcome.cells));
                told = (told.0 - again.0, told.1 - again.1);
                run.progress.advance(outcome.pairs - again.0, outcome.cells - again.1);
            }
            finisher.take(outcome)
        })?;
        let mut summary = finisher.end()?;
        summary.seconds = begin.elapsed().as_secs_f64();
        summary.imbalance = ran.imbalance;
        summary.engines = ran.engines;
        if let Some((ran, seconds)) = before {
            summary.seconds += seconds;
            let named = ran.engines.into_iter().map(|engine| {
                let name = format!("{} (edit distances)", engine.name);
                EngineStats { name, ..engine }
            });
            summary.engines.splice(0..0, named);
        }
        summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Ok(summary)
    }
}

impl Job for AllPairs {
    type Row = PairResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;

    fn validate(&self) -> Result<()> {
        if let Some(wrong) = self.min_identity.filter(|identity| !(0.0..=1.0).contains(identity)) {
            return Err(Error::usage_value("min_identity", wrong, "identities are fractions from 0 to 1"));
        }
        let gaps = self.scoring.gaps;
        if gaps.next < 0 || gaps.first < gaps.next {
            return Err(Error::usage_of(
                "gaps",
                format!("{gaps:?}: the first symbol must cost no less than the next, and that not less than 0"),
            ));
        }
        if self.score_only && self.min_identity.is_some() {
            return Err(Error::usage_of(
                "score_only",
                "scores alone have no identity: leave out either this or `min_identity`",
            ));
        }
        if self.is_local() && self.definition == IdentityDefinition::Mbl {
            return Err(Error::usage_value(
                "definition",
                self.definition.number(),
                "it compares whole sequences, and a local alignment leaves parts of them out",
            ));
        }
        if self.scoring.alphabet == Alphabet::Bytes {
            return Err(Error::usage_of("scoring", "there are no scores for bytes, only distances"));
        }
        let scored = self.scoring.alphabet;
        let wrong = |read: Alphabet| format!("these are {read:?} sequences, but the scores are for {scored:?}");
        if self.queries.alphabet() != scored {
            return Err(Error::usage_of("queries", wrong(self.queries.alphabet())));
        }
        if self.targets().alphabet() != scored {
            return Err(Error::usage_of("against", wrong(self.targets().alphabet())));
        }
        Ok(())
    }

    /// Rows come band by band, by query, then by target.
    fn run(&self, run: &Run, rows: impl FnMut(&[PairResult]) -> Result<()>) -> Result<Summary> {
        // Before devices are opened and measured, which may take a while.
        self.validate()?;
        run.check_kernel(Family::Pairs)?;
        let pool = thread_pool(run.threads)?;
        let prefiltered = edit_filter::run_if_it_pays(self, run)?;
        let selection = prefiltered.as_ref().and_then(|left| left.selection.as_ref());
        let engines = super::engines::open(run, pool.current_num_threads(), &self.job(), selection)?;
        self.finish_on(engines, prefiltered, &pool, run, rows)
    }

    /// Tracebacks of what the engines did not trace are made on threads of the CPU. If they fail, so many CPU workers take
    /// over.
    fn run_on(
        &self,
        engines: Self::Engines,
        run: &Run,
        rows: impl FnMut(&[PairResult]) -> Result<()>,
    ) -> Result<Summary> {
        self.validate()?;
        self.finish_on(engines, None, &thread_pool(run.threads)?, run, rows)
    }
}

/// Turns an engine's result into the caller's.
struct Aligner<'a> {
    job: &'a AllPairs,
    filter: Option<Arc<IdentityFilter>>,
    interrupt: &'a AtomicBool,
}

impl Aligner<'_> {
    /// In an all-against-all of one store the earlier sequence is the query.
    fn orient(&self, hit: &Hit) -> (SequenceId, SequenceId) {
        if self.job.against.is_none() && hit.query > hit.target {
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
        let (query, target) = self.orient(hit);
        PairResult {
            query,
            target,
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
        let (m, n) = (self.job.queries.length(hit.query), self.job.targets().length(hit.target));
        filter.may_reach(hit.score, hit.matches, m, n)
    }

    /// The alignment of a pair, traced back here unless the engine did; `None` if it has not the identity asked for.
    fn align(&self, hit: &Hit, traced: Option<Cigar>, workspace: &mut Workspace) -> Result<Option<PairResult>> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let job = self.job;
        let (query, target) = self.orient(hit);
        let (a, b) = (job.queries.codes(query), job.targets().codes(target));
        let alignment = match traced.filter(|_| !job.is_local()) {
            Some(cigar) => Alignment::whole(hit.score, cigar),
            None => {
                // A local traceback that is told the score ends there; checked, it looks for a greater one.
                let score = (!(job.is_local() && job.check)).then_some(hit.score);
                // Fails if the engine's score or matches are not what the traceback finds.
                traceback(a, b, &job.scoring, Hint { score, matches: hit.matches }, workspace)?
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
        let result = PairResult { query, target, score: alignment.score, counts, identity, alignment: Some(alignment) };
        Ok(keep.then_some(result))
    }
}

/// Traces pairs back, puts bands together and hands them over in order.
struct Finisher<'a, S> {
    aligner: Aligner<'a>,
    pool: &'a rayon::ThreadPool,
    rows: S,
    bands: Ordered<Vec<PairResult>>,
    summary: Summary,
}

impl<S: FnMut(&[PairResult]) -> Result<()>> Finisher<'_, S> {
    fn take(&mut self, outcome: Outcome<Pairs>) -> Result<()> {
        let hits = outcome.report.hits;
        let aligner = &self.aligner;
        let results = if aligner.job.score_only {
            hits.iter().filter(|hit| aligner.scores_enough(hit)).map(|hit| aligner.scored(hit)).collect()
        } else {
            let traced = outcome.report.traced;
            let open: Vec<usize> = (0..hits.len()).filter(|&place| aligner.may_reach(&hits[place])).collect();
            self.summary.aligned += open.len() as u64;
            let align = |workspace: &mut Workspace, &place: &usize| {
                aligner.align(&hits[place], traced.cigar(place), workspace).transpose()
            };
            let is_traced = |&place: &usize| traced.spans.get(place).is_some_and(Option::is_some);
            let aligned: Result<Vec<PairResult>> = if open.len() <= FEW_RESULTS && open.iter().all(is_traced) {
                // The threads of the CPU trace what they compute, and all of them may be at work.
                let mut workspace = Workspace::default();
                open.iter().filter_map(|place| align(&mut workspace, place)).collect()
            } else {
                let open = open.par_iter();
                self.pool.install(|| open.map_init(Workspace::default, align).filter_map(|result| result).collect())
            };
            aligned?
        };
        self.bands.add(&outcome.band, outcome.pairs, Vec::new, |gathered| {
            let bytes = results.iter().map(PairResult::bytes).sum();
            gathered.extend(results);
            Ok(bytes)
        })?;
        self.hand_over()
    }

    /// Hands over every complete band whose turn it is.
    fn hand_over(&mut self) -> Result<()> {
        while let Some((queries, mut results)) = self.bands.complete() {
            results.sort_unstable_by_key(|result| (result.query, result.target));
            if let Some(most) = self.aligner.job.max_hits {
                keep_best(&mut results, most, self.aligner.job.is_local());
            }
            debug_assert!(results.iter().all(|result| queries.contains(&result.query)));
            if !results.is_empty() {
                (self.rows)(&results)?;
            }
            self.summary.written += results.len() as u64;
        }
        Ok(())
    }

    fn end(self) -> Result<Summary> {
        self.bands.end().map(|()| self.summary)
    }
}

/// Keeps at most `most` results of each query, in place and in order: the best by identity and then score, or by score
/// and then identity (a local alignment of few symbols often has an identity of 1). `results` are sorted by query and
/// target.
fn keep_best(results: &mut Vec<PairResult>, most: usize, score_first: bool) {
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
