//! Walks back through pairs, part by part.

use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::pairs::cpu::difference::{Greatest, NO_GAP};
use crate::score::DifferenceScoring;
use crate::score::difference::Element;

/// Columns of a part beyond its rows: of the first walk's first part, and of any.
pub(super) const MARGIN: usize = 8;
const MIN_MARGIN: usize = 2;

/// A walk from the end of a lane's pair to its beginning.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    pub lane: usize,
    /// Where its span goes.
    pub place: usize,
    /// Whether the alignment's query is in rows, not in columns.
    pub is_turned: bool,
    /// Whether it left what was kept.
    is_lost: bool,
    /// Rows and columns that are left.
    pub i: usize,
    pub j: usize,
    pub gap: Option<Gap>,
    /// Whether diagonals are taken that have the low bits of the right value.
    pub trusts_bits: bool,
    /// Columns of the next part beyond its rows: what the walk before in this memory came to, to begin with.
    pub margin: usize,
    /// What was walked adds up to this, a gap at the end with it.
    pub value: i64,
    /// What the pair's value is.
    expected: i64,
    /// Last column first.
    pub cigar: Cigar,
}

/// A gap that the walk is in: it is to be seen at the cell that was come to whether the gap opens there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Rows,
    Columns,
}

impl Walk {
    /// Begins a walk in the memory of another one: the lane's target has `n` symbols, the query `m`. It trusts low bits.
    pub(super) fn begin<E: Element>(&mut self, form: &DifferenceScoring<E>, n: usize, m: usize, greatest: Greatest) {
        let Greatest { value, least_rows, least_columns, .. } = greatest;
        let (rows, columns) = match (least_rows, least_columns) {
            // From the corner.
            (0, _) | (_, 0) => (0, 0),
            // A gap of the alignment's query comes first.
            (NO_GAP, columns) => (0, columns as usize),
            (rows, NO_GAP) => (rows as usize, 0),
            (rows, _) if self.is_turned => (rows as usize, 0),
            (_, columns) => (0, columns as usize),
        };
        (self.is_lost, self.gap, self.trusts_bits) = (false, None, true);
        if self.margin == 0 {
            self.margin = MARGIN;
        }
        (self.i, self.j) = (n - rows, m - columns);
        (self.value, self.expected) = (form.edge(rows + columns), value);
        self.cigar.clear();
        self.push(rows, Gap::Rows);
        self.push(columns, Gap::Columns);
        if self.is_done() {
            self.finish(form);
        }
    }

    /// The runs from the alignment's last to its first; `None` if they left what was kept.
    ///
    /// # Errors
    /// [`Error::Internal`] if they have another value than the pair.
    pub(super) fn runs(&self) -> Result<Option<impl Iterator<Item = (u32, Op)> + '_>> {
        if self.is_lost {
            return Ok(None);
        }
        if self.value != self.expected {
            let (found, expected) = (self.value, self.expected);
            return Err(Error::Internal(format!("the traceback found the value {found}, the engine {expected}")));
        }
        Ok(Some(self.cigar.iter()))
    }

    /// The value of its cell.
    pub(super) fn rest(&self) -> i64 {
        self.expected - self.value
    }

    /// Whether it went where the pair's value does not come from: a diagonal had no more than the low bits of it.
    pub(super) fn is_astray(&self) -> bool {
        self.trusts_bits && !self.is_lost && self.value != self.expected
    }

    pub(super) fn is_done(&self) -> bool {
        self.i == 0 || self.j == 0
    }

    /// Leaves the alignment to others.
    pub(super) fn lose(&mut self) {
        (self.i, self.is_lost) = (0, true);
    }

    /// Learns from a part how far beyond its rows the next one goes. One that had to be made much wider need not be like
    /// those that follow, whose time grows with their columns: so that it is forgotten soon.
    pub(super) fn learn(&mut self, margin: usize, could_be_narrower: bool) {
        if margin > self.margin {
            self.margin = margin.min(2 * self.margin + MARGIN);
        } else if could_be_narrower {
            self.margin = (self.margin - 1 - self.margin / 8).max(MIN_MARGIN);
        }
    }

    pub(super) fn op(&self, gap: Gap) -> Op {
        if (gap == Gap::Rows) == self.is_turned { Op::Insertion } else { Op::Deletion }
    }

    /// Takes pairs of symbols, the last one first, of which those with a bit match.
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

    /// Takes the gap along the border that is left.
    pub(super) fn finish<E: Element>(&mut self, form: &DifferenceScoring<E>) {
        self.value += form.edge(self.i + self.j);
        self.push(self.i, Gap::Rows);
        self.push(self.j, Gap::Columns);
    }
}
