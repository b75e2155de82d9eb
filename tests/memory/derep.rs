//! Dereplication stays within its memory limit for any number of different reads. The test counts
//! allocations.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use super::counting::{MAX, NOW, lock_allocations};
use pairwave::seq::Alphabet;
use pairwave::{DerepSummary, Dereplication, Run};
use support::random_codes;

/// Symbols of a read.
const LENGTH: usize = 60;

/// Writes random reads. Each is different from all others, except that every third occurs twice.
fn write_reads(path: &Path, count: usize) {
    let mut rng = support::rng(11);
    let mut text = String::new();
    for read in 0..count {
        let letters: String = random_codes(&mut rng, Alphabet::Dna, LENGTH)
            .iter()
            .map(|&code| Alphabet::Dna.decode(code) as char)
            .collect();
        for copy in 0..if read % 3 == 0 { 2 } else { 1 } {
            writeln!(text, ">read_{read}.{copy}\n{letters}").expect("a string takes all");
        }
    }
    std::fs::write(path, text).expect("it is written");
}

/// Dereplicates reads on one thread. Returns the names and letters, the summary, and the largest
/// number of allocated bytes.
fn dereplicate(path: &Path, folder: &Path, memory: u64) -> (String, DerepSummary, usize) {
    let job = Dereplication { memory, directory: folder.to_owned(), ..Dereplication::new(&[path]) };
    // The output is no part of the measurement.
    let mut output = String::with_capacity(64 << 20);
    let before = NOW.load(SeqCst);
    MAX.store(before, SeqCst);
    let summary = job
        .run(&Run { threads: 1, ..Run::default() }, |sequence| {
            output.push_str(&String::from_utf8_lossy(&sequence.annotated_name()));
            output.push_str(&String::from_utf8_lossy(sequence.letters));
            Ok(())
        })
        .expect("the reads are valid");
    (output, summary, MAX.load(SeqCst) - before)
}

#[test]
fn dereplication_stays_within_its_limit_for_any_number_of_reads() {
    let _lock = lock_allocations();
    const MEMORY: u64 = 4 << 20;
    // Buffers of readers, of runs and of their merge.
    const BUFFERS: usize = 3 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reads.fa");
    for count in [25_000, 75_000] {
        write_reads(&path, count);
        let (output, summary, taken) = dereplicate(&path, folder.path(), MEMORY);
        assert_eq!((summary.sequences, summary.reads), (count as u64, (count + count.div_ceil(3)) as u64));
        assert!(summary.temporary_bytes > 0 && taken < MEMORY as usize + BUFFERS, "{count} sequences: {taken} bytes");
        let (whole, _, all) = dereplicate(&path, folder.path(), 1 << 30);
        assert!(whole == output, "{count} sequences: other output with less memory");
        assert!(all > taken, "{count} sequences in memory: {all} bytes");
    }
}
