//! Arguments for the output file and its format, for every job.

use crate::cli::args::headings::OUTPUT;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

// Plain comments: clap would take a doc comment as the help of the command.
// File that results are written to.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct OutputArgs {
    /// Write to this file [default: standard output]; compressed if the name ends in .gz, .zst, .xz
    /// or .bz2
    ///
    /// The file appears only when it is complete.
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

// Format of rows of pairs, one of the formats `F`, and their fields.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct RowsArgs<F: RowFormat> {
    /// Write this format
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: F,

    /// Write these fields in tsv and jsonl, separated by commas; --fields help lists them
    #[arg(long, value_name = "LIST", help_heading = OUTPUT)]
    pub fields: Option<String>,
}

// Layout of the text format.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct WidthArgs {
    /// Set the width of alignments in the text format [default: 60 columns]
    #[arg(long, value_name = "COLUMNS", help_heading = OUTPUT)]
    pub width: Option<u32>,
}

/// Output format with a name and a default.
pub(crate) trait RowFormat: ValueEnum + Copy + Default + Send + Sync + 'static {}

impl<F: ValueEnum + Copy + Default + Send + Sync + 'static> RowFormat for F {}

/// Adds a paragraph to the long help of an option.
pub(super) fn with_more_help(arg: Arg, more: &str) -> Arg {
    let help = arg.get_help().map(|help| help.to_string()).unwrap_or_default();
    arg.long_help(format!("{help}\n\n{more}"))
}
