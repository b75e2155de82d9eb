//! Readers and writers of every format.

mod input;
mod lines;
mod output;
