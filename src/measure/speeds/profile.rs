//! Speed of the kernels for profiles against profiles.

use std::sync::Arc;
use std::time::Instant;

use super::KernelSpeed;
use crate::engine::Engine;
use crate::error::Result;
use crate::gpu::adapter::FoundAdapter;
use crate::measure::self_test::profile::{batch, pair};
use crate::measure::simulate::SEED;
use crate::profile::gpu::ProfileGpu;

/// Columns in the measurement: the longest of the paper; and where loops end early.
const BENCH_COLUMNS: [usize; 2] = [1523, 300];
/// Pairs of profiles at once, at most.
const MAX_PAIRS: usize = 256;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.1;

/// Measures the kernels together, with as many pairs as take long enough.
pub(super) fn of_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let columns = BENCH_COLUMNS[usize::from(found.is_software())];
    let mut engine = ProfileGpu::open(found)?;
    let mut seconds = |count: usize| -> Result<(f64, u64)> {
        let batch = batch((0..count).map(|number| pair([columns; 2], 20, SEED + number as u64)))?;
        let begin = Instant::now();
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        Ok((report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6), batch.cells()))
    };
    // Compiled before the clock runs.
    seconds(1)?;
    let mut count = 2;
    loop {
        let (took, cells) = seconds(count)?;
        if took >= SECONDS || count >= MAX_PAIRS {
            let gcups = cells as f64 / took / 1e9;
            return Ok(vec![KernelSpeed { kernel: "profile_tile".into(), work: "profiles of proteins", gcups }]);
        }
        count *= 4;
    }
}
