//! E-values and bit scores in BLAST's formats.

use std::fmt::{self, Display, Formatter};

/// An E-value in the format of BLAST's tables: three digits if it is small, and 0.0 below 1e-180.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evalue(pub f64);

/// An E-value in the format of BLAST's text output: as in tables, but with one digit if it is
/// small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortEvalue(pub f64);

/// A bit score in BLAST's format: one decimal up to 99.9 bits and none above, truncated instead of
/// rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BitScore(pub f64);

impl Display for Evalue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        evalue(self.0, 2, f)
    }
}

impl Display for ShortEvalue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        evalue(self.0, 0, f)
    }
}

impl Display for BitScore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bits = self.0;
        let text = if bits > 99_999.0 {
            exponential(bits, 3)
        } else if bits > 99.9 {
            format!("{:.0}", bits.trunc())
        } else {
            format!("{bits:.1}")
        };
        f.pad(&text)
    }
}

fn evalue(value: f64, digits: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let text = if value < 1e-180 {
        "0.0".to_owned()
    } else if value < 0.0009 {
        exponential(value, digits)
    } else if value < 0.1 {
        format!("{value:.3}")
    } else if value < 1.0 {
        format!("{value:.2}")
    } else if value < 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    };
    f.pad(&text)
}

/// Formats a number like C: the exponent has a sign and at least two digits.
fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{mantissa}e-{exponent:0>2}"),
            None => format!("{mantissa}e+{exponent:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_like_blast() {
        for (value, long, short) in [
            (0.0, "0.0", "0.0"),
            (9e-181, "0.0", "0.0"),
            (1.04e-124, "1.04e-124", "1e-124"),
            (1.32e-39, "1.32e-39", "1e-39"),
            (2.345e-5, "2.35e-05", "2e-05"),
            (0.00089, "8.90e-04", "9e-04"),
            (0.0009, "0.001", "0.001"),
            (0.0123, "0.012", "0.012"),
            (0.456, "0.46", "0.46"),
            (3.26, "3.3", "3.3"),
            (45.6, "46", "46"),
            (123_456.7, "123457", "123457"),
        ] {
            assert_eq!((Evalue(value).to_string().as_str(), ShortEvalue(value).to_string().as_str()), (long, short));
        }
        for (bits, text) in [
            (0.04, "0.0"),
            (24.25, "24.2"),
            (99.87, "99.9"),
            (99.95, "99"),
            (123.99, "123"),
            (87_468.1, "87468"),
            (179_123.4, "1.791e+05"),
        ] {
            assert_eq!(BitScore(bits).to_string(), text);
        }
        assert_eq!(format!("[{:<6}] [{:>6}]", Evalue(0.0), BitScore(12.3)), "[0.0   ] [  12.3]");
    }
}
