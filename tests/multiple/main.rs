//! Tests of multiple alignment: its kernels, and large sets.

mod clustal;
mod devices;
mod large;
mod order;
mod profile;
