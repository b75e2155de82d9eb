use std::sync::Arc;

use super::super::tests::{bases, edited, scheme};
use super::plan::PieceIndexPlan;
use super::*;
use crate::edit::oracle;
use crate::score::{Ambiguity, EditScheme, Limit};
use crate::seq::{Alphabet, SequenceStore};

fn store(sequences: &[Vec<Code>]) -> SequenceStore {
    let mut store = SequenceStore::builder(Alphabet::Dna);
    sequences.iter().for_each(|codes| store.push("s", codes).unwrap());
    store.build()
}

/// In the windows of every indexed pattern, the distances of ends within the limit equal those in the
/// whole part, under rules where N equals every base and where it equals none.
#[test]
fn windows_contain_every_part_within_the_limit() {
    let seed = 11;
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut ends, mut skipped, mut indexed) = (0, 0, 0);
    for case in 0..60 {
        let rate = [0.02, 0.05, 0.08, 0.12][case % 4];
        let rule = [Ambiguity::Overlap, Ambiguity::Mismatch, Ambiguity::Mean][case % 3];
        let (letters, ambiguous) = ([4, 4, 2][case / 4 % 3], [0, 2][case / 3 % 2]);
        let scheme = EditScheme { equality: Equality::dna(rule, case % 5 > 0), limit: Limit::Rate(rate), ..scheme(0) };
        let lengths: Vec<usize> = (0..rng.usize(1..40)).map(|_| rng.usize(1..150)).collect();
        let patterns: Vec<Vec<Code>> =
            lengths.iter().map(|&symbols| bases(&mut rng, symbols, letters, ambiguous)).collect();
        let mut text = bases(&mut rng, 600, letters, ambiguous);
        for _ in 0..8 {
            let pattern = &patterns[rng.usize(..patterns.len())];
            let edits = rng.usize(..=scheme.limit(pattern.len() as u32, u32::MAX) as usize);
            let copy = if pattern.len() > edits { edited(&mut rng, pattern, edits) } else { Vec::new() };
            let at = rng.usize(..=text.len());
            text.splice(at..at, copy);
        }
        let part = rng.usize(..30)..text.len() - rng.usize(..30);
        let texts = PackedTexts::new(Arc::new(store(std::slice::from_ref(&text))));
        let patterns = store(&patterns);
        // The text is short, so only a plan for a longer one pays.
        let Some(plan) = PieceIndexPlan::new(&patterns, &scheme, 1 << 30) else { continue };
        let queries = 0..patterns.len() as SequenceId;
        assert_eq!(plan.groups(&patterns, &scheme, queries.clone()).len(), 1);
        let index = plan.index(&patterns, &scheme, queries.clone());
        assert_eq!(index.queries(), queries);
        let mut windows = vec![FoundWindow { query: 0, start: 0, end: 1 }];
        index.windows(&texts, 0, part.clone(), &mut windows);
        assert!(windows.is_sorted_by(|a, b| (a.query, a.end) < (b.query, b.start)));
        for query in queries {
            let own: Vec<&FoundWindow> = windows.iter().filter(|window| window.query == query).collect();
            if !index.contains(query) {
                assert!(own.is_empty());
                continue;
            }
            indexed += 1;
            let pattern = patterns.codes(query);
            let limit = scheme.limit(pattern.len() as u32, u32::MAX);
            let all = oracle::last_row(pattern, &text[part.clone()], &scheme);
            let mut found = vec![u32::MAX; all.len()];
            for window in &own {
                assert!(part.start as u32 <= window.start && window.end as usize <= part.end);
                let in_window = &text[window.start as usize..window.end as usize];
                for (end, distance) in oracle::last_row(pattern, in_window, &scheme).into_iter().enumerate() {
                    let at = window.start as usize - part.start + end;
                    found[at] = found[at].min(distance);
                }
            }
            for (end, (&distance, &found)) in all.iter().zip(&found).enumerate() {
                let context = || format!("seed {seed} case {case}: pattern {query} {pattern:?} at {end}");
                assert!(found >= distance, "{}", context());
                if distance <= limit {
                    assert_eq!(found, distance, "{}", context());
                    ends += 1;
                }
            }
            skipped += all.len() - own.iter().map(|window| (window.end - window.start) as usize).sum::<usize>();
        }
    }
    assert!(ends > 500 && skipped > 100_000 && indexed > 500, "{ends} {skipped} {indexed}");
}

/// The expected cost decides which patterns share tables.
#[test]
fn selective_pieces_of_many_patterns_share_tables() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut plan_of = |kinds: &[(usize, usize)], limit: u32, text_symbols: u64| {
        let mut patterns = Vec::new();
        for &(count, symbols) in kinds {
            patterns.extend((0..count).map(|_| bases(&mut rng, symbols, 4, 0)));
        }
        let patterns = store(&patterns);
        let scheme = scheme(limit);
        let plan = PieceIndexPlan::new(&patterns, &scheme, text_symbols)?;
        let index = plan.index(&patterns, &scheme, 0..patterns.len() as SequenceId);
        assert!(plan.cycles() < plan.cycles_without());
        Some((index, plan.cycles_without() / plan.cycles()))
    };
    for (symbols, limit, least_gain) in [(100, 5, 10.0), (20, 1, 10.0), (1000, 50, 5.0), (150, 15, 3.0)] {
        let (index, gain) = plan_of(&[(500, symbols)], limit, 1 << 23).expect("an index");
        assert!(gain > least_gain && (0..500).all(|query| index.contains(query)), "{symbols} {limit}: {gain}");
    }
    // Pieces are too short, every text is within the limit, or the table costs more than the text.
    assert!(plan_of(&[(500, 23)], 6, 1 << 23).is_none());
    assert!(plan_of(&[(500, 5)], 5, 1 << 23).is_none());
    assert!(plan_of(&[(500, 100)], 5, 100).is_none());
    // Patterns without long pieces remain for other filters.
    let (index, _) = plan_of(&[(100, 100), (3, 12), (50, 80)], 5, 1 << 23).expect("an index");
    let expected: Vec<bool> = (0..153).map(|query| !(100..103).contains(&query)).collect();
    assert_eq!((0..153).map(|query| index.contains(query)).collect::<Vec<_>>(), expected);
}

#[test]
fn indexes_have_a_limited_size() {
    let patterns = vec![vec![1; 200]; 5000];
    let mut rng = fastrand::Rng::with_seed(3);
    let patterns: Vec<Vec<Code>> = patterns.iter().map(|codes| bases(&mut rng, codes.len(), 4, 0)).collect();
    let (patterns, scheme) = (store(&patterns), scheme(20));
    let plan = PieceIndexPlan::new(&patterns, &scheme, 1 << 40).expect("an index");
    let groups = plan.groups(&patterns, &scheme, 10..4990);
    assert!(groups.len() > 1 && groups[0].len() > 100, "{groups:?}");
    assert_eq!((groups[0].start, groups.last().unwrap().end), (10, 4990));
    assert!(groups.windows(2).all(|two| two[0].end == two[1].start));
}
