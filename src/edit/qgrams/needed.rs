//! How many q-grams a pattern shares with a text that is within the limit (the q-gram lemma: Jokinen and Ukkonen 1991,
//! Ukkonen 1992).
//!
//! An edit breaks the at most q windows of the pattern that have its place in them; every other window of the rows that an
//! alignment with e edits covers is in the text. So of w windows at least w - q e are. What is covered:
//!
//! - all rows, unless overlaps are looked for. Of these,
//! - from the first row on to row i: e is at most what the reach allows up to i, and i at least what may not be left out;
//! - from some row on to the last, the text from its begin: with j symbols of it and i of the pattern, j <= i + e and
//!   e <= rate j, so that e <= rate i / (1 - rate), and i is at least j - rate j for the least j;
//! - some rows in the middle, and all of the text: i >= n - e.
//!
//! Windows are counted in segments, and of rows that end within a segment the whole segments alone.

use crate::score::{EditMode, EditScheme, OverlapReach};

/// Windows of a segment.
pub(super) const SEGMENT: usize = 32;

/// Of the windows of segments `from..until`, so many have to be in the text; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    pub from: usize,
    pub until: usize,
    pub least: usize,
}

/// Tests of a pattern of `m` symbols and texts of these lengths, of which a pair within the limit passes one. False if any pair
/// may be within it.
pub(super) fn tests(scheme: &EditScheme, m: u32, q: usize, lengths: &[u32], tests: &mut Vec<Test>) -> bool {
    tests.clear();
    let symbols = m as usize;
    if symbols < q {
        return false;
    }
    let windows = symbols + 1 - q;
    let segments = windows.div_ceil(SEGMENT);
    let limit = lengths.iter().map(|&n| scheme.limit(m, n) as usize).max().unwrap_or(0);
    let mut need = |from: usize, until: usize, edits: usize| {
        let own = (until * SEGMENT).min(windows).saturating_sub(from * SEGMENT);
        let least = own.saturating_sub(q * edits);
        tests.push(Test { from, until, least });
        least > 0
    };
    let EditMode::Overlap(reach) = scheme.mode else { return need(0, segments, limit) };
    let rate = reach.rate.min(OverlapReach::ANY_RATE);
    let up_to = |symbols: usize| (reach.most_edits(symbols as u32, symbols as u32) as usize).min(limit);
    // As many symbols of either sequence come before an overlap's end.
    let least_end = |&n: &u32| u64::from(m).saturating_sub(reach.unaligned(m, n)) as usize;
    let least_end = lengths.iter().map(least_end).min().unwrap_or(0);

    // From the first row on.
    for until in (least_end + 1).saturating_sub(q) / SEGMENT..segments {
        if !need(0, until, up_to(((until + 1) * SEGMENT + q - 2).min(symbols))) {
            return false;
        }
    }
    if !need(0, segments, up_to(symbols)) {
        return false;
    }
    // On to the last row.
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
        if !need(from, segments, edits) {
            return false;
        }
    }
    // The whole text.
    let inner = lengths.iter().map(|&n| (n as usize - up_to(n as usize).min(n as usize), up_to(n as usize)));
    let inner = inner.filter(|&(rows, _)| rows + 2 <= symbols);
    if let Some((rows, edits)) = inner.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))) {
        let whole = (rows + 2).saturating_sub(q + SEGMENT) / SEGMENT;
        for from in 1..=(windows / SEGMENT).saturating_sub(whole) {
            if !need(from, from + whole, edits) {
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

    fn of(scheme: &EditScheme, m: u32, lengths: &[u32]) -> Option<Vec<Test>> {
        let mut all = Vec::new();
        tests(scheme, m, 8, lengths, &mut all).then_some(all)
    }

    #[test]
    fn wholes_have_all_windows_but_those_that_edits_break() {
        let scheme = |mode, limit| EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
        let global = scheme(EditMode::Global, Limit::Distance(3));
        assert_eq!(of(&global, 100, &[90, 110]), Some(vec![Test { from: 0, until: 3, least: 93 - 24 }]));
        assert_eq!(of(&global, 31, &[31]), None);
        assert_eq!(of(&global, 7, &[7]), None);
        let rate = scheme(EditMode::Infix, Limit::Rate(0.05));
        assert_eq!(of(&rate, 200, &[1000]), Some(vec![Test { from: 0, until: 7, least: 193 - 80 }]));
        assert_eq!(of(&scheme(EditMode::Global, Limit::None), 100, &[100]), None);
    }

    #[test]
    fn overlaps_begin_or_end_with_a_sequence() {
        let scheme = edit_filter(IdentityDefinition::InnerColumns, 0.97, &Scoring::dna()).unwrap();
        let all = of(&scheme, 1470, &[1500, 1460]).unwrap();
        // 266 rows at least: from the first row 259 windows, 8 whole segments.
        assert_eq!(all[0], Test { from: 0, until: 8, least: 256 - 8 * 9 });
        let ends: Vec<&Test> = all.iter().filter(|test| test.until == 46 && test.from > 0).collect();
        assert_eq!((ends[0].from, ends.last().unwrap().from), (1, 38));
        // Longer texts fit in no middle, a shorter one does.
        let all = of(&scheme, 1470, &[1600, 1550]).unwrap();
        assert!(all.iter().all(|test| test.from == 0 || test.until == 46), "{all:?}");
        let all = of(&scheme, 1470, &[1000]).unwrap();
        assert!(all.contains(&Test { from: 1, until: 30, least: 29 * 32 - 8 * 30 }), "{all:?}");
        assert_eq!(of(&scheme, 1470, &[20]), None);
    }
}
