//! Random numbers for all tests.
#![allow(dead_code)] // each test file uses a part

/// A random number generator with a fixed seed.
pub struct Rng(fastrand::Rng);

/// A type of numbers that [`Rng::below`] returns.
pub trait Number: Copy {
    /// Returns a number below `bound`.
    fn below(random: &mut fastrand::Rng, bound: Self) -> Self;
}

impl Number for u32 {
    fn below(random: &mut fastrand::Rng, bound: u32) -> u32 {
        random.u32(..bound)
    }
}

impl Number for usize {
    fn below(random: &mut fastrand::Rng, bound: usize) -> usize {
        random.usize(..bound)
    }
}

impl Number for i32 {
    fn below(random: &mut fastrand::Rng, bound: i32) -> i32 {
        random.i32(0..bound)
    }
}

/// Returns a generator whose seed is printed, so that a failure can be reproduced. The environment
/// variable PAIRWAVE_TEST_SEED is added to the seed.
pub fn rng(seed: u64) -> Rng {
    let more: u64 = std::env::var("PAIRWAVE_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    eprintln!("seed {seed} + {more}");
    Rng(fastrand::Rng::with_seed(seed.wrapping_add(more.wrapping_mul(0x1_0000_0001))))
}

impl Rng {
    /// Returns the next number of the full range.
    pub fn next_u32(&mut self) -> u32 {
        self.0.u32(..)
    }

    /// Returns a number from 0 up to but excluding a positive bound.
    pub fn below<T: Number>(&mut self, bound: T) -> T {
        T::below(&mut self.0, bound)
    }

    /// Returns a random element.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
