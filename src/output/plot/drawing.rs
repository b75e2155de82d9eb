//! The shapes of a picture.

use super::colours::{BLACK, Rgb};
use crate::output::point::{Point, Size};
use crate::output::strokes;

/// Distance between the border of a picture and its contents, in units.
pub(in crate::output) const MARGIN: f64 = 16.0;
/// Height of the title's letters in units.
pub(in crate::output) const TITLE_SIZE: f64 = 15.0;
/// Height of other letters in units.
pub(in crate::output) const TEXT_SIZE: f64 = 12.0;
/// Distance between the centres of two lines of text in units.
pub(in crate::output) const LINE: f64 = 18.0;

/// A picture that is laid out. Coordinates are in units, to the right and downwards.
#[derive(Debug, Default)]
pub(in crate::output) struct Drawing {
    /// Size, increased by [`Drawing::text`] if necessary.
    pub(in crate::output) size: Size,
    pub(in crate::output) shapes: Vec<DrawnShape>,
}

/// A part of a picture. Later shapes cover earlier ones.
#[derive(Debug)]
pub(in crate::output) enum DrawnShape {
    /// A filled rectangle.
    Rectangle {
        /// Left and upper end.
        at: Point,
        size: Size,
        colour: Rgb,
        /// Text that appears at the pointer; empty for none.
        tip: String,
    },
    /// Horizontal and vertical lines.
    Lines {
        colour: Rgb,
        width: f64,
        /// Both ends of each line: x, y, x, y.
        ends: Vec<[f64; 4]>,
    },
    /// Connected straight lines of any slope, with round ends and corners. A path of one point is a
    /// round dot.
    Path {
        colour: Rgb,
        width: f64,
        points: Vec<Point>,
        /// Text that appears at the pointer; empty for none.
        tip: String,
    },
    /// Square cells in rows.
    Cells {
        /// Left and upper end.
        at: Point,
        /// Width of a cell in units.
        cell: usize,
        /// Number of cells in a row.
        columns: usize,
        /// Colour of each cell, as a level of [`super::colours::of_level`].
        levels: Vec<u8>,
    },
    /// A text.
    Text(Caption),
}

/// The end of a text that its position refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum CaptionAnchor {
    Start,
    Middle,
    End,
}

/// A text in a picture.
#[derive(Debug, Clone)]
pub(in crate::output) struct Caption {
    pub(in crate::output) text: String,
    /// Position of the anchor, at half the height of capital letters.
    pub(in crate::output) at: Point,
    pub(in crate::output) anchor: CaptionAnchor,
    /// Height of the letters in units.
    pub(in crate::output) size: f64,
    pub(in crate::output) colour: Rgb,
    /// Whether the text runs upwards.
    pub(in crate::output) is_upright: bool,
    /// Text that appears at the pointer; empty for none.
    pub(in crate::output) tip: String,
}

impl Caption {
    /// Returns a black text that starts at this position.
    pub(in crate::output) fn new(text: impl Into<String>, at: Point, size: f64) -> Self {
        let (text, anchor) = (text.into(), CaptionAnchor::Start);
        Caption { text, at, anchor, size, colour: BLACK, is_upright: false, tip: String::new() }
    }

    /// Returns the bounds of the text: left, top, right and bottom.
    pub(in crate::output) fn bounds(&self) -> [f64; 4] {
        let (width, half) = (text_width(&self.text, self.size), self.size / 2.0);
        let before = match self.anchor {
            CaptionAnchor::Start => 0.0,
            CaptionAnchor::Middle => width / 2.0,
            CaptionAnchor::End => width,
        };
        let Point { x, y } = self.at;
        if self.is_upright {
            [x - half, y + before - width, x + half, y + before]
        } else {
            [x - before, y - half, x - before + width, y + half]
        }
    }
}

impl Drawing {
    /// Adds a text. The picture grows so that it contains the text and a margin.
    pub(in crate::output) fn text(&mut self, caption: Caption) {
        let [_, _, right, bottom] = caption.bounds();
        let Size { width, height } = self.size;
        self.size = Size { width: width.max(right + MARGIN), height: height.max(bottom + MARGIN) };
        self.shapes.push(DrawnShape::Text(caption));
    }

    /// Adds the outline of a rectangle. `corner` is its left and upper end.
    pub(in crate::output) fn frame(&mut self, corner: Point, size: Size) {
        let Point { x: left, y: top } = corner;
        let (right, bottom) = (left + size.width, top + size.height);
        let ends = vec![
            [left, top, right, top],
            [left, bottom, right, bottom],
            [left, top, left, bottom],
            [right, top, right, bottom],
        ];
        self.shapes.push(DrawnShape::Lines { colour: BLACK, width: 1.0, ends });
    }

    /// Adds lines of notes from this position downwards.
    pub(super) fn draw_notes(&mut self, notes: &[String], at: Point) {
        for (number, note) in (0..).zip(notes) {
            self.text(Caption::new(note, Point { y: at.y + LINE * f64::from(number), ..at }, TEXT_SIZE));
        }
    }
}

/// Returns an upper estimate of the width of a text in a sans-serif font, and in strokes.
pub(in crate::output) fn text_width(text: &str, size: f64) -> f64 {
    let share = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.35,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.05,
        letter if !letter.is_ascii() || letter.is_ascii_uppercase() || "&#+=<>~".contains(letter) => {
            if letter.is_ascii() { 0.85 } else { 1.05 }
        }
        _ => 0.66,
    };
    (text.chars().map(share).sum::<f64>() * size).max(strokes::width(&drawn(text), size))
}

/// Returns a text as strokes draw it.
pub(super) fn drawn(text: &str) -> String {
    text.replace('\u{2026}', "..")
}

/// Formats the values of an axis with the decimals that distinguish them.
pub(super) fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|pair| pair[1] - pair[0]).next().unwrap_or(1.0);
    ticks.iter().map(|tick| rounded(*tick, step)).collect()
}

/// Formats a multiple of `step`, which is 1, 2 or 5 times a power of 10.
pub(super) fn rounded(value: f64, step: f64) -> String {
    let decimals = (-step.log10() - 1e-6).ceil().max(0.0) as usize;
    // Adding 0 removes the sign of -0.
    let text = format!("{:.decimals$}", value + 0.0);
    if text.trim_matches(['-', '0', '.']).is_empty() { "0".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_labels_have_the_decimals_of_their_step() {
        assert_eq!(tick_labels(&[0.0, 0.2, 0.4, 3.0 * 0.2]), ["0", "0.2", "0.4", "0.6"]);
        assert_eq!(tick_labels(&[0.0, 0.05, 0.1]), ["0", "0.05", "0.10"]);
        assert_eq!(tick_labels(&[0.0, 5.0, 10.0]), ["0", "5", "10"]);
        assert_eq!(tick_labels(&[0.0]), ["0"]);
        assert_eq!(rounded(2e-6, 2e-6), "0.000002");
    }

    #[test]
    fn bounds_contain_the_letters() {
        let caption = Caption { anchor: CaptionAnchor::End, ..Caption::new("WWii", Point::new(100.0, 50.0), 10.0) };
        let [left, top, right, bottom] = caption.bounds();
        assert_eq!((top, right, bottom), (45.0, 100.0, 55.0));
        assert!(left <= 100.0 - 2.0 * 9.9 - 2.0 * 2.8, "{left}");
        let upright = Caption { is_upright: true, anchor: CaptionAnchor::Start, ..caption };
        let [left, top, right, bottom] = upright.bounds();
        assert_eq!((left, right, bottom), (95.0, 105.0, 50.0));
        assert!(top < 50.0);
    }
}
