//! Random vectors of ancestral states, and reads.
#![allow(dead_code)] // each test file uses a part

use std::sync::Arc;

use pairwave::papara::vectors::{all, set_bits, set_of};
use pairwave::papara::{PhyloBatch, PhyloBlock, PhyloChunk, Site, Vectors};
use pairwave::score::{Gaps, PhyloScheme};
use pairwave::seq::{Alphabet, Code, SequenceStore};

use super::Rng;

/// Properties of random vectors of ancestral states.
#[derive(Debug, Clone, Copy)]
pub struct VectorProperties {
    pub alphabet: Alphabet,
    pub sites: u32,
    pub vectors: u32,
    /// Whether flags vary, as they do in unions.
    pub are_unions: bool,
}

/// Returns similar vectors: mostly one character per site, some sets, some gap sites.
pub fn vectors(rng: &mut Rng, looks: VectorProperties) -> Vectors {
    let VectorProperties { alphabet, sites, vectors: count, are_unions } = looks;
    let mut vectors = Vectors::new(alphabet, sites, count);
    for site in 0..sites {
        let common = 1 << rng.below(set_bits(alphabet));
        let is_gap = rng.below(6) == 0;
        for vector in 0..count {
            let set = match rng.below(20) {
                0 => 1 << rng.below(set_bits(alphabet)),
                1 => rng.below(all(alphabet) + 1),
                2 => all(alphabet),
                _ => common,
            };
            let is_penalised = is_gap != (rng.below(10) == 0);
            let is_free = if are_unions { is_penalised || rng.below(8) == 0 } else { is_penalised };
            let is_penalised = if are_unions { is_penalised && rng.below(3) > 0 } else { is_penalised };
            vectors.set(vector, site, Site { set, is_penalised, is_free });
        }
    }
    vectors
}

/// Returns the sites of a vector.
pub fn sites(vectors: &Vectors, vector: u32) -> Vec<Site> {
    (0..vectors.sites()).map(|site| vectors.site(vector, site)).collect()
}

/// Returns a read of `length` symbols: a part of a vector with some errors, and random symbols
/// beyond its sites.
pub fn read(rng: &mut Rng, vectors: &Vectors, length: usize, ambiguous: bool) -> Vec<Code> {
    let alphabet = vectors.alphabet();
    let plain: Vec<Code> = (1..alphabet.size() as u32)
        .map(|code| code as Code)
        .filter(|&code| set_of(alphabet, code).is_power_of_two())
        .collect();
    let vector = rng.below(vectors.len());
    let mut site = rng.below(vectors.sites().max(1) + 3);
    let mut codes = Vec::with_capacity(length);
    while codes.len() < length {
        let state = (site < vectors.sites()).then(|| vectors.site(vector, site));
        site += 1;
        let fitting = |state: Site| plain.iter().copied().find(|&code| set_of(alphabet, code) & state.set != 0);
        match (rng.below(25), state) {
            (0, _) if ambiguous => codes.push(1 + rng.below(alphabet.size() as u32 - 1) as Code),
            (1, _) => {}
            (2, _) => codes.extend([rng.pick(&plain), rng.pick(&plain)]),
            (_, Some(state)) if state.is_free && rng.below(4) > 0 => {}
            (3.., Some(state)) => codes.push(fitting(state).unwrap_or(plain[0])),
            _ => codes.push(rng.pick(&plain)),
        }
    }
    codes.truncate(length);
    codes
}

/// Returns schemes with different costs.
pub fn schemes() -> Vec<PhyloScheme> {
    let papara = PhyloScheme::papara();
    vec![
        papara,
        PhyloScheme::paper(),
        PhyloScheme { matching: 5, mismatch: -4, deletion: Gaps::from_emboss(10, 3), ..papara },
        PhyloScheme { gap_site: 0, insertion: Gaps::linear(0), deletion: Gaps::linear(2), ..papara },
        PhyloScheme { matching: 1, mismatch: 1, free_read_ends: false, insertion: Gaps::from_emboss(7, 0), ..papara },
    ]
}

/// Returns a store of these reads.
pub fn store(alphabet: Alphabet, reads: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut store = SequenceStore::builder(alphabet);
    for (index, codes) in reads.iter().enumerate() {
        store.push(format!("r{index}"), codes).unwrap();
    }
    Arc::new(store.build())
}

/// Returns one batch of all reads against all octets, or against the given ones.
pub fn batch(
    reads: &[Vec<Code>],
    vectors: &Arc<Vectors>,
    scheme: PhyloScheme,
    octets: Option<Vec<u32>>,
) -> Arc<PhyloBatch> {
    let reads = store(vectors.alphabet(), reads);
    let positions = octets.as_ref().map_or(vectors.octets(), |octets| octets.len() as u32);
    let count = reads.len() as u32;
    let chunk =
        PhyloChunk { reads, vectors: Arc::clone(vectors), scheme: Arc::new(scheme), octets: octets.map(Arc::from) };
    let block = |read| PhyloBlock { read, positions: 0..positions, octet_cells: chunk.cells(read) };
    Arc::new(PhyloBatch { blocks: (0..count).map(block).collect(), chunk: Arc::new(chunk) })
}
