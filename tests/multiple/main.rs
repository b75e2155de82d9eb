//! Tests of the kernels of multiple alignment.

mod clustal;
mod profile;
