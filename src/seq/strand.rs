//! The two strands of nucleotides: reverse complements, and query stores that contain one or both
//! strands.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::alphabet::{Alphabet, Code};
use super::store::{SequenceId, SequenceStore};

/// The strands of the query that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strands {
    /// The query as it was read.
    #[default]
    #[serde(rename = "forward")]
    Plus,
    /// The reverse complement of the query.
    #[serde(rename = "reverse")]
    Minus,
    /// Both strands. The strand with the better score comes first, or is the only one that is
    /// reported.
    Both,
}

/// The strand of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strand {
    /// The query as it was read.
    #[default]
    Plus,
    /// The reverse complement of the query.
    Minus,
}

/// Returns the reverse complement of nucleotides. An ambiguous code becomes the code for the
/// complements of its bases.
pub fn reverse_complement(codes: &[Code]) -> Vec<Code> {
    let mut reversed = Vec::with_capacity(codes.len());
    push_reverse_complement(codes, &mut reversed);
    reversed
}

/// Appends the reverse complement of nucleotides.
pub(crate) fn push_reverse_complement(codes: &[Code], out: &mut Vec<Code>) {
    out.extend(codes.iter().rev().map(complement));
}

/// Returns whether the reverse complement of nucleotides is less than the nucleotides.
pub(crate) fn has_lesser_reverse_complement(codes: &[Code]) -> bool {
    codes.iter().rev().map(complement).lt(codes.iter().copied())
}

/// Returns the reverse complement of letters as in a file. The case is kept, and U replaces T if
/// there are U and no T. Letters that are not nucleotides stay unchanged.
///
/// ```
/// assert_eq!(pairwave::seq::reverse_complement_letters(b"GAun-"), b"-naUC");
/// ```
pub fn reverse_complement_letters(letters: &[u8]) -> Vec<u8> {
    let has = |letter: u8| letters.iter().any(|other| other.eq_ignore_ascii_case(&letter));
    let is_rna = has(b'U') && !has(b'T');
    let turned = |&letter: &u8| {
        let Some(code) = Alphabet::Dna.encode(letter) else { return letter };
        let complement_letter = match Alphabet::Dna.decode(complement(&code)) {
            b'T' if is_rna => b'U',
            other => other,
        };
        if letter.is_ascii_lowercase() { complement_letter.to_ascii_lowercase() } else { complement_letter }
    };
    letters.iter().rev().map(turned).collect()
}

/// Returns the complement of a code. A code is the set of bases A, C, G and T in this order, so
/// reversing its bits gives their complements.
fn complement(code: &Code) -> Code {
    code.reverse_bits() >> 4
}

/// The strands of each sequence that a query store contains, and the targets that a query is
/// compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryStrands {
    /// Strands in the store. If both are present, they are adjacent, and the plus strand comes
    /// first.
    pub strand: Strands,
    /// Whether each query is compared only with targets after its own sequence. The targets are
    /// then the sequences of the queries. This compares each pair of one store once, with the
    /// earlier sequence as the query, even if minus strands of queries are compared.
    pub later_only: bool,
}

impl QueryStrands {
    /// Returns the number of queries for each sequence, 1 or 2.
    pub fn copies(self) -> u32 {
        1 << self.shift()
    }

    /// Returns the binary logarithm of [`QueryStrands::copies`].
    fn shift(self) -> u32 {
        u32::from(self.strand == Strands::Both)
    }

    /// Returns the sequence and the strand of a query.
    pub fn sequence_of(self, query: SequenceId) -> (SequenceId, Strand) {
        let is_minus = match self.strand {
            Strands::Plus => false,
            Strands::Minus => true,
            Strands::Both => query % 2 == 1,
        };
        (query >> self.shift(), if is_minus { Strand::Minus } else { Strand::Plus })
    }

    /// Returns the query for this strand of a sequence.
    pub fn query(self, sequence: SequenceId, strand: Strand) -> SequenceId {
        let second = self.strand == Strands::Both && strand == Strand::Minus;
        (sequence << self.shift()) + SequenceId::from(second)
    }

    /// Returns the sequences of a range of queries, which must contain all strands of each.
    pub fn sequences(self, queries: Range<SequenceId>) -> Range<SequenceId> {
        queries.start >> self.shift()..queries.end >> self.shift()
    }

    /// Returns the store of queries for these nucleotides. If only plus strands are needed, this is
    /// the store itself.
    pub fn store(self, sequences: &Arc<SequenceStore>) -> Arc<SequenceStore> {
        debug_assert!(self.strand == Strands::Plus || sequences.alphabet() == Alphabet::Dna);
        if self.strand == Strands::Plus {
            return Arc::clone(sequences);
        }
        let mut builder = SequenceStore::builder(sequences.alphabet());
        for id in 0..sequences.len() as SequenceId {
            let (name, codes) = (sequences.name(id), sequences.codes(id));
            if self.strand == Strands::Both {
                builder.push_valid(name, codes);
            }
            builder.push_valid(name, &reverse_complement(codes));
        }
        Arc::new(builder.build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(letters: &str) -> Vec<Code> {
        letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
    }

    #[test]
    fn ambiguous_letters_are_complemented() {
        assert_eq!(reverse_complement(&codes("AACGTURYSWKMBDHVN")), codes("NBDHVKMWSRYAACGTT"));
        assert!(reverse_complement(&[]).is_empty());
    }

    #[test]
    fn reverse_complements_are_compared() {
        for (letters, is_lesser) in
            [("AACG", false), ("CGTT", true), ("ACGT", false), ("NG", true), ("GN", false), ("", false)]
        {
            let codes = codes(letters);
            assert_eq!(has_lesser_reverse_complement(&codes), reverse_complement(&codes) < codes, "{letters}");
            assert_eq!(has_lesser_reverse_complement(&codes), is_lesser, "{letters}");
        }
    }

    #[test]
    fn query_stores_hold_the_requested_strands() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        for (name, letters) in [("a", "ACR"), ("b", ""), ("c", "GGT")] {
            builder.push_letters(name, letters.as_bytes()).unwrap();
        }
        let store = Arc::new(builder.build());
        let letters = |strand| {
            let strands = QueryStrands { strand, later_only: false };
            let queries = strands.store(&store);
            for query in 0..queries.len() as SequenceId {
                let (sequence, of) = strands.sequence_of(query);
                assert_eq!(strands.query(sequence, of), query);
                assert_eq!(queries.name(query), store.name(sequence));
                let turned = reverse_complement(store.codes(sequence));
                let expected = if of == Strand::Minus { &turned } else { store.codes(sequence) };
                assert_eq!(queries.codes(query), expected);
            }
            assert_eq!(strands.sequences(0..queries.len() as u32), 0..3);
            assert_eq!(queries.len() as u32, 3 * strands.copies());
            (0..queries.len() as SequenceId).map(|query| queries.letters(query)).collect::<Vec<_>>()
        };
        assert_eq!(letters(Strands::Plus), ["ACR", "", "GGT"]);
        assert_eq!(letters(Strands::Minus), ["YGT", "", "ACC"]);
        assert_eq!(letters(Strands::Both), ["ACR", "YGT", "", "", "GGT", "ACC"]);
        assert!(Arc::ptr_eq(&QueryStrands::default().store(&store), &store));
    }
}
