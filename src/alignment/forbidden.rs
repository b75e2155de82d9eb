//! Cells of a matrix that further local alignments of a pair may not use.
//!
//! An alignment covers a part of the query and a part of the target. The cells of these two parts
//! form a rectangle. Each further alignment of the pair avoids the rectangles of all earlier ones:
//! it aligns no query symbol with a target symbol if an earlier alignment covers both.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Alignment;

/// A rectangle of cells that no alignment may pass through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForbiddenRectangle {
    /// Query symbols, on the aligned strand.
    pub query: Range<u32>,
    /// Target symbols.
    pub target: Range<u32>,
}

/// Adjacent columns that are all free or all forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnSegment {
    /// First column.
    pub start: u32,
    /// Column after the last.
    pub end: u32,
    /// Whether alignments may use the cells.
    pub is_free: bool,
}

impl ForbiddenRectangle {
    /// Returns the cells that an alignment covers.
    pub fn covered_by(alignment: &Alignment) -> Self {
        let symbols = |start: u32, span: u64| start..start.saturating_add(span as u32);
        ForbiddenRectangle {
            query: symbols(alignment.query_start, alignment.cigar.query_span()),
            target: symbols(alignment.target_start, alignment.cigar.target_span()),
        }
    }

    /// Returns whether the cell of a query symbol and a target symbol is in the rectangle.
    pub(crate) fn contains(&self, query: u32, target: u32) -> bool {
        self.query.contains(&query) && self.target.contains(&target)
    }

    /// Returns the part of the rectangle in these rows and columns, counted from their starts.
    /// Returns `None` if there is no such part.
    pub(crate) fn within(&self, query: Range<u32>, target: Range<u32>) -> Option<Self> {
        let clip = |own: &Range<u32>, part: &Range<u32>| {
            let (start, end) = (own.start.max(part.start), own.end.min(part.end));
            (start < end).then(|| start - part.start..end - part.start)
        };
        Some(ForbiddenRectangle { query: clip(&self.query, &query)?, target: clip(&self.target, &target)? })
    }
}

/// Divides rows `0..rows` into belts. Within a belt, the same columns of every row are forbidden.
/// Belts also end at `cuts`.
pub(crate) fn belts(
    forbidden: &[ForbiddenRectangle],
    rows: u32,
    cuts: impl IntoIterator<Item = u32>,
) -> Vec<Range<u32>> {
    let borders = forbidden.iter().flat_map(|part| [part.query.start, part.query.end]);
    let cuts: BTreeSet<u32> = borders.chain(cuts).filter(|&row| row < rows).chain([0, rows]).collect();
    let cuts: Vec<u32> = cuts.into_iter().collect();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Divides the columns of a belt into segments, from left to right.
pub(crate) fn segments(forbidden: &[ForbiddenRectangle], belt: Range<u32>, columns: u32) -> Vec<ColumnSegment> {
    let mut masked: Vec<(u32, u32)> = forbidden
        .iter()
        .filter(|part| part.query.start <= belt.start && belt.end <= part.query.end && !part.target.is_empty())
        .map(|part| (part.target.start, part.target.end))
        .collect();
    masked.sort_unstable();
    let mut segments: Vec<ColumnSegment> = Vec::new();
    let mut at = 0;
    for (start, end) in masked {
        if start > at {
            segments.push(ColumnSegment { start: at, end: start, is_free: true });
        }
        match segments.last_mut() {
            Some(last) if !last.is_free && start <= last.end => last.end = last.end.max(end),
            _ => segments.push(ColumnSegment { start, end, is_free: false }),
        }
        at = at.max(end);
    }
    if at < columns {
        segments.push(ColumnSegment { start: at, end: columns, is_free: true });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(query: Range<u32>, target: Range<u32>) -> ForbiddenRectangle {
        ForbiddenRectangle { query, target }
    }

    #[test]
    fn free_columns_lie_between_forbidden_ones() {
        let list = |forbidden: &[ForbiddenRectangle], belt, columns| -> Vec<(u32, u32, bool)> {
            let segments = segments(forbidden, belt, columns);
            segments.into_iter().map(|segment| (segment.start, segment.end, segment.is_free)).collect()
        };
        assert_eq!(list(&[], 0..9, 7), [(0, 7, true)]);
        let parts = [part(2..6, 3..5), part(0..4, 4..6), part(0..9, 0..1)];
        assert_eq!(list(&parts, 2..4, 8), [(0, 1, false), (1, 3, true), (3, 6, false), (6, 8, true)]);
        assert_eq!(list(&parts, 4..6, 5), [(0, 1, false), (1, 3, true), (3, 5, false)]);
        assert_eq!(list(&parts, 6..9, 5), [(0, 1, false), (1, 5, true)]);
    }

    #[test]
    fn belts_end_where_rectangles_start_or_end() {
        let all = 0..5;
        assert_eq!(belts(&[], 5, []), [all]);
        assert_eq!(belts(&[part(2..4, 0..1), part(4..9, 3..4)], 9, []), [0..2, 2..4, 4..9]);
        assert_eq!(belts(&[part(2..4, 0..1)], 6, [0, 3, 6, 9]), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!(belts(&[part(0..9, 0..1)], 0, []), []);
    }

    #[test]
    fn parts_of_rectangles_count_from_the_part() {
        assert_eq!(part(2..6, 10..20).within(4..9, 5..12), Some(part(0..2, 5..7)));
        assert_eq!(part(2..6, 10..20).within(6..9, 5..12), None);
        assert_eq!(part(2..6, 10..20).within(0..9, 20..25), None);
    }
}
