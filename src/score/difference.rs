//! Scores as differences between neighbouring cells, which fit narrow integers for sequences of any
//! length.
//!
//! The gap-offset transform ([`super::offset`]) is V\[i,j\] = H\[i,j\] + next * (i + j). CPU
//! kernels do not store V but its change from cell to cell (Suzuki and Kasahara 2018, BMC
//! Bioinformatics 19:45, equations 5 to 8; the transform removes the extension costs from them):
//!
//! ```text
//! z       = V[i,j]   - V[i-1,j-1] = max(step(a[i], b[j]), e, f)
//! dv[i,j] = V[i,j]   - V[i-1,j]   = z - dh[i-1,j]
//! dh[i,j] = V[i,j]   - V[i,j-1]   = z - dv[i,j-1]
//! e  next = E[i,j+1] - V[i-1,j]   = max(z - opening, e) - dh[i-1,j]
//! f  next = F[i+1,j] - V[i,j-1]   = max(z - opening, f) - dv[i,j-1]
//! ```
//!
//! Under linear gaps, `opening` is 0, e is dv\[i,j-1\], f is dh\[i-1,j\], and no number is
//! negative. The differences are bounded by the scheme alone ([`DifferenceScoring::new`]). So 8
//! bits suffice for scores of any length, nothing can overflow, and no pair is recomputed. The
//! score is the sum of the differences along a path of cells, in 64 bits.
//!
//! To count matches as well, every score is multiplied by a weight greater than any number of
//! matches, and a match adds 1. Then the greatest sum has the greatest score and, among equal
//! scores, the most matches.

use super::scoring::Scoring;
pub use super::substitution::STEPS;
use crate::seq::Code;

/// An integer type for differences.
pub trait Element: bytemuck::Pod + Default + Eq + Ord + std::fmt::Debug + Send + Sync {
    /// The least value.
    const MIN: i64;
    /// The greatest value.
    const MAX: i64;
    /// Converts a number. A number that does not fit is truncated to its low bits.
    fn from_number(number: i64) -> Self;
    /// Returns the value.
    fn number(self) -> i64;
    /// Returns the value of the bits when read as an unsigned integer.
    fn unsigned(self) -> i64;
}

macro_rules! elements {
    ($($type:ty, $unsigned:ty;)*) => { $(
        impl Element for $type {
            const MIN: i64 = <$type>::MIN as i64;
            const MAX: i64 = <$type>::MAX as i64;
            fn from_number(number: i64) -> Self {
                number as $type
            }
            fn number(self) -> i64 {
                self as i64
            }
            fn unsigned(self) -> i64 {
                self as $unsigned as i64
            }
        }
    )* };
}
elements!(i8, u8; i16, u16; i32, u32; i64, u64;);

/// A scoring scheme in the form of differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferenceScoring<E> {
    size: usize,
    table: Vec<[E; STEPS]>,
    weight: i64,
    next: i64,
    opening: i64,
    border_opening: i64,
    border_step: i64,
    own_ends: bool,
    greatest_step: i64,
    has_raised: bool,
    two_steps: Option<(E, E)>,
}

