//! Where and how results are written, as it is typed: the same for every job.

use crate::cli::args::headings::OUTPUT;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

// Not a comment of documentation: clap would make it that of the command.
// Where results go.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct OutputArgs {
    /// Where to write [default: standard output]; compressed if the name ends in .gz, .zst, .xz or .bz2. The
    /// file appears when it is whole
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

// As above.
// Rows of pairs, in one of the formats `F`.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct RowsArgs<F: RowFormat> {
    /// What to write
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: F,

    /// Fields of tsv and jsonl, separated by commas; --fields help lists them
    #[arg(long, value_name = "LIST", help_heading = OUTPUT)]
    pub fields: Option<String>,
}

// As above.
// The text for people.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct WidthArgs {
    /// Columns of an alignment in a block of text [default: 60]
    #[arg(long, value_name = "COLUMNS", help_heading = OUTPUT)]
    pub width: Option<u32>,
}

/// A format with a name and a default.
pub(crate) trait RowFormat: ValueEnum + Copy + Default + Send + Sync + 'static {}

impl<F: ValueEnum + Copy + Default + Send + Sync + 'static> RowFormat for F {}

/// Adds a paragraph to the long help of an option.
pub(super) fn with_more_help(arg: Arg, more: &str) -> Arg {
    let help = arg.get_help().map(|help| help.to_string()).unwrap_or_default();
    arg.long_help(format!("{help}\n\n{more}"))
}
