//! Edit distance limits that exclude pairs below an identity. A distance takes far fewer operations
//! than a score.
//!
//! Let an alignment have M matches, X mismatches, and gaps with G symbols, E of them in end
//! gaps. Let k = (1 - t) / t for the required identity t. M is at most the shorter length, and m +
//! n = 2 M + 2 X + G.
//!
//! - Definitions 1 and 4, M / (M + X + G) >= t: X + G <= k M. The edit distance is at most X + G.
//! - Definition 0, M / min(m, n) >= t: X + G = m + n - 2 M - X <= |m - n| + 2 (1 - t) min(m, n).
//! - Definition 2, M / (M + X + G - E) >= t: without its end gaps, the alignment covers a part of
//!   each sequence. At least one of these parts starts at the start of its sequence, and at least
//!   one ends at the end of its sequence. Their distance is at most k M, and M is at most the
//!   number of symbols of either sequence up to the end of the parts. Such parts may be short, so
//!   this is useful only if the score bounds E. Let s be the greatest score of two symbols, and -q
//!   the least. The alignment scores at least as much as aligning both sequences without inner
//!   gaps: `-q min(m, n) - opening - next |m - n|`. It scores at most `s (M + X) - next G`. Hence
//!   `G <= |m - n| + 2 ((s + q) min(m, n) + opening) / (s + 2 next)`. The longer sequence has |m -
//!   n| of these symbols more than the shorter one. The shorter one has half of the rest: `((s + q)
//!   min(m, n) + opening) / (s + 2 next)`. Here opening and next are the costs of end gaps. Inner
//!   gaps cost at least as much. The cheaper end gaps are, the shorter an overlap can be the best
//!   alignment of two unrelated sequences, and the weaker the filter is. If it is useless, a lower
//!   bound on the score of a pair can show that its overlap is not short ([`OverlapProof`]).
//! - Definition 3 counts gaps, not their symbols, so no distance bounds it.

use super::edit::{EditMode, EditScheme, Equality, Limit, OverlapReach};
use super::gaps::Mode;
use super::identity::IdentityDefinition;
use super::least_matches::LeastMatches;
use super::scoring::Scoring;

/// Greatest fraction of a sequence that an overlap may leave unaligned for the filter to be useful.
const MAX_UNALIGNED: f64 = 0.9;
/// Fraction of the shorter sequence, as numerator and denominator, that an overlap may leave unaligned
/// if the length of overlaps must be proven for each pair. A greater fraction needs weaker proofs, and
/// q-grams then rule out fewer pairs.
const UNALIGNED_IF_PROVEN: [u32; 2] = [7, 8];

/// A reason why no limit on edit distances is useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditFilterObstacle {
    /// The alignments are local.
    Local,
    /// The identity is 0 or no fraction.
    Identity,
    /// The definition of identity counts gaps, not their symbols.
    CountsGaps,
    /// The definition of identity ignores end gaps, they cost nothing, and no match scores above 0.
    CheapEndGaps,
}

/// A limit on edit distances, and the pairs that it excludes.
#[derive(Debug, Clone, PartialEq)]
pub struct EditLimit {
    /// The distance problem with its limit.
    pub scheme: EditScheme,
    /// The condition for excluding a pair above the limit. `None` if every such pair is excluded.
    pub proof: Option<OverlapProof>,
}

/// A condition for excluding a pair whose overlaps are above the limit: the matches of its best
/// alignment prove that the overlap is among those that the reach admits.
///
/// An overlap that ends after i symbols of one sequence and j of the other has at most i and at most j
/// matches. The reach admits every overlap with `min(i, j) >= min(m, n) - unaligned(min(m, n))`, so
/// that many matches suffice. [`LeastMatches`] derives matches from any lower bound on the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapProof {
    least_matches: LeastMatches,
    reach: OverlapReach,
}

impl OverlapProof {
    /// Returns whether a pair of `m` and `n` symbols whose best score is at least `score` cannot reach
    /// the identity by an overlap beyond the reach.
    pub fn holds(&self, score: i64, m: u32, n: u32) -> bool {
        let shorter = m.min(n);
        let needed = u64::from(shorter).saturating_sub(self.reach.unaligned(shorter, shorter));
        self.least_matches.matches(score, m, n) >= needed
    }
}

/// Returns the distance limit that every best alignment with the identity satisfies, or `None` if
/// no limit is useful for all pairs.
pub fn edit_filter(definition: IdentityDefinition, identity: f64, scoring: &Scoring) -> Option<EditScheme> {
    edit_limit(definition, identity, scoring).ok().filter(|limit| limit.proof.is_none()).map(|limit| limit.scheme)
}

