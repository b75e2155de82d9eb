//! Complete and average linkage on a sparse graph.
//!
//! The two clusters with the greatest linkage are merged until none reaches the threshold. A heap
//! has the linkages of neighbouring clusters. Entries of clusters that have changed since are
//! skipped. Equal linkages are merged in the order of the clusters' earliest sequences, so the
//! result does not depend on the order of the pairs.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use super::{Clustering, SimilarPair, SingleLinkage, UniqueId};

/// Averages that are smaller than the threshold by at most this relative difference reach it. An
/// average is a sum of rounded products.
const ROUNDING: f64 = 1e-12;

/// The pairs of two clusters that reach the threshold.
#[derive(Debug, Clone, Copy)]
struct CrossPairs {
    /// Number of pairs.
    count: u64,
    /// Least identity of the pairs.
    least: f64,
    /// Sum of the identities, weighted by the abundances of both sequences.
    sum: f64,
}

impl CrossPairs {
    fn with(self, other: CrossPairs) -> CrossPairs {
        CrossPairs { count: self.count + other.count, least: self.least.min(other.least), sum: self.sum + other.sum }
    }
}

/// A cluster during the merges. Its index is its earliest sequence.
#[derive(Debug, Clone, Default)]
struct LinkedCluster {
    members: u64,
    /// Sum of the abundances of the members.
    weight: f64,
    /// Number of merges of this cluster.
    version: u32,
    neighbours: HashMap<UniqueId, CrossPairs>,
}

/// A possible merge.
#[derive(Debug, Clone, Copy)]
struct PossibleMerge {
    linkage: f64,
    earlier: UniqueId,
    later: UniqueId,
    versions: [u32; 2],
}

impl Ord for PossibleMerge {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |merge: &PossibleMerge| (merge.earlier, merge.later, merge.versions);
        self.linkage.total_cmp(&other.linkage).then(place(other).cmp(&place(self)))
    }
}

impl PartialOrd for PossibleMerge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PossibleMerge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PossibleMerge {}

/// Returns clusters whose pairs are all similar. Every pair in `pairs` reaches the threshold, so the
/// threshold itself is not needed.
pub(super) fn complete(sequences: usize, pairs: &[SimilarPair]) -> Clustering {
    let linkage = |a: &LinkedCluster, b: &LinkedCluster, cross: &CrossPairs| {
        (cross.count == a.members * b.members).then_some(cross.least)
    };
    Agglomeration::new(&vec![1; sequences], pairs, linkage).run()
}

/// Clusters whose merges have a mean identity of at least `threshold`.
pub(super) fn average(sizes: &[u64], pairs: &[SimilarPair], threshold: f64) -> Clustering {
    let linkage = |a: &LinkedCluster, b: &LinkedCluster, cross: &CrossPairs| {
        let mean = cross.sum / (a.weight * b.weight);
        (mean >= threshold * (1.0 - ROUNDING)).then_some(mean)
    };
    Agglomeration::new(sizes, pairs, linkage).run()
}

/// Clusters that are merged step by step. `L` returns the linkage of two clusters, or `None` if
/// they must not be merged now.
struct Agglomeration<L> {
    clusters: Vec<LinkedCluster>,
    merges: BinaryHeap<PossibleMerge>,
    linkage: L,
}

impl<L: Fn(&LinkedCluster, &LinkedCluster, &CrossPairs) -> Option<f64>> Agglomeration<L> {
    fn new(sizes: &[u64], pairs: &[SimilarPair], linkage: L) -> Self {
        let single = |&size: &u64| LinkedCluster { members: 1, weight: size as f64, ..LinkedCluster::default() };
        let mut clusters: Vec<LinkedCluster> = sizes.iter().map(single).collect();
        for pair in pairs {
            let (a, b) = (pair.earlier, pair.later);
            let sum = pair.identity * clusters[a as usize].weight * clusters[b as usize].weight;
            let cross = CrossPairs { count: 1, least: pair.identity, sum };
            clusters[a as usize].neighbours.insert(b, cross);
            clusters[b as usize].neighbours.insert(a, cross);
        }
        let mut linked = Agglomeration { clusters, merges: BinaryHeap::new(), linkage };
        pairs.iter().for_each(|pair| linked.propose(pair.earlier, pair.later));
        linked
    }

    /// Adds the merge of two neighbours to the heap if it is possible now.
    fn propose(&mut self, a: UniqueId, b: UniqueId) {
        let (earlier, later) = (a.min(b), a.max(b));
        let [one, other] = [earlier, later].map(|cluster| &self.clusters[cluster as usize]);
        let Some(linkage) = (self.linkage)(one, other, &one.neighbours[&later]) else { return };
        self.merges.push(PossibleMerge { linkage, earlier, later, versions: [one.version, other.version] });
    }

    fn run(mut self) -> Clustering {
        let mut joined = SingleLinkage::new(self.clusters.len());
        while let Some(PossibleMerge { earlier, later, versions, .. }) = self.merges.pop() {
            if [earlier, later].map(|cluster| self.clusters[cluster as usize].version) == versions {
                joined.join(earlier, later);
                self.merge(earlier, later);
            }
        }
        joined.finish()
    }

    fn merge(&mut self, earlier: UniqueId, later: UniqueId) {
        let merged = std::mem::take(&mut self.clusters[later as usize]);
        // No entry of the heap has this version.
        self.clusters[later as usize].version = u32::MAX;
        for (&neighbour, &cross) in merged.neighbours.iter().filter(|(neighbour, _)| **neighbour != earlier) {
            let neighbours = &mut self.clusters[neighbour as usize].neighbours;
            neighbours.remove(&later);
            let both = neighbours.get(&earlier).map_or(cross, |first| first.with(cross));
            neighbours.insert(earlier, both);
            self.clusters[earlier as usize].neighbours.insert(neighbour, both);
        }
        let cluster = &mut self.clusters[earlier as usize];
        cluster.neighbours.remove(&later);
        cluster.members += merged.members;
        cluster.weight += merged.weight;
        cluster.version += 1;
        let neighbours: Vec<UniqueId> = cluster.neighbours.keys().copied().collect();
        neighbours.into_iter().for_each(|neighbour| self.propose(earlier, neighbour));
    }
}
