//! Similar pairs of a job, as the methods need them.

use std::borrow::Cow;

use super::Clusters;
use crate::cluster::{ClusterMethod, Clustering, SimilarPair, SingleLinkage};
use crate::error::{Error, Result};
use crate::jobs::PairResult;
use crate::score::IdentityFilter;

/// Bytes per pair of complete and average linkage: the pair, two entries of hash maps that are at
/// least half full, and an entry of the heap.
const LINKAGE_BYTES: u64 = 192;

/// The similar pairs of all sequences. Single linkage does not keep them.
#[derive(Debug)]
pub struct GatheredPairs {
    filters: Vec<IdentityFilter>,
    pairs: Vec<SimilarPair>,
    /// Components at each threshold, for single linkage.
    components: Vec<SingleLinkage>,
    keeps_pairs: bool,
    /// Maximum number of pairs.
    max_pairs: u64,
}

impl GatheredPairs {
    pub(super) fn new(job: &Clusters) -> Self {
        let is_single = job.method == ClusterMethod::Single;
        let bytes = match job.method {
            ClusterMethod::Greedy | ClusterMethod::Single => size_of::<SimilarPair>() as u64,
            ClusterMethod::Complete | ClusterMethod::Average => LINKAGE_BYTES,
        };
        let components = if is_single { job.thresholds.len() } else { 0 };
        GatheredPairs {
            filters: job.thresholds.iter().map(|&threshold| job.filter(threshold)).collect(),
            pairs: Vec::new(),
            components: vec![SingleLinkage::new(job.unique.len()); components],
            keeps_pairs: !is_single || job.check,
            max_pairs: job.pair_memory / bytes,
        }
    }

    /// Adds rows of the comparison of all pairs.
    ///
    /// # Errors
    /// [`Error::Usage`] if the pairs need more memory than allowed.
    pub fn add(&mut self, rows: &[PairResult]) -> Result<()> {
        for row in rows {
            for (filter, components) in self.filters.iter().zip(&mut self.components) {
                if filter.passes(row.identity) {
                    components.join(row.query, row.target);
                }
            }
        }
        if self.keeps_pairs {
            self.pairs.extend(rows.iter().map(SimilarPair::from));
            if self.pairs.len() as u64 > self.max_pairs {
                return Err(Error::usage_of(
                    "pair_memory",
                    format!(
                        "more than {} pairs reach the threshold, and they need more memory than that: raise the limit \
                         or `min_identity`, or use `method` single, which keeps no pairs",
                        self.max_pairs
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Clusters the sequences at a threshold. Returns the similar pairs as well, as far as they are
    /// kept.
    pub(super) fn cluster(
        &self,
        index: usize,
        threshold: f64,
        job: &Clusters,
    ) -> Result<(Clustering, Cow<'_, [SimilarPair]>)> {
        // All pairs reach the lowest threshold.
        let pairs = match &self.filters[..] {
            [_] => Cow::Borrowed(&self.pairs[..]),
            filters => self.pairs.iter().filter(|pair| filters[index].passes(pair.identity)).copied().collect(),
        };
        let clustering = match self.components.get(index) {
            Some(components) => components.clone().finish(),
            None => job.method.cluster(&job.unique.sizes, &pairs, threshold),
        };
        if job.check
            && let Some(violation) = clustering.violation(job.method, &pairs)
        {
            return Err(Error::Internal(format!("clusters at {threshold}: {violation}")));
        }
        Ok((clustering, pairs))
    }
}

impl From<&PairResult> for SimilarPair {
    /// The result must come from a comparison of the different sequences with themselves.
    fn from(row: &PairResult) -> Self {
        let &PairResult { query, target, identity, score, strand, .. } = row;
        SimilarPair { earlier: query, later: target, identity, score, strand }
    }
}
