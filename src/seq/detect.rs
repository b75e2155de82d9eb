//! Fast conversion of letters to codes, and detection of the alphabet.
//!
//! The rule of [`AlphabetChoice::Detect`](super::AlphabetChoice::Detect) counts all letters of all
//! files. N and X stand for any letter and are not counted. Let `core` be the fraction of A, C, G,
//! T and U.
//!
//! - If every letter is an IUPAC nucleotide letter, the alphabet is DNA/RNA if `core` is at least
//!   2/3. Degenerate primers reach this, since they rarely go below 70%. A peptide that happens to
//!   lack E, F, I, L, P, Q, Z, J, O and `*` does not, because its other letters are as frequent as
//!   A, C, G and T.
//! - If some letter is no IUPAC nucleotide letter, the alphabet is DNA/RNA if `core` is at least
//!   9/10, and that letter is an error. A single typing mistake in genes must not turn them into
//!   proteins. No set of proteins comes near this fraction, since about 26% of residues are A, C, G
//!   or T.
//! - Otherwise the alphabet is protein. This includes the case that X is the only letter.
//!
//! A set of very short peptides such as `GATTACA` remains ambiguous. It is read as DNA/RNA, unless
//! the alphabet is given.

use super::alphabet::{Alphabet, Code};

/// Number of codes of [`Alphabet::Protein`], which has every letter that a file can contain.
const LETTERS: usize = Alphabet::Protein.size();

/// Code of every byte, or a mark. The marks below are all at least [`MARKS`].
pub(super) type LetterTable = [u16; 256];

/// Codes are below this, and marks are not.
const MARKS: u16 = 0x100;
/// Mark of a carriage return, which is skipped, and allowed only before a line feed.
pub(super) const CARRIAGE_RETURN: u16 = 0x100;
/// Mark of a line feed, which is skipped.
const LINE_FEED: u16 = 0x200;
/// Mark of a byte between letters that is skipped.
const SKIPPED: u16 = 0x800;
/// Mark of a byte that has no code.
pub(super) const ILLEGAL: u16 = 0x400;

/// Returns the table of an alphabet. Blanks among letters are skipped, because old files have them
/// every ten letters. With `degap`, gap signs are skipped too. In [`Alphabet::Bytes`], neither is
/// skipped.
pub(super) fn table(alphabet: Alphabet, degap: bool) -> LetterTable {
    std::array::from_fn(|byte| match byte as u8 {
        b'\n' => LINE_FEED,
        b'\r' => CARRIAGE_RETURN,
        b' ' | b'\t' if alphabet != Alphabet::Bytes => SKIPPED,
        b'-' | b'.' | b'~' if degap && alphabet != Alphabet::Bytes => SKIPPED,
        byte if alphabet == Alphabet::Dna => dna(byte).map_or(ILLEGAL, u16::from),
        byte => alphabet.encode(byte).map_or(ILLEGAL, u16::from),
    })
}

/// Returns the DNA code of a letter in a file. N replaces X, as in ClustalW and BLAST. It also
/// replaces inosine, a base in primers that pairs with A, C and T, and only slightly worse with G.
fn dna(letter: u8) -> Option<Code> {
    Alphabet::Dna.encode(if matches!(letter, b'I' | b'i' | b'X' | b'x') { b'N' } else { letter })
}

/// Returns whether some letter has the DNA code of another letter: U, I or X.
pub(super) fn has_respelled_nucleotide(letters: &[u8]) -> bool {
    // Without an early exit, so that the compiler can use vectors.
    letters.iter().fold(false, |found, letter| found | matches!(letter | 0x20, b'u' | b'i' | b'x'))
}

/// Returns whether an entry of a table is a code.
pub(super) fn is_code(entry: u16) -> bool {
    entry < MARKS
}

/// Writes the codes of `raw`, without line ends, to the front of `codes`, which must be at least as
/// long. Returns their number and the union of all marks seen. If these include [`ILLEGAL`], the
/// codes have no meaning.
pub(super) fn encode(raw: &[u8], table: &LetterTable, codes: &mut [Code]) -> (usize, u16) {
    let codes = &mut codes[..raw.len()];
    let (mut count, mut seen) = (0, 0);
    for &byte in raw {
        let code = table[byte as usize];
        // Every byte is written and kept only if it is a code. This avoids mispredicted branches at
        // line ends.
        codes[count] = code as Code;
        count += usize::from(code < MARKS);
        seen |= code;
    }
    (count, seen & !(MARKS - 1))
}

