//! Levenshtein distance with the textbook algorithm (Chacon et al. 2014, equation 1), cell by cell.

use crate::score::{EditDistance, EditMode, EditScheme, OverlapReach};
use crate::seq::Code;

/// Returns the distances of the whole pattern to parts of the text. Entry j is the least distance
/// to a part that ends after j symbols. In infix mode the part may start anywhere, in the other
/// modes it starts at the start of the text.
pub fn last_row(pattern: &[Code], text: &[Code], scheme: &EditScheme) -> Vec<u32> {
    let mut column: Box<[u32]> = (0..=pattern.len() as u32).collect();
    let mut row = vec![pattern.len() as u32];
    for (j, &symbol) in text.iter().enumerate() {
        let mut diagonal = column[0];
        column[0] = if scheme.mode == EditMode::Infix { 0 } else { j as u32 + 1 };
        for (i, &code) in pattern.iter().enumerate() {
            let substituted = diagonal + u32::from(!scheme.equality.is_match(code, symbol));
            diagonal = column[i + 1];
            column[i + 1] = substituted.min(column[i] + 1).min(diagonal + 1);
        }
        row.push(column[pattern.len()]);
    }
    row
}

/// Returns the result that engines must find for a pair.
pub fn find(pattern: &[Code], text: &[Code], scheme: &EditScheme) -> EditDistance {
    let (m, n) = (pattern.len() as u32, text.len() as u32);
    if let EditMode::Overlap(reach) = scheme.mode {
        let distance = overlap(pattern, text, reach, scheme);
        return EditDistance { distance, end: 0 }.within(scheme.limit(m, n));
    }
    let row = last_row(pattern, text, scheme);
    let limit = scheme.limit(m, n);
    if scheme.mode == EditMode::Global {
        return EditDistance { distance: row[text.len()], end: n }.within(limit);
    }
    let first = usize::from(m > 0 && n > 0);
    let ends = row.iter().enumerate().skip(first).take(if m == 0 { 1 } else { usize::MAX });
    let best = ends.min_by_key(|&(end, &distance)| (distance, end));
    best.map_or(EditDistance::NONE, |(end, &distance)| EditDistance { distance, end: end as u32 }.within(limit))
}

/// Returns the least distance of an overlap, which starts at the start of one sequence and ends at
/// the end of one sequence, within the bounds of `reach`. Returns [`u32::MAX`] if there is none.
fn overlap(pattern: &[Code], text: &[Code], reach: OverlapReach, scheme: &EditScheme) -> u32 {
    let (m, n) = (pattern.len() as u32, text.len() as u32);
    if m == 0 || n == 0 {
        return 0;
    }
    let (below_most, behind_most) = (reach.unaligned(m, n), reach.unaligned(n, m));
    let mut column: Box<[u32]> = vec![0; pattern.len() + 1].into();
    let mut least = u32::MAX;
    for (j, &symbol) in text.iter().enumerate() {
        let mut diagonal = 0;
        for (i, &code) in pattern.iter().enumerate() {
            let substituted = diagonal + u32::from(!scheme.equality.is_match(code, symbol));
            diagonal = column[i + 1];
            column[i + 1] = substituted.min(column[i] + 1).min(diagonal + 1);
        }
        let last = column[pattern.len()];
        if (text.len() - j - 1) as u64 <= behind_most && last <= reach.most_edits(m, j as u32 + 1) {
            least = least.min(last);
        }
    }
    let ends = column.iter().enumerate().skip(1).filter(|&(i, &distance)| {
        (pattern.len() - i) as u64 <= below_most && distance <= reach.most_edits(i as u32, n)
    });
    ends.map(|(_, &distance)| distance).fold(least, u32::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Equality, Limit};
    use crate::seq::Alphabet;

    fn codes(letters: &str) -> Vec<Code> {
        letters.bytes().map(|letter| Alphabet::Protein.encode(letter).unwrap()).collect()
    }

    fn nearest(mode: EditMode, limit: Limit, pattern: &str, text: &str) -> EditDistance {
        let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Protein), limit };
        find(&codes(pattern), &codes(text), &scheme)
    }

    #[test]
    fn published_examples_have_their_distances() {
        let global = |a, b| nearest(EditMode::Global, Limit::None, a, b).distance;
        assert_eq!(global("KITTEN", "SITTING"), 3);
        assert_eq!(global("SATURDAY", "SUNDAY"), 3);
        assert_eq!((global("", "ABC"), global("ABC", ""), global("", "")), (3, 3, 0));
        // Table 1 of the paper: the last row is 5 4 4 3 3 2 2.
        let scheme =
            EditScheme { mode: EditMode::Infix, equality: Equality::literal(Alphabet::Protein), limit: Limit::None };
        assert_eq!(last_row(&codes("TAGAC"), &codes("ATCGAG"), &scheme), [5, 4, 4, 3, 3, 2, 2]);
        let infix = |a, b| nearest(EditMode::Infix, Limit::None, a, b);
        assert_eq!(infix("TAGAC", "ATCGAG"), EditDistance { distance: 2, end: 5 });
        assert_eq!(infix("A", "T"), EditDistance { distance: 1, end: 1 });
        assert_eq!(infix("", "T"), EditDistance { distance: 0, end: 0 });
        assert_eq!(infix("AC", ""), EditDistance { distance: 2, end: 0 });
        assert_eq!(nearest(EditMode::Prefix, Limit::None, "AC", "GACT"), EditDistance { distance: 1, end: 3 });
        assert_eq!(nearest(EditMode::Prefix, Limit::Distance(0), "AC", "GACT"), EditDistance::NONE);
    }
}
