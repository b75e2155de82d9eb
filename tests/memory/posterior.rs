//! Aligning by probabilities of all pairs needs no more memory than announced. The test counts
//! allocations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::counting::{MAX, NOW, lock_allocations};
use pairwave::posterior::{PosteriorOptions, align, memory};
use pairwave::seq::{Alphabet, Code, ReadOptions, SequenceStore, read_bytes};
use support::store;

/// Returns the memory that one thread may use for its computation, in bytes.
fn thread_limit(sequences: &SequenceStore) -> u64 {
    let longest = u64::from(sequences.lengths().iter().copied().max().unwrap_or(0));
    // A few rows, and the borders of panels and the copied rows, which have a limit each.
    (2 << 20) + 1024 * longest + (7 * longest * longest).min(2 * (64 << 20))
}

/// Returns the used bytes, the announced limit, and the part of the limit for a thread.
fn memory_use(sequences: &SequenceStore) -> (u64, u64, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let before = NOW.load(SeqCst);
    MAX.store(before, SeqCst);
    align(sequences, &PosteriorOptions::default(), &pool, &|_, _| {}, &AtomicBool::new(false)).expect("it aligns");
    let (taken, thread) = ((MAX.load(SeqCst) - before) as u64, thread_limit(sequences));
    (taken, memory(sequences.alphabet(), sequences.lengths()) + thread, thread)
}

/// Returns random sequences of these letters.
fn unrelated(alphabet: Alphabet, letters: &[u8], sequences: usize, length: usize) -> Arc<SequenceStore> {
    let rng = &mut fastrand::Rng::with_seed(5);
    let letter = |_| alphabet.encode(letters[rng.usize(..letters.len())]).expect("a letter of the alphabet");
    let all: Vec<Code> = (0..sequences * length).map(letter).collect();
    store(alphabet, &all.chunks(length).map(<[Code]>::to_vec).collect::<Vec<_>>())
}

#[test]
fn memory_stays_within_the_announced_limit() {
    let _alone = lock_allocations();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/");
    for family in ["msa/adenylate_kinases.fasta", "16s/gold12.fasta"] {
        let text = std::fs::read(folder.to_owned() + family).expect("the file is there");
        let (taken, announced, _) = memory_use(&read_bytes(family, &text, &ReadOptions::default()).expect("sequences"));
        assert!(taken > announced / 5 && taken < announced, "{family}: {taken} bytes, of {announced} announced");
    }
    // Unrelated sequences have the most probable pairs of residues.
    let proteins = [&b"ACDEFGHIKLMNPQRSTVWY"[..], b"QN"].map(|letters| (Alphabet::Protein, letters));
    let nucleotides = [&b"ACGT"[..], b"AC"].map(|letters| (Alphabet::Dna, letters));
    for (alphabet, letters) in proteins.into_iter().chain(nucleotides) {
        let (taken, announced, thread) = memory_use(&unrelated(alphabet, letters, 64, 100));
        assert!(
            taken > (announced - thread) / 2 && taken < announced,
            "{letters:?}: {taken} bytes, of {announced} announced"
        );
    }
}
