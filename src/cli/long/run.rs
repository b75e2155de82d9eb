//! `pairwave long`: the job, from validated options to results.

use super::summary::{LongSize, LongStats, Took, summary_lines};
use super::{Long, check_alphabet, records};
use crate::cli::args::LAYOUT;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::chance;
use crate::cli::common::{ComputeOptions, check_temporary, file_name, is_standard};
use crate::cli::runner::{Files, JobCommand, JobRunner};
use pairwave::alignment::verify_alignment;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::long::{LongAlignment, LongRecordHit, LongRecordPairs, LongWant, Strand};
use pairwave::jobs::{Fingerprint, Job, Run, Summary};
#[cfg(feature = "plot")]
use pairwave::output::dotplot;
use pairwave::output::long::StoredRecords;
use pairwave::output::{LongContext, LongFormat, LongPairAlignment, Output, Range32, long as writers};
use pairwave::score::chance::{Chance, Composition};
use pairwave::score::{DatabaseStatistics, Mode, Scoring};
use pairwave::seq::{Code, SequenceId, read_files, read_qualified};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;

/// Input of `pairwave long`: the selected records of both files.
pub(crate) struct LongInput {
    queries: StoredRecords,
    targets: StoredRecords,
    scoring: Arc<Scoring>,
    /// Fingerprint that a checkpoint must have.
    origin: Option<Fingerprint>,
}

impl Long {
    /// Adds `--no-prune`, which decides about the content of a checkpoint, the alphabet as given or
    /// detected, and sequences from standard input.
    fn with_input(&self, origin: Fingerprint, queries: &StoredRecords, targets: &StoredRecords) -> Fingerprint {
        let alphabet = queries.store.alphabet().letters();
        let origin = origin.with("--no-prune", !self.prune).with("--alphabet", alphabet);
        let sides = [("QUERY", &self.query, queries), ("TARGET", &self.target, targets)];
        sides.into_iter().filter(|(_, path, _)| is_standard(path)).fold(origin, |origin, (name, _, records)| {
            origin.with_bytes(name, records.ids.iter().map(|&id| records.store.codes(id)))
        })
    }

    /// Writes all results. `source` delivers the alignments in the order of the pairs.
    fn write<D>(
        &self,
        input: LongInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&LongRecordPairs, &mut JobRunner, RowSink<'_, LongRecordPairs>) -> Result<Summary<D>>,
    ) -> Result<Took<D>> {
        let job = self.job(&input)?;
        let LongInput { queries, targets, scoring, .. } = input;
        let page = self.report.as_ref().map(|path| runner.outputs.create(path)).transpose()?;
        let size = LongSize::new(&queries, &targets);
        let statistics = self.statistics(&job);
        // The header may depend on whether any alignment is on the minus strand.
        let mut rows: Vec<LongRecordHit> = Vec::new();
        let mut collect = Whole(|rows_of_block: &[LongRecordHit]| {
            rows.extend_from_slice(rows_of_block);
            Ok(())
        });
        let (summary, chance) = std::thread::scope(|scope| {
            // The estimate takes a tenth of a second. A maximum E-value already excludes chance.
            let is_wanted = self.scoring.mode() == Mode::Local && self.evalue.is_none() && chance::are_warnings_shown();
            let estimate = || Chance::estimate(&scoring, &composition(&queries), &composition(&targets));
            let thread = is_wanted.then(|| Builder::new().spawn_scoped(scope, estimate));
            let summary = source(&job, &mut runner, &mut collect)?;
            let chance = match thread {
                Some(Ok(thread)) => thread.join().ok().flatten(),
                // The system refused a thread.
                Some(Err(_)) => estimate(),
                None => None,
            };
            Ok::<_, Error>((summary, chance))
        })?;
        if self.scoring.mode() == Mode::Global {
            rows.retain(|row| self.min_score.is_none_or(|least| row.hit.score >= least));
        }
        // The blocks of a job have selected among their own rows.
        job.select(&mut rows);
        if let Some(chance) = chance {
            warn_of_chance(&chance, &rows, &queries, &targets);
        }
        let alignments: Vec<LongPairAlignment<'_>> = rows.iter().map(|row| alignment_of_row(row, &queries)).collect();
        let mut reverse_ids: Vec<SequenceId> =
            alignments.iter().filter(|one| one.is_reverse).map(|one| one.query_id).collect();
        reverse_ids.dedup();
        let context =
            LongContext::new(queries.clone(), targets, (*scoring).clone(), reverse_ids).with_circular(self.circular);
        let context = context.with_statistics(statistics);
        if self.compute.check {
            check(&context, &alignments, &scoring)?;
        }
        #[cfg(feature = "plot")]
        let bytes = self.plot.as_ref().map(|plot| dotplot::draw(plot.picture, &context, &alignments)).transpose()?;
        if let Some(page) = page {
            let title = format!("{} and {}", file_name(&self.query), file_name(&self.target));
            writers::write_report(&context, &alignments, &title, page)?;
        }
        writers::write(&self.format, &context, &alignments, output)?;
        #[cfg(feature = "plot")]
        if let (Some(mut picture), Some(bytes)) = (runner.picture.take(), bytes) {
            picture.buffer().extend_from_slice(&bytes);
            picture.finish()?;
        }
        Ok(Took { size, written: alignments.len(), summary })
    }

