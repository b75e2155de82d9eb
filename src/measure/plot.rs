//! Plots of [tables](super::table) as SVG, with one panel per chart and two panels per row.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::table::{ChartKind, MeasurementTable, Measurements, TableCell, TableChart, four_digits};
use crate::error::{Error, Result};
use crate::output::plot::LINE_COLOURS;
use crate::output::ticks::ticks;

/// Width and height of a panel in pixels.
const PANEL: (u32, u32) = (680, 420);
/// Width of the legend of a panel in pixels.
const LEGEND: u32 = 150;

type PlotArea<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type PlotLine = (String, Vec<(f64, f64)>);

/// A linear axis with given ticks.
struct LinearAxis {
    range: std::ops::Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for LinearAxis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, pixels: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        pixels.0 + (share * f64::from(pixels.1 - pixels.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

/// Draws the charts of all tables, except empty ones.
pub fn svg(measurements: &Measurements) -> Result<String> {
    let charts = measurements.tables.iter().flat_map(|table| table.charts.iter().map(move |chart| (table, chart)));
    let charts: Vec<(&MeasurementTable, &TableChart, Vec<PlotLine>)> = charts
        .map(|(table, chart)| (table, chart, lines_of(table, chart)))
        .filter(|(_, _, lines)| !lines.is_empty())
        .collect();
    let columns = charts.len().clamp(1, 2);
    let rows = charts.len().div_ceil(columns).max(1);
    let mut out = String::new();
    let failed = |problem: &dyn std::fmt::Display| Error::Internal(format!("a chart could not be drawn: {problem}"));
    {
        let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
        let root = SVGBackend::with_string(&mut out, size).into_drawing_area();
        root.fill(&WHITE).map_err(|problem| failed(&problem))?;
        for (area, (table, chart, lines)) in root.split_evenly((rows, columns)).iter().zip(&charts) {
            panel(area, table, chart, lines).map_err(|problem| failed(&problem))?;
        }
        root.present().map_err(|problem| failed(&problem))?;
    }
    Ok(out)
}

/// Returns the points of each line of a chart in axis coordinates. If several rows share a point of
/// a line, the greatest value counts.
fn lines_of(table: &MeasurementTable, chart: &TableChart) -> Vec<PlotLine> {
    let mut lines: Vec<PlotLine> = Vec::new();
    let (Some(x), Some(y)) = (table.column(chart.x), table.column(chart.y)) else { return lines };
    let series: Vec<usize> = chart.series.iter().filter_map(|key| table.column(key)).collect();
    let only = |cells: &[TableCell]| {
        let is = |(key, text): &(&str, String)| {
            table.column(key).is_some_and(|index| super::table::cell_text(&cells[index], Default::default()) == *text)
        };
        chart.only.iter().all(is)
    };
    for (index, row) in table.rows.iter().enumerate().filter(|(_, row)| only(&row.cells)) {
        let (log_x, log_y) = match chart.kind {
            ChartKind::Lines { log_x, log_y } => (log_x, log_y),
            ChartKind::Bars => (false, false),
        };
        let axis = |number: Option<f64>, is_log: bool| match number {
            Some(number) if is_log => (number > 0.0).then(|| number.log2()),
            other => other,
        };
        let across = if chart.kind == ChartKind::Bars { Some(index as f64) } else { number(&row.cells[x]) };
        let (Some(x), Some(y)) = (axis(across, log_x), axis(number(&row.cells[y]), log_y)) else { continue };
        let names = series.iter().map(|&index| super::table::cell_text(&row.cells[index], row.status));
        let name = names.collect::<Vec<_>>().join(", ");
        let line = match lines.iter().position(|(other, _)| *other == name) {
            Some(index) => &mut lines[index].1,
            None => {
                lines.push((name, Vec::new()));
                &mut lines.last_mut().expect("it was just added").1
            }
        };
        match line.iter_mut().find(|point| point.0 == x) {
            Some(point) => point.1 = point.1.max(y),
            None => line.push((x, y)),
        }
    }
    lines.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    lines
}

fn number(cell: &TableCell) -> Option<f64> {
    match cell {
        TableCell::Count(count) => Some(*count as f64),
        TableCell::Number(number) => Some(*number).filter(|number| number.is_finite()),
        TableCell::Text(_) | TableCell::Empty => None,
    }
}

fn label(value: f64, is_log: bool) -> String {
    let value = if is_log { value.exp2() } else { value };
    // Ticks are round numbers. Four digits hide rounding errors.
    let text = four_digits(value);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    match text {
        "" | "-0" => "0".into(),
        text => text.into(),
    }
}

fn name_of(table: &MeasurementTable, key: &str) -> String {
    let column = table.column(key).map(|index| table.columns[index]);
    column.map_or(String::new(), |column| match column.unit {
        "" => column.name.to_owned(),
        unit => format!("{} ({unit})", column.name),
    })
}

type DrawResult = Result<(), Box<dyn std::error::Error>>;

fn panel(area: &PlotArea<'_>, table: &MeasurementTable, chart: &TableChart, lines: &[PlotLine]) -> DrawResult {
    let area = area.titled(&chart.title, ("sans-serif", 17))?;
    let area = area.titled(&table.device, ("sans-serif", 12))?;
    match chart.kind {
        ChartKind::Lines { log_x, log_y } => {
            let (area, legend_area) = area.split_horizontally((PANEL.0 - LEGEND) as i32);
            legend(&legend_area, table, chart, lines)?;
            line_chart(&area, table, chart, lines, [log_x, log_y])
        }
        ChartKind::Bars => bar_chart(&area, table, chart, lines),
    }
}

/// Returns an axis from its first to its last tick.
fn axis(ticks: Vec<f64>) -> LinearAxis {
    let (first, last) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    LinearAxis { range: first..if last > first { last } else { first + 1.0 }, ticks }
}

fn line_chart(
    area: &PlotArea<'_>,
    table: &MeasurementTable,
    chart: &TableChart,
    lines: &[PlotLine],
    [log_x, log_y]: [bool; 2],
) -> DrawResult {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let least = |pick: fn(&(f64, f64)) -> f64| points().map(pick).fold(f64::INFINITY, f64::min);
    let most = |pick: fn(&(f64, f64)) -> f64| points().map(pick).fold(f64::NEG_INFINITY, f64::max);
    let across = ticks(least(|p| p.0), most(|p| p.0), log_x);
    let up = ticks(if log_y { least(|p| p.1) } else { 0.0 }, most(|p| p.1), log_y);
    let mut context = ChartBuilder::on(area)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(axis(across), axis(up))?;
    let mut mesh = context.configure_mesh();
    let (x_label, y_label) = (|x: &f64| label(*x, log_x), |y: &f64| label(*y, log_y));
    mesh.x_label_formatter(&x_label).y_label_formatter(&y_label).label_style(("sans-serif", 12));
    mesh.x_desc(name_of(table, chart.x)).y_desc(name_of(table, chart.y)).axis_desc_style(("sans-serif", 13));
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.15)).draw()?;
    for (index, (_, points)) in lines.iter().enumerate() {
        let style = style_of(index);
        context.draw_series(LineSeries::new(points.iter().copied(), style))?;
        context.draw_series(points.iter().map(|&point| Circle::new(point, 3, style.filled())))?;
    }
    Ok(())
}

/// Draws horizontal bars, so that long names fit next to them. The first row of the table is at the
/// top.
fn bar_chart(area: &PlotArea<'_>, table: &MeasurementTable, chart: &TableChart, lines: &[PlotLine]) -> DrawResult {
    let bars: Vec<(f64, f64)> = lines.iter().flat_map(|(_, points)| points.iter().copied()).collect();
    let rows: Vec<f64> = (0..bars.len()).map(|index| -(index as f64)).collect();
    let up = LinearAxis { range: 0.5 - bars.len() as f64..0.5, ticks: rows };
    let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    let across = axis(ticks(0.0, most, false));
    let name = |index: &f64| {
        let bar = bars.get(-index.round() as usize);
        let row = bar.and_then(|(row, _)| table.rows.get(*row as usize));
        let cell = row.zip(table.column(chart.x)).map(|(row, x)| super::table::cell_text(&row.cells[x], row.status));
        cell.unwrap_or_default()
    };
    let mut context = ChartBuilder::on(area)
        .margin(8)
        .margin_right(72)
        .x_label_area_size(44)
        .y_label_area_size(170)
        .build_cartesian_2d(across, up)?;
    let mut mesh = context.configure_mesh();
    let value_label = |value: &f64| label(*value, false);
    mesh.x_label_formatter(&value_label).y_label_formatter(&name).label_style(("sans-serif", 12));
    mesh.x_desc(name_of(table, chart.y)).axis_desc_style(("sans-serif", 13)).disable_y_mesh();
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.15)).draw()?;
    let text = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Left, VPos::Center));
    for (index, &(_, value)) in bars.iter().enumerate() {
        let middle = -(index as f64);
        let bar = [(0.0, middle - 0.35), (value, middle + 0.35)];
        context.draw_series([Rectangle::new(bar, line_colour(0).filled())])?;
        let value_text = Text::new(four_digits(value), (value + 0.01 * most, middle), text.clone());
        context.draw_series([value_text])?;
    }
    Ok(())
}

