//! Checks with textbook distances that pruned pairs exceed the limit, and that most pairs outside
//! the limit are pruned.

use super::*;
use crate::edit::plan::{Against, EditJob};
use crate::edit::{EditBatch, cpu};
use crate::score::{Ambiguity, EditMode, EditScheme, Equality, IdentityDefinition, OverlapReach, Scoring, edit_filter};
use crate::seq::{Alphabet, Code, QueryStrands, SequenceStore, Strands};

/// Creates families of sequences: whole, cut at either end, with a few ambiguous symbols, and some that are too short to prune.
fn families(random: &mut fastrand::Rng, alphabet: Alphabet, sequences: usize, longest: usize) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(alphabet);
    let code = |random: &mut fastrand::Rng| match alphabet {
        Alphabet::Dna if random.u32(..100) == 0 => random.u8(1..16),
        Alphabet::Dna => 1 << random.u8(..4),
        _ => random.u8(1..21),
    };
    let mut parent: Vec<Code> = Vec::new();
    for number in 0..sequences {
        if number % 12 == 0 {
            let length = random.usize(longest / 2..longest);
            parent = (0..length).map(|_| code(random)).collect();
        }
        let cut = |random: &mut fastrand::Rng| if random.bool() { 0 } else { random.usize(..parent.len() / 3) };
        let (from, to) = match random.u8(..3) {
            0 => (cut(random), parent.len()),
            1 => (0, parent.len() - cut(random)),
            _ => (cut(random) / 2, parent.len() - cut(random) / 2),
        };
        let apart = [3000, 300, 60, 20][random.usize(..4)];
        let mut codes = Vec::new();
        for &old in &parent[from..to] {
            match random.u32(..apart) {
                0 => {}
                1 => codes.extend([old, code(random)]),
                2 => codes.push(code(random)),
                _ => codes.push(old),
            }
        }
        let unlike = [0, 0, 10, 100][random.usize(..4)];
        codes.extend((0..unlike).map(|_| code(random)));
        if number % 40 == 7 {
            codes.truncate(random.usize(..12));
        }
        if number % 50 == 9 && alphabet == Alphabet::Dna {
            let at = random.usize(..=codes.len());
            codes.splice(at..at, [15; 9]);
        }
        store.push(format!("{number}"), &codes).unwrap();
    }
    Arc::new(store.build())
}

fn job(patterns: &Arc<SequenceStore>, texts: Option<&Arc<SequenceStore>>, scheme: EditScheme) -> EditJob {
    let against = texts.map_or(Against::Later, |texts| Against::Texts(Arc::clone(texts)));
    let strands = QueryStrands { strand: Strands::Plus, later_only: false };
    EditJob { patterns: Arc::clone(patterns), against, scheme: Arc::new(scheme), strands, parts: None }
}

/// Returns the pattern and the text of each pair of a chunk.
fn pairs((_, chunk, blocks): &QueuedChunk<Edit>) -> Vec<(SequenceId, SequenceId)> {
    let mut all = Vec::new();
    for (_, block) in blocks {
        all.extend(block.regions.clone().map(|index| (block.pattern, chunk.region(index).text)));
        let cells = block.regions.clone().map(|index| u64::from(chunk.region(index).symbols()));
        assert_eq!(block.cells, cells.sum::<u64>() * u64::from(chunk.patterns.length(block.pattern)));
    }
    all.sort_unstable();
    all
}

