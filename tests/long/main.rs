//! One long pair, by every engine and by several.

mod cpu;
mod gpu;
mod job;
mod memory;
mod top;
mod trace;
