//! Host halves of `papara_block` and `papara_block_half`: constants, layouts and lists of tasks.

pub mod block;
mod samples;

pub use self::samples::samples;
