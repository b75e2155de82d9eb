//! One pair of very long sequences, and its alignments as pairs of the strand that was aligned.

use std::sync::Arc;

use super::{Contents, Context, Details, Hit, Pair, PairKind, Range32};
use crate::alignment::{Alignment, Cigar};
use crate::error::{Error, Result};
use crate::score::{IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore, Strand, reverse_complement};

/// One alignment, or its score.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Whether the query's reverse complement was aligned.
    pub is_reverse: bool,
    /// The score.
    pub score: i64,
    /// The part of the query as its file has it. Of a mere score only its end counts, on the reverse strand its start.
    pub query: Range32,
    /// The part of the target. Of a mere score only its end counts.
    pub target: Range32,
    /// The alignment along the target, if there is one.
    pub cigar: Option<&'a Cigar>,
}

/// A sequence of a store.
#[derive(Debug, Clone)]
pub struct StoredSequence {
    /// The store.
    pub store: Arc<SequenceStore>,
    /// Its index there.
    pub id: SequenceId,
}

/// The two sequences and how they were scored.
#[derive(Debug)]
pub struct LongContext {
    pub(super) forward: Context,
    /// The same with the query's reverse complement, if that was aligned.
    reverse: Option<Context>,
    query_id: SequenceId,
    target_id: SequenceId,
}

/// What alignments of two long sequences have.
pub(super) const CONTENTS: Contents = Contents { kind: PairKind::Long, has_alignments: true };

impl LongContext {
    /// Takes the two sequences. `any_reverse` says whether alignments of the query's reverse
    /// complement are among those that will be written.
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

    pub(super) fn alphabet(&self) -> Alphabet {
        self.forward.queries.alphabet()
    }

    pub(super) fn scoring(&self) -> &Scoring {
        &self.forward.scoring
    }

    /// An alignment with the strand of the query that was aligned, and the target: what
    /// [`verify_alignment`](crate::alignment::verify_alignment) takes.
    ///
    /// # Errors
    /// If it is a mere score.
    pub fn alignment(&self, found: &Found<'_>) -> Result<(Alignment, &[Code], &[Code])> {
        let (_, pair) = self.pair(found)?;
        let cigar = found.cigar.ok_or_else(|| Error::Internal("a score without its alignment".into()))?.clone();
        let Pair { query_start, target_start, score, .. } = pair;
        let alignment = Alignment { score, query_start, target_start, cigar };
        // The pair borrows from `found` as well; the sequences do not.
        let query = match &self.reverse {
            Some(reverse) if found.is_reverse => reverse.queries.codes(0),
            _ => self.query_codes(),
        };
        Ok((alignment, query, self.forward.targets.codes(self.target_id)))
    }

    /// An alignment as a pair of the strand that was aligned and the target, and what its numbers refer to.
    pub(super) fn pair<'a>(&'a self, found: &Found<'a>) -> Result<(&'a Context, Pair<'a>)> {
        let (context, query) = match (found.is_reverse, &self.reverse) {
            (false, _) => (&self.forward, self.query_id),
            (true, Some(reverse)) => (reverse, 0),
            (true, None) => return Err(Error::Internal("an alignment of a strand that was not announced".into())),
        };
        let mut hit = Hit { is_reverse: found.is_reverse, query_end: 0, target_end: found.target.end };
        // To and from a strand is the same way.
        let part = hit.in_file(found.query, self.query_length());
        hit.query_end = part.end;
        let is_local = self.scoring().mode == Mode::Local;
        let start = |start: u32| if is_local { start } else { 0 };
        let pair = Pair {
            query,
            target: self.target_id,
            strand: Strand::Plus,
            score: found.score,
            alignment: found.cigar,
            query_start: start(part.start),
            target_start: start(found.target.start),
            counts: None,
            details: Details::Long(hit),
        };
        Ok((context, pair))
    }
}

/// A store of the reverse complement of one sequence, under its name.
fn reversed(store: &SequenceStore, id: SequenceId) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(store.alphabet());
    builder.push_renamed(store, id, &reverse_complement(store.codes(id)));
    Arc::new(builder.build())
}
