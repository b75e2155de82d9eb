//! Heat maps of symmetric matrices.

use std::fmt;

use super::colours::{self, BLACK};
use super::drawing::{
    Caption, CaptionAnchor, Drawing, DrawnShape, LINE, MARGIN, TEXT_SIZE, TITLE_SIZE, text_width, tick_labels,
};
use super::names::{DrawnName, drawn_names, shortened};
use crate::error::Result;
use crate::output::Output;
use crate::output::picture::Picture;
use crate::output::point::{Point, Size};
use crate::output::ticks::ticks;

/// Greatest number of rows with names.
const MAX_NAMED: usize = 200;
/// Greatest number of rows whose cells show their values at the pointer.
const MAX_TIPS: usize = 60;
/// Greatest number of cells in a row. Further rows share cells.
const MAX_CELLS: usize = 1000;
/// Least and greatest width of the cells of rows with names, in units.
const NAMED_CELL: (usize, usize) = (12, 28);
/// Width that rows with names have if cells of [`NAMED_CELL`] allow it, in units.
const NAMED_SIDE: usize = 480;
/// Greatest width of rows without names, in units.
const SIDE: usize = 1000;
/// Maximum number of characters of a name.
const NAME_CHARS: usize = 30;
/// Maximum number of characters of the title.
const TITLE_CHARS: usize = 60;
/// Width, height and number of steps of the colour bar.
const BAR: (f64, f64, u8) = (16.0, 204.0, 51);

/// A symmetric matrix of numbers with names, drawn as coloured cells next to a colour bar.
#[derive(Clone, Copy)]
pub struct HeatMap<'a> {
    /// Names of the rows and of the columns, in their order in the picture.
    pub names: &'a [&'a [u8]],
    /// Returns the number in a row and a column. Only `row >= column` is used.
    pub values: &'a dyn Fn(usize, usize) -> f64,
    /// Title of the picture.
    pub title: &'a str,
    /// Description of the numbers.
    pub legend: &'a str,
}

impl fmt::Debug for HeatMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HeatMap { names, title, legend, .. } = self;
        f.debug_struct("HeatMap").field("names", &names.len()).field("title", title).field("legend", legend).finish()
    }
}

/// Numbers of the drawn cells. Each is the mean of a square of the matrix.
struct CellMeans {
    /// Number of cells in a row.
    side: usize,
    /// Number of rows of the matrix in a row of cells.
    rows_per_cell: usize,
    /// Means, row by row.
    means: Vec<f64>,
}

impl CellMeans {
    fn new(map: &HeatMap<'_>) -> Self {
        let rows = map.names.len();
        let rows_per_cell = rows.div_ceil(MAX_CELLS).max(1);
        let side = rows.div_ceil(rows_per_cell);
        let (mut sums, mut counts) = (vec![0.0; side * side], vec![0.0; side * side]);
        for row in 0..rows {
            for column in 0..=row {
                let (cell_row, cell_column) = (row / rows_per_cell, column / rows_per_cell);
                // A cell on the diagonal contains the pair in both orders.
                let weight = if cell_row == cell_column && row != column { 2.0 } else { 1.0 };
                let cell = cell_row * side + cell_column;
                sums[cell] += weight * (map.values)(row, column);
                counts[cell] += weight;
            }
        }
        let mean = |row: usize, column: usize| {
            let cell = row.max(column) * side + row.min(column);
            sums[cell] / counts[cell]
        };
        let means = (0..side * side).map(|cell| mean(cell / side, cell % side)).collect();
        CellMeans { side, rows_per_cell, means }
    }

