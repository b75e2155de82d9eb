//! Computes rows of a tile one by one: rows that do not fill a vector, and rows whose scores do not
//! fit in 8 bits.

use super::directions::PACKED;
use super::strip::{MARGIN, TileStrip};
use crate::long::NEG_INF;
use crate::seq::Code;

/// Computes a strip. Returns its greatest value.
pub(super) fn compute(strip: &mut TileStrip<'_>, target: &[Code]) -> i32 {
    let n = strip.columns;
    let (first, next) = (strip.scheme.gaps.first, strip.scheme.gaps.next);
    let floor = if strip.scheme.clamp { 0 } else { i32::MIN };
    let (h, gap) = (&mut strip.bottom.0[MARGIN..], &mut strip.bottom.1[MARGIN..]);
    h[..=n + MARGIN].copy_from_slice(&strip.top.0[..=n + MARGIN]);
    gap[..=n + MARGIN].copy_from_slice(&strip.top.1[..=n + MARGIN]);
    let words = n.div_ceil(PACKED);
    let mut greatest = 0;
    for (row, &code) in strip.rows.iter().enumerate() {
        let mut diagonal = h[0];
        let (mut cell, mut deletion) = (strip.left.0[row + 1], strip.left.1[row + 1]);
        (h[0], gap[0]) = (cell, cell.wrapping_sub(first));
        for (column, &other) in target.iter().enumerate() {
            let substituted = diagonal + strip.scheme.substitution.score(code, other);
            let (above, insertion) = (&mut h[column + 1], &mut gap[column + 1]);
            diagonal = *above;
            let entered = *insertion;
            cell = substituted.max(entered).max(deletion).max(floor);
            let opened = cell - first;
            *above = cell;
            *insertion = opened.max(entered - next);
            deletion = opened.max(deletion - next);
            greatest = greatest.max(cell);
            if cell == strip.value && strip.first_cell.is_none() {
                strip.first_cell = Some((row, column));
            }
            if let Some(word) = strip.directions.get_mut(row * words + column / PACKED) {
                let ends = cell == floor;
                let two = cell == substituted || ends;
                let insert = cell == entered && cell != substituted || ends;
                let bits = u64::from(two)
                    | u64::from(insert) << 16
                    | u64::from(*insertion == opened) << 32
                    | u64::from(deletion == opened) << 48;
                *word |= bits << (column % PACKED);
            }
        }
        (strip.right.0[row + 1], strip.right.1[row + 1]) = (cell, deletion);
    }
    debug_assert!(h[n + 1..][..MARGIN].iter().all(|&h| h == NEG_INF));
    greatest
}
