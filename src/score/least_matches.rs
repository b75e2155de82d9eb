//! A lower bound on the matches of a best alignment, from its identity and from a lower bound on its
//! score.
//!
//! If end gaps cost little, the best alignment of two unrelated sequences may have an overlap of a few
//! columns. If the sequences have an alignment with a good score, the best alignment scores at least
//! as much, and a short overlap cannot score that much.
//!
//! # Why the bound holds
//!
//! Take a best alignment of m and n symbols with score S, M matches, X mismatches and G gap columns,
//! so that `m + n = 2 M + 2 X + G`. Let p and q be the greatest scores of a match and of a mismatch.
//! An end gap of k symbols costs `opening + next k`, and an inner gap of k symbols costs at least as
//! much. If the lengths differ, there is at least one gap. So
//!
//! ```text
//! S  <=  p M + q X - next G - opening [m != n]
//!
//! S + next (m + n) + opening [m != n]  <=  (p + 2 next) M + (q + 2 next) X                       (1)
//! ```
//!
//! Let t be the required identity and k = (1 - t) / t. Each definition of identity bounds X:
//!
//! - Definition 0, M / min(m, n) >= t, where M + X <= min(m, n): X <= (1 - t) min(m, n) <= k M.
//! - Definitions 1 and 4, M / (M + X + G) >= t: X <= k M.
//! - Definition 2, M / (M + X + G - E) >= t with E <= G columns in end gaps: X <= k M.
//! - Definition 3, X plus the number of gaps is at most (1 - t) max(m, n).
//!
//! So (1) still holds if X is replaced by its bound where q + 2 next is positive, and by 0 where it is
//! not. The left side grows with S, so (1) also holds for every lower bound on S. It is then solved
//! for M. Two definitions also bound M by the lengths alone:
//!
//! - Definition 0: M >= t min(m, n).
//! - Definitions 1 and 4: M + X <= min(m, n), so M + X + G = m + n - (M + X) >= max(m, n), and M >= t
//!   max(m, n).
//!
//! Nothing follows for local alignments, whose score does not depend on unaligned symbols.

use super::gaps::{Gaps, Mode};
use super::identity::IdentityDefinition;
use super::scoring::Scoring;

/// Absolute tolerance of numbers of matches, and the relative one. Both exceed rounding errors.
const SLACK: [f64; 2] = [1e-6, 1e-9];

/// A lower bound on the matches of best alignments that reach an identity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastMatches {
    definition: IdentityDefinition,
    identity: f64,
    /// p + 2 next of the module documentation; positive.
    per_match: f64,
    /// q + 2 next, or 0 if it is negative.
    per_mismatch: f64,
    ends: Gaps,
}

impl LeastMatches {
    /// Returns the bound for best alignments with at least this identity, a fraction. Returns `None`
    /// if nothing follows: for local alignments, for an identity of 0, and if no match can improve a
    /// score.
    pub fn new(definition: IdentityDefinition, identity: f64, scoring: &Scoring) -> Option<Self> {
        if scoring.mode == Mode::Local || !(identity > 0.0 && identity <= 1.0) {
            return None;
        }
        let ends = scoring.end_costs();
        let greatest = |is_match: bool| {
            let score = scoring.substitution.range(is_match).map_or(0, |(_, high)| high);
            f64::from(score) + 2.0 * f64::from(ends.next)
        };
        let (per_match, per_mismatch) = (greatest(true), greatest(false).max(0.0));
        (per_match > 0.0).then_some(LeastMatches { definition, identity, per_match, per_mismatch, ends })
    }

