//! A complete scoring scheme: what engines, oracles and verification all take.

use super::gaps::{EndGaps, Gaps, Mode};
use super::matrix::SubstitutionMatrix;
use super::substitution::{MAX_SCORE, STEPS, Substitution};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, Code};

/// How an ambiguous DNA code (N, R, ...) meets another code under match/mismatch scoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ambiguity {
    /// Two codes match if their sets of bases meet: they score as a match and count as one.
    #[default]
    Overlap,
    /// Two codes match only if they are the same unambiguous base; all else scores as a mismatch and counts as one.
    Mismatch,
    /// A pair with an ambiguous code scores 0; it counts as a match if the sets meet (what vsearch does).
    Zero,
    /// Two codes whose sets meet score as one match and k - 1 mismatches on average, where k is the number of bases of the
    /// code that has more: `(match + (k - 1) * mismatch) / k`, rounded, halves away from 0. Others score as a mismatch. Only
    /// the same code, ambiguous or not, counts as a match (what BLASTN does, `BlastScoreBlkNuclMatrixCreate`).
    Mean,
}

/// A scoring scheme. The order of alignments under it, everywhere in pairwave: the greater score first, among equal
/// scores the one with more matches, and among those the one that the traceback rule of [`crate::trace`] finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scoring {
    /// The alphabet of both sequences.
    pub alphabet: Alphabet,
    /// Scores of pairs of symbols.
    pub substitution: Substitution,
    /// Costs of gaps.
    pub gaps: Gaps,
    /// What end gaps cost; of no account in local alignments.
    pub end_gaps: EndGaps,
    /// What is aligned.
    pub mode: Mode,
}

impl Scoring {
    /// Checks that every code has a row in the tables of scores. Engines and the traceback index them unchecked.
    ///
    /// # Errors
    /// [`Error::Usage`] with the first code that has none.
    pub fn check_codes(&self, codes: &[Code]) -> Result<()> {
        let size = self.substitution.size();
        // A maximum is a few instructions for many codes; a search is not.
        if codes.iter().fold(0, |greatest, &code| greatest.max(code)) as usize >= size {
            let code = codes.iter().find(|&&code| code as usize >= size).expect("the greatest is one");
            return Err(Error::usage(format!("code {code} has no score: the scheme has {size} codes")));
        }
        Ok(())
    }

    /// Checks the same of every code of an alphabet, and that the tables of the engines have room for it.
    ///
    /// # Errors
    /// [`Error::Usage`] if they have not.
    pub fn check_alphabet(&self, alphabet: Alphabet) -> Result<()> {
        let (codes, size) = (alphabet.size(), self.substitution.size());
        if codes > size.min(STEPS) {
            let message = format!("{} have {codes} codes, and the scheme has {size}", alphabet.letters());
            return Err(Error::usage(message));
        }
        Ok(())
    }

