//! Computes a lower bound of the best score before the sweep. With it, the sweep prunes from the
//! first row on. Without it, a local sweep would prune only after it has reached a good score, and a
//! sweep of whole sequences never.
//!
//! Anchors are k-mers that occur exactly once in each sequence. The module finds the longest chain
//! of anchors whose positions increase in both sequences (Delcher et al. 1999, MUMmer). A path
//! leads from each k-mer of the chain to the next, along one diagonal, or along two diagonals with
//! a gap where it costs least. The best part of the path is a valid local alignment, so its score is a
//! lower bound of the best score. For whole sequences, the path is continued to both ends. The time
//! is nearly proportional to the lengths.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::alignment::CircularSides;
use crate::alignment::circular::Sides;
use crate::long::LongPair;
use crate::seq::{Alphabet, Code};

/// Number of bases of a k-mer. On average, two genomes have less than one k-mer of this length in
/// common by chance.
const KMER: usize = 24;
/// Parameters of the sample: the divisor of the number of k-mers of a sequence, and the minimum and
/// maximum number of sampled k-mers (the maximum takes a quarter of a gigabyte).
const ONE_OF: usize = 16;
const MIN_WORDS: usize = 1 << 18;
const MAX_WORDS: usize = 1 << 24;
/// Code of a symbol that is not a base.
const NO_BASE: u8 = 4;

/// Positions in query and target of a common k-mer.
pub(super) type KmerAnchor = Sides<u32>;

/// A k-mer and its position.
type KmerPosition = (u64, u32);

/// Sampled k-mers of the last target. The next pair often has the same target.
#[derive(Debug)]
pub(super) struct TargetWords {
    target: Arc<[Code]>,
    one_of: u64,
    words: Vec<KmerPosition>,
}

impl TargetWords {
    /// Returns the words of a target, which are computed if the last target was another one.
    fn get<'a>(last: &'a mut Option<TargetWords>, target: &Arc<[Code]>, one_of: u64) -> &'a [KmerPosition] {
        let is_same = |last: &&mut TargetWords| Arc::ptr_eq(&last.target, target) && last.one_of == one_of;
        if last.as_mut().filter(is_same).is_none() {
            *last = Some(TargetWords { target: Arc::clone(target), one_of, words: words(target, one_of) });
        }
        last.as_ref().map_or(&[], |last| &last.words)
    }
}

/// A lower bound of the best score of a pair.
#[derive(Debug, Default)]
pub(super) struct ScoreBound {
    /// The bound; 0 if no positive one is known.
    pub score: i32,
    /// Points of the path that has this score: the first and last anchor of each diagonal, in
    /// order.
    pub path: Vec<KmerAnchor>,
}

impl ScoreBound {
    fn new(score: i64, chain: &[KmerAnchor]) -> Self {
        let diagonal = |at: &KmerAnchor| i64::from(at.query) - i64::from(at.target);
        let of_diagonal = chain.chunk_by(|one, next| diagonal(one) == diagonal(next));
        let path = of_diagonal.flat_map(|anchors| {
            let (first, last) = (anchors[0], anchors[anchors.len() - 1]);
            [Some(first), Some(last).filter(|&last| last != first)].into_iter().flatten()
        });
        ScoreBound { score: i32::try_from(score.max(0)).unwrap_or(i32::MAX), path: path.collect() }
    }
}

