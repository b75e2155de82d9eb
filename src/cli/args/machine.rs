//! Arguments that select devices, memory and threads, for every job.

use crate::cli::args::headings::COMPUTING;
use crate::cli::args::help::with_help;
use crate::cli::args::output::JsonArgs;
use clap::{Arg, ArgAction, ValueHint};
use std::path::PathBuf;

// Plain comments: clap would take a doc comment as the help of the command.
// Devices, threads and kernels, for every job of many pairs.
#[derive(Debug, clap::Args, Default)]
pub(crate) struct ComputeArgs {
    #[command(flatten)]
    pub machine: MachineArgs,

    #[command(flatten)]
    pub kernels: KernelArgs,
}

// Kernels and their settings.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct KernelArgs {
    /// Use this kernel; 'pairwave devices --self-test' lists them [default: fastest for the
    /// sequences]
    #[arg(long, value_name = "NAME", help_heading = COMPUTING)]
    pub kernel: Option<String>,

    /// Measure again which settings are fastest on the devices, and store them
    #[arg(long, help_heading = COMPUTING)]
    pub tune: bool,
}

// Devices, memory, threads, statistics and checks, for every job.
#[derive(Debug, clap::Args, Default)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub device: DeviceArgs,

    /// Use at most this much memory on each GPU, as in 8G or 512M [default: 70% of a card's, a
    /// quarter of shared memory]
    ///
    /// The size is a number of bytes, or a number with K, M, G or T for powers of 1024; at least
    /// 16M. The limit applies to each device separately. A limit above the default has no effect.
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub memory: Option<String>,

    #[command(flatten)]
    pub threads: ThreadsArgs,

    /// Write statistics of the devices and of the job to this JSON file
    ///
    /// The file appears only when it is complete.
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    /// Rescore every alignment independently, and stop at the first with a wrong score
    #[arg(long, help_heading = COMPUTING)]
    pub check: bool,
}

// Devices to use.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct DeviceArgs {
    /// Use this device: index, part of a name, PCI bus id, 'cpu' or 'all' [default: the best
    /// available]
    ///
    /// Repeat the option, or separate devices by commas, to use several. A part of a name selects
    /// every GPU whose name contains it. An index or a bus id selects one GPU. 'pairwave devices'
    /// lists the devices.
    #[arg(long, value_name = "DEVICE", help_heading = COMPUTING, action = ArgAction::Append, value_delimiter = ',')]
    pub device: Vec<String>,
}

// Number of CPU threads.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ThreadsArgs {
    /// Use this many CPU threads [default: all]
    #[arg(short = 't', visible_short_alias = 'j', long, value_name = "N", help_heading = COMPUTING)]
    pub threads: Option<usize>,
}

/// List the devices that can compute
#[derive(Debug, clap::Args, Default)]
#[command(mut_args(as_in_devices))]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    pub written: JsonArgs,

    /// Test every kernel on every device against a slow and simple reference implementation
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub self_test: bool,

    /// Measure every kernel on every device [GCUPS: 1e9 cells of the alignment matrix per second]
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub bench: bool,

    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Adapts the options that all jobs share to `pairwave devices`.
fn as_in_devices(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "device" => with_help(arg, DEVICE, SEVERAL).help_heading(None),
        _ => arg,
    }
}

const DEVICE: &str = "\
Show this device: index, part of a name, PCI bus id, 'cpu' or 'all' [default: all]";
const SEVERAL: &str = "\
Repeat the option, or separate devices by commas, to show several. A part of a name selects \
every GPU whose name contains it. An index or a bus id selects one GPU.";
