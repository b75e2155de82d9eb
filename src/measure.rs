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

use crate::score::Mode;

/// Returns the number of cells that an engine for pairs expects after a measured batch. Kernels for
/// local scores expect a long job, because they keep a size that is already compiled in a short one.
fn expected_cells(mode: Mode) -> u64 {
    if mode == Mode::Local { 1 << 60 } else { 0 }
}
