//! Writers of hits: all hits of a query together, and queries without hits in input order.

use pairwave::jobs::SearchHit;
use pairwave::output::Output;
use pairwave::output::search::{self as written, SearchContext, SearchFormat, SearchWriter};
use pairwave::seq::SequenceId;
use pairwave::{Error, Result};

/// File of hits.
pub(super) struct HitFile {
    pub(super) format: SearchFormat,
    pub(super) output: Output,
}

/// Writes hits, query after query.
pub(super) struct HitWriter {
    writers: Vec<Box<dyn SearchWriter>>,
    /// The first further file that needs alignments, and its content.
    needs_alignments: Option<&'static str>,
    /// Number of queries.
    queries: SequenceId,
    next: SequenceId,
    /// Hits of the latest query, which may have more.
    open: Vec<SearchHit>,
}

impl HitWriter {
    /// Starts a file of hits, and further files with the same hits.
    pub(super) fn begin(context: SearchContext, further: Vec<HitFile>, file: HitFile) -> Result<Self> {
        let queries = context.queries.len() as SequenceId;
        let needs_alignments = further.iter().find_map(|file| match &file.format {
            SearchFormat::Report { .. } => Some("--report shows alignments"),
            format => format.needs_alignment().then_some("--hits-fasta writes aligned regions"),
        });
        let mut writers = Vec::new();
        for file in further {
            // Hits without alignments are rejected when they arrive. Blocks without hits give an
            // empty file.
            let context = SearchContext { has_alignments: true, ..context.clone() };
            writers.push(written::open(&file.format, context, file.output)?);
        }
        writers.push(written::open(&file.format, context, file.output)?);
        writers.iter_mut().try_for_each(|writer| writer.begin())?;
        Ok(HitWriter { writers, needs_alignments, queries, next: 0, open: Vec::new() })
    }

    /// Takes the next hits, of one or more queries. The last query may have more hits.
    pub(super) fn take(&mut self, hits: &[SearchHit]) -> Result<()> {
        let mut groups = hits.chunk_by(|one, other| one.query == other.query).peekable();
        while let Some(group) = groups.next() {
            if self.open.first().is_some_and(|open| open.query != group[0].query) {
                self.flush()?;
            }
            if self.open.is_empty() && groups.peek().is_some() {
                self.write(group)?;
            } else {
                self.open.extend_from_slice(group);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let hits = std::mem::take(&mut self.open);
        if hits.is_empty() { Ok(()) } else { self.write(&hits) }
    }

    /// Writes all hits of a query, after the queries without hits before it.
    fn write(&mut self, hits: &[SearchHit]) -> Result<()> {
        if let Some(need) = self.needs_alignments
            && hits.iter().any(|hit| hit.alignment.is_none())
        {
            return Err(Error::usage(format!(
                "{need}, but these blocks have none: plan the job with a format or with fields that describe alignments"
            )));
        }
        let query = hits[0].query;
        (self.next..query).try_for_each(|query| self.pass(query, &[]))?;
        self.next = query + 1;
        self.pass(query, hits)
    }

    fn pass(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()> {
        self.writers.iter_mut().try_for_each(|writer| writer.write(query, hits))
    }

    /// Writes the remaining hits and queries, and closes the files.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        (self.next..self.queries).try_for_each(|query| self.pass(query, &[]))?;
        self.writers.into_iter().try_for_each(|writer| writer.finish())
    }
}
