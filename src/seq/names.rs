//! Names in file formats: the characters that each format allows, and replacements for names that
//! it does not allow.
//!
//! | format | characters that become `_` | further rules |
//! |---|---|---|
//! | Newick | none; a name with blanks or `( ) [ ] : ; , ' "` is quoted | see `quoted` in `src/tree/newick.rs` |
//! | NEXUS | none; a name with blanks or punctuation is quoted | see `quoted` in `src/seq/aligned/nexus.rs` |
//! | PHYLIP | blank and `( ) [ ] : ; , ' "`, which a tree with the same names would have to quote | any length |
//! | strict PHYLIP | as PHYLIP | at most 10 bytes |
//! | Clustal | blank | at most 30 characters |
//! | Stockholm | blank, and `#` or `/` at the start | |
//! | MSF | blank | |
//! | FASTA | blank | |
//! | ClustalW's input | `: ( ) , ;` | as ClustalW 2.1 reads names |
//! | TSV, JSONL, PAF, SAM | none: the reader ends names at a blank | |
//!
//! A control character becomes `_` in every format. Unicode blanks count as blanks. Bytes that are
//! not UTF-8 stay unchanged.

use std::collections::{HashMap, HashSet};
use std::fmt;

use bstr::ByteSlice;
use twox_hash::XxHash3_128;

/// The names that a format can contain.
#[derive(Debug, Clone, Copy)]
pub struct NameRules {
    /// Name of the format, for messages.
    pub format: &'static str,
    /// Maximum length.
    max: NameLength,
    /// ASCII characters that a name cannot contain, in addition to control characters.
    excluded: &'static [u8],
    /// Characters that a name cannot start with.
    excluded_first: &'static [u8],
}

/// A maximum length of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameLength {
    /// No maximum.
    Any,
    /// Number of characters.
    Chars(usize),
    /// Number of bytes. Characters are not split.
    Bytes(usize),
}

/// Characters with a meaning in trees. Programs that read PHYLIP write trees with the same names,
/// mostly without quotes.
const TREE_PUNCTUATION: &[u8] = b" ()[]:;,'\"";

impl NameRules {
    /// FASTA, where a name ends at a blank.
    pub const FASTA: NameRules = NameRules::any_length("FASTA", b" ");
    /// PHYLIP with names of any length.
    pub const PHYLIP: NameRules = NameRules::any_length("PHYLIP", TREE_PUNCTUATION);
    /// PHYLIP with names of ten characters. Some programs read ten characters and some ten bytes. A
    /// name of at most ten bytes, padded to ten characters, suits both.
    pub const PHYLIP_STRICT: NameRules = NameRules {
        format: "strict PHYLIP",
        max: NameLength::Bytes(10),
        excluded: TREE_PUNCTUATION,
        excluded_first: b"",
    };
    /// Clustal's alignments, where a blank ends a name.
    pub const CLUSTAL: NameRules =
        NameRules { format: "Clustal", max: NameLength::Chars(30), excluded: b" ", excluded_first: b"" };
    /// Stockholm, where a line that starts with `#` is an annotation, and `//` is the end.
    pub const STOCKHOLM: NameRules =
        NameRules { format: "Stockholm", max: NameLength::Any, excluded: b" ", excluded_first: b"#/" };
    /// MSF.
    pub const MSF: NameRules = NameRules::any_length("MSF", b" ");
    /// NEXUS, which quotes names.
    pub const NEXUS: NameRules = NameRules::any_length("NEXUS", b"");
    /// Newick, which quotes names.
    pub const NEWICK: NameRules = NameRules::any_length("Newick", b"");
    /// Tables.
    pub const TSV: NameRules = NameRules::any_length("TSV", b"");
    /// The names that ClustalW 2.1 reads. It replaces these characters in all of its files.
    pub const CLUSTALW: NameRules = NameRules::any_length("ClustalW", b" :(),;");

    /// The rules that may have changed names in trees of `pairwave msa`, in addition to Newick's
    /// own.
    pub const OF_TREES: [NameRules; 5] =
        [NameRules::CLUSTALW, NameRules::PHYLIP, NameRules::PHYLIP_STRICT, NameRules::CLUSTAL, NameRules::STOCKHOLM];

    /// Returns rules for names of any length.
    const fn any_length(format: &'static str, excluded: &'static [u8]) -> Self {
        NameRules { format, max: NameLength::Any, excluded, excluded_first: b"" }
    }

    /// Returns unique names for the rows in `order` that the format can contain, and a list of the
    /// rows that are renamed.
    pub fn apply(&self, names: &[&[u8]], order: &[u32]) -> (Vec<Vec<u8>>, Vec<Renamed>) {
        let held: Vec<(Vec<u8>, Option<Why>)> =
            order.iter().map(|&row| self.fitting_name(names[row as usize], u64::from(row))).collect();
        // A new name must differ from the names of all rows.
        let mut namer = Namer::new(*self, held.iter().map(|(name, _)| name.as_slice()));
        let mut seen: HashSet<&[u8]> = HashSet::with_capacity(held.len());
        let mut written = Vec::with_capacity(order.len());
        let mut renamed = Vec::new();
        for ((name, why), &row) in held.iter().zip(order) {
            let (new_name, why) = match seen.insert(name) {
                true => (name.clone(), *why),
                false => (namer.next_free(name), Some(Why::Taken)),
            };
            renamed.extend(why.map(|why| self.renamed(u64::from(row), names[row as usize], &new_name, why)));
            written.push(new_name);
        }
        (written, renamed)
    }

