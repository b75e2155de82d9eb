//! Scores and alignments of pairs, by every engine.

mod bound;
mod cluster;
mod coverage;
mod cpu;
mod job;
mod kernels;
mod local;
mod matrices;
mod plan;
mod printed;
mod slice_half;
mod strands;
mod trace;