    /// Returns a lower bound on the matches of a best alignment of `m` and `n` symbols that reaches
    /// the identity. The best score is at least `score`.
    ///
    /// ```
    /// use pairwave::score::{IdentityDefinition, LeastMatches, NamedScheme};
    /// use pairwave::Alphabet;
    ///
    /// let vsearch = NamedScheme::find("vsearch").unwrap().scoring(Alphabet::Dna)?;
    /// let bound = LeastMatches::new(IdentityDefinition::InnerColumns, 1.0, &vsearch).unwrap();
    /// // A match gains 2 for its score and 2 for the symbols that are not in end gaps.
    /// assert_eq!(bound.matches(-1000, 1500, 1500), (3000 - 1000) / 4);
    /// assert_eq!(bound.matches(-3002, 1500, 1500), 0);
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    pub fn matches(&self, score: i64, m: u32, n: u32) -> u64 {
        let (shorter, longer) = (f64::from(m.min(n)), f64::from(m.max(n)));
        let opening = if m == n { 0 } else { i64::from(self.ends.opening()) };
        let gain = (score + i64::from(self.ends.next) * (i64::from(m) + i64::from(n)) + opening) as f64;
        let mismatches_per_match = (1.0 - self.identity) / self.identity;
        let by_score = gain / (self.per_match + mismatches_per_match * self.per_mismatch);
        let least = match self.definition {
            IdentityDefinition::Shorter => by_score.max(self.identity * shorter),
            IdentityDefinition::Columns | IdentityDefinition::Blast => by_score.max(self.identity * longer),
            IdentityDefinition::InnerColumns => by_score,
            IdentityDefinition::Mbl => (gain - (1.0 - self.identity) * longer * self.per_mismatch) / self.per_match,
        };
        (least * (1.0 - SLACK[1]) - SLACK[0]).ceil().max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle;
    use crate::score::{Ambiguity, EndGaps, NamedScheme, SCHEMES, SubstitutionMatrix};
    use crate::seq::{Alphabet, Code};

    /// Returns all named schemes and some random ones, with ties between scores and gap costs.
    fn schemes(random: &mut fastrand::Rng) -> Vec<Scoring> {
        let named =
            |scheme: &NamedScheme| [Alphabet::Dna, Alphabet::Protein].map(|alphabet| scheme.scoring(alphabet).ok());
        let mut all: Vec<Scoring> = SCHEMES.iter().flat_map(named).flatten().collect();
        let blosum = SubstitutionMatrix::built_in("BLOSUM62").unwrap();
        for number in 0..60 {
            let next = random.i32(0..5);
            let gaps = Gaps { first: next + random.i32(0..9), next };
            let end_next = random.i32(0..=next);
            let end_gaps = match random.u8(..3) {
                0 => EndGaps::Free,
                1 => EndGaps::Charged,
                _ => EndGaps::Priced(Gaps { first: random.i32(end_next..=gaps.first), next: end_next }),
            };
            let rules = [Ambiguity::Overlap, Ambiguity::Mismatch, Ambiguity::Zero, Ambiguity::Mean];
            let match_score = random.i32(1..6);
            all.push(match number % 6 {
                0 => Scoring::matrix(Alphabet::Protein, &blosum, gaps, end_gaps).unwrap(),
                _ => {
                    let mismatch = random.i32(-6..=match_score.min(2));
                    Scoring::nucleotide(match_score, mismatch, rules[random.usize(..4)], gaps, end_gaps).unwrap()
                }
            });
        }
        all
    }

    /// Returns two sequences that are related, overlap, or contain one another.
    fn pair(random: &mut fastrand::Rng, alphabet: Alphabet) -> [Vec<Code>; 2] {
        let ambiguous = random.bool();
        let code = |random: &mut fastrand::Rng| match alphabet {
            Alphabet::Dna if ambiguous && random.u8(..8) == 0 => random.u8(1..16),
            Alphabet::Dna => 1 << random.u8(..4),
            _ => random.u8(1..24),
        };
        let length = random.usize(..40);
        let one: Vec<Code> = (0..length).map(|_| code(random)).collect();
        let (from, to) = (random.usize(..length / 2 + 1), length - random.usize(..length / 3 + 1));
        let mut other = Vec::new();
        let apart = [8, 30, 400][random.usize(..3)];
        for &symbol in &one[from.min(to)..to] {
            match random.u32(..apart) {
                0 => {}
                1 => other.extend([symbol, code(random)]),
                2 => other.push(code(random)),
                _ => other.push(symbol),
            }
        }
        let unlike = [0, 0, 3, 20][random.usize(..4)];
        other.extend((0..unlike).map(|_| code(random)));
        [one, other]
    }

    #[test]
    fn no_best_alignment_has_fewer_matches() {
        let seed = 0x1EA57;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut tested, mut useful, mut exact) = (0, [0; 5], [0; 5]);
        for scoring in schemes(&mut random) {
            for _ in 0..120 {
                let [one, other] = pair(&mut random, scoring.alphabet);
                let (m, n) = (one.len() as u32, other.len() as u32);
                let best = oracle::align(&one, &other, &scoring);
                let counts = best.cigar.counts();
                for (number, definition) in IdentityDefinition::ALL.into_iter().enumerate() {
                    let identity = definition.identity(&counts, m, n);
                    let Some(bound) = LeastMatches::new(definition, identity, &scoring) else { continue };
                    let least = bound.matches(best.score, m, n);
                    assert!(
                        least <= counts.matches,
                        "{definition:?} {identity}: {least} of {:?} with {scoring:?} for {one:?} {other:?}",
                        best.cigar
                    );
                    let lower = best.score - random.i64(0..20);
                    assert!(bound.matches(lower, m, n) <= least);
                    tested += 1;
                    useful[number] += usize::from(least > 0);
                    exact[number] += usize::from(least == counts.matches && least > 0);
                }
            }
        }
        println!("{tested} tested, {useful:?} above 0, {exact:?} exact");
        // A bound that is one higher would exceed the matches of the exact pairs, and a bound that is
        // one lower would be exact for none.
        assert!(tested > 20_000 && useful.iter().all(|&count| count > 3_000), "{tested} {useful:?}");
        assert!(exact.iter().all(|&count| count > 500), "{exact:?}");
    }

