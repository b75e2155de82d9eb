//! Search formats with one line for each hit, which are formats of pairs.

use super::{SearchBody, SearchContext, SearchHit, SearchPairs};
use crate::error::Result;
use crate::output::jsonl::JsonLines;
use crate::output::paf::Paf;
use crate::output::tsv::Tsv;
use crate::output::{Context, Field, Output, OutputPair, PairLine};
use crate::seq::SequenceId;

pub(super) struct HitLines {
    line: Box<dyn PairLine + Send>,
    header: String,
    /// Whether the next name that is not UTF-8 causes a warning. Only the first one does.
    warns_of_names: bool,
}

impl HitLines {
    /// Creates a format of tab-separated values.
    pub(super) fn table(fields: &[&'static Field], with_header: bool) -> Self {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let header = if with_header { names.join("\t") + "\n" } else { String::new() };
        HitLines { line: Box::new(Tsv::new(fields)), header, warns_of_names: false }
    }

    pub(super) fn json(fields: &[&'static Field]) -> Self {
        let warns_of_names = fields.iter().any(|field| field.is_name());
        HitLines { line: Box::new(JsonLines::new(fields)), header: String::new(), warns_of_names }
    }

    pub(super) fn paf() -> Self {
        HitLines { line: Box::new(Paf::default()), header: String::new(), warns_of_names: false }
    }
}

impl SearchBody for HitLines {
    fn begin(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        output.buffer().extend_from_slice(self.header.as_bytes());
        Ok(())
    }

    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()> {
        for hit in hits {
            let (context, pair) = all.pair(query, hit);
            if self.warns_of_names && is_foreign(context, &pair) {
                tracing::warn!(
                    "names are not UTF-8, as JSON has to be: U+FFFD stands for what is not; tsv has every byte"
                );
                self.warns_of_names = false;
            }
            self.line.push(context, &pair, output.buffer())?;
            output.pass_on()?;
        }
        Ok(())
    }
}

/// Returns whether a name is not UTF-8.
fn is_foreign(context: &Context, pair: &OutputPair<'_>) -> bool {
    let names = [context.queries.name_bytes(pair.query), context.targets.name_bytes(pair.target)];
    names.into_iter().any(|name| std::str::from_utf8(name).is_err())
}