    /// The default for DNA and RNA: match +5, mismatch -4, a gap of k symbols 20 + 5 k, at the ends 3 k, and a code matches
    /// another if their sets of bases meet. The scores are those of EDNAFULL for bases. The gap costs are ours: of pairs that
    /// a curated alignment of 16S genes has at 97% identity they lose fewer than other schemes (docs/scores.md).
    pub fn dna() -> Self {
        let (gaps, end_gaps) = (Gaps::from_blast(20, 5), EndGaps::Priced(Gaps::linear(3)));
        Self::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).expect("the defaults are valid")
    }

    /// As [`Scoring::dna`], but every gap symbol costs 10 and end gaps are charged: linear, as Truong et al. 2014 (equation
    /// 1) align 16S genes (the amount is ours: they give none). Faster, and worse where sequences overhang.
    pub fn truong() -> Self {
        Self::nucleotide(5, -4, Ambiguity::Overlap, Gaps::linear(10), EndGaps::Charged).expect("the scheme is valid")
    }

    /// The default for proteins: BLOSUM62 and BLAST's gap costs of 11 + k, end gaps charged.
    pub fn protein() -> Self {
        let blosum62 = SubstitutionMatrix::built_in("BLOSUM62").expect("BLOSUM62 is built in");
        Self::matrix(Alphabet::Protein, &blosum62, Gaps::from_blast(11, 1), EndGaps::Charged)
            .expect("the defaults are valid")
    }

    /// The costs of an end gap.
    pub fn end_costs(&self) -> Gaps {
        self.end_gaps.costs(self.gaps)
    }

    /// Whether end gaps have costs of their own. If not, they cost what inner gaps cost, and every best alignment ends in
    /// the corner of the matrix.
    pub fn has_own_ends(&self) -> bool {
        self.end_costs() != self.gaps
    }

    /// Match/mismatch scores for DNA and RNA.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the field, if `match_score` is below `mismatch_score`, a gap cost is negative, a
    /// gap's first symbol costs less than the next, an end gap's symbol costs more than an inner one's, or a number is
    /// beyond [`MAX_SCORE`].
    pub fn nucleotide(
        match_score: i32,
        mismatch_score: i32,
        ambiguity: Ambiguity,
        gaps: Gaps,
        end_gaps: EndGaps,
    ) -> Result<Self> {
        within_bounds(match_score).map_err(|wrong| Error::usage_value("match_score", match_score, wrong))?;
        within_bounds(mismatch_score).map_err(|wrong| Error::usage_value("mismatch_score", mismatch_score, wrong))?;
        if match_score < mismatch_score {
            return Err(Error::usage_value(
                "match_score",
                match_score,
                format!("it is below `mismatch_score` {mismatch_score}; a match must score at least as much"),
            ));
        }
        let alphabet = Alphabet::Dna;
        let unambiguous = |a, b| alphabet.is_unambiguous(a) && alphabet.is_unambiguous(b);
        let substitution = Substitution::from_fn(alphabet, |a, b| {
            let meet = a & b != 0;
            let by = |is_match| if is_match { match_score } else { mismatch_score };
            match ambiguity {
                Ambiguity::Overlap => (by(meet), meet),
                Ambiguity::Mismatch => {
                    let is_match = meet && unambiguous(a, b);
                    (by(is_match), is_match)
                }
                Ambiguity::Zero => (if unambiguous(a, b) { by(meet) } else { 0 }, meet),
                Ambiguity::Mean if meet => {
                    (mean(match_score, mismatch_score, a.count_ones().max(b.count_ones())), a == b)
                }
                Ambiguity::Mean => (mismatch_score, false),
            }
        });
        Self::checked(alphabet, substitution, gaps, end_gaps)
    }

    /// Scores from a matrix. Two proteins' letters match if they are the same letter; two DNA codes match if their
    /// sets of bases meet.
    ///
    /// # Errors
    /// [`Error::Usage`] if the matrix is not for this alphabet, or for gap costs as in [`Scoring::nucleotide`].
    pub fn matrix(alphabet: Alphabet, matrix: &SubstitutionMatrix, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        Self::checked(alphabet, matrix.substitution(alphabet)?, gaps, end_gaps)
    }

    /// The same scores with other costs of gaps.
    ///
    /// # Errors
    /// [`Error::Usage`] for gap costs as in [`Scoring::nucleotide`].
    pub fn with_gaps(self, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        let mode = self.mode;
        Ok(Scoring { mode, ..Self::checked(self.alphabet, self.substitution, gaps, end_gaps)? })
    }

    /// Returns the same scheme with the score of every pair of symbols multiplied; costs of gaps stay as they are.
    ///
    /// # Errors
    /// [`Error::Usage`] if a score is beyond [`MAX_SCORE`] then.
    pub fn times(self, factor: i32) -> Result<Self> {
        let once = self.substitution;
        let greatest = once.max_score().abs().max(once.min_score().abs());
        if i64::from(greatest) * i64::from(factor) > i64::from(MAX_SCORE) {
            let message = format!("its scores times {factor}, as the scheme has them, are beyond {MAX_SCORE}");
            return Err(Error::usage_of("matrix", message));
        }
        let score = |a, b| (factor * once.score(a, b), once.is_match(a, b));
        let substitution = Substitution::from_fn(self.alphabet, score);
        Ok(Scoring { substitution, ..self })
    }

    fn checked(alphabet: Alphabet, substitution: Substitution, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        let Gaps { first, next } = gaps;
        if first < 0 || next < 0 {
            let cost = first.min(next);
            return Err(Error::usage_of(
                "gaps",
                format!("these are costs that are subtracted, so a gap's symbol cannot cost {cost}"),
            ));
        }
        if first < next {
            return Err(Error::usage_of(
                "gaps",
                format!("a gap's first symbol costs {first}, less than each further one, {next}"),
            ));
        }
        within_bounds(next).map_err(|wrong| Error::usage_value("gaps.next", next, wrong))?;
        within_bounds(first).map_err(|wrong| Error::usage_value("gaps.first", first, wrong))?;
        if let EndGaps::Priced(ends) = end_gaps {
            check_ends(ends, gaps)?;
        }
        Ok(Scoring { alphabet, substitution, gaps, end_gaps, mode: Mode::Global })
    }
}

