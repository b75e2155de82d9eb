//! Letters to codes at reading speed, and which alphabet a set of letters is of.
//!
//! The rule of [`AlphabetChoice::Detect`](super::AlphabetChoice::Detect), over all letters of all files together. N and X
//! stand for any letter and are not counted. Let `core` be the share of A, C, G, T and U.
//!
//! - Every letter is an IUPAC nucleotide letter: DNA/RNA if `core` is at least 2/3. Degenerate primers pass (they
//!   rarely go below 70%); a peptide that happens to lack E, F, I, L, P, Q, Z, J, O and `*` does not, because its
//!   other letters are as frequent as A, C, G and T.
//! - Some letter is not: DNA/RNA if `core` is at least 9/10, and then that letter is an error. One typing mistake among
//!   genes must not turn them into proteins, and no protein set comes near (about 26% of residues are A, C, G or T).
//! - Otherwise protein, also if there are letters X and no others.
//!
//! What stays ambiguous is a set of very short peptides such as `GATTACA`: it is read as DNA/RNA, and the alphabet has
//! to be given.

use super::alphabet::{Alphabet, Code};

/// Number of letters that a file can hold: the codes of [`Alphabet::Protein`], which has every letter.
const LETTERS: usize = Alphabet::Protein.size();

/// A byte to its code, or to one of the marks below, all of them at or above [`MARKS`].
pub(super) type Table = [u16; 256];

/// Codes are below this, marks are not.
const MARKS: u16 = 0x100;
/// Mark of a carriage return: skipped, and legal only before a line feed.
pub(super) const CARRIAGE_RETURN: u16 = 0x100;
/// Mark of a line feed: skipped.
const LINE_FEED: u16 = 0x200;
/// Mark of a byte between letters that is no letter: skipped.
const SKIPPED: u16 = 0x800;
/// Mark of a byte that has no code.
pub(super) const ILLEGAL: u16 = 0x400;

/// The table of an alphabet. Blanks among letters are skipped, as old files have them every ten letters; with `degap` the
/// signs of gaps too. Bytes are taken as they are.
pub(super) fn table(alphabet: Alphabet, degap: bool) -> Table {
    std::array::from_fn(|byte| match byte as u8 {
        b'\n' => LINE_FEED,
        b'\r' => CARRIAGE_RETURN,
        b' ' | b'\t' if alphabet != Alphabet::Bytes => SKIPPED,
        b'-' | b'.' | b'~' if degap && alphabet != Alphabet::Bytes => SKIPPED,
        byte if alphabet == Alphabet::Dna => dna(byte).map_or(ILLEGAL, u16::from),
        byte => alphabet.encode(byte).map_or(ILLEGAL, u16::from),
    })
}

/// The DNA code of a letter in a file. N stands for X, as in ClustalW and BLAST, and for inosine, a base of primers that pairs
/// with A, C and T and hardly worse with G.
fn dna(letter: u8) -> Option<Code> {
    Alphabet::Dna.encode(if matches!(letter, b'I' | b'i' | b'X' | b'x') { b'N' } else { letter })
}

/// Whether what a table holds is a code.
pub(super) fn is_code(entry: u16) -> bool {
    entry < MARKS
}

/// Writes the codes of `raw`, line ends left out, to the front of `codes`, which must be at least as long. Returns
/// their number and the union of all marks seen; with [`ILLEGAL`] among them the codes mean nothing.
pub(super) fn encode(raw: &[u8], table: &Table, codes: &mut [Code]) -> (usize, u16) {
    let codes = &mut codes[..raw.len()];
    let (mut count, mut seen) = (0, 0);
    for &byte in raw {
        let code = table[byte as usize];
        // Written always and kept only if it is a code: no branch to mispredict at line ends.
        codes[count] = code as Code;
        count += usize::from(code < MARKS);
        seen |= code;
    }
    (count, seen & !(MARKS - 1))
}

/// How often each letter was seen, by its protein code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Census {
    counts: [u64; LETTERS],
}

impl Census {
    /// Counts the letters of `codes`, which are protein codes.
    pub(super) fn add(&mut self, codes: &[Code]) {
        for &code in codes {
            self.counts[code as usize] += 1;
        }
    }

    /// Adds another census to this one.
    pub(super) fn merge(&mut self, other: &Census) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// Whether no letter was counted.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Number of letters that DNA/RNA lacks.
    pub(super) fn foreign(&self) -> u64 {
        let is_foreign = |&code: &usize| !is_nucleotide(code as Code) && code != UNKNOWN_RESIDUE as usize;
        (1..LETTERS).filter(is_foreign).map(|code| self.counts[code]).sum()
    }

    /// The alphabet, by the rule above.
    pub(super) fn alphabet(&self) -> Alphabet {
        let count = |letters: &[u8]| -> u64 {
            letters.iter().filter_map(|&letter| Alphabet::Protein.encode(letter)).map(|c| self.counts[c as usize]).sum()
        };
        let core = count(b"ACGTU");
        let unknown = count(b"X");
        let telling = self.counts.iter().sum::<u64>() - count(b"N") - unknown;
        if telling == 0 && unknown > 0 {
            return Alphabet::Protein;
        }
        let (parts, whole) = if self.foreign() == 0 { (2, 3) } else { (9, 10) };
        // In 128 bits: the counts of a large input times ten may pass 2^64 in principle.
        if u128::from(core) * whole >= u128::from(telling) * parts { Alphabet::Dna } else { Alphabet::Protein }
    }
}

