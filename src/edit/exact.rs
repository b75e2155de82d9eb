//! Symbols of patterns that must match exactly, such as the PAM of a CRISPR guide.
//!
//! An alignment satisfies the condition if each exact symbol is in a column of two equal symbols,
//! and if no gap is between two adjacent exact symbols. Gaps before and after a range of exact
//! symbols are allowed. All distances of this module are least numbers of edits of alignments that
//! satisfy the condition.
//!
//! Such distances can increase by more than 1 from row to row, so bit vectors of differences cannot
//! contain them. They are computed cell by cell, but only around the ends that are within the limit
//! without the condition.

use std::ops::Range;

use super::overhang_cost::{OverhangCost, OverhangCosts, SearchedText};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::Equality;
use crate::seq::{Code, Strand};

/// Maximum number of symbols of a pattern with exact symbols. The memory of a traceback grows with
/// the square of this number.
pub const MAX_SYMBOLS: u32 = 4096;

/// The exact symbols of all patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExactSymbols {
    /// Ranges of symbols, counted from 0 from the start of a pattern.
    pub ranges: Vec<Range<u32>>,
    /// Number of symbols at the end of a pattern.
    pub last: u32,
}

impl ExactSymbols {
    /// Returns whether there are no exact symbols.
    pub fn is_empty(&self) -> bool {
        self.last == 0 && self.ranges.iter().all(Range::is_empty)
    }

    /// Returns the least number of symbols of a pattern that has all ranges.
    pub fn min_symbols(&self) -> u32 {
        self.ranges.iter().map(|range| range.end).fold(self.last, u32::max)
    }

    /// Returns the exact rows of a pattern with `symbols` symbols, at least
    /// [`ExactSymbols::min_symbols`].
    pub fn rows(&self, symbols: u32) -> ExactRows {
        let last = symbols - self.last..symbols;
        let is_exact = |row| last.contains(&row) || self.ranges.iter().any(|range| range.contains(&row));
        ExactRows { is_exact: (0..symbols).map(is_exact).collect() }
    }
}

/// The rows of one pattern that must match exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExactRows {
    is_exact: Vec<bool>,
}

impl ExactRows {
    /// Returns whether no row is exact.
    pub fn is_empty(&self) -> bool {
        !self.is_exact.contains(&true)
    }

    /// Returns the exact rows in increasing order, counted from 0.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.is_exact.len()).filter(|&row| self.is_exact[row])
    }

    /// Returns the rows of the reversed pattern.
    #[must_use]
    pub fn reversed(&self) -> ExactRows {
        ExactRows { is_exact: self.is_exact.iter().rev().copied().collect() }
    }

    /// Returns some of the rows.
    #[must_use]
    pub fn part(&self, rows: Range<usize>) -> ExactRows {
        ExactRows { is_exact: self.is_exact[rows].to_vec() }
    }

    /// Returns whether the rows from this one on may hang over an end of the text. An exact row may
    /// not.
    pub fn may_hang_over(&self, first_row: usize) -> bool {
        !self.is_exact[first_row..].contains(&true)
    }

    /// Returns whether an alignment of the pattern satisfies the condition.
    pub fn are_exact_in(&self, cigar: &Cigar) -> bool {
        let mut row = 0;
        cigar.iter().all(|(columns, op)| {
            let rows = row..row + if op.consumes_query() { columns as usize } else { 0 };
            row = rows.end;
            match op {
                Op::Match => true,
                Op::Mismatch | Op::Insertion => !self.is_exact[rows].contains(&true),
                Op::Deletion => !self.joins(row),
            }
        })
    }

    /// Returns whether the row before and the row after this number of rows are both exact.
    fn joins(&self, rows: usize) -> bool {
        rows > 0 && self.is_exact[rows - 1] && self.is_exact.get(rows) == Some(&true)
    }
}

/// A pattern, or the reverse complement of one, with its exact rows.
#[derive(Debug, Clone, Copy)]
pub struct ExactPattern<'a> {
    /// Symbols of the pattern.
    pub codes: &'a [Code],
    /// Rows of these symbols that must match exactly.
    pub rows: &'a ExactRows,
}

/// The start of the parts that a sweep compares a pattern with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartStart {
    /// Parts start anywhere in the text.
    Any,
    /// Parts start where the text starts.
    TextStart,
}

/// The current column of a sweep. The memory is reused for all sweeps.
#[derive(Debug, Default)]
pub struct ExactColumns {
    /// Distance of each number of rows, at most one more than the limit.
    column: Vec<u32>,
    /// The last row within the limit. Rows after it have arbitrary distances above the limit.
    last: usize,
}

