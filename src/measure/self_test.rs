//! Self-tests: kernels, and the code of the CPU, against the oracles.
//!
//! A [`SelfTest`] of each recurrence serves `pairwave devices --self-test`, which runs it on every
//! kernel, and the tests of kernels, which run it on cases of their own.

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
use crate::gpu::kernels::{Family, Kernel, offered};
use crate::pairs::Want;

/// Cases of one recurrence, and how an engine's results for them are compared with its oracle's.
pub trait SelfTest {
    /// Name of what is computed.
    const NAME: &'static str;
    /// Whether an engine may refuse some cases with [`Error::Unsuited`]. It has to take at least
    /// one.
    const MAY_REFUSE: bool = false;
    /// Engines that can be tested.
    type Engine: ?Sized;
    /// Work for an engine.
    type Case;
    /// Results of a case.
    type Found;

    /// Returns the cases.
    fn cases(&self) -> &[Self::Case];

    /// Computes a case on an engine.
    ///
    /// # Errors
    /// Those of the engine, and [`Error::Internal`] for results that are incomplete or impossible.
    fn run(&self, case: &Self::Case, engine: &mut Self::Engine) -> Result<Self::Found>;

    /// Compares results with those of the oracle and returns the number of pairs compared.
    ///
    /// # Errors
    /// [`Error::Internal`] for a difference.
    fn compare(&self, case: &Self::Case, found: &Self::Found) -> Result<u64>;

    /// Tests an engine with all cases and returns the number of pairs compared.
    ///
    /// # Errors
    /// Those of [`run`](Self::run) and [`compare`](Self::compare).
    fn test(&self, engine: &mut Self::Engine) -> Result<u64> {
        let (mut pairs, mut refused) = (0, None);
        for case in self.cases() {
            match self.run(case, engine) {
                Ok(found) => pairs += self.compare(case, &found)?,
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

/// A batch, and the oracle's results for it.
#[derive(Debug)]
pub struct Case<W: Work, R> {
    batch: Arc<Batch<W>>,
    expected: R,
}

/// Computes a batch on an engine. The report is whole, and has passed the check that jobs make.
fn checked<W: Work>(engine: &mut dyn Engine<W>, batch: &Arc<Batch<W>>) -> Result<W::Report> {
    let report = computed(engine, batch)?;
    W::check(batch, &report).map_err(Error::Internal)?;
    Ok(report)
}

/// Computes a batch on an engine. The report is whole.
fn computed<W: Work>(engine: &mut dyn Engine<W>, batch: &Arc<Batch<W>>) -> Result<W::Report> {
    let ticket = engine.submit(Arc::clone(batch))?;
    let report = engine.collect(ticket)?;
    match report.unfinished().len() {
        0 => Ok(report),
        blocks => Err(Error::Internal(format!("{blocks} blocks were not computed"))),
    }
}

/// Result of a self-test: one kernel against its oracle.
#[derive(Debug, Clone, Serialize)]
pub struct KernelTest {
    /// The kernel.
    pub kernel: String,
    /// Pairs compared.
    pub pairs: u64,
    /// `None` if all were right, else what was wrong.
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

    /// The result of a test of the CPU.
    fn of_cpu<T: SelfTest>(result: Result<u64>) -> Self {
        KernelTest::new(&format!("cpu, {}", T::NAME), result)
    }
}

/// Tests kernels one after another, each with the same cases.
fn each<T>(
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

/// Tests every kernel that an adapter can run.
pub(super) fn on_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    let families: [fn(&FoundAdapter) -> Vec<KernelTest>; 8] = [
        pairs::on_adapter,
        local::on_adapter,
        edit::on_adapter,
        long::on_adapter,
        papara::on_adapter,
        clustal::on_adapter,
        posterior::on_adapter,
        profile::on_adapter,
    ];
    families.iter().flat_map(|test| test(found)).collect()
}

/// Tests what jobs run on the CPU.
pub(super) fn on_cpu() -> Vec<KernelTest> {
    vec![pairs::on_cpu(), local::on_cpu(), edit::on_cpu(), long::on_cpu(), papara::on_cpu()]
}

/// Returns the kernels of a family whose features an adapter has.
pub(super) fn kernels_of(family: Family, found: &FoundAdapter) -> impl Iterator<Item = &'static Kernel> + use<> {
    let features = found.adapter.features();
    offered(family).filter(move |kernel| features.contains(kernel.features))
}

/// Returns what a kernel for pairs can report: matches, if it has them.
pub(super) fn want_of(kernel: &Kernel) -> Want {
    if kernel.has_scores_alone() { Want::Scores } else { Want::Alignments }
}
