//! Names that a format can hold, each once.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{characters, digits};

/// What a format can hold.
pub(super) struct Naming {
    /// Its name, for messages.
    pub(super) format: &'static str,
    /// Characters at most.
    pub(super) most: usize,
    /// ASCII that cannot be in a name, beside control characters.
    pub(super) excluded: &'static [u8],
    /// What a name cannot begin with.
    pub(super) excluded_first: &'static [u8],
}

impl Naming {
    /// Names that may be of any length.
    pub(super) const fn any_length(format: &'static str, excluded: &'static [u8]) -> Self {
        Naming { format, most: usize::MAX, excluded, excluded_first: b"" }
    }
}

/// A row whose name is not the one of the input. The rule: what the format cannot hold becomes `_`; no name becomes
/// `sequence_N`, N the sequence's number from 1; what is too long is cut; and of rows that then have one name those after the
/// first end in `_2`, `_3` and so on, whichever no row has yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The sequence, as the alignment counts.
    pub row: u32,
    /// What it is called.
    pub name: String,
    /// What is written.
    pub written: String,
    /// Why.
    pub why: Why,
    /// The format, for the message.
    format: &'static str,
}

/// Why a name is not written as it is: the last thing that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It was empty.
    Empty,
    /// It has characters that the format cannot hold.
    Characters,
    /// It was longer than so many characters.
    Long(usize),
    /// Another row is called so.
    Taken,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Renamed { name, written, format, .. } = self;
        write!(f, "'{name}' is called '{written}': ")?;
        match self.why {
            Why::Empty => write!(f, "every row of {format} has a name"),
            Why::Characters => write!(f, "{format} has no such characters in names"),
            Why::Long(most) => write!(f, "names in {format} have {most} characters at most"),
            Why::Taken => f.write_str("another row has this name"),
        }
    }
}

/// The names of these rows, in this order, and those that had to be changed.
pub(super) fn written(naming: &Naming, names: &[&[u8]], order: &[u32]) -> (Vec<Vec<u8>>, Vec<Renamed>) {
    let held: Vec<(Vec<u8>, Option<Why>)> =
        order.iter().map(|&row| hold(naming, names[row as usize], row as usize)).collect();
    // All names as they would be, so that none that is made is one of them.
    let all: HashSet<&[u8]> = held.iter().map(|(name, _)| name.as_slice()).collect();
    let mut made: HashSet<Vec<u8>> = HashSet::new();
    let mut seen: HashSet<&[u8]> = HashSet::with_capacity(all.len());
    let mut numbers: HashMap<&[u8], usize> = HashMap::new();
    let mut result = Vec::with_capacity(order.len());
    let mut renamed = Vec::new();
    for ((name, why), &row) in held.iter().zip(order) {
        let (mut own, mut why) = (name.clone(), *why);
        if !seen.insert(name) {
            let number = numbers.entry(name).or_insert(1);
            while all.contains(own.as_slice()) || made.contains(&own) {
                *number += 1;
                let end = [b"_".as_slice(), &digits(*number)].concat();
                own = [cut(name, naming.most.saturating_sub(end.len())), &end].concat();
            }
            made.insert(own.clone());
            why = Some(Why::Taken);
        }
        if let Some(why) = why {
            let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
            let (name, written) = (text(names[row as usize]), text(&own));
            renamed.push(Renamed { row, name, written, why, format: naming.format });
        }
        result.push(own);
    }
    (result, renamed)
}

/// A name that the format can hold, whatever other rows are called.
fn hold(naming: &Naming, name: &[u8], row: usize) -> (Vec<u8>, Option<Why>) {
    if name.is_empty() {
        return ([b"sequence_".as_slice(), &digits(row + 1)].concat(), Some(Why::Empty));
    }
    let mut why = None;
    let mut own = name.to_vec();
    for (place, byte) in own.iter_mut().enumerate() {
        let is_wrong = byte.is_ascii_control()
            || naming.excluded.contains(byte)
            || (place == 0 && naming.excluded_first.contains(byte));
        if is_wrong {
            *byte = b'_';
            why = Some(Why::Characters);
        }
    }
    let kept = cut(&own, naming.most).len();
    if kept < own.len() {
        own.truncate(kept);
        why = Some(Why::Long(naming.most));
    }
    (own, why)
}

/// The first characters of a name.
fn cut(name: &[u8], most: usize) -> &[u8] {
    if characters(name) <= most {
        return name;
    }
    match std::str::from_utf8(name) {
        Ok(text) => text.char_indices().nth(most).map_or(name, |(end, _)| &name[..end]),
        Err(_) => &name[..most],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Naming = Naming { format: "F", most: 5, excluded: b" :", excluded_first: b"#" };

    fn names(names: &[&str], order: &[u32]) -> (Vec<String>, Vec<String>) {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        let (written, renamed) = written(&FIVE, &names, order);
        let written = written.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
        (written, renamed.iter().map(Renamed::to_string).collect())
    }

    #[test]
    fn every_row_gets_a_name_of_its_own_that_the_format_holds() {
        let (written, renamed) = names(&["a b", "#x#", "longer", "longest", "", "ok", "lon_2"], &[0, 1, 2, 3, 5, 6]);
        assert_eq!(written, ["a_b", "_x#", "longe", "lon_3", "ok", "lon_2"]);
        assert_eq!(
            renamed,
            [
                "'a b' is called 'a_b': F has no such characters in names",
                "'#x#' is called '_x#': F has no such characters in names",
                "'longer' is called 'longe': names in F have 5 characters at most",
                "'longest' is called 'lon_3': another row has this name",
            ]
        );
    }

    #[test]
    fn an_empty_name_is_the_number_of_the_sequence() {
        let naming = Naming::any_length("F", b"");
        let (written, renamed) = written(&naming, &[b"", b"", b"sequence_1"], &[2, 1, 0]);
        assert_eq!(written, [b"sequence_1".to_vec(), b"sequence_2".to_vec(), b"sequence_1_2".to_vec()]);
        assert_eq!(renamed.iter().map(|renamed| renamed.why).collect::<Vec<_>>(), [Why::Empty, Why::Taken]);
    }

    #[test]
    fn characters_are_not_cut_in_two() {
        assert_eq!(names(&["äöüßæø"], &[0]).0, ["äöüßæ"]);
        assert_eq!(cut(b"\xff\xfe\xfd", 2), b"\xff\xfe");
    }

    #[test]
    fn thousands_of_rows_of_one_name_are_told_apart() {
        let same = vec![b"sequence".as_slice(); 3000];
        let order: Vec<u32> = (0..3000).collect();
        let (written, renamed) = written(&FIVE, &same, &order);
        let different: HashSet<&Vec<u8>> = written.iter().collect();
        assert_eq!((different.len(), renamed.len()), (3000, 3000));
        assert_eq!((written[9].as_slice(), written[2999].as_slice()), (b"se_10".as_slice(), b"_3000".as_slice()));
    }
}