    /// Returns the statistics of the alignments if they are written and known.
    fn statistics(&self, job: &LongRecordPairs) -> Option<DatabaseStatistics> {
        let has_fields = match &self.format {
            LongFormat::Tsv(fields) | LongFormat::JsonLines(fields) => {
                fields.iter().any(|field| field.needs_significance())
            }
            _ => false,
        };
        (self.evalue.is_some() || has_fields).then(|| job.statistics()).flatten()
    }
}

/// Returns the frequencies of the symbols of records. The first ones determine them.
fn composition(records: &StoredRecords) -> Composition {
    let mut all = Composition::new(records.store.alphabet());
    for &id in &records.ids {
        if all.symbols() >= chance::COMPOSITION_SYMBOLS {
            break;
        }
        all.add(records.store.codes(id));
    }
    all
}

impl JobCommand for Long {
    type Input = LongInput;
    type Summary = Took;
    const FAMILY: Family = Family::Long;

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        let picture = self.plot.as_ref().map(|plot| plot.path.as_path());
        Files::new(&self.files, picture)
    }

    fn sequence_files(&self) -> Vec<&Path> {
        vec![&self.query, &self.target]
    }

    fn read(&self, _run: &Run) -> Result<LongInput> {
        // Borders that do not fit in memory go to this directory, or to the checkpoint's directory.
        if self.checkpoint.is_none() {
            check_temporary()?;
        }
        self.report.as_ref().map_or(Ok(()), Output::check)?;
        let paths = self.sequence_files();
        let origin = self.checkpoint.is_some().then(|| self.request.fingerprint(LAYOUT)).transpose()?;
        // SAM includes the qualities of reads.
        let read = if matches!(self.format, LongFormat::Sam { .. }) { read_qualified } else { read_files };
        let mut stores = read(&paths, &self.read)?.into_iter().map(Arc::new);
        let mut next = || stores.next().ok_or_else(|| Error::Internal("no store for a file that was read".into()));
        let (queries, targets) = (next()?, next()?);
        let alphabet = queries.alphabet();
        check_alphabet(alphabet, self.strand, &self.format)?;
        let queries = records::select(queries, &self.query, &self.query_ids, "--query-id")?;
        let targets = records::select(targets, &self.target, &self.target_ids, "--target-id")?;
        records::check_names(self, &queries, &targets)?;
        let scoring = Arc::new(self.scoring.resolve(alphabet)?.scoring()?);
        let origin = origin.map(|origin| self.with_input(origin, &queries, &targets));
        Ok(LongInput { queries, targets, scoring, origin })
    }

    fn run(&self, input: LongInput, runner: JobRunner, output: Output) -> Result<Took> {
        self.write(input, runner, output, |job, runner, rows| {
            // Further alignments need an unknown number of additional sweeps.
            runner.show_progress_long(job.cells());
            job.run(&runner.run, |of_block| rows.rows(of_block))
        })
    }

    fn stats(took: &Took) -> impl Serialize {
        LongStats::from(took)
    }

    fn lines(&self, took: &Took) -> Vec<String> {
        summary_lines(&took.summary, took.written)
    }
}

