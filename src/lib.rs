//! # pairwave
//!
//! Exact pairwise sequence alignment on any GPU through wgpu compute shaders, on CPUs, and on both at once.

pub mod engine;
pub mod error;
pub mod jobs;
pub mod kernels;
pub mod output;
pub mod plan;
pub mod reference;
pub mod score;
pub mod seq;
pub mod trace;

pub use error::{Error, Place, Result};
