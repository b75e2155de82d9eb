//! Exact filter for many patterns in long texts: the pieces of all patterns in shared tables.
//!
//! [`super::PieceFilter`] reads a text once for each pattern. A [`PieceIndex`] reads it once for
//! all patterns, because the cost of a lookup hardly depends on the number of q-grams in the table.
//! Both use the same definitions of pieces, variants and windows.
//!
//! Patterns of different lengths and limits need q-grams of different lengths. A
//! [`PieceIndexPlan`] selects a few lengths, and thereby tables, so that the expected cost is least.
//! Patterns whose pieces are too short for any table remain for other filters.

mod plan;
mod table;

use std::ops::Range;

pub use self::plan::PieceIndexPlan;
use self::table::PieceTable;
use super::PackedTexts;
use crate::score::Equality;
use crate::seq::{Code, SequenceId};

/// The pieces of consecutive patterns.
#[derive(Debug)]
pub struct PieceIndex {
    /// The first pattern.
    first: SequenceId,
    /// All patterns.
    patterns: Vec<IndexedPattern>,
    /// Tables, each with the pieces of other patterns.
    tables: Vec<PieceTable>,
    /// Whether a code other than A, C, G and T equals A, C, G or T.
    has_ambiguous: bool,
}

/// Properties of a pattern that determine its windows.
#[derive(Debug, Clone, Copy)]
struct IndexedPattern {
    symbols: u32,
    limit: u32,
    /// Whether a table has its pieces.
    is_indexed: bool,
}

/// A window of a text for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundWindow {
    /// The pattern.
    pub query: SequenceId,
    /// Number of symbols of the text before the window.
    pub start: u32,
    /// Number of symbols of the text up to its end.
    pub end: u32,
}

impl PieceIndex {
    /// Returns the patterns.
    pub fn queries(&self) -> Range<SequenceId> {
        self.first..self.first + self.patterns.len() as SequenceId
    }

    /// Returns whether the index has the pieces of a pattern. [`PieceIndex::windows`] returns no
    /// windows for other patterns.
    pub fn contains(&self, query: SequenceId) -> bool {
        self.patterns[(query - self.first) as usize].is_indexed
    }

    /// Replaces `windows` by the windows of all patterns in a range of a text, sorted by pattern
    /// and position. The windows of a pattern are disjoint, and they contain each part of the
    /// range within its limit.
    pub fn windows(&self, texts: &PackedTexts, text: SequenceId, part: Range<usize>, windows: &mut Vec<FoundWindow>) {
        let packed = texts.text(text);
        windows.clear();
        if self.has_ambiguous {
            for run in packed.ambiguous(part.clone()) {
                for (query, pattern) in (self.first..).zip(&self.patterns).filter(|(_, pattern)| pattern.is_indexed) {
                    let reach = (pattern.symbols + pattern.limit) as usize;
                    let start = run.start.saturating_sub(reach).max(part.start) as u32;
                    let end = (run.end + reach).min(part.end) as u32;
                    windows.push(FoundWindow { query, start, end });
                }
            }
        }
        for table in &self.tables {
            table.look_up(packed, &part, |entry, start| {
                let IndexedPattern { symbols, limit, .. } = self.patterns[(entry.query - self.first) as usize];
                let before = (entry.before + limit) as usize;
                let after = (symbols - entry.before + limit) as usize;
                let start_of_window = start.saturating_sub(before).max(part.start) as u32;
                let end = (start + after).min(part.end) as u32;
                windows.push(FoundWindow { query: entry.query, start: start_of_window, end });
            });
        }
        windows.sort_unstable();
        windows.dedup_by(|next, last| {
            let overlaps = last.query == next.query && next.start <= last.end;
            if overlaps {
                last.end = last.end.max(next.end);
            }
            overlaps
        });
    }
}

/// Splits a range of items into consecutive ranges. Each has the least number of items whose sizes
/// add up to `size` or more, and the last one has the rest.
pub(in crate::edit) fn consecutive_ranges(
    items: Range<u32>,
    size: u64,
    size_of: impl Fn(u32) -> u64,
) -> Vec<Range<u32>> {
    let mut ranges = Vec::new();
    let (mut open, mut sum) = (items.start..items.start, 0);
    for item in items {
        sum += size_of(item);
        open.end = item + 1;
        if sum >= size {
            ranges.push(std::mem::replace(&mut open, item + 1..item + 1));
            sum = 0;
        }
    }
    ranges.extend(Some(open).filter(|open| !open.is_empty()));
    ranges
}

/// Returns whether a code other than A, C, G and T equals A, C, G or T.
fn has_ambiguous(equality: &Equality) -> bool {
    let is_ambiguous = |code: &Code| !code.is_power_of_two();
    (1..16).filter(is_ambiguous).any(|code| (0..4).any(|bit| equality.is_match(code, 1 << bit)))
}

#[cfg(test)]
mod tests;
