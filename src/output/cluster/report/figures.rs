//! Pictures of the sizes of clusters: a histogram, and the curve of rank and abundance.

use crate::output::markup::chart::{Chart, LEFT, RIGHT, TOP, put};

/// Lower edge of the area of the data.
const BOTTOM: f64 = 250.0;
const CHART: Chart = Chart { bottom: BOTTOM };
/// Maximum width of a bar with the space after it.
const MAX_STEP: f64 = 60.0;
/// Minimum distance between two labels of bars, for the larger letters of narrow screens.
const LABEL_STEP: f64 = 36.0;
/// Width of a digit in a label of a bar, on narrow screens.
const DIGIT: f64 = 8.5;
/// Minimum distance between two points of a curve.
const MIN_DISTANCE: f64 = 0.5;
/// Maximum number of clusters whose points are drawn as dots.
const MAX_DOTS: usize = 60;

/// Appends a histogram of the sizes of clusters. Each bar covers the sizes from one power of 2,
/// which it does not include, to the next.
pub(super) fn push_histogram(sizes: &[u64], out: &mut Vec<u8>) {
    let mut counts: Vec<u64> = Vec::new();
    for &size in sizes {
        let bin = bin_of(size);
        counts.resize(counts.len().max(bin + 1), 0);
        counts[bin] += 1;
    }
    let Some(&most) = counts.iter().max() else {
        out.extend_from_slice(b"<p>There are no clusters.</p>\n");
        return;
    };
    // A single cluster has a bar too, so the scale starts at one half.
    let y = |count: f64| BOTTOM - (BOTTOM - TOP) * (2.0 * count).ln() / (2.0 * most as f64).ln();
    CHART.start("Number of clusters by size", out);
    for tick in powers_of_ten(most) {
        CHART.push_horizontal(y(tick as f64), &short(tick), out);
    }
    let step = ((RIGHT - LEFT) / counts.len() as f64).min(MAX_STEP);
    let labels_every = (LABEL_STEP / step).ceil().max(1.0) as usize;
    for (bin, &count) in counts.iter().enumerate() {
        let (x, middle) = (LEFT + step * bin as f64, LEFT + step * (bin as f64 + 0.4));
        let (low, high) = range_of(bin);
        if bin.is_multiple_of(labels_every) {
            push_bar_label(middle, 266.0, high, out);
        }
        if count > 0 {
            let (top, width) = (y(count as f64), 0.8 * step);
            let range = if low == high { low.to_string() } else { format!("{low}–{high}") };
            put(out, format_args!("<rect class=\"bar\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" "));
            put(out, format_args!("height=\"{:.1}\"><title>Size {range}: {count}</title></rect>", BOTTOM - top));
            if DIGIT * short(count).len() as f64 <= step {
                push_bar_label(middle, top - 4.0, count, out);
            }
        }
        out.push(b'\n');
    }
    CHART.end("Size of the cluster, up to", "Clusters", out);
}

/// Appends a number below or above a bar.
fn push_bar_label(x: f64, y: f64, number: u64, out: &mut Vec<u8>) {
    let number = short(number);
    put(out, format_args!("<text class=\"small\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{number}</text>"));
}

/// Appends the curve of the sizes of clusters by their rank. `sizes` are in descending order.
pub(super) fn push_ranks(sizes: &[u64], out: &mut Vec<u8>) {
    let Some(&largest) = sizes.first() else {
        out.extend_from_slice(b"<p>There are no clusters.</p>\n");
        return;
    };
    let (ranks, most) = ((sizes.len() as u64).max(10), largest.max(10));
    let x = |rank: f64| LEFT + (RIGHT - LEFT) * rank.log10() / (ranks as f64).log10();
    let y = |size: f64| BOTTOM - (BOTTOM - TOP) * size.log10() / (most as f64).log10();
    CHART.start("Size of each cluster by its rank", out);
    for tick in powers_of_ten(most) {
        CHART.push_horizontal(y(tick as f64), &short(tick), out);
    }
    for tick in powers_of_ten(ranks) {
        CHART.push_vertical(x(tick as f64), &short(tick), out);
    }
    let points = sizes.iter().enumerate().map(|(index, &size)| (x((index + 1) as f64), y(size.max(1) as f64)));
    out.extend_from_slice(b"<polyline class=\"curve\" points=\"");
    let mut last: Option<(f64, f64)> = None;
    for (index, point) in points.clone().enumerate() {
        let is_far = last.is_none_or(|last| (point.0 - last.0).abs() + (point.1 - last.1).abs() >= MIN_DISTANCE);
        if is_far || index + 1 == sizes.len() {
            put(out, format_args!("{:.1},{:.1} ", point.0, point.1));
            last = Some(point);
        }
    }
    out.extend_from_slice(b"\"/>\n");
    if sizes.len() <= MAX_DOTS {
        for (index, ((x, y), size)) in points.zip(sizes).enumerate() {
            put(out, format_args!("<circle class=\"bar\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\">"));
            put(out, format_args!("<title>Rank {}: size {size}</title></circle>\n", index + 1));
        }
    }
    CHART.end("Rank of the cluster", "Size", out);
}

/// Returns the index of the bar of a size: 0 for size 1, 1 for size 2, 2 for sizes 3 and 4.
fn bin_of(size: u64) -> usize {
    if size <= 1 { 0 } else { (size - 1).ilog2() as usize + 1 }
}

/// Returns the least and the greatest size of a bar.
fn range_of(bin: usize) -> (u64, u64) {
    let high = |bin: usize| 1u64.checked_shl(bin as u32).unwrap_or(u64::MAX);
    if bin == 0 { (1, 1) } else { (high(bin - 1) + 1, high(bin)) }
}

/// Returns the powers of ten from 1 to `most`.
fn powers_of_ten(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1u64), |power| power.checked_mul(10)).take_while(move |&power| power <= most)
}

