//! Limits of memory. The tests count allocations, so that one runs at a time.

mod counting;
mod edit;
mod makedb;
mod posterior;
