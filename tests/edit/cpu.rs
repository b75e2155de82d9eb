//! Levenshtein distances on the CPU against the textbook algorithm, with every instruction set of
//! this machine, both lane contents, every mode and every equality.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pairwave::edit::cpu::{DistanceWorkspace, EditWorker, LaneContent, edit_workers, last_row, run};
use pairwave::edit::{Edit, EditBatch, EditBlock, EditChunk, Region, TextRegions, oracle};
use pairwave::engine::thread_engine::compute_together;
use pairwave::engine::work::Work;
use pairwave::engine::{Engine, thread_pool};
use pairwave::measure::self_test::edit::EditTest;
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit, OverlapReach};
use pairwave::seq::{Alphabet, Code};
use pairwave::simd::InstructionSet;
use proptest::prelude::*;
use support::check::assert_right;
use support::*;

const MODES: [EditMode; 3] = [EditMode::Global, EditMode::Infix, EditMode::Prefix];

/// Returns all workspaces. Results must not depend on the workspace.
fn workspaces() -> Vec<(String, DistanceWorkspace)> {
    let mut all = Vec::new();
    for instructions in InstructionSet::available() {
        for content in [LaneContent::Pairs, LaneContent::Rows] {
            all.push((format!("{instructions:?} {content:?}"), DistanceWorkspace::with(instructions, content)));
        }
    }
    all.push(("as jobs do".into(), DistanceWorkspace::new()));
    assert!(all.len() >= 3, "portable vectors are always there");
    all
}

/// Returns all equalities.
fn equalities() -> Vec<Equality> {
    let mut all = vec![Equality::literal(Alphabet::Protein), Equality::literal(Alphabet::Dna)];
    for rule in [Ambiguity::Overlap, Ambiguity::Zero, Ambiguity::Mismatch, Ambiguity::Mean] {
        for n_matches in [true, false] {
            all.push(Equality::dna(rule, n_matches));
        }
    }
    all
}

fn scheme(mode: EditMode, equality: &Equality, limit: Limit) -> EditScheme {
    EditScheme { mode, equality: equality.clone(), limit }
}

/// Patterns and texts, and the regions that each pattern is compared with.
#[derive(Debug, Clone)]
struct Case {
    patterns: Vec<Vec<Code>>,
    texts: Vec<Vec<Code>>,
    regions: Option<Vec<Region>>,
    blocks: Vec<(u32, std::ops::Range<u32>)>,
}

impl Case {
    /// Compares every pattern with every text.
    fn all(patterns: Vec<Vec<Code>>, texts: Vec<Vec<Code>>) -> Self {
        let blocks = (0..patterns.len() as u32).map(|pattern| (pattern, 0..texts.len() as u32)).collect();
        Case { patterns, texts, regions: None, blocks }
    }

    fn batch(&self, scheme: &EditScheme) -> EditBatch {
        let alphabet = scheme.equality.alphabet();
        let regions = match &self.regions {
            Some(regions) => TextRegions::Regions(Arc::new(regions.clone())),
            None => TextRegions::Texts((0..self.texts.len() as u32).collect()),
        };
        let (patterns, texts) = (store(alphabet, &self.patterns), store(alphabet, &self.texts));
        let chunk = EditChunk::new(patterns, texts, Arc::new(scheme.clone()), regions);
        let blocks = self.blocks.iter().map(|(pattern, regions)| {
            let m = self.patterns[*pattern as usize].len() as u64;
            let cells = regions.clone().map(|index| m * u64::from(chunk.region(index).symbols())).sum();
            EditBlock { pattern: *pattern, regions: regions.clone(), cells }
        });
        EditBatch { blocks: blocks.collect(), chunk: Arc::new(chunk) }
    }
}

/// Compares all workspaces with the textbook algorithm.
fn check(case: &Case, scheme: &EditScheme) {
    let batch = Arc::new(case.batch(scheme));
    let test = EditTest::new([Arc::clone(&batch)]);
    for (what, mut workspace) in workspaces() {
        assert_right(&test, &run(&batch, &mut workspace), &what);
    }
}

