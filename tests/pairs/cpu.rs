//! The CPU kernels against the oracle, with every instruction set of this machine, both uses of
//! lanes, and every integer width.

use std::sync::Arc;

use pairwave::pairs::cpu::{LaneForm, ScoreWorkspace, compute};
use pairwave::pairs::{PairHit, ResultFilter};
use pairwave::score::{EndGaps, Gaps, Mode, Scoring, Substitution};
use pairwave::seq::{Alphabet, Code, SequenceStore};
use pairwave::simd::InstructionSet;
use support::check::*;
use support::*;

/// Returns all workspaces. Results must not depend on the workspace.
fn workspaces() -> Vec<(String, ScoreWorkspace)> {
    let mut all = Vec::new();
    for level in InstructionSet::available() {
        for form in [LaneForm::Targets, LaneForm::Rows] {
            all.push((format!("{level:?} {form:?}"), ScoreWorkspace::with(level, form)));
        }
    }
    all.push(("as jobs do".into(), ScoreWorkspace::new()));
    assert!(all.len() >= 3, "portable vectors are always there");
    all
}

fn hits(
    workspace: &mut ScoreWorkspace,
    store: &Arc<SequenceStore>,
    scoring: &Scoring,
    filter: ResultFilter,
) -> Vec<PairHit> {
    let mut hits = Vec::new();
    for batch in batches(&job(store, scoring.clone(), filter), u64::MAX) {
        hits.extend(compute::run(&batch, workspace).expect("the batch is computed"));
    }
    hits
}

/// Returns the scheme with all scores multiplied by `factor`. A factor of 1 needs 8 or 16 bits, and
/// 30 needs 16 bits. The other factors need 32 and 64 bits.
fn times(scoring: &Scoring, factor: i32) -> Scoring {
    let substitution = Substitution::from_fn(scoring.alphabet, |a, b| {
        (scoring.substitution.score(a, b) * factor, scoring.substitution.is_match(a, b))
    });
    let times = |gaps: Gaps| Gaps { first: gaps.first * factor, next: gaps.next * factor };
    let end_gaps = match scoring.end_gaps {
        EndGaps::Priced(ends) => EndGaps::Priced(times(ends)),
        other => other,
    };
    Scoring { substitution, gaps: times(scoring.gaps), end_gaps, ..scoring.clone() }
}

const FACTORS: [i32; 4] = [1, 30, 3_000, 10_000_000];

#[test]
fn global_scores_agree_with_the_oracle_in_every_width() {
    let mut rng = rng(0xc9a);
    for base in scorings() {
        // Lengths around strips of 4 rows and vectors of 4 to 64 lanes.
        let lengths = [0, 1, 3, 4, 5, 9, 16, 17, 31, 33, 63, 64, 65, 129];
        let store = mixed_store(&mut rng, base.alphabet, &lengths);
        for factor in FACTORS {
            let scoring = times(&base, factor);
            let expected = hits(
                &mut ScoreWorkspace::with(InstructionSet::PORTABLE, LaneForm::Targets),
                &store,
                &scoring,
                ResultFilter::Scores,
            );
            check_hits(&store, &scoring, &expected, false);
            for (what, mut workspace) in workspaces() {
                assert_eq!(
                    hits(&mut workspace, &store, &scoring, ResultFilter::Scores),
                    expected,
                    "{what}, factor {factor}"
                );
            }
        }
    }
}

#[test]
fn matches_are_correct_in_every_width() {
    let mut rng = rng(0x3a7c);
    for base in scorings() {
        let store = mixed_store(&mut rng, base.alphabet, &[0, 1, 4, 17, 40, 64, 65, 80]);
        // 10,000,000 is not tested: if 32 bits do not hold the matches as well, no engine reports
        // matches.
        for factor in [1, 30, 3_000] {
            let scoring = times(&base, factor);
            let expected = hits(
                &mut ScoreWorkspace::with(InstructionSet::PORTABLE, LaneForm::Targets),
                &store,
                &scoring,
                ResultFilter::Alignments,
            );
            check_hits(&store, &scoring, &expected, true);
            for (what, mut workspace) in workspaces() {
                let actual = hits(&mut workspace, &store, &scoring, ResultFilter::Alignments);
                assert_eq!(actual, expected, "{what}, factor {factor}");
            }
        }
    }
}

#[test]
fn groups_of_every_size_fill_the_lanes() {
    let mut rng = rng(0x607);
    for count in [2, 3, 15, 17, 33, 64, 65, 66, 70] {
        let lengths: Vec<usize> = (0..count).map(|index| (index * 5) % 13).collect();
        let store = mixed_store(&mut rng, Alphabet::Dna, &lengths);
        for end_gaps in [EndGaps::Free, EndGaps::Priced(Gaps { first: 9, next: 0 })] {
            let scoring = Scoring { gaps: Gaps::from_blast(10, 1), end_gaps, ..Scoring::truong() };
            for (_, mut workspace) in workspaces() {
                check_hits(&store, &scoring, &hits(&mut workspace, &store, &scoring, ResultFilter::Scores), false);
            }
        }
    }
}

