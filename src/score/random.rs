//! Random numbers for measurements and estimates.

/// A generator that is good enough to draw symbols with, and deterministic for a seed (xorshift64*;
/// Vigna 2016). The seed must not be 0.
#[derive(Debug)]
pub(crate) struct XorShift64(pub(crate) u64);

impl XorShift64 {
    /// Returns 64 random bits. The upper bits are of higher quality.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number from 0 to 1, excluding 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
