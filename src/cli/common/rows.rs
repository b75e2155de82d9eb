//! Options of the rows that a job writes, and what is valid of them.

use crate::cli::args::{RowFormat, RowsArgs, WidthArgs};
use crate::cli::{endings, size};
use pairwave::{Error, Result};

/// Columns of an alignment in a block of text unless it is said.
const WIDTH: u32 = 60;

impl<F: RowFormat> RowsArgs<F> {
    /// Whether the list of fields was asked for.
    pub(in crate::cli) fn lists_fields(&self) -> bool {
        self.fields.as_deref() == Some("help")
    }

    /// Returns the name of the format.
    pub(in crate::cli) fn typed(&self) -> String {
        endings::typed(self.format)
    }

    /// Refuses `--fields` for a format without them.
    pub(in crate::cli) fn check_fields(&self, has_fields: bool) -> Result<()> {
        if self.fields.is_none() || has_fields {
            return Ok(());
        }
        Err(Error::usage(format!("--fields applies only to tsv and jsonl: the columns of {} are fixed", self.typed())))
    }

    /// Refuses `--score-only` for a format that describes alignments.
    pub(in crate::cli) fn check_score_only(&self, score_only: bool, has_fields: bool) -> Result<()> {
        if !score_only || has_fields {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--score-only computes no alignments, but {} describes them: use --format tsv or jsonl",
            self.typed()
        )))
    }
}

impl WidthArgs {
    /// Refuses `--width` for another format than text, whose name was typed.
    pub(in crate::cli) fn check(&self, is_text: bool, typed: &str) -> Result<()> {
        if self.width.is_none() || is_text {
            return Ok(());
        }
        Err(Error::usage(format!("--width applies only to --format text, but the format is {typed}")))
    }

    /// Returns the columns in a block.
    pub(in crate::cli) fn columns(&self) -> Result<u32> {
        size::check_positive("--width", self.width)?;
        Ok(self.width.unwrap_or(WIDTH))
    }
}

/// Refuses options that need alignments where only scores are computed.
///
/// Each option comes with whether it was given, and with what it does with alignments.
pub(in crate::cli) fn check_score_only(score_only: bool, options: &[(&str, bool, &str)]) -> Result<()> {
    match options.iter().find(|(_, given, _)| score_only && *given) {
        Some((option, _, why)) => {
            Err(Error::usage(format!("{option} {why}, but --score-only computes none: remove one of them")))
        }
        None => Ok(()),
    }
}
