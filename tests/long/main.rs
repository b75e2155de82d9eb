//! Tests of long pairs, on every engine and on several engines at once.

mod cpu;
mod gpu;
mod job;
mod memory;
mod records;
mod top;
mod trace;
