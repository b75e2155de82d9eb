//! Scores of reads against vectors of states on the CPU: lanes are vectors of states, mostly of one read; nucleotide reads
//! with few vectors each share lanes.
//!
//! Cells are held so that extending a gap costs nothing, and relative to a cell nearby (`costs`), so that 8 bits suffice
//! for a read of any length. A block of sites is taken at a time: what every symbol of the read scores at each of its
//! sites is found once (`sites`), then a stripe of the read's symbols after the other passes it in registers (`kernel`).
//! Between blocks a column of cells is kept for every symbol, between stripes a row of the block.

mod compute;
mod costs;
mod group;
mod kernel;
mod sites;
mod worker;

pub use compute::{Workspace, run};
pub use worker::{PhyloWorker, phylo_workers};
