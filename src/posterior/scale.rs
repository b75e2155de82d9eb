//! Scaling by powers of two, which keeps floats in range. Each tile has its own exponent for each
//! lane.

use super::floats::{LANES, LaneArray};
use crate::simd::array_of;

/// Number of columns in a block. Values within a block differ by less than the range of a float.
pub(super) const BLOCK: usize = 16;
/// Number of rows after which exponents are updated.
pub(super) const STEP: usize = 8;

/// Exponents of the lanes of a tile. The true value is the stored value times 2 to the power of the
/// exponent.
pub(super) type Exponents = LaneArray<i32>;
/// Factors that convert values of a neighbouring block to the exponents of this block.
pub(super) type Ratios = LaneArray<f32>;

/// Minimum exponent of a normal float.
const MIN_EXPONENT: i32 = -126;

/// Exponents of unscaled values.
pub(super) const NO_EXPONENTS: Exponents = LaneArray::splat(0);
/// Factors of a block without a neighbour.
pub(super) const NO_RATIOS: Ratios = LaneArray::splat(1.0);

/// Returns 2^`exponent`, clamped to the range of normal floats.
#[inline(always)]
pub(super) fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-126, 126) + 127) as u32) << 23)
}

/// Updates the exponents so that the greatest value of each lane is between 1 and 2, and returns
/// the factors that achieve this. Does not change lanes without a positive value.
#[inline(always)]
pub(super) fn shifts(greatest: &LaneArray<f32>, exponents: &mut Exponents) -> LaneArray<f32> {
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

/// Returns the factors that convert values from the exponents of one block to another's.
#[inline(always)]
pub(super) fn ratio(from: &Exponents, to: &Exponents) -> Ratios {
    LaneArray(array_of(|lane| power(from.0[lane] - to.0[lane])))
}

/// The sum of the floats of a lane, with an exponent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LaneTotal {
    /// Value, to be multiplied by 2 to the power of `exponent`.
    pub value: f64,
    /// Greatest exponent that was added.
    pub exponent: i32,
}

impl LaneTotal {
    /// Adds `value` times 2 to the power of `exponent`.
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

/// Factors that convert products of forward and backward values to fractions of the lanes' sums.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneShares {
    exponents: Exponents,
    /// Mantissas of the sums. Infinite in lanes without a sum, so that every fraction is 0.
    mantissas: LaneArray<f32>,
}

impl LaneShares {
    /// Computes the factors for the given lanes.
    pub(super) fn new(totals: &[LaneTotal; LANES], lanes: std::ops::Range<usize>) -> Self {
        let mut shares = LaneShares { exponents: NO_EXPONENTS, mantissas: LaneArray::splat(f32::INFINITY) };
        for lane in lanes.filter(|&lane| totals[lane].value > 0.0) {
            let LaneTotal { value, exponent } = totals[lane];
            let shift = (value.to_bits() >> 52) as i32 - 1023;
            shares.exponents.0[lane] = exponent + shift;
            shares.mantissas.0[lane] = (value * wide_power(-shift)) as f32;
        }
        shares
    }

    /// Returns the factors of products of values with these exponents. A factor is 0 where no
    /// product can be probable.
    #[inline(always)]
    pub(super) fn factors(&self, forward: &Exponents, backward: &Exponents) -> LaneArray<f32> {
        let factor = |lane| {
            let exponent = forward.0[lane] + backward.0[lane] - self.exponents.0[lane];
            // A product with a smaller exponent would not be a normal float.
            let power = if exponent < MIN_EXPONENT { 0.0 } else { power(exponent) };
            power / self.mantissas.0[lane]
        };
        LaneArray(array_of(factor))
    }
}

fn wide_power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1022) + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_fractions_work_with_any_exponents() {
        let share = |total: LaneTotal, exponent: i32| {
            let shares = LaneShares::new(&[total; LANES], 2..LANES)
                .factors(&LaneArray::splat(7), &LaneArray::splat(exponent - 7));
            assert_eq!((shares.0[1], shares.0[2]), (0.0, shares.0[LANES - 1]));
            shares.0[2]
        };
        let mut total = LaneTotal::default();
        assert_eq!(share(total, 3), 0.0);
        total.add(1.0, -5000);
        total.add(1.5, 3000);
        total.add(0.0, 90_000);
        total.add(1.0, 2999);
        assert_eq!((total.value, total.exponent), (2.0, 3000));
        assert_eq!((share(total, 3000), share(total, 3001), share(total, 2990)), (0.5, 1.0, 0.5 / 1024.0));
    }

    #[test]
    fn shifts_bring_the_maximum_between_one_and_two() {
        let mut exponents = LaneArray::splat(7);
        let mut greatest = LaneArray::splat(0.0);
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
