//! PAF for pairs of intervals: positions in the whole sequences, and the tag `cs`.
//!
//! `cs` has the differences in minimap2's short form: `:` and the number of equal letters, `*` and
//! the letters of target and query, `+` and inserted query letters, `-` and deleted target letters.

use super::{PafPart, PafSide};
use crate::alignment::Op;
use crate::error::{Error, Result};
use crate::output::columns::Range32;
use crate::output::numbers::push_unsigned;
use crate::output::{Context, FormatBody, OutputPair, PairLine};
use crate::seq::{Alphabet, Code, IntervalPair, SequenceStore, Strand};
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
        if part.written.total() > 0 {
            out.extend_from_slice(b"\tcs:Z:");
            let query = &context.queries.codes(pair.query)[part.query.start as usize..];
            let target = &context.targets.codes(pair.target)[part.target.start as usize..];
            push_differences(out, part.written.runs(), query, target, context.queries.alphabet());
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Returns a span in the whole sequence.
fn moved(span: Range32, interval: &Range<u32>) -> Range32 {
    Range32 { start: interval.start + span.start, end: interval.start + span.end }
}

/// Appends the value of `cs`. The sequences start with the first column.
fn push_differences(
    out: &mut Vec<u8>,
    runs: impl Iterator<Item = (u32, Op)>,
    mut query: &[Code],
    mut target: &[Code],
    alphabet: Alphabet,
) {
    let letters = |out: &mut Vec<u8>, codes: &[Code]| {
        out.extend(codes.iter().map(|&code| alphabet.decode(code).to_ascii_lowercase()));
    };
    let mut equal = 0;
    let end_run = |out: &mut Vec<u8>, equal: &mut u64| {
        if *equal > 0 {
            out.push(b':');
            push_unsigned(out, std::mem::take(equal));
        }
    };
    for (length, op) in runs {
        let length = length as usize;
        let has = |absent: Op| if op == absent { 0 } else { length };
        let (some_query, some_target);
        (some_query, query) = query.split_at(has(Op::Deletion));
        (some_target, target) = target.split_at(has(Op::Insertion));
        match op {
            Op::Insertion | Op::Deletion => {
                end_run(out, &mut equal);
                out.push(if op == Op::Insertion { b'+' } else { b'-' });
                letters(out, some_query);
                letters(out, some_target);
            }
            Op::Match | Op::Mismatch => {
                // Letters that match need not be equal: R matches A.
                for (&q, &t) in some_query.iter().zip(some_target) {
                    if q == t {
                        equal += 1;
                        continue;
                    }
                    end_run(out, &mut equal);
                    out.push(b'*');
                    letters(out, &[t, q]);
                }
            }
        }
    }
    end_run(out, &mut equal);
}
