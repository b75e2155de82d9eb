//! `pairwave bench`: validated options, and the run.

use super::args::{BenchArgs, ExperimentName, GapsName, TableFormatName, WorkName};
use super::common::{first_given, is_same_file, is_standard};
use super::device::DeviceChoice;
use super::endings;
use super::runner::{kernel_called, named_devices};
use super::{SUCCESS, flags, interrupt, log};
use pairwave::gpu::adapter::Device;
use pairwave::gpu::kernels::KERNELS;
use pairwave::measure::bench::{self, BenchWork, Contender, Experiment, GapKind, compare, ranks, rates};
use pairwave::measure::table::Measurements;
use pairwave::measure::{plot, table};
use pairwave::output::{Output, OutputGroup};
use pairwave::seq::{ReadOptions, SequenceStore, read_files};
use pairwave::{Error, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Greatest length of a measured sequence, in symbols.
const MAX_SYMBOLS: u32 = 1 << 20;
/// Greatest number of pairs that one row of a table computes.
const MAX_PAIRS: u32 = 10_000_000;
/// Exit code if a rate is lower than in an earlier measurement.
const LOWER_RATE: u8 = 1;
/// Default tolerated fall of a rate, in percent.
const TOLERANCE: f64 = 10.0;

/// Validated options of `pairwave bench`.
#[derive(Debug)]
pub(super) struct BenchOptions {
    /// Experiments in running order.
    pub experiments: Vec<Experiment>,
    /// Whether to simulate jobs on many machines after the experiments. True if `experiments` is
    /// empty.
    pub cluster: bool,
    /// Lengths to measure; `None` for the defaults.
    pub lengths: Option<Vec<u32>>,
    /// Numbers of pairs, reads, sequences or ranks to measure; `None` for the defaults.
    pub counts: Option<Vec<u32>>,
    /// Results to compute, at least one.
    pub work: Vec<BenchWork>,
    /// Gap costs to measure, at least one.
    pub gaps: Vec<GapKind>,
    /// Kernels and CPU engine to measure, at least one.
    pub contenders: Vec<Contender>,
    /// File of sequences; `-` is standard input.
    pub seqs: Option<PathBuf>,
    /// Time limit per row of a table in seconds, above 0.
    pub seconds: f64,
    pub quick: bool,
    /// File for the tables; `None` is standard output.
    pub output: Option<PathBuf>,
    pub format: TableFormatName,
    pub plot: Option<PathBuf>,
    /// File to save the rates to.
    pub save: Option<PathBuf>,
    /// File of saved rates to compare with.
    pub compare: Option<PathBuf>,
    /// Tolerated fall of a rate as a fraction, from 0 to below 1.
    pub tolerance: f64,
    /// Devices to measure, at least one.
    pub devices: Vec<DeviceChoice>,
    /// Number of CPU threads; `None` is all.
    pub threads: Option<NonZeroUsize>,
}

impl TryFrom<BenchArgs> for BenchOptions {
    type Error = Error;

    fn try_from(args: BenchArgs) -> Result<Self> {
        if !(args.seconds > 0.0 && args.seconds.is_finite()) {
            return Err(Error::usage(format!("--seconds {}: must be above 0", args.seconds)));
        }
        let output = args.output.output.as_deref().filter(|path| !is_standard(path)).map(Path::to_owned);
        check_files(&args, &output)?;
        let tolerance = tolerance(&args)?;
        let requested: Vec<Experiment> = args.experiments.iter().filter_map(|&name| name.measured()).collect();
        let cluster = args.experiments.contains(&ExperimentName::Cluster);
        let is_all = args.experiments.is_empty();
        let experiments: Vec<Experiment> =
            Experiment::ALL.into_iter().filter(|one| is_all || requested.contains(one)).collect();
        check_experiments(&args, &experiments, cluster)?;
        Ok(BenchOptions {
            experiments,
            cluster,
            lengths: sizes("--lengths", args.lengths, MAX_SYMBOLS)?,
            counts: sizes("--counts", args.counts, MAX_PAIRS)?,
            work: values_or_all(
                "--work",
                args.work.into_iter().map(BenchWork::from),
                [BenchWork::Scores, BenchWork::Alignments],
            )?,
            gaps: values_or_all(
                "--gaps",
                args.gaps.into_iter().map(GapKind::from),
                [GapKind::Linear, GapKind::Affine],
            )?,
            contenders: contenders(&args.kernel)?,
            seqs: args.seqs,
            seconds: args.seconds,
            quick: args.quick,
            output,
            format: args.format,
            plot: args.plot,
            save: args.save,
            compare: args.compare,
            tolerance: tolerance / 100.0,
            devices: args.device.choices()?,
            threads: args.threads.number()?,
        })
    }
}

/// Rejects files that would overwrite each other or an input.
fn check_files(args: &BenchArgs, output: &Option<PathBuf>) -> Result<()> {
    if args.plot.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--plot -: standard output holds the tables; name a file"));
    }
    if args.save.as_deref() == Some(Path::new("-")) || args.compare.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--save and --compare need the name of a file"));
    }
    let written = [("--output", output), ("--plot", &args.plot), ("--save", &args.save)];
    for (index, (option, path)) in written.iter().enumerate() {
        let Some(path) = path else { continue };
        let same = written[..index].iter().find(|(_, other)| other.as_ref() == Some(path));
        if let Some((other, _)) = same {
            return Err(Error::usage(format!("{other} and {option} name the same file")));
        }
        let read = args.seqs.as_deref().into_iter().chain(args.compare.as_deref());
        for input in read {
            if path == input || is_same_file(path, input) {
                return Err(Error::usage(format!("{option} {} would overwrite an input file", path.display())));
            }
        }
    }
    for (option, path, written) in [
        ("--output", output, &*endings::value_name(args.format)),
        ("--plot", &args.plot, "--plot"),
        ("--save", &args.save, "a list of rates"),
    ] {
        endings::check("bench", option, path.as_deref(), written)?;
    }
    Ok(())
}

