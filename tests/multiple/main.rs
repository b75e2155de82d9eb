//! Kernels of multiple alignment.

mod clustal;
mod profile;
