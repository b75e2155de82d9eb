//! Output: what the jobs hand over, written in one of several formats.
//!
//! A job opens a [`PairWriter`] with [`open`] and hands it every [`Pair`] in the order in which they are to be
//! written. The formats themselves (one small file each) only turn a pair into bytes; where the bytes go is
//! [`Output`]'s business: a file that appears whole or not at all, compressed if its name says so, or standard output.
//!
//! The alignments of one pair of very long sequences come all at once, and in two formats more: [`long`], and [`dotplot`] for
//! their picture.
//!
//! Reads that lie in a reference alignment are written as rows of one alignment: [`placed`].
//!
//! The hits of a search come query after query: [`search`].
//!
//! Multiple alignments have formats of their own, distances and a page for people among them: [`msa`].
//!
//! The bytes depend on the pairs alone: no date, no program path, no floating point that is not correctly rounded.

#[doc(hidden)]
pub mod columns;
pub mod distance;
pub mod dotplot;
pub mod fields;
pub mod long;
mod long_context;
pub mod msa;
pub mod placed;
pub mod search;
pub mod sink;

mod blast6;
mod compress;
mod jsonl;
mod numbers;
mod paf;
mod phylip;
mod sam;
#[cfg(feature = "plot")]
mod strokes;
mod text;
pub(crate) mod ticks;
mod tsv;

use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::score::{AlignmentCounts, IdentityDefinition, Mode, Scoring, Significance};
use crate::seq::{Code, SequenceId, SequenceStore, Strand, reverse_complement};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

#[doc(hidden)]
pub use crate::files::temporary::for_each as for_each_temporary;
pub use columns::{Columns, Range32};
pub use compress::Compression;
pub use distance::Distance;
pub use fields::{EDIT_FIELDS, EditDefaults, FIELDS, Field, LONG_FIELDS, SEARCH_FIELDS};
pub use long::{Found, LongContext, LongFormat};
pub use phylip::MatrixShape;
pub use placed::{Best, BestTable, Extent, PlacedFormat, PlacedRead, PlacedWriter, ReferenceRows};
pub use search::{SearchContext, SearchFormat, SearchHit, SearchWriter};
pub use sink::Output;

/// One pair that was compared.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The sequence that is first in input order: an index into [`Context::queries`].
    pub query: SequenceId,
    /// The other: an index into [`Context::targets`].
    pub target: SequenceId,
    /// The query's strand that was compared, where [`Context::queries`] has the forward one. (Of a hit of a long pair it
    /// is plus: [`Hit`] says which strand that is.)
    pub strand: Strand,
    /// Score of the best alignment.
    pub score: i64,
    /// That alignment; `None` if only scores were asked for.
    pub alignment: Option<&'a Cigar>,
    /// Query symbols before its first column, on the strand that was compared; 0 unless it is local.
    pub query_start: u32,
    /// Target symbols before its first column.
    pub target_start: u32,
    /// Its columns, if they are counted already: going over a million alignments again takes longer than writing them.
    pub counts: Option<AlignmentCounts>,
    /// Results that only one job has.
    pub details: Details<'a>,
}

/// Results of a pair that only one job has.
#[derive(Debug, Clone, Copy, Default)]
pub enum Details<'a> {
    /// None: the pair was compared as a whole or locally.
    #[default]
    None,
    /// The distance of a pattern (the query) and a part of a text (the target).
    Edit(Edits<'a>),
    /// The strand and the end of an alignment of two very long sequences.
    Long(Hit),
    /// The significance of a hit of a search; `None` where the scoring has no statistics.
    Search(Option<Significance>),
}

impl<'a> Pair<'a> {
    /// Returns whether the query's reverse complement was compared.
    fn is_reverse(&self) -> bool {
        self.strand == Strand::Minus || self.long_hit().is_some_and(|hit| hit.is_reverse)
    }

    /// Returns the distance, if this is a pattern in a text.
    fn edits(&self) -> Option<Edits<'a>> {
        if let Details::Edit(edits) = self.details { Some(edits) } else { None }
    }

    /// Returns strand and end, if these are two very long sequences.
    fn long_hit(&self) -> Option<Hit> {
        if let Details::Long(hit) = self.details { Some(hit) } else { None }
    }

    /// Returns the significance, if this is a hit of a search and it is known.
    fn significance(&self) -> Option<Significance> {
        if let Details::Search(significance) = self.details { significance } else { None }
    }
}

/// The job that pairs belong to, which decides their [`Details`].
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

/// What every pair of a writer has. Formats check it when they are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contents {
    /// The job.
    pub kind: PairKind,
    /// Whether pairs have alignments.
    pub has_alignments: bool,
}

