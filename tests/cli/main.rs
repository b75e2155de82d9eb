//! The program as a user meets it: its output in every format, its files, its errors, and how it
//! ends.
//!
//! Every result here is computed on the CPU and on the first adapter (software Vulkan suffices),
//! with one thread and with two. All outputs must be equal to the byte.

#[allow(unreachable_pub)] // it is a library of the other tests
#[path = "../support/lib.rs"]
mod support;

mod added;
mod bench;
mod blocks;
mod chance;
mod cluster;
mod coverage;
mod derep;
mod edit;
mod ends;
mod fields;
mod formats;
mod intervals;
mod jplace;
mod kernels;
mod local;
mod long;
mod makedb;
mod msa;
mod names;
#[cfg(unix)]
mod packaging;
mod pages;
mod pairs;
mod papara;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod reports;
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

/// Two choices of device and threads that together include both devices and both numbers of
/// threads.
const TWO_WAYS: &[(&str, &str)] = &[("cpu", "1"), ("0", "2")];
/// Every choice of one device and threads, and both devices at once.
const ALL_WAYS: &[(&str, &str)] = &[("cpu", "1"), ("cpu", "2"), ("0", "1"), ("0", "2"), ("0,cpu", "2")];

/// A cache directory that cannot exist, because its parent is a file. Measurements of devices are
/// neither read nor stored.
const NO_CACHE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/cache");

/// Returns a command for the program, without the machine's cached measurements of devices.
fn pairwave(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).env("PAIRWAVE_CACHE_DIR", NO_CACHE).env_remove("PAIRWAVE_LOG");
    command
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("pairwave")
}

/// Returns the standard output of `allpairs`, equal for all choices of device and threads.
fn allpairs_each(ways: &[(&str, &str)], arguments: &[&str]) -> String {
    equal_output("allpairs", ways, arguments)
}

/// Returns the standard output of a command, equal for all choices of device and threads.
fn equal_output(command: &str, ways: &[(&str, &str)], arguments: &[&str]) -> String {
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

/// Fails without an adapter, with instructions to install one.
fn needs_adapter() {
    static FOUND: OnceLock<()> = OnceLock::new();
    FOUND.get_or_init(|| drop(support::adapter()));
}

/// Returns the output of [`allpairs_each`] for the two choices that larger inputs are tested with.
fn allpairs(arguments: &[&str]) -> String {
    allpairs_each(TWO_WAYS, arguments)
}

/// Returns a directory for a test's files.
fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// Writes a file into a directory. Returns its path as an argument.
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

/// Returns the path of a file in a directory as an argument.
fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("temporary paths are text").to_owned()
}

/// Returns the names in a directory.
fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the directory is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns FASTA of random sequences, every third a relative of the previous one.
fn random_fasta(seed: u64, alphabet: Alphabet, lengths: &[usize]) -> String {
    let store = support::mixed_store(&mut support::rng(seed), alphabet, lengths);
    let mut text = String::new();
    for id in 0..store.len() as u32 {
        writeln!(text, ">{}\n{}", store.name(id), store.letters(id)).expect("a string takes all");
    }
    text
}

/// Returns the cells of a table: its lines, split at tabs.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split('\t').collect()).collect()
}