/// Number of occurrences of each letter, by protein code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LetterCensus {
    counts: [u64; LETTERS],
}

impl LetterCensus {
    /// Counts the letters of `codes`, which are protein codes.
    pub(super) fn add(&mut self, codes: &[Code]) {
        for &code in codes {
            self.counts[code as usize] += 1;
        }
    }

    /// Adds another census to this one.
    pub(super) fn merge(&mut self, other: &LetterCensus) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// Returns whether no letter was counted.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.iter().all(|&count| count == 0)
    }

    /// Returns the number of letters that DNA/RNA lacks.
    pub(super) fn foreign(&self) -> u64 {
        let is_foreign = |&code: &usize| !is_nucleotide(code as Code) && code != UNKNOWN_RESIDUE as usize;
        (1..LETTERS).filter(is_foreign).map(|code| self.counts[code]).sum()
    }

    /// Returns the alphabet, by the rule above.
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
        // In 128 bits, because the counts of a large input times ten may exceed 2^64.
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

/// Returns whether a letter, given by its protein code, is an IUPAC nucleotide letter.
pub(super) fn is_nucleotide(protein: Code) -> bool {
    NUCLEOTIDES >> protein & 1 == 1
}

/// Returns whether a byte is a letter that a file of nucleotides cannot contain.
pub(super) fn is_foreign(byte: u8) -> bool {
    Alphabet::Protein.encode(byte).is_some() && dna(byte).is_none()
}

/// Returns the DNA code for each protein code. Letters that DNA lacks, and padding, become
/// [`PAD`](super::PAD).
pub(super) fn protein_to_dna() -> [Code; LETTERS] {
    std::array::from_fn(|code| dna(Alphabet::Protein.decode(code as Code)).unwrap_or(super::PAD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn detect(letters: &str) -> Alphabet {
        let codes: Vec<Code> = letters.bytes().map(|letter| Alphabet::Protein.encode(letter).unwrap()).collect();
        let mut census = LetterCensus::default();
        census.add(&codes);
        census.alphabet()
    }

    #[test]
    fn nucleotides_are_distinguished_from_proteins() {
        use Alphabet::{Dna, Protein};
        for (letters, alphabet) in [
            ("ACGT", Dna),
            ("acguacgu", Dna),
            ("N", Dna),
            ("NNNNNNNNNNNNNNA", Dna),
            // The 16S primers 515F and 806R: at least one base in ten is degenerate.
            ("GTGYCAGCMGCCGCGGTAA", Dna),
            ("GGACTACNVGGGTWTCTAAT", Dna),
            // Four of six letters are plain, which is just enough. Three of five are not.
            ("ACGTRY", Dna),
            ("ACGRY", Protein),
            // All of these residues are IUPAC nucleotide letters.
            ("MKVHSDRWYGAT", Protein),
            ("MKTAYIAKQR", Protein),
            // One E in ten letters is a mistake, and two make a protein.
            ("ACGTACGTAE", Dna),
            ("ACGTACGTEE", Protein),
            ("GATTACA*", Protein),
            // X has no more effect than N, unless there are no other letters.
            ("XXXX", Protein),
            ("NXNX", Protein),
            ("ACGTNNXXACGT", Dna),
            ("MKTAYIAKQRXX", Protein),
            // As documented, this is detected wrongly, and the alphabet must be given.
            ("GATTACA", Dna),
        ] {
            assert_eq!(detect(letters), alphabet, "{letters}");
        }
    }

    #[test]
    fn letter_table_covers_every_byte() {
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
    fn respelled_letters_are_those_that_codes_do_not_determine() {
        for letter in (0..=255u8).filter(u8::is_ascii_alphabetic) {
            let is_changed = dna(letter).is_some_and(|code| Alphabet::Dna.decode(code) != letter.to_ascii_uppercase());
            assert_eq!(has_respelled_nucleotide(&[b'A', letter, b'\n']), is_changed, "{}", letter as char);
        }
    }

    #[test]
    fn recoding_equals_direct_encoding() {
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
        fn encoding_skips_line_ends_and_reports_every_mark(raw in prop::collection::vec(any::<u8>(), 0..60)) {
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
