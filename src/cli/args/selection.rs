//! Arguments that select what is computed and written, for the jobs that score pairs.

use crate::cli::args::headings::{COMPUTING, SELECTION};
use clap::ValueEnum;

// Plain comments: clap would take a doc comment as the help of the command.
// Least identity of written pairs.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct MinIdentityArgs {
    /// Write only pairs with at least this identity, a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_identity: Option<f64>,
}

// Least score of written pairs.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct MinScoreArgs {
    /// Write only pairs with at least this score
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,
}

// Minimum coverages.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct CoverageArgs {
    /// Write only alignments that cover at least this fraction of the query, from 0 to 1
    ///
    /// The coverage is (matches + mismatches) / query length, the field query_coverage. Symbols
    /// opposite gaps do not count.
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub query_cov: Option<f64>,

    /// Write only alignments that cover at least this fraction of the target, from 0 to 1
    ///
    /// The coverage is (matches + mismatches) / target length, the field target_coverage.
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub target_cov: Option<f64>,

    /// Write only alignments that cover at least this fraction of both sequences, from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_cov: Option<f64>,
}

// Scores without alignments.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct ScoreOnlyArgs {
    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,
}

// Edit distances that exclude pairs.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct EditFilterArgs {
    /// Skip pairs whose edit distance rules out --min-identity before they are scored [default:
    /// auto]
    ///
    /// The output is the same with and without the filter.
    #[arg(long, value_name = "WHEN", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub edit_filter: Option<EditFilterName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditFilterName {
    /// Filter where it saves time: large jobs with a high identity
    Auto,
    /// Filter wherever an edit distance can rule out pairs
    On,
    /// Never filter
    Off,
}

impl CoverageArgs {
    /// Returns the options with their values.
    pub(crate) fn options(&self) -> [(&'static str, Option<f64>); 3] {
        [("--query-cov", self.query_cov), ("--target-cov", self.target_cov), ("--min-cov", self.min_cov)]
    }
}
