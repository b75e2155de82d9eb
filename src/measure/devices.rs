//! `pairwave devices` with self-tests and measurements: whether the kernels of a device are right, and how fast they are.

mod clustal;
mod edit;
mod local;
mod long;
mod phylo;
mod posterior;
mod profile;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::alignment::Cigar;
use crate::engine::{Engine, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::{Device, FoundAdapter};
use crate::gpu::kernels::{Family, Kernel, offered};
use crate::jobs::devices::ListedDevice;
use crate::measure::bench::threads::AllThreads;
use crate::pairs::Pairs;
use crate::pairs::cpu::CpuWorker;
use crate::pairs::gpu::{Config, GpuEngine, tune};
use crate::pairs::oracle::{needleman_wunsch, smith_waterman};
use crate::pairs::plan::{Job, PlannedBand};
use crate::pairs::{Band, Batch, Hit, Report, Want};
use crate::score::{EndGaps, Gaps, Mode, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore, Strands};
use crate::trace::{self, Hint};

/// Sequence length of `--bench`, about a gene.
const BENCH_SYMBOLS: u32 = 1500;

/// A device and what was measured on it.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// The device.
    #[serde(flatten)]
    pub device: ListedDevice,
    /// Results of the self-test, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub self_test: Vec<KernelTest>,
    /// Speeds, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bench: Vec<KernelSpeed>,
}

/// One kernel against its oracle.
#[derive(Debug, Clone, Serialize)]
pub struct KernelTest {
    /// The kernel.
    pub kernel: String,
    /// Pairs compared.
    pub pairs: u64,
    /// `None` if all were right, else what was wrong.
    pub failure: Option<String>,
}

/// One kernel's speed.
#[derive(Debug, Clone, Serialize)]
pub struct KernelSpeed {
    /// The kernel.
    pub kernel: String,
    /// What it computed.
    pub work: &'static str,
    /// 10^9 cells per second in the kernel.
    pub gcups: f64,
}

/// Reports on devices, with the results of self-tests and measurements as far as they are asked for.
///
/// # Errors
/// [`Error::Device`] for an adapter that does not open. A self-test that fails is part of the report.
pub fn report(devices: &[Device], self_test: bool, bench: bool) -> Result<Vec<DeviceReport>> {
    devices.iter().map(|device| report_one(device, self_test, bench)).collect()
}

fn report_one(device: &Device, self_test: bool, bench: bool) -> Result<DeviceReport> {
    let mut report = DeviceReport { device: device.into(), self_test: Vec::new(), bench: Vec::new() };
    match device {
        Device::Adapter(found) => {
            if self_test {
                report.self_test = test_adapter(found);
            }
            if bench {
                report.bench = bench_adapter(found)?;
            }
        }
        Device::Cpu => {
            if self_test {
                report.self_test = test_cpu();
            }
            if bench {
                report.bench = bench_cpu()?;
            }
        }
    }
    Ok(report)
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.device)?;
        for test in &self.self_test {
            match &test.failure {
                None => writeln!(f, "  self-test         {}: passed, {} pairs", test.kernel, test.pairs)?,
                Some(failure) => writeln!(f, "  self-test         {}: FAILED: {failure}", test.kernel)?,
            }
        }
        for speed in &self.bench {
            writeln!(f, "  bench             {}: {:.1} GCUPS, {}", speed.kernel, speed.gcups, speed.work)?;
        }
        Ok(())
    }
}

fn test_of(kernel: &str, result: Result<u64>) -> KernelTest {
    match result {
        Ok(pairs) => KernelTest { kernel: kernel.into(), pairs, failure: None },
        Err(error) => KernelTest { kernel: kernel.into(), pairs: 0, failure: Some(error.to_string()) },
    }
}

fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let tests = kernels_of(Family::Pairs, found).map(|kernel| {
        let opened = GpuEngine::open(found, Config::for_adapter(found));
        let result = opened.and_then(|gpu| {
            test_scored(&mut gpu.with_kernel(Some(kernel)), kernel.scan().is_some(), want_of(kernel), &test_scorings())
        });
        test_of(kernel.stem, result)
    });
    let tests =
        tests.chain(local::test_adapter(found)).chain(edit::test_adapter(found)).chain(long::test_adapter(found));
    let tests = tests.chain(phylo::test_adapter(found)).chain(clustal::test_adapter(found));
    tests.chain(posterior::test_adapter(found)).chain(profile::test_adapter(found)).collect()
}

/// The kernels of a family whose features an adapter has.
fn kernels_of(family: Family, found: &FoundAdapter) -> impl Iterator<Item = &'static Kernel> {
    let features = found.adapter.features();
    offered(family).filter(move |kernel| features.contains(kernel.features))
}

/// What a kernel is to report, matches if it has them.
fn want_of(kernel: &Kernel) -> Want {
    if kernel.has_scores_alone() { Want::Scores } else { Want::Alignments }
}

