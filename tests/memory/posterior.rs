//! What aligning by probabilities of all pairs takes is no more than what is said beforehand: what is allocated is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::counting::{MAX, NOW, alone};
use pairwave::posterior::{Options, align, memory};
use pairwave::seq::{Alphabet, Code, ReadOptions, SequenceStore, read_bytes};
use support::store;

/// What one thread may take to compute in.
fn a_thread(sequences: &SequenceStore) -> u64 {
    let longest = u64::from(sequences.lengths().iter().copied().max().unwrap_or(0));
    // A few rows, and the edges of panels and copied rows, which have a limit each.
    (2 << 20) + 1024 * longest + (7 * longest * longest).min(2 * (64 << 20))
}

/// Bytes taken, the most that were told, and what a thread may take of them.
fn taken(sequences: &SequenceStore) -> (u64, u64, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let before = NOW.load(SeqCst);
    MAX.store(before, SeqCst);
    align(sequences, &Options::default(), &pool, &|_, _| {}, &AtomicBool::new(false)).expect("it aligns");
    let (taken, thread) = ((MAX.load(SeqCst) - before) as u64, a_thread(sequences));
    (taken, memory(sequences.lengths()) + thread, thread)
}

/// Random sequences of these letters.
fn strangers(letters: &[u8], sequences: usize, length: usize) -> Arc<SequenceStore> {
    let rng = &mut fastrand::Rng::with_seed(5);
    let letter = |_| Alphabet::Protein.encode(letters[rng.usize(..letters.len())]).expect("a letter of proteins");
    let all: Vec<Code> = (0..sequences * length).map(letter).collect();
    store(Alphabet::Protein, &all.chunks(length).map(<[Code]>::to_vec).collect::<Vec<_>>())
}

#[test]
fn no_more_is_taken_than_was_told() {
    let _alone = alone();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/");
    for family in ["msa/adenylate_kinases.fasta", "16s/gold12.fasta"] {
        let text = std::fs::read(folder.to_owned() + family).expect("the file is there");
        let (taken, told, _) = taken(&read_bytes(family, &text, &ReadOptions::default()).expect("sequences"));
        assert!(taken > told / 5 && taken < told, "{family}: {taken} bytes, and {told} were told");
    }
    // Nothing has as many probable pairs of residues as strangers have.
    for letters in [&b"ACDEFGHIKLMNPQRSTVWY"[..], b"QN"] {
        let (taken, told, thread) = taken(&strangers(letters, 64, 100));
        assert!(taken > (told - thread) / 2 && taken < told, "{letters:?}: {taken} bytes, and {told} were told");
    }
}
