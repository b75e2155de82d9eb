//! Search for the best hits of each query among many subjects.
//!
//! The search is exact: every query is aligned with every subject. Engines compute the score of
//! every pair ([`crate::engine::owner`]), one chunk of the subjects ([`Subjects`]) after the other.
//! They drop pairs with scores that are too low to be reported
//! ([`ResultFilter::AtLeast`]). The threshold follows from the
//! maximum E-value ([`Statistics::least_score`]). It rises for a query as its list of hits fills.
//! CPU threads trace back only the pairs that are reported.
//!
//! # Reported hits
//!
//! A pair is a *hit* if all of these hold:
//! - its score is at least `min_score` (and at least 1 for a local alignment);
//! - its E-value is at most `max_evalue`;
//! - its alignment has at least `min_identity` and `min_query_cover`, and reaches `coverage`.
//!
//! For global alignments, a minimum identity excludes pairs as in [`super::allpairs`]: by their edit
//! distances, before scores are computed, and by their scores.
//!
//! The best `max_hits` hits of each query are reported, queries in input order. Hits are ordered by
//! falling score, and hits with equal scores by the order of the subjects' input. Pairs are traced
//! back in this order until `max_hits` of them pass the filters, or no pair with a sufficient score
//! is left. The result does not depend on engines, chunks or threads. With `top_hits_only`, only
//! the hits with the score of the best hit are reported, and at most `max_hits` of them.
//!
//! The lists are ordered by score, but BLAST orders by E-value. The two orders differ only by the
//! finite-size correction: of two subjects with equal scores, the shorter one has the smaller
//! E-value.
//!
//! For nucleotides, both strands of the query can be compared ([`Search::strand`]). If both strands
//! of a pair are hits, the one with the greater score is reported, or the plus strand if the scores
//! are equal. (BLAST reports both.)
//!
//! # Several alignments of a pair
//!
//! With `max_hsps` above 1, up to `max_hsps` local alignments of each pair are reported, which BLAST
//! calls HSPs. The alignments of both strands are found best first, the plus strand first if scores
//! are equal. Each further alignment of a strand uses no cell of the rectangles of earlier ones
//! ([`LocalAlignments`](crate::trace::LocalAlignments)), as in [`super::LongAlignment`]. Score,
//! E-value and the filters apply to each alignment. An alignment that does not pass the filters is
//! not reported and not counted, but later alignments avoid it as well. `max_hits` limits the number
//! of subjects. Subjects are ordered by the score of their first reported alignment.

mod best;
mod blocks;
mod chunks;
mod compute;
mod cutter;
mod gather;
mod hsps;
mod row;
mod tracing;

use std::ops::RangeInclusive;
use std::sync::Arc;

use self::compute::SearchSession;
use super::block::Block;
use super::check::{check_coverage, check_scores, not_scored};
use super::edit_filter::{EditDistanceFilter, EditFilter, IdentityGoal, JobExtent, PlanFilter};
use super::session::SessionStart;
use super::{Feed, Job, Run, Summary};
use crate::engine::Engine;
use crate::error::{Error, Result};
pub use crate::output::search::SearchHit;
use crate::pairs::kernels::family_of;
use crate::pairs::{Pairs, ResultFilter, ScoreThresholds};
use crate::score::statistics::{DatabaseSize, Statistics};
use crate::score::{CoverageFilter, IdentityDefinition, MaxEvalue, Mode, Scoring};
use crate::seq::{Alphabet, QueryStrands, SequenceId, SequenceStore, Strands, Subjects};

/// Default maximum E-value of hits, as in BLAST.
pub const MAX_EVALUE: f64 = 10.0;
/// Default maximum number of hits of a query, as in BLAST.
pub const MAX_HITS: usize = 500;

/// Maximum memory in bytes for the hits of all queries that are searched at the same time.
const KEPT_BYTES: u64 = 1 << 30;

