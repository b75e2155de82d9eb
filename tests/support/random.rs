//! Random numbers of all tests.
#![allow(dead_code)] // each test file uses a part

/// Random numbers from a seed.
pub struct Rng(fastrand::Rng);

/// Numbers that [`Rng::below`] gives.
pub trait Number: Copy {
    /// A number below `bound`.
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

/// Random numbers from a seed that is printed, so that a failure can be run again. PAIRWAVE_TEST_SEED adds to it.
pub fn rng(seed: u64) -> Rng {
    let more: u64 = std::env::var("PAIRWAVE_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    eprintln!("seed {seed} + {more}");
    Rng(fastrand::Rng::with_seed(seed.wrapping_add(more.wrapping_mul(0x1_0000_0001))))
}

impl Rng {
    /// The next number, of all.
    pub fn next_u32(&mut self) -> u32 {
        self.0.u32(..)
    }

    /// A number from 0 and below a bound, which is more than 0.
    pub fn below<T: Number>(&mut self, bound: T) -> T {
        T::below(&mut self.0, bound)
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
