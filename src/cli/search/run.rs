//! `pairwave search`: from validated options to results.

use super::hits::{HitFile, HitWriter};
use super::{HitsFile, SearchOptions, SearchSelection, resolved};
use crate::cli::args::SearchFormatName;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::chance;
use crate::cli::common::{ComputeOptions, check_strand, check_temporary, file_name, is_standard};
use crate::cli::progress::summary_lines;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{self, Job, Run, Summary};
use pairwave::output::Output;
use pairwave::output::search::{HitPart, SearchContext, SearchFormat};
use pairwave::pairs::kernels::family_of;
use pairwave::score::{IdentityDefinition, Mode, Scoring, Statistics};
use pairwave::seq::{Alphabet, Qualities, SequenceStore, Strands, Subjects, read_queries};
use pairwave::{Error, Result};
use serde::Serialize;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// Input of `pairwave search`.
pub(in crate::cli) struct SearchInput {
    queries: Arc<SequenceStore>,
    subjects: Arc<Subjects>,
    scoring: Scoring,
    statistics: Option<Statistics>,
    format: SearchFormat,
}

impl SearchOptions {
    /// Returns what writers of the job's results need.
    fn context(&self, input: &SearchInput, job: &jobs::Search) -> SearchContext {
        SearchContext {
            queries: Arc::clone(&input.queries),
            scoring: input.scoring.clone(),
            identity: IdentityDefinition::default(),
            statistics: input.statistics,
            database: file_name(&self.db),
            size: job.database_size(),
            has_alignments: !job.score_only,
        }
    }

    /// Warns if the scores have no statistical meaning.
    fn warn(&self, input: &SearchInput) -> Result<()> {
        if input.statistics.is_some() || self.mode() != Mode::Local {
            return Ok(());
        }
        tracing::warn!(
            "no statistical parameters are known for these scores and gap costs: hits have neither bit \
            scores nor E-values; use --min-score to select hits"
        );
        let some = input
            .subjects
            .ranges(chance::COMPOSITION_SYMBOLS)
            .into_iter()
            .next()
            .map(|range| input.subjects.chunk(range));
        if let Some(some) = some.transpose()? {
            chance::warn_of_stores(&input.scoring, &input.queries, &some.store);
        }
        Ok(())
    }
}

impl JobCommand for SearchOptions {
    type Input = SearchInput;
    type Summary = Summary;
    const FAMILY: Family = Family::Pairs;

    fn family(&self) -> Family {
        family_of(self.mode())
    }

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, self.report.as_deref())
    }

    fn sequence_files(&self) -> Vec<&Path> {
        vec![&self.queries, &self.db]
    }

    fn read(&self, _run: &Run) -> Result<SearchInput> {
        self.hits_fasta.as_ref().map_or(Ok(()), |file| Output::check(&file.path))?;
        let mut qualities = Qualities::Skip;
        if self.format.name == SearchFormatName::Sam {
            qualities = Qualities::Keep;
            // The SAM header is known last, so lines wait in a temporary file.
            check_temporary()?;
        }
        if !is_standard(&self.queries) {
            // Detects a misspelt name before a large database is read.
            File::open(&self.queries).map_err(|source| Error::io(&self.queries, source))?;
        }
        let subjects = Arc::new(Subjects::open(&self.db, &self.read)?);
        let alphabet = subjects.alphabet();
        let queries = Arc::new(read_queries(&self.queries, alphabet, &self.read, qualities)?);
        let scoring = resolved(&self.scoring, alphabet)?;
        check_strand(self.strand.unwrap_or_default(), alphabet)?;
        let statistics = (self.mode() == Mode::Local).then(|| Statistics::for_scheme(&scoring)).flatten();
        let has_strands = alphabet == Alphabet::Dna && self.strand != Some(Strands::Plus);
        let score_only = self.selection.score_only;
        let format = self.format.resolve(score_only, statistics.is_some(), has_strands, &self.command)?;
        if statistics.is_none() && self.selection.evalue.is_some() {
            return Err(Error::usage(
                "--evalue: no statistical parameters are known for these scores and gap costs; use --min-score",
            ));
        }
        Ok(SearchInput { queries, subjects, scoring, statistics, format })
    }

    fn run(&self, input: SearchInput, runner: JobRunner, output: Output) -> Result<Summary> {
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

impl BlockCommand for SearchOptions {
    type Job = jobs::Search;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        // Both scoring options have the same matrix, if one is given.
        let matrices = self.scoring.iter_mut().filter_map(|scoring| scoring.matrix_file());
        [&mut self.queries, &mut self.db].into_iter().chain(matrices).collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        let report = self.report.as_ref().map(|_| "--report");
        report.or(self.hits_fasta.as_ref().map(|_| "--hits-fasta"))
    }

    fn set_command_line(&mut self, line: String) {
        self.command = line;
    }

    fn job(&self, input: &SearchInput) -> Result<jobs::Search> {
        let SearchSelection { evalue, min_score, max_hits, min_identity, query_cover, coverage, .. } = self.selection;
        let SearchSelection { max_hsps, top_hits_only, score_only, edit_filter, .. } = self.selection;
        let (queries, scoring) = (Arc::clone(&input.queries), Arc::new(input.scoring.clone()));
        let usual = jobs::Search::new(queries, Arc::clone(&input.subjects), scoring);
        let has_filters = min_identity.is_some() || query_cover.is_some() || coverage.is_set();
        let has_regions = self.hits_fasta.as_ref().is_some_and(|file| file.part != HitPart::Whole);
        let needs_files = self.report.is_some() || has_regions;
        let max_hsps = max_hsps.map_or(usual.max_hsps, NonZeroUsize::get);
        let needs_alignment = input.format.needs_alignment() || has_filters || needs_files || max_hsps > 1;
        Ok(jobs::Search {
            strand: self.strand.unwrap_or(usual.strand),
            max_evalue: evalue.or(usual.max_evalue),
            min_score,
            min_identity,
            min_query_cover: query_cover,
            coverage,
            top_hits_only,
            edit_filter,
            max_hits: max_hits.map_or(usual.max_hits, NonZeroUsize::get),
            max_hsps,
            score_only: score_only || !(needs_alignment || self.compute.check),
            check: self.compute.check,
            ..usual
        })
    }

    fn check_format(&self, input: &SearchInput) -> Result<()> {
        input.format.check(&self.context(input, &self.job(input)?), &input.subjects)
    }

    fn deliver(
        &self,
        input: SearchInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&jobs::Search, &mut JobRunner, RowSink<'_, jobs::Search>) -> Result<Summary>,
    ) -> Result<Summary> {
        self.warn(&input)?;
        let job = self.job(&input)?;
        let context = self.context(&input, &job);
        let title = format!("{} in {}", file_name(&self.queries), context.database);
        let page = runner.picture.take().map(|output| HitFile { format: SearchFormat::Report { title }, output });
        let mut further: Vec<HitFile> = page.into_iter().collect();
        if let Some(HitsFile { path, part }) = &self.hits_fasta {
            further.push(HitFile { format: SearchFormat::Sequences(*part), output: runner.outputs.create(path)? });
        }
        let mut writer = HitWriter::begin(context, further, HitFile { format: input.format, output })?;
        let summary = source(&job, &mut runner, &mut Whole(|hits: &[_]| writer.take(hits)))?;
        writer.finish()?;
        Ok(summary)
    }
}