impl ExactColumns {
    /// Calls `visit` with every end within the limit and the distance of a part that ends there, in
    /// increasing order. The empty part at the start of the text counts. The costs of `text`
    /// define whether rows may hang over its ends; at an end beyond the text, rows hang over. Rows
    /// above the limit are skipped (Ukkonen 1985).
    pub fn search(
        &mut self,
        pattern: ExactPattern<'_>,
        text: SearchedText<'_>,
        start: PartStart,
        limit: u32,
        equality: &Equality,
        mut visit: impl FnMut(u32, u32),
    ) {
        let SearchedText { codes: text, costs } = text;
        let m = pattern.codes.len();
        self.begin(pattern.rows, costs.start, limit);
        if self.column[m] <= limit {
            visit(0, self.column[m]);
        }
        for (end, &symbol) in (1..).zip(text) {
            if !self.advance(pattern, symbol, start, limit, equality) {
                return;
            }
            if self.column[m] <= limit {
                visit(end, self.column[m]);
            }
        }
        let Some(cost) = costs.end else { return };
        for symbols in 1..=cost.max_after(m as u32, limit) {
            let row = m - symbols as usize;
            if pattern.rows.is_exact[row] {
                break;
            }
            if row <= self.last && self.column[row].saturating_add(cost.symbols(symbols)) <= limit {
                visit(text.len() as u32 + symbols, self.column[row] + cost.symbols(symbols));
            }
        }
    }

    /// Returns the distance of each number of first rows from a part that ends with the text, at
    /// most one more than the limit. All further rows are above the limit. Returns `None` if no row
    /// is within the limit.
    pub fn last_column(
        &mut self,
        pattern: ExactPattern<'_>,
        text: &[Code],
        start: PartStart,
        limit: u32,
        equality: &Equality,
    ) -> Option<&[u32]> {
        self.begin(pattern.rows, None, limit);
        let is_within = text.iter().all(|&symbol| self.advance(pattern, symbol, start, limit, equality));
        is_within.then(|| &self.column[..=self.last])
    }

    /// Sets the column before the first symbol of the text.
    fn begin(&mut self, exact: &ExactRows, overhang: Option<OverhangCost>, limit: u32) {
        let m = exact.is_exact.len();
        self.column.clear();
        self.column.resize(m + 1, limit.saturating_add(1));
        (self.column[0], self.last) = (0, 0);
        let Some(cost) = overhang else { return self.insert_rows(exact, limit) };
        while self.last < m && !exact.is_exact[self.last] && cost.symbols(self.last as u32 + 1) <= limit {
            self.last += 1;
            self.column[self.last] = cost.symbols(self.last as u32);
        }
    }

    /// Adds insertions after the last row within the limit.
    fn insert_rows(&mut self, exact: &ExactRows, limit: u32) {
        let (column, last) = (&mut self.column, &mut self.last);
        while *last + 1 < column.len() && !exact.is_exact[*last] && column[*last] < limit {
            column[*last + 1] = column[*last] + 1;
            *last += 1;
        }
    }

    /// Advances by one symbol of the text. Returns whether a row is within the limit.
    #[inline(always)]
    fn advance(
        &mut self,
        pattern: ExactPattern<'_>,
        symbol: Code,
        start: PartStart,
        limit: u32,
        equality: &Equality,
    ) -> bool {
        let ExactPattern { codes: pattern, rows: exact } = pattern;
        let above_limit = limit.saturating_add(1);
        let column = &mut self.column;
        let mut diagonal = column[0];
        if start == PartStart::TextStart {
            column[0] = (column[0] + 1).min(above_limit);
        }
        let swept = pattern.len().min(self.last + 1);
        for row in 0..swept {
            let (before, above) = (column[row + 1], column[row]);
            let is_exact = exact.is_exact[row];
            let mut distance = match equality.is_match(pattern[row], symbol) {
                true => diagonal,
                false if is_exact => above_limit,
                false => diagonal + 1,
            };
            if !is_exact {
                distance = distance.min(above + 1);
            }
            if !exact.joins(row + 1) {
                distance = distance.min(before + 1);
            }
            column[row + 1] = distance.min(above_limit);
            diagonal = before;
        }
        self.last = swept;
        self.insert_rows(exact, limit);
        while self.column[self.last] > limit {
            if self.last == 0 {
                return false;
            }
            self.last -= 1;
        }
        true
    }
}

/// A place to align: the end of parts of a text, or their start on the minus strand.
#[derive(Debug, Clone, Copy)]
pub struct PlaceToAlign {
    /// The strand.
    pub strand: Strand,
    /// Number of symbols of the text before the position.
    pub position: u32,
    /// The distance.
    pub distance: u32,
}