impl Contents {
    /// Checks that pairs have what these fields describe.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the first field that pairs do not have.
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
    /// [`Error::Usage`] if they have none.
    fn check_alignments(self) -> Result<()> {
        if self.has_alignments {
            return Ok(());
        }
        Err(Error::usage("the output format needs alignments, but only scores are computed"))
    }
}

/// An alignment of two very long sequences: what is known of it even if it was only scored. The pair's query is the strand
/// that was aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Whether that is the reverse complement of what the file has. Written positions are those of the file's strand.
    pub is_reverse: bool,
    /// Query symbols, of the strand that was aligned, up to its end.
    pub query_end: u32,
    /// Target symbols up to its end.
    pub target_end: u32,
}

impl Hit {
    /// A part of the query as the file has it, which is so long.
    pub(crate) fn in_file(self, part: Range32, length: u32) -> Range32 {
        if self.is_reverse { Range32 { start: length - part.end, end: length - part.start } } else { part }
    }
}

/// A pattern in a text: what is known without an alignment. If there is one, it is of all of the pattern with the part
/// of the text from [`Pair::target_start`] to `end`.
#[derive(Debug, Clone, Copy)]
pub struct Edits<'a> {
    /// The least distance.
    pub distance: u32,
    /// Text symbols up to the end of the first part of that distance.
    pub end: u32,
    /// Where in the text the pattern was looked for.
    pub region: Range32,
    /// All ends within the limit, each with its distance, if they were asked for.
    pub ends: &'a [(u32, u32)],
}

/// What a pair's numbers refer to.
#[derive(Debug, Clone)]
pub struct Context {
    /// The sequences that [`Pair::query`] counts.
    pub queries: Arc<SequenceStore>,
    /// The sequences that [`Pair::target`] counts: the same store in an all-against-all of one file.
    pub targets: Arc<SequenceStore>,
    /// The scoring scheme.
    pub scoring: Scoring,
    /// The definition of identity that was asked for.
    pub identity: IdentityDefinition,
    /// What every pair has.
    pub contents: Contents,
}

impl Context {
    /// Whether queries and targets are one set, of which every unordered pair is compared once.
    pub fn is_one_set(&self) -> bool {
        Arc::ptr_eq(&self.queries, &self.targets)
    }