/// A search of queries in subjects.
#[derive(Debug, Clone)]
pub struct Search {
    /// The queries.
    pub queries: Arc<SequenceStore>,
    /// The subjects that are searched.
    pub subjects: Arc<Subjects>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// The strand of each query that is aligned with the subjects. Only DNA has minus strands.
    pub strand: Strands,
    /// The definition of identity.
    pub definition: IdentityDefinition,
    /// Maximum E-value of hits. Requires statistics ([`Search::statistics`]).
    pub max_evalue: Option<f64>,
    /// Minimum score of hits.
    pub min_score: Option<i64>,
    /// Minimum identity of hits, as a fraction.
    pub min_identity: Option<f64>,
    /// Minimum fraction of the query that a hit spans, from the first to the last symbol between
    /// the end gaps.
    pub min_query_cover: Option<f64>,
    /// Minimum coverages of hits. Unlike `min_query_cover`, they count only symbols that are
    /// aligned with symbols.
    pub coverage: CoverageFilter,
    /// Maximum number of subjects with hits for each query; at least 1.
    pub max_hits: usize,
    /// Maximum number of local alignments of a query with a subject; at least 1. More than 1
    /// requires local alignments.
    pub max_hsps: usize,
    /// Whether only the hits with the score of their query's best hit are reported.
    pub top_hits_only: bool,
    /// Whether to compute scores only, without alignments. Excludes `min_identity`,
    /// `min_query_cover` and `coverage`.
    pub score_only: bool,
    /// Whether to rescore every alignment, and to fail if the result differs from the computed
    /// score.
    pub check: bool,
    /// Whether edit distances are computed before scores, to exclude pairs.
    pub edit_filter: EditFilter,
    /// Maximum packed bytes of a chunk of the subjects. A chunk is compared with all queries before
    /// the next one is read. `None` selects a size that suits the devices. Changes no result.
    pub chunk_bytes: Option<u64>,
}

impl Search {
    /// Creates a search with BLAST's limits: an E-value of at most 10 if there are statistics, and
    /// 500 hits per query. Searches both strands of nucleotides.
    pub fn new(queries: Arc<SequenceStore>, subjects: Arc<Subjects>, scoring: Arc<Scoring>) -> Self {
        let strand = if scoring.alphabet == Alphabet::Dna { Strands::Both } else { Strands::Plus };
        let mut search = Search {
            queries,
            subjects,
            scoring,
            strand,
            definition: IdentityDefinition::default(),
            max_evalue: None,
            min_score: None,
            min_identity: None,
            min_query_cover: None,
            coverage: CoverageFilter::default(),
            max_hits: MAX_HITS,
            max_hsps: 1,
            top_hits_only: false,
            score_only: false,
            check: false,
            edit_filter: EditFilter::default(),
            chunk_bytes: None,
        };
        search.max_evalue = search.statistics().map(|_| MAX_EVALUE);
        search
    }

    /// Returns the statistics of the scores. They exist for local alignments if the parameters for
    /// the scores and gap costs are known.
    pub fn statistics(&self) -> Option<Statistics> {
        if self.is_local() { Statistics::for_scheme(&self.scoring) } else { None }
    }

    /// Returns the number of sequences and symbols of the subjects.
    pub fn database_size(&self) -> DatabaseSize {
        let size = self.subjects.size();
        DatabaseSize { sequences: size.sequences, symbols: size.symbols }
    }

