//! Arguments that select what is computed and written, for the jobs that score pairs.

use crate::cli::args::headings::SELECTION;

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

// Scores without alignments.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct ScoreOnlyArgs {
    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,
}
