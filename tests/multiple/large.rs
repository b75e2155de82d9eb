//! Tests of sets with more sequences than are aligned by the probabilities of all pairs.

use std::sync::Arc;

use pairwave::gpu::adapter::Device;
use pairwave::jobs::msa::{MsaResult, MultiAlign};
use pairwave::jobs::{Job, Run};
use pairwave::seq::{Alphabet, SequenceStore};
use support::rng;

/// Aligns a set on CPU threads.
pub(super) fn align(job: &MultiAlign, threads: usize) -> MsaResult {
    let run = Run { devices: vec![Device::Cpu], threads, ..Run::default() };
    let mut result = None;
    job.run(&run, |rows: &[MsaResult]| {
        result = rows.first().cloned();
        Ok(())
    })
    .expect("the job ends well");
    result.expect("one result")
}

/// Creates a store of sequences with numbers as names.
fn store(sequences: &[Vec<u8>]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for (number, codes) in sequences.iter().enumerate() {
        builder.push(format!("{number}"), codes).expect("valid codes");
    }
    Arc::new(builder.build())
}

/// Creates relatives of three random genes of `length` symbols, each with up to `most` substitutions.
/// Every fifth one lacks a symbol.
fn relatives(count: usize, length: usize, most: usize) -> Vec<Vec<u8>> {
    let mut rng = rng(0xA11);
    let genes: Vec<Vec<u8>> = (0..3).map(|_| (0..length).map(|_| 1 << rng.below(4usize)).collect()).collect();
    (0..count)
        .map(|number| {
            let mut codes = genes[number % 3].clone();
            for _ in 0..rng.below(most + 1) {
                let at = rng.below(codes.len());
                codes[at] = 1 << rng.below(4usize);
            }
            if number % 5 == 0 {
                codes.remove(rng.below(codes.len()));
            }
            codes
        })
        .collect()
}

#[test]
fn similar_sequences_of_large_sets_have_the_same_columns() {
    let sequences = relatives(210, 200, 1);
    let job = MultiAlign::new(store(&sequences));
    let one = align(&job, 1);
    assert_eq!(one.alignment.rows(), sequences.len());
    for (row, codes) in sequences.iter().enumerate() {
        assert_eq!(one.alignment.residue_columns(row).len(), codes.len(), "{row}");
    }
    // The relatives of a gene that lack no symbol differ in two symbols at most.
    for (row, codes) in sequences.iter().enumerate().filter(|(_, codes)| codes.len() == 200) {
        let first = (row % 3..).step_by(3).find(|&other| sequences[other].len() == 200).expect("a relative");
        assert_eq!(one.alignment.residue_columns(row), one.alignment.residue_columns(first), "{row}: {codes:?}");
    }
    assert_eq!(one.guide.tree.leaves, sequences.len());
    let two = align(&job, 2);
    assert_eq!((two.alignment, two.guide.tree), (one.alignment, one.guide.tree));
}

#[test]
fn reported_distances_are_those_of_all_pairs() {
    let sequences = relatives(201, 60, 9);
    let job = MultiAlign { needs_distances: true, ..MultiAlign::new(store(&sequences)) };
    let distances = align(&job, 2).guide.distances.expect("distances");
    assert_eq!(distances.sequences(), sequences.len());
    // Similar sequences are not merged: they have distances above 0.
    let mut unequal = (0, 0);
    for b in 0..sequences.len() {
        for a in (b % 3..b).step_by(3).filter(|&a| sequences[a] != sequences[b]) {
            unequal.0 += 1;
            unequal.1 += usize::from(distances.get(a, b) > 0.0);
        }
    }
    assert!(unequal.0 > 6_000 && unequal.1 > unequal.0 * 9 / 10, "{unequal:?}");
}
