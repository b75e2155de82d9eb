//! q-grams (windows of q symbols) as numbers, and as rows of an index.

use std::ops::RangeInclusive;

use crate::score::Equality;
use crate::seq::{Alphabet, Code};

/// Maximum number of readings of a window. A reading is one of the q-grams that a window may stand
/// for. A symbol that equals several letters gives several readings. A window with more readings
/// than this counts as every q-gram.
const MAX_READINGS: usize = 256;
/// Minimum number of index rows per symbol of the longest text. With many rows, few q-grams of a
/// text share a row with others by chance.
const ROWS_A_SYMBOL: usize = 4;
/// Minimum number of different q-grams per symbol of the longest text.
const GRAMS_A_SYMBOL: usize = 8;
/// Range of q.
const SYMBOLS: RangeInclusive<usize> = 2..=12;
/// Marks a code that is not a letter.
const NO_LETTER: u8 = u8::MAX;
/// Multiplier that spreads numbers over rows (Knuth's multiplicative hashing).
const HASH_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The letters of an equality: codes that equal themselves and no other letter. In a text, other
/// codes (such as ambiguous nucleotides) stand for all letters that they equal. In a pattern, they
/// count as any letter.
#[derive(Debug, Clone)]
pub(super) struct GramLetters {
    /// Number of each letter, indexed by code.
    numbers: Vec<u8>,
    /// Numbers of the letters that each code equals.
    readings: Vec<Vec<u8>>,
    /// Number of bits of a letter's number.
    bits: u32,
    /// Number of letters that are frequent in sequences.
    common: usize,
}

impl GramLetters {
    pub(super) fn new(equality: &Equality) -> Self {
        let codes = || 1..equality.alphabet().size();
        let equal = |a: usize, b: usize| equality.is_match(a as Code, b as Code);
        // If codes equal each other, the code that equals the fewest others becomes a letter.
        let mut by_few: Vec<usize> = codes().filter(|&code| equal(code, code)).collect();
        by_few.sort_by_key(|&code| codes().filter(|&other| equal(code, other)).count());
        let mut letters: Vec<usize> = Vec::new();
        for code in by_few {
            if letters.len() < usize::from(NO_LETTER) && !letters.iter().any(|&letter| equal(letter, code)) {
                letters.push(code);
            }
        }
        let mut numbers = vec![NO_LETTER; 256];
        letters.iter().enumerate().for_each(|(number, &code)| numbers[code] = number as u8);
        let readings_of =
            |code: usize| (0..letters.len()).filter(|&number| equal(letters[number], code)).map(|n| n as u8).collect();
        let readings =
            (0..256).map(|code| if codes().contains(&code) { readings_of(code) } else { Vec::new() }).collect();
        let most = if equality.alphabet() == Alphabet::Dna { 4 } else { 20 };
        let bits = usize::BITS - letters.len().saturating_sub(1).leading_zeros();
        GramLetters { numbers, readings, bits: bits.max(1), common: letters.len().clamp(2, most) }
    }
}

/// The q-grams for texts of some length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grams<'a> {
    letters: &'a GramLetters,
    /// Number of symbols of a q-gram.
    pub q: usize,
    /// Number of bits of a row number.
    row_bits: u32,
}

impl<'a> Grams<'a> {
    /// Chooses q and the number of rows for texts of at most `longest` symbols.
    pub(super) fn new(letters: &'a GramLetters, longest: usize) -> Self {
        let longest = longest.max(1);
        let enough = |&q: &usize| letters.common.saturating_pow(q as u32) >= GRAMS_A_SYMBOL * longest;
        let q = SYMBOLS.clone().find(enough).unwrap_or(*SYMBOLS.end()).min((u64::BITS / letters.bits) as usize);
        let row_bits = (ROWS_A_SYMBOL * longest).next_power_of_two().trailing_zeros().max(1);
        Grams { letters, q, row_bits }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        1 << self.row_bits
    }

    fn row(&self, gram: u64) -> u32 {
        (gram.wrapping_mul(HASH_MULTIPLIER) >> (u64::BITS - self.row_bits)) as u32
    }

    fn extend_gram(&self, gram: u64, number: u8) -> u64 {
        let all = u64::MAX >> (u64::BITS - self.letters.bits * self.q as u32);
        (gram << self.letters.bits | u64::from(number)) & all
    }

