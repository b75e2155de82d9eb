//! Output of a search: all hits of a query at once, query after query.
//!
//! A job opens a [`SearchWriter`] with [`open`] and hands it every query in turn with its hits, the best first, and also those
//! without one: some formats say so. The sequences that were found may be in many stores, as a database is searched in chunks.

mod blast0;
mod blast7;
mod lines;
mod picture;
mod report;
mod rows;
mod sam;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Contents, Context, Details, Field, Output, Pair, PairKind};
use crate::alignment::Alignment;
use crate::error::Result;
use crate::score::{AlignmentCounts, DatabaseSize, IdentityDefinition, Scoring, Significance, Statistics};
use crate::seq::{SequenceId, SequenceStore, Strand};

/// What was searched, and how.
#[derive(Debug, Clone)]
pub struct SearchContext {
    /// The queries, with what their headers say after the names if reports are to show it.
    pub queries: Arc<SequenceStore>,
    /// The scoring scheme.
    pub scoring: Scoring,
    /// The definition of identity that was asked for.
    pub identity: IdentityDefinition,
    /// What is known of scores under that scheme.
    pub statistics: Option<Statistics>,
    /// The database's name, for reports.
    pub database: String,
    /// How much there is in it.
    pub size: DatabaseSize,
    /// Whether hits have alignments.
    pub has_alignments: bool,
}

impl SearchContext {
    /// Returns what every hit has.
    fn contents(&self) -> Contents {
        Contents { kind: PairKind::Search, has_alignments: self.has_alignments }
    }

    /// A query's name with what its header says after it.
    fn query_line(&self, query: SequenceId) -> Vec<u8> {
        rows::header(self.queries.name_bytes(query), self.queries.description(query))
    }
}

/// A sequence in which a query was found.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The query.
    pub query: SequenceId,
    /// The store that holds the subject, with its name and description.
    pub subjects: Arc<SequenceStore>,
    /// The subject in that store.
    pub subject: SequenceId,
    /// Rank of the subject among all subjects by falling length, from 0.
    pub place: u64,
    /// Index of the subject in the input, from 0.
    pub record: u64,
    /// The query's strand that was aligned.
    pub strand: Strand,
    /// Score of the best alignment.
    pub score: i64,
    /// Bits and E-value, if the scoring has statistics.
    pub significance: Option<Significance>,
    /// The alignment; `None` with scores only. On the minus strand it is that of the query's reverse complement, on which its
    /// positions are.
    pub alignment: Option<Alignment>,
    /// Counts of its columns; all 0 with scores only.
    pub counts: AlignmentCounts,
    /// Its identity, a fraction; 0 with scores only.
    pub identity: f64,
}