/// Returns lower bounds of the best scores of pairs with the same target and queries of the same
/// length. Returns none for proteins.
pub(super) fn bounds(pairs: &[&LongPair], last_target: &mut Option<TargetWords>) -> Vec<ScoreBound> {
    let Some(first) = pairs.iter().find(|pair| pair.scoring.alphabet == Alphabet::Dna) else { return Vec::new() };
    let longest = first.query.len().max(first.target.len());
    let one_of = sample_divisor(longest);
    // Each sequence has a separate thread, because the first rows wait for the bounds.
    std::thread::scope(|scope| {
        let queries: Vec<_> = pairs.iter().map(|pair| scope.spawn(|| words(&pair.query, one_of))).collect();
        let target = TargetWords::get(last_target, &first.target, one_of);
        let bound = |(pair, query): (&&LongPair, std::thread::ScopedJoinHandle<Vec<KmerPosition>>)| {
            let chain = chain(anchors(&query.join().ok()?, target));
            let score = if pair.is_local() { best_part(pair, &chain) } else { whole_path(pair, &chain) };
            Some(ScoreBound::new(score, &chain))
        };
        pairs.iter().zip(queries).map(|both| bound(both).unwrap_or_default()).collect()
    })
}

/// Returns lower bounds of the best local scores of pairs of unrolled sequences; `lengths` are those
/// of query and target. Returns none for proteins.
///
/// Every k-mer would occur twice in an unrolled sequence. So only the first copy of each symbol is
/// searched, and every common k-mer is copied.
pub(super) fn circular_bounds(pairs: &[&LongPair], lengths: Sides<u32>, circular: CircularSides) -> Vec<ScoreBound> {
    let bound = |pair: &&LongPair| {
        let (query, target) = (&pair.query[..lengths.query as usize], &pair.target[..lengths.target as usize]);
        let one_of = sample_divisor(query.len().max(target.len()));
        let (query_words, target_words) = std::thread::scope(|scope| {
            let query_words = scope.spawn(|| words(query, one_of));
            let target_words = words(target, one_of);
            (query_words.join().unwrap_or_default(), target_words)
        });
        let copies = |position: u32, length: u32, is_circular: bool| {
            let again = (is_circular && position + (KMER as u32) < length).then_some(position + length);
            [Some(position), again].into_iter().flatten()
        };
        let anchors = anchors(&query_words, &target_words).into_iter();
        let mut anchors: Vec<KmerAnchor> = anchors
            .flat_map(|at| copies(at.query, lengths.query, circular.query).map(move |query| Sides { query, ..at }))
            .flat_map(|at| copies(at.target, lengths.target, circular.target).map(move |target| Sides { target, ..at }))
            .collect();
        // A chain contains at most one anchor of a query position, because their target positions
        // decrease.
        anchors.sort_unstable_by_key(|at| (at.query, Reverse(at.target)));
        let chain = chain(anchors);
        ScoreBound::new(best_part(pair, &chain), &chain)
    };
    let are_nucleotides = pairs.iter().all(|pair| pair.scoring.alphabet == Alphabet::Dna);
    if are_nucleotides { pairs.iter().map(bound).collect() } else { Vec::new() }
}

/// Returns the divisor of the number of k-mers in the sample of sequences of this length.
fn sample_divisor(longest: usize) -> u64 {
    let wanted = (longest / ONE_OF).clamp(MIN_WORDS, MAX_WORDS);
    (longest.div_ceil(wanted) as u64).next_power_of_two()
}

/// Number of each code that stands for a single base.
const BASES: [u8; 256] = {
    let mut bases = [NO_BASE; 256];
    let mut base = 0;
    while base < NO_BASE {
        bases[1 << base] = base;
        base += 1;
    }
    bases
};

/// Returns the number of the base that a code stands for; `None` if it stands for several.
pub(super) fn base_of(code: Code) -> Option<u8> {
    Some(BASES[code as usize]).filter(|&base| base != NO_BASE)
}

/// Calls `f` for each word of `k` symbols that contains only the four bases, with the index after its
/// last symbol and its number.
pub(super) fn for_each_word(codes: &[Code], k: u32, mut f: impl FnMut(usize, u64)) {
    let mask = (1u64 << (2 * k)) - 1;
    let (mut word, mut length) = (0u64, 0u32);
    for (end, &code) in (1..).zip(codes) {
        let base = BASES[code as usize];
        // Any other code restarts the word.
        length = if base == NO_BASE { 0 } else { length + 1 };
        word = (word << 2 | u64::from(base & 3)) & mask;
        if length >= k {
            f(end, word);
        }
    }
}