    /// Computes the row of every window of a pattern. A window with a symbol that is not a letter
    /// gets [`Grams::rows`].
    pub(super) fn of_pattern(&self, codes: &[Code], rows: &mut Vec<u32>) {
        rows.clear();
        let (mut gram, mut letters) = (0, 0);
        for (at, &code) in codes.iter().enumerate() {
            let number = self.letters.numbers[usize::from(code)];
            letters = if number == NO_LETTER { 0 } else { letters + 1 };
            gram = self.extend_gram(gram, if number == NO_LETTER { 0 } else { number });
            if at + 1 >= self.q {
                rows.push(if letters >= self.q { self.row(gram) } else { self.rows() as u32 });
            }
        }
    }

    /// Calls `row` with the rows of every window of a text. Returns false if some window may be any
    /// q-gram, because it has too many readings.
    pub(super) fn of_text(&self, codes: &[Code], mut row: impl FnMut(u32)) -> bool {
        let (mut gram, mut letters) = (0, 0);
        let (mut readings, mut longer) = (Vec::new(), Vec::new());
        for (at, &code) in codes.iter().enumerate() {
            let number = self.letters.numbers[usize::from(code)];
            letters = if number == NO_LETTER { 0 } else { letters + 1 };
            gram = self.extend_gram(gram, if number == NO_LETTER { 0 } else { number });
            if letters >= self.q {
                row(self.row(gram));
            } else if at + 1 >= self.q {
                readings.clear();
                readings.push(0);
                for &code in &codes[at + 1 - self.q..=at] {
                    let letter_readings = &self.letters.readings[usize::from(code)];
                    if readings.len() * letter_readings.len() > MAX_READINGS {
                        return false;
                    }
                    longer.clear();
                    longer.extend(
                        readings.iter().flat_map(|&gram| {
                            letter_readings.iter().map(move |&number| self.extend_gram(gram, number))
                        }),
                    );
                    std::mem::swap(&mut readings, &mut longer);
                }
                readings.iter().for_each(|&gram| row(self.row(gram)));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Ambiguity;

    fn codes(letters: &str) -> Vec<Code> {
        letters.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
    }

    #[test]
    fn ambiguous_symbols_give_all_their_readings() {
        let letters = GramLetters::new(&Equality::dna(Ambiguity::Overlap, true));
        assert_eq!((letters.bits, letters.common), (2, 4));
        let grams = Grams { letters: &letters, q: 3, row_bits: 20 };
        let of_pattern = |text: &str| {
            let mut rows = Vec::new();
            grams.of_pattern(&codes(text), &mut rows);
            rows
        };
        let of_text = |text: &str| {
            let mut rows = Vec::new();
            let is_complete = grams.of_text(&codes(text), |row| rows.push(row));
            is_complete.then_some(rows)
        };
        assert_eq!(of_text("ACGT").unwrap(), of_pattern("ACGT"));
        let rows = of_text("ACRTT").unwrap();
        let all = ["ACA", "ACG", "CAT", "CGT", "ATT", "GTT"].map(|gram| of_pattern(gram)[0]);
        assert_eq!(rows, all);
        assert_eq!(of_pattern("ACRTTG"), [1 << 20, 1 << 20, 1 << 20, of_pattern("TTG")[0]]);
        assert_eq!(of_text("NNN").map(|rows| rows.len()), Some(64));
        let long = Grams { letters: &letters, q: 5, row_bits: 20 };
        assert!(!long.of_text(&codes("ANNNNNA"), |_| {}));
        assert!(of_text("AC").unwrap().is_empty() && of_pattern("AC").is_empty());
        // An ambiguous symbol that equals nothing has no readings, and neither do its windows.
        let strict = GramLetters::new(&Equality::dna(Ambiguity::Mismatch, true));
        let grams = Grams { letters: &strict, q: 3, row_bits: 20 };
        let mut rows = 0;
        assert!(grams.of_text(&codes("ACGRTTT"), |_| rows += 1) && rows == 2);
    }

    #[test]
    fn longer_texts_have_longer_grams() {
        let letters = GramLetters::new(&Equality::dna(Ambiguity::Overlap, true));
        let size_for = |longest| {
            let grams = Grams::new(&letters, longest);
            (grams.q, grams.rows())
        };
        assert_eq!([size_for(100), size_for(1500), size_for(30_000)], [(5, 512), (7, 8192), (9, 131_072)]);
        let proteins = GramLetters::new(&Equality::literal(Alphabet::Protein));
        assert_eq!((Grams::new(&proteins, 400).q, proteins.common), (3, 20));
    }
}
