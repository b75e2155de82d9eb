//! Hits on their way to files: all of a query at once, and queries without any in their turn.

use pairwave::jobs::SearchHit;
use pairwave::output::Output;
use pairwave::output::search::{self as written, SearchContext, SearchFormat, SearchWriter};
use pairwave::seq::SequenceId;
use pairwave::{Error, Result};
use std::path::Path;

/// A file of hits.
pub(super) struct HitFile {
    pub(super) format: SearchFormat,
    pub(super) output: Output,
}

/// Writes hits, query after query.
pub(super) struct HitWriter {
    writers: Vec<Box<dyn SearchWriter>>,
    /// Whether one of these is a page, which shows alignments.
    has_page: bool,
    /// Queries in all, and the next that was not written.
    queries: SequenceId,
    next: SequenceId,
    /// Hits of the last query that came, of which there may be more.
    open: Vec<SearchHit>,
}

impl HitWriter {
    /// Into a file, and a page if one is to be written.
    pub(super) fn begin(context: SearchContext, page: Option<HitFile>, file: HitFile) -> Result<Self> {
        let (queries, has_page) = (context.queries.len() as SequenceId, page.is_some());
        let mut writers = Vec::new();
        if let Some(page) = page {
            // Hits without alignments are refused when they come: blocks without hits make an empty page.
            let context = SearchContext { has_alignments: true, ..context.clone() };
            writers.push(written::open(&page.format, context, page.output)?);
        }
        writers.push(written::open(&file.format, context, file.output)?);
        writers.iter_mut().try_for_each(|writer| writer.begin())?;
        Ok(HitWriter { writers, has_page, queries, next: 0, open: Vec::new() })
    }

    /// Takes the next hits: of some queries, the last of which may have more.
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

    /// Writes all hits of a query, after queries without any.
    fn write(&mut self, hits: &[SearchHit]) -> Result<()> {
        if self.has_page && hits.iter().any(|hit| hit.alignment.is_none()) {
            return Err(Error::usage(
                "--report shows alignments, but these blocks have none: plan the job with a format or with \
            fields that describe alignments",
            ));
        }
        let query = hits[0].query;
        (self.next..query).try_for_each(|query| self.pass(query, &[]))?;
        self.next = query + 1;
        self.pass(query, hits)
    }

    fn pass(&mut self, query: SequenceId, hits: &[SearchHit]) -> Result<()> {
        self.writers.iter_mut().try_for_each(|writer| writer.write(query, hits))
    }

    /// There is nothing more to come.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        (self.next..self.queries).try_for_each(|query| self.pass(query, &[]))?;
        self.writers.into_iter().try_for_each(|writer| writer.finish())
    }
}

/// A file's name without its folder, to be shown.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}
