//! Output: writes the results of jobs in one of several formats.
//!
//! A job opens a [`PairWriter`] with [`open`] and passes it every [`OutputPair`] in the order of
//! the output. Each format is a small file that only converts pairs to bytes. [`Output`] writes the
//! bytes to standard output or to a file. A file appears completely or not at all. It is compressed
//! if its extension is that of a compressed format.
//!
//! The alignments of one pair of very long sequences are written all at once ([`long`]), and can be
//! drawn as a dot plot ([`dotplot`]).
//!
//! Reads that are placed in a reference alignment are written as rows of one alignment: [`placed`].
//!
//! The hits of a search are written query by query: [`search`].
//!
//! Clusters have the formats of several programs: [`cluster`].
//!
//! Multiple alignments have their own formats, including distances and an HTML page: [`msa`].
//!
//! Matrices and trees can be drawn as pictures: `plot`, with the feature of the same name.
//!
//! The bytes depend only on the pairs. They contain no date and no path of the program, and every
//! floating-point number is correctly rounded.

pub mod cluster;
#[doc(hidden)]
pub mod columns;
pub mod distance;
pub mod dotplot;
pub mod fields;
pub mod long;
mod long_context;
pub mod msa;
pub mod placed;
#[cfg(feature = "plot")]
pub mod plot;
pub mod search;
pub mod sink;

mod aligned_part;
mod bed;
mod blast6;
mod body;
#[cfg(test)]
mod captured;
mod chain;
mod compress;
mod delta;
mod fasta;
mod group;
mod jsonl;
mod maf;
mod markup;
mod numbers;
mod paf;
mod phylip;
mod picture;
#[cfg(feature = "plot")]
mod point;
mod sam;
#[cfg(feature = "plot")]
mod strokes;
mod text;
pub(crate) mod ticks;
mod tsv;
mod vcf;

use self::body::{ByteSink, FormatBody, FormatWriter, PairLine};
use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::score::{AlignmentCounts, IdentityDefinition, Mode, Scoring, Significance};
use crate::seq::{Code, SequenceId, SequenceStore, Strand, reverse_complement};
use std::borrow::Cow;
use std::sync::Arc;

#[doc(hidden)]
pub use crate::files::temporary::for_each as for_each_temporary;
pub use columns::{AlignmentColumns, Range32};
pub use compress::OutputCompression;
pub use distance::{Distance, DistanceMatrixShape};
pub use fasta::{push_fasta_header, push_fasta_letters};
pub use fields::{EDIT_FIELDS, EditDefaults, FIELDS, Field, LONG_FIELDS, SEARCH_FIELDS};
pub use group::OutputGroup;
pub use long::{LongContext, LongFormat, LongPairAlignment, LongPaths};
pub use paf::{CsForm, PafIntervals};
pub use placed::{
    BestEdge, BestTable, PlacedExtent, PlacedFormat, PlacedRead, PlacedWriter, PlacementFile, ReferenceRows,
};
pub use search::{SearchContext, SearchFormat, SearchHit, SearchWriter};
pub use sink::Output;

/// A compared pair of sequences.
#[derive(Debug, Clone, Copy)]
pub struct OutputPair<'a> {
    /// The sequence that is first in input order, as an index into [`Context::queries`].
    pub query: SequenceId,
    /// The other sequence, as an index into [`Context::targets`].
    pub target: SequenceId,
    /// Compared strand of the query; [`Context::queries`] contains the plus strand. It is always
    /// plus for long pairs, whose strand is in [`LongPairEnd`].
    pub strand: Strand,
    /// Score of the best alignment.
    pub score: i64,
    /// The best alignment; `None` if only scores were computed.
    pub alignment: Option<&'a Cigar>,
    /// Number of query symbols before the alignment's first column, on the compared strand; 0
    /// unless the alignment is local.
    pub query_start: u32,
    /// Number of target symbols before the alignment's first column.
    pub target_start: u32,
    /// Column counts of the alignment, if they are known already. Counting the columns of a million
    /// alignments again takes longer than writing them.
    pub counts: Option<AlignmentCounts>,
    /// Results that only one kind of job produces.
    pub details: Details<'a>,
}

