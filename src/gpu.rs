//! Adapters, devices, memory, pipelines and copies: what every kernel's host half needs of wgpu.

pub mod adapter;
mod bindings;
pub mod choosing;
pub mod device;
pub mod engine;
#[cfg(test)]
mod example;
mod heap;
pub mod kernel_set;
pub mod kernels;
pub mod launch;
pub mod memory;
pub(crate) mod pipeline;
pub(crate) mod readback;
pub mod resident;
pub(crate) mod shortage;
pub mod source;
pub(crate) mod timer;

/// Seconds of work that a batch should be: long enough to hide its ends, short enough for desktop watchdogs.
pub(crate) const BATCH_SECONDS: f64 = 0.7;
