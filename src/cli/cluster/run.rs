//! `pairwave cluster`: from validated options to results.

use super::ClusterOptions;
#[cfg(feature = "plot")]
use super::pictures::{CentroidIdentities, PLOT_CENTROIDS, REPORT_CENTROIDS};
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::{ComputeOptions, check_strand, file_name};
use crate::cli::progress::{counted, engine_lines, pairs_in_words};
use crate::cli::runner::{Files, JobCommand, JobRunner};
use indicatif::HumanCount;
use pairwave::cluster::{ClusterSet, UniqueSet, annotations};
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{AllPairs, Clusters, Run, Summary};
use pairwave::output::Output;
use pairwave::output::cluster::{ClusterContext, ClusterReport, write_report, write_table};
use pairwave::pairs::kernels::family_of;
use pairwave::score::Scoring;
use pairwave::seq::{SequenceId, SequenceStore, Strands, read_checked};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Input of `pairwave cluster`.
pub(in crate::cli) struct ClusterInput {
    records: Arc<SequenceStore>,
    /// Abundance of each record.
    sizes: Vec<u64>,
    unique: Arc<UniqueSet>,
    scoring: Arc<Scoring>,
}

/// Numbers of a finished job.
#[derive(Debug, Clone)]
pub(in crate::cli) struct ClusterSummary {
    summary: Summary,
    records: u64,
    unique: u64,
    /// Threshold and number of clusters.
    clusters: Vec<(f64, u64)>,
}

/// Statistics of a job for programs.
#[derive(Serialize)]
struct ClusterStats<'a> {
    #[serde(flatten)]
    job: JobStats<'a>,
    /// Number of input sequences.
    sequences: u64,
    /// Number of different sequences.
    unique_sequences: u64,
    thresholds: Vec<f64>,
    /// Number of clusters at each threshold.
    clusters: Vec<u64>,
}

impl ClusterOptions {
    fn clusters(&self, input: &ClusterInput) -> Clusters {
        Clusters {
            strand: self.strand,
            definition: self.identity,
            thresholds: self.thresholds.clone(),
            min_score: self.min_score,
            coverage: self.coverage,
            method: self.method,
            with_alignments: self.others.has_alignments(),
            check: self.compute.check,
            pair_memory: self.pair_memory,
            ..Clusters::new(Arc::clone(&input.unique), Arc::clone(&input.scoring), 1.0)
        }
    }

    /// Writes all files. The directory of clusters is written last, because it appears before them.
    fn write(
        &self,
        input: &ClusterInput,
        sets: &[ClusterSet],
        summary: Summary,
        runner: &mut JobRunner,
        output: Output,
    ) -> Result<ClusterSummary> {
        let context = ClusterContext { records: &input.records, unique: &input.unique, sizes: &input.sizes };
        self.others.write(&context, sets, &runner.outputs)?;
        if let Some(first) = sets.first() {
            self.draw(input, first, runner)?;
        }
        if let (Some(file), Some(first)) = (runner.picture.take(), sets.first()) {
            let heat_map = self.heat_map(input, first, runner)?;
            let title = format!("Clusters of {}", file_name(&self.seqs));
            write_report(&context, first, &ClusterReport { title, method: self.method, heat_map }, file)?;
        }
        if self.files.output.is_some() || self.other_output().is_none() {
            write_table(&context, sets, output)?;
        }
        self.others.write_directory(&context, sets)?;
        Ok(ClusterSummary {
            summary,
            records: input.records.len() as u64,
            unique: input.unique.len() as u64,
            clusters: sets.iter().map(|set| (set.threshold, set.clusters.len() as u64)).collect(),
        })
    }
}

#[cfg(feature = "plot")]
impl ClusterOptions {
    /// Draws the picture that `--plot` names.
    fn draw(&self, input: &ClusterInput, set: &ClusterSet, runner: &JobRunner) -> Result<()> {
        let Some(plot) = &self.plot else { return Ok(()) };
        let file = runner.outputs.create(&plot.path)?;
        let identities = CentroidIdentities::compute(&self.clusters(input), set, PLOT_CENTROIDS, &runner.run)?;
        identities.draw(|map| map.write(plot.picture, file))
    }

    /// Returns the picture of a report.
    fn heat_map(&self, input: &ClusterInput, set: &ClusterSet, runner: &JobRunner) -> Result<Option<String>> {
        let identities = CentroidIdentities::compute(&self.clusters(input), set, REPORT_CENTROIDS, &runner.run)?;
        identities.draw(|map| map.svg_element()).map(Some)
    }
}