    /// Applies the rules like [`NameRules::apply`] to all rows, in the order of the names.
    pub fn apply_to_all(&self, names: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<Renamed>) {
        let order: Vec<u32> = (0..names.len() as u32).collect();
        self.apply(names, &order)
    }

    fn renamed(&self, row: u64, name: &[u8], written: &[u8], why: Why) -> Renamed {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        Renamed { row, name: text(name), written: text(written), why, format: self.format }
    }

    /// Returns a name that the format can contain, regardless of other rows.
    fn fitting_name(&self, name: &[u8], row: u64) -> (Vec<u8>, Option<Why>) {
        let mut why = None;
        let mut new_name = name.to_vec();
        if name.is_empty() {
            new_name = format!("sequence_{}", row + 1).into_bytes();
            why = Some(Why::Empty);
        }
        for (index, byte) in new_name.iter_mut().enumerate() {
            let is_excluded = byte.is_ascii_control()
                || self.excluded.contains(byte)
                || (index == 0 && self.excluded_first.contains(byte));
            if is_excluded {
                *byte = b'_';
                why = Some(Why::Characters);
            }
        }
        if self.excluded.contains(&b' ') && has_blank(&new_name) {
            new_name = without_blanks(&new_name);
            why = Some(Why::Characters);
        }
        let kept = self.max.cut(&new_name, 0).len();
        if kept < new_name.len() {
            new_name.truncate(kept);
            why = why.filter(|&why| why == Why::Empty).or(Some(Why::Long(self.max)));
        }
        (new_name, why)
    }
}

/// Generator of the names of consecutive rows. Each name differs from all earlier ones.
#[derive(Debug, Clone)]
pub struct Namer {
    rules: NameRules,
    /// Hashes of the names in use. They take less memory than the names, of which a file may have
    /// very many.
    taken: HashSet<u128>,
    /// Last number that was appended to each name.
    numbers: HashMap<Vec<u8>, usize>,
    /// Number of rows so far.
    rows: u64,
}

impl Namer {
    /// Creates a generator of names that differ from those in `taken`.
    pub fn new<'a>(rules: NameRules, taken: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let taken = taken.into_iter().map(XxHash3_128::oneshot).collect();
        Namer { rules, taken, numbers: HashMap::new(), rows: 0 }
    }

    /// Returns the name of the next row, and a record of the change if it differs from the given
    /// one.
    pub fn name(&mut self, name: &[u8]) -> (Vec<u8>, Option<Renamed>) {
        let (mut new_name, mut why) = self.rules.fitting_name(name, self.rows);
        if !self.taken.insert(XxHash3_128::oneshot(&new_name)) {
            (new_name, why) = (self.next_free(&new_name), Some(Why::Taken));
        }
        let renamed = why.map(|why| self.rules.renamed(self.rows, name, &new_name, why));
        self.rows += 1;
        (new_name, renamed)
    }

    /// Appends the least number that makes the name unique, and marks the name as used.
    fn next_free(&mut self, name: &[u8]) -> Vec<u8> {
        let number = self.numbers.entry(name.to_vec()).or_insert(1);
        loop {
            *number += 1;
            let end = format!("_{number}").into_bytes();
            let new_name = [self.rules.max.cut(name, end.len()), &end].concat();
            if self.taken.insert(XxHash3_128::oneshot(&new_name)) {
                return new_name;
            }
        }
    }
}

/// A row whose name differs from the input. A character that the format cannot contain becomes `_`.
/// An empty name becomes `sequence_N`, where N is the sequence's number from 1. A long name is
/// truncated. If several rows then have the same name, all but the first get the suffix `_2`, `_3`
/// and so on, with the first number that is free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// Index of the sequence in the alignment.
    pub row: u64,
    /// Name in the input.
    pub name: String,
    /// Name in the output.
    pub written: String,
    /// Reason for the change.
    pub why: Why,
    /// Name of the format, for the message.
    format: &'static str,
}

/// The reason why a name is changed. If several apply, it is the last of these variants, except
/// that [`Why::Empty`] takes precedence over [`Why::Long`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The name was empty.
    Empty,
    /// The name contains characters that the format cannot contain.
    Characters,
    /// The name was longer than this.
    Long(NameLength),
    /// Another row has the same name.
    Taken,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Renamed { name, written, format, .. } = self;
        write!(f, "'{name}' is written as '{written}': ")?;
        match self.why {
            Why::Empty => write!(f, "every row of {format} needs a name"),
            Why::Characters => write!(f, "{format} does not allow all of its characters in names"),
            Why::Long(max) => write!(f, "names in {format} have at most {max}"),
            Why::Taken => f.write_str("another row has this name"),
        }
    }
}

