//! Arguments for scores and costs, for every job that computes scores.

use crate::cli::args::headings::{SCORING, SELECTION};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ValueEnum, ValueHint};
use pairwave::score::SCHEMES;
use std::path::PathBuf;

// Plain comments: clap would take a doc comment as the help of the command.
// Scores of symbols and costs of gaps, for every job that computes scores.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ScoringArgs {
    /// Set the score of a nucleotide match [default: 5]
    #[arg(long = "match", value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub match_score: Option<i32>,

    /// Set the score of a nucleotide mismatch, 0 or less [default: -4]
    #[arg(long, value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub mismatch: Option<i32>,

    /// Score ambiguous nucleotides (N, R, Y, ...) by this rule [default: overlap]
    #[arg(long, value_name = "RULE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub ambiguity: Option<AmbiguityName>,

    /// Score by this substitution matrix, a built-in name or a file in NCBI's format [default:
    /// BLOSUM62 for proteins, --match and --mismatch for nucleotides]
    ///
    /// BLAST's matrices are BLOSUM45, BLOSUM50, BLOSUM62, BLOSUM80, BLOSUM90, PAM30, PAM70, PAM250
    /// and IDENTITY. EMBOSS's matrices are EBLOSUM30 to EBLOSUM90, EBLOSUMN, EPAM10 to EPAM500,
    /// EDNAFULL, EDNAMAT and EDNASIMPLE; their scores of B, Z, X, J, U and O differ from BLAST's.
    #[arg(long, value_name = "NAME|FILE", help_heading = SCORING, value_hint = ValueHint::FilePath)]
    pub matrix: Option<PathBuf>,

    /// Set the cost of opening a gap, charged once per gap [default: 20 for nucleotides, 11 for
    /// proteins]
    ///
    /// A gap of k symbols costs OPEN + k * EXTEND, as in BLAST. EMBOSS and parasail use the total
    /// cost FIRST of a gap's first symbol instead: OPEN is FIRST - EXTEND.
    #[arg(long, value_name = "OPEN", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_open: Option<i32>,

    /// Set the cost of each symbol of a gap, including the first [default: 5 for nucleotides, 1 for
    /// proteins]
    ///
    /// A gap of k symbols costs OPEN + k * EXTEND, as in BLAST.
    #[arg(long, value_name = "EXTEND", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_extend: Option<i32>,

    /// Set the cost of opening a gap at an end of the alignment [default: 0 for nucleotides;
    /// --gap-open for proteins or if a gap cost is given]
    ///
    /// An end gap of k symbols costs OPEN + k * EXTEND, at both ends of both sequences. Neither its
    /// first symbol nor a further one may cost more than in an inner gap.
    #[arg(long, value_name = "OPEN", help_heading = SCORING, allow_negative_numbers = true)]
    pub end_gap_open: Option<i32>,

    /// Set the cost of each symbol of a gap at an end of the alignment [default: 3 for nucleotides;
    /// --gap-extend for proteins or if a gap cost is given]
    #[arg(long, value_name = "EXTEND", help_heading = SCORING, allow_negative_numbers = true)]
    pub end_gap_extend: Option<i32>,

    /// Set all scores and costs by the name of a scheme ('help' lists them); single options
    /// override it
    #[arg(long, value_name = "NAME", help_heading = SCORING, value_parser = schemes(), ignore_case = true)]
    #[arg(hide_possible_values = true)]
    pub scheme: Option<String>,
}

impl ScoringArgs {
    /// Returns whether `--scheme help` was given.
    pub(crate) fn lists_schemes(&self) -> bool {
        self.scheme.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("help"))
    }
}

// Aligned parts, end to end by default, and their scores.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct AlignmentArgs {
    /// Align these parts of two sequences [default: global]
    #[arg(long, value_name = "MODE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub mode: Option<ModeName>,

    #[command(flatten)]
    pub scoring: ScoringArgs,

    /// Charge gaps at the ends of an alignment like inner gaps, or not at all [default: charged for
    /// proteins; see --end-gap-extend for nucleotides]
    ///
    /// --end-gap-open and --end-gap-extend set other costs.
    #[arg(long, value_name = "RULE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub end_gaps: Option<EndGapsName>,
}

// Aligned parts, the best-scoring ones by default, and their scores.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct LocalAlignmentArgs {
    /// Align these parts of the two sequences
    #[arg(long, value_name = "MODE", help_heading = SCORING, value_enum, ignore_case = true, default_value_t)]
    pub mode: LongModeName,

    #[command(flatten)]
    pub scoring: ScoringArgs,
}

// Definition of identity.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct IdentityArgs {
    /// Define identity by vsearch's numbers [default: 2]
    ///
    /// 0: matches / length of the shorter sequence.
    /// 1: matches / columns of the alignment.
    /// 2: matches / columns without the end gaps.
    /// 3: 1 - (mismatches + gap openings) / length of the longer sequence.
    /// 4: equal to 1.
    ///
    /// In a local alignment, 2 equals 1, and 3 is not available.
    #[arg(long, value_name = "NUMBER", help_heading = SELECTION, verbatim_doc_comment)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=4))]
    pub iddef: Option<u8>,
}

/// Returns a parser that accepts the names of schemes and 'help'.
fn schemes() -> PossibleValuesParser {
    let names = SCHEMES.iter().map(|scheme| PossibleValue::new(scheme.name).help(scheme.source));
    PossibleValuesParser::new(names.chain([PossibleValue::new("help").help("List the schemes")]))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AmbiguityName {
    /// Two codes match if they share a base
    Overlap,
    /// An ambiguous code never matches
    Mismatch,
    /// Two codes score 0, and count as a match if they share a base (as in vsearch)
    Zero,
    /// Two codes that share a base score (match + (k - 1) * mismatch) / k, rounded, where k is the
    /// number of bases of the larger code; only equal codes count as a match (as in BLASTN)
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Both sequences end to end (Needleman-Wunsch)
    #[value(alias = "nw")]
    Global,
    /// Both sequences end to end, with free overhangs at both ends of both: equal to --end-gaps
    /// free
    #[value(alias = "semiglobal", alias = "overlap", alias = "sg")]
    SemiGlobal,
    /// Best-scoring part of each sequence (Smith-Waterman)
    #[value(alias = "sw")]
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EndGapsName {
    /// Charge end gaps like inner gaps
    Charged,
    /// Charge nothing, at both ends of both sequences
    Free,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LongModeName {
    /// Best-scoring part of each sequence (Smith-Waterman)
    #[default]
    #[value(alias = "sw")]
    Local,
    /// Both sequences end to end (Needleman-Wunsch)
    #[value(alias = "nw")]
    Global,
    /// Both sequences end to end, with free overhangs at both ends of both
    #[value(alias = "semiglobal", alias = "overlap", alias = "sg")]
    SemiGlobal,
}
