//! One pair, word after word, without vectors: for any relation of codes, and for all distances of the last row.

use crate::score::{EditDistance, EditMode, EditScheme, Equality, OverlapReach};
use crate::seq::Code;
use crate::simd::BITS;

/// Rows that match each code of the text.
struct Profile {
    words: usize,
    bits: Vec<u64>,
}

impl Profile {
    fn new(pattern: &[Code], equality: &Equality) -> Self {
        let words = pattern.len().div_ceil(BITS);
        let codes = equality.alphabet().size();
        // One pass for each code that the pattern has.
        let mut rows = vec![0u64; codes * words];
        let mut is_there = [false; 256];
        for (row, &code) in pattern.iter().enumerate() {
            rows[code as usize * words + row / BITS] |= 1 << (row % BITS);
            is_there[code as usize] = true;
        }
        let mut bits = vec![0; codes * words];
        for own in (0..codes).filter(|&own| is_there[own]) {
            for code in (0..codes).filter(|&code| equality.is_match(own as Code, code as Code)) {
                for word in 0..words {
                    bits[code * words + word] |= rows[own * words + word];
                }
            }
        }
        Profile { words, bits }
    }

    fn of(&self, code: Code) -> &[u64] {
        &self.bits[code as usize * self.words..][..self.words]
    }
}

/// Goes over the distances of the whole pattern to parts of the text: `visit` gets every end j from 1 to n, and the
/// least distance to a part that ends there, from any start in infix mode, from the text's begin in the other modes.
pub fn last_row(pattern: &[Code], text: &[Code], scheme: &EditScheme, mut visit: impl FnMut(usize, u32)) {
    // Steps along the row before the first.
    let begin_costs = u64::from(scheme.mode != EditMode::Infix);
    if pattern.is_empty() {
        (1..=text.len()).for_each(|j| visit(j, begin_costs as u32 * j as u32));
        return;
    }
    let profile = Profile::new(pattern, &scheme.equality);
    let mut rows = vec![RowDeltas { pv: u64::MAX, mv: 0 }; profile.words];
    let top = (pattern.len() - 1) % BITS;
    let mut distance = pattern.len() as u32;
    for (j, &code) in text.iter().enumerate() {
        // The word's own bits for the last word are those of the last row.
        let (mut up, mut down) = (begin_costs, 0);
        let (mut hp, mut hn) = (0, 0);
        for (&matches, row) in profile.of(code).iter().zip(&mut rows) {
            (hp, hn) = step(matches, row, up, down);
            (up, down) = (hp >> (BITS - 1), hn >> (BITS - 1));
        }
        distance = distance + (hp >> top & 1) as u32 - (hn >> top & 1) as u32;
        visit(j + 1, distance);
    }
}

/// The distance of an overlap of sequences that are not empty ([`EditMode::Overlap`]); not compared with the limit.
pub(super) fn overlap(pattern: &[Code], text: &[Code], reach: OverlapReach, equality: &Equality) -> EditDistance {
    let (m, n) = (pattern.len() as u32, text.len() as u32);
    let (below_most, behind_most) = (reach.unaligned(m, n), reach.unaligned(n, m));
    let profile = Profile::new(pattern, equality);
    let top = (pattern.len() - 1) % BITS;
    // Rows and columns begin at no cost.
    let mut rows = vec![RowDeltas { pv: 0, mv: 0 }; profile.words];
    let (mut distance, mut least) = (0u32, u32::MAX);
    for (j, &code) in text.iter().enumerate() {
        let (mut up, mut down) = (0, 0);
        let (mut hp, mut hn) = (0, 0);
        for (&matches, row) in profile.of(code).iter().zip(&mut rows) {
            (hp, hn) = step(matches, row, up, down);
            (up, down) = (hp >> (BITS - 1), hn >> (BITS - 1));
        }
        distance = distance + (hp >> top & 1) as u32 - (hn >> top & 1) as u32;
        if u64::from(n) - j as u64 - 1 <= behind_most && distance <= reach.most_edits(m, j as u32 + 1) {
            least = least.min(distance);
        }
    }
    // Up the last column.
    for (below, row) in (0..pattern.len()).rev().enumerate() {
        if below as u64 > below_most {
            break;
        }
        if distance <= reach.most_edits(row as u32 + 1, n) {
            least = least.min(distance);
        }
        let RowDeltas { pv, mv } = rows[row / BITS];
        distance = distance + (mv >> (row % BITS) & 1) as u32 - (pv >> (row % BITS) & 1) as u32;
    }
    EditDistance { distance: least, end: 0 }
}

/// Differences between a word's rows and the rows above them: bits of +1, and of -1.
#[derive(Debug, Clone, Copy)]
struct RowDeltas {
    pv: u64,
    mv: u64,
}

/// A word of the next column; gives its differences along the rows. `up` and `down`: those of the row above it.
#[inline(always)]
fn step(matches: u64, RowDeltas { pv, mv }: &mut RowDeltas, up: u64, down: u64) -> (u64, u64) {
    let zero = matches | *mv | down;
    let d0 = ((zero & *pv).wrapping_add(*pv) ^ *pv) | zero;
    let (hp, hn) = (*mv | !(d0 | *pv), d0 & *pv);
    let (hp_before, hn_before) = (hp << 1 | up, hn << 1 | down);
    (*pv, *mv) = (hn_before | !(d0 | hp_before), hp_before & d0);
    (hp, hn)
}

/// Distance and end of a pair whose sequences are not empty; not compared with the limit.
pub(super) fn find(pattern: &[Code], text: &[Code], scheme: &EditScheme) -> EditDistance {
    if let EditMode::Overlap(reach) = scheme.mode {
        return overlap(pattern, text, reach, &scheme.equality);
    }
    let mut found = EditDistance::NONE;
    last_row(pattern, text, scheme, |end, distance| {
        if distance < found.distance || scheme.mode == EditMode::Global {
            found = EditDistance { distance, end: end as u32 };
        }
    });
    found
}