    #[test]
    fn nothing_follows_from_local_scores_or_without_identity() {
        let dna = Scoring::dna();
        let of = |identity, scoring: &Scoring| LeastMatches::new(IdentityDefinition::InnerColumns, identity, scoring);
        assert!(of(0.97, &dna).is_some());
        assert_eq!(of(0.0, &dna), None);
        assert_eq!(of(f64::NAN, &dna), None);
        assert_eq!(of(0.97, &Scoring { mode: Mode::Local, ..dna.clone() }), None);
        let worthless = Scoring::nucleotide(0, -1, Ambiguity::Overlap, Gaps::linear(2), EndGaps::Free).unwrap();
        assert_eq!(of(0.97, &worthless), None);
    }

    #[test]
    fn mismatches_that_gain_score_weaken_the_bound() {
        // Mismatches score -1 and save two gap symbols of 2, so each gains 3. A match gains 7.
        let gains = Scoring::nucleotide(3, -1, Ambiguity::Overlap, Gaps::linear(2), EndGaps::Charged).unwrap();
        let bound = |definition| LeastMatches::new(definition, 0.5, &gains).unwrap();
        // At an identity of 1/2, there is at most one mismatch per match: 7 M + 3 M >= 40 + 60.
        assert_eq!(bound(IdentityDefinition::InnerColumns).matches(40, 15, 15), 10);
        assert_eq!(bound(IdentityDefinition::InnerColumns).matches(41, 15, 15), 11);
        // At most 7.5 mismatches: 7 M >= 40 + 60 - 22.5.
        assert_eq!(bound(IdentityDefinition::Mbl).matches(40, 15, 15), 12);
        assert_eq!(bound(IdentityDefinition::Shorter).matches(-60, 15, 17), 8);
        assert_eq!(bound(IdentityDefinition::Columns).matches(-60, 15, 17), 9);
    }
}
