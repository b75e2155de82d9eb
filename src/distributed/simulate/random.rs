//! Random numbers that depend only on the seed.

/// The generator splitmix64.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Returns a random 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns `count` different random numbers below `all`, or all of them if there are fewer.
    pub(super) fn choose(&mut self, all: usize, count: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..all).collect();
        for at in 0..count.min(all) {
            let other = at + (self.next_u64() % (all - at) as u64) as usize;
            numbers.swap(at, other);
        }
        numbers.truncate(count);
        numbers
    }
}