impl<E: Element> DifferenceScoring<E> {
    /// Converts a scheme for pairs whose shorter sequence has at most `shorter` symbols. Matches
    /// are counted if `carry_matches`. Returns `None` if a difference could exceed the range of
    /// `E`.
    ///
    /// Bounds: let `s` be the greatest step, `t` the least and `o` the opening, each times the
    /// weight. z is at most `max(s, 2 next)`: removing the last diagonal step of an alignment of
    /// (i, j) and shifting it by one gives an alignment of (i-1, j-1). z is at least `max(t, -2
    /// o)`, dv and dh are at least `-o`, and e and f are at least `-2 o`. `z - opening` is the
    /// least number that is compared; numbers that are only added and subtracted may wrap. A step
    /// below `-2 o` is never taken, since a gap in each sequence is better, and is raised to `-2
    /// o`. End gaps with costs of their own do not change these bounds. A path without its last
    /// diagonal step has no gap that costs more than before. Along a border, dv and dh are
    /// `border_step`. The first one is less by the end gap's opening, so it is at least `-o`. Only
    /// the corner's difference is that opening ([`DifferenceScoring::corner_difference`]).
    pub fn new(scoring: &Scoring, shorter: u64, carry_matches: bool) -> Option<Self> {
        // The weight is at least 2, because a weight of 1 means that matches are not counted.
        let weight = if carry_matches { i64::try_from(shorter.max(1)).ok()?.checked_add(1)? } else { 1 };
        let weighted = |score: i64| i64::try_from(score as i128 * weight as i128).ok();
        let next = scoring.gaps.next as i64;
        let linear = scoring.gaps.is_linear();
        let opening = weighted(scoring.gaps.opening() as i64)?;
        let (ends, own_ends) = (scoring.end_costs(), scoring.has_own_ends());
        let end_opening = weighted(ends.opening() as i64)?;
        let border_step = weighted(next - ends.next as i64)?;
        let substitution = &scoring.substitution;
        let step = |score: i32| score as i64 + 2 * next;
        let greatest = weighted(step(substitution.max_score()).max(2 * next))?.checked_add(1)?;
        let floor = opening.checked_mul(-2)?;
        let least = weighted(step(substitution.min_score()))?.max(floor).min(-opening);
        let fits = if linear {
            // These are compared as unsigned integers.
            greatest <= E::MAX.saturating_mul(2)
        } else {
            greatest.max(end_opening) <= E::MAX && floor >= E::MIN && least.checked_sub(opening)? >= E::MIN
        };
        if !fits {
            return None;
        }
        let size = substitution.size();
        let gap = E::from_number(if own_ends { border_step } else { floor });
        let (mut greatest_step, mut has_raised) = (border_step.max(0), false);
        let mut table = vec![[E::from_number(floor); STEPS]; size];
        table[0][..size].fill(gap);
        table[0][0] = E::from_number(0);
        for (a, row) in table.iter_mut().enumerate().skip(1) {
            row[0] = gap;
            for (b, entry) in row[..size].iter_mut().enumerate().skip(1) {
                let score = weighted(step(substitution.score(a as u8, b as u8)))?;
                let is_match = carry_matches && substitution.is_match(a as u8, b as u8);
                let step = score + is_match as i64;
                greatest_step = greatest_step.max(step);
                has_raised |= step < floor;
                *entry = E::from_number(step.max(floor));
            }
        }
        let border_opening = -end_opening;
        let step_of = |shares: bool| {
            let mut pairs = (1..size).flat_map(|a| (1..size).map(move |b| (a, b)));
            pairs.find(|(a, b)| (a & b != 0) == shares).map_or(E::from_number(floor), |(a, b)| table[a][b])
        };
        let (yes, no) = (step_of(true), step_of(false));
        let is_one_of_two = |a: usize, b: usize| table[a][b] == if a & b != 0 { yes } else { no };
        let two_steps = (1..size).all(|a| (1..size).all(|b| is_one_of_two(a, b))).then_some((yes, no));
        Some(DifferenceScoring {
            size,
            table,
            weight,
            next,
            opening,
            border_opening,
            border_step,
            own_ends,
            greatest_step,
            has_raised,
            two_steps,
        })
    }

    /// Returns the number of codes, including [`crate::seq::PAD`].
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the symmetric table of steps. The row and the column of [`crate::seq::PAD`] make
    /// padded cells, which come first, repeat the border, as [`super::OffsetScoring::table`]
    /// explains.
    pub fn table(&self) -> &[[E; STEPS]] {
        &self.table
    }

    /// Returns the change of the value by a diagonal step of two real symbols.
    #[inline(always)]
    pub fn step(&self, a: Code, b: Code) -> i64 {
        self.step_value(self.table[a as usize][b as usize])
    }

    /// Returns the change of the value by a step of the table.
    #[inline(always)]
    pub fn step_value(&self, step: E) -> i64 {
        if self.opening == 0 { step.unsigned() } else { step.number() }
    }

    /// Returns the step of two real codes that share a bit, and the step of two that share none, if
    /// there are only these two steps.
    pub fn two_steps(&self) -> Option<(E, E)> {
        self.two_steps
    }

    /// Returns the maximum increase of the value from one cell to the next.
    pub fn greatest_step(&self) -> i64 {
        self.greatest_step
    }

    /// Returns whether the canonical alignment can be reconstructed from differences, even from a
    /// part of the matrix without the cells to its left. The canonical alignment has the most
    /// matches, so matches must be counted. No step may have been raised to the cost of two gaps,
    /// because it would then tie with them. Without the cells to the left, z, e and f can exceed
    /// the greatest step by the opening: the neighbour that the step would come from is then
    /// reached by a gap that opens in the row above.
    pub fn determines_alignments(&self) -> bool {
        let holds = self.opening == 0 || self.greatest_step + self.opening <= E::MAX;
        self.weight > 1 && !self.has_raised && holds
    }

    /// Returns whether the differences fit if only a part of the matrix is computed. Cells outside
    /// the part are then reached only by gaps that open at its border, so an alignment that is
    /// shifted by a diagonal step may need two more openings.
    pub fn fits_bands(&self) -> bool {
        self.opening == 0 || self.greatest_step + 2 * self.opening <= E::MAX
    }

    /// Returns the cost of opening a gap, which is 0 under linear gaps.
    pub fn opening(&self) -> i64 {
        self.opening
    }

    /// Returns whether end gaps have costs of their own.
    pub fn own_ends(&self) -> bool {
        self.own_ends
    }

