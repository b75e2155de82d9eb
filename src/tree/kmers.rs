//! Alignment-free distances between sequences, from the k-mers that they share.

use rayon::prelude::*;

use crate::seq::{Alphabet, Code};

/// Classes of residues that often replace each other (Dayhoff); residues of a class are treated as
/// equal.
const CLASSES: [&[u8]; 6] = [b"AGPST", b"CU", b"DENQ", b"FWY", b"HRKO", b"ILMV"];

/// Returns the number of letters and the length of k-mers. There are at most 65,536 k-mers.
fn kmer_shape(alphabet: Alphabet) -> (u32, usize) {
    match alphabet {
        Alphabet::Protein => (6, 6),
        Alphabet::Dna => (4, 8),
        Alphabet::Bytes => (256, 2),
    }
}

/// Returns the class of every code, and `None` for codes that stand for several residues or bases.
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

/// The k-mers of a set of sequences.
#[derive(Debug, Clone, Default)]
pub struct Kmers {
    /// Number of possible k-mers.
    words: usize,
    /// For each sequence, every k-mer that it contains and its number of occurrences, up to 255.
    sequences: Vec<Vec<(u16, u8)>>,
    /// Number of k-mers in each sequence, where repeats of one k-mer are counted up to 255 times.
    totals: Vec<u32>,
    /// Codes of each sequence without a k-mer; empty for other sequences.
    without_kmers: Vec<Box<[Code]>>,
}

impl Kmers {
    /// Counts the k-mers of sequences. The work is done by `threads`.
    pub fn new(alphabet: Alphabet, sequences: &[&[Code]], threads: &rayon::ThreadPool) -> Kmers {
        let (letters, length) = kmer_shape(alphabet);
        let classes = classes(alphabet);
        let words = letters.pow(length as u32);
        let count = |codes: &&[Code]| {
            let mut kmers: Vec<u16> = Vec::with_capacity(codes.len());
            let (mut word, mut known) = (0, 0);
            for &code in *codes {
                match classes[code as usize] {
                    // No k-mer contains an ambiguous code.
                    None => known = 0,
                    Some(class) => {
                        word = (word * letters + class) % words;
                        known += 1;
                        if known >= length {
                            kmers.push(word as u16);
                        }
                    }
                }
            }
            kmers.sort_unstable();
            let each = kmers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len().min(255) as u8));
            each.collect::<Vec<(u16, u8)>>()
        };
        let counts: Vec<Vec<(u16, u8)>> = threads.install(|| sequences.par_iter().map(count).collect());
        let total = |words: &Vec<(u16, u8)>| words.iter().map(|&(_, count)| u32::from(count)).sum();
        let kept =
            |(codes, kmers): (&&[Code], &Vec<_>)| if kmers.is_empty() { Box::from(*codes) } else { Box::default() };
        Kmers {
            words: words as usize,
            totals: counts.iter().map(total).collect(),
            without_kmers: sequences.iter().zip(&counts).map(kept).collect(),
            sequences: counts,
        }
    }

    /// Returns the number of sequences.
    pub fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// Returns the distances of one sequence to several: 1 minus the number of shared k-mers, as a
    /// fraction of all k-mers of the sequence that has fewer. A sequence without a k-mer has
    /// distance 0 to equal sequences and 1 to all others.
    ///
    /// # Panics
    /// Panics if there is no such sequence.
    pub fn from_one(&self, one: usize, others: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut counts = vec![0; self.words];
        for &(word, count) in &self.sequences[one] {
            counts[word as usize] = count;
        }
        let distance = |other: usize| {
            let fewer = self.totals[one].min(self.totals[other]);
            if fewer == 0 {
                let are_equal =
                    self.totals[one] == self.totals[other] && self.without_kmers[one] == self.without_kmers[other];
                return if are_equal { 0.0 } else { 1.0 };
            }
            let shared = |&(word, count): &(u16, u8)| u32::from(count.min(counts[word as usize]));
            let shared: u32 = self.sequences[other].iter().map(shared).sum();
            1.0 - f64::from(shared) / f64::from(fewer)
        };
        others.map(distance).collect()
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
        distance
    }

    #[test]
    fn shared_words_are_counted() {
        use Alphabet::{Dna, Protein};
        // Residues of one class are equal.
        assert_eq!(between(Protein, "AGPSTCDEW", "GGGGGCQNF"), 0.0);
        // One sequence has four k-mers and the other has two. They share one of these.
        assert_eq!(between(Protein, "ACDFHIACD", "ACDFHIW"), 0.5);
        // Sequences without a k-mer are compared as a whole.
        assert_eq!(between(Protein, "ACDFH", "ACDFH"), 0.0);
        assert_eq!(between(Protein, "ACDFH", "ACDFW"), 1.0);
        assert_eq!(between(Protein, "ACDXF", "ACDXFHI"), 1.0);
        assert_eq!(between(Protein, "", "ACDFHIW"), 1.0);
        assert_eq!(between(Dna, "ACGTNACGT", "ACGTNACGT"), 0.0);
        // No k-mer contains an X. A repeated k-mer counts as often as both have it.
        assert_eq!(between(Protein, "ACDXFHI", "ACDFHI"), 1.0);
        assert_eq!(between(Dna, "AAAAAAAAAA", "AAAAAAAAA"), 0.0);
        assert_eq!(between(Dna, "AAAAAAAAAACG", "AAAAAAAAACGTT"), 1.0 - 4.0 / 5.0);
        assert_eq!(between(Dna, "ACGTACGTN", "ACGTACGTA"), 0.0);
    }

    #[test]
    fn kmer_distances_equal_their_definition() {
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
            let expected = match fewer {
                0 if a == b => 0.0,
                0 => 1.0,
                _ => 1.0 - f64::from(shared) / f64::from(fewer),
            };
            assert_eq!(between(Alphabet::Dna, &a, &b), expected, "seed {seed}");
            assert_eq!(between(Alphabet::Dna, &a, &a), 0.0, "seed {seed}");
            let short = &a[..a.len().min(7)];
            assert_eq!(between(Alphabet::Dna, short, short), 0.0, "seed {seed}");
        }
    }
}
