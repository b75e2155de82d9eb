//! `pairwave allpairs` and `pairwave devices`: from validated options to results.

use super::blocks::{BlockCommand, RowSink};
use super::chance;
use super::common::{ComputeOptions, check_strand};
use super::options::{AllPairsOptions, DevicesOptions};
use super::progress::summary_lines;
use super::runner::{Files, JobCommand, JobRunner, named_devices};
use pairwave::gpu::adapter::Device;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::{BlockSink, Encode};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{self, Job, PairResult, Run, Summary, devices};
#[cfg(feature = "bench")]
use pairwave::measure;
use pairwave::output::{self, Contents, Context, Output, OutputPair, PairFormat, PairKind, PairWriter};
use pairwave::pairs::kernels::family_of;
use pairwave::score::{Mode, Scoring};
use pairwave::seq::{SequenceStore, read_files, read_qualified};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Input of `pairwave allpairs`.
pub(super) struct AllPairsInput {
    queries: Arc<SequenceStore>,
    against: Option<Arc<SequenceStore>>,
    scoring: Scoring,
}

impl AllPairsOptions {
    /// Returns whether pairs that cannot reach the identity or the coverages stay unaligned.
    fn is_filtered(&self) -> bool {
        let selection = &self.selection;
        selection.min_identity.is_some_and(|identity| identity > 0.0) || selection.coverage.is_set()
    }

    /// Returns what writers of the job's results need.
    fn context(&self, input: &AllPairsInput, job: &jobs::AllPairs) -> Context {
        let queries = Arc::clone(&input.queries);
        let targets = Arc::clone(input.against.as_ref().unwrap_or(&queries));
        let contents = Contents { kind: PairKind::Compared, has_alignments: !job.score_only };
        Context { queries, targets, scoring: input.scoring.clone(), identity: self.selection.identity, contents }
    }
}

impl JobCommand for AllPairsOptions {
    type Input = AllPairsInput;
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

    fn sequence_files(&self) -> Vec<&Path> {
        [Some(&*self.seqs), self.against.as_deref()].into_iter().flatten().collect()
    }

    fn read(&self, _run: &Run) -> Result<AllPairsInput> {
        let paths = self.sequence_files();
        // SAM includes the qualities of reads.
        let read = if matches!(self.format, PairFormat::Sam { .. }) { read_qualified } else { read_files };
        let mut stores = read(&paths, &self.read)?.into_iter().map(Arc::new);
        let queries = stores.next().ok_or_else(|| Error::Internal("no store for the file that was read".into()))?;
        let scoring = self.scoring.resolve(queries.alphabet())?.scoring()?;
        check_strand(self.strand, queries.alphabet())?;
        Ok(AllPairsInput { queries, against: stores.next(), scoring })
    }

    fn run(&self, input: AllPairsInput, runner: JobRunner, output: Output) -> Result<Summary> {
        self.deliver(input, runner, output, |job, runner, rows| {
            runner.show_progress(job.cells());
            job.run_to(&runner.run, rows)
        })
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::from_summary(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        summary_lines(summary, self.is_filtered())
    }
}

impl BlockCommand for AllPairsOptions {
    type Job = jobs::AllPairs;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        let matrix = self.scoring.matrix_file();
        [Some(&mut self.seqs), self.against.as_mut(), matrix].into_iter().flatten().collect()
    }

    fn set_command_line(&mut self, line: String) {
        if let PairFormat::Sam { command } = &mut self.format {
            *command = line;
        }
    }

    fn job(&self, input: &AllPairsInput) -> Result<jobs::AllPairs> {
        let selection = &self.selection;
        let is_ranked = selection.max_hits.is_some() || selection.top_hits_only;
        let is_selected = selection.min_identity.is_some() || selection.coverage.is_set();
        let needs_alignment = self.format.needs_alignment() || is_selected || is_ranked;
        Ok(jobs::AllPairs {
            queries: Arc::clone(&input.queries),
            against: input.against.clone(),
            scoring: Arc::new(input.scoring.clone()),
            strand: self.strand,
            definition: selection.identity,
            min_identity: selection.min_identity,
            coverage: selection.coverage,
            min_score: least_score(selection.min_score, &self.format, input.scoring.mode),
            score_only: selection.score_only || !needs_alignment && !self.compute.check,
            max_hits: selection.max_hits.map(|most| most.get() as usize),
            top_hits_only: selection.top_hits_only,
            check: self.compute.check,
            edit_filter: selection.edit_filter,
        })
    }

    fn check_format(&self, input: &AllPairsInput) -> Result<()> {
        self.format.check(&self.context(input, &self.job(input)?))
    }

    fn deliver(
        &self,
        input: AllPairsInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&jobs::AllPairs, &mut JobRunner, RowSink<'_, jobs::AllPairs>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let context = self.context(&input, &job);
        chance::warn_of_stores(&context.scoring, &context.queries, &context.targets);
        let mut writer = output::open(&self.format, context, output)?;
        writer.begin()?;
        let summary = source(&job, &mut runner, &mut PairRowSink(writer.as_mut()))?;
        writer.finish()?;
        Ok(summary)
    }
}

/// Writes rows of results as pairs.
struct PairRowSink<'a>(&'a mut dyn PairWriter);

impl BlockSink<PairResult> for PairRowSink<'_> {
    fn rows(&mut self, rows: &[PairResult]) -> Result<()> {
        rows.iter().try_for_each(|row| self.0.write(&OutputPair::from(row)))
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn encoder(&self) -> Option<Arc<dyn Encode<PairResult>>> {
        self.0.line_maker().map(|lines| Arc::new(lines) as Arc<dyn Encode<PairResult>>)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_lines(bytes)
    }
}

/// Returns the least score of a written pair. A local alignment without columns is not a hit, so
/// formats of hits skip it: their readers expect a position.
fn least_score(given: Option<i64>, format: &PairFormat, mode: Mode) -> Option<i64> {
    let has_hits = mode == Mode::Local && format.lists_hits();
    if has_hits { Some(given.unwrap_or(1).max(1)) } else { given }
}

/// Runs `pairwave devices`.
pub(super) fn devices(options: &DevicesOptions, quiet: bool) -> Result<()> {
    let wanted = named_devices(&options.devices)?;
    let all = devices::all(&wanted);
    #[cfg(feature = "bench")]
    let reports = measure::devices::report(&all, options.self_test, options.bench)?;
    #[cfg(not(feature = "bench"))]
    let reports: Vec<devices::ListedDevice> = all.iter().map(Into::into).collect();
    let mut text = if options.json {
        serde_json::to_string_pretty(&reports)
            .map_err(|error| Error::Internal(format!("the devices cannot be written as JSON: {error}")))?
    } else {
        reports.iter().map(|report| report.to_string()).collect::<Vec<String>>().join("\n")
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    super::pages::print(text)?;
    if wanted.is_empty() && all.iter().all(|device| matches!(device, Device::Cpu)) && !quiet {
        tracing::warn!(
            "no graphics adapter was found; install a Vulkan driver (and on Linux the loader libvulkan.so.1)"
        );
    }
    #[cfg(feature = "bench")]
    {
        let tests = reports.iter().flat_map(|report| &report.self_test);
        match tests.filter(|test| test.failure.is_some()).count() {
            0 => {}
            failed => return Err(Error::Internal(format!("{failed} self-tests failed"))),
        }
    }
    Ok(())
}
