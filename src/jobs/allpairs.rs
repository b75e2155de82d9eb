//! All pairs of one set of sequences, or of two: scores, filter, alignments.
//!
//! Engines compute scores ([`crate::engine::owner`]); pairs that may reach the identity asked for are traced back by
//! them, or on CPU threads while they go on, and handed over in input order: by query, then by target. An all-against-all
//! gives each pair once, with the earlier sequence as the query.
//!
//! Local alignments ([`Mode::Local`]) take the same way. No score bounds their identity, so that with an identity to reach
//! every pair with a column is traced and tested. Pairs in which nothing scores more than 0 are handed over like others,
//! with an empty alignment: [`AllPairs::min_score`] of 1 leaves them out.
//!
//! Of nucleotides the reverse complement of each query can be compared as well ([`AllPairs::strand`]). Engines see it as
//! a query of its own; of the two results of a pair the better one is handed over.

mod blocks;
pub(super) mod finish;
mod lines;
pub(super) mod row;
pub(super) mod select;

pub(super) use self::blocks::part_of;

use std::sync::Arc;
use std::time::Instant;

use self::finish::{Aligner, Finisher};
use super::blocks::source::Begun;
use super::blocks::{BlockSink, Encode, Whole};
use super::check::{check_scores, not_scored};
use super::edit_filter::{self, EditFilter, Prefiltered};
use super::engines::{has_lost_gpus, without_gpus};
use super::{Job, Run, Summary};
use crate::alignment::Alignment;
use crate::engine::owner::{self, Control, EngineSet};
use crate::engine::queue::BandSource;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::output::{Details, LineMaker, Pair};
use crate::pairs::cpu::workers;
use crate::pairs::kernels::family_of;
use crate::pairs::plan::selected::{by_parts, selected_bands, selected_cells};
use crate::pairs::plan::{self, PlannedBand};
use crate::pairs::{Floors, Pairs, Want};
use crate::score::{AlignmentCounts, IdentityDefinition, IdentityFilter, Mode, Scoring};
use crate::seq::{SequenceId, SequenceStore, Strand, StrandOf, Strands};

/// Pairs whose results are held until their band is complete, where every pair is handed over.
const BAND_PAIRS_ALIGNED: u64 = 1 << 17;
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
    /// Which strand of each query is aligned with the targets; of DNA only if not forward. Of both strands of a pair that
    /// reach `min_identity` and `min_score`, the one that scores more is handed over, the forward one if they score the
    /// same.
    pub strand: Strand,
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
    /// The query's strand.
    pub strand: StrandOf,
    /// The score.
    pub score: i64,
    /// The alignment, unless scores only were asked for. On the minus strand it is that of the query's reverse complement, on
    /// which its positions are.
    pub alignment: Option<Alignment>,
    /// Its columns, counted; all 0 with scores only.
    pub counts: AlignmentCounts,
    /// Its identity, a fraction; 0 with scores only.
    pub identity: f64,
}

impl PairResult {
    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let cigar = self.alignment.as_ref().map_or(0, |alignment| alignment.cigar.bytes());
        size_of::<Self>() as u64 + cigar
    }
}

/// A result as writers take it.
impl<'a> From<&'a PairResult> for Pair<'a> {
    fn from(result: &'a PairResult) -> Self {
        let alignment = result.alignment.as_ref();
        Pair {
            query: result.query,
            target: result.target,
            strand: result.strand,
            score: result.score,
            alignment: alignment.map(|alignment| &alignment.cigar),
            query_start: alignment.map_or(0, |alignment| alignment.query_start),
            target_start: alignment.map_or(0, |alignment| alignment.target_start),
            counts: alignment.is_some().then_some(result.counts),
            details: Details::None,
        }
    }
}

/// Lines of results.
impl Encode<PairResult> for LineMaker {
    fn encode(&self, row: &PairResult, bytes: &mut Vec<u8>) -> Result<()> {
        self.push(&Pair::from(row), bytes)
    }
}

