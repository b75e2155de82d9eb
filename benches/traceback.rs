//! Speed of the traceback of one pair on one thread: close and distant genes of 1,500 bases, with
//! and without hints from an engine.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pairwave::pairs::oracle::needleman_wunsch;
use pairwave::score::{Gaps, IdentityDefinition, Scoring};
use pairwave::seq::{Alphabet, Code};
use pairwave::trace::{Hint, TracebackWorkspace, traceback};

const SYMBOLS: usize = 1500;

/// Returns a gene and a relative with `percent` of its symbols changed: 8 of 10 changes are
/// substitutions, the rest single insertions and deletions.
fn relatives(percent: u32) -> (Vec<Code>, Vec<Code>) {
    let mut rng = support::rng(u64::from(percent));
    let gene: Vec<Code> = (0..SYMBOLS).map(|_| 1 << (rng.next_u32() % 4)).collect();
    let mut relative = Vec::new();
    for &code in &gene {
        if rng.next_u32() % 100 >= percent {
            relative.push(code);
            continue;
        }
        let turned = |turns: u32| (code << turns | code >> (4 - turns)) & 15;
        match rng.next_u32() % 10 {
            0 => {}
            1 => relative.extend([code, code]),
            _ => relative.push(turned(1 + rng.next_u32() % 3)),
        }
    }
    (gene, relative)
}

fn tracebacks(criterion: &mut Criterion) {
    let schemes = [
        ("dna_linear", Scoring::truong()),
        ("dna_affine", Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() }),
    ];
    for (kind, scoring) in schemes {
        let mut group = criterion.benchmark_group(format!("traceback/{kind}"));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        group.throughput(Throughput::Elements(1));
        for (name, percent) in [("97", 3), ("80", 20)] {
            let (query, target) = relatives(percent);
            assert_eq!(scoring.alphabet, Alphabet::Dna);
            let best = needleman_wunsch::align(&query, &target, &scoring);
            let counts = best.cigar.counts();
            let identity =
                IdentityDefinition::default().identity(&counts, query.len() as u32, target.len() as u32) * 100.0;
            assert!((identity - f64::from(100 - percent)).abs() < 2.0, "{identity} should be about {name}");
            let hint = Hint { score: Some(best.score), matches: Some(best.matches) };
            let mut workspace = TracebackWorkspace::default();
            for (known, hint) in [("hint", hint), ("no_hint", Hint::default())] {
                group.bench_function(BenchmarkId::new(known, name), |bencher| {
                    bencher.iter(|| {
                        let found = traceback(&query, &target, &scoring, hint, &mut workspace);
                        found.expect("the hint is right").score
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, tracebacks);
criterion_main!(benches);
