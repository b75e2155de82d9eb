//! Formatting of numbers into a buffer, without allocation, for millions of lines.

/// Appends an integer.
pub(super) fn push_integer(out: &mut Vec<u8>, number: impl Into<i64>) {
    let number = number.into();
    if number < 0 {
        out.push(b'-');
    }
    push_unsigned(out, number.unsigned_abs());
}

/// Appends a non-negative integer.
#[inline]
pub(super) fn push_unsigned(out: &mut Vec<u8>, number: u64) {
    // Most run lengths of alignments have few digits. The first three cases append a constant
    // number of bytes, which is fast.
    let digit = |unit: u64| b'0' + (number / unit % 10) as u8;
    match number {
        0..10 => out.push(digit(1)),
        10..100 => out.extend_from_slice(&[digit(10), digit(1)]),
        100..1000 => out.extend_from_slice(&[digit(100), digit(10), digit(1)]),
        _ => push_long(out, number),
    }
}

fn push_long(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20]; // u64::MAX has 20 digits
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// Appends `units / 10^digits` with all `digits` (at most 9) decimals.
pub(super) fn push_units(out: &mut Vec<u8>, units: u64, digits: u32) {
    let unit = 10u64.pow(digits);
    push_unsigned(out, units / unit);
    out.push(b'.');
    let (mut text, mut rest) = ([b'0'; 9], (units % unit) as u32); // below 10^9
    let text = &mut text[..digits as usize];
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(text);
}

/// Returns the integer nearest to `value * 10^digits`, correctly rounded. Ties go to the even
/// integer, as in Rust's own formatting. `value` must be finite and not negative, and the result
/// below 2^63.
pub(super) fn to_units(value: f64, digits: u32) -> u64 {
    debug_assert!(value >= 0.0 && value.is_finite());
    let product = value * 10f64.powi(digits as i32);
    let rest = product - product.floor();
    // The product is wrong by at most half a unit in its last place, which is 2^-14 below 2^40. So
    // it is on the correct side of a tie unless it is very close to one. Then the exact, slow way
    // decides.
    if product < (1u64 << 40) as f64 && (rest - 0.5).abs() > 1e-3 {
        return product.floor() as u64 + u64::from(rest > 0.5);
    }
    let text = format!("{value:.precision$}", precision = digits as usize);
    text.bytes().filter(u8::is_ascii_digit).fold(0, |units, digit| units * 10 + u64::from(digit - b'0'))
}

/// Appends a fraction with six decimals, correctly rounded.
pub(super) fn push_fraction(out: &mut Vec<u8>, value: f64) {
    push_units(out, to_units(value, 6), 6);
}

/// Formats a number with thousands separators.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_have_thousands_separators() {
        assert_eq!([0, 999, 1000, 48502, 4_639_675].map(grouped), ["0", "999", "1,000", "48,502", "4,639,675"]);
    }

    #[test]
    fn ties_go_to_the_even_digit() {
        assert_eq!(text(|out| push_fraction(out, 1.0 / 128.0)), "0.007812");
        assert_eq!(text(|out| push_fraction(out, 3.0 / 128.0)), "0.023438");
        assert_eq!(text(|out| push_fraction(out, 1.0)), "1.000000");
        assert_eq!(text(|out| push_units(out, to_units(1.0, 5), 3)), "100.000");
    }

    proptest! {
        #[test]
        fn integers_equal_std_formatting(number: i64, small in -1000i64..1000) {
            prop_assert_eq!(text(|out| push_integer(out, number)), number.to_string());
            prop_assert_eq!(text(|out| push_integer(out, small)), small.to_string());
        }

        #[test]
        fn fractions_equal_std_formatting(part in 0u32..5000, more in 0u32..5000, value in 0f64..1000.0) {
            let ratio = f64::from(part) / f64::from((part + more).max(1));
            prop_assert_eq!(text(|out| push_fraction(out, ratio)), format!("{ratio:.6}"));
            prop_assert_eq!(text(|out| push_fraction(out, value)), format!("{value:.6}"));
            let dyadic = f64::from(part) / 1024.0; // ties and their neighbours
            prop_assert_eq!(text(|out| push_fraction(out, dyadic)), format!("{dyadic:.6}"));
        }
    }
}
