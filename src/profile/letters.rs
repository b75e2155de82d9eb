//! Consecutive numbers for the letters that occur in the sequences.

use super::options::ProfileOptions;
use crate::score::clustal;
use crate::seq::{Alphabet, SequenceStore};

/// Residues with the percentage by which each scales the cost to open a gap next to it: 180 minus
/// the gap frequencies of Pascarella and Argos (1992).
const SITES: [(u8, i32); 20] = [
    (b'A', 93),
    (b'C', 93),
    (b'D', 76),
    (b'E', 111),
    (b'F', 100),
    (b'G', 41),
    (b'H', 80),
    (b'K', 76),
    (b'I', 112),
    (b'L', 101),
    (b'M', 109),
    (b'N', 43),
    (b'P', 54),
    (b'Q', 87),
    (b'R', 52),
    (b'S', 56),
    (b'T', 69),
    (b'V', 105),
    (b'Y', 80),
    (b'W', 103),
];

/// The letters that occur in the sequences, with their properties.
#[derive(Debug, Clone)]
pub(super) struct ProfileLetters {
    /// Whether the sequences are proteins.
    pub(super) is_protein: bool,
    /// ClustalW's code of each letter.
    pub(super) codes: Vec<u8>,
    /// Percentage by which each letter scales the cost to open a gap next to it.
    pub(super) sites: Vec<i32>,
    /// Whether each letter is hydrophilic. Gaps cost less in runs of hydrophilic residues.
    pub(super) hydrophilic: Vec<bool>,
    /// Number of the letter of each code of the store.
    numbers: Vec<u8>,
}

impl ProfileLetters {
    /// Collects the letters that occur in a store.
    pub(super) fn from_store(store: &SequenceStore, options: &ProfileOptions) -> ProfileLetters {
        let store_codes = clustal::codes(store.alphabet());
        let mut occurs = [false; clustal::CODES];
        for id in 0..store.len() as u32 {
            store.codes(id).iter().for_each(|&code| occurs[store_codes[code as usize] as usize] = true);
        }
        let codes: Vec<u8> = (0..clustal::LETTERS.len() as u8).filter(|&code| occurs[code as usize]).collect();
        let letter = |code: u8| clustal::LETTERS[code as usize];
        let site = |code: u8| SITES.iter().find(|site| site.0 == letter(code)).map_or(0, |site| site.1);
        let number = |code: &u8| codes.iter().position(|other| other == code).unwrap_or_default() as u8;
        ProfileLetters {
            is_protein: store.alphabet() == Alphabet::Protein,
            sites: codes.iter().map(|&code| site(code)).collect(),
            hydrophilic: codes.iter().map(|&code| options.hydrophilic.contains(&letter(code))).collect(),
            numbers: store_codes.iter().map(number).collect(),
            codes,
        }
    }

    /// Returns the number of letters.
    pub(super) fn count(&self) -> usize {
        self.codes.len()
    }

    /// Returns a sequence as numbers of letters.
    pub(super) fn numbers(&self, store: &SequenceStore, id: u32) -> Vec<u8> {
        store.codes(id).iter().map(|&code| self.numbers[code as usize]).collect()
    }
}
