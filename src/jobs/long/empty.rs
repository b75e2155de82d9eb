//! Finds parts of a matrix in which no local alignment reaches a score, without computing cells.
//!
//! Let a pair have `m` symbols in its shorter sequence, and let a match score at most `M`. An
//! alignment of score `s` loses `M * m - s` in total, compared with `m` matches: at least
//! `M - mismatch` by each mismatch, `M` by each symbol of the shorter sequence outside the
//! alignment, `M` and the cost of the gap by each of its symbols in a gap, and the cost of each gap
//! in the shorter sequence. Every loss destroys words (k-mers) of the shorter sequence: a mismatch
//! at most `k`, a gap of `g` of its symbols at most `k + g - 1`, a gap between two of its symbols at
//! most `k - 1`, and a symbol outside the alignment 1. The longer sequence contains all other words,
//! at different positions within the alignment (the q-gram lemma of Jokinen and Ukkonen 1991, with
//! the losses of a score instead of a number of edits).
//!
//! So an alignment of at least this score contains a minimum number of words, and the same loss
//! limits its length. A window of this length that contains fewer words of the shorter sequence
//! therefore contains no such alignment. Symbols that stand for several bases may match without a
//! loss. Words with such symbols do not count, and each such symbol of a window counts as `k` words.

use std::ops::Range;

use super::bound::{base_of, for_each_word};
use crate::alignment::ForbiddenRectangle;
use crate::long::LongPair;
use crate::score::Scoring;
use crate::seq::{Alphabet, Code};

/// Lengths of words that are considered. The set of words of the greatest length takes 32 MB.
const LENGTHS: Range<u32> = 4..15;
/// Part of the best margin between an alignment and chance that suffices.
const NEARLY_BEST: f64 = 0.95;

/// Limits of an alignment that reaches a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WordBound {
    /// Length of a word.
    k: u32,
    /// Minimum number of words of the shorter sequence.
    words: u64,
    /// Maximum number of symbols of the longer sequence.
    window: u64,
}

/// Returns parts of the matrix of a pair that no local alignment with a score of at least `score`
/// passes through, if they have at least `min_cells` cells. They are all rows of some columns if the
/// query is the shorter sequence, otherwise all columns of some rows. Returns none for proteins.
pub(super) fn empty_parts(pair: &LongPair, score: i32, min_cells: u64) -> Vec<ForbiddenRectangle> {
    let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
    let is_query_shorter = m <= n;
    let (shorter, longer) = if is_query_shorter { (&pair.query, &pair.target) } else { (&pair.target, &pair.query) };
    let part = |range: Range<u32>| match is_query_shorter {
        true => ForbiddenRectangle { query: 0..m, target: range },
        false => ForbiddenRectangle { query: range, target: 0..n },
    };
    match word_bound(&pair.scoring, shorter, score) {
        Some(bound) => {
            let is_large = |range: &Range<u32>| range.len() as u64 * shorter.len() as u64 >= min_cells;
            empty_ranges(shorter, longer, bound).into_iter().filter(is_large).map(part).collect()
        }
        None => Vec::new(),
    }
}

