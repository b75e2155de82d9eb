//! Letters made of lines, for pictures without a font: printable ASCII on a grid of 4 by 8, in
//! which rows 0 to 6 are above the base line.

use super::point::Point;

/// Distance between letters in grid units.
const ADVANCE: f64 = 5.5;
/// Height of a capital letter in grid units.
const CAPITAL: f64 = 6.0;

/// Lines of `!` to `~`: points as column and row, with lines separated by commas.
#[rustfmt::skip]
const GLYPHS: [&str; 94] = [
    // ! to /
    "20 23,25 26", "10 12,30 32", "10 16,30 36,02 42,04 44", "41 11 02 13 33 44 35 05,20 26",
    "06 40,00 10 11 01 00,35 45 46 36 35", "46 12 11 20 31 04 05 16 26 44", "20 22", "30 21 12 14 25 36",
    "10 21 32 34 25 16", "21 25,12 34,32 14", "21 25,03 43", "25 26 17", "13 33", "25 26", "06 40",
    // 0 to 9
    "11 20 30 41 45 36 26 15 11", "11 20 26,16 36", "01 10 30 41 42 06 46", "00 40 22 32 43 45 36 16 05",
    "36 30 04 44", "40 00 03 12 32 43 45 36 16 05", "30 10 01 05 16 36 45 44 33 13 04", "00 40 16",
    "10 30 41 42 33 13 02 01 10,13 04 05 16 36 45 44 33", "16 36 45 41 30 10 01 02 13 33 42",
    // : to @
    "22 23,25 26", "22 23,25 26 17", "41 03 45", "02 42,04 44", "01 43 05", "01 10 30 41 32 23,25 26",
    "34 32 12 14 44 41 30 10 01 05 16 36",
    // A to Z
    "06 20 46,14 34", "00 06 36 45 44 33 03,33 42 41 30 00", "41 30 10 01 05 16 36 45", "00 06 36 45 41 30 00",
    "40 00 06 46,03 33", "40 00 06,03 33", "41 30 10 01 05 16 36 45 43 23", "00 06,40 46,03 43", "10 30,20 26,16 36",
    "40 45 36 16 05", "00 06,40 03 46", "00 06 46", "06 00 23 40 46", "06 00 46 40", "10 30 41 45 36 16 05 01 10",
    "06 00 30 41 42 33 03", "10 30 41 45 36 16 05 01 10,24 46", "06 00 30 41 42 33 03,23 46",
    "41 30 10 01 02 13 33 44 45 36 16 05", "00 40,20 26", "00 05 16 36 45 40", "00 26 40", "00 16 23 36 40",
    "00 46,40 06", "00 23 40,23 26", "00 40 06 46",
    // [ to `
    "30 10 16 36", "00 46", "10 30 36 16", "02 20 42", "07 47", "10 21",
    // a to z
    "12 32 43 46,44 14 05 16 36 45", "00 06,03 12 32 43 45 36 16 05", "43 32 12 03 05 16 36 45",
    "40 46,43 32 12 03 05 16 36 45", "04 44 43 32 12 03 05 16 36 45", "40 30 21 26,12 32",
    "43 32 12 03 05 16 36 45,42 47 38 18 07", "00 06,03 12 32 43 46", "22 26,20 21", "32 37 28 18,30 31",
    "00 06,32 04 36", "10 20 25 36", "02 06,03 12 23 26,23 32 43 46", "02 06,03 12 32 43 46",
    "12 32 43 45 36 16 05 03 12", "02 08,03 12 32 43 45 36 16 05", "42 48,43 32 12 03 05 16 36 45", "02 06,04 22 32",
    "42 12 03 14 34 45 36 06", "20 25 36,02 42", "02 05 16 36 45,42 46", "02 26 42", "02 16 23 36 42", "02 46,42 06",
    "02 26,42 18", "02 42 06 46",
    // { to ~
    "30 21 22 13 24 25 36", "20 27", "10 21 22 33 24 25 16", "04 13 34 43",
];
/// Glyph for any other letter.
const BOX: &str = "00 40 46 06 00";

/// Returns the width of a text with letters of this height, including descenders.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let letters = text.chars().count() as f64;
    (letters * ADVANCE - (ADVANCE - 4.0)).max(0.0) * unit(size)
}

/// Returns the lines of a text. x increases along the text and y downwards, and y = 0 is the middle
/// of a capital letter.
pub(super) fn lines(text: &str, size: f64) -> Vec<Vec<Point>> {
    let unit = unit(size);
    let mut lines = Vec::new();
    for (index, letter) in text.chars().enumerate() {
        let glyph = match u32::from(letter).checked_sub(u32::from('!')) {
            _ if letter == ' ' => continue,
            Some(position) => GLYPHS.get(position as usize).copied().unwrap_or(BOX),
            None => BOX,
        };
        let left = index as f64 * ADVANCE;
        let point = |point: &str| {
            let mut digits = point.bytes().map(|digit| f64::from(digit - b'0'));
            let (x, y) = (digits.next().unwrap_or(0.0), digits.next().unwrap_or(0.0));
            Point::new((left + x) * unit, (y - CAPITAL / 2.0) * unit)
        };
        lines.extend(glyph.split(',').map(|line| line.split(' ').map(point).collect::<Vec<_>>()));
    }
    lines
}

/// Returns the length of a grid unit. Capital letters are 0.7 of the size high, as in most fonts.
fn unit(size: f64) -> f64 {
    0.7 * size / CAPITAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_drawn_within_their_grid() {
        let mut seen: Vec<&str> = Vec::new();
        for glyph in GLYPHS {
            for line in glyph.split(',') {
                let points: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
                assert!(points.len() > 1, "{glyph}");
                assert!(
                    points
                        .iter()
                        .all(|p| p.len() == 2 && (b'0'..=b'4').contains(&p[0]) && (b'0'..=b'8').contains(&p[1]))
                );
            }
            assert!(!seen.contains(&glyph), "{glyph} twice");
            seen.push(glyph);
        }
        for letter in '!'..='~' {
            assert!(!lines(&letter.to_string(), 12.0).is_empty());
        }
    }

    #[test]
    fn text_width_equals_drawn_width() {
        assert_eq!((width("", 12.0), lines(" ", 12.0).len()), (0.0, 0));
        let right = lines("HaH", 60.0).iter().flatten().map(|point| point.x).fold(0.0, f64::max);
        assert!((right - width("HaH", 60.0)).abs() < 1e-9);
        assert_eq!(lines("\u{e9}", 12.0).len(), 1);
    }
}
