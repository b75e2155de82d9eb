//! Reads against the ancestral states of a tree's edges (PaPaRa: Berger and Stamatakis 2011; Alachiotis, Berger and Stamatakis
//! 2013).

pub mod gpu;
pub mod kernels;
pub mod oracle;
pub mod vectors;
pub mod work;

pub use vectors::{OCTET, Site, Vectors};
pub use work::*;