/// Returns the bound for the least length of words that distinguishes nearly best between an
/// alignment and chance; `None` if no length does. The set of shorter words is smaller, so that more
/// of it remains in the processor's caches.
fn word_bound(scoring: &Scoring, shorter: &[Code], score: i32) -> Option<WordBound> {
    let (matching, gaps) = (i64::from(scoring.substitution.max_score()), scoring.gaps);
    let (first, next) = (i64::from(gaps.first), i64::from(gaps.next));
    let bases = || (0..4u8).map(|base| 1 << base);
    let unequal = bases().flat_map(|a| bases().filter(move |&b| a != b).map(move |b| (a, b)));
    let mismatch = unequal.map(|(a, b)| i64::from(scoring.substitution.score(a, b))).max()?;
    let by_mismatch = matching - mismatch;
    if scoring.alphabet != Alphabet::Dna || matching < 1 || by_mismatch < 1 || first.min(next) < 1 {
        return None;
    }
    let m = shorter.len() as i64;
    let loss = matching * m - i64::from(score);
    if loss < 0 {
        return None;
    }
    let window = m + loss / first.min(next);
    let runs = run_lengths(shorter);
    let bound = |k: u32| {
        let length = i64::from(k);
        // A gap of g symbols of the shorter sequence costs first + M for the first symbol, and
        // next + M for each further one.
        let destroyed = [
            loss * length / by_mismatch,
            loss * length / (first + matching),
            loss / (next + matching),
            loss * (length - 1) / first,
            loss / matching,
        ];
        let all: u64 = runs.iter().map(|run| (run + 1).saturating_sub(k.into())).sum();
        let words = all as i64 - destroyed.into_iter().max()?;
        // The number of words that a window of random bases contains, twice to be safe.
        let by_chance = 2.0 * window as f64 * m as f64 / 4f64.powi(k as i32);
        let margin = words as f64 - by_chance;
        (margin > 0.0).then_some((margin, WordBound { k, words: words as u64, window: window as u64 }))
    };
    let bounds: Vec<(f64, WordBound)> = LENGTHS.filter_map(bound).collect();
    let best = bounds.iter().map(|(margin, _)| *margin).fold(0.0, f64::max);
    bounds.into_iter().find(|(margin, _)| *margin >= NEARLY_BEST * best).map(|(_, bound)| bound)
}

/// Returns the lengths of the parts that contain only the four bases.
fn run_lengths(codes: &[Code]) -> Vec<u64> {
    let runs = codes.split(|&code| base_of(code).is_none());
    runs.map(|run| run.len() as u64).filter(|&length| length > 0).collect()
}

/// A set of small numbers.
struct BitSet(Vec<u64>);

impl BitSet {
    fn of_size(size: usize) -> Self {
        BitSet(vec![0; size.div_ceil(64)])
    }

    fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }
}