/// Returns the tolerated fall of a rate, in percent.
fn tolerance(args: &BenchArgs) -> Result<f64> {
    let tolerance = args.tolerance.unwrap_or(TOLERANCE);
    if !(0.0..100.0).contains(&tolerance) {
        return Err(Error::usage(format!("--tolerance {tolerance}: must be a percentage from 0 to below 100")));
    }
    if args.tolerance.is_some() && args.compare.is_none() {
        return Err(Error::usage("--tolerance has no effect without --compare: add --compare or remove it"));
    }
    Ok(tolerance)
}

/// Rejects options that have no effect on any selected experiment.
fn check_experiments(args: &BenchArgs, experiments: &[Experiment], simulates: bool) -> Result<()> {
    if experiments.is_empty() && (args.save.is_some() || args.compare.is_some()) {
        return Err(Error::usage("--save and --compare need measured rates, but 'cluster' is a simulation"));
    }
    if args.seqs.is_some() && !experiments.iter().any(|one| [Experiment::Filter, Experiment::EndToEnd].contains(one)) {
        return Err(Error::usage("--seqs applies only to filter and endtoend: select one of them or remove it"));
    }
    let any_of = |some: &[Experiment]| experiments.iter().any(|one| some.contains(one));
    if !args.lengths.is_empty()
        && !any_of(&[Experiment::Kernels, Experiment::Tiles, Experiment::Edit, Experiment::Long])
        && !any_of(&[Experiment::Papara, Experiment::Msa])
    {
        return Err(Error::usage(
            "--lengths applies only to kernels, tiles, edit, long, papara and msa: select one of them or remove it",
        ));
    }
    if !args.counts.is_empty() && !simulates && !any_of(&[Experiment::Kernels, Experiment::Papara, Experiment::Msa]) {
        return Err(Error::usage(
            "--counts applies only to kernels, papara, msa and cluster: select one of them or remove it",
        ));
    }
    if !args.gaps.is_empty() && !any_of(&[Experiment::Kernels, Experiment::Slices, Experiment::Tiles, Experiment::Long])
    {
        return Err(Error::usage(
            "--gaps applies only to kernels, slices, tiles and long: select one of them or remove it",
        ));
    }
    let of_devices = [
        ("--device", !args.device.device.is_empty()),
        ("--threads", args.threads.threads.is_some()),
        ("--kernel", !args.kernel.is_empty()),
    ];
    if experiments.is_empty()
        && let Some(option) = first_given(&of_devices)
    {
        return Err(Error::usage(format!("{option} has no effect on 'cluster', which is a simulation: remove it")));
    }
    if !args.work.is_empty() && !any_of(&[Experiment::Kernels]) {
        return Err(Error::usage("--work applies only to kernels: select it or remove --work"));
    }
    Ok(())
}