    /// Returns the number of cells of all pairs and strands.
    pub fn cells(&self) -> u64 {
        let symbols: u128 = self.queries.lengths().iter().map(|&length| u128::from(length)).sum();
        let cells = symbols * u128::from(self.subjects.size().symbols) * u128::from(self.strands().copies());
        u64::try_from(cells).unwrap_or(u64::MAX)
    }

    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later_only: false }
    }

    /// Returns the identity that pairs must reach.
    fn identity_goal(&self) -> IdentityGoal {
        let &Search { definition, min_identity, edit_filter, .. } = self;
        IdentityGoal { definition, min_identity, edit_filter }
    }

    /// Returns the properties of the search that decide whether edit distances are computed.
    fn extent(&self) -> JobExtent<'_> {
        let longest = self.queries.lengths().iter().max().copied().unwrap_or(0).max(*self.subjects.lengths().end());
        JobExtent { scoring: &self.scoring, longest, pairs: self.pairs(), cells: self.cells() }
    }

    /// Returns a filter by edit distances if it pays off.
    fn plan_filter(&self, run: &Run) -> Result<Option<PlanFilter>> {
        Ok(EditDistanceFilter::if_profitable(&self.identity_goal(), self.extent(), run)?.map(PlanFilter::new))
    }

    /// Returns which pairs engines report. A high minimum identity excludes more pairs than
    /// `thresholds`, except for local alignments.
    fn result_filter(&self, thresholds: &Arc<ScoreThresholds>) -> ResultFilter {
        let goal = self.identity_goal();
        let excludes = !self.is_local() && goal.excludes_many();
        match goal.score_filter(&self.scoring).filter(|_| excludes) {
            Some(filter) => ResultFilter::Reaching(filter),
            None => ResultFilter::AtLeast(Arc::clone(thresholds)),
        }
    }

    /// Returns the number of pairs, counting each strand separately.
    fn pairs(&self) -> u64 {
        let pairs = (self.queries.len() as u64).saturating_mul(self.size_of_subjects().0);
        pairs.saturating_mul(self.strands().copies().into())
    }

    /// Returns whether alignments decide which pairs are hits.
    fn has_filters(&self) -> bool {
        self.min_identity.is_some() || self.min_query_cover.is_some() || self.coverage.is_set()
    }

    /// Returns whether exactly the pairs with the best score of each query are hits, up to
    /// `max_hits`. Alignments then exclude none of them.
    fn reports_best_scores(&self) -> bool {
        self.top_hits_only && !self.has_filters()
    }

    /// Returns the number of pairs to keep for a query, counting each strand separately. The best
    /// `n` pairs of both strands are among the best `2n` strands. If alignments decide, all pairs
    /// with sufficient scores are kept.
    fn max_kept(&self) -> usize {
        if self.has_filters() {
            return usize::MAX;
        }
        self.max_hits.saturating_mul(self.strands().copies() as usize)
    }

    /// Returns the number of queries that are searched at the same time. It is limited by the
    /// memory for their pairs.
    fn max_batch_queries(&self) -> SequenceId {
        let copies = self.strands().copies();
        let pairs = self.subjects.size().sequences.saturating_mul(copies.into());
        let bytes = pairs.min(self.max_kept() as u64).max(1).saturating_mul(size_of::<best::HitCandidate>() as u64);
        (KEPT_BYTES / bytes).clamp(1, u64::from(SequenceId::MAX / copies)) as SequenceId
    }

    /// Returns the lowest score of a query and a subject with a length in `subject_symbols` that can
    /// be reported.
    fn floor(&self, query_symbols: u32, subject_symbols: RangeInclusive<u32>, statistics: Option<&Statistics>) -> i64 {
        let mut floor = self.min_score.unwrap_or(i64::MIN);
        if self.is_local() {
            floor = floor.max(1);
        }
        if let (Some(statistics), Some(evalue)) = (statistics, self.max_evalue) {
            let least = statistics.least_score(evalue, query_symbols, subject_symbols, &self.database_size());
            floor = floor.max(least);
        }
        floor
    }
}

impl Job for Search {
    type Row = SearchHit;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = SearchSession;

    fn validate(&self) -> Result<()> {
        let fractions = [("min_identity", self.min_identity), ("min_query_cover", self.min_query_cover)];
        for (field, value) in fractions {
            if let Some(wrong) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                let why = "use a fraction from 0 to 1";
                return Err(match field {
                    "min_identity" => Error::usage_value("min_identity", wrong, why),
                    _ => Error::usage_value("min_query_cover", wrong, why),
                });
            }
        }
        if let Some(evalue) = self.max_evalue {
            MaxEvalue::new(evalue, &self.scoring, self.database_size())?;
        }
        let none = "at least 1 is needed";
        if self.max_hits == 0 {
            return Err(Error::usage_value("max_hits", self.max_hits, none));
        }
        if self.max_hsps == 0 {
            return Err(Error::usage_value("max_hsps", self.max_hsps, none));
        }
        if self.max_hsps > 1 && !self.is_local() {
            let why = "only the local `mode` finds several alignments of a pair";
            return Err(Error::usage_value("max_hsps", self.max_hsps, why));
        }
        if self.max_hsps > 1 && self.score_only {
            let why = "several alignments of a pair need alignments: omit `score_only`";
            return Err(Error::usage_value("max_hsps", self.max_hsps, why));
        }
        check_coverage(&self.coverage, self.score_only)?;
        if self.score_only && self.has_filters() {
            return Err(Error::usage_of(
                "score_only",
                "scores alone have neither identity nor cover: omit either this or `min_identity` and \
                 `min_query_cover`",
            ));
        }
        check_scores(&self.scoring, self.definition, self.strand)?;
        if let Some(why) = not_scored(&self.scoring, self.queries.alphabet()) {
            return Err(Error::usage_of("queries", why));
        }
        if let Some(why) = not_scored(&self.scoring, self.subjects.alphabet()) {
            return Err(Error::usage_of("subjects", why));
        }
        Ok(())
    }

    fn whole_block(&self, _session: &SearchSession) -> Block {
        Block { units: 0..self.queries.len() as u64, targets: None, pairs: self.pairs(), cells: self.cells() }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<SearchSession> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        SearchSession::open(self, start, run)
    }

    /// Passes on queries in input order, each with its best hit first. All hits of a query arrive
    /// together.
    fn feed(&self, feed: Feed<'_, SearchHit>, session: &mut SearchSession) -> Result<Summary> {
        self.search(feed, session)
    }
}
