//! Memory stays constant or grows no faster than the input. The tests count allocations.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use super::counting::{MAX, NOW, lock_allocations};
use pairwave::papara::{ReadAligner, Site, Vectors};
use pairwave::score::PhyloScheme;
use pairwave::seq::database::{MakeOptions, read_sorted};
use pairwave::seq::{Alphabet, ReadOptions};
use support::random_codes;

/// Makes a database of short sequences. The last sequence has the name of the first. Returns the
/// bytes of the database and the largest number of allocated bytes.
fn make(count: usize, memory: u64) -> (Vec<u8>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, db) = (folder.path().join("x.fa"), folder.path().join("x.pwdb"));
    let mut text = String::new();
    for record in 0..count {
        let residues = &"MKTAYIAKQRQISFVKSHFS"[..1 + record * 7 % 20];
        writeln!(text, ">sequence_{} of many\n{residues}", record % (count - 1)).expect("writing to a string succeeds");
    }
    std::fs::write(&input, &text).expect("it is written");
    drop(text);
    let options = MakeOptions { read: ReadOptions::default(), memory, scratch_directory: folder.path().to_owned() };
    let before = NOW.load(SeqCst);
    MAX.store(before, SeqCst);
    let sorted = read_sorted(&[input.to_str().expect("UTF-8")], &options, |_| {}).expect("it is read");
    let file = std::fs::File::create(&db).expect("it is made");
    let made = sorted.write(file, Path::new("x.pwdb"), |_| Ok(())).expect("it is written");
    let taken = MAX.load(SeqCst) - before;
    assert_eq!(made.size.sequences, count as u64);
    (std::fs::read(db).expect("it was made"), taken)
}

/// Making a database needs no more memory than its limit, for any number of sequences.
fn check_memory_of_databases() {
    const MEMORY: u64 = 1 << 21;
    // Buffers of readers and writers.
    const BUFFERS: usize = 5 << 20;
    for count in [50_000, 400_000] {
        let (bytes, taken) = make(count, MEMORY);
        assert!(taken < MEMORY as usize + BUFFERS, "{count} sequences: {taken} bytes");
        let (whole, all) = make(count, 1 << 30);
        assert!(bytes == whole, "{count} sequences: other bytes with less memory");
        assert!(count < 400_000 || all > 4 * taken, "{count} sequences in memory: {all} bytes");
    }
}

/// Memory for a long read and few sites grows with the read's length, not with the number of cells.
fn check_memory_of_long_reads() {
    const SITES: u32 = 10;
    const BYTES_A_SYMBOL: usize = 64;
    let mut vectors = Vectors::new(Alphabet::Dna, SITES, 1);
    for site in 0..SITES {
        vectors.set(0, site, Site { set: 1 << (site % 4), ..Site::default() });
    }
    for length in [30_000, 300_000] {
        let read = random_codes(&mut support::rng(3), Alphabet::Dna, length);
        let before = NOW.load(SeqCst);
        MAX.store(before, SeqCst);
        let placed = ReadAligner::default().align(&read, &vectors, 0, &PhyloScheme::papara());
        let taken = MAX.load(SeqCst) - before;
        assert_eq!(placed.cigar.query_span(), length as u64);
        assert!(taken < BYTES_A_SYMBOL * length, "{length} symbols: {taken} bytes");
    }
}

#[test]
fn memory_stays_within_limits() {
    let _alone = lock_allocations();
    check_memory_of_databases();
    check_memory_of_long_reads();
}
