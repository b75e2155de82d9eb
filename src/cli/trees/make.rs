//! `pairwave tree`: validated options, and the job.

use super::compared::{CodedRows, Compared, ComparisonOptions, check_computing};
use crate::cli::args::*;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::plot::PlotFile;
use crate::cli::common::{ComputeOptions, OutputFiles, first_given, warn_of_names};
use crate::cli::msa::SequenceSet;
use crate::cli::progress::summary_lines;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use crate::cli::{endings, size};
use bstr::{BStr, BString};
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::msa::{DistanceRows, PairDistance, SequenceTree, TreeSummary};
use pairwave::jobs::{Job, Run, Summary};
use pairwave::output::Output;
use pairwave::output::dotplot::Picture;
#[cfg(feature = "plot")]
use pairwave::output::plot::Phylogram;
use pairwave::seq::NameRules;
use pairwave::tree::newick::NameStyle;
#[cfg(feature = "plot")]
use pairwave::tree::newick::nodes;
use pairwave::tree::{Bootstrap, Labels, TreeMethod, TreeRun};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Validated options of `pairwave tree`.
#[derive(Debug)]
pub(in crate::cli) struct TreeMake {
    comparison: ComparisonOptions,
    /// Resampling of columns, used if the sequences are aligned. Without `--bootstrap` it has no
    /// trials.
    bootstrap: Bootstrap,
    labels: Labels,
    method: TreeMethod,
}

/// Newick texts of a tree.
struct TreeTexts {
    /// Text of the output.
    written: BString,
    /// Text of the picture, with support values as names of nodes, if it differs.
    drawn: Option<BString>,
}

impl TreeTexts {
    fn new(written: BString) -> Self {
        TreeTexts { written, drawn: None }
    }
}

/// Returns the tree of an alignment. Trees of neighbour joining are written as ClustalW writes them.
fn tree_of_rows(rows: &CodedRows, bootstrap: Bootstrap, labels: Labels, run: &Run) -> Result<TreeTexts> {
    let pool = thread_pool(run.threads)?;
    bootstrap.method.check_memory(rows.codes.len(), None)?;
    let tree_run = TreeRun { threads: &pool, stopped: &|| run.interrupt.load(Ordering::Relaxed) };
    let tree = bootstrap.method.build(rows.distances(bootstrap.comparison, tree_run)?, tree_run)?;
    if bootstrap.trials == 0 {
        return Ok(TreeTexts::new(tree.newick_in(NameStyle::Quoted, &rows.names)));
    }
    if rows.codes.len() < 4 {
        return Err(Error::usage(format!(
            "--bootstrap: a tree of {} sequences has no groups; give four sequences or more",
            rows.codes.len()
        )));
    }
    let support = tree.support(rows.alphabet, &rows.codes, bootstrap, tree_run)?;
    let text = |labels| tree.labelled(&rows.names, &support, labels);
    Ok(TreeTexts { written: text(labels), drawn: (labels != Labels::Nodes).then(|| text(Labels::Nodes)) })
}

impl TryFrom<TreeArgs> for TreeMake {
    type Error = Error;

    fn try_from(args: TreeArgs) -> Result<Self> {
        let compute = ComputeOptions::try_from(&args.compute)?;
        let inputs = [args.input.seqs.as_path()];
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        let plot = args.plot.map(|path| PlotFile::new(path, &inputs, files.names())).transpose()?;
        endings::check("tree", "--output", files.output.as_deref(), "newick")?;
        args.pairs.check(args.distances.pair.distance)?;
        args.pairs.check_tree(&args.distances)?;
        args.columns.check(&args.input)?;
        let given = [
            ("--distance", args.distances.pair.distance.is_some()),
            (args.pairs.given().unwrap_or_default(), args.pairs.given().is_some()),
        ];
        let columns = args.columns.comparison()?;
        if columns.is_some()
            && let Some(option) = first_given(&given)
        {
            return Err(Error::usage(format!(
                "{option} has no effect with --aligned, where --model selects the distance: remove it"
            )));
        }
        let method = args.distances.tree.map_or_else(TreeMethod::default, TreeMethod::from);
        if columns.is_some() && method == TreeMethod::Mbed {
            return Err(Error::usage("--tree mbed compares shared k-mers, not columns: remove it or --aligned"));
        }
        check_computing(&args.compute, &args.columns, args.distances.pair.distance, args.distances.tree)?;
        size::check_positive("--bootstrap", args.bootstrap)?;
        let trials = args.bootstrap.unwrap_or(0);
        Ok(TreeMake {
            bootstrap: Bootstrap { trials, seed: args.seed, comparison: columns.unwrap_or_default(), method },
            labels: match args.labels {
                LabelsName::Nodes => Labels::Nodes,
                LabelsName::Branches => Labels::Branches,
            },
            method,
            comparison: ComparisonOptions {
                source: args.input.into(),
                columns,
                distance: args.distances.pair.distance.map_or_else(PairDistance::default, PairDistance::from),
                pairs: args.pairs,
                files,
                plot,
                compute,
            },
        })
    }
}

