//! Places sequencing reads on the edges of a reference tree (PaPaRa: Berger and Stamatakis 2011;
//! Alachiotis, Berger and Stamatakis 2013). Each edge has a vector of ancestral states, which
//! contains a set of characters and two flags per site. A site is an informative column of the
//! reference alignment. Engines score a read against an octet, a group of eight vectors.

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
