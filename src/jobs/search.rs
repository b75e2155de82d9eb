//! Search: the best hits of each query among many subjects.
//!
//! Every query is aligned with every subject, so that nothing is missed: engines compute the score of every pair
//! ([`crate::engine::owner`]), chunk by chunk of the subjects ([`Subjects`]), and leave out what scores too little to be reported
//! ([`Want::AtLeast`](crate::pairs::Want::AtLeast)). What that is follows from the E-value that was asked for ([`Statistics::least_score`]) and rises for a
//! query as its list of hits fills. Only what is reported is traced back, on CPU threads.
//!
//! # What is reported
//!
//! A pair is a *hit* if its score reaches `min_score` (and, of a local alignment, 1), its E-value is at most `max_evalue`, and its
//! alignment has at least `min_identity` and `min_query_cover`. Of each query's hits the best `max_hits` are handed over: those
//! of greatest score, of equal ones those whose record is earlier in the subjects' input. They come in this order, queries in
//! input order. So a filter makes no list shorter than it has to be: pairs are traced back from the best on down until
//! `max_hits` of them pass, or no pair is left that scores enough. All of that is exact, and does not depend on engines, chunks or
//! threads.
//!
//! The lists go by score, BLAST's by E-value. These are the same order but for the finite-size correction, by which of
//! two subjects with one score the shorter has the smaller E-value.
//!
//! Of nucleotides both strands of the query can be compared ([`Search::strand`]): of the two results of a pair that are hits the
//! one that scores more is reported, the forward one if they score the same. (BLAST reports each.)

mod bands;
mod best;
mod blocks;
mod chunks;
mod compute;
mod gather;
mod row;
mod tracing;

use std::sync::Arc;

use self::compute::Session;
use super::block::Block;
use super::check::{check_scores, not_scored};
use super::session::{SessionEngines, SessionStart, Threads};
use super::{Feed, Job, Run, Summary};
use crate::engine::Engine;
use crate::error::{Error, Result};
pub use crate::output::search::SearchHit;
use crate::pairs::Pairs;
use crate::pairs::kernels::family_of;
use crate::score::statistics::{DatabaseSize, Statistics};
use crate::score::{IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, QueryStrands, SequenceId, SequenceStore, Strands, Subjects};

/// E-value of hits, if nothing else is said; BLAST's.
pub const MAX_EVALUE: f64 = 10.0;
/// Hits of a query, if nothing else is said; BLAST's.
pub const MAX_HITS: usize = 500;

/// Bytes of hits that are kept of all queries that are searched at once.
const KEPT_BYTES: u64 = 1 << 30;

/// A search.
#[derive(Debug, Clone)]
pub struct Search {
    /// The queries.
    pub queries: Arc<SequenceStore>,
    /// What they are searched in.
    pub subjects: Arc<Subjects>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// Which strand of each query is aligned with the subjects; of DNA only if not forward.
    pub strand: Strands,
    /// How identity is defined.
    pub definition: IdentityDefinition,
    /// Hand over only hits of at most this E-value. Not without statistics ([`Search::statistics`]).
    pub max_evalue: Option<f64>,
    /// Hand over only hits of at least this score.
    pub min_score: Option<i64>,
    /// Hand over only hits with at least this identity, a fraction.
    pub min_identity: Option<f64>,
    /// Hand over only hits that span at least this part of the query, a fraction: from the first to the last symbol between the
    /// end gaps.
    pub min_query_cover: Option<f64>,
    /// At most this many hits a query; at least 1.
    pub max_hits: usize,
    /// Scores only, no alignments. Not together with `min_identity` or `min_query_cover`.
    pub score_only: bool,
    /// Rescore every alignment and fail if it does not have the score that was computed.
    pub check: bool,
    /// Packed bytes of the subjects that are compared with all queries before the next are read; `None` for what suits the
    /// devices. It changes no result.
    pub chunk_bytes: Option<u64>,
}

