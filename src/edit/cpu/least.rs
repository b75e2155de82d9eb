//! Least distances of last rows, computed from the steps between their cells.

use crate::score::EditDistance;
use crate::simd::{BITS, array_of};

/// The last rows of L pairs up to some column, and the least distance in each.
///
/// All pairs are processed together in arrays, so that the compiler vectorises the loops. The
/// position of the least distance is determined at the end. Until then, the group of up to 64 steps
/// that contains it is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastRowMinimum<const L: usize> {
    /// Distances at the current column.
    distance: [i64; L],
    /// Least distances up to the current column, excluding column 0.
    least: [i64; L],
    /// Steps that contain the least distance, the column before them, and the distance there.
    steps: RowSteps<L>,
    before: [i64; L],
    from: [i64; L],
}

/// At most 64 steps. The first is the highest bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSteps<const L: usize> {
    /// Bits where the distance increases by one.
    pub up: [u64; L],
    /// Bits where the distance decreases by one.
    pub down: [u64; L],
}

impl<const L: usize> LastRowMinimum<L> {
    /// Creates the state before the first column, where each distance is the length of the pattern.
    pub(super) fn new(distance: [i64; L]) -> Self {
        let none = RowSteps { up: [0; L], down: [0; L] };
        LastRowMinimum { distance, least: [i64::MAX / 2; L], steps: none, before: [0; L], from: distance }
    }

    /// Returns the distances at the current column.
    pub(super) fn distance(&self) -> [i64; L] {
        self.distance
    }

    /// Sets the distances at the current column.
    pub(super) fn set_distance(&mut self, distance: [i64; L]) {
        self.distance = distance;
    }

    /// Advances by `columns` columns, at most 64, starting with column `before + 1`. Steps beyond
    /// them are ignored.
    #[inline(always)]
    pub(super) fn advance(&mut self, steps: RowSteps<L>, before: usize, columns: [usize; L]) {
        let (kept_steps, low, sum) = block(steps, columns);
        for lane in 0..L {
            let is_less = (columns[lane] > 0) & (self.distance[lane] + low[lane] < self.least[lane]);
            let choose = |new: i64, old: i64| if is_less { new } else { old };
            self.least[lane] = choose(self.distance[lane] + low[lane], self.least[lane]);
            self.before[lane] = choose(before as i64, self.before[lane]);
            self.from[lane] = choose(self.distance[lane], self.from[lane]);
            self.steps.up[lane] = if is_less { kept_steps.up[lane] } else { self.steps.up[lane] };
            self.steps.down[lane] = if is_less { kept_steps.down[lane] } else { self.steps.down[lane] };
            self.distance[lane] += sum[lane];
        }
    }

    /// Returns the least distances with the first column that has them.
    #[inline(always)]
    pub(super) fn results(&self) -> [EditDistance; L] {
        let [lowest, sums] = bytes(&self.steps);
        // Columns before the byte with the first least distance, the steps of that byte, and the
        // distance before it.
        let (mut ends, mut sum, mut is_before) = (self.before, self.from, [true; L]);
        let (mut ups, mut downs, mut from) = ([0; L], [0; L], [0; L]);
        for k in (0..8).rev() {
            for lane in 0..L {
                let is_here = is_before[lane] & (sum[lane] + byte(lowest[lane], k) == self.least[lane]);
                if is_here {
                    ups[lane] = self.steps.up[lane] >> (8 * k) & 0xff;
                    downs[lane] = self.steps.down[lane] >> (8 * k) & 0xff;
                    from[lane] = sum[lane];
                }
                is_before[lane] &= !is_here;
                ends[lane] += if is_before[lane] { 8 } else { 0 };
                sum[lane] += byte(sums[lane], k);
            }
        }
        let mut is_before = [true; L];
        for bit in (0..8).rev() {
            for lane in 0..L {
                from[lane] += (ups[lane] >> bit & 1) as i64 - (downs[lane] >> bit & 1) as i64;
                ends[lane] += i64::from(is_before[lane]);
                is_before[lane] &= from[lane] != self.least[lane];
            }
        }
        array_of(|lane| EditDistance { distance: self.least[lane] as u32, end: ends[lane] as u32 })
    }
}

