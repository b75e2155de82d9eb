//! The alignments of one pair of very long sequences, which come all at once.
//!
//! `tsv`, `jsonl` and `paf` are the formats of many pairs: each alignment becomes a [`Pair`] of the strand that was aligned and
//! the target, with a [`Hit`] that says how to write its positions. `sam` and `text` are formats of their own.

use std::sync::Arc;

use super::fields::Field;
use super::{Body, Contents, Context, Details, Hit, Output, Pair, PairKind, Range32, jsonl, paf, sam, text, tsv};
use crate::alignment::{Alignment, Cigar};
use crate::error::{Error, Result};
use crate::score::{IdentityDefinition, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore, StrandOf, reverse_complement};

pub use super::sam::name_problem as sam_name_problem;

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LongFormat {
    /// Tab-separated values under a header line.
    Tsv(Vec<&'static Field>),
    /// minimap2's pairwise mapping format.
    Paf,
    /// SAM.
    Sam {
        /// How the program was called, for the header.
        command: String,
    },
    /// One JSON object a line.
    JsonLines(Vec<&'static Field>),
    /// Blocks of alignment for people.
    Text {
        /// Columns of a block.
        width: u32,
    },
}

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
    forward: Context,
    /// The same with the query's reverse complement, if that was aligned.
    reverse: Option<Context>,
    query_id: SequenceId,
    target_id: SequenceId,
}

/// What alignments of two long sequences have.
const CONTENTS: Contents = Contents { kind: PairKind::Long, has_alignments: true };

impl LongContext {
    /// Takes the two sequences. `any_reverse` says whether alignments of the query's reverse complement
    /// are among those that will be written.
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
            strand: StrandOf::Plus,
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

/// Writes all alignments, the best first, and makes the output final.
///
/// # Errors
/// [`Error::Usage`] if a format that describes alignments gets a mere score; [`Error::Io`] if the output cannot be written.
pub fn write(format: &LongFormat, context: &LongContext, found: &[Found<'_>], mut output: Output) -> Result<()> {
    let contents = Contents { has_alignments: found.iter().all(|found| found.cigar.is_some()), ..CONTENTS };
    match format {
        LongFormat::Tsv(fields) | LongFormat::JsonLines(fields) => contents.check_fields(fields)?,
        LongFormat::Paf | LongFormat::Sam { .. } | LongFormat::Text { .. } => contents.check_alignments()?,
    }
    match format {
        LongFormat::Tsv(fields) => lines(&mut tsv::Tsv::new(fields), context, found, &mut output)?,
        LongFormat::JsonLines(fields) => lines(&mut jsonl::JsonLines::new(fields), context, found, &mut output)?,
        LongFormat::Paf => lines(&mut paf::Paf, context, found, &mut output)?,
        LongFormat::Sam { command } => sam::write(context, command, found, &mut output)?,
        LongFormat::Text { width } => text::write(context, *width, found, &mut output)?,
    }
    output.finish()
}

fn lines(body: &mut dyn Body, context: &LongContext, found: &[Found<'_>], output: &mut Output) -> Result<()> {
    body.begin(&context.forward, output)?;
    let line = body.lines().ok_or_else(|| Error::Internal("a format without lines for long pairs".into()))?;
    for found in found {
        let (context, pair) = context.pair(found)?;
        line.push(context, &pair, output.buffer())?;
        output.pass_on()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
