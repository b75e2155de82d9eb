//! `pairwave long`: the job, from validated options to results.

use super::{Long, check_alphabet};
use crate::cli::args::LAYOUT;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::chance;
use crate::cli::common::{ComputeOptions, check_temporary};
use crate::cli::progress::gcups;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use pairwave::alignment::verify_alignment;
use pairwave::engine::stats::EngineStats;
use pairwave::error::InputLocation;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::long::{LongAlignment, LongDetails, LongHit, LongWant, Strand};
use pairwave::jobs::stats::process_cpu_seconds;
use pairwave::jobs::{Fingerprint, Job, Run, Summary};
#[cfg(feature = "plot")]
use pairwave::output::dotplot;
use pairwave::output::long::name_problem;
use pairwave::output::{LongContext, LongFormat, LongPairAlignment, Output, Range32, long as writers};
use pairwave::score::chance::{Chance, Composition};
use pairwave::score::{Mode, Scoring};
use pairwave::seq::{SequenceId, SequenceStore, read_files, read_qualified};
use pairwave::{Error, Result};
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;

/// Returns the sequence of this name in a file, or the only sequence.
fn choose(store: &SequenceStore, file: &Path, name: Option<&OsStr>, option: &str) -> Result<SequenceId> {
    let names = || (0..store.len() as SequenceId).map(|id| store.name(id));
    let wrong = |message: String| Err(Error::Input { location: InputLocation::in_file(file), message });
    let quoted_names = |names: &[&str]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let Some(wanted) = name else {
        return match store.len() {
            1 => Ok(0),
            count => {
                let first: Vec<&str> = names().take(3).collect();
                let more = if count > 3 { ", ..." } else { "" };
                wrong(format!(
                    "the file holds {count} sequences: select one with {option} ({}{more})",
                    quoted_names(&first)
                ))
            }
        };
    };
    // Names need not be UTF-8, so bytes are compared. Messages show other bytes as U+FFFD.
    let is_wanted = |&id: &SequenceId| store.name_bytes(id) == wanted.as_encoded_bytes();
    let matches: Vec<SequenceId> = (0..store.len() as SequenceId).filter(is_wanted).collect();
    let wanted = wanted.to_string_lossy();
    match matches[..] {
        [id] => Ok(id),
        [] => {
            let lower = wanted.to_lowercase();
            let is_near = |name: &&str| {
                let name = name.to_lowercase();
                name.contains(&lower) || lower.contains(&name)
            };
            let near: Vec<&str> = names().filter(is_near).take(3).collect();
            let (word, listed) =
                if near.is_empty() { ("there is", names().take(3).collect()) } else { ("did you mean", near) };
            let mark = if word == "there is" { "" } else { "?" };
            wrong(format!(
                "{option} '{wanted}': the file holds no sequence of this name; {word} {}{mark}",
                quoted_names(&listed)
            ))
        }
        _ => wrong(format!("{option} '{wanted}': the file holds {} sequences of this name", matches.len())),
    }
}

/// One sequence of a store.
struct OneSequence {
    store: Arc<SequenceStore>,
    id: SequenceId,
}

impl OneSequence {
    /// Returns the number of symbols.
    fn length(&self) -> u32 {
        self.store.length(self.id)
    }

    /// Returns the frequencies of the symbols.
    fn composition(&self) -> Composition {
        Composition::from_codes(self.store.alphabet(), self.store.codes(self.id))
    }
}

/// Rejects names and lengths that SAM and VCF cannot represent. Both have the same rules for names
/// of references.
fn check_names(options: &Long, query: &OneSequence, target: &OneSequence) -> Result<()> {
    let format = match options.format {
        LongFormat::Sam { .. } => "SAM",
        LongFormat::Vcf(_) => "VCF",
        _ => return Ok(()),
    };
    let sides = [(&options.query, query, false), (&options.target, target, true)];
    // VCF escapes the name of the query.
    for (file, sequence, is_reference) in sides.into_iter().filter(|side| format == "SAM" || side.2) {
        let name = sequence.store.name(sequence.id);
        let is_long = is_reference && sequence.length() > i32::MAX as u32;
        let too_long = is_long.then(|| format!("{format} cannot describe references of 2^31 symbols or more"));
        if let Some(message) = name_problem(format, name, is_reference).or(too_long) {
            let location = InputLocation { record: Some(name.to_owned()), ..InputLocation::in_file(file) };
            return Err(Error::Input { location, message: format!("{message}; use --format paf") });
        }
    }
    Ok(())
}