impl Search {
    /// The best hits by BLAST's limits: of an E-value of at most 10 where there are statistics, 500 a query; on both strands of
    /// nucleotides.
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
            max_hits: MAX_HITS,
            score_only: false,
            check: false,
            chunk_bytes: None,
        };
        search.max_evalue = search.statistics().map(|_| MAX_EVALUE);
        search
    }

    /// Statistics of the scores: of local alignments by scores and gap costs whose parameters are known.
    pub fn statistics(&self) -> Option<Statistics> {
        if self.is_local() { Statistics::of(&self.scoring) } else { None }
    }

    /// How much there is to search in.
    pub fn database_size(&self) -> DatabaseSize {
        let size = self.subjects.size();
        DatabaseSize { sequences: size.sequences, symbols: size.symbols }
    }

    /// Cells of all pairs, of all strands that are aligned.
    pub fn cells(&self) -> u64 {
        let symbols: u128 = self.queries.lengths().iter().map(|&length| u128::from(length)).sum();
        let cells = symbols * u128::from(self.subjects.size().symbols) * u128::from(self.strands().copies());
        u64::try_from(cells).unwrap_or(u64::MAX)
    }

    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later: false }
    }

    /// Whether hits are left out for their alignment.
    fn has_filters(&self) -> bool {
        self.min_identity.is_some() || self.min_query_cover.is_some()
    }

    /// Pairs of a query that are kept, each strand by itself. Of both strands the best `n` pairs are among the best `2n`. Where
    /// alignments decide, all that score enough.
    fn most_kept(&self) -> usize {
        if self.has_filters() {
            return usize::MAX;
        }
        self.max_hits.saturating_mul(self.strands().copies() as usize)
    }

    /// Queries that are searched at once: so many that what is kept of them fits in memory.
    fn at_once(&self) -> SequenceId {
        let copies = self.strands().copies();
        let pairs = self.subjects.size().sequences.saturating_mul(copies.into());
        let bytes = pairs.min(self.most_kept() as u64).max(1).saturating_mul(size_of::<best::Candidate>() as u64);
        (KEPT_BYTES / bytes).clamp(1, u64::from(SequenceId::MAX / copies)) as SequenceId
    }

    /// The least score of a query that can be reported.
    fn floor(&self, query_symbols: u32, statistics: Option<&Statistics>) -> i64 {
        let mut floor = self.min_score.unwrap_or(i64::MIN);
        if self.is_local() {
            floor = floor.max(1);
        }
        if let (Some(statistics), Some(evalue)) = (statistics, self.max_evalue) {
            let least = statistics.least_score(evalue, query_symbols, self.subjects.lengths(), &self.database_size());
            floor = floor.max(least);
        }
        floor
    }
}

impl Job for Search {
    type Row = SearchHit;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = Session;

    fn validate(&self) -> Result<()> {
        let fractions = [("min_identity", self.min_identity), ("min_query_cover", self.min_query_cover)];
        for (field, value) in fractions {
            if let Some(wrong) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                let why = "fractions from 0 to 1 are needed";
                return Err(match field {
                    "min_identity" => Error::usage_value("min_identity", wrong, why),
                    _ => Error::usage_value("min_query_cover", wrong, why),
                });
            }
        }
        if let Some(evalue) = self.max_evalue {
            if evalue.is_nan() || evalue < 0.0 {
                return Err(Error::usage_value("max_evalue", evalue, "E-values are not negative"));
            }
            if !self.is_local() {
                return Err(Error::usage_of(
                    "max_evalue",
                    "there are E-values of local alignments only: leave it out, or take another `mode`",
                ));
            }
            if self.statistics().is_none() {
                return Err(Error::usage_of(
                    "max_evalue",
                    "no parameters are known for these scores and gap costs: use `min_score`",
                ));
            }
        }
        if self.max_hits == 0 {
            return Err(Error::usage_value("max_hits", self.max_hits, "at least 1 is needed"));
        }
        if self.score_only && self.has_filters() {
            return Err(Error::usage_of(
                "score_only",
                "scores alone tell neither identity nor cover: leave out either this or `min_identity` and \
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

    fn whole(&self, _session: &Session) -> Block {
        let queries = self.queries.len() as u64;
        let pairs = queries.saturating_mul(self.size_of_subjects().0).saturating_mul(self.strands().copies().into());
        Block { units: 0..queries, targets: None, pairs, cells: self.cells() }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Session> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        let threads = Threads::shared(run)?;
        let engines = SessionEngines::new(start, || self.open_engines(run, &threads))?;
        Ok(Session::new(self, threads, engines))
    }

    /// Hands over queries in input order, the best hit of each first; all of a query's at once.
    fn feed(&self, feed: Feed<'_, SearchHit>, session: &mut Session) -> Result<Summary> {
        self.search(feed, session)
    }
}