/// Results of a pair that only one kind of job produces.
#[derive(Debug, Clone, Copy, Default)]
pub enum Details<'a> {
    /// No such results: the pair was compared globally or locally.
    #[default]
    None,
    /// Distance of a pattern (the query) and a part of a text (the target).
    Edit(Edits<'a>),
    /// Strand and end of an alignment of two very long sequences.
    Long(LongPairEnd),
    /// Properties of a search hit.
    Search(HitDetails),
}

/// Properties of a search hit that follow neither from its alignment nor from its score alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct HitDetails {
    /// Bits and E-value, if the scoring has statistics.
    pub significance: Option<Significance>,
    /// Number of query symbols that all reported alignments with the target span, if there are
    /// several.
    pub spanned_by_all: Option<u32>,
}

impl<'a> OutputPair<'a> {
    /// Returns whether the query's reverse complement was compared.
    fn is_reverse(&self) -> bool {
        self.strand == Strand::Minus || self.long_hit().is_some_and(|hit| hit.is_reverse)
    }

    /// Returns the distance, if the pair is a pattern and a text.
    fn edits(&self) -> Option<Edits<'a>> {
        if let Details::Edit(edits) = self.details { Some(edits) } else { None }
    }

    /// Returns the strand and the end, if the pair consists of two very long sequences.
    fn long_hit(&self) -> Option<LongPairEnd> {
        if let Details::Long(hit) = self.details { Some(hit) } else { None }
    }

    /// Returns the properties of a search hit.
    fn hit_details(&self) -> Option<HitDetails> {
        if let Details::Search(details) = self.details { Some(details) } else { None }
    }

    /// Returns the significance of the alignment, if it is known.
    fn significance(&self) -> Option<Significance> {
        match self.details {
            Details::Long(hit) => hit.significance,
            Details::Search(details) => details.significance,
            Details::None | Details::Edit(_) => None,
        }
    }
}

/// The kind of job that pairs belong to, which decides their [`Details`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairKind {
    /// Pairs without details.
    #[default]
    Compared,
    /// Patterns in texts.
    Edit,
    /// Two very long sequences.
    Long,
    /// Hits of a search.
    Search,
}

/// Contents of every pair of a writer. Formats check it when they are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contents {
    /// Kind of job.
    pub kind: PairKind,
    /// Whether pairs have alignments.
    pub has_alignments: bool,
}

impl Contents {
    /// Checks that pairs have the data that these fields describe.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] that names the first field that pairs lack.
    fn check_fields(self, fields: &[&Field]) -> Result<()> {
        for field in fields {
            if field.kind().is_some_and(|kind| kind != self.kind) {
                return Err(Error::usage(format!("field '{}' describes pairs of another command", field.name)));
            }
            if field.needs_alignment() && !self.has_alignments {
                return Err(Error::usage(format!(
                    "field '{}' needs alignments, but only scores are computed",
                    field.name
                )));
            }
        }
        Ok(())
    }

    /// Checks that pairs have the alignments that a format writes.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if pairs have none.
    fn check_alignments(self) -> Result<()> {
        if self.has_alignments {
            return Ok(());
        }
        Err(Error::usage("the output format needs alignments, but only scores are computed"))
    }
}

/// The end of an alignment of two very long sequences, which is known even if only the score was
/// computed. The pair's query is the aligned strand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongPairEnd {
    /// Whether the aligned strand is the reverse complement of the file's. Written positions refer
    /// to the file's strand.
    pub is_reverse: bool,
    /// Number of query symbols, on the aligned strand, up to the end of the alignment.
    pub query_end: u32,
    /// Number of target symbols up to the end of the alignment.
    pub target_end: u32,
    /// Number of the alignment from 1, if any sequence is circular. All parts of an alignment have
    /// the same number.
    pub number: Option<u32>,
    /// Bits and E-value of the whole alignment, if they are wanted and known.
    pub significance: Option<Significance>,
}

impl LongPairEnd {
    /// Converts a part of the aligned strand to the file's strand. `length` is the length of the
    /// query.
    pub(crate) fn in_file(self, part: Range32, length: u32) -> Range32 {
        if self.is_reverse { Range32 { start: length - part.end, end: length - part.start } } else { part }
    }
}

