//! Tests of jobs in blocks. Every division into blocks must give the rows of the whole job, in any
//! order and on any engines. Also tests engines that stay open for several runs.

mod distances;
mod edits;
mod engines;
mod listed;
mod long;
mod pairs;
mod reads;
mod searches;
