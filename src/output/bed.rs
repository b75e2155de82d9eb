//! The format `bed`: BED with six columns, one line for each part of a text where a pattern was
//! found.
//!
//! The columns are text, start, end, pattern, score and strand. Positions count from 0, and the end
//! is excluded. An empty part has equal positions. The score is 1000 * (m - d) / m, rounded down,
//! for a pattern of m symbols with distance d, so a part without edits has 1000. An empty pattern
//! has 1000.

use super::numbers::push_unsigned;
use super::{Context, FormatBody, OutputPair, PairLine};
use crate::error::{Error, Result};
use crate::seq::Strand;
use std::sync::Arc;

/// Score of a part without edits, which is the greatest score of BED.
const MAX_SCORE: u64 = 1000;

#[derive(Clone)]
pub(super) struct Bed;

impl FormatBody for Bed {
    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

impl PairLine for Bed {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let (Some(edits), Some(_)) = (pair.edits(), pair.alignment) else {
            return Err(Error::Internal("a pair without a part of a text".into()));
        };
        out.extend_from_slice(context.targets.name_bytes(pair.target));
        for position in [pair.target_start, edits.end] {
            out.push(b'\t');
            push_unsigned(out, u64::from(position));
        }
        out.push(b'\t');
        out.extend_from_slice(context.queries.name_bytes(pair.query));
        out.push(b'\t');
        push_unsigned(out, score(context.queries.length(pair.query), edits.distance));
        out.extend_from_slice(if pair.strand == Strand::Minus { b"\t-\n" } else { b"\t+\n" });
        Ok(())
    }
}

/// Returns the score of a pattern with `symbols` symbols.
fn score(symbols: u32, distance: u32) -> u64 {
    let unchanged = u64::from(symbols.saturating_sub(distance));
    (MAX_SCORE * unchanged).checked_div(u64::from(symbols)).unwrap_or(MAX_SCORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_decrease_with_the_distance_from_1000_to_0() {
        assert_eq!([(20, 0), (20, 1), (20, 20), (3, 1), (0, 0)].map(|(m, d)| score(m, d)), [1000, 950, 0, 666, 1000]);
    }
}
