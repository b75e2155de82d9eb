//! CIGAR strings: runs of alignment columns.

use std::fmt;
use std::str::FromStr;

use crate::score::AlignmentCounts;

/// Kinds of columns, as in SAM with the query as the read and the target as the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`: two symbols that match.
    Match,
    /// `X`: two symbols that do not match.
    Mismatch,
    /// `I`: a query symbol against a gap.
    Insertion,
    /// `D`: a target symbol against a gap.
    Deletion,
}

impl Op {
    /// Returns SAM's letter of this kind.
    pub const fn letter(self) -> char {
        match self {
            Op::Match => '=',
            Op::Mismatch => 'X',
            Op::Insertion => 'I',
            Op::Deletion => 'D',
        }
    }

    /// Returns whether a column of this kind contains a gap.
    pub const fn is_gap(self) -> bool {
        matches!(self, Op::Insertion | Op::Deletion)
    }

    /// Returns whether a column of this kind contains a query symbol.
    pub const fn consumes_query(self) -> bool {
        !matches!(self, Op::Deletion)
    }

    /// Returns whether a column of this kind contains a target symbol.
    pub const fn consumes_target(self) -> bool {
        !matches!(self, Op::Insertion)
    }
}

/// Runs of columns from first to last. Neighbouring runs differ in kind, and no run is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Cigar {
    runs: Vec<(u32, Op)>,
}

impl Cigar {
    /// Creates the alignment of two empty sequences.
    pub const fn new() -> Self {
        Cigar { runs: Vec::new() }
    }

    /// Creates an empty alignment with capacity for `runs` runs.
    pub fn with_capacity(runs: usize) -> Self {
        Cigar { runs: Vec::with_capacity(runs) }
    }

    /// Removes all columns and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
    }

    /// Appends `length` columns of one kind. They extend the last run if it is of this kind.
    /// Nothing is appended if `length` is 0.
    ///
    /// # Panics
    /// Panics if a run would reach 2^32 columns, which no sequence of a store can fill.
    pub fn push(&mut self, length: u32, op: Op) {
        self.push_checked(length, op).expect("a run of fewer than 2^32 columns");
    }

    /// Appends columns like [`Cigar::push`]. Returns `None`, with nothing appended, if the run
    /// would be too long.
    pub(crate) fn push_checked(&mut self, length: u32, op: Op) -> Option<()> {
        match self.runs.last_mut() {
            Some((last, last_op)) if *last_op == op => *last = last.checked_add(length)?,
            _ if length == 0 => {}
            _ => self.runs.push((length, op)),
        }
        Some(())
    }

    /// Reverses the order of the runs, for a traceback that pushes columns from the end.
    pub fn reverse(&mut self) {
        self.runs.reverse();
    }

    /// Returns the runs, from first to last.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, Op)> + ExactSizeIterator + '_ {
        self.runs.iter().copied()
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of bytes that the runs occupy in memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.runs.capacity() * size_of::<(u32, Op)>()) as u64
    }

    /// Returns whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> u64 {
        self.iter().map(|(length, _)| u64::from(length)).sum()
    }

    /// Returns the number of columns of one kind.
    pub fn columns_of(&self, op: Op) -> u64 {
        self.iter().filter(|run| run.1 == op).map(|(length, _)| u64::from(length)).sum()
    }

    /// Returns the number of runs of one kind. For a kind of gap, this is the number of gaps in one
    /// sequence.
    pub fn runs_of(&self, op: Op) -> u64 {
        self.iter().filter(|run| run.1 == op).count() as u64
    }

    /// Returns the number of query symbols in the columns.
    pub fn query_span(&self) -> u64 {
        self.iter().filter(|run| run.1.consumes_query()).map(|(length, _)| u64::from(length)).sum()
    }

    /// Returns the number of target symbols in the columns.
    pub fn target_span(&self) -> u64 {
        self.iter().filter(|run| run.1.consumes_target()).map(|(length, _)| u64::from(length)).sum()
    }

    /// Counts the columns as the definitions of identity need them.
    pub fn counts(&self) -> AlignmentCounts {
        let mut counts = AlignmentCounts::default();
        for (position, (length, op)) in self.iter().enumerate() {
            let length = u64::from(length);
            match op {
                Op::Match => counts.matches += length,
                Op::Mismatch => counts.mismatches += length,
                Op::Insertion | Op::Deletion => {
                    counts.gap_columns += length;
                    counts.gap_openings += 1;
                    if position == 0 || position + 1 == self.runs.len() {
                        counts.end_gap_columns += length;
                    }
                }
            }
        }
        counts
    }

    /// Formats the alignment in the older style of SAM, where `M` is a match or a mismatch.
    pub fn to_m_style(&self) -> String {
        let mut runs: Vec<(u64, char)> = Vec::new();
        for (length, op) in self.iter() {
            let letter = if op.is_gap() { op.letter() } else { 'M' };
            match runs.last_mut() {
                Some((last, last_letter)) if *last_letter == letter => *last += u64::from(length),
                _ => runs.push((u64::from(length), letter)),
            }
        }
        runs.iter().map(|(length, letter)| format!("{length}{letter}")).collect()
    }

    /// Creates an alignment from unchecked runs, for tests that need an invalid one.
    #[cfg(test)]
    pub(crate) fn from_runs_unchecked(runs: Vec<(u32, Op)>) -> Self {
        Cigar { runs }
    }
}

