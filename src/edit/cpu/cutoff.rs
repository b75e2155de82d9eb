//! Where a pattern may end anywhere in a text, or begin and end in it with a part, rows that are above the limit are left out
//! (Ukkonen 1985): of a cell within the limit, all cells up its diagonal are within it, too.

use super::Pair;
use super::layout::{Layout, MAX_PAIRS};
use crate::score::EditMode;
use crate::simd::{BITS, LanesU64};

/// Words of rows that the next columns need, of a group of pairs side by side.
#[derive(Debug, Clone)]
pub(super) struct CutOff {
    /// Whether any could be left out.
    pub pays: bool,
    /// Words from the first that are needed for the next 64 columns.
    pub words: usize,
    all: usize,
    /// Steps along the row before the first.
    begin_costs: i64,
    /// Of each pair; spare lanes have limits that nothing reaches.
    limits: [i64; MAX_PAIRS],
    /// The least row that counts in a text's last column.
    least_rows: [i64; MAX_PAIRS],
    paddings: [i64; MAX_PAIRS],
}

impl CutOff {
    /// Before the first column of pairs whose patterns have so many words.
    pub(super) fn new(pairs: &[Pair<'_>], mode: EditMode, words: usize) -> Self {
        let of = |spare: i64, value: fn(&Pair<'_>) -> i64| {
            let mut all = [spare; MAX_PAIRS];
            all.iter_mut().zip(pairs).for_each(|(to, pair)| *to = value(pair));
            all
        };
        let mut least_rows = of(0, |pair| pair.pattern.len() as i64);
        if let EditMode::Overlap(reach) = mode {
            for (row, pair) in least_rows.iter_mut().zip(pairs) {
                *row -= reach.unaligned(pair.pattern.len() as u32, pair.text.len() as u32) as i64;
            }
        }
        let is_limited = |pair: &Pair<'_>| (pair.limit as usize) + 2 * BITS < pair.pattern.len();
        CutOff {
            pays: mode != EditMode::Global && pairs.iter().all(is_limited),
            words,
            all: words,
            begin_costs: i64::from(mode == EditMode::Prefix),
            limits: of(i64::MIN / 2, |pair| i64::from(pair.limit)),
            least_rows,
            paddings: of(0, |pair| pair.padding() as i64),
        }
    }

    /// Finds out after `before` columns what the next 64 need: `words`, and the distances in the last row if that is
    /// among them. `None` if no pair can come within its limit any more, or again.
    ///
    /// # Safety
    /// `buffer` points to all words of the group, laid out as `at` has them, which may be written.
    #[inline(always)]
    pub(super) unsafe fn advance<V: LanesU64>(
        &mut self,
        buffer: *mut u64,
        at: Layout,
        texts: &[usize; MAX_PAIRS],
        before: usize,
    ) -> Option<[i64; MAX_PAIRS]> {
        let lanes = at.lanes;
        let mut distance = [self.begin_costs * before as i64; MAX_PAIRS];
        // Words up to the last that may have a row within the limit.
        let mut active = [0i64; MAX_PAIRS];
        for word in 0..self.words {
            for lane in 0..lanes {
                // SAFETY: the caller's.
                let (pv, mv) = unsafe { (*buffer.add(at.pv(word) + lane), *buffer.add(at.mv(word) + lane)) };
                let below = distance[lane] + i64::from(pv.count_ones()) - i64::from(mv.count_ones());
                let rows = BITS as i64 - if word == 0 { self.paddings[lane] } else { 0 };
                // Between two rows, no row is lower than as if it went straight down from one and up to the other.
                let may_be = distance[lane] + below - rows <= 2 * self.limits[lane];
                active[lane] = if may_be { word as i64 + 1 } else { active[lane] };
                distance[lane] = below;
            }
        }
        let mut needed = 0;
        for lane in 0..lanes {
            let rows = (BITS as i64 * active[lane] - self.paddings[lane]).max(0);
            let columns = texts[lane] as i64 - before as i64;
            let begins = self.begin_costs * before as i64 <= self.limits[lane];
            let can_come = columns > 0 && rows + columns >= self.least_rows[lane] && (active[lane] > 0 || begins);
            needed = needed.max(if can_come { active[lane] as usize + 1 } else { 0 });
        }
        if needed == 0 {
            return None;
        }
        let last = self.words;
        self.words = needed.min(self.all);
        for word in last..self.words {
            // What was left out is above the limit, and these rows are no lower than it is.
            for (lane, distance) in distance[..lanes].iter_mut().enumerate() {
                // SAFETY: the caller's.
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
