//! Compares every kernel of ClustalW's pairwise stage with the textbook algorithm. The tests cover
//! both alphabets, lengths around the sizes of slices and strips, and similar and dissimilar
//! sequences.

use std::sync::Arc;

use pairwave::clustal::ClustalCosts;
use pairwave::clustal::costs::PairGaps;
use pairwave::clustal::gpu::{ClustalGpu, ClustalShape};
use pairwave::engine::Engine;
use pairwave::gpu::kernels::{Family, Kernel, selectable};
use pairwave::measure::self_test::clustal::ClustalTest;
use pairwave::score::SubstitutionMatrix;
use pairwave::score::clustal::ClustalMatrix;
use pairwave::seq::Alphabet;
use support::check::assert_passes;
use support::clustal::{all_pairs, family, store};

/// Kernel sizes that are small enough for short sequences to reach every boundary.
const SMALL: ClustalShape = ClustalShape { workgroup: 4, columns: 4, identity_columns: 4, cooperative: 4, rows: 2 };

const ALPHABETS: [Alphabet; 2] = [Alphabet::Dna, Alphabet::Protein];

fn costs(alphabet: Alphabet) -> ClustalCosts {
    ClustalCosts::for_alphabet(alphabet)
}

/// Reads a matrix in NCBI's format.
fn matrix(text: &str) -> ClustalMatrix {
    ClustalMatrix::from_substitution_matrix(
        &SubstitutionMatrix::parse("user_matrix", text.as_bytes()).expect("it is a matrix"),
    )
}

/// Creates small costs, with which many alignments have equal scores.
fn small_costs(open: f32) -> ClustalCosts {
    let user_matrix =
        matrix("  A C G T N\nA 2 -1 -1 -1 2\nC -1 2 -1 -1 2\nG -1 -1 2 -1 1\nT -1 -1 -1 2 2\nN 2 2 1 2 2\n");
    ClustalCosts::scaled(Alphabet::Dna, &user_matrix, 1, PairGaps { open, extend: 1.0, transition: 0.5 })
}

fn engine(kernel: Option<&'static Kernel>) -> ClustalGpu {
    ClustalGpu::open(&support::adapter()).expect("the adapter opens").with_runtime_checks().with_kernel(kernel)
}

#[test]
fn identities_of_every_kernel_equal_the_oracle() {
    let rng = &mut support::rng(41);
    for kernel in selectable(Family::Clustal) {
        let mut engine = engine(Some(kernel)).with_shape(SMALL);
        let usual = ALPHABETS.map(costs);
        for costs in [small_costs(0.5), small_costs(0.0), small_costs(2.0)].into_iter().chain(usual) {
            let alphabet = costs.alphabet();
            for round in 0..3 {
                let lengths = [1, 3, 4, 5, 6, 7, 8, 9, 12, 13, 2, 25, 31 + round, 40];
                let sequences = store(alphabet, &family(rng, alphabet, &lengths));
                let batch = all_pairs(&sequences, costs.clone());
                let what = format!("{}, {alphabet:?}, opening {}, round {round}", kernel.stem, costs.opening(9));
                assert_passes(&ClustalTest::new([batch]), &mut engine, &what);
            }
        }
    }
}

#[test]
fn empty_equal_and_dissimilar_sequences_equal_the_oracle() {
    let rng = &mut support::rng(42);
    for kernel in selectable(Family::Clustal) {
        let mut engine = engine(Some(kernel)).with_shape(SMALL);
        for (alphabet, letters) in [(Alphabet::Dna, b"AC"), (Alphabet::Protein, b"WK")] {
            let [one, other] = letters.map(|letter| alphabet.encode(letter).expect("a letter"));
            let mut sequences = family(rng, alphabet, &[17, 17, 0, 40]);
            sequences[1] = sequences[0].clone();
            sequences.extend([vec![one; 21], vec![other; 21], vec![one; 21], vec![], vec![one; 70], vec![other; 5]]);
            let batch = all_pairs(&store(alphabet, &sequences), costs(alphabet));
            assert_passes(&ClustalTest::new([batch]), &mut engine, &format!("{}, {alphabet:?}", kernel.stem));
        }
    }
}

