//! Alignments of circular sequences in formats for linear ones: an alignment that crosses an origin
//! becomes several parts, each with its own line.

use super::{LongContext, LongPairAlignment};
use crate::alignment::Cigar;
use crate::alignment::circular::{Sides, cut_at_origins, on_other_strand};
use crate::error::Result;
use crate::output::Range32;

/// The whole alignment of a part that crosses no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeAlignment {
    /// Number of the alignment in the output, from 1.
    pub number: u32,
    /// Number of parts.
    pub parts: u32,
    /// Score of the whole alignment.
    pub score: i64,
}

/// A part of an alignment.
pub(in crate::output) struct CircularPart<'a> {
    part: LongPairAlignment<'a>,
    cigar: Cigar,
}

impl CircularPart<'_> {
    /// Returns the part as an alignment.
    pub(in crate::output) fn alignment(&self) -> LongPairAlignment<'_> {
        LongPairAlignment { cigar: Some(&self.cigar), ..self.part }
    }
}

/// Cuts alignments at the origins of circular sequences. A part starts and ends with two symbols:
/// gaps at an origin are in no part. The score of a part counts its columns only.
///
/// # Errors
/// Returns an error if there is only a score.
pub(in crate::output) fn cut<'a>(
    context: &'a LongContext,
    alignments: &[LongPairAlignment<'a>],
) -> Result<Vec<CircularPart<'a>>> {
    let circular = context.circular();
    let mut all = Vec::new();
    for (number, whole) in (1..).zip(alignments) {
        let (alignment, query, target) = context.alignment(whole)?;
        let (m, n) = (query.len() as u32, target.len() as u32);
        let lengths = Sides { query: circular.query.then_some(m), target: circular.target.then_some(n) };
        let starts = Sides { query: alignment.query_start, target: alignment.target_start };
        let cores =
            cut_at_origins(&alignment.cigar, starts, lengths).into_iter().filter_map(|part| part.without_end_gaps());
        let cores: Vec<_> = cores.collect();
        let part_of = Some(WholeAlignment { number, parts: cores.len() as u32, score: whole.score });
        all.extend(cores.into_iter().map(|core| {
            let score = core.score(query, target, context.scoring());
            let in_file = if whole.is_reverse { on_other_strand(&core.query, m) } else { core.query };
            let query = Range32 { start: in_file.start, end: in_file.end };
            let target = Range32 { start: core.target.start, end: core.target.end };
            let part = LongPairAlignment { score, query, target, cigar: None, part_of, ..*whole };
            CircularPart { part, cigar: core.cigar }
        }));
    }
    Ok(all)
}
