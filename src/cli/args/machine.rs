//! Who computes, as it is typed: the same for every job.

use crate::cli::args::headings::COMPUTING;
use clap::{Arg, ArgAction, ValueHint};
use std::path::PathBuf;

// Not a comment of documentation: clap would make it that of the command.
// Who computes, and how: the same for every job of many pairs.
#[derive(Debug, clap::Args, Default)]
pub(crate) struct ComputeArgs {
    #[command(flatten)]
    pub machine: MachineArgs,

    /// Kernel to use, by the name that 'pairwave devices --self-test' prints [default: the fastest for these sequences]
    #[arg(long, value_name = "NAME", help_heading = COMPUTING)]
    pub kernel: Option<String>,

    /// Measure anew which settings are fastest on the devices, and remember them
    #[arg(long, help_heading = COMPUTING)]
    pub tune: bool,
}

// As above.
// Who computes, and what it leaves behind: the same for every job.
#[derive(Debug, clap::Args, Default)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub device: DeviceArgs,

    /// Memory to take on each GPU at most, as in 8G or 512M [default: 70% of a card's, a quarter of a shared one's]
    ///
    /// Bytes, or a number with K, M, G or T for powers of 1024; at least 16M. The limit is that of each device by itself;
    /// one above the default changes nothing.
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub memory: Option<String>,

    #[command(flatten)]
    pub threads: ThreadsArgs,

    /// Write what each device did, and what the job took, to this file as JSON. The file appears when it is whole
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    /// Rescore every alignment independently and stop at the first whose score is not what was computed
    #[arg(long, help_heading = COMPUTING)]
    pub check: bool,
}

// As above.
// Which devices.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct DeviceArgs {
    /// Device to use: its index, a part of its name, its PCI bus id, cpu, or all [default: the best there is]
    ///
    /// May be given several times, or with several devices separated by commas. A part of a name means every GPU that has
    /// it; a bus id or an index means one of them. 'pairwave devices' lists what there is.
    #[arg(long, value_name = "DEVICE", help_heading = COMPUTING, action = ArgAction::Append, value_delimiter = ',')]
    pub device: Vec<String>,
}

// As above.
// How many threads.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ThreadsArgs {
    /// CPU threads [default: all]
    #[arg(short = 't', visible_short_alias = 'j', long, value_name = "N", help_heading = COMPUTING)]
    pub threads: Option<usize>,
}

/// Show the devices that can compute
#[derive(Debug, clap::Args, Default)]
#[command(mut_args(as_in_devices))]
pub(crate) struct DevicesArgs {
    /// Write JSON
    #[arg(long)]
    pub json: bool,

    /// Run every kernel on every device against a slow and simple reference, and say which pass
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub self_test: bool,

    /// Measure every kernel on every device, in GCUPS (1e9 cells of the alignment matrix a second)
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub bench: bool,

    #[command(flatten)]
    pub device: DeviceArgs,
}

/// The options of all jobs as `pairwave devices` has them.
fn as_in_devices(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "device" => arg.help(DEVICE).long_help(format!("{DEVICE}\n\n{SEVERAL}")).help_heading(None),
        _ => arg,
    }
}

const DEVICE: &str = "Device to show: its index, a part of its name, its PCI bus id, cpu, or all [default: all]";
const SEVERAL: &str = "\
May be given several times, or with several devices separated by commas. A part of a name means every GPU that \
has it; a bus id or an index means one of them.";