/// What jobs run on the CPU.
fn test_cpu() -> Vec<KernelTest> {
    let mut worker = CpuWorker::default();
    vec![
        test_of("cpu", test_scored(&mut worker, true, Want::Alignments, &test_scorings())),
        test_of("cpu, local", test_scored(&mut worker, false, Want::Alignments, &local_scorings())),
        edit::test_cpu(),
        long::test_cpu(),
        phylo::test_cpu(),
    ]
}

/// Scoring schemes that together take every path through a kernel.
fn test_scorings() -> Vec<Scoring> {
    let mut all = Vec::new();
    for gaps in [Gaps::linear(10), Gaps::from_blast(10, 1)] {
        for end_gaps in [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps { first: 3, next: 1 })] {
            all.push(Scoring { gaps, end_gaps, ..Scoring::truong() });
            all.push(Scoring { gaps, end_gaps, ..Scoring::protein() });
        }
    }
    all
}

/// The same of local alignments, which have no end gaps.
fn local_scorings() -> Vec<Scoring> {
    let charged = test_scorings().into_iter().filter(|scoring| scoring.end_gaps == EndGaps::Charged);
    charged.map(|scoring| Scoring { mode: Mode::Local, ..scoring }).collect()
}

/// Sequences with lengths around everything that a kernel could round to, some alike and some not.
fn test_store(alphabet: Alphabet) -> SequenceStore {
    let random = tune::random_store(alphabet, 40, 160, 0xacce55);
    let mut builder = SequenceStore::builder(alphabet);
    for (index, length) in
        (0..40).zip([1, 2, 3, 4, 5, 11, 12, 13, 31, 32, 33, 35, 36, 37, 63, 64, 65, 71, 72, 73, 100].iter().cycle())
    {
        // Every third is a copy of an earlier one with some symbols changed.
        let source = if index % 3 == 2 { index - 2 } else { index };
        let mut codes: Vec<Code> = random.codes(source)[..*length].to_vec();
        if index % 3 == 2 {
            codes.iter_mut().step_by(9).for_each(|code| *code = random.codes(0)[0]);
        }
        builder.push_valid(format!("test{index}"), &codes);
    }
    builder.build()
}

/// Compares an engine with the oracle, alignments too if it `traces`; the number of pairs compared.
fn test_scored(engine: &mut dyn Engine<Pairs>, traces: bool, want: Want, scorings: &[Scoring]) -> Result<u64> {
    let mut pairs = 0;
    for scoring in scorings {
        let store = Arc::new(test_store(scoring.alphabet));
        let scoring = Arc::new(scoring.clone());
        let (queries, want) = (Arc::clone(&store), want.clone());
        let job = Job { queries, against: None, scoring, want, strands: Strands::default(), parts: None };
        for (batch, report) in computed(engine, &job)? {
            if report.hits.len() as u64 != batch.pairs() {
                return Err(Error::Internal(format!("{} results for {} pairs", report.hits.len(), batch.pairs())));
            }
            for (place, hit) in report.hits.iter().enumerate() {
                let cigar = report.traced.cigar(place);
                if traces && cigar.is_none() {
                    return Err(Error::Internal(format!("no alignment of {hit:?}")));
                }
                compare(&batch.band, hit, cigar)?;
            }
            pairs += batch.pairs();
        }
    }
    Ok(pairs)
}

/// The batches of a job, a band each, with what an engine reports of all their blocks.
fn computed(engine: &mut dyn Engine<Pairs>, job: &Job) -> Result<Vec<(Arc<Batch>, Report)>> {
    let compute = |(_, band, blocks): PlannedBand| {
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        let batch = Arc::new(Batch { band, blocks });
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        if !report.unfinished.is_empty() {
            return Err(Error::Internal(format!("{} blocks were not computed", report.unfinished.len())));
        }
        Ok((batch, report))
    };
    job.bands(u64::MAX, u64::MAX).map(compute).collect()
}

