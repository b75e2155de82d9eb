//! Speeds of kernels and of the CPU, for `pairwave devices --bench`.

mod clustal;
mod edit;
mod papara;
mod posterior;
mod profile;

use std::sync::Arc;

use serde::Serialize;

use super::bench::threads::AllThreads;
use super::expected_cells;
use super::self_test::{available_results, kernels_of};
use crate::engine::{Engine, thread_pool};
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::Family;
use crate::pairs::gpu::{Config, PairsGpu, tune};
use crate::pairs::{Pairs, ResultFilter};
use crate::score::{Gaps, Mode, Scoring};

/// Length of a sequence in symbols, similar to a gene.
const BENCH_SYMBOLS: u32 = 1500;

/// Speed of one kernel.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuredSpeed {
    /// Name of the kernel.
    pub kernel: String,
    /// Description of the measured work.
    pub work: &'static str,
    /// 10^9 cells per second in the kernel.
    pub gcups: f64,
}

/// Measures every kernel that an adapter can run.
pub(super) fn measure_adapter(adapter: &FoundAdapter) -> Result<Vec<MeasuredSpeed>> {
    let mut speeds = Vec::new();
    for kernel in kernels_of(Family::Pairs, adapter) {
        let engine = tune::open_tuned(adapter, &Arc::new(Scoring::truong()), 0, false)?;
        let mut engine = engine.with_kernel(Some(kernel));
        speeds.extend(speeds_of(kernel.stem, &mut engine, Mode::Global, available_results(kernel))?);
    }
    for kernel in kernels_of(Family::Local, adapter) {
        let mut engine = PairsGpu::open(adapter, Config::for_adapter(adapter))?.with_kernel(Some(kernel));
        speeds.extend(speeds_of(kernel.stem, &mut engine, Mode::Local, ResultFilter::Alignments)?);
    }
    let pool = thread_pool(0)?;
    speeds.extend(edit::measure_adapter(adapter, &pool)?);
    speeds.extend(papara::measure_adapter(adapter)?);
    speeds.extend(clustal::measure_adapter(adapter)?);
    speeds.extend(posterior::measure_adapter(adapter)?);
    speeds.extend(profile::measure_adapter(adapter)?);
    Ok(speeds)
}

/// Measures all CPU threads together.
pub(super) fn measure_cpu() -> Result<Vec<MeasuredSpeed>> {
    let pool = thread_pool(0)?;
    let mut cpu = AllThreads::new(Arc::clone(&pool));
    let mut speeds = speeds_of("cpu", &mut cpu, Mode::Global, ResultFilter::Alignments)?;
    speeds.extend(edit::measure_cpu(&pool)?);
    speeds.push(papara::measure_cpu(&pool)?);
    Ok(speeds)
}

fn speeds_of(
    kernel: &str,
    engine: &mut dyn Engine<Pairs>,
    mode: Mode,
    filter: ResultFilter,
) -> Result<Vec<MeasuredSpeed>> {
    let linear = Scoring::truong();
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() };
    let work =
        [("DNA, linear gaps", linear), ("DNA, affine gaps", affine), ("protein, affine gaps", Scoring::protein())];
    let mut speeds = Vec::new();
    engine.expect(expected_cells(mode));
    for (work, scoring) in work {
        let scoring = Arc::new(Scoring { mode, ..scoring });
        let gcups = tune::measure(engine, &scoring, filter.clone(), BENCH_SYMBOLS, 0.2)? / 1e9;
        speeds.push(MeasuredSpeed { kernel: kernel.into(), work, gcups });
    }
    Ok(speeds)
}