/// Content of the `--stats` file.
#[derive(Serialize)]
struct LongStats<'a> {
    /// Version of pairwave.
    version: &'static str,
    query_length: u32,
    target_length: u32,
    /// Number of written alignments.
    written: usize,
    /// Speed over the whole time, in 10^9 cells per second.
    gcups: f64,
    /// Processor time of the whole process; `None` if the system does not report it.
    cpu_user_seconds: Option<f64>,
    cpu_system_seconds: Option<f64>,
    cells: u64,
    pruned_cells: u64,
    traced_cells: u64,
    seconds: f64,
    sweep_seconds: f64,
    trace_seconds: f64,
    edge_bytes_peak: u64,
    spilled_bytes: u64,
    resumed: bool,
    engines: Vec<LongEngineRow<'a>>,
}

/// Statistics of an engine in the `--stats` file.
#[derive(Serialize)]
struct LongEngineRow<'a> {
    name: &'a str,
    /// Number of cells that the engine computed in sweeps.
    cells: u64,
    /// Seconds of computing, without the time that the engine waited for its left neighbour.
    seconds: f64,
    /// Reason why the engine was abandoned; `None` if it was not.
    lost: Option<&'a str>,
}

impl<'a> From<&'a EngineStats> for LongEngineRow<'a> {
    fn from(engine: &'a EngineStats) -> Self {
        let EngineStats { name, cells, busy_seconds, lost, .. } = engine;
        LongEngineRow { name, cells: *cells, seconds: *busy_seconds, lost: lost.as_deref() }
    }
}

/// Input of `pairwave long`: the two sequences of a pair.
pub(crate) struct LongInput {
    query: OneSequence,
    target: OneSequence,
    scoring: Arc<Scoring>,
    /// Fingerprint that a checkpoint must have.
    origin: Option<Fingerprint>,
}

/// Summary of the job.
pub(crate) struct Took<D = LongDetails> {
    /// Length of the query in symbols.
    query_length: u32,
    target_length: u32,
    /// Number of written alignments.
    written: usize,
    summary: Summary<D>,
}

impl Long {
    /// Writes all results. `source` delivers the alignments, best first.
    fn write<D>(
        &self,
        input: LongInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&LongAlignment, &mut JobRunner, RowSink<'_, LongAlignment>) -> Result<Summary<D>>,
    ) -> Result<Took<D>> {
        let job = self.job(&input)?;
        let LongInput { query, target, scoring, .. } = input;
        let (m, n) = (query.length(), target.length());
        // The header may depend on whether any alignment is on the minus strand.
        let mut hits: Vec<LongHit> = Vec::new();
        let mut collect = Whole(|hits_of_block: &[LongHit]| {
            hits.extend_from_slice(hits_of_block);
            Ok(())
        });
        let (summary, chance) = std::thread::scope(|scope| {
            // The estimate takes a tenth of a second.
            let is_wanted = self.scoring.mode() == Mode::Local && chance::are_warnings_shown();
            let estimate = || Chance::estimate(&scoring, &query.composition(), &target.composition());
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
            hits.retain(|hit| self.min_score.is_none_or(|least| hit.score >= least));
        }
        if let Some(chance) = chance {
            warn_of_chance(&chance, (m, n), &hits);
        }
        let any_reverse = hits.iter().any(|hit| hit.strand == Strand::Minus);
        let stored = |one: OneSequence| writers::StoredSequence { store: one.store, id: one.id };
        let context = LongContext::new(stored(query), stored(target), (*scoring).clone(), any_reverse);
        let alignments: Vec<LongPairAlignment<'_>> = hits.iter().map(|hit| alignment_of_hit(hit, m)).collect();
        if self.compute.check {
            check(&context, &alignments, &scoring)?;
        }
        #[cfg(feature = "plot")]
        let bytes = self.plot.as_ref().map(|plot| dotplot::draw(plot.picture, &context, &alignments)).transpose()?;
        writers::write(&self.format, &context, &alignments, output)?;
        #[cfg(feature = "plot")]
        if let (Some(mut picture), Some(bytes)) = (runner.picture.take(), bytes) {
            picture.buffer().extend_from_slice(&bytes);
            picture.finish()?;
        }
        Ok(Took { query_length: m, target_length: n, written: alignments.len(), summary })
    }
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
        let paths = self.sequence_files();
        let origin = self.checkpoint.is_some().then(|| self.request.fingerprint(LAYOUT)).transpose()?;
        // SAM includes the qualities of reads.
        let read = if matches!(self.format, LongFormat::Sam { .. }) { read_qualified } else { read_files };
        let mut stores = read(&paths, &self.read)?.into_iter().map(Arc::new);
        let mut next = || stores.next().ok_or_else(|| Error::Internal("no store for a file that was read".into()));
        let (query, target) = (next()?, next()?);
        check_alphabet(query.alphabet(), self.strand, &self.format)?;
        let alphabet = query.alphabet();
        let query_id = choose(&query, &self.query, self.query_id.as_deref(), "--query-id")?;
        let target_id = choose(&target, &self.target, self.target_id.as_deref(), "--target-id")?;
        let query = OneSequence { store: query, id: query_id };
        let target = OneSequence { store: target, id: target_id };
        check_names(self, &query, &target)?;
        let scoring = Arc::new(self.scoring.resolve(alphabet)?.scoring()?);
        // The alphabet as given or detected.
        let origin = origin.map(|origin| origin.with("--alphabet", alphabet.letters()));
        Ok(LongInput { query, target, scoring, origin })
    }

