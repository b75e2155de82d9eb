//! Abundances of clusters in samples.

use std::collections::{BTreeMap, BTreeSet};

use super::ClusterContext;
use crate::cluster::{ClusterSet, SequenceCluster, annotations};
use crate::seq::SequenceId;

/// Abundances that are not 0, with indices of samples (or clusters) in ascending order.
pub(super) type SparseCounts = Vec<(u32, u64)>;

/// The samples of an input.
pub(super) struct SampleIndex<'a> {
    /// Names of the samples, ordered by their bytes.
    pub(super) samples: Vec<&'a [u8]>,
    /// Index of each record's sample.
    indices: Vec<u32>,
}

impl<'a> SampleIndex<'a> {
    /// Finds the samples of all records.
    pub(super) fn new(context: &ClusterContext<'a>) -> Self {
        let sample = |record: usize| annotations::sample(context.name(record as SequenceId));
        let distinct: BTreeSet<&[u8]> = (0..context.records.len()).map(sample).collect();
        let samples: Vec<&[u8]> = distinct.into_iter().collect();
        let index = |record| samples.partition_point(|&other| other < sample(record)) as u32;
        let indices = (0..context.records.len()).map(index).collect();
        SampleIndex { samples, indices }
    }

    /// Returns the abundance of a cluster in each of its samples.
    pub(super) fn counts(&self, context: &ClusterContext<'a>, cluster: &'a SequenceCluster) -> SparseCounts {
        let counts = context.expand(cluster).map(|one| (self.indices[one.record as usize], context.size(one.record)));
        summed(counts.collect())
    }
}

/// Sorts counts and adds up the counts of each index.
fn summed(mut counts: SparseCounts) -> SparseCounts {
    counts.sort_unstable();
    counts.dedup_by(|(index, count), (last, sum)| {
        let is_same = index == last;
        if is_same {
            *sum = sum.saturating_add(*count);
        }
        is_same
    });
    counts
}

/// A row of a table of OTUs.
#[derive(Debug, Default)]
pub(super) struct OtuRow<'a> {
    /// Value of `tax` in the name of the centroid.
    pub(super) taxonomy: Option<&'a [u8]>,
    /// Abundance in each sample.
    pub(super) counts: SparseCounts,
}

/// Returns the rows of a table of OTUs, ordered by the bytes of their labels as in vsearch.
/// Clusters with the same label share a row.
pub(super) fn otu_rows<'a>(
    context: &ClusterContext<'a>,
    clusters: &'a ClusterSet,
    samples: &SampleIndex<'a>,
) -> BTreeMap<&'a [u8], OtuRow<'a>> {
    let mut rows: BTreeMap<&[u8], OtuRow<'_>> = BTreeMap::new();
    for cluster in &clusters.clusters {
        let name = context.centroid_name(cluster);
        let row = rows.entry(annotations::otu(name)).or_default();
        row.taxonomy = row.taxonomy.or(annotations::value(name, "tax"));
        let counts = samples.counts(context, cluster);
        row.counts =
            if row.counts.is_empty() { counts } else { summed(row.counts.iter().chain(&counts).copied().collect()) };
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::tests::ClusterExample;
    use super::*;

    #[test]
    fn abundances_of_a_sample_are_added() {
        let example = ClusterExample::new();
        let context = example.context();
        let samples = SampleIndex::new(&context);
        assert_eq!(samples.samples, [b"X", b"Y", b"Z"]);
        assert_eq!(samples.counts(&context, &example.sets[0].clusters[0]), [(0, 6), (1, 2)]);
        assert_eq!(samples.counts(&context, &example.sets[0].clusters[1]), [(2, 1)]);
    }

    #[test]
    fn clusters_with_the_same_label_share_a_row() {
        let example = ClusterExample::from_records(
            ">c1;size=9;otu=A\nACGTACGTAC\n>m1;size=3\nACGTTCGTAC\n>m3\nCCGTACGTACGT\n>lone;otu=A;tax=T\nTTTTTTTT\n",
        );
        let context = example.context();
        let samples = SampleIndex::new(&context);
        let rows = otu_rows(&context, &example.sets[0], &samples);
        assert_eq!(rows.keys().collect::<Vec<_>>(), [b"A"]);
        let row = &rows[&b"A"[..]];
        assert_eq!((row.taxonomy, row.counts.as_slice()), (Some(&b"T"[..]), &[(0, 9), (1, 1), (2, 3), (3, 1)][..]));
    }
}
