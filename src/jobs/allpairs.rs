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

pub(super) mod align;
mod blocks;
mod compute;
mod finish;
mod lines;
pub(super) mod row;
pub(super) mod select;

use std::sync::Arc;

use self::compute::Session;
use super::block::{Block, Encode};
use super::check::{check_scores, not_scored};
use super::edit_filter::{EditFilter, IdentityGoal};
use super::session::SessionStart;
use super::{Feed, Job, Run, Summary};
use crate::alignment::Alignment;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Details, LineMaker, Pair};
use crate::pairs::kernels::family_of;
use crate::pairs::plan;
use crate::pairs::{Floors, Pairs, Want};
use crate::score::{AlignmentCounts, IdentityDefinition, IdentityFilter, Mode, Scoring};
use crate::seq::{QueryStrands, SequenceId, SequenceStore, Strand, Strands};

/// Traced results that are not worth waking other threads for: more come from a GPU only.
const FEW_RESULTS: usize = 1 << 16;
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
    pub strand: Strands,
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
    pub strand: Strand,
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
            strand: Strands::default(),
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
        let forward = AllPairs { strand: Strands::Plus, ..self.clone() }.job().cells();
        forward.saturating_mul(u64::from(self.strands().copies()))
    }

    /// What the queries of [`AllPairs::job`] are strands of, and which targets they meet.
    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later: self.against.is_none() && self.strand != Strands::Plus }
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

    /// The identity that pairs have to reach.
    fn goal(&self) -> IdentityGoal {
        let &AllPairs { definition, min_identity, edit_filter, .. } = self;
        IdentityGoal { definition, min_identity, edit_filter }
    }
}

impl Job for AllPairs {
    type Row = PairResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = Session;

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

    fn whole(&self, session: &Session) -> Block {
        Block { units: 0..self.queries.len() as u64, targets: None, pairs: 0, cells: session.cells() }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Session> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        Session::open(self, start, run)
    }

    /// Hands rows over chunk by chunk, by query, then by target.
    fn feed(&self, feed: Feed<'_, PairResult>, session: &mut Session) -> Result<Summary> {
        self.compute_blocks(feed, session)
    }
}
