//! Random families of sequences and batches of their pairs.
#![allow(dead_code)] // each test file uses a part

use std::sync::Arc;

use pairwave::clustal::{ClustalBand, ClustalBatch, ClustalCosts, PairIdentities, oracle};
use pairwave::seq::{Alphabet, Code, SequenceStore};

use super::Rng;

/// A code: mostly one that stands for one character; some stand for several, which makes alignments equally good.
fn code(rng: &mut Rng, alphabet: Alphabet, letters: &[u8]) -> Code {
    let letter = match rng.below(8) {
        0 => rng.of(if alphabet == Alphabet::Dna { b"NRYKM" } else { b"XBZ*J" }),
        _ => rng.of(letters),
    };
    alphabet.encode(letter).expect("a letter of the alphabet")
}

/// Sequences of these lengths that are somewhat alike: parts of one ancestor, with substitutions, insertions and deletions, of
/// few letters, so that many alignments are equally good.
pub(crate) fn family(rng: &mut Rng, alphabet: Alphabet, lengths: &[usize]) -> Vec<Vec<Code>> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGT" } else { b"AAGSTLIVWC" };
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let ancestor: Vec<Code> = (0..longest + 8).map(|_| code(rng, alphabet, letters)).collect();
    let mut all = Vec::new();
    for &length in lengths {
        let (mut own, mut at) = (Vec::new(), rng.below(9_usize));
        while own.len() < length {
            match rng.below(12) {
                0 => own.push(code(rng, alphabet, letters)),
                1 => at += rng.below(4_usize),
                2 => (0..rng.below(4_usize)).for_each(|_| own.push(code(rng, alphabet, letters))),
                _ => own.push(ancestor[at % ancestor.len()]),
            }
            at += 1;
        }
        own.truncate(length);
        all.push(own);
    }
    all
}

/// A store of sequences.
pub(crate) fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        store.push(format!("sequence{index}"), codes).expect("codes of the alphabet");
    }
    Arc::new(store.build())
}

/// All pairs, each query against those after it, or every other one against all before it.
pub(crate) fn all_pairs(sequences: &Arc<SequenceStore>, costs: ClustalCosts) -> Arc<ClustalBatch> {
    let count = sequences.len() as u32;
    let order = (0..count).collect();
    let band = ClustalBand { sequences: Arc::clone(sequences), costs: Arc::new(costs), order };
    let block = |query: u32| band.block(query, if query.is_multiple_of(2) { query + 1..count } else { 0..query });
    let blocks = (0..count).map(block).collect();
    Arc::new(ClustalBatch { band: Arc::new(band), blocks })
}

/// A score with the least and the most identities of the alignments that have it.
type Tally = (i64, u32, u32);

fn better(a: Tally, b: Tally) -> Tally {
    match a.0.cmp(&b.0) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal => (a.0, a.1.min(b.1), a.2.max(b.2)),
        std::cmp::Ordering::Greater => a,
    }
}

fn less(tally: Tally, cost: i64) -> Tally {
    (tally.0 - cost, tally.1, tally.2)
}

/// ClustalW's three passes over a pair, row by row: to the first greatest cell, from there back to the first cell with its score,
/// and over the rectangle, whose end gaps have no opening cost.
pub(crate) fn textbook(a: &[Code], b: &[Code], costs: &ClustalCosts) -> PairIdentities {
    let extension = i64::from(costs.extension());
    let opening = i64::from(costs.opening(a.len().min(b.len()) as u32));
    let score = |i: usize, j: usize| i64::from(costs.score(a[i], b[j]));

    let (mut h, mut down) = (vec![0; b.len() + 1], vec![-opening; b.len() + 1]);
    let (mut greatest, mut end) = (0, [0, 0]);
    for i in 0..a.len() {
        let (mut diagonal, mut right) = (0, -opening);
        for j in 0..b.len() {
            right = right.max(h[j] - opening) - extension;
            down[j + 1] = down[j + 1].max(h[j + 1] - opening) - extension;
            let own = (diagonal + score(i, j)).max(right).max(down[j + 1]).max(0);
            diagonal = std::mem::replace(&mut h[j + 1], own);
            if own > greatest {
                (greatest, end) = (own, [i + 1, j + 1]);
            }
        }
    }
    if greatest == 0 {
        return PairIdentities::default();
    }

    let (mut h, mut down) = (vec![-1; end[1] + 1], vec![-1; end[1] + 1]);
    let mut start = None;
    for i in (0..end[0]).rev() {
        let mut diagonal = if i + 1 == end[0] { 0 } else { -1 };
        let mut right = -1;
        for j in (0..end[1]).rev() {
            right = right.max(h[j + 1] - opening) - extension;
            down[j] = down[j].max(h[j] - opening) - extension;
            let own = (diagonal + score(i, j)).max(right).max(down[j]);
            diagonal = std::mem::replace(&mut h[j], own);
            if own >= greatest && start.is_none() {
                start = Some([i, j]);
            }
        }
    }
    let start = start.expect("some cell has the score of the end");

    let columns = end[1] - start[1];
    let end_gap = |residues: usize| (-extension * residues as i64, 0, 0);
    let mut h: Vec<Tally> = (0..=columns).map(end_gap).collect();
    let mut down: Vec<Tally> = h.iter().map(|&own| less(own, opening)).collect();
    let mut best = end_gap(columns + end[0] - start[0]);
    for i in start[0]..end[0] {
        let mut diagonal = std::mem::replace(&mut h[0], end_gap(i + 1 - start[0]));
        let mut right = less(h[0], opening);
        for j in 1..=columns {
            right = less(better(right, less(h[j - 1], opening)), extension);
            down[j] = less(better(down[j], less(h[j], opening)), extension);
            let (column, up) = (start[1] + j - 1, h[j]);
            let same = u32::from(a[i] == b[column]);
            let aligned = (diagonal.0 + score(i, column), diagonal.1 + same, diagonal.2 + same);
            h[j] = better(better(aligned, right), down[j]);
            diagonal = up;
        }
        best = better(best, less(h[columns], extension * (end[0] - 1 - i) as i64));
    }
    for (j, &own) in h.iter().enumerate() {
        best = better(best, less(own, extension * (columns - j) as i64));
    }
    let places = |place: [usize; 2]| place.map(|place| place as u32);
    PairIdentities { least: best.1, most: best.2, start: places(start), end: places(end) }
}

/// Compares with the textbook; gives how many pairs have alignments of different identities.
pub(crate) fn assert_identities(batch: &ClustalBatch, found: &[PairIdentities], what: &str) -> usize {
    let band = &batch.band;
    let pairs = batch.blocks.iter().flat_map(|block| band.pairs(block));
    let mut open = 0;
    for ((first, second), found) in pairs.zip(found) {
        let [a, b] = [first, second].map(|id| band.sequences.codes(id));
        let expected = textbook(a, b, &band.costs);
        assert_eq!(*found, expected, "{what}: {first} and {second}, {} and {} symbols", a.len(), b.len());
        let chosen = oracle::identities(a, b, &band.costs);
        assert_eq!((chosen.start, chosen.end), (found.start, found.end), "{what}: {first} and {second}");
        assert!((found.least..=found.most).contains(&chosen.least), "{what}: {chosen:?}, not within {found:?}");
        open += usize::from(expected.least < expected.most);
    }
    open
}
