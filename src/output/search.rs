//! Output of a search: all hits of a query at once, query by query.
//!
//! A job opens a [`SearchWriter`] with [`open`] and passes it every query in turn with its hits,
//! the best first. The hits of a subject are adjacent. Queries without hits are passed too, because
//! some formats mention them. The subjects may be in several stores, because a database is searched in chunks.

mod blast0;
mod blast7;
mod lines;
mod report;
mod rows;
mod sam;
mod sequences;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use super::{Contents, Context, Details, Field, HitDetails, Output, OutputPair, PairKind};
use crate::alignment::Alignment;
use crate::error::Result;
use crate::score::{AlignmentCounts, DatabaseSize, IdentityDefinition, Scoring, Significance, Statistics};
use crate::seq::{SequenceId, SequenceStore, Strand, Subjects};

/// The searched database, and parameters of the search.
#[derive(Debug, Clone)]
pub struct SearchContext {
    /// The queries, with their descriptions if reports show them.
    pub queries: Arc<SequenceStore>,
    /// The scoring scheme.
    pub scoring: Scoring,
    /// The chosen definition of identity.
    pub identity: IdentityDefinition,
    /// Statistics of scores under the scheme, if known.
    pub statistics: Option<Statistics>,
    /// Name of the database, for reports.
    pub database: String,
    /// Size of the database.
    pub size: DatabaseSize,
    /// Whether hits have alignments.
    pub has_alignments: bool,
}

impl SearchContext {
    /// Returns the contents of every hit.
    fn contents(&self) -> Contents {
        Contents { kind: PairKind::Search, has_alignments: self.has_alignments }
    }

    /// Returns a query's name and description.
    fn query_line(&self, query: SequenceId) -> Vec<u8> {
        rows::header(self.queries.name_bytes(query), self.queries.description(query))
    }
}

/// An alignment of a query with a subject, local or end to end. A subject may have several hits.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The query.
    pub query: SequenceId,
    /// Store of the subject, with its name and description.
    pub subjects: Arc<SequenceStore>,
    /// Index of the subject in that store.
    pub subject: SequenceId,
    /// Rank of the subject among all subjects in order of decreasing length, from 0.
    pub subject_index: u64,
    /// Index of the subject in the input, from 0.
    pub record: u64,
    /// Aligned strand of the query.
    pub strand: Strand,
    /// Score of the alignment.
    pub score: i64,
    /// Bits and E-value, if the scoring has statistics.
    pub significance: Option<Significance>,
    /// The alignment; `None` if only scores were computed. On the minus strand, it aligns the
    /// query's reverse complement, and its positions refer to that.
    pub alignment: Option<Alignment>,
    /// Column counts of the alignment; all 0 without alignments.
    pub counts: AlignmentCounts,
    /// Identity as a fraction; 0 without alignments.
    pub identity: f64,
}

