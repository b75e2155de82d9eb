//! Tests of one long pair, on every engine and on several engines at once.

mod cpu;
mod gpu;
mod job;
mod memory;
mod top;
mod trace;
