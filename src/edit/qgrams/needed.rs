//! Minimum number of q-grams that a pattern shares with every text within the limit (the q-gram
//! lemma: Jokinen and Ukkonen 1991, Ukkonen 1992).
//!
//! An edit destroys at most q windows of the pattern: the windows that contain its position. An
//! alignment with e edits covers some rows of the pattern. If these rows have w windows, at least
//! `w - q e` of them occur in the text. In modes other than overlap, all rows are covered. In
//! overlap mode, the covered rows are one of the following:
//!
//! - the rows from the first to row i. The reach ([`OverlapReach`]) limits e by the length i of the
//!   overlap. At least the rows that may not stay unaligned are covered;
//! - the rows from some row to the last, and the text from its start. With j symbols of the text
//!   and i of the pattern, j <= i + e and e <= rate j, so e <= rate i / (1 - rate). Also, i is at
//!   least j - rate j, where j is the least number of text symbols in an overlap;
//! - some rows in the middle, and the whole text: i >= n - e.
//!
//! Windows are counted in segments. If the covered rows end within a segment, this segment does not
//! count.
//!
//! Covered rows before row m start at the first row, and their text ends at the end of the text.
//! With i rows, the text has at most i + e symbols, so a short overlap needs windows from the end of
//! the text only. Covered rows that start after the first row need windows from the start of the
//! text likewise.

use crate::score::{EditMode, EditScheme, OverlapReach};

/// Number of windows in a segment.
pub(super) const SEGMENT: usize = 32;

/// The part of a text where windows are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPart {
    /// The whole text.
    Whole,
    /// Its first `part_symbols` symbols.
    Start,
    /// Its last `part_symbols` symbols.
    End,
}

/// A condition: at least `least` windows of the segments `from..until` occur in a part of the text.
/// `least` is at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentTest {
    pub from: usize,
    pub until: usize,
    pub least: usize,
    pub part: TextPart,
}

