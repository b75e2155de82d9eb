//! Clusters of similar sequences: sets of identical sequences, methods that cluster the graph of
//! similar pairs, and the check of their guarantees.
//!
//! [`UniqueSet`] groups identical sequences and orders the groups by abundance, length and
//! symbols. All methods work on indices in this order, so a result does not depend on the order of
//! the input. [`SimilarPair`] is an edge of the graph: a pair that reaches the threshold. A pair
//! without an edge is below it. [`ClusterMethod::cluster`] turns the graph into a [`Clustering`].

pub mod annotations;
mod different;
mod greedy;
mod linkage;
mod result;
mod single;
#[cfg(test)]
mod tests;
mod unique;
mod violations;

pub use different::{DifferentSequence, IdenticalRead};
pub use greedy::{GreedyCentroids, NearestCentroid};
pub use result::{ClusterMember, ClusterSet, SequenceCluster};
pub use single::SingleLinkage;
pub use unique::{UniqueRecord, UniqueSet};
pub use violations::Violation;

use crate::seq::Strand;

/// Index of a set of identical sequences in its [`UniqueSet`].
pub type UniqueId = u32;

/// Two different sequences whose identity reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    /// The sequence that comes first in the order of the [`UniqueSet`].
    pub earlier: UniqueId,
    /// The other sequence.
    pub later: UniqueId,
    /// Identity as a fraction.
    pub identity: f64,
    /// Score of the alignment.
    pub score: i64,
    /// The strand of one sequence that aligns with the plus strand of the other.
    pub strand: Strand,
}

/// The rule that assigns sequences to clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ClusterMethod {
    /// Greedy clustering around centroids. In the order of abundance, a sequence becomes a centroid
    /// if no earlier centroid reaches the threshold with it. Every other sequence joins the most
    /// similar of all centroids.
    #[default]
    Greedy,
    /// Single linkage: connected components of the graph.
    Single,
    /// Complete linkage: all pairs in a cluster reach the threshold.
    Complete,
    /// Average linkage (UPGMA): the mean identity of all pairs of two merged clusters reaches the
    /// threshold. A sequence counts as often as its abundance. A pair below the threshold counts as
    /// identity 0, so the true mean is at least the computed mean.
    Average,
}

impl ClusterMethod {
    /// Clusters sequences by their similar pairs, in any order. `sizes` has the abundance of each
    /// sequence.
    pub fn cluster(self, sizes: &[u64], pairs: &[SimilarPair], threshold: f64) -> Clustering {
        match self {
            ClusterMethod::Greedy => greedy::cluster(sizes.len(), pairs),
            ClusterMethod::Single => {
                let mut components = SingleLinkage::new(sizes.len());
                pairs.iter().for_each(|pair| components.join(pair.earlier, pair.later));
                components.finish()
            }
            ClusterMethod::Complete => linkage::complete(sizes.len(), pairs),
            ClusterMethod::Average => linkage::average(sizes, pairs, threshold),
        }
    }
}

/// A partition of the sequences of a [`UniqueSet`] into clusters. The earliest sequence of a
/// cluster is its representative, the centroid of greedy clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clustering {
    /// The representative of each sequence; a representative has its own index.
    pub representatives: Vec<UniqueId>,
}

impl Clustering {
    /// Returns the clusters in the order of their representatives. The members of each cluster are
    /// in order, so the representative comes first.
    pub fn clusters(&self) -> Vec<Vec<UniqueId>> {
        let mut numbers = vec![0; self.representatives.len()];
        let mut clusters: Vec<Vec<UniqueId>> = Vec::new();
        for (index, &representative) in self.representatives.iter().enumerate() {
            if representative as usize == index {
                numbers[index] = clusters.len();
                clusters.push(Vec::new());
            }
        }
        for (index, &representative) in self.representatives.iter().enumerate() {
            clusters[numbers[representative as usize]].push(index as UniqueId);
        }
        // A greedy cluster can have members before its centroid: they are then more similar to it
        // than to the centroid that kept them from becoming centroids.
        for members in &mut clusters {
            members.sort_by_key(|&member| (!self.is_representative(member), member));
        }
        clusters
    }

    /// Returns whether a sequence represents its cluster.
    pub fn is_representative(&self, sequence: UniqueId) -> bool {
        self.representatives[sequence as usize] == sequence
    }
}
