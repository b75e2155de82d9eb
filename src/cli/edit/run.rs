//! `pairwave edit`: from validated options to results.

use super::EditOptions;
use super::exact::Pam;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::{ComputeOptions, check_strand};
use crate::cli::progress::summary_lines;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use pairwave::edit::plan::Against;
use pairwave::edit::{Candidate, Region};
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{EditDistances, EditResult, Job, Run, Summary};
use pairwave::output::{self, Contents, Context, Details, Edits, Output, OutputPair, PairFormat, PairKind, Range32};
use pairwave::score::{EditMode, EditScheme, IdentityDefinition, Limit};
use pairwave::seq::{PartSize, SequenceStore, TextParts, open_texts, read_candidates, read_files, read_qualified};
use pairwave::{Error, Result};
use rayon::ThreadPool;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of symbols of the texts that are searched together. Two such parts are in memory.
const PART_SYMBOLS: u64 = 1 << 27;

/// Input of `pairwave edit`.
pub(crate) struct EditInput {
    patterns: Arc<SequenceStore>,
    against: Against,
    /// Texts that are read during the job; `against` is then empty.
    parts: Option<TextParts>,
    scheme: EditScheme,
    /// Threads of the job, which also read candidates and format results.
    pool: Arc<ThreadPool>,
}

impl JobCommand for EditOptions {
    type Input = EditInput;
    type Summary = Summary;
    const FAMILY: Family = Family::Edit;

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, None)
    }

    fn sequence_files(&self) -> Vec<&Path> {
        [Some(&*self.patterns), self.texts.as_deref()].into_iter().flatten().collect()
    }

    fn opens_ahead(&self) -> bool {
        // Many patterns in long texts may share an index, which needs no GPU.
        self.mode != EditMode::Infix || self.limit == Limit::None || self.pairs.is_some()
    }

    fn read(&self, run: &Run) -> Result<EditInput> {
        let paths = self.sequence_files();
        // SAM includes the qualities of reads.
        let read = if matches!(self.format, PairFormat::Sam { .. }) { read_qualified } else { read_files };
        let mut stores = read(&paths, &self.read)?.into_iter();
        let patterns = stores.next().ok_or_else(|| Error::Internal("no store for the file that was read".into()))?;
        let texts = stores.next().map(Arc::new);
        let (patterns, scheme) = self.checked(patterns)?;
        let pool = thread_pool(run.threads)?;
        let against = match (&self.pairs, texts) {
            (Some(pairs), texts) => {
                let texts = texts.unwrap_or_else(|| Arc::clone(&patterns));
                let candidate = |pattern, text, part: std::ops::Range<u32>| {
                    let region = Region { text, start: part.start, end: part.end };
                    Candidate { pattern, region }
                };
                let candidates = pool.install(|| read_candidates(pairs, &patterns, &texts, candidate))?;
                Against::Candidates(texts, Arc::new(candidates))
            }
            (None, Some(texts)) => Against::Texts(texts),
            (None, None) => Against::Later,
        };
        Ok(EditInput { patterns, against, parts: None, scheme, pool })
    }

    fn open(&self, run: &Run) -> Result<EditInput> {
        match &self.texts {
            Some(texts) if self.reads_parts() => self.open_parts(texts, run),
            _ => self.read(run),
        }
    }

    fn run(&self, mut input: EditInput, runner: JobRunner, output: Output) -> Result<Summary> {
        if let Some(parts) = input.parts.take() {
            return self.run_in_parts(&input, parts, runner, output);
        }
        self.deliver(input, runner, output, |job, runner, rows| {
            runner.show_progress(job.cells());
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

impl BlockCommand for EditOptions {
    type Job = EditDistances;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.patterns), self.texts.as_mut(), self.pairs.as_mut()].into_iter().flatten().collect()
    }

    fn set_command_line(&mut self, line: String) {
        if let PairFormat::Sam { command } = &mut self.format {
            *command = line;
        }
    }

    fn job(&self, input: &EditInput) -> Result<EditDistances> {
        let patterns = Arc::clone(&input.patterns);
        Ok(EditDistances {
            strand: self.strand,
            align: self.align,
            all_ends: self.all_ends,
            all_places: self.all_places,
            exact: self.exact.clone(),
            overhang: self.overhang,
            max_n_fraction: self.max_n_fraction,
            max_hits: self.max_hits.map(|most| most.get() as usize),
            check: self.compute.check,
            ..EditDistances::new(patterns, input.against.clone(), Arc::new(input.scheme.clone()))
        })
    }

    fn check_format(&self, input: &EditInput) -> Result<()> {
        let job = self.job(input)?;
        self.format.check(&context(&job, job.texts()))
    }

    fn deliver(
        &self,
        input: EditInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&EditDistances, &mut JobRunner, RowSink<'_, EditDistances>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let context = context(&job, job.texts());
        // Each candidate is independent.
        let open = if self.pairs.is_some() { output::open_listed } else { output::open };
        let mut writer = open(&self.format, context, output)?;
        writer.begin()?;
        let mut rows = Whole(|results: &[EditResult]| {
            let pairs: Vec<OutputPair<'_>> = results.iter().map(pair).collect();
            input.pool.install(|| writer.write_all(&pairs))
        });
        let summary = source(&job, &mut runner, &mut rows)?;
        writer.finish()?;
        Ok(summary)
    }
}

