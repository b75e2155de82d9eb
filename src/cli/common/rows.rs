//! Options for the rows that a job writes, and their validation.

use crate::cli::args::{CoverageArgs, EditFilterArgs, EditFilterName, RowFormat, RowsArgs, WidthArgs};
use crate::cli::tips::percentage_advice;
use crate::cli::{endings, size};
use pairwave::jobs::EditFilter;
use pairwave::score::{CoverageFilter, Mode};
use pairwave::{Error, Result};

/// Default number of alignment columns per block of the text format.
const WIDTH: u32 = 60;

impl<F: RowFormat> RowsArgs<F> {
    /// Returns whether `--fields help` was given.
    pub(in crate::cli) fn lists_fields(&self) -> bool {
        self.fields.as_deref() == Some("help")
    }

    /// Returns the name of the format.
    pub(in crate::cli) fn format_name(&self) -> String {
        endings::value_name(self.format)
    }

    /// Rejects `--fields` for a format with fixed columns.
    pub(in crate::cli) fn check_fields(&self, has_fields: bool) -> Result<()> {
        if self.fields.is_none() || has_fields {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--fields applies only to tsv and jsonl: the columns of {} are fixed",
            self.format_name()
        )))
    }

    /// Rejects `--score-only` for a format that describes alignments.
    pub(in crate::cli) fn check_score_only(&self, score_only: bool, has_fields: bool) -> Result<()> {
        if !score_only || has_fields {
            return Ok(());
        }
        Err(Error::usage(format!(
            "--score-only computes no alignments, but {} describes them: use --format tsv or jsonl",
            self.format_name()
        )))
    }
}

impl WidthArgs {
    /// Rejects `--width` unless the format, whose typed name is `typed`, is text.
    pub(in crate::cli) fn check(&self, is_text: bool, typed: &str) -> Result<()> {
        if self.width.is_none() || is_text {
            return Ok(());
        }
        Err(Error::usage(format!("--width applies only to --format text, but the format is {typed}")))
    }

    /// Returns the number of columns per block.
    pub(in crate::cli) fn columns(&self) -> Result<u32> {
        size::check_positive("--width", self.width)?;
        Ok(self.width.unwrap_or(WIDTH))
    }
}

impl CoverageArgs {
    /// Returns the validated filter.
    pub(in crate::cli) fn filter(&self, score_only: bool) -> Result<CoverageFilter> {
        for (option, given) in self.options() {
            check_fraction(option, given)?;
            check_score_only(score_only, &[(option, given.is_some(), "needs alignments")])?;
        }
        Ok(CoverageFilter { query: self.query_cov, target: self.target_cov, both: self.min_cov, shorter: None })
    }
}

impl EditFilterArgs {
    /// Returns when edit distances exclude pairs. Rejects the option without `--min-identity`.
    pub(in crate::cli) fn choice(&self, min_identity: Option<f64>) -> Result<EditFilter> {
        match self.edit_filter {
            Some(_) if min_identity.is_none() => {
                Err(Error::usage("--edit-filter has no effect without --min-identity: add --min-identity or remove it"))
            }
            None | Some(EditFilterName::Auto) => Ok(EditFilter::Auto),
            Some(EditFilterName::On) => Ok(EditFilter::On),
            Some(EditFilterName::Off) => Ok(EditFilter::Off),
        }
    }
}

/// Rejects the value of an option that is not a fraction. Suggests the fraction for a percentage.
pub(in crate::cli) fn check_fraction(option: &str, given: Option<f64>) -> Result<()> {
    let Some(given) = given.filter(|given| !(0.0..=1.0).contains(given)) else { return Ok(()) };
    let advice = percentage_advice(given);
    Err(Error::usage(format!("{option} {given}: must be a fraction from 0 to 1{advice}")))
}

/// Rejects a negative maximum E-value, and a maximum for global alignments, which have no E-values.
pub(in crate::cli) fn check_evalue(given: Option<f64>, mode: Mode) -> Result<()> {
    let Some(evalue) = given else { return Ok(()) };
    if evalue.is_nan() || evalue < 0.0 {
        return Err(Error::usage(format!("--evalue {evalue}: must not be negative")));
    }
    if mode != Mode::Local {
        return Err(Error::usage("--evalue: only local alignments have E-values; use --min-score, or --mode local"));
    }
    Ok(())
}

/// Refuses options that need alignments where only scores are computed.
///
/// Each entry consists of an option, whether it was given, and its use of alignments for the
/// message.
pub(in crate::cli) fn check_score_only(score_only: bool, options: &[(&str, bool, &str)]) -> Result<()> {
    match options.iter().find(|(_, given, _)| score_only && *given) {
        Some((option, _, why)) => {
            Err(Error::usage(format!("{option} {why}, but --score-only computes none: remove one of them")))
        }
        None => Ok(()),
    }
}
