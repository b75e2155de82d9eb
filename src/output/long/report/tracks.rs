//! Charts along the targets: the identity of aligned symbols, and the share of symbols that are
//! aligned.

use std::ops::Range;

use crate::alignment::Op;
use crate::error::{Error, Result};
use crate::output::long::{LongContext, LongPairAlignment};
use crate::output::markup::chart::{Chart, LEFT, RIGHT, TOP, put};
use crate::output::markup::push_html;
use crate::output::numbers::grouped;
use crate::output::ticks::ticks;
use crate::seq::{SequenceId, SequenceStore};

/// Number of windows of all targets, if no target is shorter than a window.
const WINDOWS: u64 = 200;
/// Lower ends of the axis of identities, in percent, with the distances of the grid lines.
const IDENTITY_SCALES: [(f64, f64); 8] =
    [(99.9, 0.02), (99.0, 0.2), (98.0, 0.5), (95.0, 1.0), (90.0, 2.0), (80.0, 5.0), (50.0, 10.0), (0.0, 20.0)];
const IDENTITY_CHART: Chart = Chart { bottom: 214.0 };
const COVERAGE_CHART: Chart = Chart { bottom: 124.0 };
/// Width of a letter on narrow screens, where letters are larger.
const LETTER: f64 = 13.0;
/// Maximum number of letters of a target's name in the title of an axis.
const TITLE_LETTERS: usize = 40;

/// A part of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TargetWindow {
    target_id: SequenceId,
    /// Symbols of the target.
    range: Range<u32>,
    /// Number of symbols of the targets before it.
    before: u64,
    /// Numbers of columns with two symbols, of all alignments.
    matches: u64,
    mismatches: u64,
    /// Number of symbols that any alignment aligns with a symbol.
    covered: u32,
}

/// Identities and coverages of all alignments.
#[derive(Debug, Default)]
pub(super) struct TargetTracks {
    windows: Vec<TargetWindow>,
    /// Index of the first window of each target, in the order of the targets.
    first_windows: Vec<usize>,
    window_length: u32,
    target_symbols: u64,
    /// Number of query symbols that any alignment aligns with a symbol.
    query_covered: u64,
}

