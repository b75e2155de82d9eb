//! The part of an alignment that formats for reference and query write.
//!
//! If end gaps cost as much as inner gaps, the part is the whole alignment. End gaps that are free
//! or have their own costs are no part of it.

use super::columns::is_gap;
use super::{AlignmentColumns, Context, OutputPair, Range32};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Gaps, Mode};

/// Returns whether end gaps cost as much as inner gaps, and are not free.
pub(super) fn has_charged_ends(context: &Context) -> bool {
    const FREE: Gaps = Gaps { first: 0, next: 0 };
    let scoring = &context.scoring;
    let is_charged = scoring.end_gaps == EndGaps::Charged || scoring.gaps != FREE;
    scoring.mode == Mode::Global && !scoring.has_own_ends() && is_charged
}

/// The columns of an alignment that a format writes: all columns, or those between the end gaps.
pub(super) struct WrittenColumns<'a> {
    pub(super) columns: AlignmentColumns,
    cigar: &'a Cigar,
    /// Whether all columns are written.
    pub(super) is_whole: bool,
}

impl<'a> WrittenColumns<'a> {
    /// Selects all columns of a pair, or those between the end gaps.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the pair has no alignment.
    pub(super) fn from_pair(context: &Context, pair: &OutputPair<'a>, is_whole: bool) -> Result<Self> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        Ok(WrittenColumns { columns: context.columns(pair)?, cigar, is_whole })
    }

    /// Returns the number of columns.
    pub(super) fn total(&self) -> u64 {
        if self.is_whole { self.columns.total() } else { self.columns.inner_total() }
    }

    /// Returns the number of mismatches and gap columns.
    pub(super) fn edits(&self) -> u64 {
        let counts = &self.columns.counts;
        counts.mismatches + if self.is_whole { counts.gap_columns } else { self.columns.inner_gaps() }
    }

    /// Returns the number of gaps.
    pub(super) fn gap_openings(&self) -> u64 {
        if self.is_whole { self.columns.counts.gap_openings } else { self.columns.inner_gap_openings }
    }

    /// Returns the runs of the columns.
    pub(super) fn runs(&self) -> Box<dyn Iterator<Item = (u32, Op)> + 'a> {
        if self.is_whole { Box::new(self.cigar.iter()) } else { Box::new(self.columns.inner_runs(self.cigar)) }
    }
}

/// The written part of an alignment.
pub(super) struct AlignedPart<'a> {
    /// Part of the query, on the aligned strand.
    pub(super) query: Range32,
    /// Part of the target.
    pub(super) target: Range32,
    written: WrittenColumns<'a>,
}

impl<'a> AlignedPart<'a> {
    /// Selects the columns that are written. Returns `None` if there are none.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the pair has no alignment.
    pub(super) fn from_pair(context: &Context, pair: &OutputPair<'a>) -> Result<Option<Self>> {
        let written = WrittenColumns::from_pair(context, pair, has_charged_ends(context))?;
        let columns = &written.columns;
        let (query, target) = if written.is_whole {
            let all = |length| Range32 { start: 0, end: length };
            (all(context.queries.length(pair.query)), all(context.targets.length(pair.target)))
        } else {
            (columns.query, columns.target)
        };
        Ok((written.total() > 0).then_some(AlignedPart { query, target, written }))
    }

    /// Returns the runs of the part.
    pub(super) fn runs(&self) -> Box<dyn Iterator<Item = (u32, Op)> + 'a> {
        self.written.runs()
    }

    /// Returns the columns without the gaps before the first and after the last column of two
    /// symbols, or `None` if there is no such column.
    fn core(&self) -> Option<AlignedCore> {
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
    /// Selects the columns from the first to the last column of two symbols. Returns `None` if there
    /// is no such column.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the pair has no alignment.
    pub(super) fn from_pair(context: &Context, pair: &OutputPair<'_>) -> Result<Option<Self>> {
        Ok(AlignedPart::from_pair(context, pair)?.and_then(|part| part.core()))
    }

    /// Returns the number of mismatches and gap columns.
    pub(super) fn edits(&self) -> u32 {
        self.runs.iter().filter(|run| run.1 != Op::Match).map(|run| run.0).sum()
    }
}
