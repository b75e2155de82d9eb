//! Arguments as typed. Only the form of numbers is checked here; [`super::options`] validates the
//! rest.

mod allpairs;
#[cfg(feature = "bench")]
mod bench;
mod blocks;
mod cluster;
mod derep;
mod edit;
mod headings;
mod help;
mod input;
mod long;
mod machine;
mod makedb;
mod mpi;
mod msa;
mod output;
mod pairs;
mod papara;
mod request;
mod scoring;
mod search;
mod selection;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use headings::{QUIET, QUIET_ORDER};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) use allpairs::*;
#[cfg(feature = "bench")]
pub(super) use bench::*;
pub(super) use blocks::*;
pub(super) use cluster::*;
pub(super) use derep::*;
pub(super) use edit::*;
pub(super) use input::*;
pub(super) use long::*;
pub(super) use machine::*;
pub(super) use makedb::*;
pub(super) use mpi::*;
pub(super) use msa::*;
pub(super) use output::*;
pub(super) use pairs::*;
pub(super) use papara::*;
pub(super) use request::{JobRequest, LAYOUT};
pub(super) use scoring::*;
pub(super) use search::*;
pub(super) use selection::{CoverageArgs, EditFilterArgs, EditFilterName};

/// Exact sequence alignment on any GPU, on CPUs, and on both at once.
#[derive(Debug, Parser)]
#[command(name = "pairwave", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Results go to standard output or to --output; progress and warnings go to standard error.")]
pub(super) struct Args {
    #[arg(short, long, global = true, display_order = QUIET_ORDER, help = QUIET)]
    pub quiet: bool,

    /// Report in detail: devices, kernels and measurements
    #[arg(short, long, global = true, display_order = 901, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Print how to cite pairwave and the work it is based on
    #[arg(long)]
    pub citation: bool,

    #[command(subcommand)]
    pub command: Option<Command>,

    /// All words of the command line, starting with the program's name.
    #[arg(skip)]
    pub typed: Vec<OsString>,

    /// Arguments of the command.
    #[arg(skip)]
    pub request: JobRequest,
}

impl Args {
    /// Parses a command line, given as all its words.
    pub(super) fn parse_words(typed: Vec<OsString>) -> Result<Self, clap::Error> {
        let program = Args::command();
        let matches = program.clone().try_get_matches_from(&typed)?;
        let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut Args::command()))?;
        Ok(Args { typed, request: JobRequest::from_matches(&program, &matches), ..args })
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Allpairs(Box<AllPairsArgs>),
    Cluster(Box<ClusterArgs>),
    Derep(Box<DerepArgs>),
    Search(Box<SearchArgs>),
    Pairs(Box<PairsArgs>),
    Edit(Box<EditArgs>),
    Long(Box<LongArgs>),
    Papara(Box<PaparaArgs>),
    Msa(Box<MsaArgs>),
    Tree(Box<TreeArgs>),
    Dist(Box<DistArgs>),
    Plan(Box<PlanArgs>),
    Run(Box<RunArgs>),
    Merge(Box<MergeArgs>),
    Mpi(Box<MpiArgs>),
    Makedb(MakeDbArgs),
    Dbinfo(DbInfoArgs),
    Devices(DevicesArgs),
    #[cfg(feature = "bench")]
    Bench(Box<BenchArgs>),
    /// Write shell completions to standard output
    Completions {
        /// Shell to write completions for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one file per page into DIRECTORY or all to standard output
    Man {
        /// Directory for the pages; created if missing
        #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        directory: Option<PathBuf>,
    },
}
