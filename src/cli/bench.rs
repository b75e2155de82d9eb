//! `pairwave bench`: what is valid, and its run.

use super::args::{BenchArgs, ExperimentName, GapsName, TableFormatName, WorkName};
use super::common::{is_same_file, threads};
use super::device::DeviceChoice;
use super::runner::{chosen, kernel_called};
use super::{flags, interrupt, log};
use pairwave::cluster::tables;
use pairwave::gpu::kernels::KERNELS;
use pairwave::jobs::bench::{self, BenchWork, Contender, Experiment, GapKind};
use pairwave::output::table::Measurements;
use pairwave::output::{Output, plot, table};
use pairwave::seq::{ReadOptions, read_files};
use pairwave::{Error, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Lengths that a batch of pairs of one length is made for.
const MOST_SYMBOLS: u32 = 1 << 20;
/// Pairs that are computed at most for a row.
const MOST_PAIRS: u32 = 10_000_000;

/// A valid `pairwave bench`.
#[derive(Debug)]
pub(super) struct Bench {
    /// In the order in which they run.
    pub experiments: Vec<Experiment>,
    /// Whether clusters are simulated, after the experiments; at least one of both is to be done.
    pub cluster: bool,
    /// `None` for the usual ones.
    pub lengths: Option<Vec<u32>>,
    /// `None` for the usual ones.
    pub counts: Option<Vec<u32>>,
    /// At least one.
    pub work: Vec<BenchWork>,
    /// At least one.
    pub gaps: Vec<GapKind>,
    /// At least one.
    pub contenders: Vec<Contender>,
    /// `-` is standard input.
    pub seqs: Option<String>,
    /// More than 0.
    pub seconds: f64,
    pub quick: bool,
    /// `None` is standard output.
    pub output: Option<PathBuf>,
    pub format: TableFormatName,
    pub plot: Option<PathBuf>,
    /// At least one.
    pub devices: Vec<DeviceChoice>,
    /// `None` is all that there are.
    pub threads: Option<NonZeroUsize>,
}

impl TryFrom<BenchArgs> for Bench {
    type Error = Error;

    fn try_from(args: BenchArgs) -> Result<Self> {
        if !(args.seconds > 0.0 && args.seconds.is_finite()) {
            return Err(Error::usage(format!("--seconds {}: more than 0 is needed", args.seconds)));
        }
        let output = args.output.filter(|path| path != Path::new("-"));
        if args.plot.as_deref() == Some(Path::new("-")) {
            return Err(Error::usage("--plot -: standard output is for the tables; name a file"));
        }
        if output.is_some() && output == args.plot {
            return Err(Error::usage("--output and --plot name the same file"));
        }
        for (option, path) in [("--output", &output), ("--plot", &args.plot)] {
            if let (Some(path), Some(seqs)) = (path, &args.seqs)
                && is_same_file(path, Path::new(seqs))
            {
                return Err(Error::usage(format!("{option} {seqs} would replace the input of that name")));
            }
        }
        let asked: Vec<Experiment> = args.experiments.iter().filter_map(|&name| name.measured()).collect();
        let cluster = args.experiments.contains(&ExperimentName::Cluster);
        let is_all = args.experiments.is_empty();
        let experiments: Vec<Experiment> =
            Experiment::ALL.into_iter().filter(|one| is_all || asked.contains(one)).collect();
        if args.seqs.is_some()
            && !experiments.iter().any(|one| [Experiment::Filter, Experiment::EndToEnd].contains(one))
        {
            return Err(Error::usage("--seqs is for filter and endtoend, and neither is to be measured"));
        }
        let any_of = |some: &[Experiment]| experiments.iter().any(|one| some.contains(one));
        if !args.lengths.is_empty()
            && !any_of(&[Experiment::Kernels, Experiment::Tiles, Experiment::Edit, Experiment::Long])
            && !any_of(&[Experiment::Papara, Experiment::Msa])
        {
            return Err(Error::usage(
                "--lengths is for kernels, tiles, edit, long, papara and msa, and none of them is to be measured",
            ));
        }
        if !args.counts.is_empty() && !cluster && !any_of(&[Experiment::Kernels, Experiment::Papara, Experiment::Msa]) {
            return Err(Error::usage(
                "--counts is for kernels, papara, msa and cluster, and none of them is to be measured",
            ));
        }
        if !args.work.is_empty() && !any_of(&[Experiment::Kernels]) {
            return Err(Error::usage("--work is for kernels, which is not to be measured"));
        }
        Ok(Bench {
            experiments,
            cluster,
            lengths: sizes("--lengths", args.lengths, MOST_SYMBOLS)?,
            counts: sizes("--counts", args.counts, MOST_PAIRS)?,
            work: once(
                "--work",
                args.work.into_iter().map(BenchWork::from),
                [BenchWork::Scores, BenchWork::Alignments],
            )?,
            gaps: once("--gaps", args.gaps.into_iter().map(GapKind::from), [GapKind::Linear, GapKind::Affine])?,
            contenders: contenders(&args.kernel)?,
            seqs: args.seqs,
            seconds: args.seconds,
            quick: args.quick,
            output,
            format: args.format,
            plot: args.plot,
            devices: DeviceChoice::parse_all(&args.device)?,
            threads: args.threads.map(threads).transpose()?,
        })
    }
}

/// Sizes from 1 to `most`; `None` if none was given.
fn sizes(option: &str, given: Vec<u32>, most: u32) -> Result<Option<Vec<u32>>> {
    match given.iter().find(|&&size| size == 0 || size > most) {
        Some(wrong) => Err(Error::usage(format!("{option} {wrong}: sizes are from 1 to {most}"))),
        None => Ok((!given.is_empty()).then_some(given)),
    }
}

/// What was given, or else all; each once.
fn once<T: PartialEq>(option: &str, given: impl Iterator<Item = T>, all: [T; 2]) -> Result<Vec<T>> {
    let given: Vec<T> = given.collect();
    match &given[..] {
        [] => Ok(all.into()),
        [first, rest @ ..] if rest.contains(first) || rest.len() > 1 => {
            Err(Error::usage(format!("{option}: something is named twice")))
        }
        _ => Ok(given),
    }
}

fn contenders(names: &[String]) -> Result<Vec<Contender>> {
    let kernels = KERNELS.iter().filter(|kernel| !kernel.follows());
    if names.is_empty() {
        return Ok(kernels.map(Contender::Kernel).chain([Contender::Cpu]).collect());
    }
    let mut contenders = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(Error::usage(format!("--kernel: '{name}' is named twice")));
        }
        contenders.push(match name.as_str() {
            "cpu" => Contender::Cpu,
            name => Contender::Kernel(kernel_called(name, kernels.clone())?),
        });
    }
    Ok(contenders)
}