/// Returns the ranges of the longer sequence that no window with enough words touches.
fn empty_ranges(shorter: &[Code], longer: &[Code], WordBound { k, words, window }: WordBound) -> Vec<Range<u32>> {
    let mut known = BitSet::of_size(1 << (2 * k));
    for_each_word(shorter, k, |_, word| known.insert(word as usize));
    // Bit i: whether the word that starts at symbol i is known.
    let mut starts = BitSet::of_size(longer.len());
    for_each_word(longer, k, |end, word| {
        if known.contains(word as usize) {
            starts.insert(end - k as usize);
        }
    });
    let (n, k) = (longer.len(), k as usize);
    let window = usize::try_from(window).unwrap_or(n).min(n);
    let mut ranges: Vec<Range<u32>> = Vec::new();
    // The end of the last range that may contain an alignment.
    let mut full_until = 0;
    let (mut inside, mut unclear) = (0u64, 0u64);
    let is_unclear = |position: usize| u64::from(base_of(longer[position]).is_none());
    let is_start = |position: usize| u64::from(starts.contains(position));
    // The window moves from its first position to its last one. It contains words that start in
    // first..first + window - k + 1.
    let word_starts = (window + 1).saturating_sub(k);
    for position in 0..window {
        unclear += is_unclear(position);
        inside += if position < word_starts { is_start(position) } else { 0 };
    }
    for first in 0..=n - window {
        if inside + unclear * k as u64 >= words {
            if first > full_until {
                ranges.push(full_until as u32..first as u32);
            }
            full_until = first + window;
        }
        if first + window < n {
            unclear += is_unclear(first + window);
            unclear -= is_unclear(first);
            if word_starts > 0 {
                inside += is_start(first + word_starts);
                inside -= is_start(first);
            }
        }
    }
    if full_until < n {
        ranges.push(full_until as u32..n as u32);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::oracle::align;
    use crate::score::{Ambiguity, EndGaps, Gaps, Mode};
    use crate::seq::reverse_complement;

    fn scoring(match_score: i32, mismatch: i32, gaps: Gaps) -> Scoring {
        let scoring = Scoring::nucleotide(match_score, mismatch, Ambiguity::Overlap, gaps, EndGaps::Charged);
        Scoring { mode: Mode::Local, ..scoring.expect("a valid scheme") }
    }

    fn bases(random: &mut fastrand::Rng, count: usize) -> Vec<Code> {
        (0..count).map(|_| 1 << random.u8(..4)).collect()
    }

    /// Changes, drops or inserts one symbol in `one_in`, or makes it ambiguous.
    fn relative(random: &mut fastrand::Rng, codes: &[Code], one_in: usize) -> Vec<Code> {
        let mut out = Vec::new();
        for &code in codes {
            match random.usize(..4 * one_in) {
                0 => {}
                1 => out.extend([code, 1 << random.u8(..4)]),
                2 => out.push(1 << random.u8(..4)),
                3 => out.push(15),
                _ => out.push(code),
            }
        }
        out
    }

    #[test]
    fn parts_of_alignments_that_reach_the_score_are_never_empty() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let random = &mut fastrand::Rng::with_seed(seed);
        let mut excluded = 0;
        for case in 0..300 {
            let common = bases(random, 20 + case % 150);
            let one_in = [4, 10, 30, 100][case % 4];
            let [before, after] = [0; 2].map(|_| {
                let length = random.usize(..400);
                bases(random, length)
            });
            let copy = relative(random, &common, one_in);
            let long = [&before[..], &copy[..], &after[..]].concat();
            let (match_score, mismatch) = (random.i32(1..6), -random.i32(0..8));
            let gaps = Gaps { first: random.i32(1..20), next: random.i32(1..4) };
            let scoring = scoring(match_score, mismatch, Gaps { first: gaps.first.max(gaps.next), ..gaps });
            for (query, target) in [(&common, &long), (&long, &common)] {
                let pair =
                    LongPair { query: query[..].into(), target: target[..].into(), scoring: scoring.clone().into() };
                let best = align(query, target, &scoring);
                // Lower scores than the best one give weaker bounds.
                for score in [best.score, best.score - 1, best.score * 9 / 10, best.score / 2] {
                    for empty in empty_parts(&pair, score.max(1) as i32, 0) {
                        let is_beside = |empty: &Range<u32>, range: &Range<u32>| {
                            range.end <= empty.start || empty.end <= range.start
                        };
                        let rows = best.start.0 as u32..best.end.0 as u32;
                        let columns = best.start.1 as u32..best.end.1 as u32;
                        excluded += 1;
                        assert!(
                            is_beside(&empty.query, &rows) || is_beside(&empty.target, &columns),
                            "case {case}, score {score}: {empty:?} contains part of {rows:?}, {columns:?}"
                        );
                    }
                }
            }
        }
        assert!(excluded > 300, "{excluded} parts");
    }

    #[test]
    fn only_the_surroundings_of_a_copy_remain() {
        let random = &mut fastrand::Rng::with_seed(1);
        let [common, before, after] = [2_000, 50_000, 30_000].map(|length| bases(random, length));
        let target = [&before[..], &common[..], &after[..]].concat();
        let scoring = scoring(5, -4, Gaps::from_blast(20, 5));
        let pair = |query: &[Code]| LongPair {
            query: query.into(),
            target: target[..].into(),
            scoring: scoring.clone().into(),
        };
        let rows = 0..2_000;
        let empty = empty_parts(&pair(&common), 10_000, 0);
        let rectangle = |target| ForbiddenRectangle { query: rows.clone(), target };
        assert_eq!(empty, [rectangle(0..50_000), rectangle(52_000..82_000)], "all symbols match");
        let [left, right] = &empty_parts(&pair(&common), 9_000, 0)[..] else { panic!("two parts remain") };
        assert!(left.target.end > 47_000 && right.target.start < 55_000, "{left:?} {right:?}");
        // Nothing remains of the other strand.
        assert_eq!(empty_parts(&pair(&reverse_complement(&common)), 9_000, 0), [rectangle(0..82_000)]);
        assert_eq!(empty_parts(&pair(&common), 10_000, 1 << 26), [rectangle(0..50_000)], "the other part is small");
        // A low score excludes nothing.
        assert_eq!(empty_parts(&pair(&common), 1_000, 0), []);
        // A score that no alignment can reach excludes nothing, because the sweep excludes all.
        assert_eq!(empty_parts(&pair(&common), 10_001, 0), []);
    }
}
