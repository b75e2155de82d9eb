//! Many pairs of whole sequences: global, semi-global and local scores and alignments.

pub mod check;
pub mod cpu;
mod floors;
pub mod gpu;
pub mod kernels;
mod lines;
pub mod mock;
pub mod oracle;
pub mod plan;
pub mod work;

pub use floors::Floors;
pub use lines::{Key, Lines, Settled};
pub use work::*;
