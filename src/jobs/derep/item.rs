//! Sequences with their abundance, in memory and in temporary files, and the orders of these.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::cluster::IdenticalRead;
use crate::cluster::annotations::sample;
use crate::seq::{Alphabet, Code, Strand, reverse_complement};

/// The reads that count as identical.
#[derive(Debug, Clone, Copy)]
pub(super) struct DerepRules {
    pub(super) alphabet: Alphabet,
    /// Whether reads of different samples are different.
    pub(super) by_sample: bool,
}

/// A sequence: a single read, or identical reads with their representative.
#[derive(Debug, Clone, Copy)]
pub(super) struct DerepItem<'a> {
    pub(super) hash: u64,
    /// Sum of the abundances.
    pub(super) size: u64,
    /// Abundance of the representative.
    pub(super) greatest_size: u64,
    /// Codes of the sequence, or of its reverse complement.
    pub(super) codes: &'a [Code],
    /// Whether the representative is the reverse complement of `codes`.
    pub(super) is_minus: bool,
    /// Name of the representative.
    pub(super) name: &'a [u8],
    /// Letters of the representative in either case, or nothing if its codes determine them.
    pub(super) respelled: &'a [u8],
}

impl<'a> DerepItem<'a> {
    /// Returns whether the reads of two items are identical.
    pub(super) fn equals(&self, other: &DerepItem<'_>, rules: DerepRules) -> bool {
        self.hash == other.hash
            && self.codes == other.codes
            && (!rules.by_sample || sample(self.name) == sample(other.name))
    }

    /// Compares hashes first. Only items with identical reads compare as equal.
    pub(super) fn hash_order(&self, other: &DerepItem<'_>, rules: DerepRules) -> Ordering {
        let order = self.hash.cmp(&other.hash).then_with(|| self.codes.cmp(other.codes));
        if rules.by_sample { order.then_with(|| sample(self.name).cmp(sample(other.name))) } else { order }
    }

    /// Compares abundances (descending), lengths (descending), symbols, and then samples.
    pub(super) fn output_order(&self, other: &DerepItem<'_>, rules: DerepRules) -> Ordering {
        let sizes = (other.size, other.codes.len()).cmp(&(self.size, self.codes.len()));
        let order = sizes.then_with(|| match (self.is_minus, other.is_minus) {
            (false, false) => self.codes.cmp(other.codes),
            _ => self.own_codes().cmp(&other.own_codes()),
        });
        if rules.by_sample { order.then_with(|| sample(self.name).cmp(sample(other.name))) } else { order }
    }

    /// Compares the representatives of identical reads. The lesser one represents both items.
    pub(super) fn representative_order(&self, other: &DerepItem<'_>, rules: DerepRules) -> Ordering {
        let sizes = other.greatest_size.cmp(&self.greatest_size);
        let names = sizes.then_with(|| (self.name, self.is_minus).cmp(&(other.name, other.is_minus)));
        names.then_with(|| match (self.respelled, other.respelled) {
            ([], []) => Ordering::Equal,
            _ => self.letters(rules.alphabet).cmp(&other.letters(rules.alphabet)),
        })
    }

    /// Returns the codes of the representative.
    fn own_codes(&self) -> Cow<'a, [Code]> {
        if self.is_minus { Cow::Owned(reverse_complement(self.codes)) } else { Cow::Borrowed(self.codes) }
    }

    /// Returns the first symbols of the representative as a number. For sequences of equal length,
    /// different numbers have the order of the symbols.
    pub(super) fn prefix(&self, alphabet: Alphabet) -> u64 {
        let bits = alphabet.size().ilog2() + u32::from(!alphabet.size().is_power_of_two());
        let symbols = self.codes.len().min((u64::BITS / bits) as usize);
        let number = |codes: &[Code]| codes.iter().fold(0, |number, &code| number << bits | u64::from(code));
        if self.is_minus {
            number(&reverse_complement(&self.codes[self.codes.len() - symbols..]))
        } else {
            number(&self.codes[..symbols])
        }
    }

    /// Returns the letters of the representative in upper case.
    pub(super) fn letters(&self, alphabet: Alphabet) -> Vec<u8> {
        if self.respelled.is_empty() {
            self.own_codes().iter().map(|&code| alphabet.decode(code)).collect()
        } else {
            self.respelled.to_ascii_uppercase()
        }
    }
}

/// Size of the numbers before a name in a list of reads.
const READ_HEADER: usize = 13;

/// Appends a read to a list of reads. `is_minus` refers to the codes of its item.
pub(super) fn push_read(list: &mut Vec<u8>, name: &[u8], abundance: u64, is_minus: bool) {
    list.extend_from_slice(&abundance.to_le_bytes());
    list.extend_from_slice(&(name.len() as u32).to_le_bytes());
    list.push(u8::from(is_minus));
    list.extend_from_slice(name);
}

/// Returns the reads of a list. Their strands refer to a representative on this strand.
pub(super) fn reads_of_list(list: &[u8], representative_is_minus: bool) -> impl Iterator<Item = IdenticalRead<'_>> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let (header, after) = rest.split_first_chunk::<READ_HEADER>()?;
        let [a, b, c, d, e, f, g, h, length @ .., strand] = *header;
        let (name, after) = after.split_at(u32::from_le_bytes(length) as usize);
        rest = after;
        let is_same = (strand != 0) == representative_is_minus;
        let strand = if is_same { Strand::Plus } else { Strand::Minus };
        Some(IdenticalRead { name, abundance: u64::from_le_bytes([a, b, c, d, e, f, g, h]), strand })
    })
}
