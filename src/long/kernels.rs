//! Constants and buffer layouts of the kernels `sw_striped_*`.

mod samples;
pub mod striped;
pub mod striped_trace;

pub use self::samples::samples;
