//! Runs the tests in Python, with the module that Cargo has built for this profile.

use std::path::Path;
use std::process::Command;

/// Name of the extension module in the package. Unlike in a wheel, it has no suffix for a version of Python.
const MODULE: &str = "_pairwave.so";

#[test]
fn python_tests_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::current_exe().expect("the path of this program");
    let library = program.with_file_name(format!(
        "{}pairwave_python{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ));
    let place = tempfile::tempdir().expect("a temporary directory");
    let package = place.path().join("pairwave");
    std::fs::create_dir(&package).expect("a folder for the package");
    for entry in std::fs::read_dir(folder.join("python/pairwave")).expect("the package") {
        let entry = entry.expect("a file");
        if entry.path().is_file() {
            std::fs::copy(entry.path(), package.join(entry.file_name())).expect("a copy");
        }
    }
    std::fs::copy(&library, package.join(MODULE)).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let mut python = Command::new("python3");
    python.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(folder.join("tests"));
    python.env("PYTHONPATH", place.path()).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder);
    let status = python.status().unwrap_or_else(|error| panic!("python3: {error}"));
    assert!(status.success(), "pytest failed; scripts/test installs pytest and numpy");
}
