//! PAF for pairs of intervals: positions in the whole sequences, and the tag `cs`.

use super::{CsForm, PafPart, PafSide};
use crate::error::{Error, Result};
use crate::output::columns::Range32;
use crate::output::{Context, FormatBody, OutputPair, PairLine};
use crate::seq::{IntervalPair, SequenceStore, Strand};
use std::ops::Range;
use std::sync::Arc;

/// The intervals that are sequences of a pair, in the order of these sequences.
#[derive(Debug, Clone)]
pub struct PafIntervals {
    /// Whole queries.
    pub queries: Arc<SequenceStore>,
    /// Whole targets.
    pub targets: Arc<SequenceStore>,
    /// Intervals of pair i: sequence i of the compared queries and of the compared targets.
    pub pairs: Arc<[IntervalPair]>,
}

impl FormatBody for PafIntervals {
    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

impl PairLine for PafIntervals {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let interval = self.pairs.get(pair.query as usize).filter(|_| pair.query == pair.target);
        let interval = interval.ok_or_else(|| Error::Internal("a pair without its intervals".into()))?;
        let part = PafPart::from_pair(context, pair)?;
        let is_reverse = interval.strand == Strand::Minus;
        let span = match is_reverse {
            true => Range32 {
                start: interval.query_part.end - part.query.end,
                end: interval.query_part.end - part.query.start,
            },
            false => moved(part.query, &interval.query_part),
        };
        let query = PafSide {
            name: self.queries.name_bytes(interval.query),
            length: self.queries.length(interval.query),
            span,
        };
        let target = PafSide {
            name: self.targets.name_bytes(interval.target),
            length: self.targets.length(interval.target),
            span: moved(part.target, &interval.target_part),
        };
        part.push(pair, query, is_reverse, target, out);
        part.push_cs(context, pair, CsForm::Short, out);
        out.push(b'\n');
        Ok(())
    }
}

/// Returns a span in the whole sequence.
fn moved(span: Range32, interval: &Range<u32>) -> Range32 {
    Range32 { start: interval.start + span.start, end: interval.start + span.end }
}