#[test]
fn kernel_sizes_do_not_change_results() {
    let rng = &mut support::rng(43);
    let usual = ClustalGpu::open(&support::adapter()).expect("the adapter opens").shape();
    for kernel in selectable(Family::Clustal) {
        for alphabet in ALPHABETS {
            let sequences = store(alphabet, &family(rng, alphabet, &[300, 20, 19, 21, 261, 128, 64, 400, 1, 256]));
            let test = ClustalTest::new([all_pairs(&sequences, costs(alphabet))]);
            let other = ClustalShape { workgroup: 32, columns: 16, identity_columns: 12, cooperative: 16, rows: 3 };
            for shape in [usual, other] {
                let mut engine = engine(Some(kernel)).with_shape(shape);
                assert_passes(&test, &mut engine, &format!("{}, {shape:?}", kernel.stem));
            }
        }
    }
}

#[test]
fn long_sequences_use_several_strips_and_dispatches() {
    let rng = &mut support::rng(44);
    for (alphabet, lengths) in [(Alphabet::Protein, [760, 640, 40]), (Alphabet::Dna, [700, 750, 90])] {
        let sequences = store(alphabet, &family(rng, alphabet, &lengths));
        let batch = all_pairs(&sequences, costs(alphabet));
        // llvmpipe limits loops. With slices of 8 columns, it needs several dispatches for all
        // slices.
        let shape = ClustalShape { columns: 8, ..engine(None).shape() };
        assert_passes(&ClustalTest::new([batch]), &mut engine(None).with_shape(shape), &format!("{alphabet:?}"));
    }
}

#[test]
fn oversized_pairs_are_retried_or_refused() {
    let rng = &mut support::rng(46);
    let sequences = store(Alphabet::Dna, &family(rng, Alphabet::Dna, &[9, 30, 22]));
    let batch = all_pairs(&sequences, ClustalCosts::dna());
    let test = ClustalTest::new([Arc::clone(&batch)]);
    for label in ["sequences", "scores", "scratch", "found"] {
        let mut engine = engine(None).with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, 1);
        assert_passes(&test, &mut engine, label);
        let mut engine = self::engine(None).with_shape(SMALL);
        engine.gpu().feign_shortage(label, 0, u64::MAX);
        let error = engine.submit(Arc::clone(&batch)).expect_err("there is no memory");
        assert!(matches!(error, pairwave::Error::Unsuited { .. }), "{label}: {error}");
    }
}

#[test]
fn scores_beyond_32_bits_are_refused() {
    let user_matrix = matrix("  A C G T\nA 10 10 10 10\nC 10 10 10 10\nG 10 10 10 10\nT 10 10 10 10\n");
    let gaps = PairGaps { open: 0.3, extend: 0.1, transition: 0.5 };
    let great = ClustalCosts::scaled(Alphabet::Dna, &user_matrix, 10_000_019, gaps);
    let batch = all_pairs(&store(Alphabet::Dna, &[vec![1; 40], vec![1; 50]]), great);
    let error = engine(None).submit(batch).expect_err("they do not fit");
    assert!(matches!(error, pairwave::Error::Unsuited { .. }), "{error}");
}

/// Tests that an error names the shader that causes it, although shaders are compiled in parallel.
#[test]
fn refused_shader_is_named() {
    let rng = &mut support::rng(47);
    let batch = all_pairs(&store(Alphabet::Dna, &family(rng, Alphabet::Dna, &[9, 30])), ClustalCosts::dna());
    let spoilt = |text: String| match text.contains("wg_count") {
        true => text.replace("wg_same = 0u;", "wg_same = nothing;"),
        false => text,
    };
    let engine = engine(pairwave::gpu::kernels::find("nw_forward_reverse"));
    let error = engine.with_rewritten_shaders(Box::new(spoilt)).submit(batch).expect_err("it has no meaning");
    assert!(error.to_string().contains("nw_forward_reverse: the shader does not compile"), "{error}");
}
