//! Scores of reads against vectors of states on the CPU. Each lane holds one vector of states.
//! Usually all lanes share one read; nucleotide reads with few vectors each share the lanes.
//!
//! Cells are stored so that extending a gap costs nothing, and relative to a nearby cell (`costs`).
//! Therefore 8 bits suffice for a read of any length.
//!
//! The sweep processes one block of sites at a time. It first computes the score of each symbol of
//! the read at each site of the block (`sites`). Then it processes the read in stripes of symbols
//! that stay in registers (`kernel`). Between blocks it stores a column of cells with one entry per
//! symbol. Between stripes it stores a row of the block.

mod compute;
mod costs;
mod group;
mod kernel;
mod sites;
mod worker;

pub use compute::{PhyloWorkspace, run};
pub use worker::{PhyloWorker, phylo_workers};
