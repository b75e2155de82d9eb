//! One function for each job: from valid options to the library and back.

use super::device::DeviceChoice;
use super::interrupt;
use super::options::{AllPairs, Compute, Devices};
use super::progress::Progress;
use pairwave::gpu::adapter::{self, Device};
use pairwave::gpu::kernels::{Family, Kernel, offered};
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{self, RunOptions, Summary, devices};
use pairwave::output::{self, Context, Format, Output, Pair};
use pairwave::score::Mode;
use pairwave::seq::{ReadOptions, read_files};
use pairwave::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// `pairwave allpairs`.
pub fn allpairs(options: &AllPairs, quiet: bool) -> Result<()> {
    let mut run_options = self::options(&options.compute)?;
    run_options.kernel =
        options.compute.kernel.as_deref().map(|name| kernel_called(name, offered(Family::Pairs))).transpose()?;
    check_file(options.stats.as_deref())?;
    let paths: Vec<&str> =
        [Some(&options.seqs), options.against.as_ref()].into_iter().flatten().map(|s| &**s).collect();
    let mut stores = read_files(&paths, &ReadOptions { alphabet: options.alphabet })?.into_iter().map(Arc::new);
    let queries = stores.next().ok_or_else(|| Error::Internal("no store for the file that was read".into()))?;
    let against = stores.next();
    let targets = against.clone().unwrap_or_else(|| queries.clone());
    let scoring = options.scoring.resolve(queries.alphabet())?.scoring()?;
    // Not before: while input is read nothing is left behind, and a read that waits for a terminal or a pipe would not
    // see the flag.
    run_options.interrupt = interrupt::watch();
    let stats = stats_file(options.stats.as_deref())?;

    let selection = &options.selection;
    let is_filtered = selection.min_identity.is_some_and(|identity| identity > 0.0);
    let needs_alignment = options.format.needs_alignment() || is_filtered || selection.max_hits.is_some();
    let job = jobs::AllPairs {
        queries: queries.clone(),
        against,
        scoring: Arc::new(scoring.clone()),
        definition: selection.identity,
        min_identity: selection.min_identity,
        min_score: least_score(selection.min_score, &options.format, scoring.mode),
        score_only: selection.score_only || !needs_alignment && !options.compute.check,
        max_hits: selection.max_hits.map(|most| most.get() as usize),
        check: options.compute.check,
        sieve: selection.sieve,
    };

    let context = Context { queries, targets, scoring, identity: selection.identity };
    let output = match &options.output {
        Some(path) => Output::create(path)?,
        None => Output::standard(),
    };
    let mut writer = output::open(&options.format, context, output)?;
    writer.begin()?;
    let progress = Progress::start(job.job().cells(), quiet, options.output.is_none());
    let summary = job.run(&run_options, &progress, |result| {
        writer.write(&Pair {
            query: result.query,
            target: result.target,
            score: result.score,
            alignment: result.alignment.as_ref().map(|alignment| &alignment.cigar),
            query_start: result.alignment.as_ref().map_or(0, |alignment| alignment.query_start),
            target_start: result.alignment.as_ref().map_or(0, |alignment| alignment.target_start),
            counts: result.alignment.is_some().then_some(result.counts),
            edits: None,
            hit: None,
        })
    })?;
    writer.finish()?;
    write_stats(stats, &summary)?;
    progress.finish(&summary, is_filtered);
    Ok(())
}

/// Who computes, and how; nothing can interrupt it yet, and no kernel is chosen.
pub(super) fn options(compute: &Compute) -> Result<RunOptions> {
    Ok(RunOptions {
        devices: chosen(&compute.devices)?,
        threads: compute.threads.map_or(0, |threads| threads.get()),
        memory: compute.memory,
        tune: compute.tune,
        ..RunOptions::default()
    })
}

/// Finds out before input is read that a file which is written late cannot be written. The file itself is begun when
/// interrupts are watched for: one that ends the process would leave its temporary file behind.
pub(super) fn check_file(path: Option<&Path>) -> Result<()> {
    path.map_or(Ok(()), Output::check)
}

/// The file for statistics.
pub(super) fn stats_file(path: Option<&Path>) -> Result<Option<Output>> {
    path.map(Output::create).transpose()
}

/// Writes what a job of many pairs took.
pub(super) fn write_stats(output: Option<Output>, summary: &Summary) -> Result<()> {
    write_json(output, &JobStats::of(summary))
}

/// Writes what a job took.
pub(super) fn write_json(output: Option<Output>, stats: &impl serde::Serialize) -> Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    serde_json::to_writer_pretty(output.buffer(), stats)
        .map_err(|error| Error::Internal(format!("statistics do not become JSON: {error}")))?;
    output.buffer().push(b'\n');
    output.finish()
}

/// The least score of a pair that is written. A local alignment without a column is no hit: formats of hits, whose
/// readers expect a place, leave it out.
fn least_score(given: Option<i64>, format: &Format, mode: Mode) -> Option<i64> {
    let has_hits = mode == Mode::Local && matches!(format, Format::Blast6 | Format::Paf);
    if has_hits { Some(given.unwrap_or(1).max(1)) } else { given }
}

/// `pairwave devices`.
pub fn devices(options: &Devices, quiet: bool) -> Result<()> {
    let wanted = chosen(&options.devices)?;
    let reports = devices::report(&wanted, options.self_test, options.bench)?;
    let failed = reports.iter().flat_map(|report| &report.self_test).filter(|test| test.failure.is_some()).count();
    let mut text = if options.json {
        serde_json::to_string_pretty(&reports)
            .map_err(|error| Error::Internal(format!("devices do not become JSON: {error}")))?
    } else {
        reports.iter().map(|report| report.to_string()).collect::<Vec<String>>().join("\n")
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    super::pages::print(text)?;
    if wanted.is_empty() && reports.iter().all(|report| report.adapter.is_none()) && !quiet {
        tracing::warn!(
            "no graphics adapter was found; is a Vulkan driver (and on Linux the loader libvulkan.so.1) there?"
        );
    }
    match failed {
        0 => Ok(()),
        _ => Err(Error::Internal(format!("{failed} self-tests failed"))),
    }
}

/// The kernel of these with this name.
pub(super) fn kernel_called(
    name: &str,
    kernels: impl Iterator<Item = &'static Kernel> + Clone,
) -> Result<&'static Kernel> {
    kernels.clone().find(|kernel| kernel.stem == name).ok_or_else(|| {
        let names: Vec<&str> = kernels.map(|kernel| kernel.stem).collect();
        Error::usage(format!("no kernel is called '{name}'; there is: {}", names.join(", ")))
    })
}

/// The kernel for distances with this name.
pub(super) fn edit_kernel_called(name: &str) -> Result<&'static Kernel> {
    kernel_called(name, offered(Family::Edit))
}

/// The devices that were named; none if the best is to be found.
pub(super) fn chosen(choices: &[DeviceChoice]) -> Result<Vec<Device>> {
    let names: Vec<String> =
        choices.iter().filter(|choice| **choice != DeviceChoice::Auto).map(|choice| choice.to_string()).collect();
    if names.is_empty() { Ok(Vec::new()) } else { adapter::choose(&names) }
}
