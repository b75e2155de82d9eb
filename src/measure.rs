//! Measurements: benchmarks, self-tests of devices, and tables and plots of their results.
//!
//! [`bench`] is `pairwave bench`. [`devices`] is `pairwave devices` with `--self-test`, by
//! [`self_test`], and `--bench`. [`table`] holds what was measured and writes it as text or CSV,
//! [`plot`] draws it.

pub mod bench;
pub mod devices;
pub mod plot;
pub mod self_test;
pub mod shared_engine;
mod simulate;
mod speeds;
pub mod table;
