//! The least distance of the last row, from the steps between its cells.

use super::words::BITS;
use crate::score::Found;

/// The last row up to some column, and the least distance in it.
#[derive(Debug, Clone, Copy)]
pub struct Least {
    /// Distance at the column.
    pub distance: u32,
    /// The least of those up to it, column 0 excepted.
    pub found: Found,
}

impl Least {
    /// Before the first column, where the distance is the pattern's length.
    pub fn new(distance: u32) -> Self {
        Least { distance, found: Found::NONE }
    }

    /// Goes over some columns, at most 64: bit c of `up` and `down` is set if the distance grows or falls by one to
    /// column `before + c + 1`.
    #[inline]
    pub fn advance(&mut self, up: u64, down: u64, before: u32, columns: usize) {
        debug_assert!((1..=BITS).contains(&columns) && up & down == 0);
        let end = self.distance + up.count_ones() - down.count_ones();
        if self.distance.saturating_sub(down.count_ones()) < self.found.distance {
            // Any column may be the least, the first even without a step.
            let mut steps = up | down | 1;
            let mut distance = self.distance;
            while steps != 0 {
                let c = steps.trailing_zeros();
                distance = distance + (up >> c & 1) as u32 - (down >> c & 1) as u32;
                if distance < self.found.distance {
                    self.found = Found { distance, end: before + c + 1 };
                }
                steps &= steps - 1;
            }
        }
        self.distance = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_least_is_found() {
        let mut row = Least::new(5);
        row.advance(0, 0, 0, 64);
        assert_eq!((row.distance, row.found), (5, Found { distance: 5, end: 1 }));
        // 6 5 4 4 5 4
        row.advance(0b1_0001, 0b10_0110, 64, 6);
        assert_eq!((row.distance, row.found), (4, Found { distance: 4, end: 67 }));
        row.advance(1, 2, 70, 64);
        assert_eq!((row.distance, row.found.end), (4, 67));
        row.advance(0, 1 << 63, 134, 64);
        assert_eq!((row.distance, row.found), (3, Found { distance: 3, end: 198 }));
    }
}
