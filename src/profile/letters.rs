//! Sequences as profiles have them: letters numbered without holes.

use super::options::Options;
use crate::score::clustal;
use crate::seq::{Alphabet, SequenceStore};

/// Residues, and how seldom gaps are found beside each, in percent: 180 less the numbers of Pascarella and Argos (1992).
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

/// The letters that sequences are made of, and what profiles have to know of each.
#[derive(Debug, Clone)]
pub(super) struct Letters {
    /// Whether they are residues of proteins.
    pub(super) is_protein: bool,
    /// ClustalW's code of each.
    pub(super) codes: Vec<u8>,
    /// How much each raises the cost of opening a gap beside it, in percent.
    pub(super) sites: Vec<i32>,
    /// Whether gaps cost less in runs of it.
    pub(super) hydrophilic: Vec<bool>,
    /// Number of a store's code.
    numbers: Vec<u8>,
}

impl Letters {
    /// The letters that occur in a store.
    pub(super) fn of(store: &SequenceStore, options: &Options) -> Letters {
        let own = clustal::codes(store.alphabet());
        let mut occurs = [false; clustal::CODES];
        for id in 0..store.len() as u32 {
            store.codes(id).iter().for_each(|&code| occurs[own[code as usize] as usize] = true);
        }
        let codes: Vec<u8> = (0..clustal::LETTERS.len() as u8).filter(|&code| occurs[code as usize]).collect();
        let letter = |code: u8| clustal::LETTERS[code as usize];
        let site = |code: u8| SITES.iter().find(|site| site.0 == letter(code)).map_or(0, |site| site.1);
        let number = |code: &u8| codes.iter().position(|own| own == code).unwrap_or_default() as u8;
        Letters {
            is_protein: store.alphabet() == Alphabet::Protein,
            sites: codes.iter().map(|&code| site(code)).collect(),
            hydrophilic: codes.iter().map(|&code| options.hydrophilic.contains(&letter(code))).collect(),
            numbers: own.iter().map(number).collect(),
            codes,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.codes.len()
    }

    /// A sequence in these letters' numbers.
    pub(super) fn numbers(&self, store: &SequenceStore, id: u32) -> Vec<u8> {
        store.codes(id).iter().map(|&code| self.numbers[code as usize]).collect()
    }
}