impl BlockCommand for Long {
    type Job = LongRecordPairs;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [&mut self.query, &mut self.target].into_iter().chain(self.scoring.matrix_file()).collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        self.plot.as_ref().map(|_| "--plot").or(self.report.as_ref().map(|_| "--report"))
    }

    fn job(&self, input: &LongInput) -> Result<LongRecordPairs> {
        let LongInput { queries, targets, scoring, origin } = input;
        let [query_store, target_store] = [queries, targets].map(|records| Arc::clone(&records.store));
        let settings = LongAlignment {
            want: if self.score_only { LongWant::Score } else { LongWant::Alignment },
            strand: self.strand(query_store.alphabet()),
            circular: self.circular,
            top: self.top,
            min_score: self.min_score.unwrap_or(1).max(1),
            method: self.method,
            strip: self.strip,
            chunk: self.chunk,
            prune: self.prune,
            host_memory: self.host_memory,
            checkpoint: self.checkpoint.clone(),
            origin: origin.clone(),
            ..LongAlignment::new(query_store, 0, target_store, 0, Arc::clone(scoring))
        };
        let [queries, targets] = [queries, targets].map(|records| records.ids.clone());
        let job = LongRecordPairs { settings, queries, targets, top_per: self.top_per, max_evalue: None };
        match self.evalue {
            Some(evalue) => job.with_max_evalue(evalue),
            None => Ok(job),
        }
    }

    fn deliver(
        &self,
        input: LongInput,
        runner: JobRunner,
        output: Output,
        source: impl FnOnce(&LongRecordPairs, &mut JobRunner, RowSink<'_, LongRecordPairs>) -> Result<Summary>,
    ) -> Result<Took> {
        let Took { size, written, summary } = self.write(input, runner, output, source)?;
        let summary = Summary { cells: summary.cells, seconds: summary.seconds, ..Summary::default() };
        Ok(Took { size, written, summary })
    }
}

/// Warns if alignments may be due to chance.
fn warn_of_chance(chance: &Chance, rows: &[LongRecordHit], queries: &StoredRecords, targets: &StoredRecords) {
    let Some(least) = rows.iter().map(|row| row.hit.score).min() else { return };
    if chance::warn_of_growth(chance) {
        return;
    }
    let expected =
        |row: &LongRecordHit| chance.score(queries.store.length(row.query), targets.store.length(row.target));
    let is_low = |row: &&LongRecordHit| (row.hit.score as f64) < chance::FACTOR * expected(row);
    let low: Vec<f64> = rows.iter().filter(is_low).map(expected).collect();
    let what = match (low.len(), rows.len()) {
        (0, _) => return,
        (1, 1) => format!("the score of {least} is"),
        (few, all) => format!("{few} of {all} scores, from {least} on, are"),
    };
    let range = [f64::min, f64::max].map(|either| low.iter().copied().reduce(either).unwrap_or(0.0));
    let [from, to] = range.map(|score| format!("{score:.0}"));
    let expected = if from == to { from } else { format!("{from} to {to}") };
    tracing::warn!(
        "{what} below twice the score that chance gives unrelated sequences of these lengths and \
            compositions, about {expected}: such alignments may be meaningless"
    );
}

/// Converts a row to the form that writers take.
fn alignment_of_row<'a>(row: &'a LongRecordHit, queries: &StoredRecords) -> LongPairAlignment<'a> {
    let LongRecordHit { query: query_id, target: target_id, hit } = row;
    let (m, is_reverse) = (queries.store.length(*query_id), hit.strand == Strand::Minus);
    // For a score without alignment, only the last column is known.
    let last = |end: u32| end.saturating_sub(1)..end;
    let query = hit.query.clone().unwrap_or_else(|| {
        let last = last(hit.query_end);
        if is_reverse { m - last.end..m - last.start } else { last }
    });
    let target = hit.target.clone().unwrap_or_else(|| last(hit.target_end));
    LongPairAlignment {
        query_id: *query_id,
        target_id: *target_id,
        is_reverse,
        score: hit.score,
        query: Range32 { start: query.start, end: query.end },
        target: Range32 { start: target.start, end: target.end },
        cigar: hit.cigar.as_ref(),
        part_of: None,
    }
}

/// Rescores every alignment.
fn check(context: &LongContext, alignments: &[LongPairAlignment<'_>], scoring: &Scoring) -> Result<()> {
    for one in alignments {
        let (mut alignment, query, target) = context.alignment(one)?;
        let score = if context.circular().any() {
            // Both sequences are turned, so that the alignment starts at their first symbols.
            let turned = |codes: &[Code], first: u32| {
                let (before, after) = codes.split_at(first as usize);
                [after, before].concat()
            };
            let (query, target) = (turned(query, alignment.query_start), turned(target, alignment.target_start));
            (alignment.query_start, alignment.target_start) = (0, 0);
            verify_alignment(&alignment, &query, &target, scoring)?
        } else {
            verify_alignment(&alignment, query, target, scoring)?
        };
        if score != one.score {
            return Err(Error::Internal(format!("an alignment of score {} has score {score}", one.score)));
        }
    }
    Ok(())
}
