//! The format `jsonl`: one JSON object and one line for each pair, with keys in the order of the
//! fields.

use super::fields::{Field, PairFacts, Quotes};
use super::{Context, FormatBody, Output, OutputPair, PairLine};
use crate::error::Result;
use crate::seq::{SequenceId, SequenceStore};
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct JsonLines {
    fields: Vec<&'static Field>,
    /// Whether a warning about names that JSON cannot contain was given.
    has_warned: bool,
}

impl JsonLines {
    pub(super) fn new(fields: &[&'static Field]) -> Self {
        JsonLines { fields: fields.to_vec(), has_warned: false }
    }
}

impl FormatBody for JsonLines {
    fn begin(&mut self, context: &Context, _output: &mut Output) -> Result<()> {
        let targets = if context.is_one_set() { 0 } else { context.targets.foreign_names() };
        let count = context.queries.foreign_names() + targets;
        if count > 0 && self.fields.iter().any(|field| field.is_name()) {
            let names = if count == 1 { "1 name is" } else { &format!("{count} names are") };
            tracing::warn!("{names} not UTF-8, as JSON has to be: U+FFFD stands for what is not; tsv has every byte");
            self.has_warned = true;
        }
        Ok(())
    }

    /// Warns about the first such name only, because the number of later ones is unknown.
    fn accept_context(&mut self, context: &Context) -> Result<()> {
        let foreign = |store: &SequenceStore| (0..store.len() as SequenceId).find(|&id| is_foreign(store, id));
        let (queries, targets) = (&context.queries, &context.targets);
        let first = foreign(queries).map(|id| queries.name(id));
        if !self.has_warned
            && let Some(name) = first.or_else(|| foreign(targets).map(|id| targets.name(id)))
            && self.fields.iter().any(|field| field.is_name())
        {
            tracing::warn!(
                "'{name}' and perhaps other names are not UTF-8, as JSON has to be: U+FFFD stands for what is not; tsv \
                 has every byte"
            );
            self.has_warned = true;
        }
        Ok(())
    }

    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

fn is_foreign(store: &SequenceStore, id: SequenceId) -> bool {
    store.name_bytes(id) != store.name(id).as_bytes()
}

impl PairLine for JsonLines {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let facts = PairFacts::new(context, pair)?;
        for (at, field) in self.fields.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"" } else { b",\"" });
            out.extend_from_slice(field.name.as_bytes());
            out.extend_from_slice(b"\":");
            facts.push(field, Quotes::Json, out)?;
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}
