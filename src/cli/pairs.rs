//! `pairwave pairs`: the job, from validated options to results.

use super::blocks::{BlockCommand, RowSink};
use super::chance;
use super::common::{ComputeOptions, OutputFiles, check_strand};
use super::progress::summary_lines;
use super::runner::{Files, JobCommand, JobRunner};
use super::scoring::ScoringChoice;
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::pairs::{CHUNK_PAIRS, CHUNK_SYMBOLS};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{Job, PairList, PairRow, PairSource, Run, Summary};
use pairwave::output::{self, Contents, Context, Output, OutputPair, PafIntervals, PairFormat, PairKind, PairWriter};
use pairwave::pairs::kernels::family_of;
use pairwave::score::{CoverageFilter, IdentityDefinition, Scoring};
use pairwave::seq::{
    PairedChunks, Qualities, ReadOptions, SequenceStore, Strands, paired, read_files, read_paf, read_pairs,
    read_partners, read_qualified,
};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pairs of two files read in step, or of a list.
#[derive(Debug)]
pub(super) struct PairsJob {
    /// File of queries; `-` is standard input.
    pub a: PathBuf,
    pub listing: Listing,
    pub read: ReadOptions,
    pub scoring: ScoringChoice,
    pub strand: Strands,
    pub identity: IdentityDefinition,
    /// Minimum coverages of a written pair.
    pub coverage: CoverageFilter,
    pub score_only: bool,
    pub format: PairFormat,
    pub files: OutputFiles,
    pub compute: ComputeOptions,
}

/// Source of the pairs.
#[derive(Debug)]
pub(super) enum Listing {
    /// Record i of A with record i of this file.
    InStep(PathBuf),
    /// Pairs of a list, which names sequences of one file or of two.
    Listed { b: Option<PathBuf>, list: PathBuf },
    /// Intervals of the records of a PAF file, which names sequences of one file or of two.
    Intervals {
        b: Option<PathBuf>,
        paf: PathBuf,
        /// Number of symbols that are added on each side.
        extend: u32,
    },
}

impl Listing {
    /// Returns the paths of the files other than A, for changes.
    fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let both = match self {
            Listing::InStep(b) => [Some(b), None],
            Listing::Listed { b, list } => [b.as_mut(), Some(list)],
            Listing::Intervals { b, paf, .. } => [b.as_mut(), Some(paf)],
        };
        both.into_iter().flatten()
    }

    /// Returns the paths of the files other than A.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let both = match self {
            Listing::InStep(b) => [Some(b), None],
            Listing::Listed { b, list } => [b.as_ref(), Some(list)],
            Listing::Intervals { b, paf, .. } => [b.as_ref(), Some(paf)],
        };
        both.into_iter().flatten().map(PathBuf::as_path)
    }
}

/// Input that `pairwave pairs` reads before it starts.
pub(super) struct PairsInput {
    source: PairSource,
    /// Queries of the first pairs, or all queries.
    queries: Arc<SequenceStore>,
    targets: Arc<SequenceStore>,
    /// The whole sequences, if the pairs are intervals.
    intervals: Option<PafIntervals>,
    scoring: Scoring,
    /// Threads of the job, which also read lists and format results.
    pool: Arc<rayon::ThreadPool>,
}

impl PairsJob {
    /// Returns whether the format writes the qualities of reads.
    fn qualities(&self) -> Qualities {
        if matches!(self.format, PairFormat::Sam { .. }) { Qualities::Keep } else { Qualities::Skip }
    }

    /// Returns what writers of the job's results need.
    fn context(&self, input: &PairsInput, job: &PairList) -> Context {
        let PairsInput { queries, targets, scoring, .. } = input;
        let [queries, targets] = [queries, targets].map(Arc::clone);
        let contents = Contents { kind: PairKind::Compared, has_alignments: !job.score_only };
        Context { queries, targets, scoring: scoring.clone(), identity: self.identity, contents }
    }

    /// Reads both files of sequences.
    fn stores(&self, other: Option<&PathBuf>) -> Result<[Arc<SequenceStore>; 2]> {
        let paths: Vec<&PathBuf> = [Some(&self.a), other].into_iter().flatten().collect();
        let read = if self.qualities() == Qualities::Keep { read_qualified } else { read_files };
        let mut stores = read(&paths, &self.read)?.into_iter().map(Arc::new);
        let queries = stores.next().ok_or_else(|| Error::Internal("no store for the file that was read".into()))?;
        let targets = stores.next().unwrap_or_else(|| Arc::clone(&queries));
        Ok([queries, targets])
    }

