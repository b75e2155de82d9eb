//! Checks that proptest reads every file with seeds of failures.
//!
//! proptest looks in the nearest directory above a source file that contains `lib.rs` or `main.rs`.
//! The seeds of `src/edit/trace/tests.rs` are in `proptest-regressions/edit/trace/tests.txt`. The
//! seeds of `tests/pairs/trace.rs` are in `tests/proptest-regressions/trace.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::rust_files;

/// Returns the path of the file with the seeds of a source file. Both paths start at the root.
fn seeds_of(source: &str) -> Option<PathBuf> {
    let source = Path::new(source);
    let has_root = |directory: &&Path| {
        ["lib.rs", "main.rs"].iter().any(|name| Path::new(support::ROOT).join(directory).join(name).is_file())
    };
    let directory = source.ancestors().skip(1).find(has_root)?;
    let below = source.strip_prefix(directory).ok()?.with_extension("txt");
    Some(directory.parent()?.join("proptest-regressions").join(below))
}

/// Adds the files below a directory whose path contains `proptest-regressions`.
fn add_seed_files(directory: &Path, files: &mut Vec<PathBuf>) {
    let root = Path::new(support::ROOT);
    for entry in fs::read_dir(root.join(directory)).into_iter().flatten() {
        let entry = entry.expect("the entry can be read");
        let path = directory.join(entry.file_name());
        if entry.path().is_dir() {
            add_seed_files(&path, files);
        } else if path.to_string_lossy().contains("proptest-regressions") {
            files.push(path);
        }
    }
}

#[test]
fn every_file_of_seeds_is_read_by_a_property_test() {
    let sources = rust_files(&["src", "tests"]);
    let reads_seeds = |text: &str| text.contains("proptest! {");
    let read: Vec<PathBuf> =
        sources.iter().filter(|(_, text)| reads_seeds(text)).filter_map(|(path, _)| seeds_of(path)).collect();
    let mut files = Vec::new();
    for directory in ["proptest-regressions", "src", "tests", "benches"] {
        add_seed_files(Path::new(directory), &mut files);
    }
    assert!(!files.is_empty(), "no file of seeds was found");
    for file in files {
        assert!(read.contains(&file), "proptest does not read {}", file.display());
    }
}

#[test]
fn seeds_are_found_as_proptest_finds_them() {
    let path = |source| seeds_of(source).map(|path| path.to_string_lossy().replace('\\', "/"));
    assert_eq!(path("src/edit/trace/tests.rs").as_deref(), Some("proptest-regressions/edit/trace/tests.txt"));
    assert_eq!(path("tests/pairs/trace.rs").as_deref(), Some("tests/proptest-regressions/trace.txt"));
    assert_eq!(path("tests/pairs/local/traced.rs").as_deref(), Some("tests/proptest-regressions/local/traced.txt"));
}
