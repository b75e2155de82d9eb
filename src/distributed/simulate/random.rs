//! Random numbers that are the same for a seed, everywhere.

/// splitmix64.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to 1, without it.
    pub fn fraction(&mut self) -> f64 {
        (self.any() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Different numbers below `all`, so many.
    pub(super) fn some(&mut self, all: usize, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..all).collect();
        for at in 0..count.min(all) {
            let other = at + (self.any() % (all - at) as u64) as usize;
            numbers.swap(at, other);
        }
        numbers.truncate(count);
        numbers
    }
}
