//! Amounts of memory as a user types them.

use pairwave::gpu::memory::LEAST_BYTES;
use pairwave::{Error, Result};

/// Bytes of `--memory`: a number with K, M, G or T for powers of 1024, and after it nothing, B or iB.
pub(super) fn memory(text: &str) -> Result<u64> {
    of_option("--memory", text)
}

/// The same of another option.
pub(super) fn of_option(option: &str, text: &str) -> Result<u64> {
    let Some(bytes) = bytes(text.trim()) else {
        return Err(Error::usage(format!("{option} '{text}': a size is a number with K, M, G or T, as in 8G or 512M")));
    };
    if bytes < LEAST_BYTES {
        return Err(Error::usage(format!("{option} {text}: at least {}M is needed", LEAST_BYTES >> 20)));
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
    // Only digits and points come here: no sign, exponent, infinity or NaN.
    let number: f64 = number.parse().ok()?;
    Some((number * 1024f64.powi(power)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_to_write_a_size() {
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
    fn nonsense_is_refused() {
        for text in ["", "G", "8X", "8GG", "8 G B", "8iB", "1e9", "-8G", "+8G", "1.2.3G", ".", "inf", "NaN", "8,5G"] {
            let error = memory(text).unwrap_err().to_string();
            assert_eq!(error, format!("--memory '{text}': a size is a number with K, M, G or T, as in 8G or 512M"));
        }
        for text in ["0", "1M", "16777215", "16000K", "0.01G"] {
            assert_eq!(memory(text).unwrap_err().to_string(), format!("--memory {text}: at least 16M is needed"));
        }
    }
}
