//! Greedy clusters of many sequences, which are compared with centroids only.
//!
//! Sequences are decided in batches that grow with the number of decided sequences. Each batch is
//! compared with the centroids so far. Its sequences without a centroid are compared with each
//! other, and some of them become centroids. Then all members so far are compared with the new
//! centroids, because a later centroid may be more similar. Every pair of a sequence and a centroid
//! is compared with the earlier one as the query, as in a comparison of all pairs.

use std::ops::Range;
use std::time::Instant;

use super::Clusters;
use crate::cluster::{ClusterSet, Clustering, GreedyCentroids, NearestCentroid, SimilarPair, UniqueId, Violation};
use crate::error::{Error, Result};
use crate::jobs::engines::without_gpus;
use crate::jobs::{AllPairs, Job, PairResult, Run, Summary};
use crate::score::edit_filter::edit_limit;

/// Expected number of sequences per centroid below which all pairs are compared. With more
/// sequences per centroid, batches save at least a quarter of the pairs.
const SEQUENCES_PER_CENTROID: usize = 2;
/// Least number of symbols per symbol of the first two batches for which a comparison of all pairs
/// may replace the batches. It then repeats at most a ninth of its cells. Long sequences come first,
/// so the first batches can have most of the symbols.
const SYMBOLS_PER_TRIAL: u64 = 3;

/// Expected seconds on CPU threads below which a comparison does not use GPUs unless they were
/// selected. Opening a GPU for every small comparison takes longer.
const MAX_CPU_SECONDS: f64 = 1.0;

/// Sizes of batches of sequences.
#[derive(Debug, Clone, Copy)]
pub struct BatchSizes {
    /// Number of sequences above which batches are used.
    pub above: usize,
    /// Number of sequences in the first batch.
    pub first: usize,
    /// Number of decided sequences per sequence of the next batch.
    pub growth: usize,
    /// Number of sequences up to which all pairs are compared if many sequences are expected to be
    /// centroids. One large comparison is then faster than several small ones.
    pub all_pairs_up_to: usize,
}

impl Default for BatchSizes {
    fn default() -> Self {
        BatchSizes { above: 4096, first: 2048, growth: 1, all_pairs_up_to: 1 << 16 }
    }
}

/// Comparisons of a job at one threshold.
struct BatchComparer<'a> {
    job: &'a Clusters,
    threshold: f64,
    run: Run,
    /// Number of pairs and duration in seconds of all comparisons on CPU threads alone. `None` if
    /// GPUs may be used for every comparison: if devices were selected, or if most pairs are aligned,
    /// because edit distances exclude none.
    on_cpu: Option<(f64, f64)>,
    summary: Summary,
}

impl<'a> BatchComparer<'a> {
    fn new(job: &'a Clusters, threshold: f64, run: &Run) -> Self {
        let is_filtered = edit_limit(job.definition, threshold, &job.scoring).is_ok();
        let on_cpu = (run.devices.is_empty() && is_filtered).then_some((0.0, 0.0));
        BatchComparer { job, threshold, run: run.clone(), on_cpu, summary: Summary::default() }
    }

    /// Compares all pairs of two sets, or of one set if `targets` is `None`. Passes on similar pairs
    /// whose query comes before its target.
    fn compare(
        &mut self,
        queries: &[UniqueId],
        targets: Option<&[UniqueId]>,
        mut each: impl FnMut(SimilarPair),
    ) -> Result<()> {
        if queries.is_empty() || targets.is_some_and(<[UniqueId]>::is_empty) {
            return Ok(());
        }
        let job = AllPairs {
            queries: self.job.store(queries),
            against: targets.map(|targets| self.job.store(targets)),
            ..self.job.pairs_reaching(self.threshold)
        };
        let pairs = match targets {
            Some(targets) => queries.len() * targets.len(),
            None => queries.len() * (queries.len() - 1) / 2,
        } as f64;
        let expected = |(pairs_before, seconds): (f64, f64)| seconds * pairs / pairs_before.max(1.0);
        let is_on_cpu = self.on_cpu.map(expected).is_some_and(|seconds| seconds < MAX_CPU_SECONDS);
        let run = if is_on_cpu { without_gpus(&self.run) } else { self.run.clone() };
        let started = Instant::now();
        let targets = targets.unwrap_or(queries);
        let summary = job.run(&run, |rows| {
            for row in rows {
                let &PairResult { query, target, identity, score, strand, .. } = row;
                let (earlier, later) = (queries[query as usize], targets[target as usize]);
                if earlier < later {
                    each(SimilarPair { earlier, later, identity, score, strand });
                }
            }
            Ok(())
        })?;
        self.summary.add(summary);
        match &mut self.on_cpu {
            Some((all_pairs, seconds)) if is_on_cpu => {
                *all_pairs += pairs;
                *seconds += started.elapsed().as_secs_f64();
            }
            // This comparison has measured the devices.
            _ => self.run.tune = false,
        }
        Ok(())
    }
}