/// Draws the names of the lines, below the names of the columns that distinguish them.
fn legend(area: &PlotArea<'_>, table: &MeasurementTable, chart: &TableChart, lines: &[PlotLine]) -> DrawResult {
    let text = TextStyle::from(("sans-serif", 12)).pos(Pos::new(HPos::Left, VPos::Center));
    let title: Vec<String> = chart.series.iter().map(|key| name_of(table, key)).collect();
    area.draw(&Text::new(title.join(", "), (0, 12), text.clone()))?;
    for (index, (name, _)) in lines.iter().enumerate() {
        let y = 32 + 18 * index as i32;
        area.draw(&PathElement::new([(0, y), (18, y)], style_of(index)))?;
        area.draw(&Text::new(name.as_str(), (24, y), text.clone()))?;
    }
    Ok(())
}

/// Returns the style of a line. Colours repeat with thinner lines.
fn style_of(index: usize) -> ShapeStyle {
    line_colour(index).stroke_width(if index < LINE_COLOURS.len() { 2 } else { 1 })
}

fn line_colour(index: usize) -> RGBColor {
    let [red, green, blue] = LINE_COLOURS[index % LINE_COLOURS.len()];
    RGBColor(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::table::tests::invented;

    #[test]
    fn charts_are_drawn_as_svg() {
        insta::assert_snapshot!(svg(&invented()).unwrap());
    }

    #[test]
    fn tables_without_rows_give_an_empty_plot() {
        let mut measurements = invented();
        measurements.tables.iter_mut().for_each(|table| table.rows.clear());
        let text = svg(&measurements).unwrap();
        assert!(text.starts_with("<svg ") && !text.contains("<text"), "{text}");
        let one = MeasurementTable { rows: invented().tables[0].rows[..1].to_vec(), ..invented().tables[0].clone() };
        let text = svg(&Measurements { tables: vec![one], ..measurements }).unwrap();
        assert!(text.contains("<circle"), "{text}");
    }

    #[test]
    fn tick_labels_are_round_numbers() {
        assert_eq!(
            [(7.0, true), (0.5, false), (-2.0, true), (0.0, false)].map(|(v, l)| label(v, l)),
            ["128", "0.5", "0.25", "0"]
        );
    }
}
