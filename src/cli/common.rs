//! Options that several commands share, and their validation.

pub(super) mod plot;
pub(super) mod rows;

use super::args::{
    AlphabetArgs, AlphabetName, ComputeArgs, DeviceArgs, KernelArgs, LettersArgs, MachineArgs, OutputArgs, StrandArgs,
    StrandName, ThreadsArgs,
};
use super::device::DeviceChoice;
use super::{endings, size};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, Renamed, Strands};
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Validated devices, memory, threads and kernel of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComputeOptions {
    /// Devices to use, at least one.
    pub devices: Vec<DeviceChoice>,
    pub kernel: Option<String>,
    /// Memory limit of each device in bytes; `None` for the default share.
    pub memory: Option<u64>,
    /// Number of CPU threads; `None` is all.
    pub threads: Option<NonZeroUsize>,
    pub tune: bool,
    pub check: bool,
}

impl ComputeOptions {
    /// Returns the options that select devices and threads, each with whether it was given.
    pub(super) fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("--device", self.devices.iter().any(|device| *device != DeviceChoice::Auto)),
            ("--memory", self.memory.is_some()),
            ("--threads", self.threads.is_some()),
            ("--kernel", self.kernel.is_some()),
            ("--tune", self.tune),
        ]
    }
}

/// Greatest number of threads per processor. Further threads only wait for each other.
const MAX_THREADS_A_PROCESSOR: usize = 4;
/// Number of threads that is allowed on any machine.
const ALLOWED_THREADS: usize = 64;

impl TryFrom<&ComputeArgs> for ComputeOptions {
    type Error = Error;

    fn try_from(args: &ComputeArgs) -> Result<Self> {
        let compute = ComputeOptions::try_from(&args.machine)?;
        args.kernels.check(&compute.devices)?;
        Ok(ComputeOptions { kernel: args.kernels.kernel.clone(), tune: args.kernels.tune, ..compute })
    }
}

impl KernelArgs {
    /// Rejects options that have no effect on these devices.
    pub(super) fn check(&self, devices: &[DeviceChoice]) -> Result<()> {
        check_gpus(devices, &[("--kernel", self.kernel.is_some()), ("--tune", self.tune)])
    }

    /// Rejects `--tune` for a job, with this name, whose kernels have no settings to measure.
    pub(super) fn check_untuned(&self, job: &str) -> Result<()> {
        if self.tune {
            return Err(Error::usage(format!("--tune: 'pairwave {job}' has no settings to measure; remove it")));
        }
        Ok(())
    }
}

