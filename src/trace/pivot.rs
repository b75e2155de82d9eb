//! Scores of alignments that two sequences have by their alignments with a third one, the pivot.
//!
//! Each sequence is aligned with the pivot once. Two sequences are then aligned by the pivot's
//! positions: symbols at the same position share a column, and all others are opposite gaps. The score
//! of this alignment is a lower bound on the best score of the pair. It takes a few operations per 32
//! positions.
//!
//! The score is not computed exactly, but bounded from below:
//!
//! - A column of two equal letters counts with the least score of such a column, and any other column
//!   with the least score of all.
//! - Between two columns of two symbols, the order of gap columns is free, so that there is at most one
//!   gap in each sequence. These gaps are counted at least once: for each run of pivot positions where
//!   only one sequence has a symbol, and for each insertion relative to the pivot.

use crate::alignment::{Cigar, Op};
use crate::score::{Gaps, Scoring};
use crate::seq::Code;
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// A pivot position without a symbol.
const GAP: u8 = 0;
/// A symbol that is no letter.
const OTHER: u8 = u8::MAX;
/// Fraction of the greatest score of two equal codes, as a divisor, that a letter needs. A column of
/// two equal codes with a low score counts as any other column.
const LETTER_DIVISOR: i32 = 3;
/// Number of positions that are counted in bytes. A byte counts at most this many.
const POSITIONS_AT_ONCE: usize = 128;

/// Scores of the columns and gaps of pairs.
#[derive(Debug, Clone)]
pub struct PivotScoring {
    /// The byte of each code in a row: the code if it is a letter, or [`OTHER`].
    symbols: [u8; 256],
    /// Least score of two equal letters.
    equal: i64,
    /// Least score of any two codes.
    least: i64,
    gaps: Gaps,
    ends: Gaps,
}

impl PivotScoring {
    /// Returns the scores of a scheme of global alignments.
    pub fn new(scoring: &Scoring) -> Self {
        let table = &scoring.substitution;
        let codes = || 1..table.size().min(usize::from(OTHER)) as Code;
        let of_equal = |code: Code| table.score(code, code);
        let greatest = codes().map(of_equal).max().unwrap_or(0);
        let is_letter = |&code: &Code| of_equal(code) > 0 && LETTER_DIVISOR * of_equal(code) >= greatest;
        let mut symbols = [OTHER; 256];
        codes().filter(is_letter).for_each(|code| symbols[usize::from(code)] = code);
        PivotScoring {
            symbols,
            equal: codes().filter(is_letter).map(of_equal).min().unwrap_or(0).into(),
            least: table.min_score().into(),
            gaps: scoring.gaps,
            ends: scoring.end_costs(),
        }
    }

    /// Returns the score of two ends with these numbers of symbols, next to a column of two symbols.
    fn end_score(&self, one: u64, other: u64) -> i64 {
        let columns = one.min(other);
        let aligned = self.least * columns as i64 - self.ends.cost(one.max(other) - columns);
        let [one_outside, other_outside] =
            [(one, other), (other, one)].map(|(outer, inner)| -self.ends.cost(outer) - self.gaps.cost(inner));
        aligned.max(one_outside).max(other_outside)
    }

    /// Returns a score that the best alignment of two sequences reaches. Both rows have the same
    /// pivot.
    pub fn reached_score(&self, one: &PivotRow, other: &PivotRow, instructions: InstructionSet) -> i64 {
        let (m, n) = (u64::from(one.length), u64::from(other.length));
        let apart = -self.ends.cost(m) - self.ends.cost(n);
        let is_both = |position: &usize| one.symbols[*position] != GAP && other.symbols[*position] != GAP;
        let start = one.first.max(other.first) as usize;
        let end = one.end.min(other.end) as usize;
        let Some(first) = (start..end).find(is_both) else { return apart };
        let last = (first..end).rev().find(is_both).unwrap_or(first);
        let [one_parts, other_parts] = [one, other].map(|row| row.parts(first, last));
        let counts = instructions
            .run(CountedRows { one: &one.symbols[first - 1..=last], other: &other.symbols[first - 1..=last] });
        let inner_gaps = counts.gap_runs + one_parts.insertions + other_parts.insertions;
        let gap_columns = one_parts.between + other_parts.between - 2 * counts.both;
        let score = self.equal * counts.equal as i64 + self.least * (counts.both - counts.equal) as i64
            - i64::from(self.gaps.next) * gap_columns as i64
            - i64::from(self.gaps.opening()) * inner_gaps as i64
            + self.end_score(one_parts.before, other_parts.before)
            + self.end_score(one_parts.after, other_parts.after);
        score.max(apart)
    }
}

