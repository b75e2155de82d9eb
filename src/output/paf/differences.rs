//! The tag `cs`, minimap2's differences between target and query.
//!
//! It consists of `*` with the letters of target and query, `+` with inserted query letters, and `-`
//! with deleted target letters. Equal letters between them are counted after `:` in the short form,
//! and written after `=` in the long form.

use crate::alignment::Op;
use crate::output::numbers::push_unsigned;
use crate::seq::{Alphabet, Code};

/// Form of the tag `cs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsForm {
    /// Numbers of equal letters.
    Short,
    /// Equal letters themselves.
    Long,
}

/// Writer of the value of `cs`.
struct DifferenceWriter<'a> {
    out: &'a mut Vec<u8>,
    alphabet: Alphabet,
    form: CsForm,
}

impl DifferenceWriter<'_> {
    fn push_letters(&mut self, codes: &[Code]) {
        let alphabet = self.alphabet;
        self.out.extend(codes.iter().map(|&code| alphabet.decode(code).to_ascii_lowercase()));
    }

    /// Appends a run of equal letters, unless it is empty.
    fn push_equal(&mut self, codes: &[Code]) {
        if codes.is_empty() {
            return;
        }
        match self.form {
            CsForm::Short => {
                self.out.push(b':');
                push_unsigned(self.out, codes.len() as u64);
            }
            CsForm::Long => {
                self.out.push(b'=');
                let alphabet = self.alphabet;
                self.out.extend(codes.iter().map(|&code| alphabet.decode(code).to_ascii_uppercase()));
            }
        }
    }
}

/// Appends the value of `cs`. The sequences start with the first column.
pub(super) fn push_differences(
    out: &mut Vec<u8>,
    runs: impl Iterator<Item = (u32, Op)>,
    [query, target]: [&[Code]; 2],
    alphabet: Alphabet,
    form: CsForm,
) {
    let mut writer = DifferenceWriter { out, alphabet, form };
    // Positions of the next column, and the number of equal letters before it.
    let (mut i, mut j, mut equal) = (0, 0, 0);
    for (length, op) in runs {
        let length = length as usize;
        match op {
            Op::Insertion => {
                writer.push_equal(&target[j - std::mem::take(&mut equal)..j]);
                writer.out.push(b'+');
                writer.push_letters(&query[i..i + length]);
                i += length;
            }
            Op::Deletion => {
                writer.push_equal(&target[j - std::mem::take(&mut equal)..j]);
                writer.out.push(b'-');
                writer.push_letters(&target[j..j + length]);
                j += length;
            }
            Op::Match | Op::Mismatch => {
                for _ in 0..length {
                    // Letters that match need not be equal: R matches A.
                    if query[i] == target[j] {
                        equal += 1;
                    } else {
                        writer.push_equal(&target[j - std::mem::take(&mut equal)..j]);
                        writer.out.push(b'*');
                        writer.push_letters(&[target[j], query[i]]);
                    }
                    (i, j) = (i + 1, j + 1);
                }
            }
        }
    }
    writer.push_equal(&target[j - equal..j]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Cigar;

    #[test]
    fn both_forms_follow_minimap2() {
        let codes = |text: &[u8]| text.iter().map(|&letter| Alphabet::Dna.encode(letter).unwrap()).collect::<Vec<_>>();
        let (query, target) = (codes(b"ACGTTRGG"), codes(b"ACCTAGGCC"));
        let written = |cigar: &str, form| {
            let (cigar, mut out) = (cigar.parse::<Cigar>().unwrap(), Vec::new());
            push_differences(&mut out, cigar.iter(), [&query, &target], Alphabet::Dna, form);
            String::from_utf8(out).unwrap()
        };
        let cigar = "2=1X1=1I3=2D";
        assert_eq!(written(cigar, CsForm::Short), ":2*cg:1+t*ar:2-cc");
        assert_eq!(written(cigar, CsForm::Long), "=AC*cg=T+t*ar=GG-cc");
        assert_eq!(written("2=", CsForm::Long), "=AC");
    }
}
