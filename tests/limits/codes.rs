//! Codes without a score are an error for every scheme, because kernels index tables without a
//! check.

use super::*;
use pairwave::pairs::cpu::{ScoredTarget, ends};
use pairwave::trace::{self, Hint, traceback};
use pairwave::{Error, Result};

/// Returns a scheme for DNA that claims to be for bytes. Its scores are too large for narrow lanes.
fn mislabelled(mode: Mode) -> Scoring {
    Scoring { alphabet: Alphabet::Bytes, mode, ..nucleotide((40_000, -40_000), Gaps::linear(10), EndGaps::Charged) }
}

fn assert_refused<T: std::fmt::Debug>(result: Result<T>, what: &str) {
    assert!(matches!(result, Err(Error::Usage(_))), "{what}: {result:?}");
}

#[test]
fn traceback_refuses_codes_without_scores() {
    for mode in [Mode::Global, Mode::Local] {
        let scoring = mislabelled(mode);
        for (query, target) in [(&[15][..], &[255, 255][..]), (&[255], &[15]), (&[1, 16], &[1]), (&[1], &[8, 33])] {
            let mut workspace = trace::TracebackWorkspace::default();
            assert_refused(traceback(query, target, &scoring, Hint::NONE, &mut workspace), "both are checked");
        }
        let actual = traceback(&[1, 15], &[1, 15], &scoring, Hint::NONE, &mut trace::TracebackWorkspace::default());
        assert!(actual.is_ok(), "the last code has a score: {actual:?}");
        assert_refused(pairwave::align(b"\x0f", b"\xff\xff", &scoring), "the library's function");
    }
    assert_refused(pairwave::align_local(b"\x0f", b"\xff\xff", &mislabelled(Mode::Global)), "local");
}

#[test]
fn kernels_refuse_codes_without_scores() {
    let dna = Scoring { alphabet: Alphabet::Dna, ..mislabelled(Mode::Local) };
    let bytes = store(Alphabet::Bytes, &[vec![1, 33], vec![255, 255], vec![8]]);
    for (what, mut workspace) in workspaces() {
        let target = |codes| [ScoredTarget { codes, score: 1 }];
        assert_refused(ends(&[1], &target(&[1, 33]), &dna, &mut workspace), &what);
        assert_refused(ends(&[64], &target(&[1]), &dna, &mut workspace), &what);
        assert_refused(ends(&[1], &target(&[1]), &mislabelled(Mode::Local), &mut workspace), &what);
        assert!(ends(&[1], &target(&[15]), &dna, &mut workspace).is_ok(), "{what}");
        for mode in [Mode::Global, Mode::Local] {
            for batch in batches(&job(&bytes, mislabelled(mode), ResultFilter::Scores), u64::MAX) {
                assert_refused(compute::run(&batch, &mut workspace), &what);
            }
        }
    }
}
