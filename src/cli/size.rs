//! Parsers of sizes, numbers of cells, times and speeds.

use pairwave::gpu::memory::MIN_BYTES;
use pairwave::{Error, Result};

/// Parses the bytes of `--memory`: a number with K, M, G or T for powers of 1024, optionally
/// followed by B or iB.
pub(super) fn memory(text: &str) -> Result<u64> {
    bytes_of_option("--memory", text)
}

/// Parses a size in bytes for another option, as [`memory`] does.
pub(super) fn bytes_of_option(option: &str, text: &str) -> Result<u64> {
    let Some(bytes) = bytes(text.trim()) else {
        return Err(Error::usage(format!("{option} '{text}': must be a number with K, M, G or T, as in 8G or 512M")));
    };
    if bytes < MIN_BYTES {
        return Err(Error::usage(format!("{option} {text}: must be at least {}M", MIN_BYTES >> 20)));
    }
    Ok(bytes)
}

fn bytes(text: &str) -> Option<u64> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (number, suffix) = text.split_at(text.find(|c| !is_digit(c)).unwrap_or(text.len()));
    let suffix = suffix.trim_start().to_ascii_lowercase();
    let unit = suffix.strip_suffix("ib").filter(|unit| !unit.is_empty());
    let power = match unit.or(suffix.strip_suffix('b')).unwrap_or(&suffix) {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    // The text consists of digits and points: no sign, exponent, infinity or NaN.
    let number: f64 = number.parse().ok()?;
    Some((number * 1024f64.powi(power)) as u64)
}

/// Rejects 0.
pub(super) fn check_positive<N: PartialEq + From<u8>>(option: &str, number: Option<N>) -> Result<()> {
    if number == Some(N::from(0)) {
        return Err(Error::usage(format!("{option} 0: must be at least 1")));
    }
    Ok(())
}

/// Parses a number of cells, or of cells per second, with K, M, G, T or P for powers of 1000.
pub(super) fn cells(option: &str, text: &str) -> Result<u64> {
    let wrong =
        || Error::usage(format!("{option} '{text}': must be a number with K, M, G, T or P, as in 500G or 2.5T"));
    let typed = text.trim();
    let (number, unit) = typed.split_at(typed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(typed.len()));
    let thousands = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(wrong()),
    };
    let cells = number.parse::<f64>().map_err(|_| wrong())? * 1000f64.powi(thousands);
    if cells < 1.0 { Err(Error::usage(format!("{option} {text}: must be at least 1"))) } else { Ok(cells as u64) }
}

/// Validates the time that a block takes, in seconds.
pub(super) fn block_seconds(given: Option<f64>, default: f64) -> Result<f64> {
    let seconds = given.unwrap_or(default);
    if !(seconds > 0.0 && seconds <= 1e6) {
        return Err(Error::usage(format!("--block-seconds {seconds}: must be above 0 and at most a million")));
    }
    Ok(seconds)
}

/// Parses speeds of devices in cells per second: `2T,2T,100G`, or `8x2T` for eight equal devices.
pub(super) fn speeds(option: &str, text: &str) -> Result<Vec<f64>> {
    const MAX: usize = 1_000_000;
    let mut speeds = Vec::new();
    for word in text.split(',') {
        let (count, speed) = match word.trim().split_once(['x', 'X']) {
            Some((count, speed)) => {
                let count = count.trim().parse().ok().filter(|&count| count > 0 && count <= MAX);
                let wrong = || {
                    Error::usage(format!(
                        "{option} '{text}': the number before x must be a count of devices, as in 8x2T"
                    ))
                };
                (count.ok_or_else(wrong)?, speed)
            }
            None => (1, word),
        };
        speeds.extend(std::iter::repeat_n(cells(option, speed)? as f64, count));
    }
    Ok(speeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed() {
        let sizes = [
            ("8G", 8 << 30),
            ("512M", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("16384k", 16 << 20),
            ("2tb", 2 << 40),
            (" 64 MB ", 64 << 20),
            ("16777216", 16 << 20),
            ("16777216B", 16 << 20),
            ("99999999999999T", u64::MAX),
        ];
        for (text, bytes) in sizes {
            assert_eq!(memory(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn invalid_sizes_are_rejected() {
        for text in ["", "G", "8X", "8GG", "8 G B", "8iB", "1e9", "-8G", "+8G", "1.2.3G", ".", "inf", "NaN", "8,5G"] {
            let error = memory(text).unwrap_err().to_string();
            assert_eq!(error, format!("--memory '{text}': must be a number with K, M, G or T, as in 8G or 512M"));
        }
        for text in ["0", "1M", "16777215", "16000K", "0.01G"] {
            assert_eq!(memory(text).unwrap_err().to_string(), format!("--memory {text}: must be at least 16M"));
        }
    }

    #[test]
    fn cells_and_speeds_have_units() {
        assert_eq!(cells("--x", "2.5T").unwrap(), 2_500_000_000_000);
        assert_eq!(cells("--x", "70").unwrap(), 70);
        assert_eq!(speeds("--x", "2x3k, 1g").unwrap(), [3e3, 3e3, 1e9]);
        for text in ["", "T", "5X", "1e9", "-2T", "1.2.3G", "2TB"] {
            let message = cells("--x", text).unwrap_err().to_string();
            assert_eq!(message, format!("--x '{text}': must be a number with K, M, G, T or P, as in 500G or 2.5T"));
        }
        assert_eq!(cells("--x", "0.5").unwrap_err().to_string(), "--x 0.5: must be at least 1");
        for text in ["x2T", "0x2T", "ax2T", "9999999x2T"] {
            assert!(speeds("--x", text).unwrap_err().to_string().contains("the number before x"), "{text}");
        }
    }
}
