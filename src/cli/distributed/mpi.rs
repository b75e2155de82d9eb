//! `pairwave mpi`.

mod dry_run;
mod ledger;
mod machine;

use super::merge::MergeOperation;
use super::operation::{JobOperation, absolute, fingerprint, on_job};
use crate::cli::blocks::BlockCommand;
use crate::cli::common::is_standard;
use crate::cli::mpi::{BlockSize, MpiOptions as Options};
use crate::cli::progress::ProgressDisplay;
use crate::cli::{interrupt, log};
use ledger::{Ledger, summary_lines};
use machine::{divide_resources, machine, serialization_error};
use pairwave::distributed::mpi::MpiWire;
use pairwave::distributed::ranks::{LEAD, LeadOptions, RankResources, RankWork, Wire, follow, lead, wait_after_error};
use pairwave::distributed::{
    BlockManifest, Claim, ClaimOutcome, Digest, Directory, PartDestination, PartState, dispatch,
};
use pairwave::jobs::blocks::{Block, Divisible};
use pairwave::jobs::{Difference, Fingerprint, Job, Run, names};
use pairwave::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Assumed speed of a CPU thread, in cells per second.
const THREAD_SPEED: f64 = 3e9;
/// Least average number of blocks per rank, so that all ranks end at about the same time.
const BLOCKS_A_RANK: u64 = 64;
/// Least time of a block in seconds. A GPU is idle for 0.02 to 0.2 s between two blocks, because of
/// their files and messages.
const MIN_SECONDS: f64 = 0.5;
/// Maximum time until a network file system shows files that another machine wrote.
const MAX_VISIBILITY_DELAY: Duration = Duration::from_secs(120);

/// Runs a job on all ranks.
pub(crate) fn mpi(options: &Options, quiet: bool) -> Result<()> {
    let mut wire = MpiWire::start()?;
    let rank = wire.rank();
    if rank != LEAD {
        log::prefix(format!("rank {rank}: "));
    }
    tracing::debug!(library = MpiWire::library(), rank = rank.0, ranks = wire.ranks(), "MPI");
    let ended = on_job(&options.arguments, RanksOperation { options, wire: &mut wire, quiet });
    match ended {
        Ok(true) => {}
        // MPI cannot finalize while some ranks do not answer.
        Ok(false) => wire.abort(0),
        // Rank 0 reports the error.
        Err(error) if rank != LEAD => {
            tracing::debug!("{error}");
            wire.finish();
            return Ok(());
        }
        Err(error) => {
            wire.finish();
            return Err(error);
        }
    }
    wire.finish();
    Ok(())
}

struct RanksOperation<'a> {
    options: &'a Options,
    wire: &'a mut MpiWire,
    quiet: bool,
}

/// First message from rank 0 to the other ranks.
#[derive(Serialize, Deserialize)]
enum Prelude {
    /// Rank 0 could not prepare the job, so no job follows.
    Nothing,
    Begin {
        /// Directory for finished blocks, in the form of [`names`]; `None` sends them to rank 0.
        directory: Option<String>,
        digest: Digest,
        blocks: Vec<Block>,
        /// Fingerprint of the job.
        job: Fingerprint,
        /// Number of input files that follow.
        inputs: usize,
    },
}

impl JobOperation for RanksOperation<'_> {
    /// Whether all ranks have ended.
    type Output = bool;

    fn perform<C: BlockCommand>(self, command: C) -> Result<bool> {
        let RanksOperation { options, wire, quiet } = self;
        match (wire.rank(), options.dry_run) {
            (rank, true) => dry_run::print_prediction(options, wire, rank == LEAD, command).map(|()| true),
            (LEAD, false) => first(options, wire, quiet, command),
            (_, false) => run_follower(options, wire, command).map(|()| true),
        }
    }
}

fn one_input() -> Error {
    Error::usage("every rank reads the input, but only one of them has standard input: name a file")
}

/// Runs every rank except rank 0.
fn run_follower<C: BlockCommand>(options: &Options, wire: &mut MpiWire, mut command: C) -> Result<()> {
    let prelude: Prelude = serde_json::from_slice(&wire.broadcast(Vec::new())).map_err(serialization_error)?;
    let Prelude::Begin { directory, digest, blocks, job: of_rank_0, inputs } = prelude else { return Ok(()) };
    // Receives all input before anything can fail, because the broadcasts need every rank.
    let files: Vec<Vec<u8>> = (0..inputs).map(|_| wire.broadcast(Vec::new())).collect();
    let settled = divide_resources(wire, machine(&command), options.gpus);
    let mut private = None;
    let begin = || -> Result<_> {
        let (mut run, member) = settled?;
        if files.is_empty() {
            check_same(&of_rank_0, &fingerprint(&options.arguments)?)?;
        } else {
            private = Some(store_input(&mut command, files)?);
        }
        let directory = directory.map(|path| opened(Path::new(&names::from_text(&path)), &digest)).transpose()?;
        let input = command.read(&run)?;
        run.interrupt = interrupt::watch();
        let job = command.job(&input)?;
        Ok((run, member, directory, job))
    };
    match begin() {
        Ok((run, member, directory, job)) => {
            let results = directory.as_ref().map_or(PartDestination::Memory(digest), PartDestination::Files);
            follow(wire, &RankWork { job: &job, blocks: &blocks, run, results }, member);
        }
        Err(error) => wait_after_error(wire, &error),
    }
    Ok(())
}

