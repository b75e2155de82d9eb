//! Memory limits. The tests count allocations, so that only one runs at a time.

mod counting;
mod derep;
mod edit;
mod makedb;
mod posterior;