#[cfg(not(feature = "plot"))]
impl ClusterOptions {
    fn draw(&self, _input: &ClusterInput, _set: &ClusterSet, _runner: &JobRunner) -> Result<()> {
        Ok(())
    }

    fn heat_map(&self, _input: &ClusterInput, _set: &ClusterSet, _runner: &JobRunner) -> Result<Option<String>> {
        Ok(None)
    }
}

impl JobCommand for ClusterOptions {
    type Input = ClusterInput;
    type Summary = ClusterSummary;
    const FAMILY: Family = Family::Pairs;

    fn family(&self) -> Family {
        family_of(self.scoring.mode())
    }

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, self.report.as_deref())
    }

    fn sequence_files(&self) -> Vec<&Path> {
        vec![&self.seqs]
    }

    fn read(&self, _run: &Run) -> Result<ClusterInput> {
        self.others.check()?;
        self.plot.as_ref().map_or(Ok(()), |plot| Output::check(&plot.path))?;
        let records = read_checked(&self.seqs, &self.read, annotations::check_abundance)?;
        let scoring = self.scoring.resolve(records.alphabet())?.scoring()?;
        check_strand(self.strand, records.alphabet())?;
        self.others.check_names(&records)?;
        let size = |record: SequenceId| annotations::abundance(records.name_bytes(record)).unwrap_or(1);
        let sizes: Vec<u64> = (0..records.len() as SequenceId).map(size).collect();
        let unique = Arc::new(UniqueSet::new(&records, &sizes, self.strand == Strands::Both));
        Ok(ClusterInput { records: Arc::new(records), sizes, unique, scoring: Arc::new(scoring) })
    }

    fn run(&self, input: ClusterInput, mut runner: JobRunner, output: Output) -> Result<ClusterSummary> {
        runner.show_progress_pairs();
        let (sets, summary) = self.clusters(&input).run(&runner.run)?;
        self.write(&input, &sets, summary, &mut runner, output)
    }

    fn stats(summary: &ClusterSummary) -> impl Serialize {
        ClusterStats {
            job: JobStats::from_summary(&summary.summary),
            sequences: summary.records,
            unique_sequences: summary.unique,
            thresholds: summary.clusters.iter().map(|(threshold, _)| *threshold).collect(),
            clusters: summary.clusters.iter().map(|(_, clusters)| *clusters).collect(),
        }
    }

    fn lines(&self, summary: &ClusterSummary) -> Vec<String> {
        let ClusterSummary { summary, records, unique, clusters } = summary;
        let clusters: Vec<String> = clusters
            .iter()
            .map(|&(threshold, clusters)| format!("{} at {threshold}", counted(clusters, "cluster")))
            .collect();
        let line = format!(
            "{}, {} different: {}; {} compared in {:.3} s",
            counted(*records, "sequence"),
            HumanCount(*unique),
            clusters.join(", "),
            pairs_in_words(summary.pairs),
            summary.seconds
        );
        std::iter::once(line).chain(engine_lines(summary)).collect()
    }
}

impl BlockCommand for ClusterOptions {
    type Job = AllPairs;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.seqs), self.scoring.matrix_file()].into_iter().flatten().collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        let report = self.report.as_ref().map(|_| "--report");
        self.others.first().or(report).or(self.plot.as_ref().map(|_| "--plot"))
    }

    fn job(&self, input: &ClusterInput) -> Result<AllPairs> {
        let clusters = self.clusters(input);
        clusters.validate()?;
        if clusters.has_strands_by_threshold() {
            return Err(Error::usage(
                "--strand both with several values of --min-identity cannot be split into blocks: plan one value at a time",
            ));
        }
        Ok(clusters.pairs())
    }

    fn deliver(
        &self,
        input: ClusterInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&AllPairs, &mut JobRunner, RowSink<'_, AllPairs>) -> Result<Summary>,
    ) -> Result<ClusterSummary> {
        let clusters = self.clusters(&input);
        let job = self.job(&input)?;
        let mut gathered = clusters.empty_collection();
        let mut summary = source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        let sets = clusters.finish(gathered, &runner.run, &mut summary)?;
        self.write(&input, &sets, summary, &mut runner, output)
    }
}
