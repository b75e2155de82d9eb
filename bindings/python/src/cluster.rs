//! Clusters of similar sequences.

use std::sync::Arc;

use pairwave::SequenceStore;
use pairwave::cluster::{ClusterMethod, ClusterSet, UniqueSet, annotations};
use pairwave::jobs::Clusters;
use pairwave::jobs::long::{Strand, Strands};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::alignment::sign;
use crate::error::invalid;
use crate::input::{Sequences, names, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};
use crate::scheme::{AlignedParts, SchemeOptions};
use crate::table::{Field, RowBytes};

/// Fields of a row of [`Clustering`].
const FIELDS: [Field; 4] = [("cluster", "u4"), ("centroid", "u4"), ("strand", "i1"), ("identity", "f8")];

/// Clusters of a set of sequences.
#[pyclass(frozen, get_all, module = "pairwave")]
pub(crate) struct Clustering {
    /// Structured array with one row for each sequence, in the order of the input.
    rows: Py<PyAny>,
    /// Index of the centroid of each cluster.
    centroids: Vec<u32>,
    /// Names of the sequences.
    names: Vec<String>,
}

#[pymethods]
impl Clustering {
    fn __len__(&self) -> usize {
        self.centroids.len()
    }

    fn __repr__(&self) -> String {
        format!("<pairwave.Clustering of {} sequences in {} clusters>", self.names.len(), self.centroids.len())
    }
}

/// Clusters sequences by the exact identities of their pairs, and returns a Clustering.
///
/// Its rows have the number of the cluster, the index of its centroid, the strand of the sequence that
/// aligns with the centroid (1 or -1), and the identity with the centroid as a fraction. Annotations
/// ';size=12' in names are abundances.
///
/// identity: least identity of a cluster, as a fraction
/// method: 'greedy' (default), 'single', 'complete' or 'average' linkage
/// strand: 'plus' (default) or 'both'
/// sequences, mode, scheme, match, mismatch, ambiguity, matrix, gap_open, gap_extend, end_gap_open,
/// end_gap_extend, alphabet, degap, iddef, devices, threads, memory, progress: as for align
/// min_score, query_cov, target_cov, min_cov: as for allpairs; the target is the centroid
#[pyfunction]
#[pyo3(
    signature = (sequences, identity, **options),
    text_signature = "(sequences, identity, *, method='greedy', min_score=None, query_cov=None, target_cov=None, \
                      min_cov=None, mode='global', scheme=None, match=None, mismatch=None, ambiguity=None, \
                      matrix=None, gap_open=None, gap_extend=None, end_gap_open=None, end_gap_extend=None, \
                      alphabet=None, degap=False, strand='plus', iddef=2, devices=None, threads=None, memory=None, \
                      progress=None)"
)]
pub(crate) fn cluster(
    py: Python<'_>,
    sequences: &Bound<'_, PyAny>,
    identity: f64,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Clustering> {
    let mut options = Options::new(py, "cluster", options)?;
    let scheme = SchemeOptions::take(&mut options, AlignedParts::Global)?;
    let methods = [
        ("greedy", ClusterMethod::Greedy),
        ("single", ClusterMethod::Single),
        ("complete", ClusterMethod::Complete),
        ("average", ClusterMethod::Average),
    ];
    let method = options.word("method", &methods)?.unwrap_or_default();
    let (read, strand, definition) = (options.read_options()?, options.strand()?, options.identity()?);
    let (min_score, coverage) = (options.take("min_score")?, options.coverage()?);
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let sequences = Sequences::read("sequences", sequences)?;
    let [records] = stores(py, [("sequences", &sequences)], &read)?;
    let strand = strand.unwrap_or_default();
    let scoring = Arc::new(scheme.scoring(py, records.alphabet())?);
    let sizes = abundances(&records)?;
    let unique = py.detach(|| Arc::new(UniqueSet::new(&records, &sizes, strand == Strands::Both)));
    let job = Clusters {
        strand,
        definition,
        min_score,
        coverage,
        method,
        ..Clusters::new(Arc::clone(&unique), scoring, identity)
    };
    // Batches of greedy clustering compute a part of these cells.
    let cells = job.pairs().cells();
    let (sets, _) = run(py, run_options, cells, |run| job.run(run))?;
    let Some(set) = sets.first() else { return Err(invalid("there are no clusters")) };
    let (rows, centroids) = table(set, &unique, records.len());
    Ok(Clustering { rows: rows.into_table(py, &FIELDS)?.unbind(), centroids, names: names(&records) })
}

/// Returns the abundances that the names of records state.
fn abundances(records: &SequenceStore) -> PyResult<Vec<u64>> {
    let abundance = |id| {
        let wrong = || invalid(format!("record '{}': ';size=' needs a positive whole number", records.name(id)));
        annotations::abundance(records.name_bytes(id)).ok_or_else(wrong)
    };
    (0..records.len() as u32).map(abundance).collect()
}

/// Returns a row for each record, and the centroid of each cluster.
fn table(set: &ClusterSet, unique: &UniqueSet, records: usize) -> (RowBytes, Vec<u32>) {
    let mut clusters = vec![(0, 0, Strand::Plus, 0.0); records];
    let mut centroids = Vec::with_capacity(set.clusters.len());
    for (number, cluster) in (0_u32..).zip(&set.clusters) {
        let centroid = unique.records(cluster.centroid)[0].record;
        centroids.push(centroid);
        let members = cluster.members.iter().map(|member| (member.sequence, member.strand, member.identity));
        for (sequence, strand, identity) in std::iter::once((cluster.centroid, Strand::Plus, 1.0)).chain(members) {
            for record in unique.records(sequence) {
                let strand = if record.strand == strand { Strand::Plus } else { Strand::Minus };
                clusters[record.record as usize] = (number, centroid, strand, identity);
            }
        }
    }
    let mut rows = RowBytes::default();
    for (number, centroid, strand, identity) in clusters {
        rows.push(number.to_ne_bytes()).push(centroid.to_ne_bytes());
        rows.push(sign(strand).to_ne_bytes()).push(f64::to_ne_bytes(identity));
    }
    (rows, centroids)
}