/// Takes the hits of a search, query after query.
pub trait SearchWriter: Send {
    /// Writes what stands before the first query. Called once, first.
    ///
    /// # Errors
    /// If the output takes no more.
    fn begin(&mut self) -> Result<()>;
    /// Writes the hits of the next query, in this order.
    ///
    /// # Errors
    /// If the output takes no more, or a hit cannot be written so.
    fn write(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()>;
    /// Writes what stands after the last query and makes the output final. Dropping a writer without this leaves no file
    /// behind.
    ///
    /// # Errors
    /// If the output takes no more.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A format of a search's output with its own options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchFormat {
    /// Tab-separated values under a header line.
    Tsv(Vec<&'static Field>),
    /// BLAST's format 6: the same without a header, of the twelve columns or of others ([`Field::blast_defaults`]).
    Blast6(Vec<&'static Field>),
    /// BLAST's format 7: format 6 with lines of comments, which also say of queries that nothing was found.
    Blast7(Vec<&'static Field>),
    /// BLAST's format 0: text for people, with alignments.
    Blast0,
    /// minimap2's pairwise mapping format.
    Paf,
    /// One JSON object a line, with the fields as keys.
    JsonLines(Vec<&'static Field>),
    /// SAM: queries are reads, and the sequences that were found are references.
    Sam {
        /// How the program was called, for the header.
        command: String,
    },
    /// A page for browsers that needs no network: pictures, tables and alignments.
    Report {
        /// What stands above all.
        title: String,
    },
}

impl SearchFormat {
    /// Whether hits must come with their alignment.
    pub fn needs_alignment(&self) -> bool {
        match self {
            SearchFormat::Tsv(fields)
            | SearchFormat::Blast6(fields)
            | SearchFormat::Blast7(fields)
            | SearchFormat::JsonLines(fields) => fields.iter().any(|field| field.needs_alignment()),
            SearchFormat::Blast0 | SearchFormat::Paf | SearchFormat::Sam { .. } | SearchFormat::Report { .. } => true,
        }
    }
}

/// A writer of `format` into `output`.
///
/// # Errors
/// [`crate::Error::Usage`] if queries cannot be written in this format, or if hits do not have what it describes.
pub fn open(format: &SearchFormat, context: SearchContext, output: Output) -> Result<Box<dyn SearchWriter>> {
    match format {
        SearchFormat::Tsv(fields)
        | SearchFormat::Blast6(fields)
        | SearchFormat::Blast7(fields)
        | SearchFormat::JsonLines(fields) => context.contents().check_fields(fields)?,
        SearchFormat::Blast0 | SearchFormat::Paf | SearchFormat::Sam { .. } | SearchFormat::Report { .. } => {
            context.contents().check_alignments()?;
        }
    }
    let body: Box<dyn Body> = match format {
        SearchFormat::Tsv(fields) => Box::new(lines::Lines::table(fields, true)),
        SearchFormat::Blast6(fields) => Box::new(lines::Lines::table(fields, false)),
        SearchFormat::Blast7(fields) => Box::new(blast7::Blast7::new(fields)),
        SearchFormat::Blast0 => Box::new(blast0::Blast0),
        SearchFormat::Paf => Box::new(lines::Lines::paf()),
        SearchFormat::JsonLines(fields) => Box::new(lines::Lines::json(fields)),
        SearchFormat::Report { title } => Box::new(report::Report::new(title)),
        SearchFormat::Sam { command } => Box::new(sam::Sam::new(command, &context.queries)?),
    };
    Ok(Box::new(Writer { all: All::new(context), body, output }))
}

/// A format: how the hits of a query become bytes, whole lines of them.
trait Body: Send {
    fn begin(&mut self, _search: &SearchContext, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    fn query(&mut self, all: &mut All, query: SequenceId, hits: &[SearchHit], output: &mut Output) -> Result<()>;

    fn end(&mut self, _search: &SearchContext, _output: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// What formats of pairs take, whose targets are those of the hit at hand.
struct All {
    search: SearchContext,
    pairs: Context,
}

impl All {
    fn new(search: SearchContext) -> Self {
        let SearchContext { queries, scoring, identity, .. } = &search;
        let [queries, targets] = [Arc::clone(queries), Arc::clone(queries)];
        let contents = search.contents();
        let pairs = Context { queries, targets, scoring: scoring.clone(), identity: *identity, contents };
        All { search, pairs }
    }

    /// A hit as a pair.
    fn pair<'a>(&mut self, query: SequenceId, hit: &'a SearchHit) -> (&Context, Pair<'a>) {
        if !Arc::ptr_eq(&self.pairs.targets, &hit.subjects) {
            self.pairs.targets = Arc::clone(&hit.subjects);
        }
        let alignment = hit.alignment.as_ref();
        let pair = Pair {
            query,
            target: hit.subject,
            strand: hit.strand,
            score: hit.score,
            alignment: alignment.map(|alignment| &alignment.cigar),
            query_start: alignment.map_or(0, |alignment| alignment.query_start),
            target_start: alignment.map_or(0, |alignment| alignment.target_start),
            counts: alignment.is_some().then_some(hit.counts),
            details: Details::Search(hit.significance),
        };
        (&self.pairs, pair)
    }

    /// Lets go of the hits' sequences.
    fn forget(&mut self) {
        self.pairs.targets = Arc::clone(&self.pairs.queries);
    }
}

struct Writer {
    all: All,
    body: Box<dyn Body>,
    output: Output,
}

impl SearchWriter for Writer {
    fn begin(&mut self) -> Result<()> {
        self.body.begin(&self.all.search, &mut self.output)
    }

    fn write(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()> {
        self.body.query(&mut self.all, query, hits, &mut self.output)?;
        self.all.forget();
        self.output.pass_on()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.body.end(&self.all.search, &mut self.output)?;
        self.output.finish()
    }
}