/// A sequence in the columns of a pivot.
#[derive(Debug, Clone)]
pub struct PivotRow {
    /// [`GAP`], and then a byte for each position of the pivot.
    symbols: Vec<u8>,
    /// First index in `symbols` with a symbol, and the index after the last.
    first: u32,
    end: u32,
    /// Indices in `symbols` before which the sequence has symbols without a position, and the number of
    /// these symbols.
    insertions: Vec<(u32, u32)>,
    /// Number of symbols of the sequence.
    length: u32,
}

/// The symbols of a sequence before, between and after two positions.
struct RowParts {
    before: u64,
    /// Number of symbols from the first to the last position, both included.
    between: u64,
    after: u64,
    /// Number of insertions between the positions.
    insertions: u64,
}

impl PivotRow {
    /// Creates the row of a sequence from its end-to-end alignment with a pivot, which is the target.
    pub fn new(codes: &[Code], cigar: &Cigar, scoring: &PivotScoring) -> Self {
        let mut symbols = Vec::with_capacity(1 + cigar.target_span() as usize);
        symbols.push(GAP);
        let (mut insertions, mut rest) = (Vec::new(), codes);
        for (length, op) in cigar.iter() {
            let (run, behind) = rest.split_at(if op.consumes_query() { length as usize } else { 0 });
            rest = behind;
            match op {
                Op::Match | Op::Mismatch => symbols.extend(run.iter().map(|&code| scoring.symbols[usize::from(code)])),
                Op::Deletion => symbols.resize(symbols.len() + length as usize, GAP),
                Op::Insertion => insertions.push((symbols.len() as u32, length)),
            }
        }
        let first = symbols.iter().position(|&symbol| symbol != GAP).unwrap_or(symbols.len());
        let end = symbols.iter().rposition(|&symbol| symbol != GAP).map_or(first, |last| last + 1);
        PivotRow { symbols, first: first as u32, end: end as u32, insertions, length: codes.len() as u32 }
    }

    /// Divides the sequence at two indices where it has symbols.
    fn parts(&self, first: usize, last: usize) -> RowParts {
        let symbols = |range: &[u8]| range.iter().filter(|&&symbol| symbol != GAP).count() as u64;
        let mut before = symbols(&self.symbols[self.first as usize..first]);
        let mut after = symbols(&self.symbols[last + 1..self.end as usize]);
        let mut insertions = 0;
        for &(index, length) in &self.insertions {
            match index as usize {
                index if index <= first => before += u64::from(length),
                index if index <= last => insertions += 1,
                _ => after += u64::from(length),
            }
        }
        RowParts { before, between: u64::from(self.length) - before - after, after, insertions }
    }
}

/// Numbers of columns of two rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ColumnCounts {
    /// Columns of two symbols.
    both: u64,
    /// Columns of two equal letters.
    equal: u64,
    /// Runs of columns with a symbol of only one row.
    gap_runs: u64,
}

/// Two rows of equal length whose columns after the first one are counted.
struct CountedRows<'a> {
    one: &'a [u8],
    other: &'a [u8],
}

