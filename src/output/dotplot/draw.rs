//! Drawing of dot plots.
//!
//! SVG contains text. In PNG, text is drawn as strokes, so that no font is needed, and the
//! resolution is doubled.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Picture;
use super::axis::{Axis, Orientation, axes};
use crate::error::{Error, Result};
use crate::output::long::{LongContext, LongPairAlignment, cut};
use crate::output::plot::bitmap::encode_rgb;
use crate::output::strokes;
use crate::seq::Alphabet;

/// Size of the picture in units. A unit is a pixel in SVG.
const SIZE: (i32, i32) = (880, 880);
/// Margins to the left, top, right and bottom of the matrix.
const MARGINS: (i32, i32, i32, i32) = (120, 70, 30, 80);
/// Number of PNG pixels per unit.
const PNG_SCALE: i32 = 2;
/// Points of a path that are closer than this are merged.
const MERGE_DISTANCE: f64 = 0.5;

/// Colours that are distinguishable with any colour vision (Okabe and Ito 2008), without yellow,
/// which is faint.
pub(crate) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

/// Draws all alignments and returns the bytes of the file.
///
/// # Errors
/// Returns an error if any of them has only a score.
pub fn draw(picture: Picture, context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Vec<u8>> {
    let failed = |problem: &dyn std::fmt::Display| Error::Internal(format!("a plot could not be drawn: {problem}"));
    let plot = Plot::new(context, alignments)?;
    match picture {
        Picture::Svg => {
            let mut text = String::new();
            {
                let root = SVGBackend::with_string(&mut text, (SIZE.0 as u32, SIZE.1 as u32)).into_drawing_area();
                plot.draw(&root, 1, write).map_err(|problem| failed(&problem))?;
            }
            Ok(text.into_bytes())
        }
        Picture::Png => {
            let size = ((SIZE.0 * PNG_SCALE) as u32, (SIZE.1 * PNG_SCALE) as u32);
            let mut pixels = vec![0; 3 * (size.0 * size.1) as usize];
            {
                let root = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
                plot.draw(&root, PNG_SCALE, trace).map_err(|problem| failed(&problem))?;
            }
            encode_rgb(&pixels, size.0, size.1)
        }
    }
}

/// A text in a picture.
struct Label {
    text: String,
    /// Vertical centre, and the horizontal position that `anchor` selects.
    at: (i32, i32),
    anchor: HPos,
    size: i32,
    colour: RGBColor,
    /// Whether the text runs upwards.
    is_upright: bool,
}

type DotPlotArea<Backend> = DrawingArea<Backend, Shift>;
type DotPlotResult<Backend> = std::result::Result<(), DrawingAreaErrorKind<<Backend as DrawingBackend>::ErrorType>>;

/// Elements of the picture, in units.
struct Plot {
    /// Paths with their colours.
    paths: Vec<(RGBColor, Vec<(i32, i32)>)>,
    /// Grid lines.
    grid: Vec<[(i32, i32); 2]>,
    labels: Vec<Label>,
}

impl Plot {
    fn new(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Self> {
        let (left, top, right, bottom) = MARGINS;
        let (across, up) = (SIZE.0 - left - right, SIZE.1 - top - bottom);
        let [targets, queries] = axes(context);
        let x = |position: f64| f64::from(left) + position / targets.span() * f64::from(across);
        let y = |position: f64| f64::from(SIZE.1 - bottom) - position / queries.span() * f64::from(up);
        let mut plot = Plot { paths: Vec::new(), grid: Vec::new(), labels: Vec::new() };
        let black = RGBColor(0, 0, 0);
        let mut label = |text: String, at, anchor, size, colour, is_upright| {
            plot.labels.push(Label { text, at, anchor, size, colour, is_upright });
        };
        for line in targets.lines() {
            let position = x(line).round() as i32;
            plot.grid.push([(position, top), (position, SIZE.1 - bottom)]);
        }
        for (text, middle) in targets.labels(f64::from(across), Orientation::Across) {
            label(text, (x(middle).round() as i32, SIZE.1 - bottom + 14), HPos::Center, 12, black, false);
        }
        for line in queries.lines() {
            let position = y(line).round() as i32;
            plot.grid.push([(left, position), (SIZE.0 - right, position)]);
        }
        for (text, middle) in queries.labels(f64::from(up), Orientation::Up) {
            label(text, (left - 8, y(middle).round() as i32), HPos::Right, 12, black, false);
        }
        let unit = if context.alphabet() == Alphabet::Dna { "bp" } else { "residues" };
        let middle = (left + across / 2, top + up / 2);
        label(targets.title(unit), (middle.0, SIZE.1 - bottom + 44), HPos::Center, 15, black, false);
        label(queries.title(unit), (24, middle.1), HPos::Center, 15, black, true);
        label(title(context, alignments)?, (middle.0, 24), HPos::Center, 17, black, false);
        let strands = [(false, "forward"), (true, "reverse complement")];
        let present = strands.into_iter().filter(|(strand, _)| alignments.iter().any(|one| one.is_reverse == *strand));
        let mut x_position = left;
        for (strand, name) in present {
            label(format!("- {name}"), (x_position, top - 16), HPos::Left, 13, colour(strand), false);
            x_position += 100;
        }
        let parts = if context.circular().any() { cut(context, alignments)? } else { Vec::new() };
        let parts: Vec<LongPairAlignment<'_>> = parts.iter().map(|part| part.alignment()).collect();
        for one in if context.circular().any() { &parts } else { alignments } {
            plot.paths.push((colour(one.is_reverse), path(context, one, &[&targets, &queries], x, y)?));
        }
        Ok(plot)
    }

    /// Draws with a backend at `scale` pixels per unit. `write` draws text.
    fn draw<Backend: DrawingBackend>(
        &self,
        root: &DotPlotArea<Backend>,
        scale: i32,
        write: impl Fn(&DotPlotArea<Backend>, &Label, i32) -> DotPlotResult<Backend>,
    ) -> DotPlotResult<Backend> {
        let scaled = |points: &[(i32, i32)]| points.iter().map(|&(x, y)| (x * scale, y * scale)).collect::<Vec<_>>();
        root.fill(&WHITE)?;
        let grid = ShapeStyle::from(&RGBColor(217, 217, 217)).stroke_width(scale as u32);
        for line in &self.grid {
            root.draw(&PathElement::new(scaled(line), grid))?;
        }
        let (left, top, right, bottom) = MARGINS;
        let frame = scaled(&[(left, top), (SIZE.0 - right, SIZE.1 - bottom)]);
        root.draw(&Rectangle::new([frame[0], frame[1]], ShapeStyle::from(&BLACK).stroke_width(scale as u32)))?;
        for (colour, path) in &self.paths {
            match path.as_slice() {
                [] => {}
                // A hit shorter than a pixel stays visible.
                [point] => {
                    root.draw(&Circle::new(scaled(&[*point])[0], 2 * scale, colour.filled()))?;
                }
                path => root.draw(&PathElement::new(scaled(path), colour.stroke_width(2 * scale as u32)))?,
            }
        }
        self.labels.iter().try_for_each(|label| write(root, label, scale))?;
        root.present()
    }
}

fn colour(is_reverse: bool) -> RGBColor {
    COLOURS[usize::from(is_reverse)]
}

fn title(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<String> {
    // Among equal scores, the first one.
    let Some(best) = alignments.iter().rev().max_by_key(|one| one.score) else { return Ok("no alignment".into()) };
    let (context, pair) = context.pair(best)?;
    let columns = context.columns(&pair)?;
    let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
    let identity = context.identity.identity(&columns.counts, lengths.0, lengths.1);
    let facts = format!("score {}, identity {identity:.4}", pair.score);
    Ok(if alignments.len() == 1 { facts } else { format!("{} alignments, best: {facts}", alignments.len()) })
}

/// Returns the path of an alignment, without its end gaps and without points that are too close to
/// distinguish.
fn path(
    all: &LongContext,
    alignment: &LongPairAlignment<'_>,
    [targets, queries]: &[&Axis<'_>; 2],
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) -> Result<Vec<(i32, i32)>> {
    let (context, pair) = all.pair(alignment)?;
    let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
    let columns = context.columns(&pair)?;
    let (mut i, mut j) = (columns.query.start, columns.target.start);
    let query_length = all.queries().length(alignment.query_id);
    let (before_target, before_query) = (targets.start(alignment.target_id), queries.start(alignment.query_id));
    let tick_position = |i: u32, j: u32| {
        let i = if alignment.is_reverse { query_length - i } else { i };
        (x(before_target + f64::from(j)), y(before_query + f64::from(i)))
    };
    let mut last = tick_position(i, j);
    let mut points = vec![last];
    let mut end = last;
    for (length, op) in columns.inner_runs(cigar) {
        i += if op.consumes_query() { length } else { 0 };
        j += if op.consumes_target() { length } else { 0 };
        end = tick_position(i, j);
        if (end.0 - last.0).abs() + (end.1 - last.1).abs() >= MERGE_DISTANCE {
            points.push(end);
            last = end;
        }
    }
    points.push(end);
    let mut pixels: Vec<(i32, i32)> = points.into_iter().map(|(x, y)| (x.round() as i32, y.round() as i32)).collect();
    pixels.dedup();
    Ok(pixels)
}

/// Draws a label as text.
fn write<Backend: DrawingBackend>(area: &DotPlotArea<Backend>, label: &Label, scale: i32) -> DotPlotResult<Backend> {
    let turn = if label.is_upright { FontTransform::Rotate270 } else { FontTransform::None };
    let font = ("sans-serif", label.size * scale).into_font().transform(turn);
    let style = TextStyle::from(font).color(&label.colour).pos(Pos::new(label.anchor, VPos::Center));
    area.draw(&Text::new(label.text.as_str(), (label.at.0 * scale, label.at.1 * scale), style))
}

/// Draws a label as strokes.
fn trace<Backend: DrawingBackend>(area: &DotPlotArea<Backend>, label: &Label, scale: i32) -> DotPlotResult<Backend> {
    let size = f64::from(label.size * scale);
    let before = match label.anchor {
        HPos::Left => 0.0,
        HPos::Center => strokes::width(&label.text, size) / 2.0,
        HPos::Right => strokes::width(&label.text, size),
    };
    let point = |(x, y): (f64, f64)| {
        let (x, y) = if label.is_upright { (y, before - x) } else { (x - before, y) };
        ((f64::from(label.at.0 * scale) + x).round() as i32, (f64::from(label.at.1 * scale) + y).round() as i32)
    };
    let style = ShapeStyle::from(&label.colour).stroke_width(2);
    for line in strokes::lines(&label.text, size) {
        area.draw(&PathElement::new(line.into_iter().map(point).collect::<Vec<_>>(), style))?;
    }
    Ok(())
}
