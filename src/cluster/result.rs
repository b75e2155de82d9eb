//! Clusters with their members, as outputs need them.

use super::UniqueId;
use crate::alignment::Cigar;
use crate::seq::Strand;

/// The clusters of an input at one threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSet {
    /// Minimum identity as a fraction.
    pub threshold: f64,
    /// The clusters in the order of their centroids.
    pub clusters: Vec<SequenceCluster>,
}

/// A cluster with its centroid, or the representative of a cluster without one.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceCluster {
    /// The centroid. Identical sequences are one sequence here.
    pub centroid: UniqueId,
    /// Abundance of all sequences in the cluster.
    pub size: u64,
    /// The other sequences, ordered by abundance, length and symbols.
    pub members: Vec<ClusterMember>,
}

/// A sequence in a cluster that is not its centroid.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterMember {
    /// The sequence.
    pub sequence: UniqueId,
    /// Identity with the centroid as a fraction.
    pub identity: f64,
    /// The strand of the sequence that aligns with the plus strand of the centroid.
    pub strand: Strand,
    /// Alignment of the sequence (the query) with the centroid (the target), if it was requested.
    /// On the minus strand, the query is the reverse complement.
    pub cigar: Option<Cigar>,
}
