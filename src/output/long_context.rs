//! One pair of very long sequences, and its alignments as pairs with the aligned strand.

use std::sync::Arc;

use super::{Contents, Context, Details, LongPairEnd, OutputPair, PairKind, Range32};
use crate::alignment::{Alignment, Cigar};
use crate::error::{Error, Result};
use crate::score::{IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore, Strand, reverse_complement};

/// An alignment, or only its score.
#[derive(Debug, Clone, Copy)]
pub struct LongPairAlignment<'a> {
    /// Whether the query's reverse complement was aligned.
    pub is_reverse: bool,
    /// The score.
    pub score: i64,
    /// Part of the query on the file's strand. If there is only a score, just its end is valid, or
    /// its start on the minus strand.
    pub query: Range32,
    /// Part of the target. If there is only a score, just its end is valid.
    pub target: Range32,
    /// The alignment along the target, if there is one.
    pub cigar: Option<&'a Cigar>,
}

/// A sequence of a store.
#[derive(Debug, Clone)]
pub struct StoredSequence {
    /// The store.
    pub store: Arc<SequenceStore>,
    /// Index in the store.
    pub id: SequenceId,
}

/// Paths of the files with the two sequences as the user typed them, for headers. `-` is standard
/// input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LongPaths {
    /// File of the query.
    pub query: String,
    /// File of the target.
    pub target: String,
}

/// The two sequences and the scoring scheme.
#[derive(Debug)]
pub struct LongContext {
    pub(super) forward: Context,
    /// The context with the query's reverse complement, if that was aligned.
    reverse: Option<Context>,
    query_id: SequenceId,
    target_id: SequenceId,
}

/// Contents of alignments of two long sequences.
pub(super) const CONTENTS: Contents = Contents { kind: PairKind::Long, has_alignments: true };

impl LongContext {
    /// Creates the context of two sequences. `any_reverse` must be set if any written alignment
    /// uses the query's reverse complement.
    pub fn new(query: StoredSequence, target: StoredSequence, scoring: Scoring, any_reverse: bool) -> Self {
        let StoredSequence { store: queries, id: query_id } = query;
        let StoredSequence { store: targets, id: target_id } = target;
        let reverse = any_reverse.then(|| Context {
            queries: reversed(&queries, query_id),
            targets: Arc::clone(&targets),
            scoring: scoring.clone(),
            identity: IdentityDefinition::InnerColumns,
            contents: CONTENTS,
        });
        let identity = IdentityDefinition::InnerColumns;
        let forward = Context { queries, targets, scoring, identity, contents: CONTENTS };
        LongContext { forward, reverse, query_id, target_id }
    }

    pub(super) fn query_name(&self) -> &str {
        self.forward.queries.name(self.query_id)
    }

    pub(super) fn query_name_bytes(&self) -> &[u8] {
        self.forward.queries.name_bytes(self.query_id)
    }

    pub(super) fn query_length(&self) -> u32 {
        self.forward.queries.length(self.query_id)
    }

    pub(super) fn query_codes(&self) -> &[Code] {
        self.forward.queries.codes(self.query_id)
    }

    pub(super) fn query_qualities(&self) -> &[u8] {
        self.forward.queries.qualities(self.query_id)
    }

    pub(super) fn target_name(&self) -> &str {
        self.forward.targets.name(self.target_id)
    }

    pub(super) fn target_length(&self) -> u32 {
        self.forward.targets.length(self.target_id)
    }

    pub(super) fn target_codes(&self) -> &[Code] {
        self.forward.targets.codes(self.target_id)
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
        let query = match &self.reverse {
            Some(reverse) if selected.is_reverse => reverse.queries.codes(0),
            _ => self.query_codes(),
        };
        Ok((alignment, query, self.target_codes()))
    }

    /// Returns an alignment as a pair of the aligned strand and the target, with its context.
    pub(super) fn pair<'a>(&'a self, selected: &LongPairAlignment<'a>) -> Result<(&'a Context, OutputPair<'a>)> {
        let (context, query) = match (selected.is_reverse, &self.reverse) {
            (false, _) => (&self.forward, self.query_id),
            (true, Some(reverse)) => (reverse, 0),
            (true, None) => return Err(Error::Internal("an alignment of a strand that was not announced".into())),
        };
        let mut hit = LongPairEnd { is_reverse: selected.is_reverse, query_end: 0, target_end: selected.target.end };
        // The conversion between the strands is its own inverse.
        let part = hit.in_file(selected.query, self.query_length());
        hit.query_end = part.end;
        let is_local = self.scoring().mode == Mode::Local;
        let start = |start: u32| if is_local { start } else { 0 };
        let pair = OutputPair {
            query,
            target: self.target_id,
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

/// Returns a store with the reverse complement of one sequence, under the same name.
fn reversed(store: &SequenceStore, id: SequenceId) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(store.alphabet());
    builder.push_renamed(store, id, &reverse_complement(store.codes(id)));
    Arc::new(builder.build())
}
