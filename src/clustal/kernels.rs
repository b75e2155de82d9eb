//! Host side of `sw_ends` and `nw_forward_reverse`: constants, layouts and task lists.

pub mod layout;
pub mod program;
mod samples;
pub mod tasks;

pub use self::samples::samples;
