//! `pairwave dist`: validated options, and the job.

use super::compared::{Compared, ComparisonOptions, check_computing};
use crate::cli::args::*;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::plot::PlotFile;
use crate::cli::common::{ComputeOptions, OutputFiles, warn_of_names};
use crate::cli::endings;
use crate::cli::msa::SequenceSet;
use crate::cli::progress::summary_lines;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::msa::{DistanceRows, PairDistance, PairDistances};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{Job, Run, Summary};
use pairwave::output::msa::{DistanceFormat, write_distances};
#[cfg(feature = "plot")]
use pairwave::output::plot::HeatMap;
use pairwave::output::{DistanceMatrixShape, Output};
#[cfg(feature = "plot")]
use pairwave::tree::Correction;
use pairwave::tree::{Distances, TreeRun};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Validated options of `pairwave dist`.
#[derive(Debug)]
pub(in crate::cli) struct DistanceMatrix {
    comparison: ComparisonOptions,
    format: DistanceFormat,
}

impl TryFrom<DistArgs> for DistanceMatrix {
    type Error = Error;

    fn try_from(args: DistArgs) -> Result<Self> {
        let compute = ComputeOptions::try_from(&args.compute)?;
        let inputs = [args.input.seqs.as_path()];
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        let plot = args.plot.map(|path| PlotFile::new(path, &inputs, files.names())).transpose()?;
        let is_clustal = args.format == DistanceFormatName::Clustal;
        let written = if is_clustal { "dst".to_owned() } else { endings::value_name(args.format) };
        endings::check("dist", "--output", files.output.as_deref(), &written)?;
        args.pairs.check(args.distance.distance)?;
        args.columns.check(&args.input)?;
        if args.columns.aligned
            && let Some(option) = args.distance.distance.map(|_| "--distance").or_else(|| args.pairs.given())
        {
            return Err(Error::usage(format!(
                "{option} has no effect with --aligned, where --model selects the distance: remove it"
            )));
        }
        check_computing(&args.compute, &args.columns, args.distance.distance, None)?;
        if args.shape.matrix_shape.is_some() && args.format != DistanceFormatName::Phylip {
            return Err(Error::usage("--matrix-shape applies only to --format phylip: other matrices are square"));
        }
        Ok(DistanceMatrix {
            format: match args.format {
                DistanceFormatName::Phylip => DistanceFormat::Phylip(
                    args.shape.matrix_shape.map_or(DistanceMatrixShape::default(), DistanceMatrixShape::from),
                ),
                DistanceFormatName::Clustal => DistanceFormat::Clustal,
                DistanceFormatName::Tsv => DistanceFormat::Tsv,
            },
            comparison: ComparisonOptions {
                source: args.input.into(),
                columns: args.columns.comparison()?,
                distance: args.distance.distance.map_or_else(PairDistance::default, PairDistance::from),
                pairs: args.pairs,
                files,
                plot,
                compute,
            },
        })
    }
}

impl JobCommand for DistanceMatrix {
    type Input = Compared;
    type Summary = Summary;
    const FAMILY: Family = Family::Clustal;

    fn compute(&self) -> &ComputeOptions {
        &self.comparison.compute
    }

