//! Pairs of very long sequences, and their alignments as pairs with the aligned strand.

mod circular;

use std::sync::Arc;

use super::{Contents, Context, Details, LongPairEnd, OutputPair, PairKind, Range32};
use crate::alignment::circular::on_other_strand;
use crate::alignment::{Alignment, Cigar, CircularSides};
use crate::error::{Error, Result};
use crate::score::{DatabaseStatistics, IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore, Strand, reverse_complement};

pub use self::circular::WholeAlignment;
pub(super) use self::circular::cut;

/// An alignment, or only its score.
#[derive(Debug, Clone, Copy)]
pub struct LongPairAlignment<'a> {
    /// Index of the query in its store.
    pub query_id: SequenceId,
    /// Index of the target in its store.
    pub target_id: SequenceId,
    /// Whether the query's reverse complement was aligned.
    pub is_reverse: bool,
    /// The score.
    pub score: i64,
    /// Part of the query on the file's strand. If there is only a score, just its end is valid, or
    /// its start on the minus strand. If the part crosses the origin of a circular query, its end
    /// exceeds the length.
    pub query: Range32,
    /// Part of the target. If there is only a score, just its end is valid. If the part crosses the
    /// origin of a circular target, its end exceeds the length.
    pub target: Range32,
    /// The alignment along the target, if there is one.
    pub cigar: Option<&'a Cigar>,
    /// The whole alignment if this is a part of an alignment of circular sequences.
    pub part_of: Option<WholeAlignment>,
}

/// Selected sequences of a store.
#[derive(Debug, Clone)]
pub struct StoredRecords {
    /// The store.
    pub store: Arc<SequenceStore>,
    /// Indices in the store, ascending.
    pub ids: Vec<SequenceId>,
}

impl StoredRecords {
    /// Returns the number of symbols of all sequences.
    pub fn symbols(&self) -> u64 {
        self.ids.iter().map(|&id| u64::from(self.store.length(id))).sum()
    }
}

/// Paths of the files with the sequences as the user typed them, for headers. `-` is standard
/// input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongPaths {
    /// File of the queries.
    pub query: String,
    /// File of the targets.
    pub target: String,
}

/// The sequences and the scoring scheme. Every query was aligned with every target.
#[derive(Debug)]
pub struct LongContext {
    pub(super) forward: Context,
    /// The context with the reverse complements of `reverse_ids`, in this order.
    reverse: Context,
    /// Queries with an alignment of their reverse complement, ascending.
    reverse_ids: Vec<SequenceId>,
    query_ids: Vec<SequenceId>,
    target_ids: Vec<SequenceId>,
    circular: CircularSides,
    statistics: Option<DatabaseStatistics>,
}

/// Contents of alignments of two long sequences.
pub(super) const CONTENTS: Contents = Contents { kind: PairKind::Long, has_alignments: true };

impl LongContext {
    /// Creates the context of some queries and targets. `reverse_ids` lists the queries, ascending,
    /// whose reverse complement is in any written alignment.
    pub fn new(queries: StoredRecords, targets: StoredRecords, scoring: Scoring, reverse_ids: Vec<SequenceId>) -> Self {
        let StoredRecords { store: queries, ids: query_ids } = queries;
        let StoredRecords { store: targets, ids: target_ids } = targets;
        let identity = IdentityDefinition::InnerColumns;
        let context = |queries: Arc<SequenceStore>| Context {
            queries,
            targets: Arc::clone(&targets),
            scoring: scoring.clone(),
            identity,
            contents: CONTENTS,
        };
        let reverse = context(reversed(&queries, &reverse_ids));
        let circular = CircularSides::default();
        LongContext {
            forward: context(queries),
            reverse,
            reverse_ids,
            query_ids,
            target_ids,
            circular,
            statistics: None,
        }
    }

    /// Sets which sequences are circular.
    pub fn with_circular(self, circular: CircularSides) -> Self {
        LongContext { circular, ..self }
    }

    /// Sets the statistics of alignments. With them, fields and tags have bit scores and E-values.
    pub fn with_statistics(self, statistics: Option<DatabaseStatistics>) -> Self {
        LongContext { statistics, ..self }
    }

