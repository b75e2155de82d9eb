//! Output on a terminal: a bar while a job runs, and results above it.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::Stdio;

use super::*;

/// Runs the program on the CPU with standard output and standard error on one terminal. Returns the
/// bytes written there.
fn on_terminal(arguments: &[&str]) -> String {
    let (mut ours, mut theirs) = (-1, -1);
    let size = libc::winsize { ws_row: 40, ws_col: 300, ws_xpixel: 0, ws_ypixel: 0 };
    let (name, settings) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: all pointers are valid, or null where null is allowed.
    let opened = unsafe { libc::openpty(&mut ours, &mut theirs, name, settings, (&raw const size).cast_mut()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both descriptors were just opened and have no other owner.
    let (mut ours, theirs) = unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
    let mut command = std::process::Command::new(program());
    command.args(arguments).args(["--device", "cpu"]).env("PAIRWAVE_CACHE_DIR", NO_CACHE);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env_remove("PAIRWAVE_LOG");
    command.stdin(Stdio::null()).stderr(theirs.try_clone().expect("it can be shared")).stdout(theirs);
    let mut child = command.spawn().expect("the program starts");
    // Closes the command's terminal, so that reading ends with the program.
    drop(command);
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    // Linux returns an error at the end.
    while let Ok(count @ 1..) = ours.read(&mut some) {
        all.extend_from_slice(&some[..count]);
    }
    assert!(child.wait().expect("it ends").success());
    String::from_utf8(all).expect("text")
}

/// Returns the output of the program without a terminal.
fn piped(arguments: &[&str]) -> String {
    let run = pairwave(&[arguments, &["--device", "cpu", "--quiet"]].concat()).assert().success();
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

/// Checks that all lines of results are whole, from the start of the line to its end.
fn lines_are_whole(seen: &str, results: &str) {
    // Clearing a line leaves the cursor at its start.
    let mut plain = String::new();
    for (index, part) in seen.split('\x1b').enumerate() {
        let text = if index == 0 { part } else { part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()) };
        plain.push_str(if index == 0 { text } else { text.get(1..).unwrap_or_default() });
    }
    let lines: Vec<&str> = plain.lines().map(|line| line.trim_end().rsplit('\r').next().unwrap_or_default()).collect();
    for line in results.lines() {
        assert!(lines.contains(&line.trim_end()), "{line:?} is not in {seen:?}");
    }
}

/// Text that every bar contains.
const BAR: &str = " left";

#[test]
fn results_are_printed_above_the_bar() {
    let genes = std::fs::read_to_string("assets/16s/gold200.fasta").expect("it is there");
    let some: Vec<&str> = genes.split_inclusive('>').take(61).collect();
    let folder = folder();
    let input = file(&folder, "some.fa", some.concat().trim_end_matches('>'));
    let arguments = ["allpairs", &input, "--format", "tsv"];
    let (seen, results) = (on_terminal(&arguments), piped(&arguments));
    assert!(seen.contains(BAR) && seen.contains("GCUPS"), "{seen:?}");
    assert_eq!(results.lines().count(), 1 + 60 * 59 / 2);
    lines_are_whole(&seen, &results);
    let quiet = on_terminal(&[&arguments[..], &["--quiet"]].concat());
    assert_eq!(quiet.replace("\r\n", "\n"), results);
}

#[test]
fn a_long_pair_has_a_bar() {
    let arguments = ["long", "assets/genomes/ON811099.fa.xz", "assets/genomes/lambda.fa.xz"];
    let (seen, results) = (on_terminal(&arguments), piped(&arguments));
    assert!(seen.contains(BAR), "{seen:?}");
    lines_are_whole(&seen, &results);
}
