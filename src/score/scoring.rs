//! A complete scoring scheme, which engines, oracles and verification share.

use super::gaps::{EndGaps, Gaps, Mode};
use super::matrix::SubstitutionMatrix;
use super::substitution::{MAX_SCORE, STEPS, Substitution};
use crate::error::{Error, Result};
use crate::seq::{Alphabet, Code};

/// The rule for comparing an ambiguous DNA code (N, R, ...) with another code in
/// match/mismatch scoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ambiguity {
    /// Two codes match if their sets of bases intersect. They then score and count as a match.
    #[default]
    Overlap,
    /// Two codes match only if they are the same unambiguous base. All other pairs score and count
    /// as a mismatch.
    Mismatch,
    /// A pair with an ambiguous code scores 0. It counts as a match if the sets of bases intersect
    /// (vsearch's rule).
    Zero,
    /// Two codes whose sets intersect score the mean of one match and k - 1 mismatches, where k is
    /// the greater number of bases of the two codes: `(match + (k - 1) * mismatch) / k`, with
    /// halves rounded away from 0. Other pairs score as a mismatch. Only a pair of equal codes,
    /// ambiguous or not, counts as a match (BLASTN's rule, `BlastScoreBlkNuclMatrixCreate`).
    Mean,
}

/// A scoring scheme. Everywhere in pairwave, it orders alignments by score first, then by the
/// number of matches, and then by the traceback rule of [`crate::trace`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scoring {
    /// The alphabet of both sequences.
    pub alphabet: Alphabet,
    /// Scores of pairs of symbols.
    pub substitution: Substitution,
    /// Costs of inner gaps.
    pub gaps: Gaps,
    /// Costs of end gaps; without effect in local alignments.
    pub end_gaps: EndGaps,
    /// The parts of the sequences that are aligned.
    pub mode: Mode,
}

impl Scoring {
    /// Checks that every code has a row in the score tables. Engines and the traceback index the
    /// tables unchecked.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the greatest code if it has no row.
    pub fn check_codes(&self, codes: &[Code]) -> Result<()> {
        let size = self.substitution.size();
        // Computing a maximum is vectorised, unlike a search.
        let greatest = codes.iter().fold(0, |greatest, &code| greatest.max(code));
        if usize::from(greatest) >= size {
            return Err(Error::usage(format!("code {greatest} has no score: the scheme has {size} codes")));
        }
        Ok(())
    }

    /// Checks that every code of an alphabet has a row in the score tables, and that the engines'
    /// tables have room for it.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a code has no row or no room.
    pub fn check_alphabet(&self, alphabet: Alphabet) -> Result<()> {
        let (codes, size) = (alphabet.size(), self.substitution.size());
        if codes > size.min(STEPS) {
            let message = format!("{} have {codes} codes, and the scheme has {size}", alphabet.letters());
            return Err(Error::usage(message));
        }
        Ok(())
    }

