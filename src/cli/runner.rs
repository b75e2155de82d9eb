//! The one way from a valid command line to a job that has ended, for every command with results: which steps there are, and
//! in which order.

use super::common::{Compute, OutputFiles};
use super::device::DeviceChoice;
use super::progress::{self, Progress};
use super::{interrupt, log};
use pairwave::gpu::adapter::{self, Device};
use pairwave::gpu::kernels::{Family, Kernel, offered};
use pairwave::jobs::Run;
use pairwave::output::Output;
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// The files that a command writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    /// Results; `None` is standard output.
    pub output: Option<&'a Path>,
    /// What the job took.
    pub stats: Option<&'a Path>,
    /// A picture of the results.
    pub picture: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// The files that every job has, and a picture.
    pub(super) fn new(files: &'a OutputFiles, picture: Option<&'a Path>) -> Self {
        Files { output: files.output.as_deref(), stats: files.stats.as_deref(), picture }
    }
}

/// What a job is run with.
pub(super) struct Runner {
    /// Who computes, and how.
    pub run: Run,
    /// The picture's file.
    pub picture: Option<Output>,
    quiet: bool,
}

impl Runner {
    /// With `quiet` it shows no bar.
    pub(super) fn new(run: Run, picture: Option<Output>, quiet: bool) -> Self {
        Runner { run, picture, quiet }
    }

    /// A job of `cells` cells in all begins: its bar, until this is dropped.
    pub(super) fn show_progress(&mut self, cells: u64) {
        self.run.progress = Arc::new(Progress::start(cells, self.quiet));
    }

    /// The same of a job of one pair, which has no speed in pairs.
    pub(super) fn show_progress_long(&mut self, cells: u64) {
        self.run.progress = Arc::new(Progress::start_long(cells, self.quiet));
    }

    /// The same of a job of pairs, of which nobody knows how many there are.
    pub(super) fn show_progress_pairs(&mut self) {
        self.run.progress = Arc::new(Progress::start_pairs(self.quiet));
    }

    /// The same of a job of reads, of which nobody knows how many there are.
    pub(super) fn show_progress_reads(&mut self) {
        self.run.progress = Arc::new(Progress::start_reads(self.quiet));
    }
}

/// A command that reads sequences, computes, and writes results.
pub(super) trait JobCommand {
    /// What was read.
    type Input;
    /// What the job took.
    type Summary;
    /// The kernels that it can be told to use.
    const FAMILY: Family;

    /// The same where it depends on the options.
    fn family(&self) -> Family {
        Self::FAMILY
    }

    /// Who computes, and how.
    fn compute(&self) -> &Compute;

    /// The files to write.
    fn files(&self) -> Files<'_>;

    /// Reads the input, and checks what can be checked only then. Nothing can interrupt it but the end of the process.
    fn read(&self, run: &Run) -> Result<Self::Input>;

    /// Computes, and writes all results to `output`.
    fn run(&self, input: Self::Input, runner: Runner, output: Output) -> Result<Self::Summary>;

    /// The summary for programs.
    fn stats(summary: &Self::Summary) -> impl Serialize;

    /// The summary for people.
    fn lines(&self, summary: &Self::Summary) -> Vec<String>;
}

/// Runs a command. With `quiet`, nothing is printed on standard error but errors.
pub(super) fn run<C: JobCommand>(command: &C, quiet: bool) -> Result<()> {
    let mut run = run_of(command.compute(), command.family())?;
    let files = command.files();
    // That these cannot be written is found out now and not after hours.
    [files.output, files.stats, files.picture].into_iter().flatten().try_for_each(Output::check)?;
    let input = command.read(&run)?;
    // Not before: a read that waits for a terminal or a pipe would not see the flag. And before any file is begun: while
    // input is read, an interrupt ends the process and leaves nothing behind.
    run.interrupt = interrupt::watch();
    let stats = files.stats.map(Output::create).transpose()?;
    let picture = files.picture.map(Output::create).transpose()?;
    let output = results(files.output, quiet)?;
    let summary = command.run(input, Runner::new(run, picture, quiet), output)?;
    if let Some(stats) = stats {
        write_json(stats, &C::stats(&summary))?;
    }
    if !quiet {
        command.lines(&summary).iter().for_each(|line| log::line(line));
    }
    Ok(())
}

/// Where results go.
pub(super) fn results(path: Option<&Path>, quiet: bool) -> Result<Output> {
    match path {
        Some(path) if path != Path::new("-") => Output::create(path),
        _ => Ok(progress::standard_output(quiet)),
    }
}

/// Who computes, and how; nothing can interrupt it yet.
pub(super) fn run_of(compute: &Compute, family: Family) -> Result<Run> {
    let called = |name| kernel_called(name, offered(family));
    Ok(Run {
        devices: chosen(&compute.devices)?,
        threads: compute.threads.map_or(0, |threads| threads.get()),
        memory: compute.memory,
        kernel: compute.kernel.as_deref().map(called).transpose()?,
        tune: compute.tune,
        ..Run::default()
    })
}

/// The devices that were named; none if the best is to be found.
pub(super) fn chosen(choices: &[DeviceChoice]) -> Result<Vec<Device>> {
    let names: Vec<String> =
        choices.iter().filter(|choice| **choice != DeviceChoice::Auto).map(|choice| choice.to_string()).collect();
    if names.is_empty() { Ok(Vec::new()) } else { adapter::choose(&names) }
}

/// The kernel of these with this name.
pub(super) fn kernel_called(
    name: &str,
    kernels: impl Iterator<Item = &'static Kernel> + Clone,
) -> Result<&'static Kernel> {
    kernels.clone().find(|kernel| kernel.stem == name).ok_or_else(|| {
        let names: Vec<&str> = kernels.map(|kernel| kernel.stem).collect();
        Error::usage(format!("no kernel is called '{name}'; the kernels are: {}", names.join(", ")))
    })
}

/// Writes a summary for programs.
pub(super) fn write_json(mut output: Output, stats: &impl Serialize) -> Result<()> {
    serde_json::to_writer_pretty(output.buffer(), stats)
        .map_err(|error| Error::Internal(format!("the statistics cannot be written as JSON: {error}")))?;
    output.buffer().push(b'\n');
    output.finish()
}
