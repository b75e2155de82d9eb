//! Scores of reads against the ancestral states of a tree's edges (PaPaRa: Berger and Stamatakis
//! 2011; Alachiotis, Berger and Stamatakis 2013).

pub mod cpu;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;
pub mod reference;
pub mod search;
pub mod states;
pub mod trace;
pub mod tree;
pub mod vectors;
pub mod work;

pub use reference::Reference;
pub use states::{GapModel, edge_vectors};
pub use trace::{ReadAligner, ReadAlignment};
pub use tree::{Edge, NodeId, ReferenceTree};
pub use vectors::{OCTET, Site, Vectors};
pub use work::*;
