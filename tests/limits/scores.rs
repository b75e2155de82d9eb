//! Scores and matches with the most extreme schemes.

use super::*;

/// Lengths of zero and one, and around vectors of 4 to 64 lanes.
const LENGTHS: [usize; 18] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65];

/// Returns some of the lengths, always including 0.
fn some_lengths(rng: &mut Rng) -> Vec<usize> {
    [0, 1].into_iter().chain((0..5).map(|_| LENGTHS[rng.below(LENGTHS.len() as u32) as usize])).collect()
}

#[test]
fn extreme_matches_and_gaps_match_textbook() {
    let mut rng = rng(0x11a1);
    for scores in SCORES {
        for gaps in gap_costs() {
            let lengths = some_lengths(&mut rng);
            for scoring in with_ends(|end_gaps| nucleotide(scores, gaps, end_gaps)) {
                check_scores(&family(&mut rng, Alphabet::Dna, &lengths), &scoring);
            }
        }
    }
}

#[test]
fn extreme_tables_match_textbook() {
    let mut rng = rng(0x11a2);
    for sign in [None, Some(1), Some(-1)] {
        for gaps in gap_costs() {
            let lengths = some_lengths(&mut rng);
            for scoring in with_ends(|end_gaps| extreme_table(sign, gaps, end_gaps)) {
                check_scores(&family(&mut rng, Alphabet::Protein, &lengths), &scoring);
            }
        }
    }
}

/// Covers schemes between the extremes, with values of every magnitude.
#[test]
fn random_schemes_match_textbook() {
    let mut rng = rng(0x11a3);
    let below = |rng: &mut Rng, bound: u32| (rng.next_u32() >> rng.below(32)) % (bound + 1);
    for _ in 0..150 {
        let bound = MAX_SCORE as u32;
        let matching = below(&mut rng, 2 * bound) as i32 - MAX_SCORE * rng.below(2);
        let matching = matching.clamp(-MAX_SCORE, MAX_SCORE);
        let mismatching = (matching - below(&mut rng, 2 * bound) as i32).max(-MAX_SCORE);
        let first = below(&mut rng, bound) as i32;
        let gaps = Gaps { first, next: [first, below(&mut rng, first as u32) as i32][rng.below(2) as usize] };
        let lengths = some_lengths(&mut rng);
        for scoring in with_ends(|end_gaps| nucleotide((matching, mismatching), gaps, end_gaps)) {
            check_scores(&family(&mut rng, Alphabet::Dna, &lengths), &scoring);
        }
    }
}

/// Uses sequences so long that 32 bits no longer hold a score with its matches.
#[test]
fn scores_with_matches_beyond_32_bits_match_textbook() {
    let mut rng = rng(0x11a4);
    for (length, gaps) in [(720, Gaps { first: MAX_SCORE, next: MAX_SCORE - 1 }), (1_432, Gaps::linear(MAX_SCORE))] {
        let scoring = nucleotide((MAX_SCORE, -MAX_SCORE), gaps, EndGaps::Free);
        let ancestor = random_codes(&mut rng, Alphabet::Dna, length);
        let mut relative = ancestor.clone();
        relative[length / 2..].rotate_left(1);
        let store = store(Alphabet::Dna, &[ancestor, relative]);
        assert!(pairwave::score::DifferenceScoring::<i32>::new(&scoring, length as u64, true).is_none());
        check_scores(&store, &scoring);
        let actual = hits(&mut ScoreWorkspace::new(), &store, &scoring, ResultFilter::Alignments);
        assert!(actual[0].matches.is_some(), "matches are carried in 64 bits");
    }
}