impl fmt::Display for Cigar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(length, op)| write!(f, "{length}{}", op.letter()))
    }
}

/// The reason why a text is not a [`Cigar`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a CIGAR of =, X, I and D: {message} at byte {position}")]
pub struct ParseCigarError {
    /// Offset of the wrong byte, from 0.
    pub position: usize,
    /// The problem at this byte.
    pub message: &'static str,
}

impl FromStr for Cigar {
    type Err = ParseCigarError;

    /// Parses the output of [`fmt::Display`]. Neighbouring runs of one kind and runs of length 0
    /// are errors, because each alignment must have exactly one text.
    fn from_str(text: &str) -> Result<Self, ParseCigarError> {
        let fail = |position, message| Err(ParseCigarError { position, message });
        let mut cigar = Cigar::new();
        let mut digits = 0;
        let mut length = 0u32;
        for (position, byte) in text.bytes().enumerate() {
            if byte.is_ascii_digit() {
                digits += 1;
                match length.checked_mul(10).and_then(|tens| tens.checked_add(u32::from(byte - b'0'))) {
                    Some(longer) => length = longer,
                    None => return fail(position, "a run of 2^32 columns or more"),
                }
                continue;
            }
            let op = match byte {
                b'=' => Op::Match,
                b'X' => Op::Mismatch,
                b'I' => Op::Insertion,
                b'D' => Op::Deletion,
                _ => return fail(position, "an unknown kind of column"),
            };
            if digits == 0 {
                return fail(position, "a run without a length");
            }
            if length == 0 {
                return fail(position, "a run of length 0");
            }
            if cigar.runs.last().is_some_and(|run| run.1 == op) {
                return fail(position, "two neighbouring runs of one kind");
            }
            cigar.runs.push((length, op));
            (digits, length) = (0, 0);
        }
        if digits > 0 { fail(text.len(), "a length without a kind of column") } else { Ok(cigar) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cigar(text: &str) -> Cigar {
        text.parse().unwrap()
    }

    #[test]
    fn push_merges_equal_neighbours_and_drops_empty_runs() {
        let mut built = Cigar::new();
        for (length, op) in [(2, Op::Match), (3, Op::Match), (0, Op::Insertion), (1, Op::Mismatch), (4, Op::Deletion)] {
            built.push(length, op);
        }
        assert_eq!(built.to_string(), "5=1X4D");
        built.reverse();
        assert_eq!(built.to_string(), "4D1X5=");
        assert_eq!(built.iter().next_back(), Some((5, Op::Match)));
    }

    #[test]
    fn text_round_trips() {
        for text in ["", "12=", "12=1X3I", "4294967295D", "1I2D3I"] {
            assert_eq!(cigar(text).to_string(), text);
        }
    }

    #[test]
    fn invalid_cigars_are_refused_with_position() {
        for (text, position, word) in [
            ("3", 1, "without a kind"),
            ("=", 0, "without a length"),
            ("3=X", 2, "without a length"),
            ("0I", 1, "length 0"),
            ("3=2=", 3, "neighbouring"),
            ("3M", 1, "unknown"),
            ("3=-1X", 2, "unknown"),
            ("4294967296=", 9, "2^32"),
            ("3é", 1, "unknown"),
        ] {
            let error = text.parse::<Cigar>().unwrap_err();
            assert_eq!(error.position, position, "{text}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn counts_and_spans_are_computed() {
        let aligned = cigar("2D10=1X3I4D5=6I");
        let counts = aligned.counts();
        let expected =
            AlignmentCounts { matches: 15, mismatches: 1, gap_columns: 15, gap_openings: 4, end_gap_columns: 8 };
        assert_eq!(counts, expected);
        assert_eq!((aligned.query_span(), aligned.target_span(), aligned.columns()), (25, 22, 31));
        assert_eq!((aligned.runs_of(Op::Insertion), aligned.runs_of(Op::Deletion)), (2, 2));
        assert_eq!(aligned.columns_of(Op::Deletion), 6);
    }

    #[test]
    fn a_single_end_gap_run_counts_once() {
        let end_gap_columns = |text| cigar(text).counts().end_gap_columns;
        assert_eq!(end_gap_columns(""), 0);
        assert_eq!(end_gap_columns("7I"), 7);
        assert_eq!(end_gap_columns("3I4D"), 7);
        assert_eq!(end_gap_columns("3I2X4D"), 7);
        assert_eq!(end_gap_columns("3I4D5="), 3);
        assert_eq!(end_gap_columns("5=3I4D5="), 0);
    }

    #[test]
    fn m_style_merges_matches_and_mismatches() {
        assert_eq!(cigar("2D10=1X5=3I1X").to_m_style(), "2D16M3I1M");
        assert_eq!(cigar("").to_m_style(), "");
    }
}