impl TreeMake {
    /// Builds the tree of sequences, and writes it.
    fn write_tree(
        &self,
        job: &SequenceTree,
        names: &[Vec<u8>],
        mut runner: JobRunner,
        output: Output,
    ) -> Result<TreeSummary> {
        let mut written = BString::default();
        let summary = job.run(&runner.run, |trees| {
            trees.iter().for_each(|made| written.extend_from_slice(&made.newick(NameStyle::Quoted, names)));
            Ok(())
        })?;
        self.write(&TreeTexts::new(written), runner.picture.take(), output)?;
        Ok(summary)
    }

    /// Writes a tree. Writes the picture first: once the tree exists, its picture exists too.
    fn write(&self, texts: &TreeTexts, picture: Option<Output>, mut output: Output) -> Result<()> {
        let ComparisonOptions { source, plot, .. } = &self.comparison;
        if let (Some(picture), Some(plot)) = (picture, plot) {
            let text = texts.drawn.as_ref().unwrap_or(&texts.written);
            write_picture(text.as_ref(), &source.title(), plot.picture, picture)?;
        }
        output.buffer().extend_from_slice(&texts.written);
        output.finish()
    }

    /// Returns the unique names of leaves, and warns of renamed ones.
    fn written_names(&self, sequences: &SequenceSet) -> Vec<Vec<u8>> {
        let order: Vec<u32> = (0..sequences.store.len() as u32).collect();
        let (names, renamed) = NameRules::NEWICK.apply(&sequences.names(), &order);
        warn_of_names(self.comparison.files.output.as_deref(), &renamed);
        names
    }

    fn tree_of(&self, sequences: &SequenceSet) -> Result<SequenceTree> {
        Ok(SequenceTree {
            distance: self.comparison.distance,
            costs: Some(self.comparison.costs(sequences)?),
            method: self.method,
            check: self.comparison.compute.check,
            ..SequenceTree::new(Arc::clone(&sequences.store))
        })
    }
}

/// Draws the tree in a Newick text.
#[cfg(feature = "plot")]
fn write_picture(text: &BStr, title: &str, picture: Picture, output: Output) -> Result<()> {
    let nodes =
        nodes(text).map_err(|error| Error::Internal(format!("the tree cannot be read again: {}", error.message)))?;
    Phylogram { nodes: &nodes, title }.write(picture, output)
}

/// Does nothing. Without the feature, no valid options request a picture.
#[cfg(not(feature = "plot"))]
fn write_picture(_: &BStr, _: &str, _: Picture, _: Output) -> Result<()> {
    Ok(())
}

impl JobCommand for TreeMake {
    type Input = Compared;
    type Summary = TreeSummary;
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

    fn run(&self, input: Compared, mut runner: JobRunner, output: Output) -> Result<TreeSummary> {
        let sequences = match input {
            Compared::Sequences(sequences) => sequences,
            Compared::Rows(rows) => {
                let begin = Instant::now();
                let rows = if self.method.sorts_by_name() { rows.by_name() } else { rows };
                let texts = tree_of_rows(&rows, self.bootstrap, self.labels, &runner.run)?;
                self.write(&texts, runner.picture.take(), output)?;
                return Ok(TreeSummary { tree_seconds: begin.elapsed().as_secs_f64(), ..TreeSummary::default() });
            }
        };
        let job = self.tree_of(&sequences)?;
        runner.show_progress(job.cells());
        self.write_tree(&job, &self.written_names(&sequences), runner, output)
    }

    fn stats(summary: &TreeSummary) -> impl Serialize {
        summary.clone()
    }

    fn lines(&self, summary: &TreeSummary) -> Vec<String> {
        let has_pairs = summary.distances.pairs > 0;
        let mut lines = if has_pairs { summary_lines(&summary.distances, false) } else { Vec::new() };
        lines.push(format!("tree in {:.3} s", summary.tree_seconds));
        lines
    }
}

impl BlockCommand for TreeMake {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        self.comparison.inputs()
    }

    fn other_output(&self) -> Option<&'static str> {
        self.comparison.other_output()
    }

    fn job(&self, input: &Compared) -> Result<DistanceRows> {
        let distances = self.tree_of(input.sequences()?)?.pair_distances();
        distances.map(DistanceRows::new).ok_or_else(|| {
            Error::usage("--tree mbed: this tree needs so few distances that the job cannot be split into blocks")
        })
    }

    fn deliver(
        &self,
        input: Compared,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut JobRunner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<TreeSummary> {
        let job = self.job(&input)?;
        let mut gathered = job.empty_collection()?;
        source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        let given = Some(Arc::new(gathered.finish()?));
        let sequences = input.sequences()?;
        let job = SequenceTree { given, ..self.tree_of(sequences)? };
        self.write_tree(&job, &self.written_names(sequences), runner, output)
    }
}