/// Whether end gaps of such costs are what engines take them to be: `0 <= next <= first`, and neither above that of inner
/// gaps.
fn check_ends(ends: Gaps, inner: Gaps) -> Result<()> {
    let Gaps { first, next } = ends;
    if next < 0 || first < next {
        return Err(Error::usage_of(
            "end_gaps",
            format!(
                "these are costs that are subtracted, and not negative: an end gap's first symbol costs {first}, each \
                 further one {next}"
            ),
        ));
    }
    if first > inner.first {
        let wrong =
            format!("an end gap's first symbol must not cost more than an inner gap's, which costs {}", inner.first);
        return Err(Error::usage_value("end_gaps.first", first, wrong));
    }
    if next > inner.next {
        let wrong =
            format!("an end gap's further symbols must not cost more than an inner gap's, which cost {}", inner.next);
        return Err(Error::usage_value("end_gaps.next", next, wrong));
    }
    Ok(())
}

/// The mean of a match and `bases - 1` mismatches, rounded, halves away from 0.
fn mean(match_score: i32, mismatch_score: i32, bases: u32) -> i32 {
    let bases = bases as i32;
    let sum = match_score + (bases - 1) * mismatch_score;
    // In whole numbers: half of the divisor is added away from 0, and the rest cut off.
    (2 * sum + sum.signum() * bases) / (2 * bases)
}

