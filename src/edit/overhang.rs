//! Patterns that hang over an end of a text, as in sassy (Beeloo and Groot Koerkamp 2025): a symbol
//! beyond the end costs less than an edit, because the text may continue there.
//!
//! The distance of an alignment is the number of its edits, plus the costs of the symbols that hang
//! over each end. A place can be an end beyond the end of the text: the pattern then hangs over it
//! by this number of symbols.

use std::ops::Range;

use super::exact::{ExactColumns, ExactPattern, PartStart};
use super::overhang_cost::OverhangCost;
use crate::score::Equality;
use crate::seq::{Code, Strand};

/// Maximum number of symbols of a pattern that may hang over. Single precision distinguishes as
/// many.
pub const MAX_SYMBOLS: u32 = 1 << 24;

/// Number of symbols of a pattern that hang over the ends of a text. On the minus strand, this
/// refers to the reverse complement of the pattern.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overhang {
    /// Number of symbols before the start of the text.
    pub before: u32,
    /// Number of symbols after the end of the text.
    pub after: u32,
}

impl Overhang {
    /// Returns the symbols of a pattern that do not hang over.
    pub fn rest(self, pattern_symbols: usize) -> Range<usize> {
        self.before as usize..pattern_symbols - self.after as usize
    }

    /// Returns the cost of all symbols that hang over.
    pub fn cost(self, cost: OverhangCost) -> u32 {
        cost.symbols(self.before) + cost.symbols(self.after)
    }
}

/// A place that may hang over an end of a text.
#[derive(Debug, Clone, Copy)]
pub struct OverhangPlace {
    /// The strand.
    pub strand: Strand,
    /// The end of the part, or its start on the minus strand, within the text.
    pub position: u32,
    /// The distance.
    pub distance: u32,
    /// Number of symbols that hang over the end on the plus strand, and over the start on the minus
    /// strand.
    pub overhang: Overhang,
    /// The cost of these symbols.
    pub cost: OverhangCost,
}

impl OverhangPlace {
    /// Returns the symbols that hang over both ends of the text. `pattern` is the reverse
    /// complement on the minus strand.
    ///
    /// If the part can reach the other end of the text, it does so: it is then the longest part. As
    /// few symbols as possible hang over this end, except that a symbol hangs over rather than
    /// being an insertion next to the end.
    pub fn overhang(&self, pattern: ExactPattern<'_>, text: &[Code], equality: &Equality) -> Overhang {
        let OverhangPlace { strand, position, distance, overhang, cost } = *self;
        let limit = distance - overhang.cost(cost);
        let rest = overhang.rest(pattern.codes.len());
        let (codes, rows) = (&pattern.codes[rest.clone()], &pattern.rows.part(rest));
        if strand == Strand::Minus {
            let text = &text[position as usize..];
            let after = opposite_symbols(ExactPattern { codes, rows }, text, cost, limit, equality);
            return Overhang { after, ..overhang };
        }
        let reversed = |codes: &[Code]| codes.iter().rev().copied().collect::<Vec<Code>>();
        let text = &text[..position as usize];
        if text.len() > codes.len() + limit as usize {
            return overhang;
        }
        let pattern = ExactPattern { codes: &reversed(codes), rows: &rows.reversed() };
        let before = opposite_symbols(pattern, &reversed(text), cost, limit, equality);
        Overhang { before, ..overhang }
    }
}

/// Returns the number of last symbols of a pattern that hang over the end of a text, if the rest of
/// the pattern is aligned with the whole text. `limit` is the least distance of all alignments that
/// start where the text starts. Returns 0 if no such alignment reaches the end of the text.
fn opposite_symbols(
    pattern: ExactPattern<'_>,
    text: &[Code],
    cost: OverhangCost,
    limit: u32,
    equality: &Equality,
) -> u32 {
    let m = pattern.codes.len();
    if text.len() > m + limit as usize {
        return 0;
    }
    let mut columns = ExactColumns::default();
    let Some(edits) = columns.last_column(pattern, text, PartStart::TextStart, limit, equality) else {
        return 0;
    };
    // The number of edits if this number of symbols hangs over.
    let edits = |symbols: usize| m.checked_sub(symbols).and_then(|rows| edits.get(rows)).copied();
    let has_limit = |symbols: usize| {
        pattern.rows.may_hang_over(m - symbols)
            && edits(symbols).is_some_and(|edits| edits + cost.symbols(symbols as u32) == limit)
    };
    let Some(mut symbols) = (0..=m).find(|&symbols| has_limit(symbols)) else { return 0 };
    while symbols < m && has_limit(symbols + 1) && edits(symbols + 1) < edits(symbols) {
        symbols += 1;
    }
    symbols as u32
}

#[cfg(test)]
mod tests;