/// Covers lengths around words of 64 rows and chunks of 64 columns.
const LENGTHS: [usize; 14] = [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 192, 200];

#[test]
fn lengths_around_words_match_textbook() {
    let mut rng = rng(0xed17);
    for equality in equalities() {
        let alphabet = equality.alphabet();
        let mut patterns: Vec<Vec<Code>> =
            LENGTHS.iter().map(|&length| random_codes(&mut rng, alphabet, length)).collect();
        // Bases or amino acids without ambiguous codes need fewer planes.
        patterns.extend([64, 100].map(|length| (0..length).map(|_| random_code(&mut rng, alphabet, 0)).collect()));
        let mut texts: Vec<Vec<Code>> = patterns.iter().map(|codes| mutated(&mut rng, alphabet, codes, 6)).collect();
        texts.extend(LENGTHS.map(|length| random_codes(&mut rng, alphabet, length)));
        texts.extend([64, 100].map(|length| (0..length).map(|_| random_code(&mut rng, alphabet, 0)).collect()));
        let case = Case::all(patterns, texts);
        for mode in MODES {
            check(&case, &scheme(mode, &equality, Limit::None));
            check(&case, &scheme(mode, &equality, Limit::Distance(9)));
        }
    }
}

#[test]
fn unambiguous_pairs_match_textbook() {
    let mut rng = rng(0x91a);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let mut bases = |length| (0..length).map(|_| random_code(&mut rng, alphabet, 0)).collect::<Vec<Code>>();
        let patterns = vec![bases(64), bases(65), vec![1; 70]];
        let texts = vec![bases(64), bases(100), vec![1; 70], vec![2; 70], bases(3)];
        for mode in MODES {
            check(
                &Case::all(patterns.clone(), texts.clone()),
                &scheme(mode, &Equality::literal(alphabet), Limit::None),
            );
        }
    }
}

/// Covers sequences of a single symbol, equal and different.
#[test]
fn runs_of_one_symbol_match_textbook() {
    let lengths = [1, 63, 64, 65, 128, 700];
    let runs = |code: Code| lengths.map(|length| vec![code; length]).to_vec();
    for mode in MODES {
        let case = Case::all([runs(1), runs(2)].concat(), runs(1));
        check(&case, &scheme(mode, &Equality::dna(Ambiguity::Overlap, true), Limit::None));
        check(&case, &scheme(mode, &Equality::literal(Alphabet::Protein), Limit::Rate(0.5)));
    }
}

/// Covers patterns around multiples of a vector's rows, and of the two vectors that are computed at
/// once.
#[test]
fn patterns_of_many_words_match_textbook() {
    let mut rng = rng(0x10b5);
    let equality = Equality::dna(Ambiguity::Mismatch, true);
    for rows in [256, 512, 1024] {
        let patterns = [rows - 1, rows, rows + 1].map(|length| random_codes(&mut rng, Alphabet::Dna, length));
        let mut texts = patterns.clone().map(|codes| mutated(&mut rng, Alphabet::Dna, &codes, 5)).to_vec();
        texts.extend([1, 30, 700].map(|length| random_codes(&mut rng, Alphabet::Dna, length)));
        let case = Case::all(patterns.to_vec(), texts);
        for mode in MODES {
            for limit in [Limit::None, Limit::Rate(0.3), Limit::Distance(40)] {
                check(&case, &scheme(mode, &equality, limit));
            }
        }
    }
}

