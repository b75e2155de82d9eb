//! Names of sequences in pictures.

use std::collections::HashMap;

/// A name as drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DrawnName {
    /// The name, shortened if it is long.
    pub(super) short: String,
    /// The whole name.
    pub(super) whole: String,
}

/// Returns the names as drawn, with at most `most` characters each.
///
/// The middle of a long name is replaced by an ellipsis. Names that would look the same get the
/// number of their row. Bytes that are not text and control characters become U+FFFD.
pub(super) fn drawn_names(names: &[&[u8]], most: usize) -> Vec<DrawnName> {
    let mut drawn: Vec<DrawnName> = names
        .iter()
        .map(|name| {
            let whole = printable(name);
            DrawnName { short: shortened(&whole, most), whole }
        })
        .collect();
    // For each short name, the first whole name, and whether there are others.
    let mut same: HashMap<&str, (&str, bool)> = HashMap::new();
    for DrawnName { short, whole } in &drawn {
        let entry = same.entry(short).or_insert((whole.as_str(), false));
        entry.1 |= entry.0 != whole;
    }
    let is_ambiguous: Vec<bool> = drawn.iter().map(|name| name.short != name.whole && same[&*name.short].1).collect();
    for ((row, name), _) in (1..).zip(&mut drawn).zip(is_ambiguous).filter(|(_, is_ambiguous)| *is_ambiguous) {
        let end = format!("\u{2026}#{row}");
        let kept = most.saturating_sub(end.chars().count());
        name.short = name.whole.chars().take(kept).chain(end.chars()).collect();
    }
    drawn
}

/// Returns a name as text.
pub(in crate::output) fn printable(name: &[u8]) -> String {
    let is_printable = |letter: char| !letter.is_control() && !matches!(letter, '\u{FFFE}' | '\u{FFFF}');
    let replaced = |letter: char| if is_printable(letter) { letter } else { char::REPLACEMENT_CHARACTER };
    String::from_utf8_lossy(name).chars().map(replaced).collect()
}

/// Returns a text with at most `most` characters: its start, an ellipsis and its end.
pub(in crate::output) fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let end = most.saturating_sub(1) / 3;
    let start = most.saturating_sub(1) - end;
    let letters = text.chars();
    letters.clone().take(start).chain(['\u{2026}']).chain(letters.skip(count - end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], most: usize) -> Vec<String> {
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        drawn_names(&names, most).into_iter().map(|name| name.short).collect()
    }

    #[test]
    fn long_names_stay_distinguishable() {
        let long = |middle: &str| format!("sp|P12345|{middle}_ECOLI");
        let names = [long("ADENYLATE_KINASE"), long("GUANYLATE_KINASE"), "short".into(), "x".repeat(99)];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let drawn = short(&names, 13);
        assert_eq!(drawn, ["sp|P12345|\u{2026}#1", "sp|P12345|\u{2026}#2", "short", "xxxxxxxx\u{2026}xxxx"]);
        assert!(drawn.iter().all(|name| name.chars().count() <= 13));
        assert_eq!(short(&["a long name", "a long name"], 6), ["a lo\u{2026}e", "a lo\u{2026}e"], "equal names");
        assert_eq!(short(&["\u{e9}\u{e9}\u{e9}"], 3), ["\u{e9}\u{e9}\u{e9}"]);
    }

    #[test]
    fn names_are_text() {
        assert_eq!(printable(b"a\x01b\xffc\n"), "a\u{FFFD}b\u{FFFD}c\u{FFFD}");
    }
}
