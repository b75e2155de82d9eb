//! Axes of dot plots. The sequences of a file lie one after the other along its axis.

use crate::output::long_context::LongContext;
use crate::output::numbers::grouped;
use crate::output::plot::drawing::{TEXT_SIZE, text_width};
use crate::output::plot::names::{printable, shortened};
use crate::output::ticks::ticks;
use crate::seq::{SequenceId, SequenceStore};

/// Least height of a record with a name next to its axis, in units.
const MIN_ROW: f64 = TEXT_SIZE + 1.0;
/// Least distance between two names along an axis, in units.
const NAME_GAP: f64 = 6.0;
/// Greatest width of a name that runs away from its axis, in units.
const MAX_NAME: f64 = 120.0;
/// Minimum number of letters of a shortened name.
const MIN_LETTERS: usize = 6;
/// Least distance between two borders of records that are drawn, in units.
const MIN_BORDER_DISTANCE: f64 = 3.0;

/// The direction of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orientation {
    Across,
    Up,
}

/// The sequences along an axis.
pub(super) struct Axis<'a> {
    store: &'a SequenceStore,
    ids: &'a [SequenceId],
    /// Number of symbols before each sequence, and of all.
    starts: Vec<u64>,
}

/// A text next to an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AxisLabel {
    pub(super) text: String,
    /// The whole name if the text is a part of it, otherwise empty.
    pub(super) whole: String,
    /// Position along the axis in symbols.
    pub(super) middle: f64,
}

/// The texts next to an axis.
#[derive(Debug, Default)]
pub(super) struct AxisLabels {
    pub(super) labels: Vec<AxisLabel>,
    /// Whether the texts run upwards.
    pub(super) are_upright: bool,
    /// Distance from the axis that the texts take, in units.
    pub(super) depth: f64,
}

/// Returns the axes of the targets and of the queries.
pub(super) fn axes(context: &LongContext) -> [Axis<'_>; 2] {
    [Axis::new(context.targets(), context.target_ids()), Axis::new(context.queries(), context.query_ids())]
}

impl<'a> Axis<'a> {
    fn new(store: &'a SequenceStore, ids: &'a [SequenceId]) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for &id in ids {
            end += u64::from(store.length(id));
            starts.push(end);
        }
        Axis { store, ids, starts }
    }

    /// Returns the number of symbols of all sequences.
    fn symbols(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the number of symbols that the axis spans, at least 1.
    pub(super) fn span(&self) -> f64 {
        self.symbols().max(1) as f64
    }

    /// Returns the number of symbols before a sequence.
    pub(super) fn start(&self, id: SequenceId) -> f64 {
        self.ids.binary_search(&id).map_or(0.0, |index| self.starts[index] as f64)
    }

    /// Returns the name of a sequence as text.
    pub(super) fn name(&self, id: SequenceId) -> String {
        printable(self.store.name_bytes(id))
    }

    /// Returns the ticks of a single sequence, which are whole numbers.
    fn ticks(&self) -> Vec<f64> {
        let end = self.symbols() as f64;
        let is_inside = |tick: &f64| *tick <= end && (tick - tick.round()).abs() < 1e-6;
        ticks(0.0, end, false).into_iter().filter(is_inside).map(f64::round).collect()
    }

    /// Returns the positions of the grid lines on an axis of `length` units: the ticks of a single
    /// sequence, or those borders of several that are not too close together.
    pub(super) fn lines(&self, length: f64) -> Vec<f64> {
        if let [_] = self.ids {
            return self.ticks();
        }
        let least = MIN_BORDER_DISTANCE / length * self.span();
        let mut lines: Vec<f64> = Vec::new();
        for start in self.starts.iter().map(|&start| start as f64) {
            if lines.last().is_none_or(|last| start - last >= least) {
                lines.push(start);
            }
        }
        lines
    }

    /// Returns the texts next to an axis of `length` units: the ticks of a single sequence, or the
    /// names of those sequences of several that are long enough.
    pub(super) fn labels(&self, length: f64, orientation: Orientation) -> AxisLabels {
        if let [_] = self.ids {
            let label = |tick: f64| AxisLabel { text: grouped(tick as u64), whole: String::new(), middle: tick };
            return AxisLabels::new(self.ticks().into_iter().map(label).collect(), orientation, false);
        }
        let away = self.names(length, |_| MAX_NAME);
        if orientation == Orientation::Up {
            return AxisLabels::new(away, orientation, false);
        }
        // The names run upwards if any of them would be shorter along the axis.
        let along = self.names(length, |width| width - NAME_GAP);
        let letters = |label: &AxisLabel| label.text.chars().count();
        let are_upright =
            along.len() < away.len() || along.iter().zip(&away).any(|(along, away)| letters(along) < letters(away));
        AxisLabels::new(if are_upright { away } else { along }, orientation, are_upright)
    }

    /// Returns the names of the sequences that are at least [`MIN_ROW`] units long. `space` returns
    /// the greatest width of a name from the length of its sequence in units.
    fn names(&self, length: f64, space: impl Fn(f64) -> f64) -> Vec<AxisLabel> {
        let label = |(&id, part): (&SequenceId, &[u64])| {
            let width = (part[1] - part[0]) as f64 / self.span() * length;
            if width < MIN_ROW {
                return None;
            }
            let name = self.name(id);
            let text = fitted(&name, space(width), TEXT_SIZE)?;
            let whole = if text == name { String::new() } else { name };
            Some(AxisLabel { text, whole, middle: (part[0] + part[1]) as f64 / 2.0 })
        };
        self.ids.iter().zip(self.starts.windows(2)).filter_map(label).collect()
    }

    /// Returns the name and length of a single sequence, or the number and total length of several,
    /// in letters of `size` and at most `width` units.
    pub(super) fn title(&self, unit: &str, width: f64, size: f64) -> AxisLabel {
        let symbols = grouped(self.symbols());
        let label = |text, whole| AxisLabel { text, whole, middle: self.span() / 2.0 };
        match self.ids {
            &[id] => {
                let (name, end) = (self.name(id), format!(" ({symbols} {unit})"));
                let shown = fitted(&name, width - text_width(&end, size), size).unwrap_or_default();
                let whole = if shown == name { String::new() } else { name };
                label(format!("{shown}{end}"), whole)
            }
            ids => label(format!("{} sequences ({symbols} {unit})", grouped(ids.len() as u64)), String::new()),
        }
    }
}

