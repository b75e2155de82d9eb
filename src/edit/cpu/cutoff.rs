//! Pruning of rows above the limit, in modes where the pattern may end anywhere in the text or
//! overlap it (Ukkonen 1985). If a cell is within the limit, all earlier cells on its diagonal are
//! within the limit, too.

use super::EditPair;
use super::layout::{GroupLayout, MAX_PAIRS};
use crate::score::EditMode;
use crate::simd::{BITS, LanesU64};

/// The words of rows that the next columns of a group require.
#[derive(Debug, Clone)]
pub(super) struct CutOff {
    /// Whether pruning can save time.
    pub pays: bool,
    /// Number of words from the first that the next 64 columns need.
    pub words: usize,
    all: usize,
    /// Step along the row above the first row.
    start_cost: i64,
    /// Limit of each pair. Spare lanes have a limit below every distance.
    limits: [i64; MAX_PAIRS],
    /// For each text, the first row that counts in its last column.
    least_rows: [i64; MAX_PAIRS],
    paddings: [i64; MAX_PAIRS],
}

impl CutOff {
    /// Creates the state before the first column, for patterns with `words` words.
    pub(super) fn new(pairs: &[EditPair<'_>], mode: EditMode, words: usize) -> Self {
        let by_lane = |spare: i64, value: fn(&EditPair<'_>) -> i64| {
            let mut all = [spare; MAX_PAIRS];
            all.iter_mut().zip(pairs).for_each(|(to, pair)| *to = value(pair));
            all
        };
        let mut least_rows = by_lane(0, |pair| pair.pattern.len() as i64);
        if let EditMode::Overlap(reach) = mode {
            for (row, pair) in least_rows.iter_mut().zip(pairs) {
                *row -= reach.unaligned(pair.pattern.len() as u32, pair.text.len() as u32) as i64;
            }
        }
        let is_limited = |pair: &EditPair<'_>| (pair.limit as usize) + 2 * BITS < pair.pattern.len();
        CutOff {
            pays: mode != EditMode::Global && pairs.iter().all(is_limited),
            words,
            all: words,
            start_cost: i64::from(mode == EditMode::Prefix),
            limits: by_lane(i64::MIN / 2, |pair| i64::from(pair.limit)),
            least_rows,
            paddings: by_lane(0, |pair| pair.padding() as i64),
        }
    }

    /// Updates `words` for the next 64 columns, after `before` columns. Returns the distances in
    /// the last row of these words. Returns `None` if no pair can be within its limit from there
    /// on.
    ///
    /// # Safety
    /// `buffer` points to all words of the group in the layout `at`. They may be written.
    #[inline(always)]
    pub(super) unsafe fn advance<V: LanesU64>(
        &mut self,
        buffer: *mut u64,
        at: GroupLayout,
        texts: &[usize; MAX_PAIRS],
        before: usize,
    ) -> Option<[i64; MAX_PAIRS]> {
        let lanes = at.lanes;
        let mut distance = [self.start_cost * before as i64; MAX_PAIRS];
        // Number of words up to the last that may have a row within the limit.
        let mut active = [0i64; MAX_PAIRS];
        for word in 0..self.words {
            for lane in 0..lanes {
                // SAFETY: guaranteed by the caller.
                let (pv, mv) = unsafe { (*buffer.add(at.pv(word) + lane), *buffer.add(at.mv(word) + lane)) };
                let below = distance[lane] + i64::from(pv.count_ones()) - i64::from(mv.count_ones());
                let rows = BITS as i64 - if word == 0 { self.paddings[lane] } else { 0 };
                // A distance between two rows is at least what the steps straight down from the
                // upper row and straight up from the lower row allow.
                let may_be = distance[lane] + below - rows <= 2 * self.limits[lane];
                active[lane] = if may_be { word as i64 + 1 } else { active[lane] };
                distance[lane] = below;
            }
        }
        let mut needed = 0;
        for lane in 0..lanes {
            let rows = (BITS as i64 * active[lane] - self.paddings[lane]).max(0);
            let columns = texts[lane] as i64 - before as i64;
            let begins = self.start_cost * before as i64 <= self.limits[lane];
            let can_come = columns > 0 && rows + columns >= self.least_rows[lane] && (active[lane] > 0 || begins);
            needed = needed.max(if can_come { active[lane] as usize + 1 } else { 0 });
        }
        if needed == 0 {
            return None;
        }
        let last = self.words;
        self.words = needed.min(self.all);
        for word in last..self.words {
            // The pruned rows are above the limit. The values that replace them are never less than
            // the true values.
            for (lane, distance) in distance[..lanes].iter_mut().enumerate() {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    *buffer.add(at.pv(word) + lane) = u64::MAX;
                    *buffer.add(at.mv(word) + lane) = 0;
                }
                *distance += BITS as i64;
            }
        }
        Some(distance)
    }
}