    /// Returns the value of the border after `symbols` real symbols. A gap of `symbols` symbols at
    /// the end adds the same value, including its offset.
    pub fn border_value(&self, symbols: usize) -> i64 {
        if symbols == 0 { 0 } else { self.border_opening + self.border_step * symbols as i64 }
    }

    /// Returns the change of the border's value by its `symbols`-th real symbol. It is 0 within the
    /// padding (`symbols` 0).
    pub fn border_difference(&self, symbols: usize) -> E {
        E::from_number(if symbols == 0 { 0 } else { self.border_value(symbols) - self.border_value(symbols - 1) })
    }

    /// Returns the difference between the corner's value and the value of the padding before it,
    /// which is the border's value without a symbol ([`super::OffsetScoring::table`]). It is 0 if
    /// end gaps cost as much as inner gaps.
    pub fn corner_difference(&self) -> E {
        E::from_number(if self.own_ends { -self.border_opening } else { 0 })
    }

    /// Returns the change of the value by every real symbol along the padding, and along the border
    /// by each but the first.
    pub fn border_step(&self) -> i64 {
        self.border_step
    }

    /// Restores a dv or dh whose low bits were stored. It is at least `-opening`.
    #[inline(always)]
    pub fn difference(&self, stored: E) -> i64 {
        E::from_number(stored.number().wrapping_add(self.opening)).unsigned() - self.opening
    }

    /// Returns the score and, if counted, the matches of a pair's final value.
    pub fn decode(&self, value: i64, query_symbols: u32, target_symbols: u32) -> (i64, Option<u64>) {
        let offset = self.next * (query_symbols as i64 + target_symbols as i64);
        let score = value.div_euclid(self.weight) - offset;
        (score, (self.weight > 1).then(|| value.rem_euclid(self.weight) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{EndGaps, Gaps};

    fn scoring(gaps: Gaps, end_gaps: EndGaps) -> Scoring {
        Scoring { gaps, end_gaps, ..Scoring::dna() }
    }

    #[test]
    fn integer_widths_follow_the_bounds() {
        let linear = scoring(Gaps::linear(10), EndGaps::Charged);
        // Steps are at most 25 for any length. With matches, 26 times L + 1 must fit 16 unsigned
        // bits: 25 (L + 1) + 1 <= 65534.
        assert!(DifferenceScoring::<i8>::new(&linear, u32::MAX as u64, false).is_some());
        assert!(DifferenceScoring::<i8>::new(&linear, 100, true).is_none());
        assert!(DifferenceScoring::<i16>::new(&linear, 2_620, true).is_some());
        assert!(DifferenceScoring::<i16>::new(&linear, 2_621, true).is_none());
        assert!(DifferenceScoring::<i32>::new(&linear, 50_000_000, true).is_some());
        // Affine gaps, 10 + k: the least number that is compared is -20 (L + 1).
        let affine = scoring(Gaps::from_blast(10, 1), EndGaps::Charged);
        assert!(DifferenceScoring::<i16>::new(&affine, 1_637, true).is_some());
        assert!(DifferenceScoring::<i16>::new(&affine, 1_638, true).is_none());
        assert!(DifferenceScoring::<i8>::new(&scoring(Gaps::from_blast(70, 1), EndGaps::Charged), 1, false).is_none());
    }

    #[test]
    fn values_decode_to_score_and_matches() {
        let form = DifferenceScoring::<i32>::new(&scoring(Gaps::linear(10), EndGaps::Charged), 100, true).unwrap();
        let (a, c) = (1, 2);
        let value = form.table()[a][a].number() + form.table()[a][c].number();
        assert_eq!(form.decode(value, 2, 2), (1, Some(1)));
        assert_eq!(form.decode(form.border_value(1), 1, 0), (-10, Some(0)));
        let free = DifferenceScoring::<i8>::new(&scoring(Gaps::from_blast(10, 1), EndGaps::Free), 9, false).unwrap();
        assert_eq!(free.decode(free.border_value(7), 7, 0), (0, None));
        let ends = EndGaps::Priced(Gaps::from_blast(2, 1));
        let priced = DifferenceScoring::<i8>::new(&scoring(Gaps::from_blast(20, 2), ends), 9, false).unwrap();
        assert_eq!(priced.decode(priced.border_value(7), 7, 0), (-9, None));
        assert_eq!([1, 2, 3].map(|k| priced.border_difference(k)), [-1, 1, 1]);
        assert_eq!((priced.corner_difference(), priced.border_step()), (2, 1));
        // This opening does not fit 8 bits.
        let ends = EndGaps::Priced(Gaps { first: 130, next: 0 });
        let inner = Gaps { first: 130, next: 120 };
        assert!(DifferenceScoring::<i8>::new(&scoring(inner, ends), 9, false).is_none());
        assert!(DifferenceScoring::<i16>::new(&scoring(inner, ends), 9, false).is_some());
    }
}
