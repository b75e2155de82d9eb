//! Expected scores of local alignments of unrelated sequences, to distinguish significant scores
//! from chance.
//!
//! Chance scores grow with the logarithm of the number of cells as long as a random pair of symbols
//! has a negative mean score and gaps are expensive (Karlin and Altschul 1990; with gaps, Arratia
//! and Waterman 1994). Otherwise they grow with the lengths themselves: the best alignment spans
//! everything and means nothing. No formula decides which case holds for given gap costs. So random
//! sequences of two lengths, with the composition of the given ones, are aligned, and their scores
//! are compared and extrapolated. All random numbers come from a fixed seed.

use super::random::XorShift64;
use super::scoring::Scoring;
use crate::seq::{Alphabet, Code};

/// Lengths of the random sequences, and the number of pairs that are aligned: about 5 million cells
/// in all.
const SHORT: (usize, usize) = (128, 16);
const LONG: (usize, usize) = (1024, 4);
/// Exponent of growth with the lengths above which chance scores are considered to grow linearly.
const LINEAR_GROWTH: f64 = 0.5;
/// Maximum number of symbols that are counted in a sequence. Longer sequences are sampled at
/// regular intervals.
const COUNTED: usize = 1 << 20;

/// Number of occurrences of each code.
#[derive(Debug, Clone)]
pub struct Composition {
    counts: [u64; 256],
    alphabet: Alphabet,
}

impl Composition {
    /// Creates an empty composition.
    pub fn new(alphabet: Alphabet) -> Self {
        Composition { counts: [0; 256], alphabet }
    }

    /// Counts the codes of a sequence.
    pub fn from_codes(alphabet: Alphabet, codes: &[Code]) -> Self {
        let mut composition = Self::new(alphabet);
        composition.add(codes);
        composition
    }

    /// Adds the codes of a further sequence. Ambiguous nucleotide codes are not counted: they come
    /// in runs, while random sequences would spread them.
    pub fn add(&mut self, codes: &[Code]) {
        for &code in codes.iter().step_by(codes.len().div_ceil(COUNTED).max(1)) {
            self.counts[code as usize] += u64::from(self.alphabet != Alphabet::Dna || code.count_ones() == 1);
        }
    }

    /// Returns the number of symbols that were counted.
    pub fn symbols(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the codes that occur, with their relative frequencies.
    fn shares(&self) -> Vec<(Code, f64)> {
        let all = self.symbols() as f64;
        let there = (0..=Code::MAX).zip(self.counts).filter(|&(_, count)| count > 0);
        there.map(|(code, count)| (code, count as f64 / all)).collect()
    }
}

/// The growth of chance scores with the lengths of the sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Growth {
    /// Two random symbols have a mean score of at least 0, so alignments span everything. The value
    /// is the mean score.
    Everything(f64),
    /// Gaps are so cheap that alignments of unrelated sequences continue indefinitely. The value is
    /// the score per symbol of the shorter sequence.
    Linear(f64),
    /// The growth that meaningful local alignments require.
    Logarithmic,
}

/// Chance scores of local alignments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chance {
    mean: f64,
    /// Mean scores of the short and the long random sequences.
    short: f64,
    long: f64,
}

impl Chance {
    /// Estimates the chance scores between sequences of these compositions, in a few hundredths of
    /// a second. Returns `None` if a composition is empty.
    pub fn estimate(scoring: &Scoring, query: &Composition, target: &Composition) -> Option<Self> {
        let (query, target) = (query.shares(), target.shares());
        if query.is_empty() || target.is_empty() {
            return None;
        }
        let pairs = query.iter().flat_map(|a| target.iter().map(move |b| (a, b)));
        let score = |a, b| f64::from(scoring.substitution.score(a, b));
        let mean = pairs.map(|(&(a, p), &(b, q))| p * q * score(a, b)).sum();
        let mut random = XorShift64(0x9e37_79b9_7f4a_7c15);
        let mut score = |(length, pairs): (usize, usize)| {
            let scores = (0..pairs).map(|_| {
                let (query, target) = (random.sequence(&query, length), random.sequence(&target, length));
                local_score(&query, &target, scoring) as f64
            });
            scores.sum::<f64>() / pairs as f64
        };
        Some(Chance { mean, short: score(SHORT), long: score(LONG) })
    }

    /// Returns the kind of growth.
    pub fn growth(&self) -> Growth {
        let longer = LONG.0 as f64 / SHORT.0 as f64;
        if self.mean >= 0.0 {
            Growth::Everything(self.mean)
        } else if self.long > self.short * longer.powf(LINEAR_GROWTH) {
            Growth::Linear(self.long / LONG.0 as f64)
        } else {
            Growth::Logarithmic
        }
    }

    /// Returns the expected score of unrelated sequences of these lengths.
    pub fn score(&self, query: u32, target: u32) -> f64 {
        if self.growth() != Growth::Logarithmic {
            return self.long * f64::from(query.min(target)) / LONG.0 as f64;
        }
        let cells = |length: usize| 2.0 * (length as f64).ln();
        let slope = (self.long - self.short) / (cells(LONG.0) - cells(SHORT.0));
        let further = f64::from(query.max(1)).ln() + f64::from(target.max(1)).ln() - cells(LONG.0);
        (self.long + slope * further).max(0.0)
    }
}

impl XorShift64 {
    /// Returns random codes with these relative frequencies. There must be at least one.
    fn sequence(&mut self, shares: &[(Code, f64)], length: usize) -> Vec<Code> {
        let mut draw = || {
            let mut rest = self.fraction();
            let drawn = shares.iter().find(|&&(_, share)| {
                rest -= share;
                rest < 0.0
            });
            drawn.or(shares.last()).map_or(0, |&(code, _)| code)
        };
        (0..length).map(|_| draw()).collect()
    }
}

