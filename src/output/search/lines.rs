//! Formats of one line a hit: those of pairs.

use super::{All, Body, SearchContext, SearchHit};
use crate::error::Result;
use crate::output::jsonl::JsonLines;
use crate::output::paf::Paf;
use crate::output::tsv::Tsv;
use crate::output::{Field, Line, Output};
use crate::seq::SequenceId;

pub(super) struct Lines {
    line: Box<dyn Line + Send>,
    header: String,
}

impl Lines {
    /// Values between tabs.
    pub(super) fn table(fields: &[&'static Field], with_header: bool) -> Self {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let header = if with_header { names.join("\t") + "\n" } else { String::new() };
        Lines { line: Box::new(Tsv::new(fields)), header }
    }

    pub(super) fn json(fields: &[&'static Field]) -> Self {
        Lines { line: Box::new(JsonLines::new(fields)), header: String::new() }
    }

    pub(super) fn paf() -> Self {
        Lines { line: Box::new(Paf), header: String::new() }
    }
}

impl Body for Lines {
    fn begin(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        output.buffer().extend_from_slice(self.header.as_bytes());
        Ok(())
    }

    fn query(&mut self, all: &mut All, query: SequenceId, hits: &[SearchHit<'_>], output: &mut Output) -> Result<()> {
        for hit in hits {
            let (context, pair) = all.pair(query, hit);
            self.line.push(context, &pair, output.buffer())?;
            output.pass_on()?;
        }
        Ok(())
    }
}
