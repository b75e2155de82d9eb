//! Clusters sequences by the exact identities of their pairs.
//!
//! [`AllPairs`] finds the pairs that reach the threshold, and [`crate::cluster`] turns them into
//! clusters. Greedy clustering of many sequences compares each sequence only with centroids, in
//! batches. The result equals that of all pairs.
//!
//! The alignment of a pair has the earlier sequence of the [`UniqueSet`] as its query, in every
//! comparison. So all ways of comparing a pair give the same identity.

mod batches;
mod gathered;
mod identities;
mod members;

use std::sync::Arc;

#[doc(hidden)]
pub use self::batches::BatchSizes;
pub use self::gathered::GatheredPairs;
use super::{AllPairs, Job, Run, Summary};
use crate::cluster::{ClusterMethod, ClusterSet, UniqueId, UniqueSet};
use crate::error::{Error, Result};
use crate::score::{CoverageFilter, IdentityDefinition, IdentityFilter, Scoring};
use crate::seq::{SequenceStore, Strands};

/// Clusters of the sequences of a set, at one or several thresholds.
#[derive(Debug, Clone)]
pub struct Clusters {
    /// The different sequences.
    pub unique: Arc<UniqueSet>,
    /// The scoring scheme.
    pub scoring: Arc<Scoring>,
    /// The strands of sequences that are compared: plus or both. With both, the set must have been
    /// made with both strands.
    pub strand: Strands,
    /// The definition of identity.
    pub definition: IdentityDefinition,
    /// Minimum identities as fractions, at least one. Each has its own clusters.
    pub thresholds: Vec<f64>,
    /// Minimum score of similar pairs.
    pub min_score: Option<i64>,
    /// Minimum coverages of similar pairs. The query is the later sequence of a pair in the order of
    /// the set, and the target is the earlier one. Except where a member joins a later, more similar
    /// centroid, the target is the centroid.
    pub coverage: CoverageFilter,
    /// The clustering method.
    pub method: ClusterMethod,
    /// Whether members need the alignment with their centroid.
    pub with_alignments: bool,
    /// Whether to rescore every alignment, and to verify the guarantee of the method.
    pub check: bool,
    /// Maximum memory of similar pairs in bytes.
    pub pair_memory: u64,
    /// Sizes of batches. They change no cluster.
    #[doc(hidden)]
    pub batches: BatchSizes,
}

/// Default memory of similar pairs in bytes.
pub const PAIR_MEMORY: u64 = 8 << 30;

impl Clusters {
    /// Creates a job of greedy clusters at one threshold.
    pub fn new(unique: Arc<UniqueSet>, scoring: Arc<Scoring>, threshold: f64) -> Self {
        Clusters {
            unique,
            scoring,
            strand: Strands::Plus,
            definition: IdentityDefinition::default(),
            thresholds: vec![threshold],
            min_score: None,
            coverage: CoverageFilter::default(),
            method: ClusterMethod::default(),
            with_alignments: false,
            check: false,
            pair_memory: PAIR_MEMORY,
            batches: BatchSizes::default(),
        }
    }

    /// Checks that the fields are valid and consistent.
    ///
    /// # Errors
    /// [`Error::Usage`] with the name of the invalid field.
    pub fn validate(&self) -> Result<()> {
        if self.thresholds.is_empty() {
            return Err(Error::usage_of("min_identity", "a threshold is missing"));
        }
        if let Some(zero) = self.thresholds.iter().find(|threshold| **threshold <= 0.0) {
            return Err(Error::usage_value("min_identity", zero, "clusters need an identity above 0"));
        }
        if self.strand == Strands::Minus {
            return Err(Error::usage_of("strand", "sequences are compared on the plus strand or on both"));
        }
        self.pairs().validate()
    }

    /// Returns the comparison of all pairs that reaches the lowest threshold.
    pub fn pairs(&self) -> AllPairs {
        let lowest = self.thresholds.iter().copied().fold(f64::INFINITY, f64::min);
        self.pairs_reaching(lowest)
    }

    /// Returns the comparison of all pairs that reach a threshold.
    fn pairs_reaching(&self, threshold: f64) -> AllPairs {
        AllPairs {
            strand: self.strand,
            definition: self.definition,
            min_identity: Some(threshold),
            min_score: self.min_score,
            coverage: self.pair_coverage(),
            check: self.check,
            ..AllPairs::new(Arc::clone(&self.unique.store), Arc::clone(&self.scoring))
        }
    }

    /// Returns the minimum coverages of comparisons. The earlier sequence of a pair is their query.
    fn pair_coverage(&self) -> CoverageFilter {
        CoverageFilter { query: self.coverage.target, target: self.coverage.query, ..self.coverage }
    }

    /// Returns a store of some of the sequences.
    fn store(&self, sequences: &[UniqueId]) -> Arc<SequenceStore> {
        let all = &self.unique.store;
        let mut store = SequenceStore::builder(all.alphabet());
        sequences.iter().for_each(|&sequence| store.push_renamed(all, sequence, all.codes(sequence)));
        Arc::new(store.build())
    }

    fn filter(&self, threshold: f64) -> IdentityFilter {
        IdentityFilter::new(self.definition, threshold, &self.scoring)
    }

    /// Clusters the sequences. Returns a set of clusters for each threshold, in their order.
    ///
    /// # Errors
    /// - The errors of [`Job::run`].
    /// - [`Error::Usage`] if the similar pairs need more memory than allowed.
    /// - [`Error::Internal`] if a check finds a wrong cluster.
    pub fn run(&self, run: &Run) -> Result<(Vec<ClusterSet>, Summary)> {
        self.validate()?;
        if self.has_strands_by_threshold() {
            let (mut sets, mut summary) = (Vec::new(), Summary::default());
            for &threshold in &self.thresholds {
                let (more, ran) = Clusters { thresholds: vec![threshold], ..self.clone() }.run(run)?;
                sets.extend(more);
                summary.add(ran);
            }
            return Ok((sets, summary));
        }
        if self.method == ClusterMethod::Greedy
            && self.unique.len() > self.batches.above
            && let Some(result) = self.run_in_batches(run)?
        {
            return Ok(result);
        }
        let mut gathered = self.empty_collection();
        let mut summary = self.pairs().run(run, |rows| gathered.add(rows))?;
        let sets = self.finish(gathered, run, &mut summary)?;
        Ok((sets, summary))
    }

    /// Returns whether each threshold needs its own comparison: a row has the better-scoring one of
    /// the strands that reach the threshold, which may be another strand at another threshold.
    pub fn has_strands_by_threshold(&self) -> bool {
        self.strand == Strands::Both && self.thresholds.len() > 1
    }

    /// Returns an empty collection for the rows of [`Clusters::pairs`].
    pub fn empty_collection(&self) -> GatheredPairs {
        GatheredPairs::new(self)
    }

    /// Clusters the sequences by all rows of [`Clusters::pairs`]. Adds the work on members to a
    /// summary.
    ///
    /// # Errors
    /// The errors of [`Clusters::run`].
    pub fn finish(&self, gathered: GatheredPairs, run: &Run, summary: &mut Summary) -> Result<Vec<ClusterSet>> {
        let mut sets = Vec::new();
        for (index, &threshold) in self.thresholds.iter().enumerate() {
            let (clustering, known) = gathered.cluster(index, threshold, self)?;
            sets.push(self.described(threshold, &clustering, &known, run, summary)?);
        }
        Ok(sets)
    }
}
