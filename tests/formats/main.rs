//! What is read and written.

mod input;
mod lines;
mod output;
