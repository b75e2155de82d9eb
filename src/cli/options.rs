//! Validation: makes [`CommandOptions`] from [`Args`], or an error that names the contradiction.

mod allpairs;
mod format;
mod pairs;

use super::args::*;
#[cfg(feature = "bench")]
use super::bench::BenchOptions;
use super::blocks::{BlockCommand as _, BlockPlan, Merge, RunBlocks};
use super::cluster::ClusterOptions;
use super::derep::Derep;
use super::device::DeviceChoice;
use super::edit::EditOptions;
use super::long::Long;
use super::makedb::{DbInfo, MakeDb};
use super::mpi::MpiOptions;
use super::msa::{AddToAlignment, MultipleAlign};
use super::pairs::PairsJob;
use super::papara::Papara;
use super::search::SearchOptions;
use super::tips::one_line;
use super::trees::{DistanceMatrix, TreeMake};
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) use allpairs::AllPairsOptions;

/// Validated command line.
#[derive(Debug)]
pub(super) struct CommandOptions {
    /// Whether standard error shows only errors.
    pub quiet: bool,
    pub verbose: bool,
    pub action: Action,
}

/// Job to run, or text to print.
#[derive(Debug)]
pub(super) enum Action {
    AllPairs(Box<AllPairsOptions>),
    Cluster(Box<ClusterOptions>),
    Derep(Box<Derep>),
    Search(Box<SearchOptions>),
    Pairs(Box<PairsJob>),
    Edit(Box<EditOptions>),
    Long(Box<Long>),
    Papara(Box<Papara>),
    Msa(Box<MultipleAlign>),
    MsaAdd(Box<AddToAlignment>),
    Tree(Box<TreeMake>),
    Dist(Box<DistanceMatrix>),
    /// Splits a job into blocks.
    Plan(Box<BlockPlan>),
    /// Computes blocks of a job.
    Run(Box<RunBlocks>),
    /// Merges the results of blocks.
    Merge(Box<Merge>),
    /// Runs a job on many ranks.
    Mpi(Box<MpiOptions>),
    MakeDb(MakeDb),
    DbInfo(DbInfo),
    Devices(DevicesOptions),
    #[cfg(feature = "bench")]
    Bench(Box<BenchOptions>),
    Completions(clap_complete::Shell),
    Man(Option<PathBuf>),
    Citation,
    /// Prints the fields of `allpairs`.
    Fields,
    /// Prints the fields of `search`.
    SearchFields,
    /// Prints the fields of `edit`.
    EditFields,
    /// Prints the fields of `long`.
    LongFields,
    /// Prints the scoring schemes.
    Schemes,
}

/// Validated options of `pairwave devices`.
#[derive(Debug)]
pub(super) struct DevicesOptions {
    pub json: bool,
    #[cfg(feature = "bench")]
    pub self_test: bool,
    #[cfg(feature = "bench")]
    pub bench: bool,
    /// Devices to list, at least one; [`DeviceChoice::Auto`] stands for all of them here.
    pub devices: Vec<DeviceChoice>,
}

impl TryFrom<Args> for CommandOptions {
    type Error = Error;

    fn try_from(args: Args) -> Result<Self> {
        let mut action = match args.command {
            _ if args.citation => Action::Citation,
            None => return Err(Error::usage("a command is missing; see 'pairwave --help'")),
            Some(Command::Allpairs(args)) if args.alignment.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Long(args)) if args.alignment.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Search(args)) if args.alignment.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Search(args)) if args.fields.as_deref() == Some("help") => Action::SearchFields,
            Some(Command::Cluster(args)) if args.alignment.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Cluster(args)) => Action::Cluster(Box::new(ClusterOptions::try_from(*args)?)),
            Some(Command::Derep(args)) => Action::Derep(Box::new(Derep::try_from(*args)?)),
            Some(Command::Search(args)) => Action::Search(Box::new(SearchOptions::try_from(*args)?)),
            Some(Command::Pairs(args)) if args.alignment.scoring.lists_schemes() => Action::Schemes,
            Some(Command::Allpairs(args)) if args.rows.lists_fields() => Action::Fields,
            Some(Command::Allpairs(args)) => Action::AllPairs(Box::new(AllPairsOptions::try_from(*args)?)),
            Some(Command::Pairs(args)) if args.rows.lists_fields() => Action::Fields,
            Some(Command::Pairs(args)) => Action::Pairs(Box::new(PairsJob::try_from(*args)?)),
            Some(Command::Edit(args)) if args.rows.lists_fields() => Action::EditFields,
            Some(Command::Edit(args)) => Action::Edit(Box::new(EditOptions::try_from(*args)?)),
            Some(Command::Long(args)) if args.rows.lists_fields() => Action::LongFields,
            Some(Command::Long(args)) => Action::Long(Box::new(Long::try_from(*args)?)),
            Some(Command::Papara(args)) => Action::Papara(Box::new(Papara::try_from(*args)?)),
            Some(Command::Msa(args)) if args.keeps_alignment() => {
                Action::MsaAdd(Box::new(AddToAlignment::try_from(*args)?))
            }
            Some(Command::Msa(args)) => Action::Msa(Box::new(MultipleAlign::try_from(*args)?)),
            Some(Command::Tree(args)) => Action::Tree(Box::new(TreeMake::try_from(*args)?)),
            Some(Command::Dist(args)) => Action::Dist(Box::new(DistanceMatrix::try_from(*args)?)),
            Some(Command::Plan(plan)) => Action::Plan(Box::new(BlockPlan::new(*plan, &args.typed)?)),
            Some(Command::Run(args)) => Action::Run(Box::new(RunBlocks::try_from(*args)?)),
            Some(Command::Merge(args)) => Action::Merge(Box::new(Merge::try_from(*args)?)),
            Some(Command::Mpi(mpi)) => Action::Mpi(Box::new(MpiOptions::new(*mpi, &args.typed)?)),
            Some(Command::Makedb(args)) => Action::MakeDb(MakeDb::try_from(args)?),
            Some(Command::Dbinfo(args)) => Action::DbInfo(DbInfo::try_from(args)?),
            Some(Command::Devices(args)) => Action::Devices(DevicesOptions {
                json: args.written.json,
                #[cfg(feature = "bench")]
                self_test: args.self_test,
                #[cfg(feature = "bench")]
                bench: args.bench,
                devices: args.device.choices()?,
            }),
            #[cfg(feature = "bench")]
            Some(Command::Bench(args)) => Action::Bench(Box::new(BenchOptions::try_from(*args)?)),
            Some(Command::Completions { shell }) => Action::Completions(shell),
            Some(Command::Man { directory }) => Action::Man(directory),
        };
        match &mut action {
            Action::AllPairs(job) => job.set_command_line(args.request.line()),
            Action::Search(job) => job.set_command_line(args.request.line()),
            Action::Edit(job) => job.set_command_line(args.request.line()),
            Action::Pairs(job) => job.set_command_line(args.request.line()),
            Action::Long(job) => job.set_request(args.request),
            Action::Papara(job) => job.request = args.request,
            _ => {}
        }
        Ok(CommandOptions { quiet: args.quiet, verbose: args.verbose, action })
    }
}

/// Parses the command line of a job as a plan stores it, without the program's name.
pub(super) fn job_of(arguments: &[OsString]) -> Result<Action> {
    let typed = std::iter::once("pairwave".into()).chain(arguments.iter().cloned()).collect();
    let args = Args::parse_words(typed).map_err(|error| Error::usage(one_line(&error.render().to_string())))?;
    CommandOptions::try_from(args).map(|options| options.action)
}
