//! Scores as differences between neighbouring cells: narrow numbers for sequences of any length.
//!
//! With the gap-offset transform ([`super::offset`]) V\[i,j\] = H\[i,j\] + next * (i + j), kernels on the CPU do not keep
//! V but how it changes from cell to cell (Suzuki and Kasahara 2018, BMC Bioinformatics 19:45, equations 5 to 8; the
//! transform takes the extension costs out of them):
//!
//! ```text
//! z       = V[i,j]   - V[i-1,j-1] = max(step(a[i], b[j]), e, f)
//! dv[i,j] = V[i,j]   - V[i-1,j]   = z - dh[i-1,j]
//! dh[i,j] = V[i,j]   - V[i,j-1]   = z - dv[i,j-1]
//! e  next = E[i,j+1] - V[i-1,j]   = max(z - opening, e) - dh[i-1,j]
//! f  next = F[i+1,j] - V[i,j-1]   = max(z - opening, f) - dv[i,j-1]
//! ```
//!
//! Under linear gaps `opening` is 0, e is dv\[i,j-1\] and f is dh\[i-1,j\], and no number is negative. Differences are
//! bounded by the scheme alone ([`DifferenceScoring::new`]), so 8 bits serve for scores of any length, and nothing can
//! overflow: there is no rerun. The score is the sum of differences along a path of cells, taken in 64 bits.
//!
//! To carry the matches every score is multiplied by a weight that is greater than any number of matches, and a match
//! adds 1: the greatest sum is the greatest score and, among equal scores, the most matches.

use super::scoring::Scoring;
pub use super::substitution::STEPS;
use crate::seq::Code;

/// An integer that holds a difference.
pub trait Element: bytemuck::Pod + Default + Eq + Ord + std::fmt::Debug + Send + Sync {
    /// Its least and greatest number.
    const MIN: i64;
    /// The greatest number.
    const MAX: i64;
    /// A number that is known to fit (its low bits otherwise).
    fn of(number: i64) -> Self;
    /// The number.
    fn number(self) -> i64;
    /// The number that its bits are without a sign.
    fn unsigned(self) -> i64;
}

