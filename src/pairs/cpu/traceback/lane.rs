//! Tracebacks through pairs, part by part.

use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::pairs::cpu::difference::{Greatest, NO_GAP};
use crate::score::DifferenceScoring;
use crate::score::difference::Element;

/// Number of columns of a part in excess of its rows: the initial number, and the least number for
/// all parts.
pub(super) const MARGIN: usize = 8;
const MIN_MARGIN: usize = 2;

/// A traceback from the end of a lane's pair to its start.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneTraceback {
    pub lane: usize,
    /// Index of the pair in the block, which is also the index of its span.
    pub index: usize,
    /// Whether the alignment's query is in the rows instead of the columns.
    pub is_exchanged: bool,
    /// Whether the traceback left the kept columns, so that it cannot continue here.
    is_lost: bool,
    /// Remaining rows.
    pub i: usize,
    pub j: usize,
    pub gap: Option<Gap>,
    /// Whether a diagonal is accepted if only the low bits of its value are right.
    pub trusts_bits: bool,
    /// Number of columns of the next part in excess of its rows. It starts with the value of the
    /// previous traceback in this memory.
    pub margin: usize,
    /// Value of the columns traced so far, including a gap at the end.
    pub value: i64,
    /// Value of the pair.
    expected: i64,
    /// Columns of the alignment, the last column first.
    pub cigar: Cigar,
}

/// A gap that contains the current position. The next cell determines whether the gap starts there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Rows,
    Columns,
}

impl LaneTraceback {
    /// Starts a traceback in the memory of another one. The lane's target has `n` symbols and the
    /// query `m`. Low bits are trusted at first.
    pub(super) fn start<E: Element>(&mut self, form: &DifferenceScoring<E>, n: usize, m: usize, greatest: Greatest) {
        let Greatest { value, least_rows, least_columns, .. } = greatest;
        let (rows, columns) = match (least_rows, least_columns) {
            // The alignment ends in the corner, without an end gap.
            (0, _) | (_, 0) => (0, 0),
            // If both kinds of end gap are possible, a gap of the alignment's query takes
            // precedence.
            (NO_GAP, columns) => (0, columns as usize),
            (rows, NO_GAP) => (rows as usize, 0),
            (rows, _) if self.is_exchanged => (rows as usize, 0),
            (_, columns) => (0, columns as usize),
        };
        (self.is_lost, self.gap, self.trusts_bits) = (false, None, true);
        if self.margin == 0 {
            self.margin = MARGIN;
        }
        (self.i, self.j) = (n - rows, m - columns);
        (self.value, self.expected) = (form.border_value(rows + columns), value);
        self.cigar.clear();
        self.push(rows, Gap::Rows);
        self.push(columns, Gap::Columns);
        if self.is_done() {
            self.finish(form);
        }
    }

    /// Returns the runs of the alignment, from its last to its first. Returns `None` if the
    /// traceback left the kept columns.
    ///
    /// # Errors
    /// [`Error::Internal`] if the value of the runs differs from the pair's value.
    pub(super) fn runs(&self) -> Result<Option<impl Iterator<Item = (u32, Op)> + '_>> {
        if self.is_lost {
            return Ok(None);
        }
        if self.value != self.expected {
            let (actual, expected) = (self.value, self.expected);
            return Err(Error::Internal(format!(
                "the traceback found the value {actual}, but the engine reported {expected}"
            )));
        }
        Ok(Some(self.cigar.iter()))
    }

    /// Returns the value of the current cell.
    pub(super) fn cell_value(&self) -> i64 {
        self.expected - self.value
    }

    /// Returns whether the traceback followed a wrong diagonal, whose low bits agreed by chance.
    pub(super) fn is_astray(&self) -> bool {
        self.trusts_bits && !self.is_lost && self.value != self.expected
    }

    pub(super) fn is_done(&self) -> bool {
        self.i == 0 || self.j == 0
    }

    /// Abandons the traceback. The general traceback ([`crate::trace`]) computes the alignment
    /// instead.
    pub(super) fn fail(&mut self) {
        (self.i, self.is_lost) = (0, true);
    }

    /// Adapts the margin of the next part to the margin that this part needed. If this part needed
    /// much more, the margin does not grow to the full amount, because the time of all following
    /// parts grows with their columns.
    pub(super) fn learn(&mut self, margin: usize, could_be_narrower: bool) {
        if margin > self.margin {
            self.margin = margin.min(2 * self.margin + MARGIN);
        } else if could_be_narrower {
            self.margin = (self.margin - 1 - self.margin / 8).max(MIN_MARGIN);
        }
    }

    pub(super) fn op(&self, gap: Gap) -> Op {
        if (gap == Gap::Rows) == self.is_exchanged { Op::Insertion } else { Op::Deletion }
    }

    /// Adds columns of two symbols, from the last to the first. Each bit of `equal` marks a match.
    /// The lowest bit belongs to the last column.
    #[inline(always)]
    pub(super) fn push_pairs(&mut self, mut equal: u64, mut pairs: u32) {
        while pairs > 0 {
            let (op, other) = if equal & 1 == 1 { (Op::Match, !equal) } else { (Op::Mismatch, equal) };
            let length = other.trailing_zeros().min(pairs);
            self.cigar.push(length, op);
            equal = equal.checked_shr(length).unwrap_or(0);
            pairs -= length;
        }
    }

    pub(super) fn push(&mut self, symbols: usize, gap: Gap) {
        self.cigar.push(symbols as u32, self.op(gap));
    }

    /// Adds the remaining gap along the border.
    pub(super) fn finish<E: Element>(&mut self, form: &DifferenceScoring<E>) {
        self.value += form.border_value(self.i + self.j);
        self.push(self.i, Gap::Rows);
        self.push(self.j, Gap::Columns);
    }
}