impl EditOptions {
    /// Returns whether the texts are read in parts. Rows must not show their letters.
    fn reads_parts(&self) -> bool {
        let shows_letters = match &self.format {
            PairFormat::Tsv(fields) | PairFormat::JsonLines(fields) => fields.iter().any(|field| field.shows_letters()),
            _ => false,
        };
        self.all_places && !shows_letters
    }

    /// Reads the patterns and the first part of the texts.
    fn open_parts(&self, texts: &Path, run: &Run) -> Result<EditInput> {
        let added = self.pam.as_ref().map_or(0, Pam::symbols);
        let size = |lengths: &[u32]| {
            // A place has at most as many edits as its pattern has symbols.
            let most = lengths.iter().max().map_or(0, |most| most.saturating_add(added));
            PartSize { symbols: PART_SYMBOLS, overlap: most.saturating_mul(2) }
        };
        let has_qualities = matches!(self.format, PairFormat::Sam { .. });
        let (patterns, parts) = open_texts([&self.patterns, texts], &self.read, has_qualities, size)?;
        let (patterns, scheme) = self.checked(patterns)?;
        let none = Arc::new(SequenceStore::builder(patterns.alphabet()).build());
        let pool = thread_pool(run.threads)?;
        Ok(EditInput { patterns, against: Against::Texts(none), parts: Some(parts), scheme, pool })
    }

    /// Adds the PAM to the patterns, and checks the options that depend on the alphabet.
    fn checked(&self, patterns: SequenceStore) -> Result<(Arc<SequenceStore>, EditScheme)> {
        let patterns = match &self.pam {
            Some(pam) => pam.append(&patterns)?,
            None => patterns,
        };
        check_strand(self.strand, patterns.alphabet())?;
        let equality = self.equality.resolve(patterns.alphabet())?;
        self.pam.as_ref().map_or(Ok(()), |pam| pam.check_rules(&equality))?;
        Ok((Arc::new(patterns), EditScheme { mode: self.mode, equality, limit: self.limit }))
    }

    /// Finds the places in all parts, and writes them.
    fn run_in_parts(
        &self,
        input: &EditInput,
        parts: TextParts,
        mut runner: JobRunner,
        output: Output,
    ) -> Result<Summary> {
        let job = self.job(input)?;
        runner.show_progress_symbols();
        let places = job.find_in_parts(parts, &runner.run, std::env::temp_dir())?;
        let mut writer = output::open(&self.format, context(&job, places.texts()), output)?;
        writer.begin()?;
        places.deliver(&runner.run, |results| {
            let pairs: Vec<OutputPair<'_>> = results.iter().map(pair).collect();
            input.pool.install(|| writer.write_all(&pairs))
        })?;
        writer.finish()?;
        Ok(places.summary().clone())
    }
}

/// Returns the context of the rows of a job.
fn context(job: &EditDistances, texts: &Arc<SequenceStore>) -> Context {
    Context {
        queries: Arc::clone(&job.patterns),
        targets: Arc::clone(texts),
        scoring: job.scheme.equality.scoring(),
        identity: IdentityDefinition::Columns,
        contents: Contents { kind: PairKind::Edit, has_alignments: job.align || job.all_places },
    }
}

/// Converts a result to the form that writers take.
fn pair(result: &EditResult) -> OutputPair<'_> {
    let alignment = result.alignment.as_ref();
    let Region { text, start, end } = result.region;
    OutputPair {
        query: result.pattern,
        target: text,
        strand: result.strand,
        score: -i64::from(result.distance),
        alignment: alignment.map(|alignment| &alignment.cigar),
        query_start: result.overhang.before,
        target_start: alignment.map_or(0, |alignment| alignment.start),
        counts: alignment.map(|alignment| alignment.counts),
        details: Details::Edit(Edits {
            distance: result.distance,
            end: result.end,
            region: Range32 { start, end },
            ends: &result.ends,
        }),
    }
}
