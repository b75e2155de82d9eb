//! Layout of dot plots.

use super::axis::{Axis, AxisLabel, AxisLabels, Orientation, axes};
use super::path::HitPath;
use crate::error::Result;
use crate::output::long_context::{LongContext, LongPairAlignment, cut};
use crate::output::plot::colours::{LINE_COLOURS, Rgb};
use crate::output::plot::drawing::{Caption, CaptionAnchor, Drawing, DrawnShape, MARGIN, TEXT_SIZE, text_width};
use crate::output::point::{Point, Size};
use crate::seq::Alphabet;

/// Width and height of the matrix in units.
const SIDE: f64 = 730.0;
/// Position of the upper end of the matrix. Halves of units make horizontal and vertical lines sharp.
const TOP: f64 = 70.5;
/// Space to the right of the matrix in units.
const RIGHT: f64 = 30.0;
/// Vertical positions of the title and the legend.
const TITLE_Y: f64 = 24.0;
const LEGEND_Y: f64 = 54.0;
/// Heights of letters in units.
const TITLE_SIZE: f64 = 17.0;
const AXIS_TITLE_SIZE: f64 = 15.0;
const LEGEND_SIZE: f64 = 13.0;
/// Distances between the matrix and the texts next to it, and between these texts and the title of
/// an axis, in units.
const LABEL_GAP: f64 = 8.0;
const AXIS_TITLE_GAP: f64 = 10.0;
/// Length of the lines in the legend, and the space between its entries, in units.
const LEGEND_LINE: f64 = 22.0;
const LEGEND_GAP: f64 = 26.0;
/// Width of the lines of paths, and of the dots that replace shorter ones, in units.
const LINE_WIDTH: f64 = 2.0;
const DOT_WIDTH: f64 = 4.0;
/// Least length of a path that is drawn as a line, in units.
const MIN_LINE: f64 = DOT_WIDTH;
const GRID: Rgb = [217; 3];

/// Axes and position of the matrix.
struct DotPlotLayout<'a> {
    targets: Axis<'a>,
    queries: Axis<'a>,
    target_labels: AxisLabels,
    query_labels: AxisLabels,
    /// Position of the left end of the matrix.
    left: f64,
}

impl<'a> DotPlotLayout<'a> {
    fn new(context: &'a LongContext) -> Self {
        let [targets, queries] = axes(context);
        let target_labels = targets.labels(SIDE, Orientation::Across);
        let query_labels = queries.labels(SIDE, Orientation::Up);
        let labels = query_labels.depth.ceil() + LABEL_GAP;
        let left = MARGIN + AXIS_TITLE_SIZE + AXIS_TITLE_GAP + labels + 0.5;
        DotPlotLayout { targets, queries, target_labels, query_labels, left }
    }

    fn x(&self, position: f64) -> f64 {
        self.left + position / self.targets.span() * SIDE
    }

    fn y(&self, position: f64) -> f64 {
        TOP + SIDE - position / self.queries.span() * SIDE
    }
}

