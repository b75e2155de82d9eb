//! Compares every kernel for reads and ancestral states with the textbook algorithm. The tests
//! cover both alphabets, various schemes, lengths around the sizes of slices and chunks, unions,
//! and selected octets.

use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::gpu::kernels::{Family, Kernel, selectable};
use pairwave::measure::self_test::papara::PhyloTest;
use pairwave::papara::Vectors;
use pairwave::papara::gpu::{BlockShape, PhyloGpu};
use pairwave::score::PhyloScheme;
use pairwave::seq::{Alphabet, Code};
use support::check::assert_passes;
use support::phylo::{self, VectorProperties};

/// Kernel sizes that are small enough for short reads to reach every boundary.
const SMALL: BlockShape = BlockShape { workgroup: 8, columns: [[8, 12], [4, 8]], chunk: 16 };

fn engine(kernel: Option<&'static Kernel>) -> PhyloGpu {
    PhyloGpu::open(&support::adapter()).expect("the adapter opens").with_runtime_checks().with_kernel(kernel)
}

/// Creates the test of all reads against all octets, or against the given ones.
fn test(reads: &[Vec<Code>], vectors: &Arc<Vectors>, scheme: PhyloScheme, octets: Option<Vec<u32>>) -> PhyloTest {
    PhyloTest::new([phylo::batch(reads, vectors, scheme, octets)]).expect("the textbook computes all")
}

fn reads(rng: &mut support::Rng, vectors: &Vectors, lengths: &[usize], ambiguous: bool) -> Vec<Vec<Code>> {
    lengths.iter().map(|&length| phylo::read(rng, vectors, length, ambiguous)).collect()
}

#[test]
fn every_kernel_matches_textbook() {
    let rng = &mut support::rng(31);
    for kernel in selectable(Family::Phylo) {
        let mut engine = engine(Some(kernel)).with_shape(SMALL);
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            for (index, scheme) in phylo::schemes().into_iter().enumerate() {
                let looks = VectorProperties {
                    alphabet,
                    sites: [40, 16, 33, 17, 48][index],
                    vectors: 19,
                    are_unions: index % 2 == 1,
                };
                let vectors = Arc::new(phylo::vectors(rng, looks));
                for ambiguous in [false, true] {
                    let reads = reads(rng, &vectors, &[1, 3, 4, 5, 8, 9, 17, 24], ambiguous);
                    let what = format!("{}, ambiguous: {ambiguous}", kernel.stem);
                    assert_passes(&test(&reads, &vectors, scheme, None), &mut engine, &what);
                }
            }
        }
    }
}

#[test]
fn few_sites_and_selected_octets_match_textbook() {
    let rng = &mut support::rng(32);
    for kernel in selectable(Family::Phylo) {
        let mut engine = engine(Some(kernel)).with_shape(SMALL);
        for sites in [0, 1, 2, 15] {
            let looks = VectorProperties { alphabet: Alphabet::Dna, sites, vectors: 33, are_unions: false };
            let vectors = Arc::new(phylo::vectors(rng, looks));
            let reads = reads(rng, &vectors, &[2, 9, 1], false);
            let test = test(&reads, &vectors, PhyloScheme::papara(), Some(vec![4, 0, 2, 2, 3]));
            assert_passes(&test, &mut engine, kernel.stem);
        }
    }
}

#[test]
fn reads_beyond_f16_use_i32_lanes() {
    let rng = &mut support::rng(33);
    let Some(halves) = selectable(Family::Phylo).find(|kernel| kernel.stem.ends_with("half")) else {
        panic!("there is a kernel in halves");
    };
    let looks = VectorProperties { alphabet: Alphabet::Dna, sites: 20, vectors: 8, are_unions: false };
    let vectors = Arc::new(phylo::vectors(rng, looks));
    let reads = reads(rng, &vectors, &[9, 60, 800], false);
    for scheme in [PhyloScheme::papara(), PhyloScheme { matching: 300, ..PhyloScheme::papara() }] {
        assert_passes(&test(&reads, &vectors, scheme, None), &mut engine(Some(halves)), halves.stem);
    }
}

#[test]
fn default_sizes_match_textbook() {
    let rng = &mut support::rng(34);
    let looks = VectorProperties { alphabet: Alphabet::Dna, sites: 300, vectors: 40, are_unions: false };
    let vectors = Arc::new(phylo::vectors(rng, looks));
    let reads = reads(rng, &vectors, &[100, 30, 24, 12, 61], true);
    let test = test(&reads, &vectors, PhyloScheme::papara(), None);
    for shape in [PhyloGpu::open(&support::adapter()).unwrap().shape(), BlockShape { workgroup: 32, ..SMALL }] {
        let mut engine = engine(None).with_shape(shape);
        assert_passes(&test, &mut engine, &format!("{shape:?}"));
    }
}

#[test]
fn reads_beyond_memory_are_split_or_refused() {
    let rng = &mut support::rng(35);
    let looks = VectorProperties { alphabet: Alphabet::Dna, sites: 40, vectors: 24, are_unions: false };
    let vectors = Arc::new(phylo::vectors(rng, looks));
    let reads = reads(rng, &vectors, &[9, 30], false);
    let batch = phylo::batch(&reads, &vectors, PhyloScheme::papara(), None);
    let test = test(&reads, &vectors, PhyloScheme::papara(), None);
    for label in ["ancestral states", "scratch", "output"] {
        let mut engine = engine(None).with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, 1);
        assert_passes(&test, &mut engine, label);
        let mut engine = self::engine(None).with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, u64::MAX);
        let error = engine.submit(Arc::clone(&batch)).expect_err("there is no memory");
        assert!(matches!(error, pairwave::Error::Unsuited { .. }), "{label}: {error}");
    }
    // Scores with such a scheme exceed 32 bits.
    let great = PhyloScheme { matching: 1 << 16, ..PhyloScheme::papara() };
    let long = vec![vec![1; 20_000]];
    let batch = phylo::batch(&long, &vectors, great, None);
    let error = engine(None).submit(batch).expect_err("they do not fit");
    assert!(matches!(error, pairwave::Error::Unsuited { .. }), "{error}");
}