/// A pair exceeds a limit that is one below its distance.
#[test]
fn limits_around_the_distance_are_exact() {
    let mut rng = rng(0x11f1);
    for equality in [Equality::literal(Alphabet::Protein), Equality::dna(Ambiguity::Overlap, true)] {
        let alphabet = equality.alphabet();
        for (length, percent) in [(40, 10), (150, 3), (400, 10), (1500, 2), (2300, 8)] {
            let pattern = random_codes(&mut rng, alphabet, length);
            let mut text = mutated(&mut rng, alphabet, &pattern, percent);
            for mode in MODES {
                if mode == EditMode::Infix {
                    let (head, tail) = (length / 5, length / 4);
                    text.splice(0..0, random_codes(&mut rng, alphabet, head));
                    text.extend(random_codes(&mut rng, alphabet, tail));
                }
                let distances = oracle::find(&pattern, &text, &scheme(mode, &equality, Limit::None));
                let d = distances.distance;
                let case = Case::all(vec![pattern.clone()], vec![text.clone()]);
                for limit in [0, 1, d / 2, d.saturating_sub(2), d.saturating_sub(1), d, d + 1, 2 * d, 3 * d] {
                    check(&case, &scheme(mode, &equality, Limit::Distance(limit)));
                }
                let whole = if mode == EditMode::Global { text.len().max(length) } else { length };
                for more in [-1e-6, 1e-6, 0.01] {
                    let rate = (f64::from(d) / whole as f64 + more).clamp(0.0, 1.0);
                    check(&case, &scheme(mode, &equality, Limit::Rate(rate)));
                }
            }
        }
    }
}

/// Many patterns with some regions each give lanes of different patterns and of texts with
/// different lengths.
#[test]
fn regions_match_textbook() {
    let mut rng = rng(0x4e6);
    for (equality, mode) in equalities().into_iter().flat_map(|equality| MODES.map(|mode| (equality.clone(), mode))) {
        let alphabet = equality.alphabet();
        let texts: Vec<Vec<Code>> = [900, 0, 400].map(|length| random_codes(&mut rng, alphabet, length)).to_vec();
        let mut patterns = Vec::new();
        let (mut regions, mut blocks) = (Vec::new(), Vec::new());
        for pattern in 0..12 {
            let length = 30 + (rng.next_u32() % 200) as usize;
            let from = (rng.next_u32() % 600) as usize;
            patterns.push(mutated(&mut rng, alphabet, &texts[0][from..from + length], 4));
            let first = regions.len() as u32;
            for _ in 0..rng.next_u32() % 9 {
                let text = rng.next_u32() % 3;
                let symbols = texts[text as usize].len() as u32;
                let start = rng.next_u32() % (symbols + 1);
                regions.push(Region { text, start, end: start + rng.next_u32() % (symbols - start + 1) });
            }
            let (start, end) = (from.saturating_sub(20) as u32, (from + length + 20) as u32);
            regions.push(Region { text: 0, start, end });
            blocks.push((pattern, first..regions.len() as u32));
        }
        let case = Case { patterns, texts, regions: Some(regions), blocks };
        check(&case, &scheme(mode, &equality, Limit::None));
        check(&case, &scheme(mode, &equality, Limit::Rate(0.2)));
    }
}

/// Texts of a group end at different columns.
#[test]
fn groups_of_every_size_match_textbook() {
    let mut rng = rng(0x960);
    for count in (1..20).chain([31, 32, 33]) {
        let texts = (0..count).map(|index| random_codes(&mut rng, Alphabet::Dna, 60 + index * 7 % 20)).collect();
        let case = Case::all(vec![random_codes(&mut rng, Alphabet::Dna, 70)], texts);
        for mode in MODES {
            check(&case, &scheme(mode, &Equality::literal(Alphabet::Dna), Limit::None));
            check(&case, &scheme(mode, &Equality::literal(Alphabet::Dna), Limit::Distance(30)));
        }
    }
}

/// Rows above the limit are pruned, in groups whose texts end at different columns.
#[test]
fn limited_overlaps_match_textbook() {
    let mut rng = rng(0x0EA);
    let ancestor = random_codes(&mut rng, Alphabet::Dna, 800);
    let part = |rng: &mut support::Rng, edits: usize| {
        let (begin, end) = (rng.below(500usize), 600 + rng.below(200usize));
        let mut part = ancestor[begin..end].to_vec();
        for _ in 0..edits {
            let at = rng.below(part.len());
            match rng.below(3u32) {
                0 => part[at] = 1 << rng.below(4u32),
                1 => part.insert(at, 1 << rng.below(4u32)),
                _ => drop(part.remove(at)),
            }
        }
        part
    };
    let mut patterns: Vec<Vec<Code>> = (0..4).map(|edits| part(&mut rng, 3 * edits)).collect();
    patterns.push(random_codes(&mut rng, Alphabet::Dna, 577));
    let mut texts: Vec<Vec<Code>> = (0..24).map(|edits| part(&mut rng, edits)).collect();
    texts.extend((0..20).map(|more| random_codes(&mut rng, Alphabet::Dna, 300 + 17 * more)));
    let case = Case::all(patterns, texts);
    for (shorter, constant, divisor, rate) in
        [(0, 0, 1, u32::MAX), (9, 0, 25, 7_000), (9, 11, 11, 2_000), (1, 0, 1, 1_000)]
    {
        let mode = EditMode::Overlap(OverlapReach { shorter, constant, divisor, rate });
        for limit in [Limit::Shorter(0.03, 0.0), Limit::Shorter(0.2, 0.1), Limit::Distance(9)] {
            check(&case, &scheme(mode, &Equality::dna(Ambiguity::Overlap, true), limit));
        }
    }
}