/// Returns the sampled k-mers that occur once in the sample of a sequence, with their positions,
/// sorted. Samples one in `one_of` k-mers on average; `one_of` is a power of two.
fn words(codes: &[Code], one_of: u64) -> Vec<KmerPosition> {
    let mut kmers = Vec::with_capacity(codes.len() / one_of as usize);
    for_each_word(codes, KMER as u32, |end, word| {
        // Whether a k-mer is sampled depends only on its bases, so both sequences sample the same
        // k-mers.
        let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        if mixed & (one_of - 1) == 0 {
            kmers.push((word, (end - KMER) as u32));
        }
    });
    kmers.sort_unstable();
    let words = kmers.chunk_by(|a, b| a.0 == b.0);
    words.filter_map(|places| if let [only] = places { Some(*only) } else { None }).collect()
}

/// Returns the common k-mers, sorted by their positions in the query.
fn anchors(query: &[KmerPosition], target: &[KmerPosition]) -> Vec<KmerAnchor> {
    let mut targets = target.iter().peekable();
    let mut anchors = Vec::new();
    for &(word, position) in query {
        while targets.next_if(|other| other.0 < word).is_some() {}
        anchors
            .extend(targets.next_if(|other| other.0 == word).map(|other| Sides { query: position, target: other.1 }));
    }
    anchors.sort_unstable();
    anchors
}

/// Returns the longest chain of anchors whose positions increase in both sequences.
fn chain(anchors: Vec<KmerAnchor>) -> Vec<KmerAnchor> {
    // Among the chains of k + 1 anchors, one ends first in the target. `ends[k]` is its last
    // anchor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(anchors.len());
    for (index, anchor) in anchors.iter().enumerate() {
        let length = ends.partition_point(|&end| anchors[end].target < anchor.target);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut chain: Vec<KmerAnchor> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).map(|at| anchors[at]).collect();
    chain.reverse();
    chain
}

/// Returns the score of the best part of the path along a chain. The part starts and ends with a
/// k-mer.
fn best_part(pair: &LongPair, chain: &[KmerAnchor]) -> i64 {
    let word = |&anchor: &KmerAnchor| -> i64 { diagonal(pair, anchor, KMER as u32).sum() };
    let mut best = chain.first().map_or(0, word);
    let mut score = 0;
    for step in chain.windows(2) {
        score = (score + path_score(pair, step[0], step[1])).max(0);
        best = best.max(score + word(&step[1]));
    }
    best
}

/// Returns the score of the path along a chain from the start of both sequences to their ends, with
/// the end gaps of an alignment end to end. Returns 0 for an empty chain.
fn whole_path(pair: &LongPair, chain: &[KmerAnchor]) -> i64 {
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return 0 };
    let ends = pair.scoring.end_costs();
    let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
    let before = first.query.min(first.target);
    let corner = Sides { query: first.query - before, target: first.target - before };
    let start: i64 = diagonal(pair, corner, before).sum();
    let after = (m - last.query).min(n - last.target);
    let end: i64 = diagonal(pair, *last, after).sum();
    let steps: i64 = chain.windows(2).map(|step| path_score(pair, step[0], step[1])).sum();
    let gap_before = first.query.abs_diff(first.target);
    let gap_after = (m - last.query).abs_diff(n - last.target);
    let gaps = ends.cost(gap_before.into()) + ends.cost(gap_after.into());
    start + steps + end - gaps
}

/// Returns the scores of `length` pairs of symbols along the diagonal that starts at `start`.
fn diagonal(pair: &LongPair, start: KmerAnchor, length: u32) -> impl Iterator<Item = i64> {
    let query = &pair.query[start.query as usize..][..length as usize];
    let target = &pair.target[start.target as usize..][..length as usize];
    query.iter().zip(target).map(|(&a, &b)| pair.scoring.substitution.score(a, b).into())
}