/// Says what is wrong with a number that is too large.
fn within_bounds(value: i32) -> Result<(), String> {
    match (-MAX_SCORE..=MAX_SCORE).contains(&value) {
        true => Ok(()),
        false => Err(format!("out of range; at most {MAX_SCORE} up or down")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_and_match(ambiguity: Ambiguity, a: u8, b: u8) -> (i32, bool) {
        let scoring = Scoring::nucleotide(5, -4, ambiguity, Gaps::linear(10), EndGaps::Charged).unwrap();
        let code = |letter| Alphabet::Dna.encode(letter).unwrap();
        (scoring.substitution.score(code(a), code(b)), scoring.substitution.is_match(code(a), code(b)))
    }

    #[test]
    fn each_choice_of_ambiguity_scores_as_it_says() {
        use Ambiguity::{Mean, Mismatch, Overlap, Zero};
        for (a, b, overlap, mismatch, zero, mean) in [
            (b'A', b'A', (5, true), (5, true), (5, true), (5, true)),
            (b'A', b'C', (-4, false), (-4, false), (-4, false), (-4, false)),
            (b'U', b'T', (5, true), (5, true), (5, true), (5, true)),
            (b'A', b'N', (5, true), (-4, false), (0, true), (-2, false)),
            (b'N', b'N', (5, true), (-4, false), (0, true), (-2, true)),
            (b'A', b'Y', (-4, false), (-4, false), (0, false), (-4, false)),
            (b'R', b'Y', (-4, false), (-4, false), (0, false), (-4, false)),
            (b'R', b'S', (5, true), (-4, false), (0, true), (1, false)),
            (b'U', b'K', (5, true), (-4, false), (0, true), (1, false)),
            (b'R', b'R', (5, true), (-4, false), (0, true), (1, true)),
            (b'R', b'V', (5, true), (-4, false), (0, true), (-1, false)),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                assert_eq!(score_and_match(Overlap, a, b), overlap);
                assert_eq!(score_and_match(Mismatch, a, b), mismatch);
                assert_eq!(score_and_match(Zero, a, b), zero);
                assert_eq!(score_and_match(Mean, a, b), mean);
            }
        }
    }

    #[test]
    fn means_are_rounded_away_from_zero() {
        // -1/2, -4/3, -5/3, -3/4, 1/2, 3/2, 0, and numbers that need no rounding.
        for (scores, bases, rounded) in [
            ((2, -3), 2, -1),
            ((2, -3), 3, -1),
            ((1, -3), 3, -2),
            ((3, -2), 4, -1),
            ((5, -4), 2, 1),
            ((7, -4), 2, 2),
            ((1, -1), 2, 0),
            ((2, -3), 1, 2),
            ((1_000_000, -1_000_000), 4, -500_000),
        ] {
            assert_eq!(mean(scores.0, scores.1, bases), rounded, "{scores:?} {bases}");
        }
    }

    #[test]
    fn defaults() {
        let dna = Scoring::dna();
        assert_eq!((dna.substitution.max_score(), dna.substitution.min_score()), (5, -4));
        assert_eq!((dna.gaps, dna.end_costs()), (Gaps { first: 25, next: 5 }, Gaps { first: 3, next: 3 }));
        let linear = Scoring { gaps: Gaps { first: 10, next: 10 }, end_gaps: EndGaps::Charged, ..dna };
        assert_eq!(Scoring::truong(), linear);
        let protein = Scoring::protein();
        assert_eq!((protein.substitution.max_score(), protein.substitution.min_score()), (11, -4));
        assert_eq!(protein.gaps, Gaps { first: 12, next: 1 });
    }

    #[test]
    fn wrong_numbers_name_their_field() {
        let make = |a, b, gaps| Scoring::nucleotide(a, b, Ambiguity::Overlap, gaps, EndGaps::Charged);
        for (result, message) in [
            (make(1_000_001, 0, Gaps::linear(1)), "match_score 1000001"),
            (make(1, i32::MIN, Gaps::linear(1)), "mismatch_score -2147483648"),
            (make(1, 2, Gaps::linear(1)), "match_score 1: it is below `mismatch_score` 2"),
            (make(1, 0, Gaps::linear(-1)), "gaps: these are costs"),
            (make(1, 0, Gaps::from_blast(-1, 5)), "gaps: a gap's first symbol costs 4"),
            (make(1, 0, Gaps::linear(1_000_001)), "gaps.next 1000001"),
            (make(1, 0, Gaps::from_blast(i32::MAX, i32::MAX)), "gaps.next 2147483647"),
            (make(1, 0, Gaps::from_blast(1_000_000, 1)), "gaps.first 1000001"),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().starts_with(message), "{error}");
        }
        make(1_000_000, -1_000_000, Gaps::from_blast(0, 0)).unwrap();
    }

    #[test]
    fn end_gaps_cost_no_more_than_inner_ones() {
        let make = |first, next| {
            let ends = EndGaps::Priced(Gaps { first, next });
            Scoring::nucleotide(2, -4, Ambiguity::Zero, Gaps::from_blast(20, 2), ends)
        };
        for (first, next, part) in [
            (23, 1, "end_gaps.first 23: an end gap's first symbol"),
            (22, 3, "end_gaps.next 3: an end gap's further symbols"),
            (1, 2, "first symbol costs 1, each further one 2"),
            (1, -1, "first symbol costs 1, each further one -1"),
            (-1, -1, "are costs that are subtracted"),
        ] {
            let error = make(first, next).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{error}");
        }
        for (first, next) in [(0, 0), (3, 1), (22, 0), (22, 2), (2, 2)] {
            let scoring = make(first, next).unwrap();
            assert_eq!(scoring.end_costs(), Gaps { first, next });
            assert_eq!(scoring.has_own_ends(), (first, next) != (22, 2));
        }
        assert!(Scoring::dna().has_own_ends() && !Scoring::truong().has_own_ends());
        assert!(Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() }.has_own_ends());
    }
}