impl SimdKernel for CountedRows<'_> {
    type Output = ColumnCounts;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> ColumnCounts {
        let mut counts = ColumnCounts::default();
        let columns = self.one.len().min(self.other.len()) - 1;
        let mut start = 0;
        while start < columns {
            let end = (start + POSITIONS_AT_ONCE).min(columns);
            let [one_left, one] = [&self.one[start..end], &self.one[start + 1..end + 1]];
            let [other_left, other] = [&self.other[start..end], &self.other[start + 1..end + 1]];
            let (mut both, mut equal, mut gap_runs) = (0u8, 0u8, 0u8);
            for ((&a, &b), (&left_a, &left_b)) in one.iter().zip(other).zip(one_left.iter().zip(other_left)) {
                let [has_a, has_b, had_a, had_b] = [a, b, left_a, left_b].map(|symbol| u8::from(symbol != GAP));
                both += has_a & has_b;
                equal += u8::from(a == b) & has_a & u8::from(a != OTHER);
                // A run starts where only one row has a symbol, and the same was not so before.
                let (only_a, only_b) = (has_a & (1 - has_b), has_b & (1 - has_a));
                let (was_only_a, was_only_b) = (had_a & (1 - had_b), had_b & (1 - had_a));
                gap_runs += only_a & (1 - was_only_a) | only_b & (1 - was_only_b);
            }
            counts.both += u64::from(both);
            counts.equal += u64::from(equal);
            counts.gap_runs += u64::from(gap_runs);
            start = end;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle;
    use crate::score::{Ambiguity, EndGaps, NamedScheme};
    use crate::seq::Alphabet;

    fn mutated(random: &mut fastrand::Rng, codes: &[Code], code: impl Fn(&mut fastrand::Rng) -> Code) -> Vec<Code> {
        let cut = |random: &mut fastrand::Rng| if random.bool() { 0 } else { random.usize(..codes.len() / 3 + 1) };
        let (from, to) = (cut(random), codes.len() - cut(random));
        let mut other = Vec::new();
        let apart = [6, 20, 500][random.usize(..3)];
        for &symbol in &codes[from.min(to)..to] {
            match random.u32(..apart) {
                0 => {}
                1 => (0..random.usize(1..5)).for_each(|_| other.push(code(random))),
                2 | 3 => other.push(code(random)),
                _ => other.push(symbol),
            }
        }
        other
    }

    #[test]
    fn no_best_score_is_below_the_reached_score() {
        let seed = 0x9117;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let named = |name: &str, alphabet| NamedScheme::find(name).unwrap().scoring(alphabet).unwrap();
        let mut schemes: Vec<Scoring> = ["pairwave", "truong", "vsearch", "needle", "blastn", "megablast"]
            .map(|name| named(name, Alphabet::Dna))
            .into();
        schemes.extend(["blastp", "needle"].map(|name| named(name, Alphabet::Protein)));
        for _ in 0..30 {
            let next = random.i32(0..4);
            let gaps = Gaps { first: next + random.i32(0..6), next };
            let end_next = random.i32(0..=next);
            let ends = EndGaps::Priced(Gaps { first: random.i32(end_next..=gaps.first), next: end_next });
            let rules = [Ambiguity::Overlap, Ambiguity::Mismatch, Ambiguity::Zero, Ambiguity::Mean];
            let (high, low) = (random.i32(1..5), random.i32(-5..=1));
            schemes.push(Scoring::nucleotide(high, low, rules[random.usize(..4)], gaps, ends).unwrap());
        }
        let (mut tested, mut equal, mut apart) = (0, 0, 0);
        for scoring in &schemes {
            let row_scoring = PivotScoring::new(scoring);
            for _ in 0..25 {
                let ambiguous = random.bool();
                let code = |random: &mut fastrand::Rng| match scoring.alphabet {
                    Alphabet::Dna if ambiguous && random.u8(..9) == 0 => random.u8(1..16),
                    Alphabet::Dna => 1 << random.u8(..4),
                    _ => random.u8(1..24),
                };
                let length = random.usize(..100);
                let pivot: Vec<Code> = (0..length).map(|_| code(&mut random)).collect();
                let one = mutated(&mut random, &pivot, code);
                let other = match random.u8(..5) {
                    0 => one.clone(),
                    1 => (0..random.usize(..60)).map(|_| code(&mut random)).collect(),
                    3 => mutated(&mut random, &one, code),
                    _ => mutated(&mut random, &pivot, code),
                };
                let row = |codes: &[Code]| {
                    // The bound holds for any alignment with the pivot, also for one by other scores.
                    let by = if random.clone().u8(..4) == 0 { &schemes[0] } else { scoring };
                    let by = if by.alphabet == scoring.alphabet { by } else { scoring };
                    PivotRow::new(codes, &oracle::align(codes, &pivot, by).cigar, &row_scoring)
                };
                let (one_row, other_row) = (row(&one), row(&other));
                let best = oracle::align(&one, &other, scoring).score;
                for instructions in InstructionSet::available() {
                    let reached = row_scoring.reached_score(&one_row, &other_row, instructions);
                    assert_eq!(reached, row_scoring.reached_score(&other_row, &one_row, instructions));
                    assert!(reached <= best, "{reached} > {best}: {scoring:?} {pivot:?} {one:?} {other:?}");
                    tested += 1;
                    equal += usize::from(reached == best && one_row.first < one_row.end);
                    let ends = scoring.end_costs();
                    apart += usize::from(reached == -ends.cost(one.len() as u64) - ends.cost(other.len() as u64));
                }
            }
        }
        println!("{tested} tested, {equal} equal, {apart} without a common position");
        // A bound that is one higher would exceed the best score of these pairs.
        assert!(equal > tested / 8 && apart > 20, "{equal} of {tested}, {apart}");
    }

    #[test]
    fn columns_are_counted() {
        let counts = |one: &[u8], other: &[u8]| {
            let [one, other] = [one, other].map(|row| [&[GAP], row].concat());
            InstructionSet::available()
                .into_iter()
                .map(|instructions| instructions.run(CountedRows { one: &one, other: &other }))
                .collect::<Vec<_>>()
        };
        let row = |both, equal, gap_runs| ColumnCounts { both, equal, gap_runs };
        let all = counts(&[1, 2, 0, 0, 3, OTHER, 4, 0, 1], &[1, 3, 2, 2, 0, OTHER, 0, 0, 1]);
        assert!(all.iter().all(|&one| one == row(4, 2, 3)), "{all:?}");
        let all = counts(&[2; 1000], &[2; 1000]);
        assert!(all.iter().all(|&one| one == row(1000, 1000, 0)), "{all:?}");
        let all = counts(&[2, 0].repeat(500), &[2; 1000]);
        assert!(all.iter().all(|&one| one == row(500, 500, 500)), "{all:?}");
    }
}
