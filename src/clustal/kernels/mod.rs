//! Host halves of `sw_ends`, `sw_identities` and `nw_forward_reverse`: constants, layouts and lists of tasks.

pub mod layout;
pub mod program;
mod samples;
pub mod tasks;

pub use self::samples::samples;
