//! Adapters, devices, memory, pipelines and copies: everything on the host that kernels need from
//! wgpu.

pub mod adapter;
mod bindings;
pub mod choosing;
mod description;
pub mod device;
pub mod engine;
#[cfg(test)]
pub(crate) mod example;
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

/// Target duration of a batch in seconds: long enough to hide its overhead, short enough for
/// desktop watchdogs.
pub(crate) const BATCH_SECONDS: f64 = 0.7;