/// Returns the first `columns` steps, the lowest sum of a number of them, and the sum of all. The
/// lowest sum includes at least one step, even if `columns` is 0.
#[inline(always)]
pub(super) fn block<const L: usize>(steps: RowSteps<L>, columns: [usize; L]) -> (RowSteps<L>, [i64; L], [i64; L]) {
    let mut kept_steps = steps;
    for (lane, &columns) in columns.iter().enumerate() {
        // Two shifts are needed, because a shift by all 64 bits is not allowed.
        let beyond = u64::MAX >> (columns / 2) >> (columns - columns / 2);
        kept_steps.up[lane] &= !beyond;
        kept_steps.down[lane] &= !beyond;
    }
    let [lowest, sums] = bytes(&kept_steps);
    let (mut low, mut sum) = ([i64::MAX; L], [0; L]);
    for k in (0..8).rev() {
        for lane in 0..L {
            low[lane] = low[lane].min(sum[lane] + byte(lowest[lane], k));
            sum[lane] += byte(sums[lane], k);
        }
    }
    (kept_steps, low, sum)
}

/// Returns a byte of a word, with its sign.
#[inline(always)]
fn byte(word: u64, k: usize) -> i64 {
    (word << (BITS - 8 - 8 * k)) as i64 >> (BITS - 8)
}

/// Returns, for the eight steps of every byte, the lowest sum after at least one step and the sum
/// of all.
#[inline(always)]
fn bytes<const L: usize>(steps: &RowSteps<L>) -> [[u64; L]; 2] {
    let (mut lowest, mut sums) = ([[i8::MAX; 8]; L], [[0i8; 8]; L]);
    let (up, down) = (steps.up.map(u64::to_le_bytes), steps.down.map(u64::to_le_bytes));
    let (up, down) = (up.as_flattened(), down.as_flattened());
    for bit in (0..8).rev() {
        let both = lowest.as_flattened_mut().iter_mut().zip(sums.as_flattened_mut());
        for ((lowest, sum), (up, down)) in both.zip(up.iter().zip(down)) {
            *sum += (up >> bit & 1) as i8 - (down >> bit & 1) as i8;
            *lowest = (*lowest).min(*sum);
        }
    }
    let words = |bytes: [[i8; 8]; L]| bytes.map(|bytes| u64::from_le_bytes(bytes.map(|byte| byte as u8)));
    [words(lowest), words(sums)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_minimum_is_reported() {
        let mut row = LastRowMinimum::new([5, 1000]);
        let steps = |up, down| RowSteps { up: [up, u64::MAX], down: [down, 0] };
        row.advance(steps(0, 0), 0, [64, 0]);
        assert_eq!(row.results()[0], EditDistance { distance: 5, end: 1 });
        // The distances are 6 5 4 4 5 4. The remaining steps are ignored.
        row.advance(steps(0b1000_1000 << 56, 0b0110_0111 << 56), 64, [6, 0]);
        assert_eq!((row.distance(), row.results()[0]), ([4, 1000], EditDistance { distance: 4, end: 67 }));
        row.advance(steps(1 << 63, 1 << 62), 70, [64, 64]);
        assert_eq!((row.distance(), row.results()[0]), ([4, 1064], EditDistance { distance: 4, end: 67 }));
        row.advance(steps(0, 1), 134, [64, 3]);
        let results = [EditDistance { distance: 3, end: 198 }, EditDistance { distance: 1001, end: 71 }];
        assert_eq!((row.distance(), row.results()), ([3, 1067], results));
    }

    #[test]
    fn random_steps_give_the_first_minimum() {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        for round in 0..200 {
            let (mut row, mut distance, mut least) = (LastRowMinimum::new([200]), 200, (u32::MAX, 0));
            for chunk in 0..4 {
                let some = next();
                let (up, down) = (some & next() & !(round & 1), !some & next());
                let columns = 1 + (next() % 64) as usize;
                row.advance(RowSteps { up: [up], down: [down] }, 64 * chunk, [columns]);
                for c in 0..columns {
                    distance = distance + (up >> (63 - c) & 1) as u32 - (down >> (63 - c) & 1) as u32;
                    if distance < least.0 {
                        least = (distance, (64 * chunk + c + 1) as u32);
                    }
                }
            }
            assert_eq!(row.results(), [EditDistance { distance: least.0, end: least.1 }]);
            assert_eq!(row.distance(), [i64::from(distance)]);
        }
    }
}