/// The result for a pattern in a text, without the alignment. If there is an alignment, it aligns
/// the pattern from [`OutputPair::query_start`] on with the part of the text from
/// [`OutputPair::target_start`] to `end`.
#[derive(Debug, Clone, Copy)]
pub struct Edits<'a> {
    /// The least distance.
    pub distance: u32,
    /// Number of text symbols up to the end of the first part with that distance.
    pub end: u32,
    /// Region of the text that was searched.
    pub region: Range32,
    /// All ends within the limit with their distances, if they were requested.
    pub ends: &'a [(u32, u32)],
}

/// Data that all pairs of a writer refer to.
#[derive(Debug, Clone)]
pub struct Context {
    /// Sequences that [`OutputPair::query`] indexes.
    pub queries: Arc<SequenceStore>,
    /// Sequences that [`OutputPair::target`] indexes. In an all-against-all comparison of one file,
    /// this is the same store.
    pub targets: Arc<SequenceStore>,
    /// The scoring scheme.
    pub scoring: Scoring,
    /// The chosen definition of identity.
    pub identity: IdentityDefinition,
    /// Contents of every pair.
    pub contents: Contents,
}

impl Context {
    /// Returns whether queries and targets are one set, in which every unordered pair is compared
    /// once.
    pub fn is_one_set(&self) -> bool {
        Arc::ptr_eq(&self.queries, &self.targets)
    }

