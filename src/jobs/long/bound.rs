//! A score that a local pair reaches for sure, told before any of its cells is computed: with it pruning leaves out from the
//! first row on what could not reach that score, not only once a sweep has come to it.
//!
//! Words that are in both sequences, and once in each, are put into a chain by the longest subsequence whose places rise in
//! both (Delcher et al. 1999, MUMmer). Along the chain leads a path: from word to word one diagonal, or two with a gap between
//! them where it costs least. Its best part is an alignment, so that none less than its score is the best one. It takes
//! time in proportion to the lengths.

use crate::long::LongPair;
use crate::seq::{Alphabet, Code};

/// Bases of a word: unrelated ones agree by chance in less than one pair of genomes.
const WORD: usize = 24;
/// One of so many words of a sequence is looked at, but of a short one at least, and of a long one at most so many: a quarter of a
/// gigabyte.
const ONE_OF: usize = 16;
const MIN_WORDS: usize = 1 << 18;
const MAX_WORDS: usize = 1 << 24;
/// What is no base.
const NONE: u8 = 4;

/// Places in query and target of a word that both have.
type Anchor = (u32, u32);

/// A word and its place.
type Word = (u64, u32);

/// Scores that are not above those of the best local alignments of pairs with the same target and queries of the same length;
/// none if they are of proteins.
pub(super) fn bounds(pairs: &[&LongPair]) -> Vec<i32> {
    let Some(first) = pairs.iter().find(|pair| pair.scoring.alphabet == Alphabet::Dna) else { return Vec::new() };
    let longest = first.query.len().max(first.target.len());
    let wanted = (longest / ONE_OF).clamp(MIN_WORDS, MAX_WORDS);
    let one_of = (longest.div_ceil(wanted) as u64).next_power_of_two();
    // Each sequence on a thread of its own: the first rows wait for it.
    std::thread::scope(|scope| {
        let queries: Vec<_> = pairs.iter().map(|pair| scope.spawn(|| words(&pair.query, one_of))).collect();
        let target = words(&first.target, one_of);
        let bound = |(pair, query): (&&LongPair, std::thread::ScopedJoinHandle<Vec<Word>>)| {
            let chain = chain(anchors(&query.join().ok()?, &target));
            Some(i32::try_from(best_part(pair, &chain)).unwrap_or(i32::MAX))
        };
        pairs.iter().zip(queries).map(|both| bound(both).unwrap_or(0)).collect()
    })
}

/// The number of each code that is one of the four bases.
const BASES: [u8; 256] = {
    let mut bases = [NONE; 256];
    let mut base = 0;
    while base < NONE {
        bases[1 << base] = base;
        base += 1;
    }
    bases
};

/// Of the words that a sequence has, one of so many (a power of two), if it is there once, in rising order, each with its place.
fn words(codes: &[Code], one_of: u64) -> Vec<Word> {
    const MASK: u64 = (1 << (2 * WORD)) - 1;
    let mut found = Vec::with_capacity(codes.len() / one_of as usize);
    let (mut word, mut length) = (0u64, 0);
    for (end, &code) in (1u32..).zip(codes) {
        let base = BASES[code as usize];
        // Others than the four bases are in no word.
        length = if base == NONE { 0 } else { length + 1 };
        word = (word << 2 | u64::from(base & 3)) & MASK;
        // Which ones are taken does not depend on where they are.
        let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        if length >= WORD && mixed & (one_of - 1) == 0 {
            found.push((word, end - WORD as u32));
        }
    }
    found.sort_unstable();
    let words = found.chunk_by(|a, b| a.0 == b.0);
    words.filter_map(|places| if let [only] = places { Some(*only) } else { None }).collect()
}

/// Words that are in both, by their places in the query.
fn anchors(query: &[Word], target: &[Word]) -> Vec<Anchor> {
    let mut targets = target.iter().peekable();
    let mut anchors = Vec::new();
    for &(word, place) in query {
        while targets.next_if(|other| other.0 < word).is_some() {}
        anchors.extend(targets.next_if(|other| other.0 == word).map(|other| (place, other.1)));
    }
    anchors.sort_unstable();
    anchors
}

