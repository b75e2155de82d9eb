//! Single linkage: the connected components of the graph of similar pairs.

use super::{Clustering, UniqueId};

/// Connected components that grow pair by pair, so that pairs need not be kept. The components are
/// a disjoint-set forest (Tarjan 1975) with path halving. The root of a tree is its earliest
/// sequence.
#[derive(Debug, Clone)]
pub struct SingleLinkage {
    parents: Vec<UniqueId>,
}

impl SingleLinkage {
    /// Creates a component for each of `sequences` sequences.
    pub fn new(sequences: usize) -> Self {
        SingleLinkage { parents: (0..sequences as UniqueId).collect() }
    }

    fn root(&mut self, mut sequence: UniqueId) -> UniqueId {
        while self.parents[sequence as usize] != sequence {
            let parent = self.parents[sequence as usize];
            self.parents[sequence as usize] = self.parents[parent as usize];
            sequence = self.parents[sequence as usize];
        }
        sequence
    }

    /// Joins the components of two sequences.
    pub fn join(&mut self, a: UniqueId, b: UniqueId) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Returns the components.
    pub fn finish(mut self) -> Clustering {
        let representatives = (0..self.parents.len() as UniqueId).map(|sequence| self.root(sequence)).collect();
        Clustering { representatives }
    }
}
