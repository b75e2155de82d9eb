//! Host halves of `sw_striped_*`: constants and layouts.

mod samples;
pub mod striped;
pub mod striped_trace;

pub use self::samples::samples;