/// Returns the limit for all pairs or for those with a proof, or the reason why there is none.
///
/// # Errors
/// The reason why no limit on edit distances is useful.
pub fn edit_limit(
    definition: IdentityDefinition,
    identity: f64,
    scoring: &Scoring,
) -> Result<EditLimit, EditFilterObstacle> {
    if scoring.mode == Mode::Local {
        return Err(EditFilterObstacle::Local);
    }
    if !(identity > 0.0 && identity <= 1.0) {
        return Err(EditFilterObstacle::Identity);
    }
    let further = (1.0 - identity) / identity;
    let mut proof = None;
    let (mode, limit) = match definition {
        IdentityDefinition::Columns | IdentityDefinition::Blast => (EditMode::Global, Limit::Shorter(further, 0.0)),
        IdentityDefinition::Shorter => (EditMode::Global, Limit::Shorter(2.0 * (1.0 - identity), 1.0)),
        IdentityDefinition::InnerColumns => {
            let reach = match overlap_reach(scoring, further) {
                Some(reach) => reach,
                None => {
                    let least_matches = LeastMatches::new(definition, identity, scoring);
                    let reach = proven_reach(further);
                    proof = least_matches.map(|least_matches| OverlapProof { least_matches, reach });
                    proof.map(|_| reach).ok_or(EditFilterObstacle::CheapEndGaps)?
                }
            };
            (EditMode::Overlap(reach), Limit::Shorter(further, 0.0))
        }
        IdentityDefinition::Mbl => return Err(EditFilterObstacle::CountsGaps),
    };
    Ok(EditLimit { scheme: EditScheme { mode, equality: Equality::from_scoring(scoring), limit }, proof })
}

/// Returns the limits on overlaps whose length must be proven for each pair.
fn proven_reach(further: f64) -> OverlapReach {
    let [shorter, divisor] = UNALIGNED_IF_PROVEN;
    OverlapReach { shorter, constant: 0, divisor, rate: OverlapReach::rate_from_edits(further) }
}