macro_rules! elements {
    ($($type:ty, $unsigned:ty;)*) => { $(
        impl Element for $type {
            const MIN: i64 = <$type>::MIN as i64;
            const MAX: i64 = <$type>::MAX as i64;
            fn of(number: i64) -> Self {
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
    edge_opening: i64,
    edge_step: i64,
    own_ends: bool,
    greatest_step: i64,
    has_raised: bool,
    two_steps: Option<(E, E)>,
}

impl<E: Element> DifferenceScoring<E> {
    /// The form for pairs whose shorter sequence has at most `shorter` symbols, with the matches carried if
    /// `carry_matches`. `None` if a difference could be more than an `E` holds.
    ///
    /// Bounds, with `s` the greatest step, `t` the least and `o` the opening, each times the weight. z is at most
    /// `max(s, 2 next)`: an alignment of (i, j) without its last diagonal step and moved by one is one of (i-1, j-1).
    /// z is at least `max(t, -2 o)`, dv and dh at least `-o`, e and f at least `-2 o`, and `z - opening` is the least
    /// number that is compared. What is only added and subtracted may wrap. A step below `-2 o` is never taken, since a
    /// gap in either sequence is better, and is raised to it. End gaps with costs of their own change none of this: a path
    /// without its last diagonal step has no gap that costs more than before, along a border dv and dh are `edge_step`, the
    /// first one less the end gap's opening, which is `-o` at least; only the corner's is that opening
    /// ([`DifferenceScoring::corner_difference`]).
    pub fn new(scoring: &Scoring, shorter: u64, carry_matches: bool) -> Option<Self> {
        // At least 2: a weight of 1 says that there are none.
        let weight = if carry_matches { i64::try_from(shorter.max(1)).ok()?.checked_add(1)? } else { 1 };
        let weighted = |score: i64| i64::try_from(score as i128 * weight as i128).ok();
        let next = scoring.gaps.next as i64;
        let linear = scoring.gaps.is_linear();
        let opening = weighted(scoring.gaps.opening() as i64)?;
        let (ends, own_ends) = (scoring.end_costs(), scoring.has_own_ends());
        let end_opening = weighted(ends.opening() as i64)?;
        let edge_step = weighted(next - ends.next as i64)?;
        let substitution = &scoring.substitution;
        let step = |score: i32| score as i64 + 2 * next;
        let greatest = weighted(step(substitution.max_score()).max(2 * next))?.checked_add(1)?;
        let floor = opening.checked_mul(-2)?;
        let least = weighted(step(substitution.min_score()))?.max(floor).min(-opening);
        let fits = if linear {
            // Compared without a sign.
            greatest <= E::MAX.saturating_mul(2)
        } else {
            greatest.max(end_opening) <= E::MAX && floor >= E::MIN && least.checked_sub(opening)? >= E::MIN
        };
        if !fits {
            return None;
        }
        let size = substitution.size();
        let gap = E::of(if own_ends { edge_step } else { floor });
        let (mut greatest_step, mut has_raised) = (edge_step.max(0), false);
        let mut table = vec![[E::of(floor); STEPS]; size];
        table[0][..size].fill(gap);
        table[0][0] = E::of(0);
        for (a, row) in table.iter_mut().enumerate().skip(1) {
            row[0] = gap;
            for (b, entry) in row[..size].iter_mut().enumerate().skip(1) {
                let score = weighted(step(substitution.score(a as u8, b as u8)))?;
                let is_match = carry_matches && substitution.is_match(a as u8, b as u8);
                let step = score + is_match as i64;
                greatest_step = greatest_step.max(step);
                has_raised |= step < floor;
                *entry = E::of(step.max(floor));
            }
        }
        let edge_opening = -end_opening;
        let step_of = |shares: bool| {
            let mut pairs = (1..size).flat_map(|a| (1..size).map(move |b| (a, b)));
            pairs.find(|(a, b)| (a & b != 0) == shares).map_or(E::of(floor), |(a, b)| table[a][b])
        };
        let (yes, no) = (step_of(true), step_of(false));
        let is_told = |a: usize, b: usize| table[a][b] == if a & b != 0 { yes } else { no };
        let two_steps = (1..size).all(|a| (1..size).all(|b| is_told(a, b))).then_some((yes, no));
        Some(DifferenceScoring {
            size,
            table,
            weight,
            next,
            opening,
            edge_opening,
            edge_step,
            own_ends,
            greatest_step,
            has_raised,
            two_steps,
        })
    }

    /// Codes, [`crate::seq::PAD`] included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Step of each code against each other one, symmetric. [`crate::seq::PAD`]'s row and column make padded cells, which
    /// are in front, repeat the border, as [`super::OffsetScoring::table`] says.
    pub fn table(&self) -> &[[E; STEPS]] {
        &self.table
    }

    /// By how much two real symbols change the value.
    #[inline(always)]
    pub fn step(&self, a: Code, b: Code) -> i64 {
        self.step_value(self.table[a as usize][b as usize])
    }

    /// By how much a step of the table changes the value.
    #[inline(always)]
    pub fn step_value(&self, step: E) -> i64 {
        if self.opening == 0 { step.unsigned() } else { step.number() }
    }

    /// The steps of two real symbols that share a bit of their codes, and of those that do not, if there are only these two.
    pub fn two_steps(&self) -> Option<(E, E)> {
        self.two_steps
    }

    /// The most that a value can grow by from a cell to the next one.
    pub fn greatest_step(&self) -> i64 {
        self.greatest_step
    }

    /// Whether the canonical alignment can be read from differences, also from those of a part of the matrix to whose left
    /// nothing is known. It is the one with the most matches, so that these have to be carried, and no step may have been
    /// raised to what two gaps cost, which it would then seem to be as good as. Without what lies to the left, z, e and f can
    /// be an opening more than the greatest step: the neighbour that the step would come from is then reached by a gap
    /// that opens in the row above.
    pub fn tells_alignments(&self) -> bool {
        let holds = self.opening == 0 || self.greatest_step + self.opening <= E::MAX;
        self.weight > 1 && !self.has_raised && holds
    }

    /// What opening a gap costs; 0 under linear gaps.
    pub fn opening(&self) -> i64 {
        self.opening
    }

    /// Whether end gaps have costs of their own.
    pub fn own_ends(&self) -> bool {
        self.own_ends
    }

    /// Value of the border after `symbols` real symbols. Also what a gap of so many adds at the end, its offset with it.
    pub fn edge(&self, symbols: usize) -> i64 {
        if symbols == 0 { 0 } else { self.edge_opening + self.edge_step * symbols as i64 }
    }

    /// By how much the border's value changes with its `symbols`-th real symbol; 0 within the padding (`symbols` 0).
    pub fn edge_difference(&self, symbols: usize) -> E {
        E::of(if symbols == 0 { 0 } else { self.edge(symbols) - self.edge(symbols - 1) })
    }

    /// By how much the corner's value is above that of the padding before it, which is the border's without a symbol
    /// ([`super::OffsetScoring::table`]); 0 if end gaps cost what inner gaps cost.
    pub fn corner_difference(&self) -> E {
        E::of(if self.own_ends { -self.edge_opening } else { 0 })
    }

    /// By how much the value changes with every real symbol along padding, and along the border with each but the first.
    pub fn edge_step(&self) -> i64 {
        self.edge_step
    }

    /// What a dv or dh that was stored in its low bits is: it is `-opening` at least.
    #[inline(always)]
    pub fn difference(&self, stored: E) -> i64 {
        E::of(stored.number().wrapping_add(self.opening)).unsigned() - self.opening
    }

    /// The score and, if carried, the matches that a pair's final value holds.
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
    fn widths_hold_what_the_bounds_say() {
        let linear = scoring(Gaps::linear(10), EndGaps::Charged);
        // Steps up to 25, whatever the length; 26 for each of L + 1 in 16 bits without a sign: 25 (L + 1) + 1 <= 65534.
        assert!(DifferenceScoring::<i8>::new(&linear, u32::MAX as u64, false).is_some());
        assert!(DifferenceScoring::<i8>::new(&linear, 100, true).is_none());
        assert!(DifferenceScoring::<i16>::new(&linear, 2_620, true).is_some());
        assert!(DifferenceScoring::<i16>::new(&linear, 2_621, true).is_none());
        assert!(DifferenceScoring::<i32>::new(&linear, 50_000_000, true).is_some());
        // Affine, 10 + k: the least that is compared is -20 (L + 1).
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
        assert_eq!(form.decode(form.edge(1), 1, 0), (-10, Some(0)));
        let free = DifferenceScoring::<i8>::new(&scoring(Gaps::from_blast(10, 1), EndGaps::Free), 9, false).unwrap();
        assert_eq!(free.decode(free.edge(7), 7, 0), (0, None));
        let ends = EndGaps::Priced(Gaps::from_blast(2, 1));
        let priced = DifferenceScoring::<i8>::new(&scoring(Gaps::from_blast(20, 2), ends), 9, false).unwrap();
        assert_eq!(priced.decode(priced.edge(7), 7, 0), (-9, None));
        assert_eq!([1, 2, 3].map(|k| priced.edge_difference(k)), [-1, 1, 1]);
        assert_eq!((priced.corner_difference(), priced.edge_step()), (2, 1));
        // An opening that 8 bits do not hold.
        let ends = EndGaps::Priced(Gaps { first: 130, next: 0 });
        let inner = Gaps { first: 130, next: 120 };
        assert!(DifferenceScoring::<i8>::new(&scoring(inner, ends), 9, false).is_none());
        assert!(DifferenceScoring::<i16>::new(&scoring(inner, ends), 9, false).is_some());
    }
}
