//! Levenshtein distances, by every engine.

mod cpu;
mod filter;
mod job;
mod kernels;
