//! Memory that jobs take. What is allocated is counted, so that one test runs at a time.

mod counting;
mod edit;
mod makedb;
mod posterior;