    /// Returns the values at the ticks of the colour bar. All means lie between the first and the
    /// last.
    fn ticks(&self) -> Vec<f64> {
        let finite = || self.means.iter().copied().filter(|mean| mean.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        // Equal numbers get a scale around them.
        if high - low > 1e-9 {
            ticks(low, high, false)
        } else {
            ticks(low.clamp(-1e6, 0.0), high.clamp(1.0, 1e6), false)
        }
    }
}

/// Positions of the matrix in the picture.
struct MatrixLayout {
    left: f64,
    top: f64,
    /// Width of a cell in units.
    cell: usize,
    /// Width of the matrix in units.
    side: f64,
}

impl HeatMap<'_> {
    /// Writes the picture.
    ///
    /// Up to 200 rows have names. Larger matrices have smaller cells without names. From 1,001 rows
    /// on, a cell is the mean of several rows and columns, so that the size of the file is limited.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn write(&self, picture: Picture, output: Output) -> Result<()> {
        self.drawing().write(picture, output)
    }

    /// Returns the picture as an SVG element for an HTML page.
    ///
    /// # Errors
    /// Returns [`crate::Error::Internal`] if an image cannot be encoded.
    pub fn svg_element(&self) -> Result<String> {
        self.drawing().svg_element()
    }

    fn drawing(&self) -> Drawing {
        let rows = self.names.len();
        let has_names = rows <= MAX_NAMED;
        let names = if has_names { drawn_names(self.names, NAME_CHARS) } else { Vec::new() };
        let cells = CellMeans::new(self);
        let cell = if has_names {
            (NAMED_SIDE / rows.max(1)).clamp(NAMED_CELL.0, NAMED_CELL.1)
        } else {
            (SIDE / cells.side).max(1)
        };
        // Two units less than a row, so that names stay apart.
        let size = (cell as f64 - 2.0).min(TEXT_SIZE);
        let name_width = names.iter().map(|name| text_width(&name.short, size)).fold(0.0, f64::max).ceil();
        let heading = MARGIN + 2.0 * LINE + 8.0;
        let layout = MatrixLayout {
            left: MARGIN + name_width + 6.0,
            top: heading + name_width + 6.0,
            cell,
            side: (cells.side * cell) as f64,
        };
        let mut drawing = Drawing::default();
        let title = shortened(self.title, TITLE_CHARS);
        drawing.text(Caption::new(title, Point::new(MARGIN, MARGIN + TITLE_SIZE / 2.0), TITLE_SIZE));
        drawing.text(Caption::new(self.legend, Point::new(MARGIN, MARGIN + TITLE_SIZE / 2.0 + LINE), TEXT_SIZE));
        push_names(&mut drawing, &names, size, &layout);
        let ticks = cells.ticks();
        push_cells(&mut drawing, &cells, &names, &ticks, &layout);
        push_bar(&mut drawing, &ticks, &layout);
        let below = layout.top + layout.side.max(BAR.1) + LINE;
        drawing.draw_notes(&notes(rows, cells.rows_per_cell), Point::new(MARGIN, below));
        drawing.size.height = drawing.size.height.max(layout.top + layout.side.max(BAR.1) + MARGIN);
        drawing
    }
}

/// Returns the remarks below a matrix.
fn notes(rows: usize, rows_per_cell: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if rows > MAX_NAMED {
        notes.push(format!("{rows} rows in the order of the input; pictures of up to {MAX_NAMED} rows have names"));
    }
    if rows_per_cell > 1 {
        notes.push(format!("Each cell is the mean of {rows_per_cell} rows and {rows_per_cell} columns"));
    }
    notes
}

/// Draws the names of rows and columns.
fn push_names(drawing: &mut Drawing, names: &[DrawnName], size: f64, layout: &MatrixLayout) {
    for (index, name) in names.iter().enumerate() {
        let middle = (index as f64 + 0.5) * layout.cell as f64;
        let tip = if name.short == name.whole { String::new() } else { name.whole.clone() };
        let before = Point::new(layout.left - 6.0, layout.top + middle);
        let row = Caption { tip, ..Caption::new(&name.short, before, size) };
        let at = Point::new(layout.left + middle, layout.top - 6.0);
        drawing.text(Caption { at, is_upright: true, ..row.clone() });
        drawing.text(Caption { anchor: CaptionAnchor::End, ..row });
    }
}

/// Draws the cells, as rectangles with their values at the pointer if they are few.
fn push_cells(drawing: &mut Drawing, cells: &CellMeans, names: &[DrawnName], ticks: &[f64], layout: &MatrixLayout) {
    let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
    let level = |mean: f64| ((mean - low) / (high - low) * 255.0).round().clamp(0.0, 255.0) as u8;
    let corner = Point::new(layout.left, layout.top);
    if cells.side > MAX_TIPS {
        let levels = cells.means.iter().map(|mean| level(*mean)).collect();
        let (cell, columns) = (layout.cell, cells.side);
        drawing.shapes.push(DrawnShape::Cells { at: corner, cell, columns, levels });
    } else {
        let cell = layout.cell as f64;
        for (index, mean) in cells.means.iter().enumerate() {
            let (row, column) = (index / cells.side, index % cells.side);
            let tip = format!("{}, {}: {mean:.4}", names[row].short, names[column].short);
            let at = corner + Point::new(column as f64 * cell, row as f64 * cell);
            let (size, colour) = (Size::square(cell), colours::of_level(level(*mean)));
            drawing.shapes.push(DrawnShape::Rectangle { at, size, colour, tip });
        }
    }
    drawing.frame(corner, Size::square(layout.side));
}

