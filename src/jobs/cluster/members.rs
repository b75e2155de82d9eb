//! Identities, strands and alignments of members with their centroids.

use std::collections::HashMap;
use std::sync::Arc;

use super::Clusters;
use crate::alignment::{Cigar, Op};
use crate::cluster::{ClusterMember, ClusterSet, Clustering, SequenceCluster, SimilarPair, UniqueId};
use crate::error::Result;
use crate::jobs::{Job, PairList, PairResult, PairSource, Run, Summary};
use crate::score::IdentityFilter;
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
        let (mut on_plus, mut on_minus) = (Vec::new(), Vec::new());
        if self.with_alignments {
            // The strand of a known pair is decided.
            (on_plus, on_minus) = near.into_iter().partition(|member| described[member].strand == Strand::Plus);
        }
        on_plus.extend(&far);
        if self.strand == Strands::Both {
            on_minus.extend(far);
        }
        let mut aligned: HashMap<UniqueId, MemberStrand> = HashMap::new();
        for (strand, members) in [(Strands::Plus, on_plus), (Strands::Minus, on_minus)] {
            for member in self.align_with_centroids(&members, strand, threshold, clustering, run, summary)? {
                let known = aligned.get(&member.member.sequence);
                if known.is_none_or(|known| member.precedes(known)) {
                    aligned.insert(member.member.sequence, member);
                }
            }
        }
        described.extend(aligned.into_iter().map(|(sequence, aligned)| (sequence, aligned.member)));
        let size = |member: &UniqueId| self.unique.sizes[*member as usize];
        let clusters = clustering.clusters().into_iter().map(|sequences| SequenceCluster {
            centroid: sequences[0],
            size: sequences.iter().map(size).fold(0, u64::saturating_add),
            members: sequences[1..].iter().filter_map(|member| described.remove(member)).collect(),
        });
        Ok(ClusterSet { threshold, clusters: clusters.collect() })
    }

    /// Aligns one strand of members with their centroids.
    fn align_with_centroids(
        &self,
        members: &[UniqueId],
        strand: Strands,
        threshold: f64,
        clustering: &Clustering,
        run: &Run,
        summary: &mut Summary,
    ) -> Result<Vec<MemberStrand>> {
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
        let filter = self.filter(threshold);
        let mut strands = Vec::with_capacity(members.len());
        let aligned = job.run(run, |rows| {
            for row in rows {
                let sequence = members[row.number as usize];
                let PairResult { query, strand, identity, score, ref alignment, .. } = row.result;
                let is_similar = self.is_similar(&row.result, &filter);
                let cigar = alignment.as_ref().filter(|_| self.with_alignments);
                let cigar = cigar.map(|alignment| seen_from_member(&alignment.cigar, query == sequence, strand));
                let member = ClusterMember { sequence, identity, strand, cigar };
                strands.push(MemberStrand { member, is_similar, score });
            }
            Ok(())
        })?;
        summary.add(aligned);
        Ok(strands)
    }

    /// Returns whether a strand of a pair reaches the threshold of a filter and all other minimums.
    fn is_similar(&self, pair: &PairResult, filter: &IdentityFilter) -> bool {
        let [m, n] = [pair.query, pair.target].map(|sequence| self.unique.store.length(sequence));
        filter.passes(pair.identity)
            && self.min_score.is_none_or(|least| pair.score >= least)
            && self.pair_coverage().passes(&pair.counts, m, n)
    }
}

/// A strand of a member that was aligned with its centroid.
struct MemberStrand {
    member: ClusterMember,
    /// Whether the strand makes the pair similar.
    is_similar: bool,
    score: i64,
}

impl MemberStrand {
    /// Returns whether this strand is reported instead of another strand of the same member. As in a
    /// comparison of all pairs, similar strands come first, then greater scores, then the plus strand.
    fn precedes(&self, other: &Self) -> bool {
        let rank = |strand: &Self| (strand.is_similar, strand.score, strand.member.strand == Strand::Plus);
        rank(self) > rank(other)
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