/// Returns whether a name contains a blank, including Unicode blanks. Many programs split lines at
/// these.
pub(crate) fn has_blank(name: &[u8]) -> bool {
    name.chars().any(char::is_whitespace)
}

/// Returns a name with `_` for each blank.
fn without_blanks(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    for (start, end, char) in name.char_indices() {
        if char.is_whitespace() { text.push(b'_') } else { text.extend_from_slice(&name[start..end]) }
    }
    text
}

impl NameLength {
    /// Returns the longest start of a name that has this length after `reserved` ASCII characters
    /// are appended.
    fn cut(self, name: &[u8], reserved: usize) -> &[u8] {
        let end = match self {
            NameLength::Any => return name,
            NameLength::Chars(max) => {
                let max = max.saturating_sub(reserved);
                match std::str::from_utf8(name) {
                    Ok(text) => text.char_indices().nth(max).map_or(name.len(), |(end, _)| end),
                    Err(_) => max.min(name.len()),
                }
            }
            NameLength::Bytes(max) => {
                let max = max.saturating_sub(reserved);
                std::str::from_utf8(name).map_or(max.min(name.len()), |text| text.floor_char_boundary(max))
            }
        };
        &name[..end]
    }
}

impl fmt::Display for NameLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameLength::Any => f.write_str("any number of characters"),
            NameLength::Chars(max) => write!(f, "{max} characters"),
            NameLength::Bytes(max) => write!(f, "{max} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: NameRules = NameRules { format: "F", max: NameLength::Chars(5), excluded: b" :", excluded_first: b"#" };

    fn names(names: &[&str], order: &[u32]) -> (Vec<String>, Vec<String>) {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let (written, renamed) = FIVE.apply(&names, order);
        let written = written.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
        (written, renamed.iter().map(Renamed::to_string).collect())
    }

    #[test]
    fn rows_get_unique_valid_names() {
        let (written, renamed) = names(&["a b", "#x#", "longer", "longest", "", "ok", "lon_2"], &[0, 1, 2, 3, 5, 6]);
        assert_eq!(written, ["a_b", "_x#", "longe", "lon_3", "ok", "lon_2"]);
        assert_eq!(
            renamed,
            [
                "'a b' is written as 'a_b': F does not allow all of its characters in names",
                "'#x#' is written as '_x#': F does not allow all of its characters in names",
                "'longer' is written as 'longe': names in F have at most 5 characters",
                "'longest' is written as 'lon_3': another row has this name",
            ]
        );
    }

    #[test]
    fn empty_names_become_sequence_numbers() {
        let rules = NameRules::any_length("F", b"");
        let (written, renamed) = rules.apply(&[b"", b"", b"sequence_1"], &[2, 1, 0]);
        assert_eq!(written, [b"sequence_1".to_vec(), b"sequence_2".to_vec(), b"sequence_1_2".to_vec()]);
        assert_eq!(renamed.iter().map(|renamed| renamed.why).collect::<Vec<_>>(), [Why::Empty, Why::Taken]);
    }

    #[test]
    fn multibyte_characters_are_not_split() {
        assert_eq!(names(&["äöüßæø"], &[0]).0, ["äöüßæ"]);
        assert_eq!(NameLength::Chars(2).cut(b"\xff\xfe\xfd", 0), b"\xff\xfe");
        assert_eq!(NameLength::Bytes(2).cut(b"\xff\xfe\xfd", 0), b"\xff\xfe");
        assert_eq!(NameLength::Bytes(5).cut("äöü".as_bytes(), 0), "äö".as_bytes());
    }

    #[test]
    fn strict_phylip_names_have_at_most_ten_bytes() {
        let names = ["äöüßæ", "äöüßæø", "äöüßæø", "nine_charé", "0123456789"].map(str::as_bytes);
        let (written, renamed) = NameRules::PHYLIP_STRICT.apply_to_all(&names);
        assert_eq!(written, ["äöüßæ", "äöüß_2", "äöüß_3", "nine_char", "0123456789"].map(str::as_bytes));
        let whys = renamed.iter().map(|renamed| renamed.why).collect::<Vec<_>>();
        assert_eq!(whys, [Why::Taken, Why::Taken, Why::Long(NameLength::Bytes(10))]);
        assert!(renamed[2].to_string().ends_with("names in strict PHYLIP have at most 10 bytes"));
    }

    #[test]
    fn thousands_of_equal_names_become_unique() {
        let same = vec![b"sequence".as_slice(); 3000];
        let order: Vec<u32> = (0..3000).collect();
        let (written, renamed) = FIVE.apply(&same, &order);
        let different: HashSet<&Vec<u8>> = written.iter().collect();
        assert_eq!((different.len(), renamed.len()), (3000, 3000));
        assert_eq!((written[9].as_slice(), written[2999].as_slice()), (b"se_10".as_slice(), b"_3000".as_slice()));
    }
}
