//! Alphabets, which convert letters to codes and back.
//!
//! A *code* is a small integer. It takes one byte in every store and on every device. Code 0 is
//! [`PAD`] in every alphabet: it precedes the first symbol of a packed sequence, and never occurs
//! inside one.

/// One symbol of a sequence, in the form that every engine uses.
pub type Code = u8;

/// The code that pads a packed sequence to whole words. No letter has this code.
pub const PAD: Code = 0;
/// Code of N, which stands for all four bases of DNA.
pub(crate) const ANY_BASE: Code = 15;

/// The kinds of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Alphabet {
    /// DNA and RNA. A code is the set of bases that an IUPAC letter stands for: A = 1, C = 2, G =
    /// 4, T = U = 8, and every other letter is the union of its bases (N = 15).
    Dna,
    /// Proteins: A to Z are 1 to 26, and `*` is 27. So J, O and U have codes of their own.
    Protein,
    /// Any text: a code is a byte other than 0 and line ends. Only edit distances are computed for
    /// it.
    Bytes,
}

impl Alphabet {
    /// Returns the number of codes, including [`PAD`]. Every code is less than this.
    pub const fn size(self) -> usize {
        match self {
            Alphabet::Dna => 16,
            Alphabet::Protein => 28,
            Alphabet::Bytes => 256,
        }
    }

    /// Returns the code of a letter, or `None` if the alphabet lacks the letter. Letters of
    /// nucleotides and residues are ASCII letters of either case.
    pub fn encode(self, letter: u8) -> Option<Code> {
        let capital = letter.to_ascii_uppercase();
        match self {
            Alphabet::Dna => {
                let capital = if capital == b'U' { b'T' } else { capital };
                (1..16).find(|&code| DNA_LETTERS[code as usize] == capital)
            }
            Alphabet::Bytes => (!matches!(letter, PAD | b'\n' | b'\r')).then_some(letter),
            Alphabet::Protein => match capital {
                b'A'..=b'Z' => Some(capital - b'A' + 1),
                b'*' => Some(27),
                _ => None,
            },
        }
    }

    /// Returns the letter of a code, in upper case for nucleotides and residues. Their [`PAD`] is
    /// `-`. Panics if the code is not less than [`Alphabet::size`].
    pub fn decode(self, code: Code) -> u8 {
        match self {
            Alphabet::Dna => DNA_LETTERS[code as usize],
            Alphabet::Protein => PROTEIN_LETTERS[code as usize],
            Alphabet::Bytes => code,
        }
    }

    /// Returns a name of the letters, for messages.
    pub const fn letters(self) -> &'static str {
        match self {
            Alphabet::Dna => "DNA/RNA",
            Alphabet::Protein => "proteins",
            Alphabet::Bytes => "bytes",
        }
    }

    /// Returns whether the code stands for a single residue: a base A, C, G or T, or an amino acid
    /// other than B, Z, X, J or `*`.
    pub fn is_unambiguous(self, code: Code) -> bool {
        match self {
            Alphabet::Dna => code.count_ones() == 1,
            Alphabet::Protein => !matches!(self.decode(code), b'-' | b'B' | b'Z' | b'X' | b'J' | b'*'),
            Alphabet::Bytes => code != PAD,
        }
    }
}

/// Letter of each set of bases (bit 0 = A, 1 = C, 2 = G, 3 = T).
const DNA_LETTERS: &[u8; 16] = b"-ACMGRSVTWYHKDBN";
const PROTEIN_LETTERS: &[u8; 28] = b"-ABCDEFGHIJKLMNOPQRSTUVWXYZ*";

/// The choice of the alphabet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlphabetChoice {
    /// The alphabet is detected from the letters of all records in all files. Let `core` be the
    /// fraction of A, C, G, T and U among the letters other than N and X. If every letter is an
    /// IUPAC nucleotide letter, the alphabet is DNA/RNA if `core` is at least 2/3: degenerate
    /// primers reach this, but a peptide without E, F, I, L, P or Q does not. If some letter is no
    /// IUPAC nucleotide letter, the alphabet is DNA/RNA if `core` is at least 9/10, and that letter
    /// is an error. In all other cases it is protein. A set of tiny peptides such as `GATTACA`
    /// alone is read as DNA, unless the alphabet is given.
    #[default]
    Detect,
    /// The alphabet is given.
    Fixed(Alphabet),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_letters_round_trip() {
        for alphabet in [Alphabet::Dna, Alphabet::Protein, Alphabet::Bytes] {
            for code in 1..alphabet.size() {
                let code = code as Code;
                let is_line_end = alphabet == Alphabet::Bytes && matches!(code, b'\n' | b'\r');
                assert_eq!(
                    alphabet.encode(alphabet.decode(code)),
                    (!is_line_end).then_some(code),
                    "{alphabet:?} {code}"
                );
            }
            assert_eq!(alphabet.encode(0), None);
            assert!(!alphabet.is_unambiguous(PAD));
        }
        assert_eq!((Alphabet::Bytes.encode(b'a'), Alphabet::Bytes.encode(b'A')), (Some(97), Some(65)));
        assert_eq!(Alphabet::Dna.encode(b'u'), Some(8));
    }
}