    fn idle_computing(&self) -> Vec<&'static str> {
        self.comparison.idle_computing()
    }

    fn files(&self) -> Files<'_> {
        self.comparison.output_files()
    }

    fn read(&self, _run: &Run) -> Result<Compared> {
        self.comparison.read()
    }

    fn run(&self, input: Compared, mut runner: JobRunner, output: Output) -> Result<Summary> {
        let sequences = match input {
            Compared::Sequences(sequences) => sequences,
            Compared::Rows(rows) => {
                let begin = Instant::now();
                let pool = thread_pool(runner.run.threads)?;
                let stopped = || runner.run.interrupt.load(Ordering::Relaxed);
                let tree_run = TreeRun { threads: &pool, stopped: &stopped };
                let distances = rows.distances(self.comparison.columns.unwrap_or_default(), tree_run)?;
                let names: Vec<&[u8]> = rows.names.iter().map(|name| name.as_slice()).collect();
                self.write(&distances, &names, runner.picture.take(), output)?;
                let pairs = (names.len() * names.len().saturating_sub(1) / 2) as u64;
                let seconds = begin.elapsed().as_secs_f64();
                return Ok(Summary { pairs, written: pairs, seconds, ..Summary::default() });
            }
        };
        let job = self.distances_of(&sequences)?;
        runner.show_progress(job.cells());
        let mut result = None;
        let summary = job.run(&runner.run, |distances| {
            result = distances.first().cloned();
            Ok(())
        })?;
        let distances = result.ok_or_else(|| Error::Internal("a job without a result".into()))?;
        self.write(&distances, &sequences.names(), runner.picture.take(), output)?;
        Ok(summary)
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::from_summary(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        summary_lines(summary, false)
    }
}

impl DistanceMatrix {
    fn distances_of(&self, sequences: &SequenceSet) -> Result<PairDistances> {
        Ok(PairDistances {
            kind: self.comparison.distance,
            costs: Some(self.comparison.costs(sequences)?),
            check: self.comparison.compute.check,
            ..PairDistances::new(Arc::clone(&sequences.store))
        })
    }

    /// Writes the matrix. Writes the picture first: once the matrix exists, its picture exists too.
    fn write(&self, distances: &Distances, names: &[&[u8]], picture: Option<Output>, output: Output) -> Result<()> {
        self.draw(distances, names, picture)?;
        let order: Vec<u32> = (0..names.len() as u32).collect();
        let renamed = write_distances(self.format, distances, names, &order, output)?;
        warn_of_names(self.comparison.files.output.as_deref(), &renamed);
        Ok(())
    }
}

#[cfg(feature = "plot")]
impl DistanceMatrix {
    /// Draws the heat map, if one is requested.
    fn draw(&self, distances: &Distances, names: &[&[u8]], picture: Option<Output>) -> Result<()> {
        let ComparisonOptions { source, columns, distance, plot, .. } = &self.comparison;
        let (Some(picture), Some(plot)) = (picture, plot) else { return Ok(()) };
        let legend = match (columns.map(|columns| columns.correction), distance) {
            (Some(Correction::Kimura), _) => "Kimura's distance of the columns",
            (Some(Correction::Model(_)), _) => "Substitutions per site",
            (Some(Correction::Uncorrected), _) => "Fraction of columns that differ",
            (None, PairDistance::Clustal) => "ClustalW's distance: 1 - identities / shorter length",
            (None, PairDistance::Identity) => "1 - identities / shorter length",
            (None, PairDistance::Edit) => "Levenshtein distance / longer length",
            (None, PairDistance::Kmer) => "1 - shared k-mers / k-mers of the shorter sequence",
        };
        let values = |row, column| distances.get(row, column);
        HeatMap { names, values: &values, title: &source.title(), legend }.write(plot.picture, picture)
    }
}

#[cfg(not(feature = "plot"))]
impl DistanceMatrix {
    /// Does nothing. Without the feature, no valid options request a picture.
    fn draw(&self, _: &Distances, _: &[&[u8]], _: Option<Output>) -> Result<()> {
        Ok(())
    }
}

impl BlockCommand for DistanceMatrix {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        self.comparison.inputs()
    }

    fn other_output(&self) -> Option<&'static str> {
        self.comparison.other_output()
    }

    fn job(&self, input: &Compared) -> Result<DistanceRows> {
        Ok(DistanceRows::new(self.distances_of(input.sequences()?)?))
    }

    fn deliver(
        &self,
        input: Compared,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut JobRunner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let mut gathered = job.empty_collection()?;
        let summary = source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        self.write(&gathered.finish()?, &input.sequences()?.names(), runner.picture.take(), output)?;
        Ok(summary)
    }
}