/// Draws the colour bar to the right of the matrix. High numbers are at the top.
fn push_bar(drawing: &mut Drawing, ticks: &[f64], layout: &MatrixLayout) {
    let (width, height, steps) = BAR;
    let (left, top) = (layout.left + layout.side + 24.0, layout.top);
    let step = height / f64::from(steps);
    for index in 0..steps {
        let level = u32::from(index) * 255 / u32::from(steps - 1);
        let at = Point::new(left, top + height - step * f64::from(index + 1));
        let (size, colour) = (Size { width, height: step }, colours::of_level(level as u8));
        drawing.shapes.push(DrawnShape::Rectangle { at, size, colour, tip: String::new() });
    }
    drawing.frame(Point::new(left, top), Size { width, height });
    let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
    let mut marks = Vec::new();
    for (tick, label) in ticks.iter().zip(tick_labels(ticks)) {
        let y = top + height * (high - tick) / (high - low);
        marks.push([left + width, y, left + width + 4.0, y]);
        drawing.text(Caption::new(label, Point::new(left + width + 8.0, y), TEXT_SIZE));
    }
    drawing.shapes.push(DrawnShape::Lines { colour: BLACK, width: 1.0, ends: marks });
}

#[cfg(test)]
mod tests {
    use super::super::bitmap::tests::decoded;
    use super::super::svg;
    use super::super::svg::tests::{assert_texts_are_apart, elements};
    use super::*;
    use crate::output::captured::CapturedBytes;

    /// Returns the picture of a matrix. The distance of two rows is their difference.
    fn drawing(names: &[&str]) -> Drawing {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let rows = names.len().max(2) as f64;
        let values = |row: usize, column: usize| (row - column) as f64 / (rows - 1.0);
        HeatMap { names: &names, values: &values, title: "genes & more.fa", legend: "distance" }.drawing()
    }

    fn text(drawing: &Drawing) -> String {
        String::from_utf8(svg::bytes(drawing).unwrap()).unwrap()
    }

