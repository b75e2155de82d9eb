//! Powers and logarithms that use only additions and multiplications. Results have the same bits on
//! all platforms and with all instruction sets.

/// Returns the binary logarithm of a positive normal number, to about six digits.
#[inline(always)]
pub(super) fn log2(x: f32) -> f32 {
    let bits = x.to_bits() as i32;
    // The exponent is chosen so that the rest is between 2/3 and 4/3.
    let shift = (bits - 0x3f2a_aaab) & (0xff80_0000u32 as i32);
    let rest = f32::from_bits((bits - shift) as u32) - 1.0;
    let exponent = (shift >> 23) as f32;
    let series = std::f32::consts::LOG2_E
        + rest
            * (-0.721_340
                + rest
                    * (0.480_938
                        + rest
                            * (-0.360_964
                                + rest * (0.286_505 + rest * (-0.229_990 + rest * (0.218_200 - rest * 0.223_000))))));
    exponent + rest * series
}

/// Returns 2 to the power of `x`, which is clamped to -126..=126.
#[inline(always)]
pub(super) fn exp2(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let x = if x > 126.0 { 126.0 } else { x };
    let x = if x < -126.0 { -126.0 } else { x };
    let whole = x + ROUND;
    let rest = x - (whole - ROUND);
    let scale = f32::from_bits(((whole.to_bits() as i32) << 23).wrapping_add(0x3f80_0000) as u32);
    let series = 1.0
        + rest
            * (std::f32::consts::LN_2
                + rest * (0.240_226_5 + rest * (0.055_504_1 + rest * (0.009_618_1 + rest * 0.001_333_6))));
    scale * series
}

/// Returns a positive number to a power.
#[inline(always)]
pub(super) fn power(x: f32, exponent: f32) -> f32 {
    exp2(exponent * log2(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximations_are_accurate() {
        for step in 1..4000 {
            let x = step as f32 * 0.013;
            assert!((log2(x) - x.log2()).abs() < 2e-3, "{x}: {} {}", log2(x), x.log2());
            let y = step as f32 * 0.05 - 100.0;
            assert!((exp2(y) / y.exp2() - 1.0).abs() < 1e-4, "{y}: {} {}", exp2(y), y.exp2());
        }
        assert_eq!((exp2(-400.0), exp2(0.0), log2(1.0)), (f32::MIN_POSITIVE, 1.0, 0.0));
        assert!((power(0.25, 0.5) - 0.5).abs() < 1e-3);
    }
}