impl AxisLabels {
    fn new(labels: Vec<AxisLabel>, orientation: Orientation, are_upright: bool) -> Self {
        let widest = labels.iter().map(|label| text_width(&label.text, TEXT_SIZE)).fold(0.0, f64::max);
        let runs_away = orientation == Orientation::Up || are_upright;
        let depth = match labels.is_empty() {
            true => 0.0,
            false if runs_away => widest,
            false => TEXT_SIZE,
        };
        AxisLabels { labels, are_upright, depth }
    }
}

/// Returns a name that is at most `width` units wide. Dots replace the middle of a long name. Returns
/// `None` if too few letters would remain.
fn fitted(name: &str, width: f64, size: f64) -> Option<String> {
    let letters = name.chars().count();
    if text_width(name, size) <= width {
        return Some(name.to_owned());
    }
    // No letter is narrower than a quarter of the size.
    let most = (letters - 1).min((4.0 * width.max(0.0) / size) as usize);
    let shorter = (MIN_LETTERS..=most).rev().map(|most| shortened(name, most));
    shorter.into_iter().find(|text| text_width(text, size) <= width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    fn store(sequences: &[(&str, usize)]) -> SequenceStore {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        for &(name, length) in sequences {
            builder.push(name, &vec![1; length]).unwrap();
        }
        builder.build()
    }

    fn texts(labels: &AxisLabels) -> Vec<&str> {
        labels.labels.iter().map(|label| label.text.as_str()).collect()
    }

    #[test]
    fn sequences_lie_side_by_side() {
        let store = store(&[("unused", 9), ("first", 100), ("a_name_of_more_than_twenty_letters", 300), ("dot", 2)]);
        let axis = Axis::new(&store, &[1, 2, 3]);
        assert_eq!((axis.span(), axis.lines(700.0)), (402.0, vec![0.0, 100.0, 400.0, 402.0]));
        assert_eq!(axis.lines(402.0), [0.0, 100.0, 400.0]);
        assert_eq!([1, 2, 3].map(|id| axis.start(id)), [0.0, 100.0, 400.0]);
        let across = axis.labels(402.0, Orientation::Across);
        assert_eq!(texts(&across), ["first", "a_name_of_more_than_twenty_letters"]);
        assert_eq!((across.are_upright, across.depth), (false, TEXT_SIZE));
        assert_eq!(across.labels[1].middle, 250.0);
        for (length, orientation) in [(100.0, Orientation::Across), (402.0, Orientation::Up)] {
            let labels = axis.labels(length, orientation);
            assert_eq!(texts(&labels), ["first", "a_name_o\u{2026}ters"]);
            assert_eq!(labels.are_upright, orientation == Orientation::Across);
            assert!((100.0..=MAX_NAME).contains(&labels.depth), "{}", labels.depth);
            assert_eq!(labels.labels[1].whole, "a_name_of_more_than_twenty_letters");
        }
        assert_eq!(axis.labels(5.0, Orientation::Across).depth, 0.0);
    }

    #[test]
    fn titles_have_the_length() {
        let long = "long name ".repeat(20);
        let store = store(&[("first", 100), (&long, 300), ("", 1)]);
        let title = |ids: &[SequenceId]| Axis::new(&store, ids).title("bp", 700.0, 15.0);
        assert_eq!(title(&[0, 1, 2]).text, "3 sequences (401 bp)");
        assert_eq!((title(&[0]).text, title(&[0]).whole), ("first (100 bp)".into(), String::new()));
        let AxisLabel { text, whole, .. } = title(&[1]);
        assert!(text.starts_with("long name long") && text.contains('\u{2026}') && text.ends_with(" (300 bp)"));
        assert_eq!(whole, long);
    }

    #[test]
    fn ticks_are_positions() {
        let store = store(&[("one", 1), ("empty", 0), ("three", 3), ("many", 1234)]);
        let texts = |id: SequenceId| -> Vec<String> {
            let labels = Axis::new(&store, &[id]).labels(700.0, Orientation::Across);
            labels.labels.into_iter().map(|label| label.text).collect()
        };
        assert_eq!([texts(0), texts(1), texts(2)], [vec!["0", "1"], vec!["0"], vec!["0", "1", "2", "3"]]);
        assert_eq!(texts(3), ["0", "200", "400", "600", "800", "1,000", "1,200"]);
    }
}