/// Draws all alignments.
///
/// # Errors
/// Returns an error if any of them has only a score.
pub(super) fn drawing(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Drawing> {
    let layout = DotPlotLayout::new(context);
    let size = Size { width: layout.left + SIDE + RIGHT, height: TOP + SIDE + MARGIN };
    let mut drawing = Drawing { size, ..Drawing::default() };
    push_grid(&mut drawing, &layout);
    push_labels(&mut drawing, &layout);
    push_axis_titles(&mut drawing, &layout, context.alphabet());
    let middle = layout.left + SIDE / 2.0;
    let title = Caption::new(title(context, alignments)?, Point::new(middle, TITLE_Y), TITLE_SIZE);
    drawing.text(Caption { anchor: CaptionAnchor::Middle, ..title });
    push_legend(&mut drawing, layout.left, alignments);
    push_paths(&mut drawing, &layout, context, alignments)?;
    Ok(drawing)
}

fn push_grid(drawing: &mut Drawing, layout: &DotPlotLayout<'_>) {
    let (left, right, bottom) = (layout.left, layout.left + SIDE, TOP + SIDE);
    let sharp = |position: f64| position.floor() + 0.5;
    let across = layout.targets.lines(SIDE).into_iter().map(|line| sharp(layout.x(line)));
    let up = layout.queries.lines(SIDE).into_iter().map(|line| sharp(layout.y(line)));
    let ends = across.map(|x| [x, TOP, x, bottom]).chain(up.map(|y| [left, y, right, y])).collect();
    drawing.shapes.push(DrawnShape::Lines { colour: GRID, width: 1.0, ends });
    drawing.frame(Point::new(left, TOP), Size::square(SIDE));
}

/// Draws the texts next to both axes.
fn push_labels(drawing: &mut Drawing, layout: &DotPlotLayout<'_>) {
    let caption = |AxisLabel { text, whole, .. }: &AxisLabel, at| Caption {
        tip: whole.clone(),
        ..Caption::new(text, at, TEXT_SIZE)
    };
    let is_upright = layout.target_labels.are_upright;
    for label in &layout.target_labels.labels {
        let (x, y) = (layout.x(label.middle), TOP + SIDE + LABEL_GAP);
        let (y, anchor) =
            if is_upright { (y, CaptionAnchor::End) } else { (y + TEXT_SIZE / 2.0, CaptionAnchor::Middle) };
        drawing.text(Caption { anchor, is_upright, ..caption(label, Point { x, y }) });
    }
    for label in &layout.query_labels.labels {
        let at = Point::new(layout.left - LABEL_GAP, layout.y(label.middle));
        drawing.text(Caption { anchor: CaptionAnchor::End, ..caption(label, at) });
    }
}

fn push_axis_titles(drawing: &mut Drawing, layout: &DotPlotLayout<'_>, alphabet: Alphabet) {
    let unit = if alphabet == Alphabet::Dna { "bp" } else { "residues" };
    let mut push = |axis: &Axis<'_>, at, is_upright| {
        let AxisLabel { text, whole, .. } = axis.title(unit, SIDE, AXIS_TITLE_SIZE);
        let anchor = CaptionAnchor::Middle;
        drawing.text(Caption { anchor, is_upright, tip: whole, ..Caption::new(text, at, AXIS_TITLE_SIZE) });
    };
    let half = AXIS_TITLE_SIZE / 2.0;
    let below = TOP + SIDE + LABEL_GAP + layout.target_labels.depth + AXIS_TITLE_GAP;
    push(&layout.targets, Point::new(layout.left + SIDE / 2.0, below + half), false);
    push(&layout.queries, Point::new(MARGIN + half, TOP + SIDE / 2.0), true);
}

/// Draws a line in the colour of each strand that has alignments, with the name of the strand.
fn push_legend(drawing: &mut Drawing, left: f64, alignments: &[LongPairAlignment<'_>]) {
    let strands = [(false, "forward"), (true, "reverse complement")];
    let mut x = left;
    for (is_reverse, name) in strands {
        if alignments.iter().any(|one| one.is_reverse == is_reverse) {
            let points = [x, x + LEGEND_LINE].map(|x| Point::new(x, LEGEND_Y)).to_vec();
            let (colour, width) = (strand_colour(is_reverse), LINE_WIDTH);
            drawing.shapes.push(DrawnShape::Path { colour, width, points, tip: String::new() });
            x += LEGEND_LINE + LABEL_GAP;
            drawing.text(Caption::new(name, Point::new(x, LEGEND_Y), LEGEND_SIZE));
            x += text_width(name, LEGEND_SIZE) + LEGEND_GAP;
        }
    }
}

/// Draws the paths. Shorter ones cover longer ones.
fn push_paths(
    drawing: &mut Drawing,
    layout: &DotPlotLayout<'_>,
    context: &LongContext,
    alignments: &[LongPairAlignment<'_>],
) -> Result<()> {
    let parts = if context.circular().any() { cut(context, alignments)? } else { Vec::new() };
    let parts: Vec<LongPairAlignment<'_>> = parts.iter().map(|part| part.alignment()).collect();
    let mut shapes = Vec::new();
    for one in if context.circular().any() { &parts } else { alignments } {
        let path = HitPath::new(context, one, [&layout.targets, &layout.queries])?;
        let mut points = path.drawn(|point| Point::new(layout.x(point.target), layout.y(point.query)));
        let (first, last) = (points[0], points[points.len() - 1]);
        let length = f64::hypot(last.x - first.x, last.y - first.y);
        let is_dot = length < MIN_LINE;
        if is_dot {
            points = vec![Point::new((first.x + last.x) / 2.0, (first.y + last.y) / 2.0)];
        }
        let (colour, width) = (strand_colour(path.is_reverse), if is_dot { DOT_WIDTH } else { LINE_WIDTH });
        shapes.push((length, DrawnShape::Path { colour, width, points, tip: path.tip }));
    }
    shapes.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    drawing.shapes.extend(shapes.into_iter().map(|(_, shape)| shape));
    Ok(())
}

fn strand_colour(is_reverse: bool) -> Rgb {
    LINE_COLOURS[usize::from(is_reverse)]
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

#[cfg(test)]
mod tests;
