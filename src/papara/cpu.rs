//! Scores reads against vectors of states on the CPU. Each lane computes one vector of states.
//! Usually all lanes have the same read. If each nucleotide read has only a few vectors, several
//! reads share the lanes.
//!
//! Cells are stored relative to a nearby cell, in a form where extending a gap costs nothing
//! (`costs`). Therefore 8 bits suffice for a read of any length.
//!
//! The sweep processes one block of sites at a time. It first computes the score of each symbol of
//! the read at each site of the block (`sites`). Then it processes the read in stripes of symbols
//! that stay in registers (`kernel`). Between blocks it stores one cell per symbol. Between stripes
//! it stores one cell per site of the block.

mod compute;
mod costs;
mod group;
mod kernel;
mod sites;
mod worker;

pub use compute::{PhyloWorkspace, run};
pub use worker::{PhyloWorker, phylo_workers};
