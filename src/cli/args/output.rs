//! Arguments for the output file and its format, for every job.

use crate::cli::args::headings::OUTPUT;
use clap::{ValueEnum, ValueHint};
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

// Shape of a distance matrix.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct MatrixShapeArgs {
    /// Write a phylip matrix in this shape [default: square]
    #[arg(long, value_name = "SHAPE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub matrix_shape: Option<ShapeName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// Whole matrix
    Square,
    /// Triangle below the diagonal
    Lower,
}

// Output for programs.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct JsonArgs {
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

/// Output format with a name and a default.
pub(crate) trait RowFormat: ValueEnum + Copy + Default + Send + Sync + 'static {}

impl<F: ValueEnum + Copy + Default + Send + Sync + 'static> RowFormat for F {}