/// Compares a pair's numbers and, where the engine traced it, its alignment.
fn compare(band: &Band, hit: &Hit, traced: Option<Cigar>) -> Result<()> {
    let (a, b) = (band.queries.codes(hit.query), band.targets.codes(hit.target));
    // The alignment's query may be the kernel's target.
    let is_turned = band.earlier_is_query && hit.target < hit.query;
    let (query, target) = if is_turned { (b, a) } else { (a, b) };
    let wrong = |found: String, right: String| {
        Err(Error::Internal(format!(
            "{} x {} symbols, {:?}, {:?}, end gaps {:?}: {found}, should be {right}",
            a.len(),
            b.len(),
            band.scoring.mode,
            band.scoring.gaps,
            band.scoring.end_gaps,
        )))
    };
    let is_local = band.scoring.mode == Mode::Local;
    let (score, matches, begin, expected) = if is_local {
        let expected = smith_waterman::align(query, target, &band.scoring);
        (expected.score, expected.matches, (expected.query.start, expected.target.start), expected.cigar)
    } else {
        let expected = needleman_wunsch::align(query, target, &band.scoring);
        (expected.score, expected.matches, (0, 0), expected.cigar)
    };
    if hit.score != score || hit.matches.is_some_and(|found| found != matches) {
        let found = format!("score {} with {:?} matches", hit.score, hit.matches);
        return wrong(found, format!("{score} with {matches}"));
    }
    let mut traced = traced;
    if is_local {
        // Local alignments are traced by the job, also those that a worker has scored.
        let hint = Hint { score: Some(hit.score), matches: hit.matches };
        let found = trace::traceback(query, target, &band.scoring, hint, &mut trace::Workspace::default())?;
        let found_begin = (found.query_start as usize, found.target_start as usize);
        if found_begin != begin {
            return wrong(format!("an alignment from {found_begin:?} on"), format!("{begin:?}"));
        }
        traced = Some(found.cigar);
    }
    match traced {
        Some(cigar) if cigar != expected => wrong(format!("alignment {cigar}"), expected.to_string()),
        _ => Ok(()),
    }
}

fn bench_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let mut speeds = Vec::new();
    for kernel in kernels_of(Family::Pairs, found) {
        let engine = tune::open_tuned(found, &Arc::new(Scoring::truong()), 0, false)?;
        let mut engine = engine.with_kernel(Some(kernel));
        speeds.extend(bench_engine(kernel.stem, &mut engine, Mode::Global, want_of(kernel))?);
    }
    for kernel in kernels_of(Family::Local, found) {
        let mut engine = GpuEngine::open(found, Config::for_adapter(found))?.with_kernel(Some(kernel));
        speeds.extend(bench_engine(kernel.stem, &mut engine, Mode::Local, Want::Alignments)?);
    }
    let pool = thread_pool(0)?;
    speeds.extend(edit::bench_adapter(found, &pool)?);
    speeds.extend(phylo::bench_adapter(found)?);
    speeds.extend(clustal::bench_adapter(found)?);
    speeds.extend(posterior::bench_adapter(found)?);
    speeds.extend(profile::bench_adapter(found)?);
    Ok(speeds)
}

fn bench_cpu() -> Result<Vec<KernelSpeed>> {
    let pool = thread_pool(0)?;
    let mut cpu = AllThreads::new(Arc::clone(&pool));
    let mut speeds = bench_engine("cpu", &mut cpu, Mode::Global, Want::Alignments)?;
    speeds.extend(edit::bench_cpu(&pool)?);
    speeds.push(phylo::bench_cpu(&pool)?);
    Ok(speeds)
}

fn bench_engine(kernel: &str, engine: &mut dyn Engine<Pairs>, mode: Mode, want: Want) -> Result<Vec<KernelSpeed>> {
    let linear = Scoring::truong();
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() };
    let work =
        [("DNA, linear gaps", linear), ("DNA, affine gaps", affine), ("protein, affine gaps", Scoring::protein())];
    let mut speeds = Vec::new();
    for (work, scoring) in work {
        let scoring = Arc::new(Scoring { mode, ..scoring });
        let gcups = tune::measure(engine, (&scoring, want.clone()), BENCH_SYMBOLS, 0.2)? / 1e9;
        speeds.push(KernelSpeed { kernel: kernel.into(), work, gcups });
    }
    Ok(speeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_alignment_is_seen() {
        let scoring = Arc::new(Scoring::truong());
        let store = Arc::new(test_store(scoring.alphabet));
        let (queries, want) = (Arc::clone(&store), Want::Alignments);
        let job = Job { queries, against: None, scoring, want, strands: Strands::default(), parts: None };
        let (_, band, _) = job.bands(u64::MAX, u64::MAX).next().expect("there are pairs");
        // Lengths 3 and 13, by both numbers: the earlier one is the query.
        let best = needleman_wunsch::align(store.codes(2), store.codes(7), &band.scoring);
        let (score, matches) = (best.score, Some(best.matches));
        for (query, target) in [(2, 7), (7, 2)] {
            let hit = Hit { query, target, score, matches };
            compare(&band, &hit, None).expect("the numbers are right");
            compare(&band, &hit, Some(best.cigar.clone())).expect("the alignment is right");
            let mut wrong = best.cigar.clone();
            wrong.reverse();
            assert_ne!(wrong, best.cigar);
            let error = compare(&band, &hit, Some(wrong)).expect_err("it is wrong");
            assert!(error.to_string().contains("alignment"), "{error}");
            compare(&band, &Hit { score: score + 1, ..hit }, None).expect_err("the score is wrong");
        }
    }
}
