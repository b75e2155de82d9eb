//! `tsv`: a header line, then a line a pair.

use super::fields::{Facts, Field, Quotes};
use super::{Body, Context, Line, Output, Pair};
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

impl Body for Tsv {
    fn begin(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        output.buffer().extend_from_slice(names.join("\t").as_bytes());
        output.buffer().push(b'\n');
        Ok(())
    }

    fn lines(&self) -> Option<&dyn Line> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn Line>> {
        Some(Arc::new(self.clone()))
    }
}

impl Line for Tsv {
    fn push(&self, context: &Context, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let facts = Facts::new(context, pair)?;
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