/// Returns the score of the best local alignment (Gotoh 1982).
fn local_score(query: &[Code], target: &[Code], scoring: &Scoring) -> i64 {
    // Far below all scores, which are within 2^41 for these lengths.
    const NEG_INF: i64 = i64::MIN / 4;
    let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
    let mut row = vec![(0i64, NEG_INF); target.len()];
    let mut best = 0;
    for &a in query {
        let (mut diagonal, mut left, mut across) = (0, 0, NEG_INF);
        for ((above, down), &b) in row.iter_mut().zip(target) {
            *down = (*above - first).max(*down - next);
            across = (left - first).max(across - next);
            left = (diagonal + i64::from(scoring.substitution.score(a, b))).max(*down).max(across).max(0);
            diagonal = std::mem::replace(above, left);
            best = best.max(left);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle::smith_waterman::score_only;
    use crate::score::{Ambiguity, EndGaps, Gaps, Mode};

    fn scoring(match_score: i32, mismatch: i32, gaps: Gaps) -> Scoring {
        let scoring = Scoring::nucleotide(match_score, mismatch, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
        Scoring { mode: Mode::Local, ..scoring }
    }

    fn uniform() -> Composition {
        Composition::from_codes(Alphabet::Dna, &[1, 2, 4, 8])
    }

    fn estimate(match_score: i32, mismatch: i32, gaps: Gaps) -> Chance {
        Chance::estimate(&scoring(match_score, mismatch, gaps), &uniform(), &uniform()).unwrap()
    }

    #[test]
    fn local_scores_equal_the_textbook_algorithm() {
        let mut random = XorShift64(7);
        let shares = uniform().shares();
        for (m, n) in [(0, 5), (1, 1), (30, 50), (77, 40)] {
            let (query, target) = (random.sequence(&shares, m), random.sequence(&shares, n));
            for scoring in [scoring(5, -4, Gaps::linear(10)), scoring(2, -1, Gaps::from_blast(2, 1))] {
                let expected = score_only(&query, &target, &scoring);
                assert_eq!(local_score(&query, &target, &scoring), expected, "{m} {n}");
            }
        }
    }

    #[test]
    fn growth_is_classified() {
        for (match_score, mismatch, gaps) in [
            (5, -4, Gaps::linear(10)),
            (2, -3, Gaps::from_blast(5, 2)),
            (1, -2, Gaps::linear(3)),
            (2, -4, Gaps::from_emboss(20, 2)),
        ] {
            assert_eq!(estimate(match_score, mismatch, gaps).growth(), Growth::Logarithmic, "{match_score} {gaps:?}");
        }
        for (match_score, mismatch, gaps) in
            [(5, -4, Gaps::linear(6)), (10, -8, Gaps::from_emboss(20, 1)), (1, -1, Gaps::linear(1))]
        {
            let growth = estimate(match_score, mismatch, gaps).growth();
            assert!(matches!(growth, Growth::Linear(rate) if rate > 0.05), "{match_score} {gaps:?}: {growth:?}");
        }
        assert_eq!(estimate(5, -1, Gaps::linear(10)).growth(), Growth::Everything(0.5));
        let blosum = Scoring::protein();
        let all = Composition::from_codes(Alphabet::Protein, &(1..=26).collect::<Vec<_>>());
        assert_eq!(Chance::estimate(&blosum, &all, &all).unwrap().growth(), Growth::Logarithmic);
        assert_eq!(Chance::estimate(&blosum, &all, &Composition::new(Alphabet::Protein)), None);
    }

    /// Without gaps, the score increases by 1 / lambda when the number of cells is multiplied by e.
    #[test]
    fn ungapped_scores_grow_as_karlin_and_altschul_predict() {
        let chance = estimate(5, -4, Gaps::linear(1000));
        let (mut low, mut high) = (1e-3, 1.0);
        for _ in 0..60 {
            let lambda = f64::midpoint(low, high);
            let sum = 0.25 * (5.0 * lambda).exp() + 0.75 * (-4.0 * lambda).exp();
            if sum < 1.0 { low = lambda } else { high = lambda }
        }
        let slope = (chance.score(1 << 20, 1 << 20) - chance.score(1 << 10, 1 << 10)) / (20.0 * 2f64.ln());
        assert!((0.7..1.4).contains(&(slope * low)), "{slope} for lambda {low}");
    }

    #[test]
    fn chance_scores_extrapolate_to_longer_sequences() {
        // These are longer random sequences than the estimate aligns, because they take too long
        // for each run.
        let scoring = scoring(5, -4, Gaps::linear(10));
        let (mut random, shares) = (XorShift64(11), uniform().shares());
        let scores =
            (0..3).map(|_| local_score(&random.sequence(&shares, 4000), &random.sequence(&shares, 4000), &scoring));
        let mean = scores.sum::<i64>() as f64 / 3.0;
        let expected = Chance::estimate(&scoring, &uniform(), &uniform()).unwrap().score(4000, 4000);
        assert!((0.75..1.33).contains(&(expected / mean)), "{expected} for {mean}");
    }

    #[test]
    fn ambiguous_bases_are_not_counted() {
        let composition = Composition::from_codes(Alphabet::Dna, &[1, 15, 15, 3, 8]);
        assert_eq!(composition.shares(), [(1, 0.5), (8, 0.5)]);
    }
}
