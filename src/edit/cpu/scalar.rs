//! A single pair without vectors, one word after another. It supports any equality of codes, and
//! all distances of the last row.

use crate::score::{EditDistance, EditMode, EditScheme, Equality, OverlapReach};
use crate::seq::Code;
use crate::simd::BITS;

/// The rows that match each code of the text.
struct MatchProfile {
    words: usize,
    bits: Vec<u64>,
}

impl MatchProfile {
    fn new(pattern: &[Code], equality: &Equality) -> Self {
        let words = pattern.len().div_ceil(BITS);
        let codes = equality.alphabet().size();
        // One pass for each code that occurs in the pattern.
        let mut rows = vec![0u64; codes * words];
        let mut is_there = [false; 256];
        for (row, &code) in pattern.iter().enumerate() {
            rows[code as usize * words + row / BITS] |= 1 << (row % BITS);
            is_there[code as usize] = true;
        }
        let mut bits = vec![0; codes * words];
        for pattern_code in (0..codes).filter(|&pattern_code| is_there[pattern_code]) {
            for code in (0..codes).filter(|&code| equality.is_match(pattern_code as Code, code as Code)) {
                for word in 0..words {
                    bits[code * words + word] |= rows[pattern_code * words + word];
                }
            }
        }
        MatchProfile { words, bits }
    }

    fn rows_of(&self, code: Code) -> &[u64] {
        &self.bits[code as usize * self.words..][..self.words]
    }
}

/// Calls `visit` with every end j from 1 to n and the least distance of the whole pattern to a part
/// of the text that ends there. The part starts anywhere in infix mode, and at the start of the
/// text in the other modes.
pub fn last_row(pattern: &[Code], text: &[Code], scheme: &EditScheme, mut visit: impl FnMut(usize, u32)) {
    // Step along the row above the first row.
    let start_cost = u64::from(scheme.mode != EditMode::Infix);
    if pattern.is_empty() {
        (1..=text.len()).for_each(|j| visit(j, start_cost as u32 * j as u32));
        return;
    }
    let profile = MatchProfile::new(pattern, &scheme.equality);
    let mut rows = vec![RowDeltas { pv: u64::MAX, mv: 0 }; profile.words];
    let top = (pattern.len() - 1) % BITS;
    let mut distance = pattern.len() as u32;
    for (j, &code) in text.iter().enumerate() {
        // The differences of the last word include the last row.
        let (mut up, mut down) = (start_cost, 0);
        let (mut hp, mut hn) = (0, 0);
        for (&matches, row) in profile.rows_of(code).iter().zip(&mut rows) {
            (hp, hn) = step(matches, row, up, down);
            (up, down) = (hp >> (BITS - 1), hn >> (BITS - 1));
        }
        distance = distance + (hp >> top & 1) as u32 - (hn >> top & 1) as u32;
        visit(j + 1, distance);
    }
}

/// Returns the distance of an overlap ([`EditMode::Overlap`]) of two sequences that are not empty.
/// Does not apply the limit.
pub(super) fn overlap(pattern: &[Code], text: &[Code], reach: OverlapReach, equality: &Equality) -> EditDistance {
    let (m, n) = (pattern.len() as u32, text.len() as u32);
    let (below_most, behind_most) = (reach.unaligned(m, n), reach.unaligned(n, m));
    let profile = MatchProfile::new(pattern, equality);
    let top = (pattern.len() - 1) % BITS;
    // An overlap may start in any row or column at no cost.
    let mut rows = vec![RowDeltas { pv: 0, mv: 0 }; profile.words];
    let (mut distance, mut least) = (0u32, u32::MAX);
    for (j, &code) in text.iter().enumerate() {
        let (mut up, mut down) = (0, 0);
        let (mut hp, mut hn) = (0, 0);
        for (&matches, row) in profile.rows_of(code).iter().zip(&mut rows) {
            (hp, hn) = step(matches, row, up, down);
            (up, down) = (hp >> (BITS - 1), hn >> (BITS - 1));
        }
        distance = distance + (hp >> top & 1) as u32 - (hn >> top & 1) as u32;
        if u64::from(n) - j as u64 - 1 <= behind_most && distance <= reach.most_edits(m, j as u32 + 1) {
            least = least.min(distance);
        }
    }
    // Follows the last column upwards.
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

/// Differences between a word's rows and the rows above them: bits of +1 and of -1.
#[derive(Debug, Clone, Copy)]
struct RowDeltas {
    pv: u64,
    mv: u64,
}

/// Computes a word of the next column. Returns its differences along the rows. `up` and `down` are
/// the differences of the row above the word.
#[inline(always)]
fn step(matches: u64, RowDeltas { pv, mv }: &mut RowDeltas, up: u64, down: u64) -> (u64, u64) {
    let zero = matches | *mv | down;
    let d0 = ((zero & *pv).wrapping_add(*pv) ^ *pv) | zero;
    let (hp, hn) = (*mv | !(d0 | *pv), d0 & *pv);
    let (hp_before, hn_before) = (hp << 1 | up, hn << 1 | down);
    (*pv, *mv) = (hn_before | !(d0 | hp_before), hp_before & d0);
    (hp, hn)
}

/// Returns the distance and the end of a pair whose sequences are not empty. Does not apply the
/// limit.
pub(super) fn find(pattern: &[Code], text: &[Code], scheme: &EditScheme) -> EditDistance {
    if let EditMode::Overlap(reach) = scheme.mode {
        return overlap(pattern, text, reach, &scheme.equality);
    }
    let mut result = EditDistance::NONE;
    last_row(pattern, text, scheme, |end, distance| {
        if distance < result.distance || scheme.mode == EditMode::Global {
            result = EditDistance { distance, end: end as u32 };
        }
    });
    result
}
