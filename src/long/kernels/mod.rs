//! Kernels of one long pair: the host halves of `sw_striped_*`.

pub mod striped;
pub mod striped_trace;