/// Computes tests for a pattern of `m` symbols and texts of these lengths, whose parts have
/// `part_symbols` symbols. Every pair within the limit passes at least one test. Returns false if
/// tests cannot rule out any pair.
pub(super) fn tests(
    scheme: &EditScheme,
    m: u32,
    q: usize,
    lengths: &[u32],
    part_symbols: usize,
    tests: &mut Vec<SegmentTest>,
) -> bool {
    tests.clear();
    let symbols = m as usize;
    if symbols < q {
        return false;
    }
    let windows = symbols + 1 - q;
    let segments = windows.div_ceil(SEGMENT);
    let limit = lengths.iter().map(|&n| scheme.limit(m, n) as usize).max().unwrap_or(0);
    let mut need = |from: usize, until: usize, edits: usize, part: TextPart| {
        let window_count = (until * SEGMENT).min(windows).saturating_sub(from * SEGMENT);
        let least = window_count.saturating_sub(q * edits);
        tests.push(SegmentTest { from, until, least, part });
        least > 0
    };
    let EditMode::Overlap(reach) = scheme.mode else { return need(0, segments, limit, TextPart::Whole) };
    // An overlap of `rows` rows with `edits` edits lies within this part of the text.
    let within = |rows: usize, edits: usize, part| if rows + edits <= part_symbols { part } else { TextPart::Whole };
    let rate = reach.rate.min(OverlapReach::ANY_RATE);
    let up_to = |symbols: usize| (reach.most_edits(symbols as u32, symbols as u32) as usize).min(limit);
    // Number of symbols of either sequence that precede the end of an overlap.
    let least_end = |&n: &u32| u64::from(m).saturating_sub(reach.unaligned(m, n)) as usize;
    let least_end = lengths.iter().map(least_end).min().unwrap_or(0);

    // Overlaps that start at the first row.
    for until in (least_end + 1).saturating_sub(q) / SEGMENT..segments {
        let most_rows = (until + 1) * SEGMENT + q - 2;
        let edits = up_to(most_rows.min(symbols));
        // An overlap with all rows may be anywhere in the text.
        let part = if most_rows < symbols { within(most_rows, edits, TextPart::End) } else { TextPart::Whole };
        if !need(0, until, edits, part) {
            return false;
        }
    }
    if !need(0, segments, up_to(symbols), TextPart::Whole) {
        return false;
    }
    // Overlaps that extend to the last row.
    let least_rows = least_end - up_to(least_end).min(least_end);
    for from in 1..=segments {
        let most_rows = symbols.saturating_sub((from - 1) * SEGMENT + 1);
        if most_rows < least_rows {
            break;
        }
        let edits = match OverlapReach::ANY_RATE - rate {
            0 => limit,
            rest => (u64::from(rate) * most_rows as u64 / u64::from(rest)).min(limit as u64) as usize,
        };
        if !need(from, segments, edits, within(most_rows, edits, TextPart::Start)) {
            return false;
        }
    }
    // Overlaps with the whole text.
    let inner = lengths.iter().map(|&n| (n as usize - up_to(n as usize).min(n as usize), up_to(n as usize)));
    let inner = inner.filter(|&(rows, _)| rows + 2 <= symbols);
    if let Some((rows, edits)) = inner.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) {
        let whole = (rows + 2).saturating_sub(q + SEGMENT) / SEGMENT;
        for from in 1..=(windows / SEGMENT).saturating_sub(whole) {
            if !need(from, from + whole, edits, TextPart::Whole) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Equality, IdentityDefinition, Limit, Scoring, edit_filter};
    use crate::seq::Alphabet;

    fn tests_for(scheme: &EditScheme, m: u32, lengths: &[u32]) -> Option<Vec<SegmentTest>> {
        let mut all = Vec::new();
        tests(scheme, m, 8, lengths, 400, &mut all).then_some(all)
    }

    fn whole_text(from: usize, until: usize, least: usize) -> SegmentTest {
        SegmentTest { from, until, least, part: TextPart::Whole }
    }

    #[test]
    fn whole_sequences_lose_q_windows_per_edit() {
        let scheme = |mode, limit| EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
        let global = scheme(EditMode::Global, Limit::Distance(3));
        assert_eq!(tests_for(&global, 100, &[90, 110]), Some(vec![whole_text(0, 3, 93 - 24)]));
        assert_eq!(tests_for(&global, 31, &[31]), None);
        assert_eq!(tests_for(&global, 7, &[7]), None);
        let rate = scheme(EditMode::Infix, Limit::Rate(0.05));
        assert_eq!(tests_for(&rate, 200, &[1000]), Some(vec![whole_text(0, 7, 193 - 80)]));
        assert_eq!(tests_for(&scheme(EditMode::Global, Limit::None), 100, &[100]), None);
    }

    #[test]
    fn overlaps_start_or_end_with_a_sequence() {
        let scheme = edit_filter(IdentityDefinition::InnerColumns, 0.97, &Scoring::dna()).unwrap();
        let all = tests_for(&scheme, 1470, &[1500, 1460]).unwrap();
        // At least 266 rows, which have 259 windows from the first row on: 8 whole segments.
        assert_eq!(all[0], SegmentTest { part: TextPart::End, ..whole_text(0, 8, 256 - 8 * 9) });
        assert!(all.contains(&whole_text(0, 12, 12 * 32 - 8 * 13)), "{all:?}");
        let ends: Vec<&SegmentTest> = all.iter().filter(|test| test.until == 46 && test.from > 0).collect();
        assert_eq!((ends[0].from, ends.last().unwrap().from), (1, 38));
        assert_eq!((ends[0].part, ends.last().unwrap().part), (TextPart::Whole, TextPart::Start));
        // Longer texts fit into no middle part, but a shorter one does.
        let all = tests_for(&scheme, 1470, &[1600, 1550]).unwrap();
        assert!(all.iter().all(|test| test.from == 0 || test.until == 46), "{all:?}");
        let all = tests_for(&scheme, 1470, &[1000]).unwrap();
        assert!(all.contains(&whole_text(1, 30, 29 * 32 - 8 * 30)), "{all:?}");
        assert_eq!(tests_for(&scheme, 1470, &[20]), None);
    }
}
