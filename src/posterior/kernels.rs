//! Host side of the kernels `posterior_forward` and `posterior_backward`: constants, layouts and
//! lists of tasks.

pub mod layout;
pub mod program;
mod samples;
pub mod tasks;

pub use self::samples::samples;