/// Checks that sizes are from 1 to `most`. Returns `None` if none was given.
fn sizes(option: &str, given: Vec<u32>, most: u32) -> Result<Option<Vec<u32>>> {
    match given.iter().find(|&&size| size == 0 || size > most) {
        Some(wrong) => Err(Error::usage(format!("{option} {wrong}: must be from 1 to {most}"))),
        None => Ok((!given.is_empty()).then_some(given)),
    }
}

/// Returns the given values, or all if none was given. Rejects repeated values.
fn values_or_all<T: PartialEq>(option: &str, given: impl Iterator<Item = T>, all: [T; 2]) -> Result<Vec<T>> {
    let given: Vec<T> = given.collect();
    match &given[..] {
        [] => Ok(all.into()),
        [first, rest @ ..] if rest.contains(first) || rest.len() > 1 => {
            Err(Error::usage(format!("{option}: a value is given twice")))
        }
        _ => Ok(given),
    }
}

fn contenders(names: &[String]) -> Result<Vec<Contender>> {
    let kernels = KERNELS.iter().filter(|kernel| !kernel.is_later_stage());
    if names.is_empty() {
        return Ok(kernels.map(Contender::Kernel).chain([Contender::Cpu]).collect());
    }
    let mut contenders = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(Error::usage(format!("--kernel: '{name}' is given twice")));
        }
        contenders.push(match name.as_str() {
            "cpu" => Contender::Cpu,
            name => Contender::Kernel(kernel_called(name, kernels.clone())?),
        });
    }
    Ok(contenders)
}

/// Runs the experiments and writes all tables or none. Returns a failing exit code, after writing
/// the tables, if a rate fell.
pub(super) fn run(options: &BenchOptions, quiet: bool) -> Result<u8> {
    let devices = if options.experiments.is_empty() { Vec::new() } else { named_devices(&options.devices)? };
    let sequences = match &options.seqs {
        None => None,
        Some(path) => read_files(&[path], &ReadOptions::default())?.pop().map(Arc::new),
    };
    let interrupt = interrupt::watch();
    // Opened before anything is measured, so that an unwritable file fails at once.
    let outputs = OutputGroup::default();
    let mut output = match &options.output {
        Some(path) => outputs.create(path)?,
        None => {
            Output::check_standard()?;
            Output::standard()
        }
    };
    let picture = options.plot.as_deref().map(|path| outputs.create(path)).transpose()?;
    let save = options.save.as_deref().map(|path| outputs.create(path)).transpose()?;
    let before = options.compare.as_deref().map(rates::read).transpose()?;
    let mut measurements = measured(options, devices, sequences, &interrupt, quiet)?;
    measurements.header.iter_mut().for_each(|line| *line = flags::in_text(line));
    let rates = rates::from_measurements(&measurements);
    let compared = before.map(|before| {
        let name = options.compare.as_deref().unwrap_or(Path::new("")).display().to_string();
        let compared = compare::compare(&before, &rates, options.tolerance, &name);
        measurements.tables.extend(compared.tables.iter().cloned());
        (name, compared)
    });
    let text = match options.format {
        TableFormatName::Text => table::text(&measurements),
        TableFormatName::Csv => table::csv(&measurements),
    };
    if let Some(mut picture) = picture {
        picture.buffer().extend(plot::svg(&measurements)?.bytes());
        picture.finish()?;
    }
    if let Some(mut save) = save {
        save.buffer().extend(rates::text(&rates, &measurements.header).bytes());
        save.finish()?;
    }
    output.buffer().extend(text.bytes());
    output.finish()?;
    outputs.publish()?;
    Ok(match compared {
        Some((name, compared)) => verdict(&name, &compared, options.tolerance, quiet),
        None => SUCCESS,
    })
}