/// Covers sequences of thousands of symbols. Both lane contents must agree, and must equal the
/// textbook where it is fast enough.
#[test]
fn long_overlaps_match_each_other() {
    let mut rng = rng(0x0E);
    let edges = [1, 2, 30, 63, 64, 65, 130].map(|length| random_codes(&mut rng, Alphabet::Dna, length));
    let mut texts: Vec<Vec<Code>> = edges.iter().map(|pattern| pattern[pattern.len() / 3..].to_vec()).collect();
    texts.extend(edges.iter().map(|pattern| [&edges[3][..40], pattern].concat()));
    let case = Case::all(edges.to_vec(), texts);
    for (shorter, constant, divisor, rate) in
        [(0, 0, 1, u32::MAX), (9, 0, 25, 20_000), (9, 11, 21, 2_000), (1, 0, 1, OverlapReach::ANY_RATE)]
    {
        let mode = EditMode::Overlap(OverlapReach { shorter, constant, divisor, rate });
        for equality in [Equality::literal(Alphabet::Dna), Equality::dna(Ambiguity::Overlap, true)] {
            check(&case, &scheme(mode, &equality, Limit::None));
            check(&case, &scheme(mode, &equality, Limit::Shorter(0.1, 0.0)));
        }
    }
}

#[test]
fn long_pairs_match_textbook() {
    let mut rng = rng(0x1049);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let ancestor = random_codes(&mut rng, alphabet, 5_000);
        let relatives = [1, 5, 20].map(|percent| mutated(&mut rng, alphabet, &ancestor, percent));
        let mut texts = relatives.to_vec();
        texts.push(random_codes(&mut rng, alphabet, 4_000));
        let case = Case::all(vec![ancestor], texts);
        for mode in MODES {
            for limit in [Limit::None, Limit::Rate(0.1)] {
                check(&case, &scheme(mode, &Equality::literal(alphabet), limit));
            }
        }
    }
}

#[test]
fn last_row_has_every_end() {
    let mut rng = rng(0x7a11);
    for (equality, mode) in equalities().into_iter().flat_map(|equality| MODES.map(|mode| (equality.clone(), mode))) {
        let alphabet = equality.alphabet();
        let scheme = scheme(mode, &equality, Limit::None);
        for (m, n) in [(0, 5), (5, 0), (1, 9), (64, 70), (65, 200), (150, 90)] {
            let (pattern, text) = (random_codes(&mut rng, alphabet, m), random_codes(&mut rng, alphabet, n));
            let mut seen = Vec::new();
            last_row(&pattern, &text, &scheme, |end, distance| seen.push((end, distance)));
            let expected = oracle::last_row(&pattern, &text, &scheme);
            assert!(seen.into_iter().eq(expected.into_iter().enumerate().skip(1)), "{mode:?} {m} {n}");
        }
    }
}