/// Opens the directory that rank 0 created.
fn opened(path: &Path, digest: &Digest) -> Result<Directory> {
    let missing = |error: &Error| {
        let message = "rank 0 writes there; if the machines share no directory, use --results gather";
        Error::usage(format!("{error}; {message}"))
    };
    let directory = Directory::open(path).map_err(|error| missing(&error))?;
    match directory.digest() == digest {
        true => Ok(directory),
        false => {
            Err(missing(&Error::usage(format!("{}: this directory holds the blocks of another job", path.display()))))
        }
    }
}

/// Writes received input to private files of this process, and makes the job read them.
fn store_input<C: BlockCommand>(command: &mut C, files: Vec<Vec<u8>>) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    for ((number, bytes), input) in files.into_iter().enumerate().zip(command.inputs()) {
        let directory = folder.path().join(number.to_string());
        // Keeps the file name, because its ending determines the compression.
        let path = directory.join(input.file_name().unwrap_or_default());
        fs::create_dir(&directory).and_then(|()| fs::write(&path, bytes)).map_err(|error| Error::io(&path, error))?;
        *input = path;
    }
    Ok(folder)
}

/// State of rank 0 before it sends the first message.
struct LeaderState<J> {
    directory: Directory,
    /// Claim on all blocks. No other process computes while it is held.
    claim: Claim,
    job: J,
    run: Run,
    offer: RankResources,
    done: Vec<bool>,
    files: Vec<Vec<u8>>,
}

/// Runs rank 0.
fn first<C: BlockCommand>(options: &Options, wire: &mut MpiWire, quiet: bool, mut command: C) -> Result<bool> {
    let begun = prepare(options, wire.ranks(), &mut command, quiet);
    let prelude = match &begun {
        Err(_) => Prelude::Nothing,
        Ok(begun) => Prelude::Begin {
            directory: (!options.gather).then(|| names::to_text(begun.directory.path())),
            digest: *begun.directory.digest(),
            blocks: begun.directory.manifest().blocks.clone(),
            job: begun.directory.manifest().job.clone(),
            inputs: begun.files.len(),
        },
    };
    wire.broadcast(serde_json::to_vec(&prelude).map_err(serialization_error)?);
    let LeaderState { directory, claim, job, run, offer, done, files } = begun?;
    for bytes in files {
        wire.broadcast(bytes);
    }
    let (mut run, member) = divide_resources(wire, Ok((run, offer)), options.gpus)?;
    run.interrupt = interrupt::watch();
    let started = Instant::now();
    let led = {
        let blocks = &directory.manifest().blocks;
        let open = blocks.iter().zip(&done).filter(|(_, done)| !**done).map(|(block, _)| block.cells).sum();
        let mut book = Ledger::<C::Job> {
            directory: &directory,
            progress: ProgressDisplay::start(open, quiet),
            seen: PhantomData,
        };
        let leader = LeadOptions { done: &done, rules: dispatch::Rules::default() };
        // Rank 0 can always write to the directory.
        let work = RankWork { job: &job, blocks, run: run.clone(), results: PartDestination::Files(&directory) };
        lead(wire, &work, &leader, member, &mut book)
    };
    drop(job);
    let shown_path = directory.path().display();
    let led = led.inspect_err(|_| {
        if !quiet {
            log::line(&format!("finished blocks are in {shown_path}; continue from them with --resume"));
        }
    })?;
    if let Some((block, said)) = led.failed_blocks.first() {
        let all: Vec<usize> = led.failed_blocks.iter().map(|(block, _)| *block).collect();
        return Err(Error::Device {
            device: "all ranks".into(),
            message: format!(
                "blocks {} failed; block {block}: {said}; the other blocks are in {shown_path}; retry the failed ones \
            with --resume",
                pairwave::distributed::ranges(&all)
            ),
        });
    }
    let seconds = started.elapsed().as_secs_f64();
    wait_for_files(&directory)?;
    let (output, stats) = {
        let files = command.files();
        (files.output.map(Path::to_owned), files.stats.map(Path::to_owned))
    };
    let run = Run { threads: run.threads, ..Run::default() };
    let together =
        MergeOperation { directory: &directory, output: output.as_deref(), stats: stats.as_deref(), run, quiet };
    together.perform(command)?;
    if !quiet {
        let again = done.iter().any(|done| *done);
        summary_lines(&led, &directory, &done, seconds, again).iter().for_each(|line| log::line(line));
    }
    let silent: Vec<usize> = led.silent.iter().map(|rank| rank.0).collect();
    if !silent.is_empty() {
        tracing::warn!("ranks {} do not answer and are terminated", pairwave::distributed::ranges(&silent));
    }
    drop(claim);
    if !options.keep {
        let path = directory.path().to_owned();
        drop(directory);
        fs::remove_dir_all(&path).map_err(|error| Error::io(path, error))?;
    }
    Ok(silent.is_empty())
}

