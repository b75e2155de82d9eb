//! Measures the kernels that align profiles.

use std::sync::Arc;
use std::time::Instant;

use super::MeasuredSpeed;
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::measure::self_test::profile::{batch, pair};
use crate::measure::simulate::SEED;
use crate::profile::gpu::ProfileGpu;

/// Numbers of columns: the longest of the paper on hardware, and a smaller one on software
/// adapters.
const BENCH_COLUMNS: [usize; 2] = [1523, 300];
/// Maximum number of pairs of profiles in a batch.
const MAX_PAIRS: usize = 256;
/// Target duration of a measurement in seconds.
const SECONDS: f64 = 0.1;

/// Measures the kernels together, with enough pairs for the target duration.
pub(super) fn measure_adapter(adapter: &FoundAdapter) -> Result<Vec<MeasuredSpeed>> {
    let columns = BENCH_COLUMNS[usize::from(adapter.is_software())];
    let mut engine = ProfileGpu::open(adapter)?;
    let mut seconds = |count: usize| -> Result<(f64, u64)> {
        let batch = batch((0..count).map(|number| pair([columns; 2], 20, SEED + number as u64)))?;
        let started = Instant::now();
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        Ok((report.kernel_time.unwrap_or_else(|| started.elapsed()).as_secs_f64().max(1e-6), batch.cells()))
    };
    // Compiles the kernels before the clock starts.
    seconds(1)?;
    let mut count = 2;
    loop {
        let (took, cells) = seconds(count)?;
        if took >= SECONDS || count >= MAX_PAIRS {
            let gcups = cells as f64 / took / 1e9;
            return Ok(vec![MeasuredSpeed { kernel: "profile_tile".into(), work: "profiles of proteins", gcups }]);
        }
        count *= 4;
    }
}