#[test]
fn no_pair_within_the_limit_is_pruned() {
    let seed = 0x96A3;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let dna = || Equality::dna(Ambiguity::Overlap, true);
    let reach = OverlapReach { shorter: 1, constant: 7, divisor: 2, rate: OverlapReach::rate_from_edits(0.04) };
    let overlap =
        |identity, scoring: &Scoring| edit_filter(IdentityDefinition::InnerColumns, identity, scoring).unwrap();
    let scheme = |mode, equality, limit| EditScheme { mode, equality, limit };
    let schemes = [
        overlap(0.97, &Scoring::dna()),
        overlap(0.99, &Scoring::dna()),
        overlap(0.95, &Scoring::truong()),
        scheme(EditMode::Overlap(reach), dna(), Limit::Distance(6)),
        scheme(EditMode::Overlap(OverlapReach { rate: OverlapReach::ANY_RATE, ..reach }), dna(), Limit::Rate(0.03)),
        edit_filter(IdentityDefinition::Shorter, 0.97, &Scoring::dna()).unwrap(),
        edit_filter(IdentityDefinition::Columns, 0.96, &Scoring::dna()).unwrap(),
        scheme(EditMode::Global, Equality::dna(Ambiguity::Mismatch, false), Limit::Rate(0.05)),
        scheme(EditMode::Infix, dna(), Limit::Rate(0.04)),
        scheme(EditMode::Prefix, Equality::literal(Alphabet::Dna), Limit::Distance(5)),
        edit_filter(IdentityDefinition::Columns, 0.9, &Scoring::protein()).unwrap(),
    ];
    let (mut within, mut beyond, mut pruned) = (0, 0, 0);
    let mut pruned_overlaps = 0;
    let mut workspace = cpu::DistanceWorkspace::default();
    for (number, scheme) in schemes.into_iter().enumerate() {
        let alphabet = scheme.equality.alphabet();
        // Only overlaps need texts with halves that are longer than the shortest overlap.
        let longest = if matches!(scheme.mode, EditMode::Overlap(_)) { 500 } else { 350 };
        // For one scheme in three, the texts of the triangle fill one tile and a part of another one.
        let sequences = if number % 3 == 0 { 530 } else { 180 };
        for is_triangle in [true, false] {
            let texts = families(&mut random, alphabet, if is_triangle { sequences } else { sequences / 2 }, longest);
            let patterns =
                if is_triangle { Arc::clone(&texts) } else { families(&mut random, alphabet, 18, longest + 100) };
            let job = job(&patterns, (!is_triangle).then_some(&texts), scheme.clone());
            // Take a chunk with more patterns than pruning requires.
            for planned in job.chunks(17 * texts.len() as u64).take(1) {
                let blocks: Vec<EditBlock> = planned.2.iter().map(|(_, block)| block.clone()).collect();
                let batch = EditBatch { chunk: Arc::clone(&planned.1), blocks };
                let results = cpu::run(&batch, &mut workspace);
                let regions =
                    batch.blocks.iter().flat_map(|block| block.regions.clone().map(|index| (block.pattern, index)));
                let all: Vec<_> =
                    regions.map(|(pattern, index)| (pattern, batch.chunk.region(index).text)).zip(results).collect();
                let (remaining, left) = prune(planned);
                pruned += left.pairs;
                pruned_overlaps += if matches!(scheme.mode, EditMode::Overlap(_)) { left.pairs } else { 0 };
                let kept = pairs(&remaining);
                assert_eq!((kept.len() as u64 + left.pairs, left.cells > 0), (batch.pairs(), left.pairs > 0));
                for (pair, results) in all {
                    if results.is_some() {
                        within += 1;
                        let (pattern, text) = (patterns.codes(pair.0), texts.codes(pair.1));
                        assert!(kept.binary_search(&pair).is_ok(), "{scheme:?} {pair:?}: {pattern:?} {text:?}");
                    } else {
                        beyond += 1;
                    }
                }
            }
        }
    }
    println!("{within} pairs within, {beyond} beyond, {pruned} left out, {pruned_overlaps} of them overlaps");
    assert!(pruned_overlaps > pruned / 4);
    assert!(within > 200 && pruned > beyond / 4, "{within} within, {pruned} of {beyond} left out");
}

