//! Host side of `myers_*`: constants, layouts and task lists.

pub mod myers;
mod samples;

pub use self::samples::samples;
