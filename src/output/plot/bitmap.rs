//! Draws shapes as the pixels of a PNG image. Text is drawn as strokes, so that no font is needed.

use std::fmt::Display;

use super::colours::{self, Rgb};
use super::drawing::{Caption, CaptionAnchor, Drawing, DrawnShape};
use crate::error::{Error, Result};
use crate::output::strokes;

/// Greatest number of units of a picture that is drawn at two pixels per unit. Larger pictures have
/// one.
const MAX_DOUBLED: f64 = 8e6;

/// Returns the bytes of a PNG file.
///
/// # Errors
/// Returns [`Error::Internal`] if the image cannot be encoded.
pub(super) fn bytes(drawing: &Drawing) -> Result<Vec<u8>> {
    let scale = if drawing.size.0 * drawing.size.1 > MAX_DOUBLED { 1 } else { 2 };
    let side = |units: f64| units.ceil().max(1.0) as usize * scale;
    let (width, height) = (side(drawing.size.0), side(drawing.size.1));
    let mut bitmap = Bitmap { width, height, scale: scale as f64, pixels: vec![255; 3 * width * height] };
    for shape in &drawing.shapes {
        match shape {
            DrawnShape::Rectangle { at, size, colour, .. } => bitmap.fill(*at, *size, *colour),
            DrawnShape::Lines { colour, width, ends } => {
                let half = width / 2.0;
                for [x, y, to_x, to_y] in ends {
                    let (left, right) = (x.min(*to_x), x.max(*to_x));
                    let (top, bottom) = (y.min(*to_y), y.max(*to_y));
                    let size = (right - left + width, bottom - top + width);
                    bitmap.fill((left - half, top - half), size, *colour);
                }
            }
            DrawnShape::Cells { at, cell, columns, levels } => {
                let cell = *cell as f64;
                for (row, levels) in levels.chunks((*columns).max(1)).enumerate() {
                    for (column, level) in levels.iter().enumerate() {
                        let at = (at.0 + cell * column as f64, at.1 + cell * row as f64);
                        bitmap.fill(at, (cell, cell), colours::of_level(*level));
                    }
                }
            }
            DrawnShape::Text(caption) => bitmap.write(caption),
        }
    }
    encode_rgb(&bitmap.pixels, width as u32, height as u32)
}

/// An image in memory.
struct Bitmap {
    width: usize,
    height: usize,
    /// Number of pixels per unit.
    scale: f64,
    /// Red, green and blue of every pixel.
    pixels: Vec<u8>,
}

impl Bitmap {
    /// Fills a rectangle that is given in units. It is at least one pixel wide and high.
    fn fill(&mut self, at: (f64, f64), size: (f64, f64), colour: Rgb) {
        let range = |start: f64, length: f64, end: usize| {
            let first = (start * self.scale).round().max(0.0) as usize;
            let last = ((start + length) * self.scale).round().max(0.0) as usize;
            first.min(end)..last.max(first + 1).min(end)
        };
        let (columns, rows) = (range(at.0, size.0, self.width), range(at.1, size.1, self.height));
        for row in rows {
            let start = row * self.width;
            let line = &mut self.pixels[3 * (start + columns.start)..3 * (start + columns.end)];
            line.as_chunks_mut::<3>().0.fill(colour);
        }
    }

    /// Draws a line between two points that are given in units.
    fn stroke(&mut self, from: (f64, f64), to: (f64, f64), colour: Rgb) {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = (across.abs().max(down.abs()) * self.scale).ceil().max(1.0);
        let pen = (1.0, 1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            self.fill((from.0 + across * share - 0.5, from.1 + down * share - 0.5), pen, colour);
        }
    }

    fn write(&mut self, caption: &Caption) {
        let text = drawn(&caption.text);
        let before = match caption.anchor {
            CaptionAnchor::Start => 0.0,
            CaptionAnchor::Middle => strokes::width(&text, caption.size) / 2.0,
            CaptionAnchor::End => strokes::width(&text, caption.size),
        };
        let point = |(x, y): (f64, f64)| {
            let (x, y) = if caption.is_upright { (y, before - x) } else { (x - before, y) };
            (caption.at.0 + x, caption.at.1 + y)
        };
        for line in strokes::lines(&text, caption.size) {
            for ends in line.windows(2) {
                self.stroke(point(ends[0]), point(ends[1]), caption.colour);
            }
        }
    }
}

/// Returns a text as strokes draw it.
pub(super) fn drawn(text: &str) -> String {
    text.replace('\u{2026}', "..")
}

/// Encodes pixels of three bytes.
///
/// # Errors
/// Returns [`Error::Internal`] if the image cannot be encoded.
pub(in crate::output) fn encode_rgb(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    finish(encoder, pixels)?;
    Ok(bytes)
}

/// Encodes levels of the colour scale, with `cell` by `cell` pixels for each.
///
/// # Errors
/// Returns [`Error::Internal`] if the image cannot be encoded.
pub(super) fn encode_levels(levels: &[u8], columns: usize, cell: usize) -> Result<Vec<u8>> {
    let mut pixels = Vec::with_capacity(levels.len() * cell * cell);
    for row in levels.chunks(columns) {
        let line: Vec<u8> = row.iter().flat_map(|&level| std::iter::repeat_n(level, cell)).collect();
        (0..cell).for_each(|_| pixels.extend_from_slice(&line));
    }
    let (width, height) = (columns * cell, levels.len() / columns * cell);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(colours::palette());
    finish(encoder, &pixels)?;
    Ok(bytes)
}

fn finish(mut encoder: png::Encoder<'_, &mut Vec<u8>>, pixels: &[u8]) -> Result<()> {
    let failed = |problem: &dyn Display| Error::Internal(format!("a picture could not be encoded: {problem}"));
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|problem| failed(&problem))?;
    writer.write_image_data(pixels).map_err(|problem| failed(&problem))?;
    writer.finish().map_err(|problem| failed(&problem))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns width, height and pixels of a PNG file. A palette is not applied.
    pub(in crate::output::plot) fn decoded(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        pixels.truncate(info.buffer_size());
        (info.width, info.height, pixels)
    }

    #[test]
    fn levels_become_squares_of_pixels() {
        let (width, height, pixels) = decoded(&encode_levels(&[1, 2, 3, 4, 5, 6], 3, 2).unwrap());
        assert_eq!((width, height), (6, 4));
        assert_eq!(pixels, [[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6], [4, 4, 5, 5, 6, 6]].concat());
    }

    #[test]
    fn shapes_are_drawn_at_two_pixels_per_unit() {
        let mut drawing = Drawing { size: (20.0, 10.0), ..Drawing::default() };
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let (at, size) = ((1.0, 1.0), (2.0, 3.0));
        drawing.shapes.push(DrawnShape::Rectangle { at, size, colour: red, tip: String::new() });
        drawing.shapes.push(DrawnShape::Lines { colour: blue, width: 1.0, ends: vec![[5.0, 5.0, 9.0, 5.0]] });
        let (width, height, pixels) = decoded(&bytes(&drawing).unwrap());
        assert_eq!((width, height), (40, 20));
        let count = |colour: Rgb| pixels.chunks_exact(3).filter(|pixel| **pixel == colour).count();
        assert_eq!((count(red), count(blue)), (4 * 6, 10 * 2));
        drawing.text(Caption::new("X\u{2026}", (2.0, 30.0), 12.0));
        let (_, height, pixels) = decoded(&bytes(&drawing).unwrap());
        assert!(height > 60 && pixels.chunks_exact(3).filter(|pixel| **pixel == [0; 3]).count() > 40);
    }
}
