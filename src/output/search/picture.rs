//! The picture of a query's hits: bars along the query, the best at the top, with BLAST's colours
//! for bit scores.

use std::io::Write;

use crate::output::Range32;
use crate::output::markup::push_html;
use crate::output::ticks::ticks;

/// Maximum number of bars.
const MAX_BARS: usize = 100;
/// Width of the picture, and horizontal positions of the query's ends, in units (pixels at full
/// size).
const WIDTH: f64 = 1000.0;
const ENDS: [f64; 2] = [10.0, 980.0];
/// Distances from the top: legend, labels of the axis, query, and first bar.
const LEGEND: u32 = 4;
const AXIS: u32 = 40;
const QUERY: u32 = 52;
const FIRST: u32 = 68;
/// Height of a bar, and distance to the next one.
const BAR: u32 = 6;
const STEP: u32 = 9;
/// Bit scores where the colour changes.
const BITS: [f64; 4] = [40.0, 50.0, 80.0, 200.0];

/// The quantity that the colours show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bits,
    /// Fraction of the best score.
    Share,
}

/// A hit in the picture.
pub(super) struct Bar {
    /// Covered part of the query.
    pub(super) part: Range32,
    /// Index of the colour.
    pub(super) class: usize,
    pub(super) label: String,
}

/// Returns the colour of a bit score.
pub(super) fn colour_of_bits(bits: f64) -> usize {
    BITS.iter().filter(|&&least| bits >= least).count()
}

/// Returns the colour of a score if bit scores are unknown, by its fraction of the best score.
pub(super) fn colour_of_fraction(score: i64, best: i64) -> usize {
    (5 * score.max(0) / best.max(1)).min(4) as usize
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all");
}

/// Appends the picture of a query's hits. `number` is the number of the query, and `length` its
/// length.
pub(super) fn push(number: u64, length: u32, hits: &[&Bar], unit: Unit, out: &mut Vec<u8>) {
    let drawn = hits.len().min(MAX_BARS);
    let height = FIRST + STEP * drawn as u32 + 4;
    put(out, format_args!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"group\" aria-label=\"Where the hits lie\">\n"));
    legend(unit, out);
    let to_x = |symbols: f64| ENDS[0] + (ENDS[1] - ENDS[0]) * symbols / f64::from(length.max(1));
    for tick in ticks(0.0, f64::from(length), false) {
        // The first symbol has number 1.
        if tick <= f64::from(length) {
            let (x, label) = (to_x((tick - 0.5).max(0.0)), (tick as u32).max(1));
            let anchor = if tick > 0.95 * f64::from(length) { "end" } else { "middle" };
            let anchor = if tick < 1.0 { "start" } else { anchor };
            put(out, format_args!("<text x=\"{x:.1}\" y=\"{AXIS}\" text-anchor=\"{anchor}\">{label}</text>"));
            put(out, format_args!("<path class=\"axis\" d=\"M{x:.1} {}v6\"/>\n", AXIS + 4));
        }
    }
    let whole = ENDS[1] - ENDS[0];
    put(out, format_args!("<rect class=\"query\" x=\"{}\" y=\"{QUERY}\" width=\"{whole}\" height=\"8\"/>\n", ENDS[0]));
    for (at, bar) in (0..).zip(&hits[..drawn]) {
        let (start, end) = (to_x(f64::from(bar.part.start)), to_x(f64::from(bar.part.end)));
        let (y, width, hit, class) = (FIRST + STEP * at, (end - start).max(2.0), at + 1, bar.class);
        put(out, format_args!("<a href=\"#q{number}h{hit}\"><rect class=\"c{class}\" x=\"{start:.1}\" y=\"{y}\" "));
        put(out, format_args!("width=\"{width:.1}\" height=\"{BAR}\"><title>"));
        push_html(out, &bar.label);
        put(out, format_args!("</title></rect></a>\n"));
    }
    put(out, format_args!("</svg>\n"));
    if drawn < hits.len() {
        put(out, format_args!("<p>The first {drawn} of {} hits are drawn.</p>\n", hits.len()));
    }
}

/// Draws the legend of the colours.
fn legend(unit: Unit, out: &mut Vec<u8>) {
    let labels = match unit {
        Unit::Bits => ["below 40 bits", "40–50", "50–80", "80–200", "200 and more"],
        Unit::Share => ["below 20% of best", "20–40%", "40–60%", "60–80%", "80–100%"],
    };
    for (class, label) in labels.into_iter().enumerate() {
        let x = ENDS[0] + 130.0 * class as f64;
        put(out, format_args!("<rect class=\"c{class}\" x=\"{x}\" y=\"{LEGEND}\" width=\"14\" height=\"12\"/>"));
        put(out, format_args!("<text x=\"{}\" y=\"{}\">{label}</text>\n", x + 20.0, LEGEND + 11));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_colours_equal_blast() {
        assert_eq!([0.0, 39.9, 40.0, 50.0, 79.9, 80.0, 199.9, 200.0].map(colour_of_bits), [0, 0, 1, 2, 2, 3, 3, 4]);
        assert_eq!([0, 19, 20, 60, 99, 100].map(|score| colour_of_fraction(score, 100)), [0, 0, 1, 3, 4, 4]);
        assert_eq!(colour_of_fraction(0, 0), 0);
    }

    #[test]
    fn pictures_show_at_most_100_hits() {
        let bar = Bar { part: Range32 { start: 10, end: 11 }, class: 2, label: "a<b".into() };
        let mut out = Vec::new();
        push(1, 1_000_000, &vec![&bar; 120], Unit::Share, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("<title>a&lt;b</title>").count(), 100);
        assert!(
            text.contains("The first 100 of 120 hits are drawn.")
                && text.contains("width=\"2.0\"")
                && text.contains("20–40%")
        );
    }
}
