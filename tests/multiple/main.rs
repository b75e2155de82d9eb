//! Tests of multiple alignment: its kernels, and large sets.

mod clustal;
mod large;
mod profile;
