//! Jobs in blocks: any cut, in any order, on whatever engines, gives the rows of the whole job; and engines that outlive a run.

mod distances;
mod edits;
mod engines;
mod listed;
mod long;
mod pairs;
mod reads;
mod searches;