    /// Returns the compared strand of the query.
    fn query_codes(&self, pair: &OutputPair<'_>) -> Cow<'_, [Code]> {
        let forward = self.queries.codes(pair.query);
        match pair.strand {
            Strand::Plus => Cow::Borrowed(forward),
            Strand::Minus => Cow::Owned(reverse_complement(forward)),
        }
    }

    /// Returns the column counts and spans of the pair's alignment, with the query's spans on the
    /// file's strand. Returns an error if there is only a score.
    fn columns(&self, pair: &OutputPair<'_>) -> Result<AlignmentColumns> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let whole = |length| Range32 { start: 0, end: length };
        let part = |start: u32, symbols: u64| Range32 { start, end: start + symbols as u32 };
        let (query, target) = match self.scoring.mode {
            Mode::Global if pair.edits().is_none() => {
                (whole(self.queries.length(pair.query)), whole(self.targets.length(pair.target)))
            }
            Mode::Global | Mode::Local => {
                (part(pair.query_start, cigar.query_span()), part(pair.target_start, cigar.target_span()))
            }
        };
        let mut columns =
            AlignmentColumns::from_cigar(cigar, pair.counts.unwrap_or_else(|| cigar.counts()), query, target);
        if pair.strand == Strand::Minus {
            let length = self.queries.length(pair.query);
            for span in [&mut columns.query, &mut columns.whole_query] {
                *span = Range32 { start: length - span.end, end: length - span.start };
            }
        }
        Ok(columns)
    }
}

/// A writer that accepts the pairs of a job in the order of the output.
pub trait PairWriter: Send {
    /// Writes everything before the first pair. Must be called once, before all other methods.
    fn begin(&mut self) -> Result<()>;
    /// Writes one pair.
    fn write(&mut self, pair: &OutputPair<'_>) -> Result<()>;
    /// Replaces the sequences that pairs refer to. Formats that need all sequences at the start
    /// refuse this ([`PairFormat::needs_sets`]).
    fn replace_sequences(&mut self, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> Result<()>;
    /// Writes many pairs, on several threads of the current pool if that is faster.
    fn write_all(&mut self, pairs: &[OutputPair<'_>]) -> Result<()>;
    /// Returns an object that formats pairs as lines, with the current sequences. Returns `None`
    /// for formats in which a line depends on other pairs or takes several lines.
    fn line_maker(&self) -> Option<LineMaker>;
    /// Writes lines that [`PairWriter::line_maker`] made.
    fn write_lines(&mut self, lines: &[u8]) -> Result<()>;
    /// Writes everything after the last pair and completes the output. If a writer is dropped
    /// without this, no file remains.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A formatter that converts pairs to lines, on any thread and in any order.
#[derive(Clone)]
pub struct LineMaker {
    context: Context,
    line: Arc<dyn PairLine>,
}

impl LineMaker {
    /// Appends the line of a pair.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] for a pair without the alignment that the format needs.
    pub fn push(&self, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.line.push(&self.context, pair, out)
    }
}

/// An output format with its own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairFormat {
    /// Tab-separated values below a header line.
    Tsv(Vec<&'static Field>),
    /// The twelve columns of BLAST's format 6, without a header.
    Blast6,
    /// minimap2's pairwise mapping format with `NM`, `AS`, `de` and `cg` tags.
    Paf,
    /// BED with six columns: the parts of texts where patterns were found.
    Bed,
    /// One JSON object per line, with the fields as keys.
    JsonLines(Vec<&'static Field>),
    /// A PHYLIP distance matrix.
    Phylip {
        /// The kind of distance.
        distance: Distance,
        /// The written part of the matrix.
        shape: DistanceMatrixShape,
    },
    /// SAM: targets are references, queries are reads.
    Sam {
        /// Command line of the program, for the header.
        command: String,
    },
    /// Blocks of alignment for people to read.
    Text {
        /// Number of columns in a block.
        width: u32,
    },
}

impl PairFormat {
    /// Returns whether pairs must have alignments.
    pub fn needs_alignment(&self) -> bool {
        match self {
            PairFormat::Tsv(fields) | PairFormat::JsonLines(fields) => {
                fields.iter().any(|field| field.needs_alignment())
            }
            PairFormat::Blast6
            | PairFormat::Paf
            | PairFormat::Bed
            | PairFormat::Phylip { .. }
            | PairFormat::Sam { .. }
            | PairFormat::Text { .. } => true,
        }
    }

    /// Returns whether the format lists places where sequences are similar. Such formats skip a
    /// local alignment without columns.
    pub fn lists_hits(&self) -> bool {
        match self {
            PairFormat::Blast6
            | PairFormat::Paf
            | PairFormat::Bed
            | PairFormat::Sam { .. }
            | PairFormat::Text { .. } => true,
            PairFormat::Tsv(_) | PairFormat::JsonLines(_) | PairFormat::Phylip { .. } => false,
        }
    }

    /// Returns whether all sequences must be known before the first pair is written.
    pub fn needs_sets(&self) -> bool {
        matches!(self, PairFormat::Sam { .. } | PairFormat::Phylip { .. })
    }

    /// Checks that a writer for these sequences could be opened. This is for jobs whose results are
    /// written late.
    ///
    /// # Errors
    /// Returns the errors of [`open`].
    pub fn check(&self, context: &Context) -> Result<()> {
        self.check_contents(context)?;
        match self {
            PairFormat::Sam { .. } => sam::check(context),
            PairFormat::Phylip { shape, .. } => phylip::check(*shape, context),
            _ => Ok(()),
        }
    }

    fn check_contents(&self, context: &Context) -> Result<()> {
        match self {
            PairFormat::Tsv(fields) | PairFormat::JsonLines(fields) => context.contents.check_fields(fields),
            PairFormat::Bed if context.contents.kind != PairKind::Edit => {
                Err(Error::usage("BED describes parts of texts where a pattern was found"))
            }
            PairFormat::Bed if context.contents.kind != PairKind::Edit => {
                Err(Error::usage("BED describes parts of texts where a pattern was found"))
            }
            PairFormat::Blast6
            | PairFormat::Paf
            | PairFormat::Bed
            | PairFormat::Phylip { .. }
            | PairFormat::Sam { .. }
            | PairFormat::Text { .. } => context.contents.check_alignments(),
        }
    }

    /// Returns whether every pair must be written, so that none may be filtered.
    pub fn needs_all_pairs(&self) -> bool {
        matches!(self, PairFormat::Phylip { .. })
    }
}

/// Opens a writer of `format` for pairs of a list. Each pair is independent and has a row, even if
/// its alignment has no columns. In SAM, SEQ is repeated whenever a query is listed, and an
/// unaligned query is unmapped.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_listed(format: &PairFormat, context: Context, output: Output) -> Result<Box<dyn PairWriter>> {
    match format {
        PairFormat::Sam { command } => {
            context.contents.check_alignments()?;
            let body = Box::new(sam::PairsSam::of_list(command, &context)?);
            Ok(Box::new(FormatWriter { context, body, output }))
        }
        format => open(format, context, output),
    }
}

/// Opens a writer of PAF for pairs of intervals. Each line has positions in the whole sequences and
/// the tag `cs`. The sequences of `context` are the intervals.
///
/// # Errors
/// Returns [`Error::Usage`] if pairs lack alignments ([`Context::contents`]).
pub fn open_intervals(intervals: PafIntervals, context: Context, output: Output) -> Result<Box<dyn PairWriter>> {
    context.contents.check_alignments()?;
    Ok(Box::new(FormatWriter { context, body: Box::new(intervals), output }))
}

/// Opens a writer of `format` into `output`.
///
/// # Errors
/// Returns [`Error::Usage`] if pairs lack something that the format writes ([`Context::contents`]),
/// or if the format cannot contain the sequences.
pub fn open(format: &PairFormat, context: Context, output: Output) -> Result<Box<dyn PairWriter>> {
    format.check_contents(&context)?;
    let body: Box<dyn FormatBody> = match format {
        PairFormat::Tsv(fields) => Box::new(tsv::Tsv::new(fields)),
        PairFormat::Blast6 => Box::new(blast6::Blast6),
        PairFormat::Paf => Box::new(paf::Paf::default()),
        PairFormat::Bed => Box::new(bed::Bed),
        PairFormat::JsonLines(fields) => Box::new(jsonl::JsonLines::new(fields)),
        PairFormat::Phylip { distance, shape } => Box::new(phylip::Phylip::new(*distance, *shape, &context)?),
        PairFormat::Sam { command } => Box::new(sam::PairsSam::new(command, &context)?),
        PairFormat::Text { width } => Box::new(text::TextFormat::new(*width)),
    };
    Ok(Box::new(FormatWriter { context, body, output }))
}

#[cfg(test)]
mod tests {
    use super::captured::CapturedBytes;
    use super::*;
    use crate::seq::Alphabet;

    /// Returns 20,000 pairs of two sequences in a format, written all at once or one after the
    /// other.
    fn written(format: &PairFormat, at_once: bool) -> Result<Vec<u8>> {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        builder.push_letters("a", b"GATTACA").unwrap();
        builder.push_letters("b", b"GATCA").unwrap();
        let store = Arc::new(builder.build());
        let (targets, scoring) = (Arc::clone(&store), Scoring::truong());
        let contents = Contents { has_alignments: true, ..Contents::default() };
        let context = Context { queries: store, targets, scoring, identity: IdentityDefinition::Columns, contents };
        let cigar: Cigar = "3=2I2=".parse().expect("a CIGAR string");
        let pair = |score| OutputPair {
            query: (score % 3 == 0).into(),
            target: 1,
            strand: Strand::Plus,
            score,
            alignment: (score % 7 > 0 || score < 15_000).then_some(&cigar),
            query_start: 0,
            target_start: 0,
            counts: None,
            details: Details::None,
        };
        let pairs: Vec<OutputPair<'_>> = (0..20_000).map(pair).collect();
        let captured = CapturedBytes::default();
        let mut writer = open(format, context, Output::to_writer(captured.clone()))?;
        writer.begin()?;
        if at_once {
            writer.write_all(&pairs)?;
        } else {
            pairs.iter().try_for_each(|pair| writer.write(pair))?;
        }
        writer.finish()?;
        let bytes = captured.bytes();
        Ok(bytes)
    }

    #[test]
    fn many_pairs_at_once_are_the_same_lines() {
        let fields = Field::tsv_defaults(true);
        for format in [PairFormat::Tsv(fields.clone()), PairFormat::JsonLines(fields)] {
            let lines = written(&format, true).unwrap();
            assert!(lines.iter().filter(|&&byte| byte == b'\n').count() >= 20_000);
            assert_eq!(lines, written(&format, false).unwrap());
        }
        // A single wrong pair makes the whole call fail.
        let message = |at_once| written(&PairFormat::Blast6, at_once).unwrap_err().to_string();
        assert_eq!(message(true), message(false));
    }
}
