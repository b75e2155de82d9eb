//! Measurements: benchmarks, self-tests of devices, and the tables and plots that show their results.
//!
//! [`bench`] is `pairwave bench`, [`devices`] is `pairwave devices --self-test` and `--bench`. [`table`] holds what was
//! measured and writes it as text or CSV, [`plot`] draws it.

pub mod bench;
pub mod devices;
pub mod plot;
pub mod table;
