//! Reads placed on a tree, by every engine.

mod cpu;
mod job;
mod kernels;
mod output;
mod reference;
mod spool;
mod trace;
