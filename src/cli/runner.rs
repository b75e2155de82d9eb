//! The steps from a valid command line to a finished job, and their order, for every command with
//! results.

use super::common::{ComputeOptions, OutputFiles};
use super::device::DeviceChoice;
use super::progress::{self, ProgressDisplay};
use super::{interrupt, log};
use pairwave::gpu::adapter::{self, Device};
use pairwave::gpu::device::OpenedAhead;
use pairwave::gpu::kernels::{Family, Kernel, selectable};
use pairwave::jobs::Run;
use pairwave::output::{Output, OutputGroup};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Minimum size of the input in bytes. While larger input is read, the best device is opened.
const LARGE_INPUT: u64 = 2 << 20;

/// Output files of a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    /// File for the results; `None` is standard output.
    pub output: Option<&'a Path>,
    /// File for the statistics.
    pub stats: Option<&'a Path>,
    /// File for a picture of the results.
    pub picture: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Returns the output files of every job together with a picture.
    pub(super) fn new(files: &'a OutputFiles, picture: Option<&'a Path>) -> Self {
        Files { output: files.output.as_deref(), stats: files.stats.as_deref(), picture }
    }

    /// Checks that all files and, without a file for the results, standard output can be written.
    pub(super) fn check(&self) -> Result<()> {
        check_results(self.output)?;
        [self.stats, self.picture].into_iter().flatten().try_for_each(Output::check)
    }
}

/// Devices, progress and picture of a running job.
pub(super) struct JobRunner {
    /// Devices and settings of the job.
    pub run: Run,
    /// Open file of the picture.
    pub picture: Option<Output>,
    /// All output files of the job, which appear at its end.
    pub outputs: OutputGroup,
    quiet: bool,
}

impl JobRunner {
    /// Returns a runner. With `quiet` it shows no bar.
    pub(super) fn new(run: Run, quiet: bool) -> Self {
        JobRunner { run, picture: None, outputs: OutputGroup::default(), quiet }
    }

    /// Returns a runner with a picture. All its output files appear with a group.
    pub(super) fn with_outputs(self, picture: Option<Output>, outputs: &OutputGroup) -> Self {
        JobRunner { picture, outputs: outputs.clone(), ..self }
    }

    /// Shows a bar for a job of `cells` cells until the runner is dropped.
    pub(super) fn show_progress(&mut self, cells: u64) {
        self.run.progress = Arc::new(ProgressDisplay::start(cells, self.quiet));
    }

    /// Shows a bar for a job of one pair, without a speed in pairs.
    pub(super) fn show_progress_long(&mut self, cells: u64) {
        self.run.progress = Arc::new(ProgressDisplay::start_long(cells, self.quiet));
    }

    /// Shows a counter for pairs whose number is unknown.
    pub(super) fn show_progress_pairs(&mut self) {
        self.run.progress = Arc::new(ProgressDisplay::start_pairs(self.quiet));
    }

    /// Shows a counter for symbols whose number is unknown.
    pub(super) fn show_progress_symbols(&mut self) {
        self.run.progress = Arc::new(ProgressDisplay::start_symbols(self.quiet));
    }

    /// Shows a counter for reads whose number is unknown.
    pub(super) fn show_progress_reads(&mut self) {
        self.run.progress = Arc::new(ProgressDisplay::start_reads(self.quiet));
    }
}

/// Command that reads sequences, computes, and writes results.
pub(super) trait JobCommand {
    /// Input as read.
    type Input;
    /// Summary of the job.
    type Summary;
    /// Kernels that `--kernel` can select.
    const FAMILY: Family;

    /// Returns the kernels that `--kernel` can select, if they depend on the options.
    fn family(&self) -> Family {
        Self::FAMILY
    }

    /// Returns devices, memory, threads and kernel.
    fn compute(&self) -> &ComputeOptions;

    /// Returns the options of [`JobCommand::compute`] that have no effect on the blocks of this job.
    fn idle_computing(&self) -> Vec<&'static str> {
        let is_tuned = matches!(self.family(), Family::Pairs | Family::Local);
        if is_tuned { Vec::new() } else { vec!["--tune"] }
    }

    /// Returns the output files.
    fn files(&self) -> Files<'_>;

    /// Returns the files with the sequences. While large files are read, the best device is opened
    /// ([`JobCommand::opens_ahead`]).
    fn sequence_files(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// Returns whether a device is opened while large files are read. Otherwise the job needs the
    /// sequences to decide whether a GPU is faster than the CPU.
    fn opens_ahead(&self) -> bool {
        true
    }

    /// Reads the input, and checks the options that depend on it. Only the end of the process
    /// interrupts it.
    fn read(&self, run: &Run) -> Result<Self::Input>;

    /// Reads the input of a whole job like [`JobCommand::read`], except for input that is read
    /// during the job.
    fn open(&self, run: &Run) -> Result<Self::Input> {
        self.read(run)
    }

    /// Runs a command. With `quiet`, prints only errors on standard error.
    fn run(&self, input: Self::Input, runner: JobRunner, output: Output) -> Result<Self::Summary>;

    /// Returns the summary for programs.
    fn stats(summary: &Self::Summary) -> impl Serialize;

    /// Returns the summary as text.
    fn lines(&self, summary: &Self::Summary) -> Vec<String>;
}