/// Rejects the given options, which only concern GPUs, if the CPU is the only device.
fn check_gpus(devices: &[DeviceChoice], options: &[(&'static str, bool)]) -> Result<()> {
    match first_given(options) {
        Some(option) if devices == [DeviceChoice::Cpu] => Err(Error::usage(format!(
            "{option} has no effect with --device cpu, which uses no GPU: remove one of them"
        ))),
        _ => Ok(()),
    }
}

impl TryFrom<&MachineArgs> for ComputeOptions {
    type Error = Error;

    /// The options of a job that has no kernels to choose from.
    fn try_from(args: &MachineArgs) -> Result<Self> {
        let devices = args.device.choices()?;
        check_gpus(&devices, &[("--memory", args.memory.is_some())])?;
        Ok(ComputeOptions {
            devices,
            kernel: None,
            memory: args.memory.as_deref().map(size::memory).transpose()?,
            threads: args.threads.number()?,
            tune: false,
            check: args.check,
        })
    }
}

impl DeviceArgs {
    /// Returns the named devices, at least one.
    pub(super) fn choices(&self) -> Result<Vec<DeviceChoice>> {
        DeviceChoice::parse_all(&self.device)
    }
}

impl ThreadsArgs {
    /// Returns the number of threads; `None` is all.
    pub(super) fn number(&self) -> Result<Option<NonZeroUsize>> {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most = (processors * MAX_THREADS_A_PROCESSOR).max(ALLOWED_THREADS);
        size::check_positive("--threads", self.threads)?;
        Ok(self.threads.and_then(|threads| NonZeroUsize::new(threads.min(most))))
    }
}

/// Returns the words of a job in the command line of `command`, which runs the job: from the job's
/// name on, without the options of `command`. The options in `with_value` take a value, the options
/// in `alone` do not.
pub(super) fn words_of_job(typed: &[OsString], command: &str, with_value: &[&str], alone: &[&str]) -> Vec<OsString> {
    // Skips the program's name, the global options and the command.
    let mut words = typed.iter().skip_while(|word| *word != command).skip(1);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        // Option names are ASCII, which `to_string_lossy` does not change.
        let text = word.to_string_lossy();
        if text == "--" {
            kept.push(word.clone());
            kept.extend(words.by_ref().cloned());
        } else if with_value.contains(&&*text) {
            words.next();
        } else {
            let name = text.split('=').next().unwrap_or_default();
            // A short option with its value in the same word.
            let is_short = |option: &&str| option.len() == 2 && text.starts_with(option);
            if !(with_value.contains(&name) || alone.contains(&&*text) || with_value.iter().any(is_short)) {
                kept.push(word.clone());
            }
        }
    }
    kept
}

/// Returns the first of these options that was given.
pub(super) fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// Returns the first of these options that was given although it is in the list of `idle` options.
pub(super) fn first_idle(options: &[(&'static str, bool)], idle: &[&str]) -> Option<&'static str> {
    options.iter().find(|(option, given)| *given && idle.contains(option)).map(|(option, _)| *option)
}

/// Returns whether a path stands for standard input or standard output.
pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the name of a file without its directory, for titles of pages and pictures.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).display().to_string()
}

/// Checks that standard input is read at most once. `rule` names the options that may read it.
pub(super) fn check_standard(inputs: &[&Path], rule: &str) -> Result<()> {
    if inputs.iter().filter(|input| is_standard(input)).count() > 1 {
        return Err(Error::usage(format!("standard input can be read only once: {rule}")));
    }
    Ok(())
}

/// Output files of every job.
#[derive(Debug)]
pub(super) struct OutputFiles {
    /// File for the results; `None` is standard output.
    pub output: Option<PathBuf>,
    /// File for the statistics.
    pub stats: Option<PathBuf>,
}

impl OutputFiles {
    /// Checks that neither file overwrites the other or an input.
    pub(super) fn new(output: &OutputArgs, stats: Option<&Path>, inputs: &[&Path]) -> Result<Self> {
        let output = self::output(output.output.clone(), inputs)?;
        check_stats(stats, inputs, output.as_deref())?;
        Ok(OutputFiles { output, stats: stats.map(Path::to_owned) })
    }

    /// Returns both paths.
    pub(super) fn names(&self) -> [Option<&Path>; 2] {
        [self.output.as_deref(), self.stats.as_deref()]
    }
}

/// Returns the file for the results; `None` is standard output. Rejects a file that would overwrite
/// an input.
pub(super) fn output(path: Option<PathBuf>, inputs: &[&Path]) -> Result<Option<PathBuf>> {
    let output = path.filter(|path| path != Path::new("-"));
    let is_input = |input: &&&Path| output.as_deref().is_some_and(|output| is_same_file(output, input));
    match inputs.iter().find(is_input) {
        Some(input) => Err(Error::usage(format!("--output {} would overwrite an input file", input.display()))),
        None => Ok(output),
    }
}

/// Checks that `--stats` overwrites neither an input nor the results.
fn check_stats(path: Option<&Path>, inputs: &[&Path], output: Option<&Path>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let typed = path.display();
    let standard = Path::new("-");
    if path == standard && output.is_none() {
        return Err(Error::usage("--stats - would mix statistics with the results on standard output: name a file"));
    }
    if inputs.iter().any(|input| is_same_file(path, input)) {
        return Err(Error::usage(format!("--stats {typed} would overwrite an input file")));
    }
    if output.is_some_and(|output| path == output || is_same_file(path, output)) {
        return Err(Error::usage(format!("--stats {typed} would overwrite the output file")));
    }
    endings::check("", "--stats", Some(path), "statistics")
}

/// Checks that each further output file, given with its option, overwrites no other file.
pub(super) fn check_others(
    others: &[(&str, Option<&Path>)],
    inputs: &[&Path],
    written: &[Option<&Path>],
) -> Result<()> {
    let mut taken: Vec<&Path> = written.iter().copied().flatten().collect();
    for (option, path) in others {
        let Some(path) = *path else { continue };
        if inputs.iter().any(|input| is_same_file(path, input)) {
            return Err(Error::usage(format!("{option} {} would overwrite an input file", path.display())));
        }
        if path == Path::new("-") || taken.iter().any(|other| *other == path || is_same_file(path, other)) {
            return Err(Error::usage(format!("{option} {}: name a file that no other option writes", path.display())));
        }
        taken.push(path);
    }
    Ok(())
}

/// Checks that files can be created in the directory for temporary files, for a job that may store
/// data there.
///
/// # Errors
/// Returns [`Error::Usage`] if there is no such directory, or no file can be created in it.
pub(super) fn check_temporary() -> Result<()> {
    let directory = std::env::temp_dir();
    let why = match tempfile::tempfile_in(&directory) {
        Ok(_) => return Ok(()),
        Err(_) if !directory.exists() => "no such directory".to_owned(),
        Err(_) if !directory.is_dir() => "not a directory".to_owned(),
        Err(error) => format!("cannot create a file there ({})", error.kind()),
    };
    Err(Error::usage(format!(
        "TMPDIR {}: {why}; set TMPDIR to a directory with room for temporary files",
        directory.display()
    )))
}

/// Rejects `--strand` for sequences that have only one strand.
pub(super) fn check_strand(strand: Strands, alphabet: Alphabet) -> Result<()> {
    if strand == Strands::Plus || alphabet == Alphabet::Dna {
        return Ok(());
    }
    let letters = alphabet.letters();
    Err(Error::usage(format!(
        "--strand: {letters} have only one strand; remove it, or use --alphabet dna if the sequences are \
            nucleotides"
    )))
}

/// Validates `--max-hits`.
pub(super) fn max_hits(hits: Option<u32>) -> Result<Option<NonZeroU32>> {
    let positive = |hits| NonZeroU32::new(hits).ok_or_else(|| Error::usage("--max-hits 0 would write nothing"));
    hits.map(positive).transpose()
}

/// Returns whether two paths name the same file, which need not exist.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    let of_missing = |path: &Path| {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(directory.canonicalize().ok()?.join(path.file_name()?))
    };
    let resolved = |path: &Path| path.canonicalize().ok().or_else(|| of_missing(path));
    match (resolved(a), resolved(b)) {
        (Some(a), Some(b)) => a == b && (a.is_file() || !a.exists()),
        _ => false,
    }
}