    fn run(&self, input: LongInput, runner: JobRunner, output: Output) -> Result<Took> {
        self.write(input, runner, output, |job, runner, rows| {
            // Further alignments need an unknown number of additional sweeps.
            runner.show_progress_long(job.cells());
            job.run(&runner.run, |hits| rows.rows(hits))
        })
    }

    fn stats(took: &Took) -> impl Serialize {
        let (summary, details, cpu) = (&took.summary, &took.summary.details, process_cpu_seconds());
        LongStats {
            version: env!("CARGO_PKG_VERSION"),
            query_length: took.query_length,
            target_length: took.target_length,
            written: took.written,
            gcups: summary.cells as f64 / summary.seconds.max(1e-9) / 1e9,
            cpu_user_seconds: cpu.map(|(user, _)| user),
            cpu_system_seconds: cpu.map(|(_, system)| system),
            cells: summary.cells,
            pruned_cells: details.pruned_cells,
            traced_cells: details.traced_cells,
            seconds: summary.seconds,
            sweep_seconds: details.sweep_seconds,
            trace_seconds: details.trace_seconds,
            edge_bytes_peak: details.edge_bytes_peak,
            spilled_bytes: details.spilled_bytes,
            resumed: details.resumed,
            engines: summary.engines.iter().map(LongEngineRow::from).collect(),
        }
    }

    fn lines(&self, took: &Took) -> Vec<String> {
        summary_lines(&took.summary, took.written)
    }
}

impl BlockCommand for Long {
    type Job = LongAlignment;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [&mut self.query, &mut self.target].into_iter().chain(self.scoring.matrix_file()).collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        self.plot.as_ref().map(|_| "--plot")
    }

    fn job(&self, input: &LongInput) -> Result<LongAlignment> {
        let LongInput { query, target, scoring, origin } = input;
        let [query_store, target_store] = [query, target].map(|one| Arc::clone(&one.store));
        Ok(LongAlignment {
            want: if self.score_only { LongWant::Score } else { LongWant::Alignment },
            strand: self.strand(query.store.alphabet()),
            top: self.top,
            min_score: self.min_score.unwrap_or(1).max(1),
            method: self.method,
            strip: self.strip,
            chunk: self.chunk,
            prune: self.prune,
            host_memory: self.host_memory,
            checkpoint: self.checkpoint.clone(),
            origin: origin.clone(),
            ..LongAlignment::new(query_store, query.id, target_store, target.id, Arc::clone(scoring))
        })
    }

    fn deliver(
        &self,
        input: LongInput,
        runner: JobRunner,
        output: Output,
        source: impl FnOnce(&LongAlignment, &mut JobRunner, RowSink<'_, LongAlignment>) -> Result<Summary>,
    ) -> Result<Took> {
        let Took { query_length, target_length, written, summary } = self.write(input, runner, output, source)?;
        let summary = Summary { cells: summary.cells, seconds: summary.seconds, ..Summary::default() };
        Ok(Took { query_length, target_length, written, summary })
    }
}

/// Warns if the hits of two sequences of lengths `m` and `n` may be due to chance.
fn warn_of_chance(chance: &Chance, (m, n): (u32, u32), hits: &[LongHit]) {
    let Some(least) = hits.iter().map(|hit| hit.score).min() else { return };
    if chance::warn_of_growth(chance) {
        return;
    }
    let expected = chance.score(m, n);
    let few = hits.iter().filter(|hit| (hit.score as f64) < chance::FACTOR * expected).count();
    let what = match (few, hits.len()) {
        (0, _) => return,
        (1, 1) => format!("the score of {least} is"),
        (few, all) => format!("{few} of {all} scores, from {least} on, are"),
    };
    tracing::warn!(
        "{what} below twice the score that chance gives unrelated sequences of these lengths and \
            compositions, about {expected:.0}: such alignments may be meaningless"
    );
}

