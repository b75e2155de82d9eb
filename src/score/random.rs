//! Random numbers for measurements and estimates.

/// Random numbers that are good enough to draw symbols by, the same from the same seed (xorshift64*; Vigna 2016). A seed is not 0.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// 64 bits, of which the upper ones are the better ones.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from 0 to 1.
    pub(crate) fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
