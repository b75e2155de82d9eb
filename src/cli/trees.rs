//! `pairwave tree` and `pairwave dist`: what is valid, and the jobs.

use super::args::*;
use super::blocks::{BlockCommand, RowSink};
use super::common::{Compute, check_stats, compute, output, warn_of_names};
use super::endings;
use super::msa::{Sequences, Source};
use super::progress::summary_lines;
use super::runner::{Files, JobCommand, Runner};
use bstr::BString;
use pairwave::engine::thread_pool;
use pairwave::error::Place;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::msa::{DistanceRows, PairDistance, PairDistances, SequenceTree, TreeMethod, TreeSummary};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{Job, Run, Summary};
use pairwave::output::msa::{DistanceFormat, write_distances};
use pairwave::output::{MatrixShape, Output};
use pairwave::seq::aligned::aligned_code;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{AlignedRows, Alphabet, Code, NameRules, PAD};
use pairwave::tree::newick::NameStyle;
use pairwave::tree::{Bootstrap, Comparison, Distances, Doubts, Labels, neighbour_joining};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Sequences whose tree is made.
#[derive(Debug)]
pub(super) struct TreeMake {
    source: Source,
    /// How columns are drawn, if the sequences are aligned; no trials for the tree alone.
    columns: Option<Bootstrap>,
    labels: Labels,
    distance: PairDistance,
    pairs: PairScoringArgs,
    method: TreeMethod,
    output: Option<PathBuf>,
    stats: Option<PathBuf>,
    compute: Compute,
}

/// A matrix of distances.
#[derive(Debug)]
pub(super) struct DistanceMatrix {
    source: Source,
    /// How columns are compared, if the sequences are aligned.
    columns: Option<Comparison>,
    distance: PairDistance,
    pairs: PairScoringArgs,
    format: DistanceFormat,
    output: Option<PathBuf>,
    stats: Option<PathBuf>,
    compute: Compute,
}

impl TryFrom<DistArgs> for DistanceMatrix {
    type Error = Error;

    fn try_from(args: DistArgs) -> Result<Self> {
        let (compute, stats) = compute(args.compute)?;
        let inputs = [args.input.seqs.as_path()];
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        let is_clustal = args.format == DistanceFormatName::Clustal;
        let written = if is_clustal { "dst".to_owned() } else { endings::typed(args.format) };
        endings::check("dist", "--output", output.as_deref(), &written)?;
        args.pairs.check(args.distance)?;
        args.columns.check(&args.input)?;
        if args.columns.aligned
            && let Some(option) = args.distance.map(|_| "--distance").or_else(|| args.pairs.given())
        {
            return Err(Error::usage(format!(
                "{option} with --aligned: distances are the part of columns that differ, leave it out"
            )));
        }
        if args.matrix_shape.is_some() && args.format != DistanceFormatName::Phylip {
            return Err(Error::usage("--matrix-shape is for --format phylip: the others are square"));
        }
        Ok(DistanceMatrix {
            columns: args.columns.comparison(),
            distance: args.distance.map_or_else(PairDistance::default, PairDistance::from),
            format: match args.format {
                DistanceFormatName::Phylip => {
                    DistanceFormat::Phylip(args.matrix_shape.map_or(MatrixShape::default(), MatrixShape::from))
                }
                DistanceFormatName::Clustal => DistanceFormat::Clustal,
                DistanceFormatName::Tsv => DistanceFormat::Tsv,
            },
            source: args.input.into(),
            pairs: args.pairs,
            output,
            stats,
            compute,
        })
    }
}

impl JobCommand for DistanceMatrix {
    type Input = Compared;
    type Summary = Summary;
    const FAMILY: Family = Family::Clustal;

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files { output: self.output.as_deref(), stats: self.stats.as_deref(), picture: None }
    }

    fn read(&self, _run: &Run) -> Result<Compared> {
        self.source.compared(self.columns.is_some())
    }

    fn run(&self, input: Compared, mut runner: Runner, output: Output) -> Result<Summary> {
        let sequences = match input {
            Compared::Sequences(sequences) => sequences,
            Compared::Rows(rows) => {
                let begin = Instant::now();
                let pool = thread_pool(runner.run.threads)?;
                let distances = rows.distances(self.columns.unwrap_or_default(), &pool);
                let names: Vec<&[u8]> = rows.names.iter().map(|name| name.as_slice()).collect();
                self.write(&distances, &names, output)?;
                let pairs = (names.len() * names.len().saturating_sub(1) / 2) as u64;
                let seconds = begin.elapsed().as_secs_f64();
                return Ok(Summary { pairs, written: pairs, seconds, ..Summary::default() });
            }
        };
        let job = self.distances_of(&sequences)?;
        runner.show_progress(job.cells());
        let mut found = None;
        let summary = job.run(&runner.run, |distances| {
            found = distances.first().cloned();
            Ok(())
        })?;
        let distances = found.ok_or_else(|| Error::Internal("a job without a result".into()))?;
        self.write(&distances, &sequences.names(), output)?;
        Ok(summary)
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::of(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        summary_lines(summary, false)
    }
}

