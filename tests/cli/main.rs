//! The program as a user meets it: what it writes in every format, whoever computes it; where it writes; what it says
//! of wrong input; and that it ends cleanly.
//!
//! Every result here is computed on the CPU and on the first adapter (software Vulkan will do), on one thread and on
//! two, and has to be the same to the byte.

#[allow(unreachable_pub)] // it is a library of the other tests
#[path = "../support/lib.rs"]
mod support;

mod bench;
mod blocks;
mod chance;
mod edit;
mod ends;
mod fields;
mod formats;
mod kernels;
mod local;
mod long;
mod makedb;
mod msa;
mod names;
mod pages;
mod pairs;
mod papara;
#[cfg(target_os = "linux")]
mod paths;
mod scoring;
mod search;
mod stats;
mod strands;
mod streams;
#[cfg(unix)]
mod terminal;
mod wrong;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assert_cmd::Command;
use pairwave::seq::Alphabet;
use tempfile::TempDir;

/// Twelve 16S genes.
const GENES: &str = "assets/16s/gold12.fasta";

/// Parts of six 16S genes that overlap, one with an ambiguous letter.
const WINDOWS: &str = "tests/cli/windows.fa";

/// Two device and thread choices that together have both of each.
const TWO_WAYS: &[(&str, &str)] = &[("cpu", "1"), ("0", "2")];
/// Every device and thread choice, and both devices at once.
const ALL_WAYS: &[(&str, &str)] = &[("cpu", "1"), ("cpu", "2"), ("0", "1"), ("0", "2"), ("0,cpu", "2")];

/// The program. What this machine has measured of its devices before plays no part.
fn pairwave(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).env("PAIRWAVE_CACHE_DIR", "no such directory").env_remove("PAIRWAVE_LOG");
    command
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("pairwave")
}

/// What `allpairs` writes on standard output: the same whoever computes.
fn allpairs_each(ways: &[(&str, &str)], arguments: &[&str]) -> String {
    each("allpairs", ways, arguments)
}

/// What a command writes on standard output: the same whoever computes.
fn each(command: &str, ways: &[(&str, &str)], arguments: &[&str]) -> String {
    needs_adapter();
    let mut first: Option<String> = None;
    for (device, threads) in ways {
        let run = pairwave(&[command, "--quiet", "--device", device, "--threads", threads])
            .args(arguments)
            .assert()
            .success()
            .stderr("");
        let text = String::from_utf8(run.get_output().stdout.clone()).expect("the output is text");
        match &first {
            None => first = Some(text),
            Some(first) => assert_eq!(first, &text, "--device {device} --threads {threads}: {arguments:?}"),
        }
    }
    first.expect("there is a way")
}

/// Fails where there is no adapter, saying what to install.
fn needs_adapter() {
    static FOUND: OnceLock<()> = OnceLock::new();
    FOUND.get_or_init(|| drop(support::adapter()));
}

/// [`allpairs_each`] for inputs of some size.
fn allpairs(arguments: &[&str]) -> String {
    allpairs_each(TWO_WAYS, arguments)
}

/// A directory for a test's files.
fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// Writes a file into a directory and gives its path as an argument.
fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = path(folder, name);
    std::fs::write(&path, content).expect("the file can be written");
    path
}

/// Returns the bytes compressed by gzip.
fn gzipped(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes.as_ref()).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// A path in a directory as an argument.
fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("temporary paths are text").to_owned()
}

/// The names in a directory.
fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the directory is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// FASTA of random sequences, every third a relative of the one before.
fn random_fasta(seed: u64, alphabet: Alphabet, lengths: &[usize]) -> String {
    let store = support::mixed_store(&mut support::rng(seed), alphabet, lengths);
    let mut text = String::new();
    for id in 0..store.len() as u32 {
        writeln!(text, ">{}\n{}", store.name(id), store.letters(id)).expect("a string takes all");
    }
    text
}

/// The cells of a table: its lines, split at tabs.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split('\t').collect()).collect()
}
