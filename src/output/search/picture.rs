//! The picture of a query's hits: bars on the query, the best uppermost, coloured by bits as on BLAST's page.

use std::io::Write;

use crate::output::Range32;
use crate::output::msa::report::push_html;
use crate::output::ticks::ticks;

/// Hits that are drawn at most.
const MAX_BARS: usize = 100;
/// In units that are pixels where there is room: the picture, and the query's ends in it.
const WIDTH: f64 = 1000.0;
const ENDS: [f64; 2] = [10.0, 980.0];
/// From the top: the legend, the axis' labels, the query, and the first bar.
const LEGEND: u32 = 4;
const AXIS: u32 = 40;
const QUERY: u32 = 52;
const FIRST: u32 = 68;
/// A bar's height, and how far the next one is below it.
const BAR: u32 = 6;
const STEP: u32 = 9;
/// Bits from which on a bar has the next colour.
const BITS: [f64; 4] = [40.0, 50.0, 80.0, 200.0];

/// What colours go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bits,
    /// The share of the best score.
    Share,
}

/// A hit in the picture.
pub(super) struct Bar {
    /// Which part of the query it covers.
    pub(super) part: Range32,
    /// Which colour it has.
    pub(super) class: usize,
    pub(super) label: String,
}

/// The colour of so many bits.
pub(super) fn of_bits(bits: f64) -> usize {
    BITS.iter().filter(|&&least| bits >= least).count()
}

/// The colour of a score where bits are not known: by its share of the best one.
pub(super) fn of_share(score: i64, best: i64) -> usize {
    (5 * score.max(0) / best.max(1)).min(4) as usize
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all");
}

/// Appends the picture of the hits of a query with this number and length.
pub(super) fn push(number: u64, length: u32, hits: &[&Bar], unit: Unit, out: &mut Vec<u8>) {
    let drawn = hits.len().min(MAX_BARS);
    let height = FIRST + STEP * drawn as u32 + 4;
    put(out, format_args!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"group\" aria-label=\"Where the hits lie\">\n"));
    legend(unit, out);
    let place = |symbols: f64| ENDS[0] + (ENDS[1] - ENDS[0]) * symbols / f64::from(length.max(1));
    for tick in ticks(0.0, f64::from(length), false) {
        // The first symbol is number 1.
        if tick <= f64::from(length) {
            let (x, label) = (place((tick - 0.5).max(0.0)), (tick as u32).max(1));
            let anchor = if tick > 0.95 * f64::from(length) { "end" } else { "middle" };
            let anchor = if tick < 1.0 { "start" } else { anchor };
            put(out, format_args!("<text x=\"{x:.1}\" y=\"{AXIS}\" text-anchor=\"{anchor}\">{label}</text>"));
            put(out, format_args!("<path class=\"axis\" d=\"M{x:.1} {}v6\"/>\n", AXIS + 4));
        }
    }
    let whole = ENDS[1] - ENDS[0];
    put(out, format_args!("<rect class=\"query\" x=\"{}\" y=\"{QUERY}\" width=\"{whole}\" height=\"8\"/>\n", ENDS[0]));
    for (at, bar) in (0..).zip(&hits[..drawn]) {
        let (start, end) = (place(f64::from(bar.part.start)), place(f64::from(bar.part.end)));
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

/// What the colours mean.
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
    fn colours_are_those_of_blast() {
        assert_eq!([0.0, 39.9, 40.0, 50.0, 79.9, 80.0, 199.9, 200.0].map(of_bits), [0, 0, 1, 2, 2, 3, 3, 4]);
        assert_eq!([0, 19, 20, 60, 99, 100].map(|score| of_share(score, 100)), [0, 0, 1, 3, 4, 4]);
        assert_eq!(of_share(0, 0), 0);
    }

    #[test]
    fn many_hits_are_cut_off() {
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