    /// Returns which sequences are circular.
    pub fn circular(&self) -> CircularSides {
        self.circular
    }

    /// Returns the queries in the order of their file.
    pub(super) fn query_ids(&self) -> &[SequenceId] {
        &self.query_ids
    }

    /// Returns the targets in the order of their file.
    pub(super) fn target_ids(&self) -> &[SequenceId] {
        &self.target_ids
    }

    /// Returns the store of the queries, with the strands of their file.
    pub(super) fn queries(&self) -> &SequenceStore {
        &self.forward.queries
    }

    /// Returns the store of the targets.
    pub(super) fn targets(&self) -> &SequenceStore {
        &self.forward.targets
    }

    pub(super) fn alphabet(&self) -> Alphabet {
        self.forward.queries.alphabet()
    }

    pub(super) fn scoring(&self) -> &Scoring {
        &self.forward.scoring
    }

    /// Returns an alignment with the aligned strand of the query and the target, as
    /// [`verify_alignment`](crate::alignment::verify_alignment) requires.
    ///
    /// # Errors
    /// Returns an error if there is only a score.
    pub fn alignment(&self, selected: &LongPairAlignment<'_>) -> Result<(Alignment, &[Code], &[Code])> {
        let (_, pair) = self.pair(selected)?;
        let cigar = selected.cigar.ok_or_else(|| Error::Internal("a score without its alignment".into()))?.clone();
        let OutputPair { query_start, target_start, score, .. } = pair;
        let alignment = Alignment { score, query_start, target_start, cigar };
        // The pair also borrows from `selected`, but the sequences do not.
        let (context, query) = self.strand(selected)?;
        Ok((alignment, context.queries.codes(query), self.targets().codes(selected.target_id)))
    }

    /// Returns the context with the aligned strand of the query, and its index there.
    fn strand(&self, selected: &LongPairAlignment<'_>) -> Result<(&Context, SequenceId)> {
        if !selected.is_reverse {
            return Ok((&self.forward, selected.query_id));
        }
        match self.reverse_ids.binary_search(&selected.query_id) {
            Ok(index) => Ok((&self.reverse, index as SequenceId)),
            Err(_) => Err(Error::Internal("an alignment of a strand that was not announced".into())),
        }
    }

    /// Returns an alignment as a pair of the aligned strand and the target, with its context.
    pub(super) fn pair<'a>(&'a self, selected: &LongPairAlignment<'a>) -> Result<(&'a Context, OutputPair<'a>)> {
        let (context, query) = self.strand(selected)?;
        // The conversion between the strands is its own inverse.
        let part = match selected.is_reverse {
            true => {
                let part = selected.query.start..selected.query.end;
                on_other_strand(&part, self.queries().length(selected.query_id))
            }
            false => selected.query.start..selected.query.end,
        };
        let hit = LongPairEnd {
            is_reverse: selected.is_reverse,
            query_end: part.end,
            target_end: selected.target.end,
            number: selected.part_of.map(|whole| whole.number),
            significance: self.statistics.map(|statistics| {
                let score = selected.part_of.map_or(selected.score, |whole| whole.score);
                let target_length = self.targets().length(selected.target_id);
                statistics.significance(score, self.queries().length(selected.query_id), target_length)
            }),
        };
        let is_local = self.scoring().mode == Mode::Local;
        let start = |start: u32| if is_local { start } else { 0 };
        let pair = OutputPair {
            query,
            target: selected.target_id,
            strand: Strand::Plus,
            score: selected.score,
            alignment: selected.cigar,
            query_start: start(part.start),
            target_start: start(selected.target.start),
            counts: None,
            details: Details::Long(hit),
        };
        Ok((context, pair))
    }
}

/// Returns a store with the reverse complements of some sequences, under the same names.
fn reversed(store: &SequenceStore, ids: &[SequenceId]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(store.alphabet());
    for &id in ids {
        builder.push_renamed(store, id, &reverse_complement(store.codes(id)));
    }
    Arc::new(builder.build())
}
