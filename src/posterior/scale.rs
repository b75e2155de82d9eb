//! Powers of two that keep floats in range: every block of columns of a row has an exponent of its own, lane by lane.

use super::floats::{LANES, Lane};

/// Columns of a block. Within one, values differ by less than floats can tell apart from zero.
pub(super) const BLOCK: usize = 16;
/// Rows after which exponents are chosen anew.
pub(super) const STEP: usize = 8;

/// Of a block: the exponents of the hidden Markov model and of the partition function. A true value is the stored one
/// times two to it.
pub(super) type Exponents = [Lane<i32>; 2];
/// Of a block: what values of its neighbour are multiplied by to be of its exponent.
pub(super) type Ratios = [Lane<f32>; 2];

/// 2^`exponent`, cut to what a normal float can be.
pub(super) fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 126) + 127) as u32) << 23)
}

/// Exponents that bring the greatest value of every lane to between 1 and 2, and the factors that do so. Lanes without
/// a value stay as they are.
pub(super) fn shifts(greatest: &Lane<f32>, exponents: &mut Lane<i32>) -> Lane<f32> {
    let mut factors = Lane::splat(1.0);
    for lane in 0..LANES {
        let value = greatest.0[lane];
        if value > 0.0 {
            let shift = ((value.to_bits() >> 23) as i32 - 127).clamp(-126, 126);
            exponents.0[lane] += shift;
            factors.0[lane] = power(-shift);
        }
    }
    factors
}

/// What values of a block are multiplied by to be of another's exponents.
pub(super) fn ratio(from: &Exponents, to: &Exponents) -> Ratios {
    std::array::from_fn(|model| Lane(std::array::from_fn(|lane| power(from[model].0[lane] - to[model].0[lane]))))
}

/// A sum of floats of any exponents.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Total {
    /// Times two to `exponent`.
    pub value: f64,
    /// As large as the largest that was added.
    pub exponent: i32,
}

impl Total {
    /// Adds a float that stands for itself times two to `exponent`.
    pub(super) fn add(&mut self, value: f32, exponent: i32) {
        if value <= 0.0 {
            return;
        }
        if self.value == 0.0 || exponent > self.exponent {
            self.value *= wide_power(self.exponent - exponent);
            self.exponent = exponent;
        }
        self.value += f64::from(value) * wide_power(exponent - self.exponent);
    }

    /// What a float of `exponent` is multiplied by to be its share of this sum; 0 of nothing.
    pub(super) fn share(&self, exponent: i32) -> f32 {
        if self.value <= 0.0 {
            return 0.0;
        }
        let shift = (self.value.to_bits() >> 52) as i32 - 1023;
        let mantissa = self.value * wide_power(-shift);
        power(exponent - self.exponent - shift) / mantissa as f32
    }
}

fn wide_power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1022) + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_exponents_and_shares_of_them() {
        let mut total = Total::default();
        assert_eq!(total.share(3), 0.0);
        total.add(1.0, -5000);
        total.add(1.5, 3000);
        total.add(0.0, 90_000);
        total.add(1.0, 2999);
        assert_eq!((total.value, total.exponent), (2.0, 3000));
        assert_eq!((1.0 * total.share(3000), total.share(3001), total.share(2990)), (0.5, 1.0, 0.5 / 1024.0));
    }

    #[test]
    fn the_greatest_comes_between_one_and_two() {
        let mut exponents = Lane::splat(7);
        let mut greatest = Lane::splat(0.0);
        greatest.0[3] = 5.0e20;
        greatest.0[4] = 0.3;
        let factors = shifts(&greatest, &mut exponents);
        for lane in [3, 4] {
            let scaled = greatest.0[lane] * factors.0[lane];
            assert!((1.0..2.0).contains(&scaled), "{scaled}");
            assert_eq!(scaled * power(exponents.0[lane] - 7), greatest.0[lane]);
        }
        assert_eq!((exponents.0[0], factors.0[0]), (7, 1.0));
    }
}
