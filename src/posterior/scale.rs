//! Powers of two that keep floats in range: every block of columns of a row has an exponent of its own, lane by lane.

use super::floats::{LANES, Lane};

/// Columns of a block. Within one, values differ by less than floats can tell apart from zero.
pub(super) const BLOCK: usize = 16;
/// Rows after which exponents are chosen anew.
pub(super) const STEP: usize = 8;

/// The exponents of a block. A true value is the stored one times two to it.
pub(super) type Exponents = Lane<i32>;
/// Of a block: what values of its neighbour are multiplied by to be of its exponent.
pub(super) type Ratios = Lane<f32>;

/// The least exponent of a normal float.
const MIN_EXPONENT: i32 = -126;

/// Exponents of values as they are.
pub(super) const NO_EXPONENTS: Exponents = Lane::splat(0);
/// Of a block without a neighbour.
pub(super) const NO_RATIOS: Ratios = Lane::splat(1.0);

/// 2^`exponent`, cut to what a normal float can be.
#[inline(always)]
pub(super) fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 126) + 127) as u32) << 23)
}

/// Exponents that bring the greatest value of every lane to between 1 and 2, and the factors that do so. Lanes without
/// a value stay as they are.
#[inline(always)]
pub(super) fn shifts(greatest: &Lane<f32>, exponents: &mut Exponents) -> Lane<f32> {
    let mut factors = NO_RATIOS;
    for lane in 0..LANES {
        let value = greatest.0[lane];
        let shift = ((value.to_bits() >> 23) as i32 - 127).clamp(-126, 126);
        let shift = if value > 0.0 { shift } else { 0 };
        exponents.0[lane] += shift;
        factors.0[lane] = power(-shift);
    }
    factors
}

/// What values of a block are multiplied by to be of another's exponents.
#[inline(always)]
pub(super) fn ratio(from: &Exponents, to: &Exponents) -> Ratios {
    Lane(std::array::from_fn(|lane| power(from.0[lane] - to.0[lane])))
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
}

/// What products of forward and backward values are multiplied by to be shares of the lanes' sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    exponents: Exponents,
    /// Infinite in lanes without a sum, of which all is no share.
    mantissas: Lane<f32>,
}

impl Shares {
    /// Of the lanes that are wanted.
    pub(super) fn new(totals: &[Total; LANES], lanes: std::ops::Range<usize>) -> Self {
        let mut shares = Shares { exponents: NO_EXPONENTS, mantissas: Lane::splat(f32::INFINITY) };
        for lane in lanes.filter(|&lane| totals[lane].value > 0.0) {
            let Total { value, exponent } = totals[lane];
            let shift = (value.to_bits() >> 52) as i32 - 1023;
            shares.exponents.0[lane] = exponent + shift;
            shares.mantissas.0[lane] = (value * wide_power(-shift)) as f32;
        }
        shares
    }

    /// Returns the factors of products of values of such exponents; 0 where no product can be probable.
    #[inline(always)]
    pub(super) fn of(&self, ahead: &Exponents, behind: &Exponents) -> Lane<f32> {
        let factor = |lane| {
            let exponent = ahead.0[lane] + behind.0[lane] - self.exponents.0[lane];
            // A product of smaller scale would be no normal float.
            let power = if exponent < MIN_EXPONENT { 0.0 } else { power(exponent) };
            power / self.mantissas.0[lane]
        };
        Lane(std::array::from_fn(factor))
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
        let share = |total: Total, exponent: i32| {
            let shares = Shares::new(&[total; LANES], 2..LANES).of(&Lane::splat(7), &Lane::splat(exponent - 7));
            assert_eq!((shares.0[1], shares.0[2]), (0.0, shares.0[LANES - 1]));
            shares.0[2]
        };
        let mut total = Total::default();
        assert_eq!(share(total, 3), 0.0);
        total.add(1.0, -5000);
        total.add(1.5, 3000);
        total.add(0.0, 90_000);
        total.add(1.0, 2999);
        assert_eq!((total.value, total.exponent), (2.0, 3000));
        assert_eq!((share(total, 3000), share(total, 3001), share(total, 2990)), (0.5, 1.0, 0.5 / 1024.0));
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
