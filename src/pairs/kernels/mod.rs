//! Host halves of `nw_*`: constants, layouts and lists of tasks.
//!
//! `nw_slice` keeps scores only; the kernels that can store directions share [`matrix`], and the walk back, `nw_walk`.

pub mod layout;
pub mod matrix;
pub mod nw_slice;
mod samples;

pub use self::samples::samples;