    fn numbered(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("gene<{number}>_of_a_family_with_long_names")).collect()
    }

    fn numbered_drawing(count: usize) -> Drawing {
        let names = numbered(count);
        drawing(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn small_matrices_have_a_rectangle_for_every_cell() {
        let svg = text(&drawing(&["a", "b<c", "d&e"]));
        // The background, nine cells and the colour bar; the title, the legend, names and ticks.
        let [rectangles, texts, tips, images] = elements(&svg, ["rect", "text", "title", "image"]);
        assert_eq!((rectangles, texts, tips, images), (1 + 9 + 51, 2 + 6 + 6, 9, 0));
        assert!(svg.contains("<title>d&amp;e, b&lt;c: 0.5000</title>") && svg.contains(">genes &amp; more.fa<"));
        assert!(svg.contains("fill=\"#440154\"><title>a, a: 0.0000<"), "the lowest number is dark");
        assert!(svg.contains("fill=\"#fde725\"><title>a, d&amp;e: 1.0000<"), "the highest number is light");
    }

    #[test]
    fn texts_never_overlap() {
        for count in [0, 1, 2, 17, 40, 41, 60, 61, 200, 201, 1500] {
            let drawing = numbered_drawing(count);
            assert_texts_are_apart(&drawing);
            let names = drawing
                .shapes
                .iter()
                .filter(|shape| matches!(shape, DrawnShape::Text(caption) if caption.text.starts_with("gene<")));
            assert_eq!(names.count(), if count <= MAX_NAMED { 2 * count } else { 0 });
            for shape in &drawing.shapes {
                assert!(!matches!(shape, DrawnShape::Text(caption) if caption.size < 10.0), "{count}: {shape:?}");
            }
        }
    }

    #[test]
    fn large_matrices_are_one_image_of_limited_size() {
        let one_image = |count: usize| {
            let drawing = numbered_drawing(count);
            let svg = text(&drawing);
            assert_eq!(elements(&svg, ["image"]), [1]);
            let cells = drawing.shapes.iter().find_map(|shape| match shape {
                DrawnShape::Cells { cell, columns, levels, .. } => Some((*cell, *columns, levels.len())),
                _ => None,
            });
            (cells.expect("there are cells"), svg)
        };
        let (cells, svg) = one_image(61);
        assert_eq!(cells, (12, 61, 61 * 61));
        assert!(!svg.contains("pictures of up to"));
        let (cells, svg) = one_image(300);
        assert_eq!(cells, (3, 300, 300 * 300));
        assert!(svg.contains("300 rows in the order of the input"));
        let (cells, svg) = one_image(2001);
        assert_eq!(cells, (1, 667, 667 * 667));
        assert!(svg.contains("Each cell is the mean of 3 rows and 3 columns") && svg.len() < 2_000_000);
    }

    #[test]
    fn shared_cells_are_means_of_the_whole_square() {
        let names: Vec<&[u8]> = vec![b"x"; 1001];
        let values = |row: usize, column: usize| if row == column { 0.0 } else { (row * 1001 + column) as f64 };
        let means = CellMeans::new(&HeatMap { names: &names, values: &values, title: "", legend: "" });
        assert_eq!((means.side, means.rows_per_cell), (501, 2));
        let all = |row: usize, column: usize| values(row.max(column), row.min(column));
        let square = |rows: &[usize], columns: &[usize]| {
            let sum: f64 = rows.iter().flat_map(|&row| columns.iter().map(move |&column| all(row, column))).sum();
            sum / (rows.len() * columns.len()) as f64
        };
        assert_eq!(means.means[0], square(&[0, 1], &[0, 1]));
        assert_eq!(means.means[501 * 7 + 3], square(&[14, 15], &[6, 7]));
        assert_eq!(means.means[501 * 3 + 7], means.means[501 * 7 + 3], "the cells are symmetric");
        assert_eq!(means.means[501 * 500 + 2], square(&[1000], &[4, 5]), "the last row of cells");
    }

    #[test]
    fn the_colour_bar_covers_all_numbers() {
        let ticks = |values: &dyn Fn(usize, usize) -> f64| {
            CellMeans::new(&HeatMap { names: &[b"a", b"b"], values, title: "", legend: "" }).ticks()
        };
        let hundredths = |tick: f64| (100.0 * tick).round();
        let ends = |ticks: Vec<f64>| (hundredths(ticks[0]), hundredths(ticks[ticks.len() - 1]));
        assert_eq!(ends(ticks(&|_, _| 0.0)), (0.0, 100.0));
        assert_eq!(ends(ticks(&|_, _| 1.0)), (0.0, 100.0));
        assert_eq!(ends(ticks(&|row, column| if row == column { 0.0 } else { 3.4 })), (0.0, 350.0));
        assert_eq!(ends(ticks(&|row, column| if row == column { 1.0 } else { 0.61 })), (60.0, 100.0));
        assert_eq!(ends(ticks(&|row, column| if row == column { 0.0 } else { f64::INFINITY })), (0.0, 100.0));
    }

    #[test]
    fn svg_and_png_are_deterministic() {
        let names: Vec<&[u8]> = vec![b"a", b"b", b"c"];
        let values = |row: usize, column: usize| if row == column { 0.0 } else { 0.5 };
        let map = HeatMap { names: &names, values: &values, title: "genes.fa", legend: "distance" };
        let written = |picture| {
            let captured = CapturedBytes::default();
            map.write(picture, Output::to_writer(captured.clone())).unwrap();
            captured.bytes()
        };
        assert_eq!(written(Picture::Svg), written(Picture::Svg));
        let png = written(Picture::Png);
        assert_eq!(png, written(Picture::Png));
        let (width, height, pixels) = decoded(&png);
        let size = map.drawing().size;
        assert_eq!((width, height), (2 * size.width.ceil() as u32, 2 * size.height.ceil() as u32));
        let count = |colour: [u8; 3]| pixels.chunks_exact(3).filter(|pixel| **pixel == colour).count();
        // Three dark cells on the diagonal, and six light ones, except for the frame.
        let cell = 4 * 28 * 28;
        assert!(count([68, 1, 84]) > 3 * cell - 1000 && count([253, 231, 37]) > 6 * cell - 1000);
    }
}
