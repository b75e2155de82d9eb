//! Draws shapes as the pixels of a PNG image. Text is drawn as strokes, so that no font is needed.

use std::fmt::Display;

use super::colours::{self, Rgb};
use super::drawing::{Caption, CaptionAnchor, Drawing, DrawnShape, drawn};
use crate::error::{Error, Result};
use crate::output::point::{Point, Size};
use crate::output::strokes;

/// Greatest number of units of a picture that is drawn at two pixels per unit. Larger pictures have
/// one.
const MAX_DOUBLED: f64 = 8e6;

/// Returns the bytes of a PNG file.
///
/// # Errors
/// Returns [`Error::Internal`] if the image cannot be encoded.
pub(super) fn bytes(drawing: &Drawing) -> Result<Vec<u8>> {
    let Size { width, height } = drawing.size;
    let scale = if width * height > MAX_DOUBLED { 1 } else { 2 };
    let side = |units: f64| units.ceil().max(1.0) as usize * scale;
    let (width, height) = (side(width), side(height));
    let pixels = vec![255; 3 * width * height];
    let mut bitmap = Bitmap { width, height, scale: scale as f64, pixels, coverage: Vec::new() };
    for shape in &drawing.shapes {
        match shape {
            DrawnShape::Rectangle { at, size, colour, .. } => bitmap.fill(*at, *size, *colour),
            DrawnShape::Lines { colour, width, ends } => {
                let half = width / 2.0;
                for [x, y, to_x, to_y] in ends {
                    let (left, right) = (x.min(*to_x), x.max(*to_x));
                    let (top, bottom) = (y.min(*to_y), y.max(*to_y));
                    let size = Size { width: right - left + width, height: bottom - top + width };
                    bitmap.fill(Point::new(left - half, top - half), size, *colour);
                }
            }
            DrawnShape::Path { colour, width, points, .. } => bitmap.trace(points, *width, *colour),
            DrawnShape::Cells { at, cell, columns, levels } => {
                let cell = *cell as f64;
                for (row, levels) in levels.chunks((*columns).max(1)).enumerate() {
                    for (column, level) in levels.iter().enumerate() {
                        let offset = Point::new(cell * column as f64, cell * row as f64);
                        bitmap.fill(*at + offset, Size::square(cell), colours::of_level(*level));
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
    /// Share of every pixel that the path being drawn covers; 0 between paths. Empty before the
    /// first path.
    coverage: Vec<f32>,
}

impl Bitmap {
    /// Fills a rectangle that is given in units. It is at least one pixel wide and high.
    fn fill(&mut self, at: Point, size: Size, colour: Rgb) {
        let range = |start: f64, length: f64, end: usize| {
            let first = (start * self.scale).round().max(0.0) as usize;
            let last = ((start + length) * self.scale).round().max(0.0) as usize;
            first.min(end)..last.max(first + 1).min(end)
        };
        let (columns, rows) = (range(at.x, size.width, self.width), range(at.y, size.height, self.height));
        for row in rows {
            let start = row * self.width;
            let line = &mut self.pixels[3 * (start + columns.start)..3 * (start + columns.end)];
            line.as_chunks_mut::<3>().0.fill(colour);
        }
    }

    /// Draws a line between two points that are given in units.
    fn stroke(&mut self, from: Point, to: Point, colour: Rgb) {
        let Point { x: across, y: down } = to - from;
        let steps = (across.abs().max(down.abs()) * self.scale).ceil().max(1.0);
        let pen = Size::square(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            self.fill(Point::new(from.x + across * share - 0.5, from.y + down * share - 0.5), pen, colour);
        }
    }

    /// Draws connected lines with round ends. Points and width are given in units.
    ///
    /// A pixel is covered by the line that is nearest to its centre, and blended once: lines of the
    /// same path that overlap look like one.
    fn trace(&mut self, points: &[Point], width: f64, colour: Rgb) {
        let scaled = |&Point { x, y }: &Point| Point::new(x * self.scale, y * self.scale);
        let points: Vec<Point> = points.iter().map(scaled).collect();
        let radius = width / 2.0 * self.scale;
        self.coverage.resize(self.width * self.height, 0.0);
        let mut covered = Vec::new();
        if let &[point] = points.as_slice() {
            self.cover(point, point, radius, &mut covered);
        }
        for ends in points.windows(2) {
            self.cover(ends[0], ends[1], radius, &mut covered);
        }
        for index in covered {
            let share = std::mem::take(&mut self.coverage[index]);
            for (part, target) in self.pixels[3 * index..3 * index + 3].iter_mut().zip(colour) {
                *part = (f32::from(*part) * (1.0 - share) + f32::from(target) * share).round() as u8;
            }
        }
    }

    /// Increases the coverage of the pixels that a line touches. Appends the pixels that no earlier
    /// line of the path covers. The ends and the radius are given in pixels.
    fn cover(&mut self, from: Point, to: Point, radius: f64, covered: &mut Vec<usize>) {
        let reach = radius + 0.5;
        let Point { x: across, y: down } = to - from;
        let square = across * across + down * down;
        let limit = |position: f64, end: usize| (position.floor().max(0.0) as usize).min(end);
        let (top, bottom) = (from.y.min(to.y) - reach, from.y.max(to.y) + reach);
        for row in limit(top, self.height)..limit(bottom + 1.0, self.height) {
            let y = row as f64 + 0.5;
            // The part of the line that is near the row.
            let share = |y: f64| if down == 0.0 { 0.0 } else { ((y - from.y) / down).clamp(0.0, 1.0) };
            let (near, far) = if down == 0.0 { (0.0, 1.0) } else { (share(y - reach), share(y + reach)) };
            let (near, far) = (from.x + near * across, from.x + far * across);
            let (left, right) = (near.min(far) - reach, near.max(far) + reach);
            for column in limit(left, self.width)..limit(right + 1.0, self.width) {
                let (x_offset, y_offset) = (column as f64 + 0.5 - from.x, y - from.y);
                let projection = x_offset * across + y_offset * down;
                let nearest = if square > 0.0 { (projection / square).clamp(0.0, 1.0) } else { 0.0 };
                let (x_rest, y_rest) = (x_offset - nearest * across, y_offset - nearest * down);
                let distance = (x_rest * x_rest + y_rest * y_rest).sqrt();
                let share = (reach - distance).clamp(0.0, 1.0) as f32;
                let coverage = &mut self.coverage[row * self.width + column];
                if share > *coverage {
                    if *coverage == 0.0 {
                        covered.push(row * self.width + column);
                    }
                    *coverage = share;
                }
            }
        }
    }

    fn write(&mut self, caption: &Caption) {
        let text = drawn(&caption.text);
        let before = match caption.anchor {
            CaptionAnchor::Start => 0.0,
            CaptionAnchor::Middle => strokes::width(&text, caption.size) / 2.0,
            CaptionAnchor::End => strokes::width(&text, caption.size),
        };
        let point = |Point { x, y }: Point| {
            let offset = if caption.is_upright { Point::new(y, before - x) } else { Point::new(x - before, y) };
            caption.at + offset
        };
        for line in strokes::lines(&text, caption.size) {
            for ends in line.windows(2) {
                self.stroke(point(ends[0]), point(ends[1]), caption.colour);
            }
        }
    }
}

/// Encodes pixels of three bytes.
///
/// # Errors
/// Returns [`Error::Internal`] if the image cannot be encoded.
fn encode_rgb(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>> {
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

    /// Returns the darkness of every pixel of a black path, from 0 to 255, and the width in pixels.
    fn darkness(points: Vec<Point>) -> (usize, Vec<u8>) {
        let path = DrawnShape::Path { colour: [0; 3], width: 2.0, points, tip: String::new() };
        let drawing = Drawing { size: Size { width: 30.0, height: 20.0 }, shapes: vec![path] };
        let (width, _, pixels) = decoded(&bytes(&drawing).unwrap());
        (width as usize, pixels.chunks_exact(3).map(|pixel| 255 - pixel[0]).collect())
    }

    fn area(points: Vec<Point>) -> f64 {
        darkness(points).1.into_iter().map(f64::from).sum::<f64>() / 255.0
    }

    #[test]
    fn paths_cover_their_area_at_any_slope_and_place() {
        let round_ends = std::f64::consts::PI * 4.0;
        for [x, y, to_x, to_y] in [[3.0, 9.0, 23.0, 9.0], [5.3, 4.1, 21.9, 15.2], [20.0, 3.7, 14.2, 14.9]] {
            let (from, to) = (Point::new(x, y), Point::new(to_x, to_y));
            let length: f64 = 2.0 * f64::hypot(to_x - x, to_y - y);
            let expected = 4.0 * length + round_ends;
            let all = area(vec![from, to]);
            assert!((all - expected).abs() < 0.03 * expected, "{from:?} {to:?}: {all}, not {expected}");
            // The second line lies on the first.
            for same in [vec![to, from], vec![from, to, from]] {
                assert!((area(same) - all).abs() < 0.5, "{from:?} {to:?}");
            }
        }
        let dot = area(vec![Point::new(9.3, 9.8)]);
        assert!((dot - round_ends).abs() < 0.05 * round_ends, "{dot}");
        assert_eq!(area(vec![]), 0.0);
        let outside = [(-50.0, -50.0), (-40.0, 90.0), (500.0, 90.0)].map(|(x, y)| Point { x, y });
        assert_eq!(area(outside.into()), 0.0);
    }

    #[test]
    fn edges_of_paths_are_smooth() {
        let (width, pixels) = darkness(vec![Point::new(-10.0, 1.0), Point::new(40.0, 17.0)]);
        // Each column has a dark core and few pixels of other shades.
        for column in 0..width {
            let shades: Vec<u8> =
                pixels.iter().skip(column).step_by(width).copied().filter(|&shade| shade > 0).collect();
            let dark = shades.iter().filter(|&&shade| shade == 255).count();
            assert!((3..=4).contains(&dark) && shades.len() <= dark + 3, "{column}: {shades:?}");
        }
        let shades: std::collections::BTreeSet<u8> = pixels.into_iter().collect();
        assert!(shades.len() > 20, "{shades:?}");
    }

    #[test]
    fn shapes_are_drawn_at_two_pixels_per_unit() {
        let mut drawing = Drawing { size: Size { width: 20.0, height: 10.0 }, ..Drawing::default() };
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let (at, size) = (Point::new(1.0, 1.0), Size { width: 2.0, height: 3.0 });
        drawing.shapes.push(DrawnShape::Rectangle { at, size, colour: red, tip: String::new() });
        drawing.shapes.push(DrawnShape::Lines { colour: blue, width: 1.0, ends: vec![[5.0, 5.0, 9.0, 5.0]] });
        let (width, height, pixels) = decoded(&bytes(&drawing).unwrap());
        assert_eq!((width, height), (40, 20));
        let count = |colour: Rgb| pixels.chunks_exact(3).filter(|pixel| **pixel == colour).count();
        assert_eq!((count(red), count(blue)), (4 * 6, 10 * 2));
        drawing.text(Caption::new("X\u{2026}", Point::new(2.0, 30.0), 12.0));
        let (_, height, pixels) = decoded(&bytes(&drawing).unwrap());
        assert!(height > 60 && pixels.chunks_exact(3).filter(|pixel| **pixel == [0; 3]).count() > 40);
    }
}