/// Prepares everything that needs no other rank.
fn prepare<C: BlockCommand>(
    options: &Options,
    ranks: usize,
    command: &mut C,
    quiet: bool,
) -> Result<LeaderState<C::Job>> {
    let inputs: Vec<PathBuf> = command.inputs().into_iter().map(|input| input.clone()).collect();
    if inputs.iter().any(|input| is_standard(input)) {
        return Err(one_input());
    }
    let files = command.files();
    files.check()?;
    let work = absolute(&options.work)?;
    let is_there = work.join("manifest.json").exists();
    if is_there && !options.resume {
        return Err(Error::usage(format!(
            "{}: this directory holds blocks of an unfinished job: continue from them with --resume, or \
            remove the directory",
            work.display()
        )));
    }
    let (run, offer) = machine(command)?;
    // Computed before the input is read, so that a change in between is detected at the merge.
    let fingerprint = fingerprint(&options.arguments)?;
    let input = command.read(&run)?;
    let job = command.job(&input)?;
    job.validate()?;
    command.check_format(&input)?;
    let directory = if is_there {
        let directory = Directory::open(&work)?;
        check_same_job(&directory, &fingerprint)?;
        directory
    } else {
        let cells = block_cells(options, ranks, &job, &run, &offer)?;
        let manifest = BlockManifest::new(options.arguments.clone(), fingerprint, cells, job.cut(cells)?)?;
        Directory::create(&work, manifest)?
    };
    let claim = match directory.claim_all()? {
        ClaimOutcome::Acquired(claim) => claim,
        ClaimOutcome::HeldBy(holder) => {
            return Err(Error::usage(format!("{}: {} is computing these blocks", work.display(), holder.process)));
        }
    };
    let done: Vec<bool> = directory.states()?.iter().map(PartState::is_done).collect();
    if is_there && !quiet {
        let there = done.iter().filter(|done| **done).count();
        log::line(&format!("{there} of {} blocks are already done", done.len()));
    }
    let read = |path: &PathBuf| fs::read(path).map_err(|error| Error::io(path, error));
    let files = if options.broadcast { inputs.iter().map(read).collect::<Result<_>>()? } else { Vec::new() };
    Ok(LeaderState { directory, claim, job, run, offer, done, files })
}

/// Returns the number of cells per block.
fn block_cells<J: Divisible>(
    options: &Options,
    ranks: usize,
    job: &J,
    run: &Run,
    offer: &RankResources,
) -> Result<u64> {
    let seconds = match options.size {
        BlockSize::Cells(cells) => return Ok(cells),
        BlockSize::Seconds(seconds) => seconds,
    };
    let threads = if run.threads == 0 { offer.threads } else { run.threads };
    let speed = if offer.gpus.is_empty() { THREAD_SPEED * threads as f64 } else { J::CARD_SPEED };
    let all: u64 = job.cut(u64::MAX)?.iter().map(|block| block.cells).sum();
    let share = all / (ranks as u64 * BLOCKS_A_RANK);
    Ok(share.clamp((MIN_SECONDS.min(seconds) * speed) as u64, (seconds * speed) as u64).max(1))
}

/// Rejects a directory of another job, or of a job whose input has changed.
fn check_same_job(directory: &Directory, now: &Fingerprint) -> Result<()> {
    let shown_path = directory.path().display();
    match directory.manifest().job.difference(now) {
        // This check reports itself that the content of a file has changed.
        Some(Difference::Content(_)) => directory.manifest().check(now),
        Some(difference) => {
            Err(Error::usage(format!("{shown_path}: these blocks belong to another job: {difference}")))
        }
        None => Ok(()),
    }
}

/// Rejects input that differs from the input of rank 0.
fn check_same(of_rank_0: &Fingerprint, local: &Fingerprint) -> Result<()> {
    match of_rank_0.difference(local) {
        Some(difference) => Err(Error::usage(format!(
            "the ranks see different input: {difference}; use --input broadcast if the machines share no files"
        ))),
        None => Ok(()),
    }
}

/// Waits until the files that other machines wrote are visible here.
fn wait_for_files(directory: &Directory) -> Result<()> {
    let begin = Instant::now();
    loop {
        match directory.check_done() {
            Err(_) if begin.elapsed() < MAX_VISIBILITY_DELAY => std::thread::sleep(Duration::from_millis(500)),
            checked => return checked,
        }
    }
}