impl Clusters {
    /// Clusters the sequences at every threshold. Returns `None` if a comparison of all pairs is
    /// faster, which the first two batches of the first threshold decide.
    pub(super) fn run_in_batches(&self, run: &Run) -> Result<Option<(Vec<ClusterSet>, Summary)>> {
        let (mut sets, mut summary) = (Vec::new(), Summary::default());
        for &threshold in &self.thresholds {
            let mut comparer = BatchComparer::new(self, threshold, run);
            let Some(centroids) = self.select_centroids(&mut comparer, sets.is_empty())? else { return Ok(None) };
            let clustering = centroids.finish();
            let nearest = |member: UniqueId| {
                let NearestCentroid { centroid, identity, score, strand } = centroids.nearest_centroid(member)?;
                let (earlier, later) = (member.min(centroid), member.max(centroid));
                Some(SimilarPair { earlier, later, identity, score, strand })
            };
            let known: Vec<SimilarPair> = (0..self.unique.len() as UniqueId).filter_map(nearest).collect();
            if self.check {
                comparer.check_centroids(&clustering)?;
            }
            summary.add(comparer.summary);
            sets.push(self.described(threshold, &clustering, &known, run, &mut summary)?);
        }
        Ok(Some((sets, summary)))
    }

    /// Returns the number of symbols of some of the sequences.
    fn symbols(&self, sequences: Range<usize>) -> u64 {
        self.unique.store.lengths()[sequences].iter().map(|&length| u64::from(length)).sum()
    }

    /// Selects the centroids. With `may_end`, returns `None` after the second batch if a comparison
    /// of all pairs is faster.
    ///
    /// The first batch has more centroids than any other, because it is compared with none. So the
    /// second one predicts the number of centroids.
    fn select_centroids(&self, comparer: &mut BatchComparer<'_>, may_end: bool) -> Result<Option<GreedyCentroids>> {
        let (sequences, sizes) = (self.unique.len(), self.batches);
        let mut centroids = GreedyCentroids::new(sequences);
        let may_end = may_end && sequences <= sizes.all_pairs_up_to;
        let (mut batches, mut start) = (0, 0);
        while start < sequences {
            let end = (start + sizes.first.max(start / sizes.growth)).min(sequences);
            comparer.decide(&mut centroids, start as UniqueId, end as UniqueId)?;
            batches += 1;
            if may_end && batches == 2 && self.symbols(0..sequences) >= SYMBOLS_PER_TRIAL * self.symbols(0..end) {
                let selected =
                    |range: Range<usize>| range.filter(|&sequence| centroids.is_centroid(sequence as UniqueId)).count();
                let further = selected(start..end) * (sequences - end) / (end - start);
                if (selected(0..end) + further) * SEQUENCES_PER_CENTROID > sequences {
                    return Ok(None);
                }
            }
            start = end;
            comparer.run.progress.step("clusters", end as u64, sequences as u64);
        }
        Ok(Some(centroids))
    }
}

impl BatchComparer<'_> {
    /// Decides the sequences of a batch, which starts at `start` and ends before `end`.
    fn decide(&mut self, centroids: &mut GreedyCentroids, start: UniqueId, end: UniqueId) -> Result<()> {
        let batch: Vec<UniqueId> = (start..end).collect();
        let (known, mut members): (Vec<_>, Vec<_>) = (0..start).partition(|&sequence| centroids.is_centroid(sequence));
        self.compare(&known, Some(&batch), |pair| {
            centroids.add(pair.later, NearestCentroid::new(pair.earlier, &pair));
        })?;
        let (assigned, open): (Vec<_>, Vec<_>) = batch.iter().partition(|&&sequence| centroids.is_assigned(sequence));
        let mut pairs = Vec::new();
        self.compare(&open, None, |pair| pairs.push(pair))?;
        pairs.sort_unstable_by_key(|pair| (pair.later, pair.earlier));
        centroids.decide(end as usize, &pairs);
        for pair in &pairs {
            if centroids.is_centroid(pair.later) {
                centroids.add(pair.earlier, NearestCentroid::new(pair.later, pair));
            }
        }
        let new: Vec<UniqueId> = open.into_iter().filter(|&sequence| centroids.is_centroid(sequence)).collect();
        self.compare(&new, Some(&assigned), |pair| {
            centroids.add(pair.later, NearestCentroid::new(pair.earlier, &pair));
        })?;
        members.extend(assigned);
        self.compare(&members, Some(&new), |pair| {
            centroids.add(pair.earlier, NearestCentroid::new(pair.later, &pair));
        })
    }

    /// Compares all pairs of centroids again, none of which may reach the threshold.
    fn check_centroids(&mut self, clustering: &Clustering) -> Result<()> {
        let all = 0..clustering.representatives.len() as UniqueId;
        let centroids: Vec<UniqueId> = all.filter(|&sequence| clustering.is_representative(sequence)).collect();
        let mut violation = None;
        self.compare(&centroids, None, |pair| violation = Some(Violation::SimilarCentroids(pair.earlier, pair.later)))?;
        match violation {
            Some(violation) => Err(Error::Internal(format!("clusters at {}: {violation}", self.threshold))),
            None => Ok(()),
        }
    }
}