/// Runs the experiments on these devices, and the simulation of clusters.
fn measured(
    options: &BenchOptions,
    devices: Vec<Device>,
    sequences: Option<Arc<SequenceStore>>,
    interrupt: &Arc<AtomicBool>,
    quiet: bool,
) -> Result<Measurements> {
    let say = |what: &str| {
        if !quiet {
            log::line(what);
        }
    };
    let bench = bench::BenchRun {
        experiments: options.experiments.clone(),
        devices,
        contenders: options.contenders.clone(),
        lengths: options.lengths.clone(),
        counts: options.counts.clone(),
        work: options.work.clone(),
        gaps: options.gaps.clone(),
        seconds: options.seconds,
        sequences,
        quick: options.quick,
        threads: options.threads.map_or(0, NonZeroUsize::get),
        interrupt: Arc::clone(interrupt),
    };
    let mut measurements = if options.experiments.is_empty() {
        Measurements {
            header: vec![format!("pairwave {} bench cluster", env!("CARGO_PKG_VERSION"))],
            tables: Vec::new(),
        }
    } else {
        bench.run(&say)?
    };
    if options.cluster {
        let heard = |what: &str| {
            say(&format!("cluster: {what}"));
            if interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        };
        let counts = options.counts.as_deref();
        measurements.tables.push(ranks::table(counts, options.quick, &heard)?);
    }
    Ok(measurements)
}

/// Reports the result of a comparison.
fn verdict(name: &str, compared: &compare::RateComparison, tolerance: f64, quiet: bool) -> u8 {
    for (device, other) in &compared.other_devices {
        tracing::warn!(
            "the rates in {name} come from another device, {other}; they are compared with the rates of {device}"
        );
    }
    let summary = compared.summary(tolerance);
    if compared.fallen > 0 {
        log::error(&format!("{name}: {summary}"));
        return LOWER_RATE;
    }
    if compared.compared == 0 {
        tracing::warn!("{name} contains none of the measured rates");
    } else if !quiet {
        log::line(&format!("{name}: {summary}"));
    }
    SUCCESS
}

impl ExperimentName {
    /// Returns the experiment that measures devices, or `None` for the simulation.
    fn measured(self) -> Option<Experiment> {
        Some(match self {
            ExperimentName::Cluster => return None,
            ExperimentName::Kernels => Experiment::Kernels,
            ExperimentName::Slices => Experiment::Slices,
            ExperimentName::Tiles => Experiment::Tiles,
            ExperimentName::Filter => Experiment::Filter,
            ExperimentName::Buffering => Experiment::Buffering,
            ExperimentName::EndToEnd => Experiment::EndToEnd,
            ExperimentName::Edit => Experiment::Edit,
            ExperimentName::Long => Experiment::Long,
            ExperimentName::Papara => Experiment::Papara,
            ExperimentName::Msa => Experiment::Msa,
        })
    }
}

impl From<WorkName> for BenchWork {
    fn from(name: WorkName) -> Self {
        match name {
            WorkName::Scores => BenchWork::Scores,
            WorkName::Alignments => BenchWork::Alignments,
        }
    }
}

impl From<GapsName> for GapKind {
    fn from(name: GapsName) -> Self {
        match name {
            GapsName::Linear => GapKind::Linear,
            GapsName::Affine => GapKind::Affine,
        }
    }
}
