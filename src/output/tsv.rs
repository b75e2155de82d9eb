//! The format `tsv`: a header line, and then one line for each pair.

use super::fields::{Field, PairFacts, Quotes};
use super::{Context, FormatBody, Output, OutputPair, PairLine};
use crate::error::Result;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Tsv {
    fields: Vec<&'static Field>,
}

impl Tsv {
    pub(super) fn new(fields: &[&'static Field]) -> Self {
        Tsv { fields: fields.to_vec() }
    }
}

impl FormatBody for Tsv {
    fn begin(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        output.buffer().extend_from_slice(names.join("\t").as_bytes());
        output.buffer().push(b'\n');
        Ok(())
    }

    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

impl PairLine for Tsv {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let facts = PairFacts::new(context, pair)?;
        for (at, field) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(b'\t');
            }
            facts.push(field, Quotes::None, out)?;
        }
        out.push(b'\n');
        Ok(())
    }
}