impl AllPairs {
    /// All pairs of a store, every one aligned.
    pub fn new(queries: Arc<SequenceStore>, scoring: Arc<Scoring>) -> Self {
        AllPairs {
            queries,
            against: None,
            scoring,
            strand: Strand::default(),
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

    /// Cells of all pairs, of all strands that are aligned.
    pub fn cells(&self) -> u64 {
        let forward = AllPairs { strand: Strand::Forward, ..self.clone() }.job().cells();
        forward.saturating_mul(u64::from(self.strands().copies()))
    }

    /// What the queries of [`AllPairs::job`] are strands of, and which targets they meet.
    fn strands(&self) -> Strands {
        Strands { strand: self.strand, later: self.against.is_none() && self.strand != Strand::Forward }
    }

    /// The pairs and what engines are to report of them. Makes the reverse complements of the queries if they are to be
    /// aligned.
    pub fn job(&self) -> plan::Job {
        let strands = self.strands();
        let queries = strands.store(&self.queries);
        let want = match (self.filter(), self.min_score) {
            // Nobody needs matches: engines need not hand over what scores too little.
            (_, Some(least)) if self.score_only || self.is_local() => {
                Want::AtLeast(Arc::new(Floors::same(least, queries.len())))
            }
            _ if self.score_only => Want::Scores,
            (Some(filter), _) => Want::Reaching(filter),
            (None, _) => Want::Alignments,
        };
        plan::Job {
            queries,
            against: if strands.later { Some(Arc::clone(&self.queries)) } else { self.against.clone() },
            scoring: Arc::clone(&self.scoring),
            want,
            strands,
            parts: None,
        }
    }

    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// As [`Job::run`]. Where the sink says how rows become bytes, the threads that find a result make them of it.
    ///
    /// # Errors
    /// As [`Job::run`]; what the sink returns.
    pub fn run_to(&self, run: &Run, sink: &mut dyn BlockSink<PairResult>) -> Result<Summary> {
        // Before devices are opened and measured, which may take a while.
        self.validate()?;
        run.check_kernel(family_of(self.scoring.mode))?;
        let pool = thread_pool(run.threads)?;
        let job = self.job();
        let mut prefiltered = edit_filter::run_if_it_pays(self, &job, run)?;
        let selection = prefiltered.as_ref().and_then(|left| left.selection.as_ref());
        let engines = super::engines::open(run, &pool, &job, selection, 1)?;
        let may_filter = prefiltered.is_none() && self.min_identity.is_some();
        if may_filter && has_lost_gpus(run, &engines, pool.current_num_threads(), job.cells())? {
            prefiltered = edit_filter::run_if_it_pays(self, &job, &without_gpus(run))?;
        }
        self.finish_on(&job, &mut EngineSet::for_once(engines), prefiltered, &pool, run, sink)
    }

    /// The same on these engines, as [`Job::run_on`].
    ///
    /// # Errors
    /// As [`AllPairs::run_to`].
    #[doc(hidden)]
    pub fn run_on_to(
        &self,
        engines: Vec<Box<dyn Engine<Pairs>>>,
        run: &Run,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        self.validate()?;
        let engine_set = &mut EngineSet::for_once(engines);
        self.finish_on(&self.job(), engine_set, None, &thread_pool(run.threads)?, run, sink)
    }

    /// Computes what a pass over edit distances left, or everything. `job` is [`AllPairs::job`], or parts of it, each of which is
    /// a block to `sink`.
    pub(crate) fn finish_on(
        &self,
        job: &plan::Job,
        engine_set: &mut EngineSet<Pairs>,
        prefiltered: Option<Prefiltered>,
        pool: &Arc<rayon::ThreadPool>,
        run: &Run,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let mut cells = job.cells();
        let (selection, before, told) = match prefiltered {
            Some(prefiltered) => {
                (prefiltered.selection, Some((prefiltered.ran, prefiltered.seconds)), prefiltered.told)
            }
            None => (None, None, (0, 0)),
        };
        let told = selection.is_none().then_some(told);
        let is_filtered = before.is_some();
        let (band_cells, band_pairs) = self.band(job, engine_set);
        let bands: Box<dyn Iterator<Item = PlannedBand> + Send>;
        let begun = Begun::default();
        let extents = job.extents();
        let parts: Vec<(u64, u128)> = job.parts().iter().map(|part| extents.of(part)).collect();
        let add = |left: u64, (pairs, cells): (u64, u128)| {
            begun.add(left, pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        };
        match selection {
            None => {
                bands = Box::new(job.bands(band_cells, band_pairs));
                parts.iter().for_each(|&part| add(part.0, part));
            }
            Some(selection) => {
                cells = selected_cells(job, &selection);
                let selected = by_parts(job, selection);
                let begins = [0].iter().chain(&selected.ends);
                begins
                    .zip(&selected.ends)
                    .zip(&parts)
                    .for_each(|((begin, end), &part)| add((end - begin) as u64, part));
                bands = Box::new(selected_bands(job.clone(), selected, band_pairs as usize));
            }
        };
        let control = run.control(pool);
        let mut summary =
            self.finish_bands((job, begun, is_filtered), engine_set, (bands, cells), (pool, run, control), told, sink)?;
        summary.seconds = begin.elapsed().as_secs_f64();
        if let Some((ran, seconds)) = before {
            summary.seconds += seconds;
            summary.engines.splice(0..0, edit_filter::named(ran));
        }
        summary.kernel_seconds = summary.engines.iter().map(|engine| engine.kernel_seconds).sum();
        Ok(summary)
    }

    /// Cells and pairs of a band of this job on these engines.
    fn band(&self, job: &plan::Job, engine_set: &EngineSet<Pairs>) -> (u64, u64) {
        let at_once: u64 = engine_set.engines().fold(1, |sum, engine| engine.usual_cells().saturating_add(sum));
        let pairs = match job.want {
            Want::Scores | Want::AtLeast(_) => BAND_PAIRS_SCORED,
            Want::Alignments => BAND_PAIRS_ALIGNED,
            Want::Reaching(_) => BAND_PAIRS_FILTERED,
        };
        (at_once.saturating_mul(BATCHES_A_BAND), pairs)
    }

    /// Computes bands, of blocks that are begun before their bands come. `is_filtered`: a pass over edit distances was made. `told`: pairs and cells of which progress was told
    /// already; `None` if it was told of all.
    fn finish_bands(
        &self,
        (job, begun, is_filtered): (&plan::Job, Begun<u64>, bool),
        engine_set: &mut EngineSet<Pairs>,
        (bands, cells): (impl BandSource<Pairs> + 'static, u64),
        (pool, run, control): (&Arc<rayon::ThreadPool>, &Run, Control),
        mut told: Option<(u64, u64)>,
        sink: &mut dyn BlockSink<PairResult>,
    ) -> Result<Summary> {
        let mut finisher = Finisher::new(Aligner::new(self, job, &run.interrupt), pool, begun, sink);
        // The scheme is decided before the first batch: a choice of devices that is wrong has been rejected.
        let reserve = || {
            edit_filter::reserve(self, job, is_filtered, run, pool)
                .unwrap_or_else(|_| workers(pool.current_num_threads(), &run.interrupt))
        };
        let control = Control { ahead: finisher.ahead(), ..control };
        let settle = finisher.settle();
        let ran = owner::run_settled(engine_set, reserve, bands, cells, &control, settle, |outcome| {
            // Of what was told already, the selected pairs come once more.
            if let Some(told) = &mut told {
                // A pass that selected too many pairs has told of some, which are computed once more.
                let again = (told.0.min(outcome.pairs), told.1.min(outcome.cells));
                *told = (told.0 - again.0, told.1 - again.1);
                run.progress.advance(outcome.pairs - again.0, outcome.cells - again.1);
            }
            finisher.take(outcome)
        })?;
        let mut summary = finisher.end()?;
        summary.imbalance = ran.imbalance;
        summary.engines = ran.engines;
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
        if self.score_only && self.min_identity.is_some() {
            return Err(Error::usage_of(
                "score_only",
                "scores alone have no identity: leave out either this or `min_identity`",
            ));
        }
        check_scores(&self.scoring, self.definition, self.strand)?;
        if let Some(why) = not_scored(&self.scoring, self.queries.alphabet()) {
            return Err(Error::usage_of("queries", why));
        }
        if let Some(why) = not_scored(&self.scoring, self.targets().alphabet()) {
            return Err(Error::usage_of("against", why));
        }
        Ok(())
    }

    /// Rows come band by band, by query, then by target.
    fn run(&self, run: &Run, rows: impl FnMut(&[PairResult]) -> Result<()>) -> Result<Summary> {
        self.run_to(run, &mut Whole(rows))
    }

    /// Tracebacks of what the engines did not trace are made on threads of the CPU. If they fail, so many CPU workers take
    /// over.
    fn run_on(
        &self,
        engines: Self::Engines,
        run: &Run,
        rows: impl FnMut(&[PairResult]) -> Result<()>,
    ) -> Result<Summary> {
        self.run_on_to(engines, run, &mut Whole(rows))
    }
}