impl StrandArgs {
    /// Returns the strands that were given.
    pub(super) fn given(self) -> Option<Strands> {
        self.strand.map(|name| match name {
            StrandName::Plus => Strands::Plus,
            StrandName::Minus => Strands::Minus,
            StrandName::Both => Strands::Both,
        })
    }
}

impl AlphabetArgs {
    /// Returns the given alphabet, or its detection.
    pub(super) fn choice(self) -> AlphabetChoice {
        self.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from)
    }
}

impl From<LettersArgs> for ReadOptions {
    fn from(args: LettersArgs) -> Self {
        ReadOptions { alphabet: args.alphabet.choice(), degap: args.gaps.degap, ..ReadOptions::default() }
    }
}

impl From<AlphabetName> for AlphabetChoice {
    fn from(name: AlphabetName) -> Self {
        AlphabetChoice::Fixed(match name {
            AlphabetName::Dna | AlphabetName::Rna => Alphabet::Dna,
            AlphabetName::Protein => Alphabet::Protein,
            AlphabetName::Bytes => Alphabet::Bytes,
        })
    }
}

/// Greatest number of renamed rows that are listed one by one.
pub(super) const NAMED: usize = 5;

/// Warns of rows whose names a format cannot store.
pub(super) fn warn_of_names(path: Option<&Path>, renamed: &[Renamed]) {
    warn_of_some_names(path, renamed, renamed.len() as u64);
}

/// Warns of `count` renamed rows. `renamed` contains the first of them, which are listed.
pub(super) fn warn_of_some_names(path: Option<&Path>, renamed: &[Renamed], count: u64) {
    let file = path.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
    for one in renamed.iter().take(NAMED) {
        tracing::warn!("{file}: {one}");
    }
    if count > NAMED as u64 {
        tracing::warn!("{file}: {count} names in total differ from the input");
    }
}
