//! Kernels write workgroup memory before they read it.

use pairwave::engine::Engine;
use pairwave::gpu::adapter::FoundAdapter;
use pairwave::gpu::kernels::find;
use pairwave::measure::self_test;
use pairwave::pairs::ResultFilter;
use pairwave::pairs::gpu::{Config, PairsGpu};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;
use support::poison::poisoned;
use support::*;

fn adapter_with(rewrite: fn(String) -> String) -> FoundAdapter {
    FoundAdapter { rewrite: Some(rewrite), ..adapter() }
}

/// The tests on a minimal device ([`super::minimal`]) fill the memory of all other kernels.
#[test]
fn results_do_not_depend_on_the_first_content_of_workgroup_memory() {
    let tests = self_test::on_adapter(&adapter_with(poisoned), &|kernel| !kernel.features.is_empty());
    assert!(tests.len() > 5, "{} kernels were tested", tests.len());
    let failed: Vec<_> = tests.iter().filter(|test| test.failure.is_some()).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A kernel without its writes reads the values that were there before.
#[test]
fn missing_writes_are_detected() {
    let store = mixed_store(&mut rng(5), Alphabet::Dna, &[40, 50, 60]);
    let batch = batches(&job(&store, Scoring::truong(), ResultFilter::Scores), u64::MAX).remove(0);
    let expected = compute(&mut cpu(), std::slice::from_ref(&batch));
    let is_right = |rewrite| {
        let engine = PairsGpu::open(&adapter_with(rewrite), Config::default()).expect("the adapter opens");
        let mut engine = engine.with_kernel(find("nw_rows"));
        let report = engine.submit(batch.clone()).and_then(|ticket| engine.collect(ticket));
        report.is_ok_and(|report| {
            let mut hits = report.hits;
            hits.sort();
            hits.iter().map(|hit| hit.score).eq(expected.iter().map(|hit| hit.score))
        })
    };
    assert!(is_right(poisoned));
    assert!(!is_right(|source| poisoned(source.replace("profile[code * STRIDE4 + c4] =", "_ ="))));
}
