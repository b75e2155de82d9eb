//! Options for symbols of patterns that must match exactly.

use pairwave::edit::exact::ExactSymbols;
use pairwave::score::Equality;
use pairwave::seq::{Alphabet, Code, SequenceId, SequenceStore};
use pairwave::{Error, Result};
use std::ops::Range;

/// The least number of patterns that all end like a PAM only if they include it, and not by chance.
const MIN_PATTERNS_WITH_PAM: usize = 4;

/// A PAM, which is appended to each pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Pam {
    typed: String,
    codes: Vec<Code>,
}

impl Pam {
    /// Parses the codes of nucleotides.
    pub(super) fn parse(typed: &str) -> Result<Self> {
        let codes: Option<Vec<Code>> = typed.bytes().map(|letter| Alphabet::Dna.encode(letter)).collect();
        match codes.filter(|codes| !codes.is_empty()) {
            Some(codes) => Ok(Pam { typed: typed.to_owned(), codes }),
            None => Err(Error::usage(format!("--pam {typed}: this is no sequence of nucleotides, as in NGG"))),
        }
    }

    /// Rejects rules of equality under which a code of the PAM does not match all of its bases: the
    /// search would miss places, and nothing would say so.
    pub(super) fn check_rules(&self, equality: &Equality) -> Result<()> {
        let is_unequal =
            |code: Code| [1, 2, 4, 8].iter().any(|base| code & base != 0 && !equality.is_match(code, *base));
        match self.codes.iter().find(|&&code| is_unequal(code)) {
            None => Ok(()),
            Some(&code) => Err(Error::usage(format!(
                "--pam {}: {} does not equal the bases that it stands for, because of --n or --ambiguity; remove that \
                 option (--max-n-frac drops places in runs of N)",
                self.typed,
                char::from(Alphabet::Dna.decode(code))
            ))),
        }
    }

    /// Warns if all patterns end like the PAM, and may include it.
    fn warn_of_ends(&self, patterns: &SequenceStore) {
        let ends_alike = |id| {
            let codes: &[Code] = patterns.codes(id);
            let last = codes.len().checked_sub(self.codes.len()).map(|start| &codes[start..]);
            last.is_some_and(|last| last.iter().zip(&self.codes).all(|(code, pam)| code & pam != 0))
        };
        if patterns.len() >= MIN_PATTERNS_WITH_PAM && (0..patterns.len() as SequenceId).all(ends_alike) {
            let typed = &self.typed;
            tracing::warn!(
                "--pam {typed} is appended to {} patterns that all end like it; if they include the PAM, use --exact",
                patterns.len()
            );
        }
    }

    /// Returns the number of symbols.
    pub(super) fn symbols(&self) -> u32 {
        self.codes.len() as u32
    }

    /// Returns the patterns, each followed by the PAM. Rejects patterns that end in it, if it has
    /// ambiguous codes: it is then in the file already.
    pub(super) fn append(&self, patterns: &SequenceStore) -> Result<SequenceStore> {
        if patterns.alphabet() != Alphabet::Dna {
            let letters = patterns.alphabet().letters();
            return Err(Error::usage(format!("--pam applies only to nucleotides, but the sequences are {letters}")));
        }
        let is_ambiguous = self.codes.iter().any(|code| !code.is_power_of_two());
        let has_pam = |id: &SequenceId| is_ambiguous && patterns.codes(*id).ends_with(&self.codes);
        match (0..patterns.len() as SequenceId).find(has_pam) {
            None => {
                self.warn_of_ends(patterns);
                Ok(patterns.followed_by(&self.codes))
            }
            Some(id) => {
                let (name, end) = (patterns.name(id), patterns.length(id));
                let (typed, first) = (&self.typed, end + 1 - self.symbols());
                Err(Error::usage(format!(
                    "--pam {typed}: pattern '{name}' already ends in it; use --exact {first}-{end} instead, or remove \
                     it from the patterns"
                )))
            }
        }
    }
}

/// Returns the symbols that must match exactly, given the typed positions and the PAM.
pub(super) fn exact_symbols(typed: Option<&str>, pam: Option<&Pam>) -> Result<ExactSymbols> {
    let ranges = typed.map_or(Ok(Vec::new()), ranges)?;
    Ok(ExactSymbols { ranges, last: pam.map_or(0, Pam::symbols) })
}

/// Parses positions and ranges of positions.
fn ranges(typed: &str) -> Result<Vec<Range<u32>>> {
    let wrong = |what: &str| {
        let typed = if typed.is_empty() { "''" } else { typed };
        Err(Error::usage(format!("--exact {typed}: {what}; give positions as in 21-23 or 1-4,21-23")))
    };
    let mut ranges = Vec::new();
    for part in typed.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match (is_number(first) && is_number(last)).then(|| (first.parse::<u32>(), last.parse::<u32>())) {
            Some((Ok(0), _)) => return wrong("positions count from 1"),
            Some((Ok(first), Ok(last))) if first > last => return wrong("a range starts with its lower position"),
            Some((Ok(first), Ok(last))) => ranges.push(first - 1..last),
            Some(_) => return wrong("no sequence is that long"),
            None => return wrong("this is no list of positions and ranges"),
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairwave::score::Ambiguity;

    #[test]
    fn positions_and_ranges_become_half_open_ranges() {
        assert_eq!(ranges("21-23,8").unwrap(), [20..23, 7..8]);
        assert_eq!(ranges("1-4,7,21-23").unwrap(), [0..4, 6..7, 20..23]);
        for typed in ["", "0-2", "3-1", "2-", "-2", "1,", "a", "1-2-3", "4294967296"] {
            assert!(ranges(typed).is_err(), "{typed}");
        }
        assert!(ranges("1-4294967296").unwrap_err().to_string().contains("no sequence is that long"));
    }

    #[test]
    fn a_pam_is_appended_unless_the_patterns_have_it() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        builder.push_letters("guide", b"ACGTGG").unwrap();
        let guides = builder.build();
        let appended = |pam: &str| Pam::parse(pam).and_then(|pam| pam.append(&guides));
        assert_eq!(appended("NGG").unwrap().letters(0), "ACGTGGNGG");
        assert_eq!(appended("GG").unwrap().letters(0), "ACGTGGGG");
        let twice = Pam::parse("ngg").unwrap().append(&appended("NGG").unwrap()).unwrap_err().to_string();
        assert!(twice.contains("'guide' already ends in it; use --exact 7-9"), "{twice}");
        assert!(Pam::parse("").is_err() && Pam::parse("NG!").is_err());
    }

    #[test]
    fn codes_of_a_pam_equal_their_bases() {
        let check = |pam: &str, equality: &Equality| Pam::parse(pam).unwrap().check_rules(equality);
        let overlap = |n_matches| Equality::dna(Ambiguity::Overlap, n_matches);
        assert!(check("NRG", &overlap(true)).is_ok() && check("RG", &overlap(false)).is_ok());
        for equality in [overlap(false), Equality::dna(Ambiguity::Mismatch, true), Equality::literal(Alphabet::Dna)] {
            let error = check("GNG", &equality).unwrap_err().to_string();
            assert!(error.contains("--pam GNG: N does not equal the bases"), "{error}");
            assert!(check("ACGT", &equality).is_ok());
        }
    }
}
