//! Charts of HTML pages: SVG elements whose colours come from the style sheet of the page.

use std::fmt::Arguments;
use std::io::Write;

/// Width of a chart in units, which are pixels at full size.
pub(in crate::output) const WIDTH: f64 = 640.0;
/// Left edge of the area of the data.
pub(in crate::output) const LEFT: f64 = 64.0;
/// Right edge of the area of the data.
pub(in crate::output) const RIGHT: f64 = 624.0;
/// Upper edge of the area of the data.
pub(in crate::output) const TOP: f64 = 34.0;
/// Distance between the area of the data and the lower edge of the chart.
const BELOW: f64 = 50.0;

/// A chart whose data end at this height, in units from the top.
#[derive(Debug, Clone, Copy)]
pub(in crate::output) struct Chart {
    pub(in crate::output) bottom: f64,
}

/// Appends formatted text.
pub(in crate::output) fn put(out: &mut Vec<u8>, text: Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all");
}

impl Chart {
    /// Starts the element. `label` describes the chart to screen readers.
    pub(in crate::output) fn start(&self, label: &str, out: &mut Vec<u8>) {
        let height = self.bottom + BELOW;
        put(out, format_args!("<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" "));
        put(out, format_args!("aria-label=\"{label}\">\n"));
    }

    /// Appends the axes with their titles, and ends the element.
    pub(in crate::output) fn end(&self, x_title: &str, y_title: &str, out: &mut Vec<u8>) {
        let (bottom, middle) = (self.bottom, (LEFT + RIGHT) / 2.0);
        put(out, format_args!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{RIGHT}\"/>\n"));
        put(
            out,
            format_args!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{x_title}</text>\n", bottom + 40.0),
        );
        put(out, format_args!("<text x=\"4\" y=\"14\">{y_title}</text>\n</svg>\n"));
    }

    /// Appends a horizontal grid line with its label.
    pub(in crate::output) fn push_horizontal(&self, y: f64, label: &str, out: &mut Vec<u8>) {
        put(out, format_args!("<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>"));
        put(out, format_args!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n", LEFT - 6.0, y + 4.0));
    }

    /// Appends a vertical grid line with its label, which may be empty.
    pub(in crate::output) fn push_vertical(&self, x: f64, label: &str, out: &mut Vec<u8>) {
        let bottom = self.bottom;
        put(out, format_args!("<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>"));
        if !label.is_empty() {
            put(out, format_args!("<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", bottom + 16.0));
        }
        out.push(b'\n');
    }
}
