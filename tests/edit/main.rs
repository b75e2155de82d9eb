//! Levenshtein distances on every engine.

mod cpu;
mod filter;
mod indexed;
mod job;
mod kernels;
mod parts;
mod places;
mod tiles;