/// A writer that accepts the hits of a search, query by query.
pub trait SearchWriter: Send {
    /// Writes everything before the first query. Must be called once, before all other methods.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn begin(&mut self) -> Result<()>;
    /// Writes the hits of the next query, in this order.
    ///
    /// # Errors
    /// Returns an error if writing fails, or if the format cannot contain a hit.
    fn write(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()>;
    /// Writes everything after the last query and completes the output. If a writer is dropped
    /// without this, no file remains.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A format of search output with its own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchFormat {
    /// Tab-separated values below a header line.
    Tsv(Vec<&'static Field>),
    /// BLAST's format 6: tab-separated values without a header, with the twelve default columns or
    /// others ([`Field::blast_defaults`]).
    Blast6(Vec<&'static Field>),
    /// BLAST's format 7: format 6 with comment lines, which also mention queries without hits.
    Blast7(Vec<&'static Field>),
    /// BLAST's format 0: text with alignments for people to read.
    Blast0,
    /// minimap2's pairwise mapping format.
    Paf,
    /// One JSON object per line, with the fields as keys.
    JsonLines(Vec<&'static Field>),
    /// SAM: queries are reads, and the subjects of hits are references.
    Sam {
        /// Command line of the program, for the header.
        command: String,
    },
    /// An HTML page that needs no network, with pictures, tables and alignments.
    Report {
        /// Heading of the page.
        title: String,
    },
    /// FASTA of the targets of hits. A target or region with several hits is written once.
    Sequences(HitPart),
}

/// The written part of a hit's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitPart {
    /// The aligned symbols, in the direction of the query. The name of a region counts positions
    /// from 1: `name:start-end`, or `name:cend-start` for a reverse complement.
    Region {
        /// Number of symbols that are added on both sides, as far as the target has them.
        flank: u32,
    },
    /// The whole target as it is stored, with its name.
    Whole,
}

impl SearchFormat {
    /// Returns whether hits must have alignments.
    pub fn needs_alignment(&self) -> bool {
        match self {
            SearchFormat::Tsv(fields)
            | SearchFormat::Blast6(fields)
            | SearchFormat::Blast7(fields)
            | SearchFormat::JsonLines(fields) => fields.iter().any(|field| field.needs_alignment()),
            SearchFormat::Blast0 | SearchFormat::Paf | SearchFormat::Sam { .. } | SearchFormat::Report { .. } => true,
            SearchFormat::Sequences(part) => *part != HitPart::Whole,
        }
    }

    /// Checks that the format can contain hits of all queries with all subjects. This is for
    /// searches whose results are written late: a writer checks only the subjects of hits.
    ///
    /// # Errors
    /// Returns the errors of [`open`], [`SearchWriter::write`] and [`Subjects::chunk`].
    pub fn check(&self, context: &SearchContext, subjects: &Subjects) -> Result<()> {
        self.check_contents(context.contents())?;
        match self {
            SearchFormat::Sam { .. } => sam::check(&context.queries, subjects),
            _ => Ok(()),
        }
    }

    fn check_contents(&self, contents: Contents) -> Result<()> {
        match self {
            SearchFormat::Tsv(fields)
            | SearchFormat::Blast6(fields)
            | SearchFormat::Blast7(fields)
            | SearchFormat::JsonLines(fields) => contents.check_fields(fields),
            SearchFormat::Blast0 | SearchFormat::Paf | SearchFormat::Sam { .. } | SearchFormat::Report { .. } => {
                contents.check_alignments()
            }
            SearchFormat::Sequences(HitPart::Region { .. }) => contents.check_alignments(),
            SearchFormat::Sequences(HitPart::Whole) => Ok(()),
        }
    }
}

/// Opens a writer of `format` into `output`.
///
/// # Errors
/// Returns [`crate::Error::Usage`] if the format cannot contain the queries, or if hits lack
/// something that it writes.
pub fn open(format: &SearchFormat, context: SearchContext, output: Output) -> Result<Box<dyn SearchWriter>> {
    format.check_contents(context.contents())?;
    let body: Box<dyn SearchBody> = match format {
        SearchFormat::Tsv(fields) => Box::new(lines::HitLines::table(fields, true)),
        SearchFormat::Blast6(fields) => Box::new(lines::HitLines::table(fields, false)),
        SearchFormat::Blast7(fields) => Box::new(blast7::Blast7::new(fields)),
        SearchFormat::Blast0 => Box::new(blast0::Blast0),
        SearchFormat::Paf => Box::new(lines::HitLines::paf()),
        SearchFormat::JsonLines(fields) => Box::new(lines::HitLines::json(fields)),
        SearchFormat::Report { title } => Box::new(report::SearchReport::new(title)),
        SearchFormat::Sequences(part) => Box::new(sequences::HitSequences::new(*part)),
        SearchFormat::Sam { command } => Box::new(sam::SearchSam::new(command, &context.queries)?),
    };
    Ok(Box::new(SearchFormatWriter { all: SearchPairs::new(context), body, output }))
}

/// A format: converts the hits of a query to whole lines.
trait SearchBody: Send {
    fn begin(&mut self, _search: &SearchContext, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()>;

    fn end(&mut self, _search: &SearchContext, _output: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// The search and the context of its pairs, whose targets are the store of the current hit.
struct SearchPairs {
    search: SearchContext,
    pairs: Context,
    /// Number of query symbols that the hits of the current query span, by subject. Contains only
    /// subjects with several hits.
    spanned: HashMap<u64, u32>,
}

impl SearchPairs {
    fn new(search: SearchContext) -> Self {
        let SearchContext { queries, scoring, identity, .. } = &search;
        let [queries, targets] = [Arc::clone(queries), Arc::clone(queries)];
        let contents = search.contents();
        let pairs = Context { queries, targets, scoring: scoring.clone(), identity: *identity, contents };
        SearchPairs { search, pairs, spanned: HashMap::new() }
    }

    /// Starts a query with these hits.
    fn begin_query(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()> {
        self.spanned.clear();
        for hits in hits_by_subject(hits).filter(|hits| hits.len() > 1) {
            let mut spans = Vec::with_capacity(hits.len());
            for hit in hits.iter().filter(|hit| hit.alignment.is_some()) {
                let (context, pair) = self.pair(query, hit);
                let span = context.columns(&pair)?.whole_query;
                spans.push((span.start, span.end));
            }
            self.spanned.insert(hits[0].record, union_length(spans));
        }
        Ok(())
    }

    /// Returns a hit as a pair.
    fn pair<'a>(&mut self, query: SequenceId, hit: &'a SearchHit) -> (&Context, OutputPair<'a>) {
        if !Arc::ptr_eq(&self.pairs.targets, &hit.subjects) {
            self.pairs.targets = Arc::clone(&hit.subjects);
        }
        let alignment = hit.alignment.as_ref();
        let pair = OutputPair {
            query,
            target: hit.subject,
            strand: hit.strand,
            score: hit.score,
            alignment: alignment.map(|alignment| &alignment.cigar),
            query_start: alignment.map_or(0, |alignment| alignment.query_start),
            target_start: alignment.map_or(0, |alignment| alignment.target_start),
            counts: alignment.is_some().then_some(hit.counts),
            details: Details::Search(HitDetails {
                significance: hit.significance,
                spanned_by_all: self.spanned.get(&hit.record).copied(),
            }),
        };
        (&self.pairs, pair)
    }

    /// Releases the sequences of hits.
    fn release_sequences(&mut self) {
        self.pairs.targets = Arc::clone(&self.pairs.queries);
    }
}

/// Returns the hits of each subject, which are adjacent.
fn hits_by_subject(hits: &[SearchHit]) -> impl Iterator<Item = &[SearchHit]> {
    hits.chunk_by(|one, other| one.record == other.record)
}

/// Returns the number of positions in these ranges, counting each position once.
fn union_length(mut ranges: Vec<(u32, u32)>) -> u32 {
    ranges.sort_unstable();
    let (mut length, mut reached) = (0, 0);
    for (start, end) in ranges {
        length += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    length
}

struct SearchFormatWriter {
    all: SearchPairs,
    body: Box<dyn SearchBody>,
    output: Output,
}

impl SearchWriter for SearchFormatWriter {
    fn begin(&mut self) -> Result<()> {
        self.body.begin(&self.all.search, &mut self.output)
    }

    fn write(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()> {
        self.all.begin_query(query, hits)?;
        self.body.query(&mut self.all, query, hits, &mut self.output)?;
        self.all.release_sequences();
        self.output.pass_on()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.body.end(&self.all.search, &mut self.output)?;
        self.output.finish()
    }
}
