//! Tests of read placement on a tree, on every engine.

mod cpu;
mod job;
mod kernels;
mod output;
mod reference;
mod spool;
mod trace;