/// Converts a hit to the form that writers take. The query has `m` symbols.
fn alignment_of_hit(hit: &LongHit, m: u32) -> LongPairAlignment<'_> {
    let is_reverse = hit.strand == Strand::Minus;
    // For a score without alignment, only the last column is known.
    let last = |end: u32| end.saturating_sub(1)..end;
    let query = hit.query.clone().unwrap_or_else(|| {
        let last = last(hit.query_end);
        if is_reverse { m - last.end..m - last.start } else { last }
    });
    let target = hit.target.clone().unwrap_or_else(|| last(hit.target_end));
    LongPairAlignment {
        is_reverse,
        score: hit.score,
        query: Range32 { start: query.start, end: query.end },
        target: Range32 { start: target.start, end: target.end },
        cigar: hit.cigar.as_ref(),
    }
}

/// Rescores every alignment.
fn check(context: &LongContext, alignments: &[LongPairAlignment<'_>], scoring: &Scoring) -> Result<()> {
    for one in alignments {
        let (alignment, query, target) = context.alignment(one)?;
        let score = verify_alignment(&alignment, query, target, scoring)?;
        if score != one.score {
            return Err(Error::Internal(format!("an alignment of score {} has score {score}", one.score)));
        }
    }
    Ok(())
}

/// Returns the summary of a job as text.
fn summary_lines(summary: &Summary<LongDetails>, written: usize) -> Vec<String> {
    let details = &summary.details;
    let speed = |cells: u64, seconds: f64| gcups(cells as f64 / seconds.max(1e-6));
    let mut line = format!(
        "{} cells in {:.3} s: {}",
        indicatif::HumanCount(summary.cells),
        summary.seconds,
        speed(summary.cells, summary.seconds)
    );
    if details.pruned_cells > 0 {
        let share = 100.0 * details.pruned_cells as f64 / summary.cells.max(1) as f64;
        line.push_str(&format!(", {share:.1}% of them pruned"));
    }
    line.push_str(&format!("; sweeps {:.3} s, tracebacks {:.3} s", details.sweep_seconds, details.trace_seconds));
    if details.resumed {
        line.push_str("; resumed from a checkpoint");
    }
    let plural = if written == 1 { "" } else { "s" };
    line.push_str(&format!("; {written} alignment{plural}"));
    let names: Vec<&str> = summary.engines.iter().map(|engine| engine.name.as_str()).collect();
    if !names.is_empty() {
        line.push_str(&format!("; {}", names.join(", ")));
    }
    let mut lines = vec![line];
    let several = summary.engines.len() > 1;
    lines.extend(summary.engines.iter().filter(|engine| several || engine.lost.is_some()).map(|engine| {
        let share = 100.0 * engine.cells as f64 / summary.cells.max(1) as f64;
        let lost = engine.lost.as_ref().map_or(String::new(), |why| format!("; abandoned: {why}"));
        format!(
            "  {}: {share:.1}% of the cells, {} while busy{lost}",
            engine.name,
            speed(engine.cells, engine.busy_seconds)
        )
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_keep_their_keys_and_order() {
        let engines = vec![EngineStats { name: "cpu".into(), cells: 5, busy_seconds: 1.5, ..EngineStats::default() }];
        let summary: Summary<LongDetails> = Summary { cells: 6, seconds: 2.0, engines, ..Summary::default() };
        let took = Took { query_length: 2, target_length: 3, written: 1, summary };
        let json = serde_json::to_string(&Long::stats(&took)).unwrap();
        assert!(
            json.starts_with("{\"version\":") && json.contains(r#""query_length":2,"target_length":3,"written":1,"#)
        );
        let totals = r#""cells":6,"pruned_cells":0,"traced_cells":0,"seconds":2.0,"sweep_seconds":0.0,"#;
        let memory = r#""trace_seconds":0.0,"edge_bytes_peak":0,"spilled_bytes":0,"resumed":false,"#;
        let engines = r#""engines":[{"name":"cpu","cells":5,"seconds":1.5,"lost":null}]}"#;
        assert!(json.ends_with(&format!("{totals}{memory}{engines}")), "{json}");
    }
}
