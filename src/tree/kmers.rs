//! How far sequences are from each other by the short words that they share, without an alignment.

use rayon::prelude::*;

use super::Distances;
use crate::seq::{Alphabet, Code};

/// Residues that often stand for each other have one letter (Dayhoff's classes).
const CLASSES: [&[u8]; 6] = [b"AGPST", b"CU", b"DENQ", b"FWY", b"HRKO", b"ILMV"];

/// Words of six classes of residues, or of eight bases: less than 65,536 of them.
fn word(alphabet: Alphabet) -> (u32, usize) {
    match alphabet {
        Alphabet::Protein => (6, 6),
        Alphabet::Dna => (4, 8),
        Alphabet::Bytes => (256, 2),
    }
}

/// The class of every code; `None` of those that stand for several residues or bases.
fn classes(alphabet: Alphabet) -> Vec<Option<u32>> {
    let class = |code: usize| match alphabet {
        _ if code == 0 || !alphabet.is_unambiguous(code as Code) => None,
        Alphabet::Protein => {
            let letter = alphabet.decode(code as Code);
            CLASSES.iter().position(|class| class.contains(&letter)).map(|class| class as u32)
        }
        Alphabet::Dna => Some(code.trailing_zeros()),
        Alphabet::Bytes => Some(code as u32),
    };
    (0..alphabet.size()).map(class).collect()
}

/// The words of sequences.
#[derive(Debug, Clone, Default)]
pub struct Kmers {
    /// How many words there can be.
    words: usize,
    /// Of each sequence every word that it has, and how often, up to 255.
    sequences: Vec<Vec<(u16, u8)>>,
    /// How many words each has.
    totals: Vec<u32>,
}

impl Kmers {
    /// Counts the words of sequences; `threads` do the work.
    pub fn new(alphabet: Alphabet, sequences: &[&[Code]], threads: &rayon::ThreadPool) -> Kmers {
        let (letters, length) = word(alphabet);
        let classes = classes(alphabet);
        let words = letters.pow(length as u32);
        let count = |codes: &&[Code]| {
            let mut found: Vec<u16> = Vec::with_capacity(codes.len());
            let (mut word, mut known) = (0, 0);
            for &code in *codes {
                match classes[code as usize] {
                    // Words before and after it, but none over it.
                    None => known = 0,
                    Some(class) => {
                        word = (word * letters + class) % words;
                        known += 1;
                        if known >= length {
                            found.push(word as u16);
                        }
                    }
                }
            }
            found.sort_unstable();
            let each = found.chunk_by(|a, b| a == b).map(|same| (same[0], same.len().min(255) as u8));
            each.collect::<Vec<(u16, u8)>>()
        };
        let sequences: Vec<Vec<(u16, u8)>> = threads.install(|| sequences.par_iter().map(count).collect());
        let total = |words: &Vec<(u16, u8)>| words.iter().map(|&(_, count)| u32::from(count)).sum();
        Kmers { words: words as usize, totals: sequences.iter().map(total).collect(), sequences }
    }

    /// Sequences.
    pub fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// How far a sequence is from each of several: 1 less the words they share, as a part of all words of the one that has fewer.
    /// Sequences too short for a word are as far as can be from all but themselves.
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn from_one(&self, one: usize, others: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut counts = vec![0; self.words];
        for &(word, count) in &self.sequences[one] {
            counts[word as usize] = count;
        }
        let distance = |other: usize| {
            let fewer = self.totals[one].min(self.totals[other]);
            if fewer == 0 || one == other {
                return f64::from(u8::from(one != other));
            }
            let shared = |&(word, count): &(u16, u8)| u32::from(count.min(counts[word as usize]));
            let shared: u32 = self.sequences[other].iter().map(shared).sum();
            1.0 - f64::from(shared) / f64::from(fewer)
        };
        others.map(distance).collect()
    }

    /// The distances of all pairs; `threads` do the work.
    pub fn distances(&self, threads: &rayon::ThreadPool) -> Distances {
        Distances::filled(self.sequences(), threads, |one, row| row.copy_from_slice(&self.from_one(one, 0..one)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::threads;

    fn codes(alphabet: Alphabet, text: &str) -> Vec<Code> {
        text.bytes().map(|letter| alphabet.encode(letter).unwrap()).collect()
    }

    fn between(alphabet: Alphabet, a: &str, b: &str) -> f64 {
        let (a, b) = (codes(alphabet, a), codes(alphabet, b));
        let kmers = Kmers::new(alphabet, &[&a, &b], &threads());
        let distance = kmers.from_one(0, [1].into_iter())[0];
        assert_eq!(kmers.from_one(1, [0, 1].into_iter()), [distance, 0.0]);
        assert_eq!(kmers.distances(&threads()).get(0, 1), distance);
        distance
    }

    #[test]
    fn shared_words_are_counted() {
        use Alphabet::{Dna, Protein};
        // Residues of one class are one.
        assert_eq!(between(Protein, "AGPSTCDEW", "GGGGGCQNF"), 0.0);
        // Four words and two, of which one is shared.
        assert_eq!(between(Protein, "ACDFHIACD", "ACDFHIW"), 0.5);
        assert_eq!(between(Protein, "ACDFH", "ACDFH"), 1.0);
        // No word over an X; repeats count as often as both have them.
        assert_eq!(between(Protein, "ACDXFHI", "ACDFHI"), 1.0);
        assert_eq!(between(Dna, "AAAAAAAAAA", "AAAAAAAAA"), 0.0);
        assert_eq!(between(Dna, "AAAAAAAAAACG", "AAAAAAAAACGTT"), 1.0 - 4.0 / 5.0);
        assert_eq!(between(Dna, "ACGTACGTN", "ACGTACGTA"), 0.0);
    }

    #[test]
    fn any_sequences_have_the_distance_of_the_definition() {
        for seed in 0..60 {
            let mut random = fastrand::Rng::with_seed(seed);
            let letters: &[u8] = if random.bool() { b"ACGTN" } else { b"AAAAAC" };
            let mut draw = || -> String {
                (0..random.usize(0..600)).map(|_| char::from(letters[random.usize(0..letters.len())])).collect()
            };
            let (a, b) = (draw(), draw());
            let words = |text: &str| {
                let mut words = std::collections::BTreeMap::new();
                for word in text.as_bytes().windows(8).filter(|word| !word.contains(&b'N')) {
                    let count = words.entry(word.to_vec()).or_insert(0u32);
                    *count = (*count + 1).min(255);
                }
                words
            };
            let (first, second) = (words(&a), words(&b));
            let shared: u32 =
                first.iter().map(|(word, &count)| count.min(second.get(word).copied().unwrap_or(0))).sum();
            let fewer = first.values().sum::<u32>().min(second.values().sum());
            let expected = if fewer == 0 { 1.0 } else { 1.0 - f64::from(shared) / f64::from(fewer) };
            assert_eq!(between(Alphabet::Dna, &a, &b), expected, "seed {seed}");
        }
    }
}
