//! Host side of `papara_block` and `papara_block_half`: constants, layouts and task lists.

pub mod block;
mod samples;

pub use self::samples::samples;
