//! Axes of dot plots. The sequences of a file lie one after the other along its axis.

use crate::output::long::LongContext;
use crate::output::ticks::ticks;
use crate::seq::{SequenceId, SequenceStore};

/// Expected width of a letter at the ticks, in units.
const LETTER_WIDTH: f64 = 7.0;
/// Height of a line of text at the ticks, in units.
const TEXT_HEIGHT: f64 = 13.0;
/// Maximum number of letters of a name left of the matrix.
const LEFT_LETTERS: usize = 13;
/// Maximum number of letters of the only name of an axis.
const TITLE_LETTERS: usize = 60;
/// Minimum number of letters of a shortened name.
const MIN_LETTERS: usize = 6;

/// The direction of an axis. Text is horizontal on both.
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

    /// Returns the ticks of a single sequence.
    fn ticks(&self) -> Vec<f64> {
        let end = self.symbols() as f64;
        ticks(0.0, end, false).into_iter().filter(|tick| *tick <= end).collect()
    }

    /// Returns the positions of the grid lines: the ticks of a single sequence, or the borders of
    /// several.
    pub(super) fn lines(&self) -> Vec<f64> {
        match self.ids {
            [_] => self.ticks(),
            _ => self.starts.iter().map(|&start| start as f64).collect(),
        }
    }

    /// Returns the texts next to an axis of `length` units with their positions: the ticks of a
    /// single sequence, or those names of several that fit.
    pub(super) fn labels(&self, length: f64, orientation: Orientation) -> Vec<(String, f64)> {
        if let [_] = self.ids {
            return self.ticks().into_iter().map(|tick| (grouped(tick as u64), tick)).collect();
        }
        let label = |(&id, part): (&SequenceId, &[u64])| {
            let width = (part[1] - part[0]) as f64 / self.span() * length;
            let most = match orientation {
                Orientation::Across => (width / LETTER_WIDTH) as usize,
                Orientation::Up if width >= TEXT_HEIGHT => LEFT_LETTERS,
                Orientation::Up => 0,
            };
            let name = self.store.name(id);
            let is_shown = most >= MIN_LETTERS || (most > 0 && name.chars().count() <= most);
            is_shown.then(|| (shortened(name, most), (part[0] + part[1]) as f64 / 2.0))
        };
        self.ids.iter().zip(self.starts.windows(2)).filter_map(label).collect()
    }

    /// Returns the name and length of a single sequence, or the number and total length of several.
    pub(super) fn title(&self, unit: &str) -> String {
        let symbols = grouped(self.symbols());
        match self.ids {
            &[id] => format!("{} ({symbols} {unit})", shortened(self.store.name(id), TITLE_LETTERS)),
            ids => format!("{} sequences ({symbols} {unit})", grouped(ids.len() as u64)),
        }
    }
}

/// Returns a name of at most `most` letters, at least 3. A longer name ends in dots.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let start: String = name.chars().take(most.saturating_sub(3)).collect();
    format!("{start}...")
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (tick_position, digit) in digits.chars().enumerate() {
        if tick_position > 0 && (digits.len() - tick_position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    #[test]
    fn numbers_have_thousands_separators() {
        assert_eq!([0, 999, 1000, 48502, 4_639_675].map(grouped), ["0", "999", "1,000", "48,502", "4,639,675"]);
    }

    #[test]
    fn sequences_lie_side_by_side() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        for (name, length) in [("unused", 9), ("first", 100), ("a_very_long_name", 300), ("dot", 2)] {
            builder.push(name, &vec![1; length]).unwrap();
        }
        let store = builder.build();
        let axis = Axis::new(&store, &[1, 2, 3]);
        assert_eq!((axis.span(), axis.lines()), (402.0, vec![0.0, 100.0, 400.0, 402.0]));
        assert_eq!([1, 2, 3].map(|id| axis.start(id)), [0.0, 100.0, 400.0]);
        let names = |length, orientation| {
            axis.labels(length, orientation).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(402.0, Orientation::Across), ["first", "a_very_long_name"]);
        assert_eq!(names(100.0, Orientation::Across), ["a_very_..."]);
        assert_eq!(names(402.0, Orientation::Up), ["first", "a_very_lon..."]);
        assert_eq!(axis.title("bp"), "3 sequences (402 bp)");
        assert_eq!(Axis::new(&store, &[1]).title("bp"), "first (100 bp)");
    }
}
