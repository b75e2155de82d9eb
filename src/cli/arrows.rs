//! Checks the order of the files of the command line against their `use` lines: dependencies go in
//! one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files in order: each uses only files of earlier rows.
const ROWS: [&[&str]; 12] = [
    &["memory", "neutral"],
    &["args", "chance", "device", "interrupt", "progress", "size", "streams", "tips"],
    &["endings"],
    &["common", "flags", "log", "pages"],
    &["scoring"],
    &["runner"],
    &["blocks"],
    &["bench", "cluster", "derep", "edit", "long", "makedb", "mpi", "msa", "pairs", "papara"],
    &["search", "trees"],
    &["options"],
    &["run"],
    &["distributed"],
];

/// Returns the files of the command line that a text names after `super::` or `crate::cli::`.
fn named(text: &str, files: &BTreeSet<String>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for marker in ["super::", "crate::cli::"] {
        for (position, _) in text.match_indices(marker) {
            let rest = &text[position + marker.len()..];
            let list = rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or(list));
            let several = rest.starts_with('{');
            let heads = list.split(',').take(if several { usize::MAX } else { 1 });
            let word = |head: &str| {
                head.trim().chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect()
            };
            all.extend(heads.map(word).filter(|word: &String| files.contains(word)));
        }
    }
    all
}

/// Returns the files that each file of the command line uses. Files in a folder count as the file
/// next to it.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut read = |owner: Option<&str>, folder: &Path| {
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            let name = path.file_stem().expect("a name").to_str().expect("in letters").to_owned();
            if ["tests", "arrows", "combinations"].contains(&&*name) {
                continue;
            }
            if path.is_dir() {
                folders.push((name, path));
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("it can be read");
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let all = texts.entry(owner.map_or(name, str::to_owned)).or_default();
                code.for_each(|line| all.extend([line, "\n"]));
            }
        }
        folders
    };
    let mut folders = read(None, &folder);
    while let Some((name, path)) = folders.pop() {
        folders.extend(read(Some(&name), &path).into_iter().map(|(_, deeper)| (name.clone(), deeper)));
    }
    let files: BTreeSet<String> = texts.keys().cloned().collect();
    let others = |(file, text): (&String, &String)| {
        let mut named = named(text, &files);
        named.remove(file);
        (file.clone(), named)
    };
    texts.iter().map(others).collect()
}

#[test]
fn arrows_between_files_go_one_way() {
    let row = |file: &str| ROWS.iter().position(|row| row.contains(&file));
    for (file, used) in uses() {
        let own_row = row(&file).unwrap_or_else(|| panic!("{file} has no row"));
        for other in used {
            assert!(row(&other).is_some_and(|row| row < own_row), "{file} uses {other}, which is not below it");
        }
    }
}

#[test]
fn uses_are_detected() {
    let files = ["args", "log", "runner"].map(str::to_owned).into();
    let text = "use super::{args::Args, log};\nlet x = crate::cli::runner::run();\nuse super::other::log;";
    assert_eq!(named(text, &files).into_iter().collect::<Vec<_>>(), ["args", "log", "runner"]);
    assert!(uses()["runner"].contains("log"));
}
