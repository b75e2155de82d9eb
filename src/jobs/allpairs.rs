//! Compares all pairs of one or two sets of sequences: scores, filters, alignments.
//!
//! Engines compute scores ([`crate::engine::owner`]). Engines or CPU threads trace back the pairs
//! that may reach the requested identity. Rows are ordered by query, then by target. A comparison
//! of one set with itself gives each pair once, with the earlier sequence as the query.
//!
//! Local alignments ([`Mode::Local`]) are computed in the same way. No score bounds their identity,
//! so a minimum identity requires the traceback of every pair with a score above 0. All other pairs
//! have an empty alignment. A minimum score of 1 ([`AllPairs::min_score`]) excludes them. A high
//! minimum identity together with a minimum coverage implies a score ([`LocalScoreBound`]), and
//! engines then report only the pairs that reach it.
//!
//! For nucleotides, the reverse complement of each query can be compared as well
//! ([`AllPairs::strand`]). Engines treat it as a separate query. The row of a pair has the better
//! of its two results.

pub(super) mod align;
mod blocks;
mod compute;
mod finish;
mod lines;
pub(super) mod row;
pub(super) mod select;

use std::sync::Arc;

use self::compute::AllPairsSession;
use super::block::{Block, Encode};
use super::check::{check_coverage, check_scores, not_scored};
use super::edit_filter::{EditFilter, IdentityGoal};
use super::session::SessionStart;
use super::{Feed, Job, Run, Summary};
use crate::alignment::Alignment;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Details, LineMaker, OutputPair};
use crate::pairs::kernels::family_of;
use crate::pairs::plan;
use crate::pairs::{Pairs, ResultFilter, ScoreThresholds};
use crate::score::{
    AlignmentCounts, CoverageFilter, IdentityDefinition, IdentityFilter, LocalScoreBound, Mode, Scoring,
};
use crate::seq::{Code, QueryStrands, SequenceId, SequenceStore, Strand, Strands};

/// Maximum number of traced results that the calling thread processes alone. Only GPUs report more.
const MAX_RESULTS_ALONE: usize = 1 << 16;
/// A comparison of all pairs of one or two sets of sequences.
#[derive(Debug, Clone)]
pub struct AllPairs {
    /// The queries.
    pub queries: Arc<SequenceStore>,
    /// The targets; `None` for all pairs of the queries.
    pub against: Option<Arc<SequenceStore>>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// The strand of each query that is aligned with the targets. Only DNA has minus strands. If
    /// both strands of a pair reach `min_identity`, `min_score` and `coverage`, the row has the one
    /// with the greater score, or the plus strand if the scores are equal.
    pub strand: Strands,
    /// The definition of identity.
    pub definition: IdentityDefinition,
    /// Minimum identity of reported pairs, as a fraction.
    pub min_identity: Option<f64>,
    /// Minimum coverages of reported pairs.
    pub coverage: CoverageFilter,
    /// Minimum score of reported pairs. It is tested before any alignment.
    pub min_score: Option<i64>,
    /// Whether to compute scores only, without alignments. Excludes `min_identity` and `coverage`.
    pub score_only: bool,
    /// Maximum number of pairs for each query. Global alignments are ranked by identity, then by
    /// score. Local alignments are ranked by score, then by identity. With `score_only`, the score
    /// alone counts. Equal pairs are ranked by the order of targets.
    pub max_hits: Option<usize>,
    /// Whether only those pairs of each query are reported that have its best identity. For local
    /// alignments and with `score_only`, the score counts instead. `max_hits` also limits these
    /// pairs.
    pub top_hits_only: bool,
    /// Whether to rescore every alignment, and to fail if the result differs from the computed
    /// score.
    pub check: bool,
    /// Whether edit distances are computed before scores, to exclude pairs.
    pub edit_filter: EditFilter,
}

/// The result of one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct PairResult {
    /// Number of the query in its set.
    pub query: SequenceId,
    /// Number of the target in its set.
    pub target: SequenceId,
    /// The strand of the query.
    pub strand: Strand,
    /// The score.
    pub score: i64,
    /// The alignment; `None` with `score_only`. On the minus strand, the aligned query is the
    /// reverse complement, and positions refer to it.
    pub alignment: Option<Alignment>,
    /// Numbers of columns by kind; all 0 with `score_only`.
    pub counts: AlignmentCounts,
    /// Identity as a fraction; 0 with `score_only`.
    pub identity: f64,
}

impl PairResult {
    /// Returns the memory of the result in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let cigar = self.alignment.as_ref().map_or(0, |alignment| alignment.cigar.bytes());
        size_of::<Self>() as u64 + cigar
    }
}

