//! Greedy clusters around centroids.

use super::{Clustering, SimilarPair, UniqueId};
use crate::seq::Strand;

/// The most similar centroid of a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestCentroid {
    /// The centroid.
    pub centroid: UniqueId,
    /// Identity with the centroid as a fraction.
    pub identity: f64,
    /// Score of the alignment with the centroid.
    pub score: i64,
    /// The strand of the sequence that aligns with the plus strand of the centroid.
    pub strand: Strand,
}

impl NearestCentroid {
    /// Returns the centroid of a pair.
    pub fn new(centroid: UniqueId, pair: &SimilarPair) -> Self {
        NearestCentroid { centroid, identity: pair.identity, score: pair.score, strand: pair.strand }
    }

    /// Returns whether this centroid precedes another: by identity, then by score, then by its
    /// order.
    fn precedes(&self, other: &Self) -> bool {
        let order = other.identity.total_cmp(&self.identity).then(other.score.cmp(&self.score));
        order.then(self.centroid.cmp(&other.centroid)).is_lt()
    }
}

/// Centroids that are selected batch by batch, and the most similar centroid of every other
/// sequence.
///
/// Sequences are decided in order ([`GreedyCentroids::decide`]). A pair of two sequences must be
/// added ([`GreedyCentroids::add`]) before the later one is decided if the earlier one is a
/// centroid. A pair of a sequence and a later centroid may be added at any time.
#[derive(Debug, Clone)]
pub struct GreedyCentroids {
    best: Vec<Option<NearestCentroid>>,
    is_centroid: Vec<bool>,
    decided: usize,
}

impl GreedyCentroids {
    /// Creates a selection among `sequences` sequences.
    pub fn new(sequences: usize) -> Self {
        GreedyCentroids { best: vec![None; sequences], is_centroid: vec![false; sequences], decided: 0 }
    }

    /// Returns whether a sequence was decided to be a centroid.
    pub fn is_centroid(&self, sequence: UniqueId) -> bool {
        self.is_centroid[sequence as usize]
    }

    /// Returns whether an added pair assigns a sequence to a centroid.
    pub fn is_assigned(&self, sequence: UniqueId) -> bool {
        self.best[sequence as usize].is_some()
    }

    /// Takes a pair of a sequence and a centroid into account.
    pub fn add(&mut self, member: UniqueId, offered: NearestCentroid) {
        let best = &mut self.best[member as usize];
        if best.is_none_or(|best| offered.precedes(&best)) {
            *best = Some(offered);
        }
    }

    /// Decides the sequences up to `end`. `pairs` are all similar pairs of two undecided sequences
    /// before `end` that no centroid has been assigned to, ordered by the later sequence.
    pub fn decide(&mut self, end: usize, pairs: &[SimilarPair]) {
        debug_assert!(pairs.is_sorted_by_key(|pair| pair.later));
        let mut pairs = pairs.iter().peekable();
        for sequence in self.decided..end {
            while let Some(pair) = pairs.next_if(|pair| pair.later as usize == sequence) {
                if self.is_centroid(pair.earlier) {
                    self.add(pair.later, NearestCentroid::new(pair.earlier, pair));
                }
            }
            self.is_centroid[sequence] = self.best[sequence].is_none();
        }
        self.decided = end;
    }

    /// Returns the most similar centroid of a sequence that is not a centroid.
    pub fn nearest_centroid(&self, sequence: UniqueId) -> Option<NearestCentroid> {
        self.best[sequence as usize].filter(|_| !self.is_centroid(sequence))
    }

    /// Returns the clusters.
    pub fn finish(&self) -> Clustering {
        let all = 0..self.best.len() as UniqueId;
        let centroid = |sequence| self.nearest_centroid(sequence).map_or(sequence, |nearest| nearest.centroid);
        Clustering { representatives: all.map(centroid).collect() }
    }
}

/// Clusters sequences whose similar pairs are all known.
pub(super) fn cluster(sequences: usize, pairs: &[SimilarPair]) -> Clustering {
    let mut ordered = pairs.to_vec();
    ordered.sort_unstable_by_key(|pair| (pair.later, pair.earlier));
    let mut centroids = GreedyCentroids::new(sequences);
    centroids.decide(sequences, &ordered);
    for pair in &ordered {
        if centroids.is_centroid(pair.later) && !centroids.is_centroid(pair.earlier) {
            centroids.add(pair.earlier, NearestCentroid::new(pair.later, pair));
        }
    }
    centroids.finish()
}