#[test]
fn worker_is_an_engine() {
    let mut rng = rng(0xe9);
    let texts = [90, 100, 110].map(|length| random_codes(&mut rng, Alphabet::Protein, length)).to_vec();
    let case = Case::all(texts.clone(), texts);
    let batch = Arc::new(case.batch(&scheme(EditMode::Infix, &Equality::literal(Alphabet::Protein), Limit::None)));
    let test = EditTest::new([Arc::clone(&batch)]);
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut workers = edit_workers(2, &interrupt);
    assert_eq!(workers.len(), 2);
    let first = workers[0].submit(Arc::clone(&batch)).unwrap();
    let second = workers[0].submit(Arc::clone(&batch)).unwrap();
    for ticket in [second, first] {
        let report = workers[0].collect(ticket).unwrap();
        assert_eq!(Edit::check(&batch, &report), Ok(()));
        assert_right(&test, &report.distances.into_each(), "a worker");
    }
    assert!(workers[0].collect(first).is_err());
    interrupt.store(true, Ordering::Relaxed);
    let mut worker = EditWorker::new(Arc::clone(&interrupt));
    let ticket = worker.submit(batch).unwrap();
    assert!(matches!(worker.collect(ticket), Err(pairwave::Error::Interrupted)));
    assert!(worker.universal());
}

#[test]
fn threads_report_in_block_order() {
    let mut rng = rng(0x7095);
    let patterns: Vec<Vec<Code>> = (0..53).map(|index| random_codes(&mut rng, Alphabet::Dna, 20 + index)).collect();
    let case = Case::all(patterns.clone(), patterns);
    let batch = case.batch(&scheme(EditMode::Global, &Equality::literal(Alphabet::Dna), Limit::None));
    let expected = run(&batch, &mut DistanceWorkspace::default());
    for threads in [1, 3] {
        let pool = thread_pool(threads).unwrap();
        let mut workers: Vec<EditWorker> = (0..threads).map(|_| EditWorker::default()).collect();
        let reports = compute_together(&pool, &mut workers, &batch).unwrap();
        assert!(reports.len() > 1, "parts for several");
        assert_eq!(reports.into_iter().flat_map(|report| report.distances.into_each()).collect::<Vec<_>>(), expected);
        let interrupt = Arc::new(AtomicBool::new(true));
        let mut workers = [EditWorker::new(interrupt)];
        assert!(matches!(compute_together(&pool, &mut workers, &batch), Err(pairwave::Error::Interrupted)));
    }
}

/// Generates sequences over few symbols, so that many match: a pattern, related sequences and
/// others.
fn cases() -> impl Strategy<Value = (Case, Equality)> {
    let length = prop_oneof![0usize..4, 30usize..36, 60usize..70, 125usize..132, 0usize..300];
    let code = prop_oneof![8 => 0u8..4, 1 => 4u8..15];
    let sequence = length.prop_flat_map(move |length| prop::collection::vec(code.clone(), length));
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, 0u8..4), 0..20);
    let rule = prop::sample::select(equalities());
    (prop::collection::vec(sequence, 1..4), prop::collection::vec(edits, 1..20), rule).prop_map(
        |(sequences, edits, equality)| {
            let code = |number: u8| match equality.alphabet() {
                Alphabet::Dna if number < 4 => 1 << number,
                // 3 is the first ambiguous code.
                Alphabet::Dna => [3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15][number as usize - 4],
                Alphabet::Protein | Alphabet::Bytes => number + 1,
            };
            let patterns: Vec<Vec<Code>> =
                sequences.into_iter().map(|sequence| sequence.into_iter().map(code).collect()).collect();
            let texts = edits.iter().enumerate().map(|(index, edits)| {
                let mut text = patterns[index % patterns.len()].clone();
                for (at, kind, number) in edits {
                    let at = at.index(text.len().max(1));
                    match kind {
                        _ if text.is_empty() => text.push(code(*number)),
                        0 => text[at] = code(*number),
                        1 => text.insert(at, code(*number)),
                        _ => drop(text.remove(at)),
                    }
                }
                text
            });
            (Case::all(patterns.clone(), texts.collect()), equality)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn random_sequences_match_textbook(
        (case, equality) in cases(),
        mode in prop::sample::select(MODES.to_vec()),
        limit in prop_oneof![
            Just(Limit::None),
            (0u32..40).prop_map(Limit::Distance),
            (0.0f64..=1.0).prop_map(Limit::Rate),
        ],
    ) {
        check(&case, &scheme(mode, &equality, limit));
    }
}
