//! A small example for the tests of all formats.

use super::*;
use crate::cluster::{ClusterSet, annotations};
use crate::error::Result;
use crate::output::Output;
use crate::output::captured::CapturedBytes;
use crate::seq::{ReadOptions, read_bytes};

/// Six records: `c2` is the reverse complement of `c1`, and `m2` is the reverse complement of `m1`.
/// On the minus strand, `m3` is `c1` with two more letters. `lone` is not similar to any of them.
pub(super) const RECORDS: &str = ">c1;size=3;sample=X
ACGTACGTAC
>c2;sample=Y
GTACGTACGT
>m1;size=2;sample=X;
ACGTTCGTAC
>m2;sample=Y
GTACGAACGT
>m3;sample=X
CCGTACGTACGT
>lone;tax=d:B,p:F;sample=Z
TTTTTTTT
";

/// Input sequences with their clusters at identity 0.8 and at identity 0.95.
pub(super) struct ClusterExample {
    records: SequenceStore,
    unique: UniqueSet,
    sizes: Vec<u64>,
    pub(super) sets: [ClusterSet; 2],
}

impl ClusterExample {
    /// Returns the clusters of [`RECORDS`].
    pub(super) fn new() -> Self {
        Self::from_records(RECORDS)
    }

    /// Returns the same clusters of other records. They must be the same different sequences.
    pub(super) fn from_records(text: &str) -> Self {
        let records = read_bytes("x.fa", text.as_bytes(), &ReadOptions::default()).unwrap();
        let name = |record| records.name_bytes(record);
        let sizes: Vec<u64> =
            (0..records.len() as SequenceId).map(|record| annotations::abundance(name(record)).unwrap()).collect();
        let unique = UniqueSet::new(&records, &sizes, true);
        let member = |sequence, identity, strand, cigar: &str| ClusterMember {
            sequence,
            identity,
            strand,
            cigar: Some(cigar.parse().unwrap()),
        };
        let members = vec![member(1, 0.9, Strand::Plus, "4=1X5="), member(2, 10.0 / 12.0, Strand::Minus, "10=2I")];
        let size = |sequences: &[usize]| sequences.iter().map(|&sequence| unique.sizes[sequence]).sum();
        let alone = |centroid: u32| SequenceCluster { centroid, size: size(&[centroid as usize]), members: vec![] };
        let first = SequenceCluster { centroid: 0, size: size(&[0, 1, 2]), members };
        let sets = [
            ClusterSet { threshold: 0.8, clusters: vec![first, alone(3)] },
            ClusterSet { threshold: 0.95, clusters: (0..4).map(alone).collect() },
        ];
        ClusterExample { records, unique, sizes, sets }
    }

    pub(super) fn context(&self) -> ClusterContext<'_> {
        ClusterContext { records: &self.records, unique: &self.unique, sizes: &self.sizes }
    }
}

/// Returns the text that a function writes.
pub(super) fn written(write: impl FnOnce(Output) -> Result<()>) -> Result<String> {
    let captured = CapturedBytes::default();
    write(Output::to_writer(captured.clone()))?;
    Ok(captured.text())
}

#[test]
fn the_strand_of_a_record_is_relative_to_the_centroid() {
    let example = ClusterExample::new();
    let context = example.context();
    let records: Vec<(&str, ClusterRole, u8)> = context
        .expand(&example.sets[0].clusters[0])
        .map(|one| (context.records.name(one.record), one.role, one.sign()))
        .collect();
    let expected = [
        ("c1;size=3;sample=X", ClusterRole::Centroid, b'+'),
        ("c2;sample=Y", ClusterRole::Identical, b'-'),
        ("m1;size=2;sample=X;", ClusterRole::Member, b'+'),
        ("m2;sample=Y", ClusterRole::Member, b'-'),
        ("m3;sample=X", ClusterRole::Member, b'-'),
    ];
    assert_eq!(records, expected);
}