/// As many of them as rise in both sequences.
fn chain(anchors: Vec<Anchor>) -> Vec<Anchor> {
    // Of the chains of k + 1 anchors that which ends first in the target: its last one.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(anchors.len());
    for (index, anchor) in anchors.iter().enumerate() {
        let length = ends.partition_point(|&end| anchors[end].1 < anchor.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut chain: Vec<Anchor> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).map(|at| anchors[at]).collect();
    chain.reverse();
    chain
}

/// The score of the best part of the path along a chain that begins and ends with a word.
fn best_part(pair: &LongPair, chain: &[Anchor]) -> i64 {
    let word = |&(i, j): &Anchor| -> i64 { diagonal(pair, (i, j), WORD as u32).sum() };
    let mut best = chain.first().map_or(0, word);
    let mut score = 0;
    for step in chain.windows(2) {
        score = (score + between(pair, step[0], step[1])).max(0);
        best = best.max(score + word(&step[1]));
    }
    best
}

/// Scores of the pairs of symbols from these places on.
fn diagonal(pair: &LongPair, (i, j): Anchor, length: u32) -> impl Iterator<Item = i64> {
    let (query, target) = (&pair.query[i as usize..][..length as usize], &pair.target[j as usize..][..length as usize]);
    query.iter().zip(target).map(|(&a, &b)| pair.scoring.substitution.score(a, b).into())
}

/// The score of the path from an anchor to the next: with one gap, where it costs least, if it leaves the diagonal.
fn between(pair: &LongPair, from: Anchor, to: Anchor) -> i64 {
    let (rows, columns) = (to.0 - from.0, to.1 - from.1);
    let (length, gap) = (rows.min(columns), rows.abs_diff(columns));
    if gap == 0 {
        return diagonal(pair, from, length).sum();
    }
    let behind = || diagonal(pair, (to.0 - length, to.1 - length), length);
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
    use crate::score::{Mode, Scoring};

    /// Bases by a generator of its own, for the chains are to be the same at each run.
    struct Bases(u64);

    impl Bases {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }

        fn some(&mut self, count: usize) -> Vec<Code> {
            (0..count).map(|_| 1 << self.next(4)).collect()
        }

        /// One symbol in so many is changed, lost or doubled.
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
        let bounds = bounds(&[pair]);
        assert_eq!(bounds.len(), 1);
        bounds[0].into()
    }

    fn best(pair: &LongPair) -> i64 {
        align(&pair.query, &pair.target, &pair.scoring).score
    }

    #[test]
    fn no_bound_is_above_the_best() {
        for seed in 0..40 {
            let bases = &mut Bases(seed);
            let (common, rate) = (400 + bases.next(800) as usize, [5, 10, 20, 40, 100][seed as usize % 5]);
            let common = bases.some(common);
            let relative = bases.relative(&common, rate);
            // Beside it and between its parts there is what nothing is like, and parts may come twice or in another order.
            let (middle, other) = (relative.len() / 2, bases.some(seed as usize * 7));
            let target = match seed % 4 {
                0 => relative,
                1 => [&other, &relative, &other].map(|part| &part[..]).concat(),
                2 => [&relative[..middle], &other, &relative[middle..]].concat(),
                _ => [&relative[middle..], &other, &relative[..middle], &relative[middle..]].concat(),
            };
            let pair = pair(&common, &target);
            let (bound, best) = (bound(&pair), best(&pair));
            assert!(bound <= best, "seed {seed}: {bound} of {best}");
        }
    }

    #[test]
    fn of_relatives_it_is_near_the_best() {
        for (rate, share) in [(100, 95), (50, 90), (20, 70)] {
            let bases = &mut Bases(rate);
            let common = bases.some(3000);
            let pair = pair(&common, &bases.relative(&common, rate));
            let (bound, best) = (bound(&pair), best(&pair));
            assert!(bound * 100 >= best * share, "one in {rate}: {bound} of {best}");
        }
    }

    #[test]
    fn a_gap_lies_where_it_costs_least() {
        let bases = &mut Bases(3);
        let (before, after, extra) = (bases.some(300), bases.some(300), bases.some(31));
        for other in [[&before[..], &after[..]].concat(), [&before[..], &extra[..], &after[..]].concat()] {
            let whole = [&before[..], &extra[..], &after[..]].concat();
            for pair in [pair(&whole, &other), pair(&other, &whole)] {
                assert_eq!(bound(&pair), best(&pair));
            }
        }
    }

    #[test]
    fn what_has_no_word_in_common_has_none() {
        let bases = &mut Bases(4);
        let (one, other, unknown) = (bases.some(2000), bases.some(2000), vec![15; 100]);
        let short = &one[..WORD - 1];
        // A word that comes twice tells no place.
        let twice = [&one[..WORD], &[15], &one[..WORD]].concat();
        for (query, target) in [
            (&one[..], &other[..]),
            (&one[..], &[]),
            (&[], &one[..]),
            (short, short),
            (&unknown, &unknown),
            (&twice, &one[..WORD]),
        ] {
            assert_eq!(bound(&pair(query, target)), 0);
        }
        assert_eq!(bound(&pair(&one[..WORD], &one[..WORD])), best(&pair(&one[..WORD], &one[..WORD])));
    }
}