/// Runs the experiments and writes their tables, all or none.
pub(super) fn run(options: &Bench, quiet: bool) -> Result<()> {
    let is_simulation = options.experiments.is_empty();
    let devices = if is_simulation { Vec::new() } else { chosen(&options.devices)? };
    let sequences = match &options.seqs {
        None => None,
        Some(path) => read_files(&[path], &ReadOptions::default())?.pop().map(Arc::new),
    };
    let interrupt = interrupt::watch();
    // Before anything is measured: a file that cannot be written is no surprise at the end.
    let mut output = match &options.output {
        Some(path) => Output::create(path)?,
        None => Output::standard(),
    };
    let picture = options.plot.as_deref().map(Output::create).transpose()?;
    let stop = Arc::clone(&interrupt);
    let say = |what: &str| {
        if !quiet {
            log::line(what);
        }
    };
    let bench = bench::Bench {
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
        interrupt,
    };
    let mut measurements = if is_simulation {
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
            if stop.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        };
        let ranks = options.counts.as_deref();
        measurements.tables.push(tables::table(ranks, options.quick, &heard)?);
    }
    measurements.header.iter_mut().for_each(|line| *line = flags::in_text(line));
    let text = match options.format {
        TableFormatName::Text => table::text(&measurements),
        TableFormatName::Csv => table::csv(&measurements),
    };
    if let Some(mut picture) = picture {
        picture.buffer().extend(plot::svg(&measurements)?.bytes());
        picture.finish()?;
    }
    output.buffer().extend(text.bytes());
    output.finish()
}

impl ExperimentName {
    /// The experiment with devices; none is one that only simulates.
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