    /// Opens the source of pairs.
    fn source(&self, pool: &rayon::ThreadPool) -> Result<OpenedPairs> {
        Ok(match &self.listing {
            Listing::Intervals { b, paf, extend } => {
                let [queries, targets] = self.stores(b.as_ref())?;
                let pairs = pool.install(|| read_paf(paf, &queries, &targets))?;
                let pairs: Arc<[_]> = pairs.iter().map(|pair| pair.extended(*extend, &queries, &targets)).collect();
                let source = PairSource::from_intervals(&queries, &targets, &pairs);
                OpenedPairs { intervals: Some(PafIntervals { queries, targets, pairs }), ..OpenedPairs::new(source)? }
            }
            Listing::Listed { b, list } => {
                let [queries, targets] = self.stores(b.as_ref())?;
                let pairs = pool.install(|| read_pairs(list, &queries, &targets))?.into();
                OpenedPairs::new(PairSource::Listed { queries, targets, pairs })?
            }
            Listing::InStep(b) if self.format.needs_sets() => {
                let stores = read_partners([&self.a, b], &self.read, self.qualities())?.map(Arc::new);
                paired::check_counts([&self.a, b], stores.each_ref().map(|store| &**store))?;
                let [queries, targets] = stores;
                OpenedPairs::new(PairSource::by_equal_index(queries, targets)?)?
            }
            Listing::InStep(b) => {
                let chunks = PairedChunks::open([&self.a, b], &self.read, CHUNK_PAIRS, CHUNK_SYMBOLS)?;
                OpenedPairs::new(PairSource::in_step(chunks))?
            }
        })
    }
}

/// A source of pairs, with the sequences of the first pairs, or with all sequences.
struct OpenedPairs {
    source: PairSource,
    queries: Arc<SequenceStore>,
    targets: Arc<SequenceStore>,
    intervals: Option<PafIntervals>,
}

impl OpenedPairs {
    /// Creates a source whose pairs are whole sequences.
    fn new(source: PairSource) -> Result<Self> {
        let (queries, targets) = source.first_sets()?;
        Ok(OpenedPairs { source, queries, targets, intervals: None })
    }
}

impl JobCommand for PairsJob {
    type Input = PairsInput;
    type Summary = Summary;
    const FAMILY: Family = Family::Pairs;

    fn family(&self) -> Family {
        family_of(self.scoring.mode())
    }

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, None)
    }

    fn read(&self, run: &Run) -> Result<PairsInput> {
        let pool = thread_pool(run.threads)?;
        let OpenedPairs { source, queries, targets, intervals } = self.source(&pool)?;
        let scoring = self.scoring.resolve(queries.alphabet())?.scoring()?;
        check_strand(self.strand, queries.alphabet())?;
        Ok(PairsInput { source, queries, targets, intervals, scoring, pool })
    }

    fn run(&self, input: PairsInput, runner: JobRunner, output: Output) -> Result<Summary> {
        self.deliver(input, runner, output, |job, runner, rows| {
            match job.cells()? {
                Some(cells) => runner.show_progress(cells),
                None => runner.show_progress_pairs(),
            }
            job.run(&runner.run, |some| rows.rows(some))
        })
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::from_summary(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        summary_lines(summary, false)
    }
}

impl BlockCommand for PairsJob {
    type Job = PairList;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        let matrix = self.scoring.matrix_file();
        std::iter::once(&mut self.a).chain(self.listing.paths_mut()).chain(matrix).collect()
    }

    fn set_command_line(&mut self, line: String) {
        if let PairFormat::Sam { command } = &mut self.format {
            *command = line;
        }
    }

    fn job(&self, input: &PairsInput) -> Result<PairList> {
        let needs_alignment = self.format.needs_alignment() || self.coverage.is_set() || self.compute.check;
        Ok(PairList {
            strand: self.strand,
            definition: self.identity,
            coverage: self.coverage,
            score_only: self.score_only || !needs_alignment,
            check: self.compute.check,
            ..PairList::new(input.source.clone(), Arc::new(input.scoring.clone()))
        })
    }

    fn check_format(&self, input: &PairsInput) -> Result<()> {
        match input.intervals {
            Some(_) => Ok(()),
            None => self.format.check(&self.context(input, &self.job(input)?)),
        }
    }

    fn deliver(
        &self,
        input: PairsInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&PairList, &mut JobRunner, RowSink<'_, PairList>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let context = self.context(&input, &job);
        let PairsInput { intervals, pool, .. } = input;
        chance::warn_of_stores(&context.scoring, &context.queries, &context.targets);
        let mut writer = match intervals {
            Some(intervals) => output::open_intervals(intervals, context, output)?,
            None => output::open_listed(&self.format, context, output)?,
        };
        writer.begin()?;
        let summary = source(&job, &mut runner, &mut Whole(|rows: &[_]| write(&mut *writer, rows, &pool)))?;
        writer.finish()?;
        Ok(summary)
    }
}

/// Writes rows. Formats adjacent rows with the same sequence stores in one call.
fn write(writer: &mut dyn PairWriter, rows: &[PairRow], pool: &rayon::ThreadPool) -> Result<()> {
    let is_same = |a: &PairRow, b: &PairRow| Arc::ptr_eq(&a.queries, &b.queries) && Arc::ptr_eq(&a.targets, &b.targets);
    for rows in rows.chunk_by(is_same) {
        writer.replace_sequences(&rows[0].queries, &rows[0].targets)?;
        let pairs: Vec<OutputPair<'_>> = rows.iter().map(|row| OutputPair::from(&row.result)).collect();
        pool.install(|| writer.write_all(&pairs))?;
    }
    Ok(())
}
