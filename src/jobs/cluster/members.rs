//! Identities, strands and alignments of members with their centroids.

use std::collections::HashMap;
use std::sync::Arc;

use super::Clusters;
use crate::alignment::{Cigar, Op};
use crate::cluster::{ClusterMember, ClusterSet, Clustering, SequenceCluster, SimilarPair, UniqueId};
use crate::error::Result;
use crate::jobs::{Job, PairList, PairResult, PairSource, Run, Summary};
use crate::seq::{Strand, Strands};

impl Clusters {
    /// Returns clusters with their members. `known` has similar pairs. Pairs of members and
    /// representatives that it lacks are aligned, and all of them if alignments are requested.
    pub(super) fn described(
        &self,
        threshold: f64,
        clustering: &Clustering,
        known: &[SimilarPair],
        run: &Run,
        summary: &mut Summary,
    ) -> Result<ClusterSet> {
        let mut described: HashMap<UniqueId, ClusterMember> = HashMap::new();
        for pair in known {
            for (member, centroid) in [(pair.later, pair.earlier), (pair.earlier, pair.later)] {
                if clustering.representatives[member as usize] == centroid {
                    let (identity, strand) = (pair.identity, pair.strand);
                    described.insert(member, ClusterMember { sequence: member, identity, strand, cigar: None });
                }
            }
        }
        let members = (0..self.unique.len() as UniqueId).filter(|&sequence| !clustering.is_representative(sequence));
        let (near, far): (Vec<_>, Vec<_>) = members.partition(|member| described.contains_key(member));
        let mut unaligned = vec![(self.strand, far)];
        if self.with_alignments {
            // The better-scoring strand of a pair is not always the one that reaches the threshold.
            let (plus, minus) = near.into_iter().partition(|member| described[member].strand == Strand::Plus);
            unaligned.extend([(Strands::Plus, plus), (Strands::Minus, minus)]);
        }
        for (strand, members) in unaligned {
            for member in self.align_with_centroids(&members, strand, clustering, run, summary)? {
                described.insert(member.sequence, member);
            }
        }
        let size = |member: &UniqueId| self.unique.sizes[*member as usize];
        let clusters = clustering.clusters().into_iter().map(|sequences| SequenceCluster {
            centroid: sequences[0],
            size: sequences.iter().map(size).fold(0, u64::saturating_add),
            members: sequences[1..].iter().filter_map(|member| described.remove(member)).collect(),
        });
        Ok(ClusterSet { threshold, clusters: clusters.collect() })
    }

    /// Aligns a strand of members with their centroids.
    fn align_with_centroids(
        &self,
        members: &[UniqueId],
        strand: Strands,
        clustering: &Clustering,
        run: &Run,
        summary: &mut Summary,
    ) -> Result<Vec<ClusterMember>> {
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let pair = |&member: &UniqueId| {
            let centroid = clustering.representatives[member as usize];
            (member.min(centroid), member.max(centroid))
        };
        let store = &self.unique.store;
        let (queries, targets) = (Arc::clone(store), Arc::clone(store));
        let source = PairSource::Listed { queries, targets, pairs: members.iter().map(pair).collect() };
        let job = PairList {
            strand,
            definition: self.definition,
            check: self.check,
            ..PairList::new(source, Arc::clone(&self.scoring))
        };
        let mut described = Vec::with_capacity(members.len());
        let aligned = job.run(run, |rows| {
            for row in rows {
                let sequence = members[row.number as usize];
                let PairResult { query, strand, identity, ref alignment, .. } = row.result;
                let cigar = alignment.as_ref().filter(|_| self.with_alignments);
                let cigar = cigar.map(|alignment| seen_from_member(&alignment.cigar, query == sequence, strand));
                described.push(ClusterMember { sequence, identity, strand, cigar });
            }
            Ok(())
        })?;
        summary.add(aligned);
        Ok(described)
    }
}

/// Returns an alignment with the member as the query. On the minus strand, it is the reverse
/// complement of the member that is aligned.
fn seen_from_member(cigar: &Cigar, is_query: bool, strand: Strand) -> Cigar {
    if is_query {
        return cigar.clone();
    }
    let mut seen = Cigar::with_capacity(cigar.len());
    for (length, op) in cigar.iter() {
        let op = match op {
            Op::Insertion => Op::Deletion,
            Op::Deletion => Op::Insertion,
            op => op,
        };
        seen.push(length, op);
    }
    if strand == Strand::Minus {
        seen.reverse();
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignments_are_turned_towards_the_member() {
        let seen = |is_query, strand| seen_from_member(&"3=2I1X1D".parse().unwrap(), is_query, strand).to_string();
        assert_eq!(seen(true, Strand::Minus), "3=2I1X1D");
        assert_eq!(seen(false, Strand::Plus), "3=2D1X1I");
        assert_eq!(seen(false, Strand::Minus), "1I1X2D3=");
    }
}