impl DistanceMatrix {
    fn distances_of(&self, sequences: &Sequences) -> Result<PairDistances> {
        Ok(PairDistances {
            kind: self.distance,
            costs: Some(self.pairs.costs(sequences.store.alphabet(), 0.5)?),
            check: self.compute.check,
            ..PairDistances::new(Arc::clone(&sequences.store))
        })
    }

    fn write(&self, distances: &Distances, names: &[&[u8]], output: Output) -> Result<()> {
        let order: Vec<u32> = (0..names.len() as u32).collect();
        warn_of_names(self.output.as_deref(), &write_distances(self.format, distances, names, &order, output)?);
        Ok(())
    }
}

/// What is compared.
pub(super) enum Compared {
    Sequences(Sequences),
    Rows(Rows),
}

impl Source {
    /// Sequences, or rows of an alignment.
    fn compared(&self, are_aligned: bool) -> Result<Compared> {
        if are_aligned {
            return Ok(Compared::Rows(Rows::read(&self.path, self.options.alphabet)?));
        }
        Ok(Compared::Sequences(self.read()?))
    }
}

/// Rows of an alignment in codes.
pub(super) struct Rows {
    file: String,
    names: Vec<BString>,
    alphabet: Alphabet,
    codes: Vec<Vec<Code>>,
}

impl Rows {
    fn read(path: &Path, alphabet: AlphabetChoice) -> Result<Rows> {
        let rows = AlignedRows::read(path)?;
        let alphabet = rows.check(alphabet)?;
        let code = |&letter: &u8| aligned_code(alphabet, letter).unwrap_or(PAD);
        let codes = rows.rows.iter().map(|row| row.iter().map(code).collect()).collect();
        Ok(Rows { file: rows.file, names: rows.names, alphabet, codes })
    }

    fn distances(&self, comparison: Comparison, threads: &rayon::ThreadPool) -> Distances {
        let (distances, doubts) = Distances::of_rows(self.alphabet, &self.codes, comparison, threads);
        let pairs = self.codes.len() * self.codes.len().saturating_sub(1) / 2;
        if let Doubts { far: far @ 1.., .. } = doubts {
            let most = if self.alphabet == Alphabet::Dna { "3.5" } else { "10" };
            tracing::warn!("--kimura: {far} of {pairs} distances are too great to be corrected: they count as {most}");
        }
        if let Some([a, b]) = doubts.first_apart {
            let place = Place::of_file(&self.file);
            let left = if comparison.without_gaps { " that --no-gap-columns leaves" } else { "" };
            tracing::warn!(
                "{place}: {} of {pairs} pairs of rows have no residues in common columns{left}: their distance counts as 0, as \
                 in ClustalW; the first are '{}' and '{}'",
                doubts.apart,
                self.names[a],
                self.names[b]
            );
        }
        distances
    }
}

impl ColumnArgs {
    /// Refuses to take gaps out of an alignment.
    fn check(&self, input: &SequencesArgs) -> Result<()> {
        if self.aligned && input.degap {
            return Err(Error::usage(
                "--degap with --aligned: the gaps say which columns are compared, leave one of them out",
            ));
        }
        Ok(())
    }

    /// How columns are compared, if they are.
    fn comparison(&self) -> Option<Comparison> {
        self.aligned.then_some(Comparison { without_gaps: self.no_gap_columns, kimura: self.kimura })
    }
}

/// Makes the tree of sequences, and writes it.
fn write_tree(job: &SequenceTree, names: &[Vec<u8>], run: &Run, mut output: Output) -> Result<TreeSummary> {
    let summary = job.run(run, |trees| {
        trees.iter().for_each(|made| output.buffer().extend_from_slice(&made.newick(NameStyle::Quoted, names)));
        Ok(())
    })?;
    output.finish()?;
    Ok(summary)
}

/// The tree of an alignment, as ClustalW writes it.
fn tree_of_rows(rows: &Rows, bootstrap: Bootstrap, labels: Labels, run: &Run) -> Result<BString> {
    let pool = thread_pool(run.threads)?;
    let tree = neighbour_joining(rows.distances(bootstrap.comparison, &pool), &pool);
    if bootstrap.trials == 0 {
        return Ok(tree.dnd(&rows.names));
    }
    if rows.codes.len() < 4 {
        return Err(Error::usage(format!(
            "--bootstrap: a tree of {} has no groups; give four sequences or more",
            rows.codes.len()
        )));
    }
    let support = tree.support(rows.alphabet, &rows.codes, bootstrap, &pool);
    Ok(tree.labelled(&rows.names, &support, labels))
}

impl TryFrom<TreeArgs> for TreeMake {
    type Error = Error;

