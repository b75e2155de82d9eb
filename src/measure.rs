//! Measurements: benchmarks, self-tests of devices, and tables and plots of their results.
//!
//! - [`bench`] implements `pairwave bench`.
//! - [`devices`] implements `pairwave devices` with `--self-test` ([`self_test`]) and `--bench`.
//! - [`table`] stores measurements and writes them as text or CSV.
//! - [`plot`] draws them.

pub mod bench;
pub mod devices;
pub mod plot;
pub mod self_test;
pub mod shared_engine;
mod simulate;
mod speeds;
pub mod table;

/// Number of cells that kernels for local scores expect during a measurement, as in a long job. In
/// a short job, they keep a size that is already compiled.
const LONG_JOB_CELLS: u64 = 1 << 60;