/// The protein code of X.
const UNKNOWN_RESIDUE: Code = b'X' - b'A' + 1;

/// The IUPAC nucleotide letters, as bits of their protein codes.
const NUCLEOTIDES: u32 = {
    let (letters, mut bits, mut index) = (b"ACGTURYSWKMBDHVN", 0, 0);
    while index < letters.len() {
        bits |= 1 << (letters[index] - b'A' + 1);
        index += 1;
    }
    bits
};

/// Whether a letter, given by its protein code, is an IUPAC nucleotide letter.
pub(super) fn is_nucleotide(protein: Code) -> bool {
    NUCLEOTIDES >> protein & 1 == 1
}

/// Whether a byte is a letter that a file of nucleotides cannot have.
pub(super) fn is_foreign(byte: u8) -> bool {
    Alphabet::Protein.encode(byte).is_some() && dna(byte).is_none()
}

/// Protein codes to DNA codes; letters that DNA lacks, and padding, become [`PAD`](super::PAD).
pub(super) fn protein_to_dna() -> [Code; LETTERS] {
    std::array::from_fn(|code| dna(Alphabet::Protein.decode(code as Code)).unwrap_or(super::PAD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn detect(letters: &str) -> Alphabet {
        let codes: Vec<Code> = letters.bytes().map(|letter| Alphabet::Protein.encode(letter).unwrap()).collect();
        let mut census = Census::default();
        census.add(&codes);
        census.alphabet()
    }

    #[test]
    fn nucleotides_are_told_from_proteins() {
        use Alphabet::{Dna, Protein};
        for (letters, alphabet) in [
            ("ACGT", Dna),
            ("acguacgu", Dna),
            ("N", Dna),
            ("NNNNNNNNNNNNNNA", Dna),
            // 16S primers 515F and 806R: one base in ten and more is degenerate.
            ("GTGYCAGCMGCCGCGGTAA", Dna),
            ("GGACTACNVGGGTWTCTAAT", Dna),
            // Four of six are plain: just enough. Three of five are not.
            ("ACGTRY", Dna),
            ("ACGRY", Protein),
            // Residues that are all IUPAC letters.
            ("MKVHSDRWYGAT", Protein),
            ("MKTAYIAKQR", Protein),
            // One E in ten letters is a mistake, two are a protein.
            ("ACGTACGTAE", Dna),
            ("ACGTACGTEE", Protein),
            ("GATTACA*", Protein),
            // X says as little as N, unless there is nothing else.
            ("XXXX", Protein),
            ("NXNX", Protein),
            ("ACGTNNXXACGT", Dna),
            ("MKTAYIAKQRXX", Protein),
            // As documented: told wrong, must be given.
            ("GATTACA", Dna),
        ] {
            assert_eq!(detect(letters), alphabet, "{letters}");
        }
    }

    #[test]
    fn the_table_has_every_byte() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein, Alphabet::Bytes] {
            let table = table(alphabet, false);
            for byte in 0..=255u8 {
                let expected = match byte {
                    b'\n' => LINE_FEED,
                    b'\r' => CARRIAGE_RETURN,
                    b' ' | b'\t' if alphabet != Alphabet::Bytes => SKIPPED,
                    b'I' | b'i' | b'X' | b'x' if alphabet == Alphabet::Dna => 15,
                    _ => alphabet.encode(byte).map_or(ILLEGAL, u16::from),
                };
                assert_eq!(table[byte as usize], expected, "{alphabet:?} {byte}");
            }
            assert!(alphabet.size() <= MARKS as usize, "codes and marks must not meet");
            let gap = if alphabet == Alphabet::Bytes { b'-'.into() } else { ILLEGAL };
            assert_eq!(table[b'-' as usize], gap, "a gap is not a letter, but a byte");
        }
    }

    #[test]
    fn recoding_agrees_with_encoding() {
        let recode = protein_to_dna();
        for letter in b'A'..=b'Z' {
            let code = Alphabet::Protein.encode(letter).unwrap();
            let expected = if matches!(letter, b'I' | b'X') { b'N' } else { letter };
            assert_eq!(recode[code as usize], Alphabet::Dna.encode(expected).unwrap_or(crate::seq::PAD));
            assert_eq!(is_nucleotide(code), Alphabet::Dna.encode(letter).is_some(), "{}", letter as char);
        }
        assert!(!is_nucleotide(Alphabet::Protein.encode(b'*').unwrap()));
        assert_eq!(recode[crate::seq::PAD as usize], crate::seq::PAD);
    }

    proptest! {
        #[test]
        fn encoding_skips_line_ends_and_sees_every_mark(raw in prop::collection::vec(any::<u8>(), 0..60)) {
            let table = table(Alphabet::Dna, false);
            let mut codes = vec![0; raw.len()];
            let (count, seen) = encode(&raw, &table, &mut codes);
            let code = |byte: u8| Alphabet::Dna.encode(if b"IiXx".contains(&byte) { b'N' } else { byte });
            let expected: Vec<Code> = raw.iter().filter_map(|&byte| code(byte)).collect();
            let illegal = |&byte: &u8| !b"\n\r \t".contains(&byte) && code(byte).is_none();
            prop_assert_eq!(seen & ILLEGAL != 0, raw.iter().any(illegal));
            prop_assert_eq!(seen & CARRIAGE_RETURN != 0, raw.contains(&b'\r'));
            prop_assert_eq!(seen & LINE_FEED != 0, raw.contains(&b'\n'));
            prop_assert_eq!(&codes[..count], &expected[..]);
        }
    }
}
