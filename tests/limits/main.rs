//! CPU kernels at the limits of their lanes, against the textbook algorithm, with every instruction
//! set of this machine. Covers the largest and smallest scores and gap costs of a scheme. Also
//! covers the last scheme that fits in each lane width, and the first that does not.

mod codes;
mod edits;
mod pieces;
mod scores;
mod traces;
mod widths;

use std::sync::Arc;

use pairwave::pairs::cpu::{LaneForm, ScoreWorkspace, compute};
use pairwave::pairs::oracle::{needleman_wunsch, smith_waterman};
use pairwave::pairs::{PairHit, ResultFilter};
use pairwave::score::{Ambiguity, EndGaps, Gaps, MAX_SCORE, Mode, Scoring, Substitution};
use pairwave::seq::{Alphabet, Code, SequenceStore};
use pairwave::simd::InstructionSet;
use support::*;

/// Scores of match and mismatch: the extremes, equal values, zero, negative values, and values
/// around the range of i8.
const SCORES: [(i32, i32); 12] = [
    (MAX_SCORE, -MAX_SCORE),
    (MAX_SCORE, MAX_SCORE),
    (MAX_SCORE, MAX_SCORE - 1),
    (0, -MAX_SCORE),
    (0, 0),
    (-1, -MAX_SCORE),
    (-MAX_SCORE, -MAX_SCORE),
    (MAX_SCORE, 0),
    (1, -1),
    (5, -4),
    (127, -128),
    (255, -255),
];

/// Returns gap costs: expensive and free gaps, expensive openings with almost free extensions, and
/// openings of 1.
fn gap_costs() -> [Gaps; 12] {
    [
        Gaps::linear(0),
        Gaps::linear(1),
        Gaps::linear(50_000),
        Gaps::linear(999_000),
        Gaps::linear(MAX_SCORE),
        Gaps::from_blast(999_000, 0),
        Gaps::from_blast(999_000, 1),
        Gaps::from_blast(MAX_SCORE, 0),
        Gaps::from_blast(50_000, 1),
        Gaps::from_blast(1, 999_000),
        Gaps::from_blast(1, MAX_SCORE - 1),
        Gaps::from_blast(500_000, 500_000),
    ]
}

/// Returns a scheme for nucleotides with ambiguous codes as overlapping sets. All of these pass the
/// scheme's own checks.
fn nucleotide((matching, mismatching): (i32, i32), gaps: Gaps, end_gaps: EndGaps) -> Scoring {
    Scoring::nucleotide(matching, mismatching, Ambiguity::Overlap, gaps, end_gaps).expect("within the bounds")
}

/// Returns a scheme for proteins whose entries are all extremes, chosen by a hash of the letters.
/// With `sign`, all entries have this sign.
fn extreme_table(sign: Option<i32>, gaps: Gaps, end_gaps: EndGaps) -> Scoring {
    let substitution = Substitution::from_fn(Alphabet::Protein, |a, b| {
        let (low, high) = (u32::from(a.min(b)), u32::from(a.max(b)));
        let score =
            [MAX_SCORE, -MAX_SCORE, MAX_SCORE - 1, 1 - MAX_SCORE, 0, 1, -1][((low * 31 + high * 17) % 7) as usize];
        (sign.map_or(score, |sign| sign * score.abs()), a == b)
    });
    Scoring { gaps, end_gaps, substitution, ..Scoring::protein() }
}

/// Returns all workspaces. Results must not depend on the workspace.
fn workspaces() -> Vec<(String, ScoreWorkspace)> {
    let forms = [LaneForm::Targets, LaneForm::Rows];
    let all = InstructionSet::available().into_iter().flat_map(|level| forms.map(|form| (level, form)));
    all.map(|(level, form)| (format!("{level:?} {form:?}"), ScoreWorkspace::with(level, form))).collect()
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

/// Checks that all workspaces give the textbook's scores, and in global mode its matches where they
/// are reported.
fn check_scores(store: &Arc<SequenceStore>, scoring: &Scoring) {
    let codes = |hit: &PairHit| (store.codes(hit.query), store.codes(hit.target));
    let truth = |hit: &PairHit| match scoring.mode {
        Mode::Global => needleman_wunsch::score_only(codes(hit).0, codes(hit).1, scoring),
        Mode::Local => (smith_waterman::score_only(codes(hit).0, codes(hit).1, scoring), 0),
    };
    for filter in [ResultFilter::Scores, ResultFilter::Alignments] {
        let mut expected: Option<(Vec<PairHit>, String)> = None;
        for (what, mut workspace) in workspaces() {
            let actual = hits(&mut workspace, store, scoring, filter.clone());
            if let Some((expected, first)) = &expected {
                assert_eq!(&actual, expected, "{what} and {first}: {}", name(scoring));
                continue;
            }
            assert_eq!(actual.len(), store.len() * (store.len() - 1) / 2);
            for hit in &actual {
                let (score, matches) = truth(hit);
                let lengths = (store.length(hit.query), store.length(hit.target));
                assert_eq!(hit.score, score, "{what}, lengths {lengths:?}: {}", name(scoring));
                assert!(hit.matches.is_none_or(|actual| actual == matches), "{what}, {lengths:?}: {}", name(scoring));
            }
            expected = Some((actual, what));
        }
    }
}

/// Describes a scheme in short.
fn name(scoring: &Scoring) -> String {
    let Scoring { substitution, gaps, end_gaps, mode, .. } = scoring;
    format!("scores {} to {}, {gaps:?}, {end_gaps:?}, {mode:?}", substitution.min_score(), substitution.max_score())
}

/// Returns global and local schemes. End gaps are charged, free, charged for the first symbol only,
/// or charged half.
fn with_ends(make: impl Fn(EndGaps) -> Scoring) -> [Scoring; 5] {
    let [charged, free] = [EndGaps::Charged, EndGaps::Free].map(make);
    let Gaps { first, next } = charged.gaps;
    let priced = |first, next| Scoring { end_gaps: EndGaps::Priced(Gaps { first, next }), ..charged.clone() };
    [priced(first, 0), priced(first / 2, next / 2), charged.clone(), free, Scoring { mode: Mode::Local, ..charged }]
}

/// Creates a sequence: a single letter, a relative of `codes`, or a sequence without any common
/// symbol.
fn related_sequence(rng: &mut Rng, alphabet: Alphabet, codes: &[Code], length: usize) -> Vec<Code> {
    let mut kin = match rng.below(4) {
        0 => mutated(rng, alphabet, codes, 10),
        1 => codes.to_vec(),
        2 => vec![alphabet.encode(b'A').expect("a letter"); length],
        _ => vec![alphabet.encode(b'C').expect("a letter"); length],
    };
    kin.truncate(length);
    let missing = length - kin.len();
    kin.extend(random_codes(rng, alphabet, missing));
    kin
}

/// Creates sequences of these lengths, some of them related.
fn family(rng: &mut Rng, alphabet: Alphabet, lengths: &[usize]) -> Arc<SequenceStore> {
    let mut sequences: Vec<Vec<Code>> = Vec::new();
    for &length in lengths {
        let before = sequences.last().cloned().unwrap_or_default();
        let codes = if rng.below(3) == 0 {
            random_codes(rng, alphabet, length)
        } else {
            related_sequence(rng, alphabet, &before, length)
        };
        sequences.push(codes);
    }
    store(alphabet, &sequences)
}
