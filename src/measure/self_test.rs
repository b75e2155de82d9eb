//! Self-tests compare kernels and CPU code with the oracles.
//!
//! Each recurrence has a [`SelfTest`]. `pairwave devices --self-test` runs it on every kernel with
//! its default cases. The tests of kernels run it with their own cases.

pub mod clustal;
pub mod edit;
pub mod local;
pub mod long;
pub mod pairs;
pub mod papara;
pub mod posterior;
pub mod profile;

use std::sync::Arc;

use serde::Serialize;

use crate::engine::{Batch, BatchReport, Engine, Work};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{Family, Kernel, selectable};
use crate::pairs::ResultFilter;

/// Test cases of one recurrence, and a comparison of results with the oracle.
pub trait SelfTest {
    /// Name of the computation.
    const NAME: &'static str;
    /// Whether an engine may refuse some cases with [`Error::Unsuited`]. It must accept at least
    /// one.
    const MAY_REFUSE: bool = false;
    /// Engines that can be tested.
    type Engine: ?Sized;
    /// Input for an engine.
    type Case;
    /// Results of a case.
    type Found;

    /// Returns the cases.
    fn cases(&self) -> &[Self::Case];

    /// Computes a case on an engine.
    ///
    /// # Errors
    /// The errors of the engine; [`Error::Internal`] for results that are incomplete or impossible.
    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Self::Found>;

    /// Compares results with the results of the oracle. Returns the number of compared pairs.
    ///
    /// # Errors
    /// [`Error::Internal`] if they differ.
    fn compare(&self, case: &Self::Case, actual: &Self::Found) -> Result<u64>;

    /// Tests an engine with all cases. Returns the number of compared pairs.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run) and [`compare`](Self::compare).
    fn test(&self, engine: &mut Self::Engine) -> Result<u64> {
        let (mut pairs, mut refused) = (0, None);
        for case in self.cases() {
            match self.run(case, engine) {
                Ok(actual) => pairs += self.compare(case, &actual)?,
                Err(error @ Error::Unsuited { .. }) if Self::MAY_REFUSE => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        match refused {
            Some(error) if pairs == 0 => Err(error),
            _ => Ok(pairs),
        }
    }
}

/// A batch, and the results of the oracle for it.
#[derive(Debug)]
pub struct OracleCase<W: Work, R> {
    batch: Arc<Batch<W>>,
    expected: R,
}

/// Computes a batch on an engine. Checks that the report is complete and passes the check of jobs.
fn checked<W: Work>(engine: &mut dyn Engine<W>, batch: &Arc<Batch<W>>) -> Result<W::Report> {
    let report = computed(engine, batch)?;
    W::check(batch, &report).map_err(Error::Internal)?;
    Ok(report)
}

/// Computes a batch on an engine. Checks that the report is complete.
fn computed<W: Work>(engine: &mut dyn Engine<W>, batch: &Arc<Batch<W>>) -> Result<W::Report> {
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    match report.unfinished().len() {
        0 => Ok(report),
        blocks => Err(Error::Internal(format!("{blocks} blocks were not computed"))),
    }
}

/// Result of the self-test of one kernel.
#[derive(Debug, Clone, Serialize)]
pub struct KernelTest {
    /// Name of the kernel.
    pub kernel: String,
    /// Number of compared pairs.
    pub pairs: u64,
    /// Description of the failure; `None` if all results were correct.
    pub failure: Option<String>,
}

impl KernelTest {
    fn new(kernel: &str, result: Result<u64>) -> Self {
        let (pairs, failure) = match result {
            Ok(pairs) => (pairs, None),
            Err(error) => (0, Some(error.to_string())),
        };
        KernelTest { kernel: kernel.into(), pairs, failure }
    }

    /// Creates the result of a CPU test.
    fn on_cpu<T: SelfTest>(result: Result<u64>) -> Self {
        KernelTest::new(&format!("cpu, {}", T::NAME), result)
    }
}

/// Tests kernels one after another with the same cases.
fn test_kernels<T>(
    kernels: impl Iterator<Item = &'static Kernel>,
    cases: Result<T>,
    test: impl Fn(&T, &'static Kernel) -> Result<u64>,
) -> Vec<KernelTest> {
    let run = |kernel| match &cases {
        Ok(cases) => test(cases, kernel),
        Err(error) => Err(Error::Internal(error.to_string())),
    };
    kernels.map(|kernel| KernelTest::new(kernel.stem, run(kernel))).collect()
}

/// Decides which kernels are tested.
pub type KernelFilter<'a> = &'a dyn Fn(&&'static Kernel) -> bool;

/// Tests the kernels that an adapter can run and that `is_tested` accepts.
pub fn on_adapter(adapter: &FoundAdapter, is_tested: KernelFilter<'_>) -> Vec<KernelTest> {
    let families: [fn(&FoundAdapter, KernelFilter<'_>) -> Vec<KernelTest>; 8] = [
        pairs::on_adapter,
        local::on_adapter,
        edit::on_adapter,
        long::on_adapter,
        papara::on_adapter,
        clustal::on_adapter,
        posterior::on_adapter,
        profile::on_adapter,
    ];
    families.iter().flat_map(|test| test(adapter, is_tested)).collect()
}

/// Tests the CPU code that jobs use.
pub(super) fn on_cpu() -> Vec<KernelTest> {
    vec![pairs::on_cpu(), local::on_cpu(), edit::on_cpu(), long::on_cpu(), papara::on_cpu()]
}

/// Returns the kernels of a family that an adapter has the features for.
pub(super) fn kernels_of(family: Family, adapter: &FoundAdapter) -> impl Iterator<Item = &'static Kernel> + use<> {
    let features = adapter.features;
    selectable(family).filter(move |kernel| features.contains(kernel.features))
}

/// Returns the results that a kernel for pairs can report: with matches if it counts them.
pub(super) fn available_results(kernel: &Kernel) -> ResultFilter {
    if kernel.has_scores_alone() { ResultFilter::Scores } else { ResultFilter::Alignments }
}
