//! Tests of jobs in blocks: every division into blocks gives the rows of the whole job, in any
//! order and on any engines. Also tests engines that outlive a run.

mod distances;
mod edits;
mod engines;
mod listed;
mod long;
mod pairs;
mod reads;
mod searches;