/// Returns the limits on the symbols that a best alignment leaves unaligned, and on the edits per
/// symbol of its parts. Returns `None` if the limit is not useful.
fn overlap_reach(scoring: &Scoring, further: f64) -> Option<OverlapReach> {
    let most = scoring.substitution.max_score().max(0) as u32;
    let least = scoring.substitution.min_score().min(0).unsigned_abs();
    let ends = scoring.end_costs();
    let (opening, next) = (ends.opening() as u32, ends.next as u32);
    let reach = OverlapReach {
        shorter: most + least,
        constant: opening,
        divisor: most + 2 * next,
        rate: OverlapReach::rate_from_edits(further),
    };
    let enough = reach.divisor > 0 && {
        let long = 1 << 20;
        reach.unaligned(long, long) as f64 <= MAX_UNALIGNED * f64::from(long)
    };
    enough.then_some(reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle;
    use crate::score::{Ambiguity, EndGaps, Gaps, NamedScheme, SubstitutionMatrix};
    use crate::seq::{Alphabet, Code};

    #[test]
    fn useless_limits_are_not_used() {
        let of = |definition, scoring: &Scoring| edit_filter(definition, 0.97, scoring).map(|scheme| scheme.mode);
        let linear = Scoring::truong();
        assert_eq!(of(IdentityDefinition::Columns, &linear), Some(EditMode::Global));
        assert_eq!(of(IdentityDefinition::Mbl, &linear), None);
        let inner = of(IdentityDefinition::InnerColumns, &linear);
        assert_eq!(inner, Some(EditMode::Overlap(OverlapReach { shorter: 9, constant: 0, divisor: 25, rate: 2027 })));
        let default = of(IdentityDefinition::InnerColumns, &Scoring::dna());
        assert_eq!(default, Some(EditMode::Overlap(OverlapReach { shorter: 9, constant: 0, divisor: 11, rate: 2027 })));
        let cheap = Scoring { gaps: Gaps::from_blast(10, 2), ..Scoring::truong() };
        assert_eq!(of(IdentityDefinition::InnerColumns, &cheap), None);
        assert_eq!(of(IdentityDefinition::Blast, &cheap), Some(EditMode::Global));
        let free = Scoring { end_gaps: EndGaps::Free, ..linear.clone() };
        assert_eq!(of(IdentityDefinition::InnerColumns, &free), None);
        // End gaps are cheaper than inner gaps. With vsearch's costs, unrelated sequences can
        // overlap by any small length.
        let priced = |inner, ends| Scoring { gaps: inner, end_gaps: EndGaps::Priced(ends), ..linear.clone() };
        let cheap = priced(Gaps::from_emboss(20, 2), Gaps::from_emboss(2, 1));
        assert_eq!(of(IdentityDefinition::InnerColumns, &cheap), None);
        assert_eq!(of(IdentityDefinition::Columns, &cheap), Some(EditMode::Global));
        let dear = priced(Gaps::from_blast(20, 11), Gaps::linear(10));
        assert_eq!(of(IdentityDefinition::InnerColumns, &dear), inner);
    }

    #[test]
    fn schemes_without_a_limit_for_all_pairs_have_one_for_pairs_with_a_proof() {
        let vsearch = NamedScheme::find("vsearch").unwrap().scoring(Alphabet::Dna).unwrap();
        let inner = IdentityDefinition::InnerColumns;
        assert_eq!(edit_filter(inner, 0.97, &vsearch), None);
        let limit = edit_limit(inner, 0.97, &vsearch).unwrap();
        let (proof, EditMode::Overlap(reach)) = (limit.proof.unwrap(), limit.scheme.mode) else { panic!("no overlap") };
        assert_eq!((reach.unaligned(1500, 1500), reach.unaligned(1501, 1500)), (1312, 1313));
        // Ambiguous codes can be mismatches that score 0, and each mismatch saves two gap symbols. So
        // 188 matches follow from a gain above 187 (4 + 2 * 3/97) = 759.6.
        assert!(proof.holds(-3000 + 760, 1500, 1500));
        assert!(!proof.holds(-3000 + 759, 1500, 1500));
        assert!(proof.holds(0, 0, 0));
        for (definition, scoring) in [
            (inner, Scoring::dna()),
            (IdentityDefinition::Columns, vsearch.clone()),
            (IdentityDefinition::Shorter, vsearch.clone()),
        ] {
            assert_eq!(edit_limit(definition, 0.97, &scoring).unwrap().proof, None);
        }
        assert_eq!(edit_limit(IdentityDefinition::Mbl, 0.97, &vsearch), Err(EditFilterObstacle::CountsGaps));
        let worthless = Scoring::nucleotide(0, -1, Ambiguity::Overlap, Gaps::linear(2), EndGaps::Free).unwrap();
        assert_eq!(edit_limit(inner, 0.97, &worthless), Err(EditFilterObstacle::CheapEndGaps));
    }

    /// No pair whose best alignment reaches an identity may exceed the corresponding distance.
    #[test]
    fn no_pair_that_reaches_the_identity_is_excluded() {
        let seed = 0x2545;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut next = |bound: u64| random.u64(..bound);
        let blosum = SubstitutionMatrix::built_in("BLOSUM62").unwrap();
        let schemes = [
            Scoring::dna(),
            Scoring::truong(),
            Scoring { gaps: Gaps::from_blast(10, 2), ..Scoring::truong() },
            Scoring { gaps: Gaps::linear(1), ..Scoring::truong() },
            Scoring { end_gaps: EndGaps::Free, ..Scoring::dna() },
            Scoring { end_gaps: EndGaps::Priced(Gaps::from_blast(7, 3)), ..Scoring::dna() },
            Scoring {
                gaps: Gaps::from_blast(9, 12),
                end_gaps: EndGaps::Priced(Gaps::from_blast(2, 9)),
                ..Scoring::dna()
            },
            Scoring {
                gaps: Gaps::from_emboss(20, 2),
                end_gaps: EndGaps::Priced(Gaps::from_emboss(2, 1)),
                ..Scoring::dna()
            },
            Scoring::nucleotide(1, -1, Ambiguity::Mismatch, Gaps::linear(2), EndGaps::Charged).unwrap(),
            Scoring::matrix(Alphabet::Protein, &blosum, Gaps::linear(9), EndGaps::Charged).unwrap(),
            NamedScheme::find("vsearch").unwrap().scoring(Alphabet::Dna).unwrap(),
            NamedScheme::find("needle").unwrap().scoring(Alphabet::Dna).unwrap(),
            Scoring::protein(),
        ];
        let (mut reached, mut proven) = (0, 0);
        for scoring in &schemes {
            let letters = if scoring.alphabet == Alphabet::Dna { 16 } else { 27 };
            for _ in 0..400 {
                let few = next(2) == 0;
                let code = |next: &mut dyn FnMut(u64) -> u64| match scoring.alphabet {
                    Alphabet::Dna if few || next(9) > 0 => 1 << next(4),
                    _ => 1 + next(letters - 1) as Code,
                };
                let length = next(60) as usize;
                let a: Vec<Code> = (0..length).map(|_| code(&mut next)).collect();
                let (from, to) = (next(length as u64 / 2 + 1) as usize, length - next(length as u64 / 3 + 1) as usize);
                let mut b = Vec::new();
                for &symbol in &a[from.min(to)..to] {
                    match next(30) {
                        0 => {}
                        1 => b.extend([symbol, code(&mut next)]),
                        2 => b.push(code(&mut next)),
                        _ => b.push(symbol),
                    }
                }
                for _ in 0..next(20) {
                    b.push(code(&mut next));
                }
                let best = oracle::align(&a, &b, scoring);
                for definition in IdentityDefinition::ALL {
                    let identity = definition.identity(&best.cigar.counts(), a.len() as u32, b.len() as u32);
                    let Ok(EditLimit { scheme, proof }) = edit_limit(definition, identity, scoring) else { continue };
                    if let Some(proof) = proof {
                        if !proof.holds(best.score, a.len() as u32, b.len() as u32) {
                            continue;
                        }
                        proven += 1;
                    }
                    reached += 1;
                    let distance = crate::edit::oracle::find(&a, &b, &scheme);
                    assert!(distance.is_some(), "{definition:?} {identity}: {:?} {a:?} {b:?} {scheme:?}", best.cigar);
                }
            }
        }
        assert!(reached > 4_000 && proven > 400, "{reached}, {proven} of them with a proof");
    }
}