/// Returns a number with at most four digits and a unit.
fn short(number: u64) -> String {
    let scaled = |unit: f64| (number as f64 / unit).round();
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", scaled(1e3)),
        1_000_000..1_000_000_000 => format!("{}M", scaled(1e6)),
        _ => format!("{}G", scaled(1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_at_powers_of_two() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 16, 17].map(bin_of), [0, 1, 2, 2, 3, 3, 4, 4, 5]);
        for bin in 0..=64 {
            let (low, high) = range_of(bin);
            assert_eq!((bin_of(low), bin_of(high)), (bin, bin));
            assert!(bin == 0 || range_of(bin - 1).1 == low - 1);
        }
    }

    #[test]
    fn histograms_count_all_clusters() {
        let mut out = Vec::new();
        push_histogram(&[100, 4, 3, 1, 1, 1], &mut out);
        let text = String::from_utf8(out).unwrap();
        for title in ["Size 65–128: 1", "Size 3–4: 2", "Size 1: 3"] {
            assert!(text.contains(&format!("<title>{title}</title>")), "{title}");
        }
        assert_eq!(text.matches("<rect").count(), 3);
        // The highest bar reaches the top.
        assert!(text.contains(&format!("y=\"{TOP:.1}\" width=")));
    }

    #[test]
    fn curves_of_many_clusters_are_short() {
        let sizes: Vec<u64> = (1..=200_000u64).map(|rank| 1_000_000 / rank).collect();
        let mut out = Vec::new();
        push_ranks(&sizes, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.len() < 40_000 && !text.contains("<circle") && !text.contains("NaN"), "{}", text.len());
        assert!(text.contains(">100k</text>") && text.contains(">1M</text>"));
    }

    #[test]
    fn curves_of_few_clusters_have_dots() {
        for sizes in [vec![1], vec![50, 3, 1]] {
            let mut out = Vec::new();
            push_ranks(&sizes, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains("NaN") && !text.contains("inf"));
            assert_eq!(text.matches("<circle").count(), sizes.len());
            assert!(text.contains(&format!("<title>Rank 1: size {}</title>", sizes[0])));
        }
    }

    #[test]
    fn numbers_have_at_most_four_digits() {
        for (number, expected) in [(0, "0"), (9999, "9999"), (16_384, "16k"), (2_500_000, "3M"), (7_000_000_000, "7G")]
        {
            assert_eq!(short(number), expected);
        }
    }
}
