//! Host halves of `myers_*`: constants, layouts and lists of tasks.

pub mod myers;
mod samples;

pub use self::samples::samples;
