//! Readers and writers of every format.

mod genomes;
mod input;
mod lines;
mod output;