    /// The query's strand that was compared.
    fn query_codes(&self, pair: &Pair<'_>) -> Cow<'_, [Code]> {
        let forward = self.queries.codes(pair.query);
        match pair.strand {
            Strand::Plus => Cow::Borrowed(forward),
            Strand::Minus => Cow::Owned(reverse_complement(forward)),
        }
    }

    /// The facts of one alignment of `pair`, the query's spans on the strand that its file has; an error if it was only
    /// scored.
    fn columns(&self, pair: &Pair<'_>) -> Result<Columns> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let whole = |length| Range32 { start: 0, end: length };
        let part = |start: u32, symbols: u64| Range32 { start, end: start + symbols as u32 };
        let (query, target) = match self.scoring.mode {
            Mode::Global if pair.edits().is_some() => {
                (whole(self.queries.length(pair.query)), part(pair.target_start, cigar.target_span()))
            }
            Mode::Global => (whole(self.queries.length(pair.query)), whole(self.targets.length(pair.target))),
            Mode::Local => (part(pair.query_start, cigar.query_span()), part(pair.target_start, cigar.target_span())),
        };
        let mut columns = Columns::of(cigar, pair.counts.unwrap_or_else(|| cigar.counts()), query, target);
        if pair.strand == Strand::Minus {
            let length = self.queries.length(pair.query);
            for span in [&mut columns.query, &mut columns.whole_query] {
                *span = Range32 { start: length - span.end, end: length - span.start };
            }
        }
        Ok(columns)
    }
}

/// Takes the pairs of a job in the order in which they are to be written.
pub trait PairWriter: Send {
    /// Writes what stands before the first pair. Called once, first.
    fn begin(&mut self) -> Result<()>;
    /// Writes one pair.
    fn write(&mut self, pair: &Pair<'_>) -> Result<()>;
    /// From here on the numbers of pairs are those of other sets, where formats do not need all of them at the beginning
    /// ([`Format::needs_sets`]).
    fn go_on_with(&mut self, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> Result<()>;
    /// Writes many pairs, on the threads of the current pool if that pays.
    fn write_all(&mut self, pairs: &[Pair<'_>]) -> Result<()>;
    /// How a pair becomes a line, with the sets as they are now; `None` of a format in which it takes more than the
    /// pair, or pages.
    fn line_maker(&self) -> Option<LineMaker>;
    /// Writes lines of pairs that [`PairWriter::line_maker`] made.
    fn write_lines(&mut self, lines: &[u8]) -> Result<()>;
    /// Writes what stands after the last pair and makes the output final. Dropping a writer without this leaves no
    /// file behind.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Makes lines of pairs, on any thread and in any order.
#[derive(Clone)]
pub struct LineMaker {
    context: Context,
    line: Arc<dyn Line>,
}

impl LineMaker {
    /// Appends the line of a pair.
    ///
    /// # Errors
    /// [`Error::Internal`] of a pair without the alignment that the format needs.
    pub fn push(&self, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.line.push(&self.context, pair, out)
    }
}

/// An output format with its own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Tab-separated values under a header line.
    Tsv(Vec<&'static Field>),
    /// The twelve columns of BLAST's format 6, without a header.
    Blast6,
    /// minimap2's pairwise mapping format with `NM`, `AS`, `de` and `cg` tags.
    Paf,
    /// One JSON object a line, with the fields as keys.
    JsonLines(Vec<&'static Field>),
    /// A PHYLIP distance matrix.
    Phylip {
        /// How far apart two sequences are.
        distance: Distance,
        /// Which half is written.
        shape: MatrixShape,
    },
    /// SAM: targets are references, queries are reads.
    Sam {
        /// How the program was called, for the header.
        command: String,
    },
    /// Blocks of alignment for people.
    Text {
        /// Columns of a block.
        width: u32,
    },
}

impl Format {
    /// Whether pairs must come with their alignment.
    pub fn needs_alignment(&self) -> bool {
        match self {
            Format::Tsv(fields) | Format::JsonLines(fields) => fields.iter().any(|field| field.needs_alignment()),
            Format::Blast6 | Format::Paf | Format::Phylip { .. } | Format::Sam { .. } | Format::Text { .. } => true,
        }
    }

    /// Whether it lists places where sequences are alike: there is none to write of a local alignment without a column.
    pub fn lists_hits(&self) -> bool {
        matches!(self, Format::Blast6 | Format::Paf | Format::Sam { .. } | Format::Text { .. })
    }

    /// Whether all sequences have to be known before the first pair is written.
    pub fn needs_sets(&self) -> bool {
        matches!(self, Format::Sam { .. } | Format::Phylip { .. })
    }

    /// Whether every pair must come: nothing may be filtered.
    pub fn needs_all_pairs(&self) -> bool {
        matches!(self, Format::Phylip { .. })
    }
}

/// A writer of `format` into `output`, for pairs of a list: each is by itself and has a row, also one without a column. (In
/// SAM every query has SEQ as often as it is listed, and one that is not aligned is unmapped.)
///
/// # Errors
/// As [`open`].
pub fn open_listed(format: &Format, context: Context, output: Output) -> Result<Box<dyn PairWriter>> {
    match format {
        Format::Sam { command } => {
            context.contents.check_alignments()?;
            let body = Box::new(sam::Sam::of_list(command, &context)?);
            Ok(Box::new(Writer { context, body, output }))
        }
        format => open(format, context, output),
    }
}

/// A writer of `format` into `output`.
///
/// # Errors
/// [`Error::Usage`] if pairs do not have what the format writes ([`Context::contents`]), or if sequences cannot be written in
/// the format.
pub fn open(format: &Format, context: Context, output: Output) -> Result<Box<dyn PairWriter>> {
    match format {
        Format::Tsv(fields) | Format::JsonLines(fields) => context.contents.check_fields(fields)?,
        Format::Blast6 | Format::Paf | Format::Phylip { .. } | Format::Sam { .. } | Format::Text { .. } => {
            context.contents.check_alignments()?;
        }
    }
    let body: Box<dyn Body> = match format {
        Format::Tsv(fields) => Box::new(tsv::Tsv::new(fields)),
        Format::Blast6 => Box::new(blast6::Blast6),
        Format::Paf => Box::new(paf::Paf),
        Format::JsonLines(fields) => Box::new(jsonl::JsonLines::new(fields)),
        Format::Phylip { distance, shape } => Box::new(phylip::Phylip::new(*distance, *shape, &context)?),
        Format::Sam { command } => Box::new(sam::Sam::new(command, &context)?),
        Format::Text { width } => Box::new(text::Text::new(*width)),
    };
    Ok(Box::new(Writer { context, body, output }))
}

/// Where a format's bytes go.
trait Bytes {
    fn buffer(&mut self) -> &mut Vec<u8>;
    /// Hands on what is there, if it can be and pays.
    fn pass_on(&mut self) -> Result<()>;
}

impl Bytes for Output {
    fn buffer(&mut self) -> &mut Vec<u8> {
        Output::buffer(self)
    }

    fn pass_on(&mut self) -> Result<()> {
        Output::pass_on(self)
    }
}

impl Bytes for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn pass_on(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A format: how pairs become bytes. It appends to the output's buffer, whole lines at a time.
trait Body: Send {
    fn begin(&mut self, _context: &Context, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    /// The sets are others now.
    fn go_on(&mut self, _context: &Context) -> Result<()> {
        Ok(())
    }

    /// How a pair becomes a line, if it does so by itself.
    fn lines(&self) -> Option<&dyn Line>;

    /// The same for other threads, if lines are so short that those of many pairs may wait for their turn.
    fn shared_line(&self) -> Option<Arc<dyn Line>> {
        None
    }

    /// Takes a pair that does not become a line.
    fn pair(&mut self, _context: &Context, _pair: &Pair<'_>, _output: &mut Output) -> Result<()> {
        Err(Error::Internal("a format without lines has to take pairs".into()))
    }

    fn end(&mut self, _context: &Context, _output: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// A format of one line a pair.
trait Line: Send + Sync {
    fn push(&self, context: &Context, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()>;
}

/// Pairs that a thread makes lines of at once.
const PAIRS_A_PIECE: usize = 1 << 10;

struct Writer {
    context: Context,
    body: Box<dyn Body>,
    output: Output,
}

impl PairWriter for Writer {
    fn begin(&mut self) -> Result<()> {
        self.body.begin(&self.context, &mut self.output)
    }

    fn go_on_with(&mut self, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> Result<()> {
        let context = &mut self.context;
        if Arc::ptr_eq(&context.queries, queries) && Arc::ptr_eq(&context.targets, targets) {
            return Ok(());
        }
        (context.queries, context.targets) = (Arc::clone(queries), Arc::clone(targets));
        self.body.go_on(context)
    }

    fn write(&mut self, pair: &Pair<'_>) -> Result<()> {
        match self.body.lines() {
            Some(line) => line.push(&self.context, pair, self.output.buffer())?,
            None => self.body.pair(&self.context, pair, &mut self.output)?,
        }
        self.output.pass_on()
    }

    fn write_all(&mut self, pairs: &[Pair<'_>]) -> Result<()> {
        let Some(line) = self.body.lines().filter(|_| pairs.len() > PAIRS_A_PIECE) else {
            return pairs.iter().try_for_each(|pair| self.write(pair));
        };
        let context = &self.context;
        let piece = |pairs: &[Pair<'_>]| {
            let mut out = Vec::new();
            pairs.iter().try_for_each(|pair| line.push(context, pair, &mut out)).map(|()| out)
        };
        let pieces: Result<Vec<Vec<u8>>> = pairs.par_chunks(PAIRS_A_PIECE).map(piece).collect();
        for piece in pieces? {
            self.output.buffer().extend_from_slice(&piece);
            self.output.pass_on()?;
        }
        Ok(())
    }

    fn line_maker(&self) -> Option<LineMaker> {
        Some(LineMaker { context: self.context.clone(), line: self.body.shared_line()? })
    }

    fn write_lines(&mut self, lines: &[u8]) -> Result<()> {
        self.output.append(lines)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.body.end(&self.context, &mut self.output)?;
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;
    use std::io::{self, Write};
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Tape(Arc<Mutex<Vec<u8>>>);

    impl Write for Tape {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a format makes of 20,000 pairs of two sequences, all at once or one after the other.
    fn written(format: &Format, at_once: bool) -> Result<Vec<u8>> {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        builder.push_letters("a", b"GATTACA").unwrap();
        builder.push_letters("b", b"GATCA").unwrap();
        let store = Arc::new(builder.build());
        let (targets, scoring) = (Arc::clone(&store), Scoring::truong());
        let contents = Contents { has_alignments: true, ..Contents::default() };
        let context = Context { queries: store, targets, scoring, identity: IdentityDefinition::Columns, contents };
        let cigar: Cigar = "3=2I2=".parse().expect("a CIGAR string");
        let pair = |score| Pair {
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
        let pairs: Vec<Pair<'_>> = (0..20_000).map(pair).collect();
        let tape = Tape::default();
        let mut writer = open(format, context, Output::to_writer(tape.clone()))?;
        writer.begin()?;
        if at_once {
            writer.write_all(&pairs)?;
        } else {
            pairs.iter().try_for_each(|pair| writer.write(pair))?;
        }
        writer.finish()?;
        let bytes = tape.0.lock().unwrap().clone();
        Ok(bytes)
    }

    #[test]
    fn many_pairs_at_once_are_the_same_lines() {
        let fields = Field::tsv_defaults(true);
        for format in [Format::Tsv(fields.clone()), Format::JsonLines(fields)] {
            let lines = written(&format, true).unwrap();
            assert!(lines.iter().filter(|&&byte| byte == b'\n').count() >= 20_000);
            assert_eq!(lines, written(&format, false).unwrap());
        }
        // What is wrong with one of them is wrong with all.
        let message = |at_once| written(&Format::Blast6, at_once).unwrap_err().to_string();
        assert_eq!(message(true), message(false));
    }
}
