//! `pairwave merge`.

use super::operation::{JobOperation, absolute, check_inputs, on_job, open};
use crate::cli::blocks::{BlockCommand, Merge};
use crate::cli::progress::pairs_in_words;
use crate::cli::runner::{Files, JobRunner, results, write_json};
use crate::cli::{interrupt, log};
use indicatif::HumanCount;
use pairwave::distributed::{Directory, MergeSummary};
use pairwave::jobs::{Run, Summary};
use pairwave::output::OutputGroup;
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Jobs with the options of the further files that they write.
const JOB_COMMANDS: [(&str, &str); 23] = [
    ("cluster", "--uc"),
    ("cluster", "--centroids"),
    ("cluster", "--clusters"),
    ("cluster", "--otu-table"),
    ("cluster", "--biom"),
    ("cluster", "--mothur-list"),
    ("cluster", "--shared"),
    ("cluster", "--clstr"),
    ("cluster", "--pairs-out"),
    ("cluster", "--report"),
    ("cluster", "--plot"),
    ("search", "--report"),
    ("search", "--hits-fasta"),
    ("papara", "--table"),
    ("papara", "--jplace"),
    ("papara", "--tree-out"),
    ("msa", "--guidetree-out"),
    ("msa", "--distmat-out"),
    ("msa", "--report"),
    ("long", "--report"),
    ("long", "--plot"),
    ("tree", "--plot"),
    ("dist", "--plot"),
];

/// Merges the results of all blocks.
pub(crate) fn merge(merge: &Merge, quiet: bool) -> Result<()> {
    let whole = |path: &Option<PathBuf>| path.as_deref().map(absolute).transpose();
    let (output, stats) = (whole(&merge.files.output)?, whole(&merge.files.stats)?);
    let other = |(option, path): &(&'static str, PathBuf)| Ok((*option, absolute(path)?));
    let others: Vec<(&str, PathBuf)> = merge.others.iter().map(other).collect::<Result<_>>()?;
    let directory = open(&merge.directory)?;
    let run = Run { threads: merge.threads.map_or(0, |threads| threads.get()), ..Run::default() };
    let task = MergeOperation { directory: &directory, output: output.as_deref(), stats: stats.as_deref(), run, quiet };
    let mut arguments = directory.manifest().arguments.clone();
    let job = arguments.first().map(|job| job.display().to_string()).unwrap_or_default();
    // Inserted after the job's name and before its positional arguments, because names may imply
    // formats.
    for (option, path) in others.iter().chain(output.as_ref().map(|path| ("--output", path.clone())).as_ref()) {
        if *option != "--output" && !JOB_COMMANDS.contains(&(&*job, option)) {
            return Err(Error::usage(format!(
                "{option}: the blocks belong to a job of '{job}', which writes no such file: remove the option"
            )));
        }
        arguments.splice(1..1, [(*option).into(), path.into()]);
    }
    for (option, value) in &merge.values {
        arguments.splice(1..1, [(*option).into(), value.into()]);
    }
    on_job(&arguments, task)
}

/// Merges the results in a directory of blocks.
pub(crate) struct MergeOperation<'a> {
    pub(crate) directory: &'a Directory,
    pub(crate) output: Option<&'a Path>,
    pub(crate) stats: Option<&'a Path>,
    pub(crate) run: Run,
    pub(crate) quiet: bool,
}

/// Statistics of a merge.
#[derive(Serialize)]
struct MergeStats {
    version: &'static str,
    pairs: u64,
    cells: u64,
    #[serde(flatten)]
    merged: MergeSummary,
    /// Time of the merge, in seconds.
    seconds: f64,
}

impl JobOperation for MergeOperation<'_> {
    type Output = ();

    fn perform<C: BlockCommand>(self, command: C) -> Result<()> {
        let MergeOperation { directory, output, stats, mut run, quiet } = self;
        let manifest = directory.manifest();
        Files { output, stats, picture: command.files().picture }.check()?;
        directory.check_done()?;
        check_inputs(directory)?;
        let input = command.read(&run)?;
        run.interrupt = interrupt::watch();
        let interrupt_flag = Arc::clone(&run.interrupt);
        let outputs = OutputGroup::default();
        let stats = stats.map(|path| outputs.create(path)).transpose()?;
        let picture = command.files().picture.map(|path| outputs.create(path)).transpose()?;
        let output = results(output, &outputs, quiet)?;
        let (begin, mut result) = (Instant::now(), None);
        let runner = JobRunner::new(run, quiet).with_outputs(picture, &outputs);
        command.deliver(input, runner, output, |job, _, rows| {
            let merged = directory.merge(job, &mut |some| match interrupt_flag.load(Ordering::Relaxed) {
                true => Err(Error::Interrupted),
                false => rows.rows(some),
            })?;
            result = Some(merged);
            let (pairs, cells, seconds) = (manifest.pairs(), manifest.cells(), begin.elapsed().as_secs_f64());
            Ok(Summary { pairs, cells, written: merged.rows, seconds, ..Summary::default() })
        })?;
        let merged = result.ok_or_else(|| Error::Internal("the job did not read the rows of its blocks".into()))?;
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(stats) = stats {
            let version = env!("CARGO_PKG_VERSION");
            write_json(
                stats,
                &MergeStats { version, pairs: manifest.pairs(), cells: manifest.cells(), merged, seconds },
            )?;
        }
        outputs.publish()?;
        if !quiet {
            log::line(&format!(
                "{} in {} {}, computed in {:.1} s of device time; {} written in {seconds:.3} s",
                pairs_in_words(manifest.pairs()),
                HumanCount(merged.blocks as u64),
                if merged.blocks == 1 { "block" } else { "blocks" },
                merged.block_seconds,
                HumanCount(merged.rows),
            ));
        }
        Ok(())
    }
}
