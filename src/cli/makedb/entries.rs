//! `pairwave dbinfo --entry` and `--entries`: records of a database by name.

use pairwave::error::InputLocation;
use pairwave::seq::{Subjects, read_text};
use pairwave::{Error, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Names of the records to write.
#[derive(Debug)]
pub(super) struct EntryNames {
    /// Names from the command line.
    pub(super) names: Vec<String>,
    /// File with further names, one in each line; `-` is standard input.
    pub(super) list: Option<PathBuf>,
}

/// A requested name.
struct EntryName {
    name: Vec<u8>,
    /// Line of the list, from 1; `None` for a name from the command line.
    line: Option<u64>,
}

impl EntryNames {
    /// Returns the indices of the records with these names: in the order of the names, and records
    /// with the same name in input order. Each record occurs once.
    pub(super) fn find(&self, db: &Path, subjects: &Subjects) -> Result<Vec<u64>> {
        let names = self.read()?;
        let bytes: Vec<&[u8]> = names.iter().map(|entry| &entry.name[..]).collect();
        let found = subjects.find(&bytes)?;
        let unknown: Vec<&EntryName> =
            names.iter().zip(&found).filter(|(_, indices)| indices.is_empty()).map(|(entry, _)| entry).collect();
        if let Some(first) = unknown.first() {
            let shown = String::from_utf8_lossy(&first.name);
            let more = match unknown.len() {
                1 => String::new(),
                count => format!("; {count} of {} names are unknown", names.len()),
            };
            let message = |place: &str| format!("no sequence{place} is named '{shown}'{more}");
            return Err(match (&self.list, first.line) {
                (Some(list), line @ Some(_)) => {
                    let location = InputLocation { line, ..InputLocation::in_file(list) };
                    Error::Input { location, message: message(&format!(" of {}", db.display())) }
                }
                _ => Error::Input { location: InputLocation::in_file(db), message: message("") },
            });
        }
        let mut seen = HashSet::new();
        Ok(found.into_iter().flatten().filter(|index| seen.insert(*index)).collect())
    }

    /// Returns the names of the command line, then the names of the list.
    fn read(&self) -> Result<Vec<EntryName>> {
        let typed = self.names.iter().map(|name| EntryName { name: name.clone().into_bytes(), line: None });
        let mut names: Vec<EntryName> = typed.collect();
        let Some(list) = &self.list else { return Ok(names) };
        let text = read_text(list)?;
        for (line, name) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let name = name.trim_ascii();
            if name.iter().any(u8::is_ascii_whitespace) {
                let location = InputLocation { line: Some(line), ..InputLocation::in_file(list) };
                let message = "more than one word: a line has one name, without a description".to_owned();
                return Err(Error::Input { location, message });
            }
            if !name.is_empty() {
                names.push(EntryName { name: name.to_vec(), line: Some(line) });
            }
        }
        if names.is_empty() {
            let message = "the list has no names".to_owned();
            return Err(Error::Input { location: InputLocation::in_file(list), message });
        }
        Ok(names)
    }
}
