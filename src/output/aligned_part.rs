//! The part of an alignment that formats for reference and query write.
//!
//! If end gaps cost as much as inner gaps, the part is the whole alignment. End gaps that are free
//! or have their own costs are no part of it.

use super::columns::{is_gap, push_runs};
use super::{AlignmentColumns, Context, OutputPair, Range32};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Mode};

/// The written part of an alignment.
pub(super) struct AlignedPart<'a> {
    /// Part of the query, on the aligned strand.
    pub(super) query: Range32,
    /// Part of the target.
    pub(super) target: Range32,
    /// Number of mismatches and gap columns.
    pub(super) edits: u64,
    columns: AlignmentColumns,
    cigar: &'a Cigar,
    is_whole: bool,
}

impl<'a> AlignedPart<'a> {
    /// Selects the columns that are written. Returns `None` if there are none.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the pair has no alignment.
    pub(super) fn from_pair(context: &Context, pair: &OutputPair<'a>) -> Result<Option<Self>> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let columns = context.columns(pair)?;
        let is_whole = context.scoring.mode == Mode::Global && context.scoring.end_gaps == EndGaps::Charged;
        let (query, target, gaps, total) = if is_whole {
            let all = |length| Range32 { start: 0, end: length };
            let (query, target) = (context.queries.length(pair.query), context.targets.length(pair.target));
            (all(query), all(target), columns.counts.gap_columns, columns.total())
        } else {
            (columns.query, columns.target, columns.inner_gaps(), columns.inner_total())
        };
        let edits = columns.counts.mismatches + gaps;
        Ok((total > 0).then_some(AlignedPart { query, target, edits, columns, cigar, is_whole }))
    }

    /// Returns the runs of the part.
    pub(super) fn runs(&self) -> Box<dyn Iterator<Item = (u32, Op)> + 'a> {
        if self.is_whole { Box::new(self.cigar.iter()) } else { Box::new(self.columns.inner_runs(self.cigar)) }
    }

    /// Appends the runs as a CIGAR string.
    pub(super) fn push_cigar(&self, out: &mut Vec<u8>) {
        push_runs(out, self.runs());
    }

    /// Returns the columns without the gaps before the first and after the last column of two
    /// symbols, or `None` if there is no such column.
    pub(super) fn core(&self) -> Option<AlignedCore> {
        let mut runs: Vec<(u32, Op)> = self.runs().collect();
        let (mut query, mut target) = (self.query, self.target);
        let first = runs.iter().position(|run| !is_gap(run.1))?;
        for (length, op) in runs.drain(..first) {
            if op == Op::Insertion { query.start += length } else { target.start += length }
        }
        while let Some((length, op)) = runs.pop_if(|run| is_gap(run.1)) {
            if op == Op::Insertion { query.end -= length } else { target.end -= length }
        }
        Some(AlignedCore { query, target, runs })
    }
}

/// The columns of an alignment from the first to the last column of two symbols.
pub(super) struct AlignedCore {
    /// Part of the query, on the aligned strand.
    pub(super) query: Range32,
    /// Part of the target.
    pub(super) target: Range32,
    /// Runs of columns. The first and the last one are no gaps.
    pub(super) runs: Vec<(u32, Op)>,
}

impl AlignedCore {
    /// Returns the number of mismatches and gap columns.
    pub(super) fn edits(&self) -> u32 {
        self.runs.iter().filter(|run| run.1 != Op::Match).map(|run| run.0).sum()
    }
}
