//! Many pairs of whole sequences: global, semi-global and local scores and alignments.

pub mod check;
pub mod cpu;
mod formatted_rows;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;
pub mod plan;
mod scheduling;
mod thresholds;
pub mod work;

pub use formatted_rows::{FormattedReport, FormattedRows, RowKey};
pub use thresholds::ScoreThresholds;
pub use work::*;
