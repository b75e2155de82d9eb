//! Selection of records by their names.

use super::Long;
use pairwave::error::InputLocation;
use pairwave::output::LongFormat;
use pairwave::output::long::{StoredRecords, name_problem};
use pairwave::seq::{SequenceId, SequenceStore};
use pairwave::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// Returns the records of these names in a file, in the order of the file, or all records if no
/// name is given.
pub(super) fn select(
    store: Arc<SequenceStore>,
    file: &Path,
    names: &[OsString],
    option: &str,
) -> Result<StoredRecords> {
    let all = 0..store.len() as SequenceId;
    if names.is_empty() {
        return Ok(StoredRecords { store, ids: all.collect() });
    }
    // Names need not be UTF-8, so bytes are compared. Messages show other bytes as U+FFFD.
    let mut by_name: HashMap<&[u8], Vec<SequenceId>> = HashMap::new();
    all.for_each(|id| by_name.entry(store.name_bytes(id)).or_default().push(id));
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        let shown = format!("{option} '{}'", name.to_string_lossy());
        let wrong = |message: String| Error::Input {
            location: InputLocation::in_file(file),
            message: format!("{shown}: {message}"),
        };
        match by_name.get_mut(name.as_encoded_bytes()).map(std::mem::take).as_deref() {
            Some(&[id]) => ids.push(id),
            Some([]) => return Err(wrong("this name is given twice: remove one of them".into())),
            Some(several) => return Err(wrong(format!("the file holds {} sequences of this name", several.len()))),
            None => return Err(wrong(format!("the file holds no sequence of this name; {}", similar(&store, name)))),
        }
    }
    ids.sort_unstable();
    Ok(StoredRecords { store, ids })
}

/// Returns a hint with the names that are similar to a wrong one, or with the first names.
fn similar(store: &SequenceStore, wanted: &OsStr) -> String {
    let names = || (0..store.len() as SequenceId).map(|id| store.name(id));
    let quoted = |names: &[&str]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let lower = wanted.to_string_lossy().to_lowercase();
    let is_near = |name: &&str| {
        let name = name.to_lowercase();
        name.contains(&lower) || lower.contains(&name)
    };
    let near: Vec<&str> = names().filter(is_near).take(3).collect();
    match near.is_empty() {
        true => format!("there is {}", quoted(&names().take(3).collect::<Vec<_>>())),
        false => format!("did you mean {}?", quoted(&near)),
    }
}

/// Rejects names and lengths that SAM and VCF cannot represent. Both have the same rules for names
/// of references.
pub(super) fn check_names(options: &Long, queries: &StoredRecords, targets: &StoredRecords) -> Result<()> {
    let format = match options.format {
        LongFormat::Sam { .. } => "SAM",
        LongFormat::Vcf(_) => "VCF",
        _ => return Ok(()),
    };
    let sides = [(&options.query, queries, false), (&options.target, targets, true)];
    // VCF escapes the names of queries.
    for (file, records, is_reference) in sides.into_iter().filter(|side| format == "SAM" || side.2) {
        let mut seen = HashSet::new();
        for &id in &records.ids {
            let name = records.store.name(id);
            let is_long = is_reference && records.store.length(id) > i32::MAX as u32;
            let is_double = is_reference && !seen.insert(name);
            let problem = name_problem(format, records.store.name_bytes(id), is_reference)
                .or_else(|| is_long.then(|| format!("{format} cannot describe references of 2^31 symbols or more")))
                .or_else(|| is_double.then(|| format!("{format} has no two references of one name")));
            if let Some(message) = problem {
                let location = InputLocation { record: Some(name.to_owned()), ..InputLocation::in_file(file) };
                return Err(Error::Input { location, message: format!("{message}; use --format paf") });
            }
        }
    }
    Ok(())
}