    /// Returns the default for DNA and RNA: match +5, mismatch -4, 20 + 5 k for an inner gap of k
    /// symbols and 3 k for an end gap. Two codes match if their sets of bases intersect. The scores
    /// of bases are EDNAFULL's. The gap costs were chosen for this program. With them, fewer of the
    /// pairs that have 97% identity in a curated alignment of 16S genes are lost than with other
    /// schemes (docs/scores.md).
    pub fn dna() -> Self {
        let (gaps, end_gaps) = (Gaps::from_blast(20, 5), EndGaps::Priced(Gaps::linear(3)));
        Self::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).expect("the defaults are valid")
    }

    /// Returns [`Scoring::dna`] with a cost of 10 for every gap symbol, also in end gaps. Truong et
    /// al. 2014 (equation 1) align 16S genes with linear gaps, but do not report the cost, so it
    /// was chosen for this program. This scheme is faster, but less accurate for overhanging
    /// sequences.
    pub fn truong() -> Self {
        Self::nucleotide(5, -4, Ambiguity::Overlap, Gaps::linear(10), EndGaps::Charged).expect("the scheme is valid")
    }

    /// Returns the default for proteins: BLOSUM62 and BLAST's gap costs of 11 + k, with end gaps
    /// charged.
    pub fn protein() -> Self {
        let blosum62 = SubstitutionMatrix::built_in("BLOSUM62").expect("BLOSUM62 is built in");
        Self::matrix(Alphabet::Protein, &blosum62, Gaps::from_blast(11, 1), EndGaps::Charged)
            .expect("the defaults are valid")
    }

    /// Returns the costs of end gaps.
    pub fn end_costs(&self) -> Gaps {
        self.end_gaps.costs(self.gaps)
    }

    /// Returns whether end gaps cost differently from inner gaps. If not, every best alignment ends
    /// in the corner of the matrix.
    pub fn has_own_ends(&self) -> bool {
        self.end_costs() != self.gaps
    }

    /// Creates a scheme of match/mismatch scores for DNA and RNA.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the field's name if `match_score` is below `mismatch_score`, a
    /// gap cost is negative, a gap's first symbol costs less than the next, an end gap's symbol
    /// costs more than an inner one's, or a number is beyond [`MAX_SCORE`].
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

    /// Creates a scheme from a matrix. Two letters of proteins match if they are the same. Two DNA
    /// codes match if their sets of bases intersect.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the matrix is not for this alphabet, and for the gap costs that
    /// [`Scoring::nucleotide`] refuses.
    pub fn matrix(alphabet: Alphabet, matrix: &SubstitutionMatrix, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        Self::checked(alphabet, matrix.substitution(alphabet)?, gaps, end_gaps)
    }

    /// Replaces the costs of gaps and keeps the scores.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for the gap costs that [`Scoring::nucleotide`] refuses.
    pub fn with_gaps(self, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        let mode = self.mode;
        Ok(Scoring { mode, ..Self::checked(self.alphabet, self.substitution, gaps, end_gaps)? })
    }

    /// Multiplies the score of every pair of symbols. The costs of gaps stay unchanged.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a score is then beyond [`MAX_SCORE`].
    pub fn times(self, factor: i32) -> Result<Self> {
        let once = self.substitution;
        let greatest = once.max_score().abs().max(once.min_score().abs());
        if i64::from(greatest) * i64::from(factor) > i64::from(MAX_SCORE) {
            let message = format!("the scheme multiplies its scores by {factor}, and then they exceed {MAX_SCORE}");
            return Err(Error::usage_of("matrix", message));
        }
        let score = |a, b| (factor * once.score(a, b), once.is_match(a, b));
        let substitution = Substitution::from_fn(self.alphabet, score);
        Ok(Scoring { substitution, ..self })
    }

    /// Gives every pair of DNA codes with an ambiguous code the same score. The pairs that count as
    /// matches stay the same.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the score is beyond [`MAX_SCORE`].
    pub fn with_ambiguous_score(self, score: i32) -> Result<Self> {
        within_bounds(score).map_err(|wrong| Error::usage(format!("score {score} of ambiguous codes: {wrong}")))?;
        let (alphabet, before) = (self.alphabet, self.substitution);
        let is_base = |code| alphabet.is_unambiguous(code);
        let entry = |a, b| (if is_base(a) && is_base(b) { before.score(a, b) } else { score }, before.is_match(a, b));
        Ok(Scoring { substitution: Substitution::from_fn(alphabet, entry), ..self })
    }

    fn checked(alphabet: Alphabet, substitution: Substitution, gaps: Gaps, end_gaps: EndGaps) -> Result<Self> {
        let scoring = Scoring { alphabet, substitution, gaps, end_gaps, mode: Mode::Global };
        scoring.check_gaps()?;
        Ok(scoring)
    }

    /// Checks the costs of gaps. A scheme whose fields were set may have costs that no engine can
    /// compute. Jobs and [`align`](crate::align) refuse it. End gaps have no costs in
    /// [`Mode::Local`].
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for the gap costs that [`Scoring::nucleotide`] refuses.
    pub fn check_gaps(&self) -> Result<()> {
        let Gaps { first, next } = self.gaps;
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
        match self.end_gaps {
            EndGaps::Priced(ends) if self.mode == Mode::Global => check_ends(ends, self.gaps),
            _ => Ok(()),
        }
    }
}

/// Checks that the costs of end gaps meet the engines' assumptions: `0 <= next <= first`, and
/// neither exceeds the inner gaps' cost.
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

/// Returns the mean of a match and `bases - 1` mismatches, with halves rounded away from 0.
fn mean(match_score: i32, mismatch_score: i32, bases: u32) -> i32 {
    let bases = bases as i32;
    let sum = match_score + (bases - 1) * mismatch_score;
    // In integers: adding half of the divisor, away from 0, and truncating rounds the quotient.
    (2 * sum + sum.signum() * bases) / (2 * bases)
}

/// Checks that a number is within [`MAX_SCORE`], and describes the problem if not.
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
    fn ambiguity_rules_score_as_documented() {
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
    fn default_schemes_have_documented_costs() {
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
    fn greatest_code_without_a_score_is_named() {
        let (dna, size) = (Scoring::dna(), Alphabet::Dna.size());
        let error = dna.check_codes(&[1, 17, 40, 2, 18]).unwrap_err();
        assert_eq!(error.to_string(), format!("code 40 has no score: the scheme has {size} codes"));
        dna.check_codes(&[size as Code - 1]).unwrap();
    }

    #[test]
    fn errors_name_the_wrong_field() {
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
    fn expensive_end_gaps_are_refused() {
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
