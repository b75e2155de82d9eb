//! Output of clusters in the formats of vsearch, CD-HIT, MMseqs2, mothur and BIOM, as FASTA, as a
//! table and as an HTML page.
//!
//! Every format expands the sets of identical sequences to the records of the input. The first
//! record of the centroid comes first, then the records that are identical to it, then the members
//! in order, each with its records. Clusters have numbers from 0 in the order of the result, except
//! in mothur's files. Names are written as they are in the input, and several records may share a
//! name.
//!
//! Formats of one clustering take a [`ClusterSet`](crate::cluster::ClusterSet). [`write_table`],
//! [`write_list`] and [`write_shared`] take one for each threshold.

mod biom;
mod clstr;
mod dereplicated;
mod fasta;
mod mothur;
mod otu_table;
mod pairs;
mod report;
mod samples;
mod table;
#[cfg(test)]
mod tests;
mod uc;

use crate::cluster::{ClusterMember, SequenceCluster, UniqueSet};
use crate::seq::{SequenceId, SequenceStore, Strand};

pub use biom::write_biom;
pub use clstr::write_clstr;
pub use dereplicated::DereplicatedWriter;
pub use fasta::{check_cluster_directory, write_centroids, write_cluster_files};
pub use mothur::{check_list, check_shared, write_list, write_shared};
pub use otu_table::write_otu_table;
pub use pairs::write_pairs;
pub use report::{ClusterReport, write_report};
pub use table::write_table;
pub use uc::write_uc;

/// The input sequences that clusters refer to.
#[derive(Debug, Clone, Copy)]
pub struct ClusterContext<'a> {
    /// All records of the input.
    pub records: &'a SequenceStore,
    /// The different sequences, which clusters consist of.
    pub unique: &'a UniqueSet,
    /// Abundance of each record.
    pub sizes: &'a [u64],
}

/// The relation of a record to the centroid of its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClusterRole {
    /// The centroid.
    Centroid,
    /// A record that is identical to the centroid.
    Identical,
    /// A record of another sequence.
    Member,
}

impl ClusterRole {
    fn name(self) -> &'static str {
        match self {
            ClusterRole::Centroid => "centroid",
            ClusterRole::Identical => "identical",
            ClusterRole::Member => "member",
        }
    }
}

/// A record in a cluster.
#[derive(Debug, Clone, Copy)]
struct ClusterRecord<'a> {
    /// The input sequence.
    record: SequenceId,
    role: ClusterRole,
    /// Identity with the centroid as a fraction.
    identity: f64,
    /// The strand of the record that aligns with the plus strand of the centroid.
    strand: Strand,
    /// The member that the record belongs to; `None` if the record is identical to the centroid.
    member: Option<&'a ClusterMember>,
}

impl ClusterRecord<'_> {
    /// Returns the sign of the strand.
    fn sign(&self) -> u8 {
        if self.strand == Strand::Minus { b'-' } else { b'+' }
    }
}

impl<'a> ClusterContext<'a> {
    /// Returns the record that represents a cluster.
    fn centroid(&self, cluster: &SequenceCluster) -> SequenceId {
        self.unique.records(cluster.centroid)[0].record
    }

    /// Returns the exact name of a record.
    fn name(&self, record: SequenceId) -> &'a [u8] {
        self.records.name_bytes(record)
    }

    /// Returns the name of the record that represents a cluster.
    fn centroid_name(&self, cluster: &SequenceCluster) -> &'a [u8] {
        self.name(self.centroid(cluster))
    }

    /// Returns the abundance of a record.
    fn size(&self, record: SequenceId) -> u64 {
        self.sizes[record as usize]
    }

    /// Returns all records of a cluster, the centroid first.
    fn expand(&self, cluster: &'a SequenceCluster) -> impl Iterator<Item = ClusterRecord<'a>> + use<'a> {
        let unique = self.unique;
        let centroids = unique.records(cluster.centroid).iter().enumerate().map(|(index, one)| ClusterRecord {
            record: one.record,
            role: if index == 0 { ClusterRole::Centroid } else { ClusterRole::Identical },
            identity: 1.0,
            strand: one.strand,
            member: None,
        });
        let members = cluster.members.iter().flat_map(move |member| {
            unique.records(member.sequence).iter().map(move |one| ClusterRecord {
                record: one.record,
                role: ClusterRole::Member,
                identity: member.identity,
                // The reverse complement of a reverse complement is the sequence itself.
                strand: if member.strand == one.strand { Strand::Plus } else { Strand::Minus },
                member: Some(member),
            })
        });
        centroids.chain(members)
    }
}