/// Runs a command. With `quiet`, nothing is printed on standard error but errors.
pub(super) fn run<C: JobCommand>(command: &C, quiet: bool) -> Result<()> {
    let mut run = run_settings(command.compute(), command.family())?;
    let files = command.files();
    // Checks now, not after hours of computation, that these files can be written.
    files.check()?;
    let has_choice = run.devices.is_empty() || run.devices.iter().any(|device| matches!(device, Device::Cpu));
    let opens_ahead = !has_choice || command.opens_ahead();
    let _opening = opens_ahead.then(|| OpeningDevice::start(&run, &command.sequence_files()));
    let input = command.open(&run)?;
    // Interrupts are watched only after reading, because a read that waits for a terminal or a pipe
    // would not see the flag. An interrupt during reading therefore ends the process, so no file
    // may be created before this line.
    run.interrupt = interrupt::watch();
    let outputs = OutputGroup::default();
    let stats = files.stats.map(|path| outputs.create(path)).transpose()?;
    let picture = files.picture.map(|path| outputs.create(path)).transpose()?;
    let output = results(files.output, &outputs, quiet)?;
    let summary = command.run(input, JobRunner::new(run, quiet).with_outputs(picture, &outputs), output)?;
    if let Some(stats) = stats {
        write_json(stats, &C::stats(&summary))?;
    }
    outputs.publish()?;
    if !quiet {
        command.lines(&summary).iter().for_each(|line| log::line(line));
    }
    Ok(())
}

/// A thread that opens a device while the input is read. It is joined when the value is dropped,
/// because a process must not end while a driver starts.
struct OpeningDevice(Option<JoinHandle<()>>);

impl OpeningDevice {
    /// Starts to open the first adapter of a run, because further ones may not be worth their start.
    /// If no device is named, the best one is opened if the files are so large that a GPU is worth
    /// its start.
    fn start(run: &Run, files: &[&Path]) -> Self {
        let size = |path: &&Path| path.metadata().map_or(0, |file| file.len());
        let is_large = files.iter().map(size).sum::<u64>() >= LARGE_INPUT;
        let devices = run.devices.clone();
        let open = move || {
            let devices = if devices.is_empty() { adapter::choose(&[]).unwrap_or_default() } else { devices };
            let adapters = devices.iter().filter_map(Device::adapter);
            adapters.take(1).for_each(OpenedAhead::open);
        };
        let is_worth_it =
            if run.devices.is_empty() { is_large } else { run.devices.iter().any(|device| device.adapter().is_some()) };
        OpeningDevice(is_worth_it.then(|| std::thread::spawn(open)))
    }
}

impl Drop for OpeningDevice {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic of a driver is repeated when the engine opens the device.
            _ = thread.join();
        }
    }
}

/// Checks that the results can be written to a file, or to standard output without one.
pub(super) fn check_results(path: Option<&Path>) -> Result<()> {
    path.map_or_else(Output::check_standard, Output::check)
}

/// Opens the output for results. A file appears with the others of the group.
pub(super) fn results(path: Option<&Path>, outputs: &OutputGroup, quiet: bool) -> Result<Output> {
    match path {
        Some(path) if path != Path::new("-") => outputs.create(path),
        _ => Ok(progress::standard_output(quiet)),
    }
}

/// Returns devices and settings of a job, without an interrupt flag.
pub(super) fn run_settings(compute: &ComputeOptions, family: Family) -> Result<Run> {
    let called = |name| kernel_called(name, selectable(family));
    Ok(Run {
        devices: named_devices(&compute.devices)?,
        threads: compute.threads.map_or(0, |threads| threads.get()),
        memory: compute.memory,
        kernel: compute.kernel.as_deref().map(called).transpose()?,
        tune: compute.tune,
        ..Run::default()
    })
}

/// Returns the named devices; an empty list means the best available.
pub(super) fn named_devices(choices: &[DeviceChoice]) -> Result<Vec<Device>> {
    let names: Vec<String> =
        choices.iter().filter(|choice| **choice != DeviceChoice::Auto).map(|choice| choice.to_string()).collect();
    if names.is_empty() { Ok(Vec::new()) } else { adapter::choose(&names) }
}

/// Returns the kernel of a family with this name.
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