/// Returns the score of the path from an anchor to the next one. If the two are not on one
/// diagonal, the path has one gap at the position where it costs least.
fn path_score(pair: &LongPair, from: KmerAnchor, to: KmerAnchor) -> i64 {
    let (rows, columns) = (to.query - from.query, to.target - from.target);
    let (length, gap) = (rows.min(columns), rows.abs_diff(columns));
    if gap == 0 {
        return diagonal(pair, from, length).sum();
    }
    let start = Sides { query: to.query - length, target: to.target - length };
    let behind = || diagonal(pair, start, length);
    let mut score: i64 = behind().sum();
    let mut best = score;
    for (before, after) in diagonal(pair, from, length).zip(behind()) {
        score += before - after;
        best = best.max(score);
    }
    best - pair.scoring.gaps.cost(gap.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::oracle::align;
    use crate::score::{EndGaps, Gaps, Mode, Scoring};

    /// A simple random generator, so that the chains are the same in each run.
    struct Bases(u64);

    impl Bases {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }

        fn random_codes(&mut self, count: usize) -> Vec<Code> {
            (0..count).map(|_| 1 << self.next(4)).collect()
        }

        /// Changes, drops or doubles one symbol in `one_in`.
        fn relative(&mut self, codes: &[Code], one_in: u64) -> Vec<Code> {
            let mut out = Vec::new();
            for &code in codes {
                match self.next(3 * one_in) {
                    0 => {}
                    1 => out.extend([code, code]),
                    2 => out.push(1 << self.next(4)),
                    _ => out.push(code),
                }
            }
            out
        }
    }

    fn pair(query: &[Code], target: &[Code]) -> LongPair {
        let scoring = Scoring { mode: Mode::Local, ..Scoring::truong() };
        LongPair { query: query.into(), target: target.into(), scoring: scoring.into() }
    }

    fn bound(pair: &LongPair) -> i64 {
        let bounds = bounds(&[pair], &mut None);
        assert_eq!(bounds.len(), 1);
        bounds[0].score.into()
    }

    fn best(pair: &LongPair) -> i64 {
        align(&pair.query, &pair.target, &pair.scoring).score
    }

    #[test]
    fn no_bound_exceeds_the_best_score() {
        for seed in 0..40 {
            let bases = &mut Bases(seed);
            let (common, rate) = (300 + bases.next(500) as usize, [5, 10, 20, 40, 100][seed as usize % 5]);
            let common = bases.random_codes(common);
            let relative = bases.relative(&common, rate);
            // Unrelated symbols surround the parts, and parts may occur twice or in another order.
            let (middle, other) = (relative.len() / 2, bases.random_codes(seed as usize * 7));
            let target = match seed % 4 {
                0 => relative,
                1 => [&other, &relative, &other].map(|part| &part[..]).concat(),
                2 => [&relative[..middle], &other, &relative[middle..]].concat(),
                _ => [&relative[middle..], &other, &relative[..middle], &relative[middle..]].concat(),
            };
            let local = pair(&common, &target);
            let whole = |end_gaps| {
                let scoring = Scoring { mode: Mode::Global, end_gaps, ..Scoring::truong() };
                LongPair { scoring: scoring.into(), ..local.clone() }
            };
            let priced = EndGaps::Priced(Gaps { first: 3, next: 1 });
            for pair in [local.clone(), whole(EndGaps::Charged), whole(EndGaps::Free), whole(priced)] {
                let (bound, best) = (bound(&pair), best(&pair));
                assert!(bound <= best.max(0), "seed {seed}: {bound} of {best}, {:?}", pair.scoring.end_gaps);
            }
        }
    }

    #[test]
    fn bounds_of_whole_relatives_are_near_the_best_score() {
        let bases = &mut Bases(5);
        let (common, flank) = (bases.random_codes(1500), bases.random_codes(250));
        let relative = bases.relative(&common, 100);
        let whole = |query: &[Code], target: &[Code], end_gaps| {
            let scoring = Scoring { mode: Mode::Global, end_gaps, ..Scoring::truong() };
            LongPair { query: query.into(), target: target.into(), scoring: scoring.into() }
        };
        let longer = [&flank[..], &relative, &flank].concat();
        for pair in [
            whole(&common, &relative, EndGaps::Charged),
            whole(&common, &longer, EndGaps::Free),
            whole(&longer, &common, EndGaps::Free),
        ] {
            let (bound, best) = (bound(&pair), best(&pair));
            assert!(bound <= best && bound * 100 >= best * 95, "{bound} of {best}");
        }
    }

    #[test]
    fn bounds_of_relatives_are_near_the_best_score() {
        for (rate, share) in [(100, 95), (50, 90), (20, 70)] {
            let bases = &mut Bases(rate);
            let common = bases.random_codes(1500);
            let pair = pair(&common, &bases.relative(&common, rate));
            let (bound, best) = (bound(&pair), best(&pair));
            assert!(bound * 100 >= best * share, "one in {rate}: {bound} of {best}");
        }
    }

    #[test]
    fn bounds_of_circles_reach_the_best_score_of_unrolled_sequences() {
        let unrolled = |codes: &[Code]| [codes, &codes[..codes.len() - 1]].concat();
        for seed in 0..12 {
            let bases = &mut Bases(seed);
            let common = bases.random_codes(400);
            let relative = if seed < 4 { common.clone() } else { bases.relative(&common, 40) };
            let first = bases.next(relative.len() as u64) as usize;
            let rotated = [&relative[first..], &relative[..first]].concat();
            for (is_query, is_target) in [(true, true), (true, false), (false, true)] {
                let form = |codes: &[Code], is_circular| if is_circular { unrolled(codes) } else { codes.to_vec() };
                let pair = pair(&form(&common, is_query), &form(&rotated, is_target));
                let circular = CircularSides { query: is_query, target: is_target };
                let lengths = Sides { query: common.len() as u32, target: rotated.len() as u32 };
                let (bound, best) = (i64::from(circular_bounds(&[&pair], lengths, circular)[0].score), best(&pair));
                assert!(bound <= best && bound * 100 >= best * 80, "seed {seed}: {bound} of {best}");
            }
        }
    }

    #[test]
    fn a_gap_lies_where_it_costs_least() {
        let bases = &mut Bases(3);
        let (before, after, extra) = (bases.random_codes(300), bases.random_codes(300), bases.random_codes(31));
        for run_follower in [[&before[..], &after[..]].concat(), [&before[..], &extra[..], &after[..]].concat()] {
            let whole = [&before[..], &extra[..], &after[..]].concat();
            for pair in [pair(&whole, &run_follower), pair(&run_follower, &whole)] {
                assert_eq!(bound(&pair), best(&pair));
            }
        }
    }

    #[test]
    fn sequences_without_common_kmer_have_no_bound() {
        let bases = &mut Bases(4);
        let (one, other, unknown) = (bases.random_codes(2000), bases.random_codes(2000), vec![15; 100]);
        let short = &one[..KMER - 1];
        // A k-mer that occurs twice is no anchor.
        let twice = [&one[..KMER], &[15], &one[..KMER]].concat();
        for (query, target) in [
            (&one[..], &other[..]),
            (&one[..], &[]),
            (&[], &one[..]),
            (short, short),
            (&unknown, &unknown),
            (&twice, &one[..KMER]),
        ] {
            assert_eq!(bound(&pair(query, target)), 0);
        }
        assert_eq!(bound(&pair(&one[..KMER], &one[..KMER])), best(&pair(&one[..KMER], &one[..KMER])));
    }
}
