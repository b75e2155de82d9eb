//! Reads the Rust files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path from the root, with `/` between its parts, and the text of each Rust file below
/// these directories, in the order of the paths.
pub(crate) fn rust_files(directories: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(support::ROOT);
    let mut paths = Vec::new();
    directories.iter().for_each(|directory| add_rust_files(&root.join(directory), &mut paths));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).expect("it is below the root").to_str().expect("UTF-8").replace('\\', "/");
        (name, fs::read_to_string(&path).expect("the file can be read"))
    };
    paths.into_iter().map(read).collect()
}

fn add_rust_files(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory exists") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            add_rust_files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}