    fn try_from(args: TreeArgs) -> Result<Self> {
        let (compute, stats) = compute(args.compute)?;
        let inputs = [args.input.seqs.as_path()];
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        endings::check("tree", "--output", output.as_deref(), "newick")?;
        args.pairs.check(args.distances.distance)?;
        args.pairs.check_tree(&args.distances)?;
        args.columns.check(&args.input)?;
        let given = [
            ("--distance", args.distances.distance.is_some()),
            ("--tree", args.distances.tree.is_some()),
            (args.pairs.given().unwrap_or_default(), args.pairs.given().is_some()),
        ];
        let comparison = args.columns.comparison();
        if comparison.is_some()
            && let Some((option, _)) = given.iter().find(|(_, given)| *given)
        {
            return Err(Error::usage(format!(
                "{option} with --aligned: that tree is neighbour joining of the columns that differ, leave it out"
            )));
        }
        if args.bootstrap == Some(0) {
            return Err(Error::usage("--bootstrap 0: at least 1 is needed"));
        }
        let trials = args.bootstrap.unwrap_or(0);
        Ok(TreeMake {
            columns: comparison.map(|comparison| Bootstrap { trials, seed: args.seed, comparison }),
            labels: match args.labels {
                LabelsName::Nodes => Labels::Nodes,
                LabelsName::Branches => Labels::Branches,
            },
            distance: args.distances.distance.map_or_else(PairDistance::default, PairDistance::from),
            method: args.distances.tree.map_or_else(TreeMethod::default, TreeMethod::from),
            source: args.input.into(),
            pairs: args.pairs,
            output,
            stats,
            compute,
        })
    }
}

impl TreeMake {
    /// Returns the unique names of leaves, and warns of renamed ones.
    fn written_names(&self, sequences: &Sequences) -> Vec<Vec<u8>> {
        let order: Vec<u32> = (0..sequences.store.len() as u32).collect();
        let (names, renamed) = NameRules::NEWICK.apply(&sequences.names(), &order);
        warn_of_names(self.output.as_deref(), &renamed);
        names
    }

    fn tree_of(&self, sequences: &Sequences) -> Result<SequenceTree> {
        Ok(SequenceTree {
            distance: self.distance,
            costs: Some(self.pairs.costs(sequences.store.alphabet(), 0.5)?),
            method: self.method,
            check: self.compute.check,
            ..SequenceTree::new(Arc::clone(&sequences.store))
        })
    }
}

impl JobCommand for TreeMake {
    type Input = Compared;
    type Summary = TreeSummary;
    const FAMILY: Family = Family::Clustal;

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files { output: self.output.as_deref(), stats: self.stats.as_deref(), picture: None }
    }

    fn read(&self, _run: &Run) -> Result<Compared> {
        self.source.compared(self.columns.is_some())
    }

    fn run(&self, input: Compared, mut runner: Runner, mut output: Output) -> Result<TreeSummary> {
        let sequences = match (input, self.columns) {
            (Compared::Sequences(sequences), _) => sequences,
            (Compared::Rows(rows), columns) => {
                let begin = Instant::now();
                let text = tree_of_rows(&rows, columns.unwrap_or_default(), self.labels, &runner.run)?;
                output.buffer().extend_from_slice(&text);
                output.finish()?;
                return Ok(TreeSummary { tree_seconds: begin.elapsed().as_secs_f64(), ..TreeSummary::default() });
            }
        };
        let job = self.tree_of(&sequences)?;
        runner.show_progress(job.cells());
        write_tree(&job, &self.written_names(&sequences), &runner.run, output)
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

impl Compared {
    /// The sequences, of which distances are computed in blocks.
    fn sequences(&self) -> Result<&Sequences> {
        match self {
            Compared::Sequences(sequences) => Ok(sequences),
            Compared::Rows(_) => Err(Error::usage("--aligned: columns are compared at once, there is nothing to cut")),
        }
    }
}

impl BlockCommand for DistanceMatrix {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.source.path), self.pairs.matrix_file()].into_iter().flatten().collect()
    }

    fn job(&self, input: &Compared) -> Result<DistanceRows> {
        Ok(DistanceRows::new(self.distances_of(input.sequences()?)?))
    }

    fn deliver(
        &self,
        input: Compared,
        mut runner: Runner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut Runner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let mut gathered = job.gather()?;
        let summary = source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        self.write(&gathered.finish()?, &input.sequences()?.names(), output)?;
        Ok(summary)
    }
}

impl BlockCommand for TreeMake {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.source.path), self.pairs.matrix_file()].into_iter().flatten().collect()
    }

    fn job(&self, input: &Compared) -> Result<DistanceRows> {
        let distances = self.tree_of(input.sequences()?)?.pair_distances();
        distances
            .map(DistanceRows::new)
            .ok_or_else(|| Error::usage("--tree mbed: that tree needs few distances, there is nothing to cut"))
    }

    fn deliver(
        &self,
        input: Compared,
        mut runner: Runner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut Runner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<TreeSummary> {
        let job = self.job(&input)?;
        let mut gathered = job.gather()?;
        source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        let given = Some(Arc::new(gathered.finish()?));
        let sequences = input.sequences()?;
        let job = SequenceTree { given, ..self.tree_of(sequences)? };
        write_tree(&job, &self.written_names(sequences), &runner.run, output)
    }
}