/// Aligns a pattern with the longest part at a place. `pattern` is the reverse complement if the
/// strand is minus. Returns the part and the alignment's columns. The rule of [`crate::trace`]
/// selects among the alignments that satisfy the condition.
///
/// # Errors
/// Returns [`Error::Internal`] if the least distance is another one.
pub fn align_place(
    pattern: ExactPattern<'_>,
    text: &[Code],
    place: PlaceToAlign,
    equality: &Equality,
) -> Result<(Range<u32>, Cigar)> {
    let PlaceToAlign { strand, position, distance } = place;
    let (reach, at) = (pattern.codes.len() + distance as usize, position as usize);
    let wrong = || Error::Internal(format!("no alignment with exact symbols has distance {distance}"));
    let part = if strand == Strand::Minus {
        let window = &text[at..text.len().min(at + reach)];
        let symbols = longest_part(pattern, window, distance, equality).ok_or_else(wrong)?;
        position..position + symbols
    } else {
        let reversed = |codes: &[Code]| codes.iter().rev().copied().collect::<Vec<Code>>();
        let window = reversed(&text[at.saturating_sub(reach)..at]);
        let (codes, rows) = (&reversed(pattern.codes), &pattern.rows.reversed());
        let symbols = longest_part(ExactPattern { codes, rows }, &window, distance, equality);
        position - symbols.ok_or_else(wrong)?..position
    };
    let symbols = &text[part.start as usize..part.end as usize];
    Ok((part, align_whole(pattern, symbols, distance, equality)?))
}

/// Aligns a pattern with a whole part, like [`align_place`]. Returns the alignment's columns.
///
/// # Errors
/// Returns [`Error::Internal`] if the least distance is another one.
pub fn align_whole(pattern: ExactPattern<'_>, part: &[Code], distance: u32, equality: &Equality) -> Result<Cigar> {
    let wrong = || Error::Internal(format!("no alignment with exact symbols has distance {distance}"));
    trace(pattern, part, distance, equality).ok_or_else(wrong)
}

/// Returns the number of symbols of the longest part that starts with the text and has this
/// distance. Returns `None` if it is not the least distance.
fn longest_part(pattern: ExactPattern<'_>, codes: &[Code], distance: u32, equality: &Equality) -> Option<u32> {
    let (mut longest, mut least) = (None, u32::MAX);
    let text = SearchedText { codes, costs: OverhangCosts::default() };
    ExactColumns::default().search(pattern, text, PartStart::TextStart, distance, equality, |end, edits| {
        least = least.min(edits);
        longest = (edits == distance).then_some(end).or(longest);
    });
    longest.filter(|_| least == distance)
}

/// Cost of an edit. A match has cost -1, so that alignments with more matches have lower costs.
const EDIT: i64 = 1 << 32;
const UNREACHED: i64 = i64::MAX / 2;

/// Aligns a pattern end to end with a part. Returns `None` if the distance is another one. An
/// alignment with d edits has only cells at most d columns from the diagonal.
fn trace(pattern: ExactPattern<'_>, part: &[Code], distance: u32, equality: &Equality) -> Option<Cigar> {
    let ExactPattern { codes: pattern, rows: exact } = pattern;
    let (m, n, reach) = (pattern.len(), part.len(), distance as usize);
    let width = 2 * reach + 1;
    // Cell (i, j) has index j - i + reach in row i.
    let (mut before, mut row) = (vec![UNREACHED; width], vec![UNREACHED; width]);
    let mut steps = vec![Op::Deletion; (m + 1) * width];
    (0..=n.min(reach)).for_each(|j| row[j + reach] = j as i64 * EDIT);
    for i in 1..=m {
        std::mem::swap(&mut before, &mut row);
        row.fill(UNREACHED);
        let is_exact = exact.is_exact[i - 1];
        for j in i.saturating_sub(reach)..=n.min(i + reach) {
            let cell = j + reach - i;
            let (mut cost, mut step) = (UNREACHED, Op::Match);
            if j > 0 && before[cell] < UNREACHED {
                if equality.is_match(pattern[i - 1], part[j - 1]) {
                    cost = before[cell] - 1;
                } else if !is_exact {
                    (cost, step) = (before[cell] + EDIT, Op::Mismatch);
                }
            }
            if cell + 1 < width && !is_exact && before[cell + 1] + EDIT < cost {
                (cost, step) = (before[cell + 1] + EDIT, Op::Insertion);
            }
            if cell > 0 && j > 0 && !exact.joins(i) && row[cell - 1] + EDIT < cost {
                (cost, step) = (row[cell - 1] + EDIT, Op::Deletion);
            }
            (row[cell], steps[i * width + cell]) = (cost, step);
        }
    }
    let corner = (n + reach).checked_sub(m).filter(|&cell| cell < width)?;
    let matches = i64::from(distance) * EDIT - row[corner];
    if !(0..=m as i64).contains(&matches) {
        return None;
    }
    let (mut i, mut j, mut cigar) = (m, n, Cigar::new());
    while i > 0 || j > 0 {
        let step = steps[i * width + j + reach - i];
        cigar.push(1, step);
        i -= usize::from(step.consumes_query());
        j -= usize::from(step.consumes_target());
    }
    cigar.reverse();
    Some(cigar)
}

#[cfg(test)]
mod tests;