/// Converts a result to the type that writers take.
impl<'a> From<&'a PairResult> for OutputPair<'a> {
    fn from(result: &'a PairResult) -> Self {
        let alignment = result.alignment.as_ref();
        OutputPair {
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

/// Encodes results as lines.
impl Encode<PairResult> for LineMaker {
    fn encode(&self, row: &PairResult, bytes: &mut Vec<u8>) -> Result<()> {
        self.push(&OutputPair::from(row), bytes)
    }
}

impl AllPairs {
    /// Creates a comparison of all pairs of one set that aligns every pair.
    pub fn new(queries: Arc<SequenceStore>, scoring: Arc<Scoring>) -> Self {
        AllPairs {
            queries,
            against: None,
            scoring,
            strand: Strands::default(),
            definition: IdentityDefinition::default(),
            min_identity: None,
            coverage: CoverageFilter::default(),
            min_score: None,
            score_only: false,
            max_hits: None,
            top_hits_only: false,
            check: false,
            edit_filter: EditFilter::default(),
        }
    }

    /// Returns the set of targets.
    pub fn targets(&self) -> &Arc<SequenceStore> {
        self.against.as_ref().unwrap_or(&self.queries)
    }

    /// Returns the identity filter, if a minimum identity is set.
    fn filter(&self) -> Option<Arc<IdentityFilter>> {
        self.identity_goal().score_filter(&self.scoring)
    }

    /// Returns the number of cells of all pairs and strands.
    pub fn cells(&self) -> u64 {
        let forward = AllPairs { strand: Strands::Plus, ..self.clone() }.job().cells();
        forward.saturating_mul(u64::from(self.strands().copies()))
    }

    /// Returns which strands of each query are compared, and whether a query is compared only with
    /// the sequences after it.
    fn strands(&self) -> QueryStrands {
        QueryStrands { strand: self.strand, later_only: self.against.is_none() && self.strand != Strands::Plus }
    }

    /// Returns the plan of all pairs, which also defines what engines report. Computes the reverse
    /// complements of the queries if they are needed.
    pub fn job(&self) -> plan::PairsSpec {
        let strands = self.strands();
        let queries = strands.store(&self.queries);
        let thresholds = self.local_thresholds(&queries);
        let filter = match (self.filter(), self.min_score) {
            _ if thresholds.is_some() => ResultFilter::AtLeast(Arc::new(thresholds.into_iter().flatten().collect())),
            // The caller does not need matches, so engines may drop pairs with lower scores.
            (_, Some(least)) if self.score_only || self.is_local() => {
                ResultFilter::AtLeast(Arc::new(ScoreThresholds::uniform(least, queries.len())))
            }
            _ if self.score_only => ResultFilter::Scores,
            (Some(filter), _) => ResultFilter::Reaching(filter),
            (None, _) => ResultFilter::Alignments,
        };
        plan::PairsSpec {
            queries,
            against: if strands.later_only { Some(Arc::clone(&self.queries)) } else { self.against.clone() },
            scoring: Arc::clone(&self.scoring),
            filter,
            strands,
            parts: None,
        }
    }

    /// Returns the score that local alignments of each query must reach, if minimum identity and
    /// coverage imply a score ([`LocalScoreBound`]).
    fn local_thresholds(&self, queries: &SequenceStore) -> Option<Vec<i64>> {
        let identity = self.min_identity.filter(|_| self.is_local() && self.coverage.is_set())?;
        let targets = self.targets();
        let mut is_present = vec![false; self.scoring.substitution.size()];
        for target in 0..targets.len() as SequenceId {
            targets.codes(target).iter().for_each(|&code| is_present[usize::from(code)] = true);
        }
        let codes: Vec<Code> =
            (0..).zip(is_present).filter_map(|(code, is_present)| is_present.then_some(code)).collect();
        let bound = LocalScoreBound::new(self.definition, identity, &self.scoring, &codes)?;
        let shortest = targets.lengths().iter().copied().min().unwrap_or(0);
        // Each sequence of a set is the query of some pairs and the target of others.
        let may_be_target = self.against.is_none();
        let least = |query: SequenceId| {
            let covered = self.coverage.least_covered(queries.length(query), shortest, may_be_target);
            // Without a match, the identity is 0.
            bound.least_score(queries.codes(query), covered).max(1).max(self.min_score.unwrap_or(1))
        };
        let thresholds: Vec<i64> = (0..queries.len() as SequenceId).map(least).collect();
        let useless = self.min_score.unwrap_or(1).max(1);
        thresholds.iter().any(|&threshold| threshold > useless).then_some(thresholds)
    }

    fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// Returns the identity that pairs must reach.
    fn identity_goal(&self) -> IdentityGoal {
        let &AllPairs { definition, min_identity, edit_filter, .. } = self;
        IdentityGoal { definition, min_identity, edit_filter }
    }
}

impl Job for AllPairs {
    type Row = PairResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Pairs>>>;
    type Session = AllPairsSession;

    fn validate(&self) -> Result<()> {
        if let Some(wrong) = self.min_identity.filter(|identity| !(0.0..=1.0).contains(identity)) {
            return Err(Error::usage_value("min_identity", wrong, "identities are fractions from 0 to 1"));
        }
        if self.score_only && self.min_identity.is_some() {
            return Err(Error::usage_of(
                "score_only",
                "scores alone have no identity: omit either this or `min_identity`",
            ));
        }
        check_coverage(&self.coverage, self.score_only)?;
        check_scores(&self.scoring, self.definition, self.strand)?;
        if let Some(why) = not_scored(&self.scoring, self.queries.alphabet()) {
            return Err(Error::usage_of("queries", why));
        }
        if let Some(why) = not_scored(&self.scoring, self.targets().alphabet()) {
            return Err(Error::usage_of("against", why));
        }
        Ok(())
    }

    fn whole_block(&self, session: &AllPairsSession) -> Block {
        Block { units: 0..self.queries.len() as u64, targets: None, pairs: 0, cells: session.cells() }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<AllPairsSession> {
        self.validate()?;
        start.check_kernel(run, family_of(self.scoring.mode))?;
        AllPairsSession::open(self, start, run)
    }

    /// Passes on rows chunk by chunk, ordered by query, then by target.
    fn feed(&self, feed: Feed<'_, PairResult>, session: &mut AllPairsSession) -> Result<Summary> {
        self.compute_blocks(feed, session)
    }
}
