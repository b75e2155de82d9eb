//! Sequences that differ from another one in a few symbols.

use std::collections::HashMap;

use crate::edit::cpu::distance;
use crate::seq::Code;

/// Number of symbols per substitution between similar sequences.
const SYMBOLS_PER_SUBSTITUTION: usize = 100;

/// Returns the representative of each sequence. It may be the sequence itself. Otherwise it has the
/// same length, at most one of [`SYMBOLS_PER_SUBSTITUTION`] symbols differs, and no alignment with
/// gaps has fewer differences. Both sequences then belong in the same columns.
///
/// Sequences with more copies become representatives first, and of these the ones with smaller
/// codes. So the representatives do not depend on the order of the sequences, which must be
/// distinct.
pub(super) fn representatives(sequences: &[&[Code]], copies: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by(|&a, &b| copies[b].cmp(&copies[a]).then_with(|| sequences[a].cmp(sequences[b])));
    let mut selected: Vec<usize> = Vec::new();
    // Ranks of the selected sequences by their length, and by the number and the codes of a piece.
    let mut by_piece: HashMap<(usize, usize, &[Code]), Vec<usize>> = HashMap::new();
    let mut representatives: Vec<usize> = (0..sequences.len()).collect();
    for sequence in order {
        let codes = sequences[sequence];
        let limit = codes.len() / SYMBOLS_PER_SUBSTITUTION;
        if limit == 0 {
            continue;
        }
        // At most `limit` of the `limit + 1` pieces contain a substitution.
        let start = |piece: usize| piece * codes.len() / (limit + 1);
        let pieces = || (0..=limit).map(|piece| (piece, &codes[start(piece)..start(piece + 1)]));
        let ranks = pieces().filter_map(|(number, piece)| by_piece.get(&(codes.len(), number, piece)));
        let mut candidates: Vec<usize> = ranks.flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        let first = candidates.into_iter().find(|&rank| are_similar(codes, sequences[selected[rank]], limit));
        match first {
            Some(rank) => representatives[sequence] = selected[rank],
            None => {
                for (number, piece) in pieces() {
                    by_piece.entry((codes.len(), number, piece)).or_default().push(selected.len());
                }
                selected.push(sequence);
            }
        }
    }
    representatives
}

/// Returns whether at most `limit` symbols of two sequences of the same length differ, and no
/// alignment with gaps has fewer differences.
fn are_similar(a: &[Code], b: &[Code], limit: usize) -> bool {
    let substitutions = a.iter().zip(b).filter(|(a, b)| a != b).count();
    substitutions <= limit && distance(a, b) as usize == substitutions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the representatives by comparing each sequence with all earlier ones.
    fn textbook(sequences: &[&[Code]], copies: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|&at| (usize::MAX - copies[at], sequences[at]));
        let mut all: Vec<usize> = (0..sequences.len()).collect();
        let mut selected: Vec<usize> = Vec::new();
        for at in order {
            let codes = sequences[at];
            let is_similar = |&&other: &&usize| {
                let differs = |place: usize| codes[place] != sequences[other][place];
                sequences[other].len() == codes.len()
                    && (0..codes.len()).filter(|&place| differs(place)).count() <= codes.len() / 100
                    && distance(codes, sequences[other]) as usize
                        == (0..codes.len()).filter(|&place| differs(place)).count()
            };
            match selected.iter().find(is_similar) {
                Some(&other) => all[at] = other,
                None => selected.push(at),
            }
        }
        all
    }

    #[test]
    fn representatives_are_those_of_comparing_all_in_any_order() {
        let seed = 0x51A1;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut represented = 0;
        for _ in 0..40 {
            let length = random.usize(90..420);
            let parent: Vec<Code> = (0..length).map(|_| random.u8(1..5)).collect();
            let mut sequences: Vec<Vec<Code>> = (0..30)
                .map(|_| {
                    let mut codes = parent.clone();
                    for _ in 0..random.usize(0..6) {
                        let at = random.usize(..codes.len());
                        codes[at] = random.u8(1..5);
                    }
                    if random.u8(..4) == 0 {
                        let at = random.usize(..codes.len());
                        let moved = codes.remove(at);
                        codes.insert(random.usize(..codes.len()), moved);
                    }
                    codes
                })
                .collect();
            sequences.sort();
            sequences.dedup();
            random.shuffle(&mut sequences);
            let copies: Vec<usize> = sequences.iter().map(|_| random.usize(1..4)).collect();
            let slices: Vec<&[Code]> = sequences.iter().map(Vec::as_slice).collect();
            let all = representatives(&slices, &copies);
            assert_eq!(all, textbook(&slices, &copies));
            represented += all.iter().enumerate().filter(|&(at, &other)| at != other).count();
            // Reversing the order does not change the representatives.
            let reversed: Vec<&[Code]> = slices.iter().rev().copied().collect();
            let copies: Vec<usize> = copies.into_iter().rev().collect();
            let again = representatives(&reversed, &copies);
            let chosen = |at: usize| reversed[again[slices.len() - 1 - at]];
            (0..slices.len()).for_each(|at| assert_eq!(slices[all[at]], chosen(at)));
        }
        assert!(represented > 100, "{represented}");
    }

    #[test]
    fn gaps_and_short_sequences_are_never_similar() {
        // A moved symbol changes three symbols, but gaps need two differences only.
        let a: Vec<Code> = (0..400).map(|at| 1 + (at % 4) as Code).collect();
        let mut b = a.clone();
        b[100..103].rotate_left(1);
        assert_eq!(distance(&a, &b), 2);
        assert_eq!(representatives(&[&a, &b], &[1, 1]), [0, 1]);
        let (short, other) = ([1; 99], [[1; 98].as_slice(), &[2]].concat());
        assert_eq!(representatives(&[&short, &other], &[1, 1]), [0, 1]);
    }
}