#[test]
fn short_overlaps_within_the_limit_are_kept() {
    let seed = 0x5E07;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let symbols =
        |random: &mut fastrand::Rng, count: usize| -> Vec<Code> { (0..count).map(|_| 1 << random.u8(..4)).collect() };
    let [patterns, texts] = [20, 600].map(|_| SequenceStore::builder(Alphabet::Dna));
    let (mut patterns, mut texts) = (patterns, texts);
    // Each text overlaps one pattern: its start with the pattern's end, or the other way round.
    let cores: Vec<Vec<Code>> = (0..20)
        .map(|_| {
            let count = random.usize(60..350);
            symbols(&mut random, count)
        })
        .collect();
    for (number, core) in cores.iter().enumerate() {
        let count = random.usize(400..600) - core.len();
        let rest = symbols(&mut random, count);
        let codes = if number % 2 == 0 { [core, &rest[..]].concat() } else { [&rest[..], core].concat() };
        patterns.push(format!("{number}"), &codes).unwrap();
    }
    for number in 0..600 {
        let mut core = cores[number % 20].clone();
        for _ in 0..random.usize(..3) {
            let at = random.usize(..core.len());
            core[at] = 1 << random.u8(..4);
        }
        let count = random.usize(400..600) - core.len();
        let rest = symbols(&mut random, count);
        let codes = if number % 2 == 0 { [&rest[..], &core].concat() } else { [&core[..], &rest].concat() };
        texts.push(format!("{number}"), &codes).unwrap();
    }
    let (patterns, texts) = (Arc::new(patterns.build()), Arc::new(texts.build()));
    for scoring in [Scoring::dna(), Scoring::truong()] {
        let scheme = edit_filter(IdentityDefinition::InnerColumns, 0.97, &scoring).unwrap();
        let planned = job(&patterns, Some(&texts), scheme).chunks(u64::MAX).next().unwrap();
        let blocks: Vec<EditBlock> = planned.2.iter().map(|(_, block)| block.clone()).collect();
        let batch = EditBatch { chunk: Arc::clone(&planned.1), blocks };
        let results = cpu::run(&batch, &mut cpu::DistanceWorkspace::default());
        let all = batch.blocks.iter().flat_map(|block| block.regions.clone().map(|index| (block.pattern, index)));
        let all = all.map(|(pattern, index)| (pattern, batch.chunk.region(index).text));
        let within: Vec<_> = all.zip(results).filter(|(_, result)| result.is_some()).map(|(pair, _)| pair).collect();
        let (remaining, left) = prune(planned);
        let kept = pairs(&remaining);
        println!("{} pairs within, {} left out", within.len(), left.pairs);
        assert!(within.len() > 100 && left.pairs > 11_000);
        within.iter().for_each(|pair| assert!(kept.binary_search(pair).is_ok(), "{pair:?}"));
    }
}

#[test]
fn chunk_keeps_a_pair_and_few_patterns_keep_all() {
    let mut random = fastrand::Rng::with_seed(5);
    let store = |random: &mut fastrand::Rng, sequences: usize| {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for number in 0..sequences {
            let codes: Vec<Code> = (0..300).map(|_| 1 << random.u8(..4)).collect();
            store.push(format!("{number}"), &codes).unwrap();
        }
        Arc::new(store.build())
    };
    let (patterns, texts) = (store(&mut random, 20), store(&mut random, 600));
    let scheme = edit_filter(IdentityDefinition::InnerColumns, 0.97, &Scoring::dna()).unwrap();
    let planned = job(&patterns, Some(&texts), scheme.clone()).chunks(u64::MAX).next().unwrap();
    let (remaining, left) = prune(planned);
    assert_eq!((pairs(&remaining).len(), left.pairs), (1, 20 * 600 - 1));
    let some = store(&mut random, MIN_PATTERNS - 1);
    for (patterns, scheme) in [
        (&some, scheme.clone()),
        (&patterns, EditScheme { limit: Limit::None, ..scheme.clone() }),
        (&patterns, edit_filter(IdentityDefinition::InnerColumns, 0.8, &Scoring::dna()).unwrap()),
    ] {
        let planned = job(patterns, Some(&texts), scheme).chunks(u64::MAX).next().unwrap();
        assert_eq!(prune(planned.clone()).1, ExcludedPairs::default());
    }
}
