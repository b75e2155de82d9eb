//! Host side of the kernels `profile_tile` and `profile_cross`: constants, layouts and packed
//! profiles.

pub mod layout;
pub mod program;
mod samples;
pub mod tasks;

pub use self::samples::samples;