impl TargetTracks {
    /// Counts the columns of all alignments. No alignment may cross an origin.
    ///
    /// # Errors
    /// Returns an error if there is only a score.
    pub(super) fn new(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Self> {
        let mut tracks = TargetTracks::empty(context.targets(), context.target_ids());
        let (mut of_targets, mut of_queries) = (Vec::new(), Vec::new());
        for alignment in alignments {
            let (strand, pair) = context.pair(alignment)?;
            let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
            let columns = strand.columns(&pair)?;
            let Ok(target) = context.target_ids().binary_search(&alignment.target_id) else { continue };
            let query_length = context.queries().length(alignment.query_id);
            let (mut i, mut j) = (columns.query.start, columns.target.start);
            for (length, op) in columns.inner_runs(cigar) {
                if matches!(op, Op::Match | Op::Mismatch) {
                    tracks.add(target, j..j + length, op == Op::Match);
                    push_range(&mut of_targets, target as u32, j..j + length);
                    let part =
                        if alignment.is_reverse { query_length - i - length..query_length - i } else { i..i + length };
                    push_range(&mut of_queries, alignment.query_id, part);
                }
                i += if op.consumes_query() { length } else { 0 };
                j += if op.consumes_target() { length } else { 0 };
            }
        }
        for (target, range) in merged(of_targets) {
            tracks.cover(target as usize, range);
        }
        tracks.query_covered = merged(of_queries).iter().map(|(_, range)| u64::from(range.end - range.start)).sum();
        Ok(tracks)
    }

    /// Cuts the targets into windows.
    fn empty(store: &SequenceStore, ids: &[SequenceId]) -> Self {
        let symbols: u64 = ids.iter().map(|&id| u64::from(store.length(id))).sum();
        let window_length = symbols.div_ceil(WINDOWS).clamp(1, u32::MAX.into()) as u32;
        let mut tracks = TargetTracks { window_length, ..TargetTracks::default() };
        for &target_id in ids {
            let (length, before) = (store.length(target_id), tracks.target_symbols);
            tracks.first_windows.push(tracks.windows.len());
            tracks.windows.extend((0..length).step_by(window_length as usize).map(|start| TargetWindow {
                target_id,
                range: start..start.saturating_add(window_length).min(length),
                before: before + u64::from(start),
                matches: 0,
                mismatches: 0,
                covered: 0,
            }));
            tracks.target_symbols += u64::from(length);
        }
        tracks
    }

    /// Calls `add` for the windows of target number `target` that overlap a range, with the number of common
    /// symbols.
    fn for_windows(&mut self, target: usize, range: Range<u32>, mut add: impl FnMut(&mut TargetWindow, u32)) {
        if range.is_empty() {
            return;
        }
        let first = self.first_windows[target];
        let of = |position: u32| first + (position / self.window_length) as usize;
        for window in &mut self.windows[of(range.start)..=of(range.end - 1)] {
            add(window, range.end.min(window.range.end) - range.start.max(window.range.start));
        }
    }

    /// Adds columns of two symbols.
    fn add(&mut self, target: usize, range: Range<u32>, is_match: bool) {
        self.for_windows(target, range, |window, columns| {
            *(if is_match { &mut window.matches } else { &mut window.mismatches }) += u64::from(columns);
        });
    }

    /// Adds symbols that are aligned.
    fn cover(&mut self, target: usize, range: Range<u32>) {
        self.for_windows(target, range, |window, symbols| window.covered += symbols);
    }

    /// Returns matches / (matches + mismatches) of all alignments.
    pub(super) fn identity(&self) -> Option<f64> {
        let sum = |count: fn(&TargetWindow) -> u64| self.windows.iter().map(count).sum::<u64>();
        identity(sum(|window| window.matches), sum(|window| window.mismatches))
    }

    /// Returns the number of target symbols that are aligned with a symbol.
    pub(super) fn target_covered(&self) -> u64 {
        self.windows.iter().map(|window| u64::from(window.covered)).sum()
    }

    /// Returns the number of query symbols that are aligned with a symbol.
    pub(super) fn query_covered(&self) -> u64 {
        self.query_covered
    }

    /// Returns the horizontal position of a number of target symbols.
    fn x(&self, symbols: u64) -> f64 {
        LEFT + (RIGHT - LEFT) * symbols as f64 / self.target_symbols.max(1) as f64
    }

    /// Appends both charts.
    pub(super) fn push(&self, context: &LongContext, unit: &str, out: &mut Vec<u8>) {
        let length = grouped(self.window_length.into());
        let plural = if self.window_length == 1 { "" } else { "s" };
        put(
            out,
            format_args!(
                "<p>Windows of {length} {unit}{plural}. The upper chart has the percentage of matches among aligned \
                 {unit}s of all alignments, without gaps. The lower chart has the percentage of the window's {unit}s that \
                 are aligned.</p>\n"
            ),
        );
        self.push_identities(context, out);
        self.push_coverages(context, out);
    }

    fn push_identities(&self, context: &LongContext, out: &mut Vec<u8>) {
        let identities: Vec<Option<f64>> =
            self.windows.iter().map(|window| identity(window.matches, window.mismatches)).collect();
        let least = identities.iter().flatten().fold(1.0, |least: f64, &identity| least.min(identity));
        let scale = IDENTITY_SCALES.iter().find(|(start, _)| *start <= 100.0 * least);
        let &(start, step) = scale.unwrap_or(&(0.0, 20.0));
        let chart = IDENTITY_CHART;
        let y = |percent: f64| chart.bottom - (chart.bottom - TOP) * (percent - start) / (100.0 - start);
        chart.start("Identity along the targets", out);
        let decimals = if step < 0.1 { 2 } else { usize::from(step < 1.0) };
        for line in 0..=((100.0 - start) / step).round() as u32 {
            let percent = start + step * f64::from(line);
            chart.push_horizontal(y(percent), &format!("{percent:.decimals$}"), out);
        }
        self.push_positions(chart, context, out);
        out.extend_from_slice(b"<path class=\"curve\" d=\"");
        let mut last = None;
        for (window, identity) in self.windows.iter().zip(&identities) {
            if let Some(identity) = identity {
                if last != Some((window.target_id, window.range.start)) {
                    put(out, format_args!("M{:.1} {:.1}", self.x(window.before), y(100.0 * identity)));
                } else {
                    put(out, format_args!("V{:.1}", y(100.0 * identity)));
                }
                put(out, format_args!("H{:.1}", self.x(window.before + window.range.len() as u64)));
                last = Some((window.target_id, window.range.end));
            }
        }
        out.extend_from_slice(b"\"/>\n");
        for (window, identity) in self.windows.iter().zip(&identities) {
            if let Some(identity) = identity {
                let text = format!(
                    "{:.3}% of {} aligned match",
                    100.0 * identity,
                    grouped(window.matches + window.mismatches)
                );
                self.push_tip(context, window, [TOP, chart.bottom], &text, out);
            }
        }
        chart.end(&self.title(context), "Identity %", out);
    }

    fn push_coverages(&self, context: &LongContext, out: &mut Vec<u8>) {
        let chart = COVERAGE_CHART;
        chart.start("Coverage of the targets", out);
        for percent in [0.0, 50.0, 100.0] {
            let y = chart.bottom - (chart.bottom - TOP) * percent / 100.0;
            chart.push_horizontal(y, &format!("{percent}"), out);
        }
        self.push_positions(chart, context, out);
        let share = |window: &TargetWindow| f64::from(window.covered) / window.range.len() as f64;
        put(out, format_args!("<path class=\"bar\" d=\"M{LEFT} {}", chart.bottom));
        for window in &self.windows {
            let top = chart.bottom - (chart.bottom - TOP) * share(window);
            put(out, format_args!("V{top:.1}H{:.1}", self.x(window.before + window.range.len() as u64)));
        }
        put(out, format_args!("V{}Z\"/>\n", chart.bottom));
        for window in &self.windows {
            let text = format!("{:.1}% covered", 100.0 * share(window));
            self.push_tip(context, window, [TOP, chart.bottom], &text, out);
        }
        chart.end(&self.title(context), "Coverage %", out);
    }

    /// Appends a rectangle of a window with a text that appears at the pointer.
    fn push_tip(
        &self,
        context: &LongContext,
        window: &TargetWindow,
        [top, bottom]: [f64; 2],
        text: &str,
        out: &mut Vec<u8>,
    ) {
        let from = self.x(window.before);
        let width = self.x(window.before + window.range.len() as u64) - from;
        put(out, format_args!("<rect class=\"tip\" x=\"{from:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" "));
        put(out, format_args!("height=\"{:.1}\"><title>", bottom - top));
        push_html(out, context.targets().name(window.target_id));
        let (first, last) = (grouped(u64::from(window.range.start) + 1), grouped(window.range.end.into()));
        put(out, format_args!(" {first}–{last}: {text}</title></rect>\n"));
    }

    /// Appends the vertical lines of a single target's ticks, or of the borders of several.
    fn push_positions(&self, chart: Chart, context: &LongContext, out: &mut Vec<u8>) {
        if let [_] = context.target_ids() {
            let end = self.target_symbols as f64;
            let all: Vec<f64> = ticks(0.0, end, false).into_iter().filter(|tick| *tick <= end).collect();
            let labels: Vec<String> = all.iter().map(|tick| position_label(*tick, end)).collect();
            let letters = labels.iter().map(String::len).max().unwrap_or(1) as f64;
            let every = (all.len() as f64 * LETTER * (letters + 1.0) / (RIGHT - LEFT)).ceil().max(1.0) as usize;
            for (index, (tick, label)) in all.iter().zip(&labels).enumerate() {
                let label = if index.is_multiple_of(every) { label } else { "" };
                chart.push_vertical(self.x(*tick as u64), label, out);
            }
            return;
        }
        let mut before = 0;
        for &target in context.target_ids() {
            let after = before + u64::from(context.targets().length(target));
            let (from, to) = (self.x(before), self.x(after));
            chart.push_vertical(to, "", out);
            let name = context.targets().name(target);
            if name.chars().count() as f64 * LETTER <= to - from {
                put(out, format_args!("<text x=\"{:.1}\" y=\"{}\" ", (from + to) / 2.0, chart.bottom + 16.0));
                out.extend_from_slice(b"text-anchor=\"middle\">");
                push_html(out, name);
                out.extend_from_slice(b"</text>\n");
            }
            before = after;
        }
    }

    /// Returns the title of the horizontal axis, escaped.
    fn title(&self, context: &LongContext) -> String {
        let &[target] = context.target_ids() else {
            return format!("{} targets", grouped(context.target_ids().len() as u64));
        };
        let name = context.targets().name(target);
        let short: String = name.chars().take(TITLE_LETTERS).collect();
        let mut title = b"Position in ".to_vec();
        push_html(&mut title, &short);
        title.extend_from_slice(if short.len() < name.len() { "…".as_bytes() } else { b"" });
        String::from_utf8_lossy(&title).into_owned()
    }
}

/// Returns matches / (matches + mismatches).
fn identity(matches: u64, mismatches: u64) -> Option<f64> {
    (matches + mismatches > 0).then(|| matches as f64 / (matches + mismatches) as f64)
}

/// Adds a range of a sequence. It extends the last range that it follows.
fn push_range(ranges: &mut Vec<(u32, Range<u32>)>, id: u32, range: Range<u32>) {
    match ranges.last_mut() {
        Some((last, before)) if *last == id && before.end == range.start => before.end = range.end,
        Some((last, after)) if *last == id && after.start == range.end => after.start = range.start,
        _ => ranges.push((id, range)),
    }
}

/// Returns the union of ranges of sequences, as ranges that do not overlap.
fn merged(mut ranges: Vec<(u32, Range<u32>)>) -> Vec<(u32, Range<u32>)> {
    ranges.sort_by_key(|(id, range)| (*id, range.start));
    let mut union: Vec<(u32, Range<u32>)> = Vec::new();
    for (id, range) in ranges {
        match union.last_mut() {
            Some((last, before)) if *last == id && range.start <= before.end => before.end = before.end.max(range.end),
            _ => union.push((id, range)),
        }
    }
    union
}

/// Formats a position on an axis of this length.
fn position_label(position: f64, end: f64) -> String {
    match end {
        _ if position == 0.0 => "0".into(),
        2e6.. => format!("{} M", position / 1e6),
        2e3.. => format!("{} k", position / 1e3),
        _ => format!("{position}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    #[test]
    fn windows_count_the_columns_inside() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        for (name, length) in [("a", 1000), ("unused", 7), ("b", 250), ("empty", 0)] {
            builder.push(name, &vec![1; length]).unwrap();
        }
        let mut tracks = TargetTracks::empty(&builder.build(), &[0, 2, 3]);
        assert_eq!((tracks.window_length, tracks.windows.len()), (7, 143 + 36));
        assert_eq!(tracks.windows[142].range, 994..1000);
        assert_eq!((tracks.windows[143].before, tracks.windows[178].range.clone()), (1000, 245..250));
        tracks.add(0, 5..15, true);
        tracks.add(0, 0..1, false);
        tracks.add(1, 249..250, false);
        let counts = |index: usize| (tracks.windows[index].matches, tracks.windows[index].mismatches);
        assert_eq!([0, 1, 2, 178].map(counts), [(2, 1), (7, 0), (1, 0), (0, 1)]);
        assert_eq!(tracks.identity(), Some(10.0 / 12.0));
        tracks.cover(0, 0..1000);
        assert_eq!((tracks.target_covered(), tracks.windows[142].covered), (1000, 6));
        assert_eq!((tracks.x(0), tracks.x(1250)), (LEFT, RIGHT));
    }

    #[test]
    fn unions_count_every_symbol_once() {
        let mut ranges = Vec::new();
        for (id, range) in [(1, 10..20), (1, 20..25), (1, 5..10), (0, 3..4), (1, 24..30), (1, 40..41), (1, 12..13)] {
            push_range(&mut ranges, id, range);
        }
        assert_eq!(merged(ranges), [(0, 3..4), (1, 5..30), (1, 40..41)]);
    }

    #[test]
    fn positions_have_units() {
        let labels = [(0.0, 5e6), (2.5e6, 5e6), (500.0, 2e3), (40.0, 1500.0)].map(|(at, end)| position_label(at, end));
        assert_eq!(labels, ["0", "2.5 M", "0.5 k", "40"]);
    }
}
