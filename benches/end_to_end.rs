//! The whole job on real genes: all pairs of assets/16s/gold200.fasta, read, filtered at 97% identity and aligned, on
//! the CPU and on the first hardware adapter if there is one.

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use pairwave::gpu::adapter::{Device, enumerate};
use pairwave::jobs::{AllPairs, Job, Run};
use pairwave::score::Scoring;
use pairwave::seq::{ReadOptions, read_files};

const GENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/16s/gold200.fasta");

/// Runs the job and returns the number of pairs that have the identity.
fn run(run: &Run) -> u64 {
    let stores = read_files(&[GENES], &ReadOptions::default()).expect("the genes can be read");
    let store = Arc::new(stores.into_iter().next().expect("one store a file"));
    let job = AllPairs { min_identity: Some(0.97), ..AllPairs::new(store, Arc::new(Scoring::truong())) };
    let mut identity_sum = 0.0;
    let summary = job.run(run, |pairs| {
        identity_sum += pairs.iter().map(|pair| pair.identity).sum::<f64>();
        Ok(())
    });
    let summary = summary.expect("the job runs");
    assert!(identity_sum >= 0.97 * summary.written as f64);
    summary.written
}

fn end_to_end(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allpairs_gold200_97");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(10));
    group.throughput(Throughput::Elements(200 * 199 / 2));
    let adapters = enumerate().into_iter().filter(|found| !found.is_software()).take(1);
    let devices = adapters.map(|found| ("adapter", Device::Adapter(Box::new(found))));
    let mut written = Vec::new();
    for (name, device) in [("cpu", Device::Cpu)].into_iter().chain(devices) {
        let how = Run { devices: vec![device], ..Run::default() };
        group.bench_function(name, |bencher| bencher.iter(|| written.push(run(&how))));
    }
    group.finish();
    assert!(written.iter().all(|&pairs| pairs == written[0] && pairs > 0), "runs differ: {written:?}");
}

criterion_group!(benches, end_to_end);
criterion_main!(benches);