/// Returns Smith and Waterman's score with full matrices H, E and F (Gotoh 1982).
fn local_score(a: &[Code], b: &[Code], scoring: &Scoring) -> i64 {
    let (first, next) = (scoring.gaps.first as i64, scoring.gaps.next as i64);
    let mut h = vec![vec![0i64; b.len() + 1]; a.len() + 1];
    let mut e = vec![vec![i64::MIN / 2; b.len() + 1]; a.len() + 1];
    let mut f = e.clone();
    let mut best = 0;
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            e[i][j] = (h[i][j - 1] - first).max(e[i][j - 1] - next);
            f[i][j] = (h[i - 1][j] - first).max(f[i - 1][j] - next);
            let diagonal = h[i - 1][j - 1] + scoring.substitution.score(a[i - 1], b[j - 1]) as i64;
            h[i][j] = diagonal.max(e[i][j]).max(f[i][j]).max(0);
            best = best.max(h[i][j]);
        }
    }
    best
}

#[test]
fn local_scores_agree_with_the_oracle_in_every_width() {
    let mut rng = rng(0x10ca1);
    let mut widest = 0;
    for base in scorings().into_iter().filter(|scoring| scoring.end_gaps == EndGaps::Charged) {
        // A relative of 129 symbols has a score that exceeds 8 bits. Multiplied by 30 it exceeds 16
        // bits, and so on.
        let mut sequences: Vec<Vec<Code>> =
            [0, 1, 3, 4, 5, 17, 31, 64, 65, 127, 129].map(|n| random_codes(&mut rng, base.alphabet, n)).to_vec();
        sequences.push(mutated(&mut rng, base.alphabet, &sequences[10].clone(), 5));
        sequences.push(sequences[9].clone());
        let store = store(base.alphabet, &sequences);
        for factor in FACTORS {
            let scoring = Scoring { mode: Mode::Local, ..times(&base, factor) };
            for (what, mut workspace) in workspaces() {
                let actual = hits(&mut workspace, &store, &scoring, ResultFilter::Scores);
                assert_eq!(actual.len(), store.len() * (store.len() - 1) / 2, "{what}");
                for hit in actual {
                    let (a, b) = (&sequences[hit.query as usize], &sequences[hit.target as usize]);
                    let expected = local_score(a, b, &times(&base, 1)) * factor as i64;
                    assert_eq!(hit.score, expected, "{what}, factor {factor}, {} x {}", a.len(), b.len());
                    widest = widest.max(hit.score);
                }
            }
        }
    }
    assert!(widest > i32::MAX as i64, "no score went beyond 32 bits: {widest}");
}

/// Tests sequences of more than a thousand symbols. 8 bits must give the scores of 32 bits, and one pair
/// per vector must give the scores of one target per lane.
fn long_pairs_equal_each_other(seed: u64, mode: Mode, end_gaps: EndGaps) {
    let mut rng = rng(seed);
    for gaps in [Gaps::linear(10), Gaps::from_blast(10, 1)] {
        let ancestor = random_codes(&mut rng, Alphabet::Dna, 1_600);
        let relative = mutated(&mut rng, Alphabet::Dna, &ancestor, 10);
        let store = store(Alphabet::Dna, &[ancestor, relative, random_codes(&mut rng, Alphabet::Dna, 1_300)]);
        let scoring = Scoring { gaps, mode, end_gaps, ..Scoring::truong() };
        let expected = hits(
            &mut ScoreWorkspace::with(InstructionSet::PORTABLE, LaneForm::Targets),
            &store,
            &scoring,
            ResultFilter::Alignments,
        );
        for (what, mut workspace) in workspaces() {
            assert_eq!(hits(&mut workspace, &store, &scoring, ResultFilter::Alignments), expected, "{what}");
            let scores = hits(&mut workspace, &store, &scoring, ResultFilter::Scores);
            let pairs = expected.iter().map(|hit| (hit.query, hit.target, hit.score));
            assert!(scores.iter().map(|hit| (hit.query, hit.target, hit.score)).eq(pairs), "{what}");
        }
    }
}

// There is one test per mode, because each takes long and they run in parallel.

#[test]
fn long_pairs_with_end_gaps_charged() {
    long_pairs_equal_each_other(0x1049, Mode::Global, EndGaps::Charged);
}

#[test]
fn long_pairs_with_end_gaps_free() {
    long_pairs_equal_each_other(0x104a, Mode::Global, EndGaps::Free);
}

#[test]
fn long_pairs_with_end_gaps_priced() {
    long_pairs_equal_each_other(0x104b, Mode::Global, EndGaps::Priced(Gaps { first: 5, next: 1 }));
}

#[test]
fn long_local_pairs_equal_each_other() {
    long_pairs_equal_each_other(0x104c, Mode::Local, EndGaps::Charged);
}
