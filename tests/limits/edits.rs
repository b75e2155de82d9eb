//! Distances at the boundaries of words, vectors of words and limits.

use super::*;
use pairwave::edit::{EditBatch, EditBlock, EditChunk, TextRegions, cpu, oracle};
use pairwave::score::{EditMode, EditScheme, Equality, Limit};

/// Numbers of rows in one word, and in one and two vectors of 2, 4 and 8 words. Each also occurs
/// with one row more and one row less.
const LENGTHS: [usize; 20] =
    [0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1_023, 1_024, 1_025, 1_535, 1_536, 1_537];

fn workspaces() -> Vec<(String, cpu::DistanceWorkspace)> {
    let forms = [cpu::LaneContent::Pairs, cpu::LaneContent::Rows];
    let all = InstructionSet::available().into_iter().flat_map(|level| forms.map(|form| (level, form)));
    all.map(|(level, form)| (format!("{level:?} {form:?}"), cpu::DistanceWorkspace::with(level, form))).collect()
}

/// Compares all workspaces with the textbook algorithm. Each pattern is compared with the text of
/// the same index.
fn check(patterns: &[Vec<Code>], texts: &[Vec<Code>], mode: EditMode, limit: Limit) {
    let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit };
    let regions = TextRegions::Texts((0..texts.len() as u32).collect());
    let (pattern_store, text_store) = (store(Alphabet::Dna, patterns), store(Alphabet::Dna, texts));
    let chunk = EditChunk::new(pattern_store, text_store, Arc::new(scheme.clone()), regions);
    let blocks = (0..patterns.len() as u32).map(|k| EditBlock { pattern: k, regions: k..k + 1, cells: 1 }).collect();
    let batch = EditBatch { blocks, chunk: Arc::new(chunk) };
    let expected: Vec<_> = patterns.iter().zip(texts).map(|(a, b)| oracle::find(a, b, &scheme)).collect();
    for (what, mut workspace) in workspaces() {
        assert_eq!(cpu::run(&batch, &mut workspace), expected, "{what}, {mode:?} {limit:?}");
    }
}

#[test]
fn lengths_around_vectors_match_textbook_for_every_limit() {
    let mut rng = rng(0x11d1);
    for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
        let patterns: Vec<Vec<Code>> = LENGTHS.map(|length| random_codes(&mut rng, Alphabet::Dna, length)).to_vec();
        let texts: Vec<Vec<Code>> = patterns.iter().map(|codes| mutated(&mut rng, Alphabet::Dna, codes, 4)).collect();
        for limit in [
            Limit::None,
            Limit::Distance(0),
            Limit::Distance(1),
            Limit::Distance(40),
            Limit::Distance(u32::MAX),
            Limit::Rate(0.0),
            Limit::Rate(1.0),
            Limit::Shorter(0.0, 0.0),
            Limit::Shorter(1.0, 1.0),
        ] {
            check(&patterns, &texts, mode, limit);
        }
    }
}

/// Covers sequences without common symbols and equal sequences, in which every step or no step
/// increases the distance.
#[test]
fn extreme_distances_match_textbook() {
    for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
        for (a, b) in [(1, 2), (1, 1)] {
            let patterns = LENGTHS.map(|length| vec![a; length]);
            let texts = LENGTHS.map(|length| vec![b; LENGTHS[LENGTHS.len() - 1] - length]);
            check(&patterns, &texts, mode, Limit::None);
            check(&patterns, &patterns.clone().map(|codes| vec![b; codes.len()]), mode, Limit::Distance(64));
        }
    }
}

/// Uses the distance as the limit, which must find the pair, and one less, which must not. The
/// sequences are so long that a limit is guessed first.
#[test]
fn limits_on_both_sides_of_the_distance_are_exact() {
    let mut rng = rng(0x11d2);
    for length in [70, 600, 4_100] {
        let pattern = random_codes(&mut rng, Alphabet::Dna, length);
        let text = mutated(&mut rng, Alphabet::Dna, &pattern, 12);
        for mode in [EditMode::Global, EditMode::Infix, EditMode::Prefix] {
            let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
            let distance = oracle::find(&pattern, &text, &scheme).distance;
            let (patterns, texts) = ([pattern.clone(), pattern.clone()], [text.clone(), pattern.clone()]);
            for limit in [distance - 1, distance, distance + 1] {
                check(&patterns, &texts, mode, Limit::Distance(limit));
            }
        }
    }
}
