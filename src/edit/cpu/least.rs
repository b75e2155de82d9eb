//! The least distances of last rows, from the steps between their cells.

use crate::score::EditDistance;
use crate::simd::BITS;

/// The last rows of L pairs up to some column, and the least distance in each.
///
/// All pairs at once in arrays, of which the compiler makes vectors; where the least distance is found is told at the
/// end, so until then the steps are kept among which it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least<const L: usize> {
    /// Distances at the column.
    distance: [i64; L],
    /// The least of those up to it, column 0 excepted.
    least: [i64; L],
    /// The steps among which that is, the column before them, and the distance there.
    steps: Steps<L>,
    before: [i64; L],
    from: [i64; L],
}

/// At most 64 steps: the first is the highest bit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps<const L: usize> {
    /// Whether the distance grows by one.
    pub up: [u64; L],
    /// Whether it falls by one.
    pub down: [u64; L],
}

impl<const L: usize> Least<L> {
    /// Before the first column, where the distances are the patterns' lengths.
    pub(super) fn new(distance: [i64; L]) -> Self {
        let none = Steps { up: [0; L], down: [0; L] };
        Least { distance, least: [i64::MAX / 2; L], steps: none, before: [0; L], from: distance }
    }

    /// Distances at the column.
    pub(super) fn distance(&self) -> [i64; L] {
        self.distance
    }

    /// Sets the distances at the column.
    pub(super) fn set_distance(&mut self, distance: [i64; L]) {
        self.distance = distance;
    }

    /// Goes over as many columns as `columns` says, at most 64, the first of which is number `before + 1`: steps beyond
    /// the columns do not matter.
    #[inline(always)]
    pub(super) fn advance(&mut self, steps: Steps<L>, before: usize, columns: [usize; L]) {
        let (own, low, sum) = block(steps, columns);
        for lane in 0..L {
            let is_less = (columns[lane] > 0) & (self.distance[lane] + low[lane] < self.least[lane]);
            let choose = |new: i64, old: i64| if is_less { new } else { old };
            self.least[lane] = choose(self.distance[lane] + low[lane], self.least[lane]);
            self.before[lane] = choose(before as i64, self.before[lane]);
            self.from[lane] = choose(self.distance[lane], self.from[lane]);
            self.steps.up[lane] = if is_less { own.up[lane] } else { self.steps.up[lane] };
            self.steps.down[lane] = if is_less { own.down[lane] } else { self.steps.down[lane] };
            self.distance[lane] += sum[lane];
        }
    }

    /// The least distances, each with the first column that has it.
    #[inline(always)]
    pub(super) fn found(&self) -> [EditDistance; L] {
        let [lowest, sums] = bytes(&self.steps);
        // Columns before the byte with the first least distance, the byte's steps, and the distance before it.
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
        std::array::from_fn(|lane| EditDistance { distance: self.least[lane] as u32, end: ends[lane] as u32 })
    }
}

/// So many of some steps, their lowest sum (of at least one step, also if there is none), and the sum of all.
#[inline(always)]
pub(super) fn block<const L: usize>(steps: Steps<L>, columns: [usize; L]) -> (Steps<L>, [i64; L], [i64; L]) {
    let mut own = steps;
    for (lane, &columns) in columns.iter().enumerate() {
        // In two steps, as no shift is by all 64 bits.
        let beyond = u64::MAX >> (columns / 2) >> (columns - columns / 2);
        own.up[lane] &= !beyond;
        own.down[lane] &= !beyond;
    }
    let [lowest, sums] = bytes(&own);
    let (mut low, mut sum) = ([i64::MAX; L], [0; L]);
    for k in (0..8).rev() {
        for lane in 0..L {
            low[lane] = low[lane].min(sum[lane] + byte(lowest[lane], k));
            sum[lane] += byte(sums[lane], k);
        }
    }
    (own, low, sum)
}

/// A byte of a word, with its sign.
#[inline(always)]
fn byte(word: u64, k: usize) -> i64 {
    (word << (BITS - 8 - 8 * k)) as i64 >> (BITS - 8)
}

/// Of the eight steps of every byte: the lowest sum, at least one step taken, and the sum of all.
#[inline(always)]
fn bytes<const L: usize>(steps: &Steps<L>) -> [[u64; L]; 2] {
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
    fn the_first_of_the_least_is_found() {
        let mut row = Least::new([5, 1000]);
        let steps = |up, down| Steps { up: [up, u64::MAX], down: [down, 0] };
        row.advance(steps(0, 0), 0, [64, 0]);
        assert_eq!(row.found()[0], EditDistance { distance: 5, end: 1 });
        // 6 5 4 4 5 4, and steps that do not count.
        row.advance(steps(0b1000_1000 << 56, 0b0110_0111 << 56), 64, [6, 0]);
        assert_eq!((row.distance(), row.found()[0]), ([4, 1000], EditDistance { distance: 4, end: 67 }));
        row.advance(steps(1 << 63, 1 << 62), 70, [64, 64]);
        assert_eq!((row.distance(), row.found()[0]), ([4, 1064], EditDistance { distance: 4, end: 67 }));
        row.advance(steps(0, 1), 134, [64, 3]);
        let found = [EditDistance { distance: 3, end: 198 }, EditDistance { distance: 1001, end: 71 }];
        assert_eq!((row.distance(), row.found()), ([3, 1067], found));
    }

    #[test]
    fn random_steps() {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        for round in 0..200 {
            let (mut row, mut distance, mut least) = (Least::new([200]), 200, (u32::MAX, 0));
            for chunk in 0..4 {
                let some = next();
                let (up, down) = (some & next() & !(round & 1), !some & next());
                let columns = 1 + (next() % 64) as usize;
                row.advance(Steps { up: [up], down: [down] }, 64 * chunk, [columns]);
                for c in 0..columns {
                    distance = distance + (up >> (63 - c) & 1) as u32 - (down >> (63 - c) & 1) as u32;
                    if distance < least.0 {
                        least = (distance, (64 * chunk + c + 1) as u32);
                    }
                }
            }
            assert_eq!(row.found(), [EditDistance { distance: least.0, end: least.1 }]);
            assert_eq!(row.distance(), [i64::from(distance)]);
        }
    }
}
