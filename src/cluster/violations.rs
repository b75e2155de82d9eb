//! The check of clusters against the guarantee of their method.

use std::collections::HashSet;
use std::fmt;

use super::{ClusterMethod, Clustering, SimilarPair, SingleLinkage, UniqueId};

/// A guarantee that clusters break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// Two centroids reach the threshold.
    SimilarCentroids(UniqueId, UniqueId),
    /// A member does not reach the threshold with its centroid.
    FarMember(UniqueId),
    /// A member is more similar to another centroid.
    CloserCentroid(UniqueId),
    /// Two sequences in one cluster do not reach the threshold.
    FarPair(UniqueId, UniqueId),
    /// Two sequences that reach the threshold are in different clusters.
    SeparatedPair(UniqueId, UniqueId),
    /// A cluster is not connected by similar pairs.
    Unconnected(UniqueId),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::SimilarCentroids(a, b) => write!(f, "the centroids {a} and {b} reach the threshold"),
            Violation::FarMember(member) => write!(f, "member {member} is below the threshold with its centroid"),
            Violation::CloserCentroid(member) => write!(f, "member {member} is more similar to another centroid"),
            Violation::FarPair(a, b) => write!(f, "{a} and {b} share a cluster but are below the threshold"),
            Violation::SeparatedPair(a, b) => {
                write!(f, "{a} and {b} reach the threshold but are in different clusters")
            }
            Violation::Unconnected(member) => write!(f, "no similar pairs connect {member} with its cluster"),
        }
    }
}

impl Clustering {
    /// Returns a violation of the method's guarantee, if there is one. `pairs` are all similar
    /// pairs, in any order.
    ///
    /// For average linkage, only the connection of clusters is checked.
    pub fn violation(&self, method: ClusterMethod, pairs: &[SimilarPair]) -> Option<Violation> {
        match method {
            ClusterMethod::Greedy => self.violation_of_greedy(pairs),
            ClusterMethod::Single => {
                let is_separated = |pair: &&SimilarPair| self.cluster(pair.earlier) != self.cluster(pair.later);
                let separated = pairs.iter().find(is_separated);
                separated
                    .map(|pair| Violation::SeparatedPair(pair.earlier, pair.later))
                    .or_else(|| self.unconnected(pairs))
            }
            ClusterMethod::Complete => {
                let all: HashSet<(UniqueId, UniqueId)> = pairs.iter().map(|pair| (pair.earlier, pair.later)).collect();
                self.clusters().iter().find_map(|members| {
                    let pairs = members.iter().flat_map(|&a| members.iter().map(move |&b| (a, b)));
                    pairs.filter(|(a, b)| a < b).find(|pair| !all.contains(pair)).map(|(a, b)| Violation::FarPair(a, b))
                })
            }
            ClusterMethod::Average => self.unconnected(pairs),
        }
    }

    fn cluster(&self, sequence: UniqueId) -> UniqueId {
        self.representatives[sequence as usize]
    }

    fn violation_of_greedy(&self, pairs: &[SimilarPair]) -> Option<Violation> {
        let mut joined: Vec<Option<f64>> = vec![None; self.representatives.len()];
        let mut best: Vec<f64> = vec![0.0; self.representatives.len()];
        for pair in pairs {
            match [pair.earlier, pair.later].map(|sequence| self.is_representative(sequence)) {
                [true, true] => return Some(Violation::SimilarCentroids(pair.earlier, pair.later)),
                [false, false] => continue,
                [is_earlier, _] => {
                    let (centroid, member) =
                        if is_earlier { (pair.earlier, pair.later) } else { (pair.later, pair.earlier) };
                    best[member as usize] = best[member as usize].max(pair.identity);
                    if self.cluster(member) == centroid {
                        joined[member as usize] = Some(pair.identity);
                    }
                }
            }
        }
        (0..self.representatives.len()).filter(|&member| !self.is_representative(member as UniqueId)).find_map(
            |member| match joined[member] {
                None => Some(Violation::FarMember(member as UniqueId)),
                Some(identity) if identity < best[member] => Some(Violation::CloserCentroid(member as UniqueId)),
                Some(_) => None,
            },
        )
    }

    fn unconnected(&self, pairs: &[SimilarPair]) -> Option<Violation> {
        let mut components = SingleLinkage::new(self.representatives.len());
        let inside = pairs.iter().filter(|pair| self.cluster(pair.earlier) == self.cluster(pair.later));
        inside.for_each(|pair| components.join(pair.earlier, pair.later));
        let components = components.finish();
        let is_unconnected = |&member: &UniqueId| components.cluster(member) != self.cluster(member);
        (0..self.representatives.len() as UniqueId).find(is_unconnected).map(Violation::Unconnected)
    }
}
