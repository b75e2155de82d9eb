//! Random families of sequences, and batches of their pairs.
#![allow(dead_code)] // each test file uses a part

use std::sync::Arc;

use pairwave::clustal::{ClustalBatch, ClustalChunk, ClustalCosts};
use pairwave::seq::{Alphabet, Code, SequenceStore};

use super::Rng;

/// Returns a random code. Most codes stand for one character; some stand for several, which makes
/// alignments equally good.
fn code(rng: &mut Rng, alphabet: Alphabet, letters: &[u8]) -> Code {
    let letter = match rng.below(8) {
        0 => rng.pick(if alphabet == Alphabet::Dna { b"NRYKM" } else { b"XBZ*J" }),
        _ => rng.pick(letters),
    };
    alphabet.encode(letter).expect("a letter of the alphabet")
}

/// Returns related sequences of these lengths: parts of one ancestor, with substitutions,
/// insertions and deletions. They have few letters, so that many alignments are equally good.
pub fn family(rng: &mut Rng, alphabet: Alphabet, lengths: &[usize]) -> Vec<Vec<Code>> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGT" } else { b"AAGSTLIVWC" };
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let ancestor: Vec<Code> = (0..longest + 8).map(|_| code(rng, alphabet, letters)).collect();
    let mut all = Vec::new();
    for &length in lengths {
        let (mut sequence, mut at) = (Vec::new(), rng.below(9_usize));
        while sequence.len() < length {
            match rng.below(12) {
                0 => sequence.push(code(rng, alphabet, letters)),
                1 => at += rng.below(4_usize),
                2 => (0..rng.below(4_usize)).for_each(|_| sequence.push(code(rng, alphabet, letters))),
                _ => sequence.push(ancestor[at % ancestor.len()]),
            }
            at += 1;
        }
        sequence.truncate(length);
        all.push(sequence);
    }
    all
}

/// Returns a store of these sequences.
pub fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        store.push(format!("sequence{index}"), codes).expect("codes of the alphabet");
    }
    Arc::new(store.build())
}

/// Returns all pairs: each query against the later sequences, or every other query against all
/// earlier ones.
pub fn all_pairs(sequences: &Arc<SequenceStore>, costs: ClustalCosts) -> Arc<ClustalBatch> {
    let count = sequences.len() as u32;
    let order = (0..count).collect();
    let chunk = ClustalChunk { sequences: Arc::clone(sequences), costs: Arc::new(costs), order };
    let block = |query: u32| chunk.block(query, if query.is_multiple_of(2) { query + 1..count } else { 0..query });
    let blocks = (0..count).map(block).collect();
    Arc::new(ClustalBatch { chunk: Arc::new(chunk), blocks })
}
