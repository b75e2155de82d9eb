//! Scores and costs as they are typed: the same for every job that computes scores.

use crate::cli::args::headings::{SCORING, SELECTION};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ValueEnum, ValueHint};
use pairwave::score::SCHEMES;
use std::path::PathBuf;

// Not a comment of documentation: clap would make it that of the command.
// How symbols and gaps are scored: the same for every job that computes scores.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct ScoringArgs {
    /// Score of two nucleotides that match [default: 5]
    #[arg(long = "match", value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub match_score: Option<i32>,

    /// Score of two nucleotides that do not match, 0 or less [default: -4]
    #[arg(long, value_name = "SCORE", help_heading = SCORING, allow_negative_numbers = true)]
    pub mismatch: Option<i32>,

    /// How an ambiguous nucleotide (N, R, Y, ...) meets another [default: overlap]
    #[arg(long, value_name = "RULE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub ambiguity: Option<AmbiguityName>,

    /// Substitution matrix: a built-in one or a file in NCBI's format [default: BLOSUM62 for proteins, --match and
    /// --mismatch for nucleotides]
    ///
    /// BLOSUM45, BLOSUM50, BLOSUM62, BLOSUM80, BLOSUM90, PAM30, PAM70, PAM250 and IDENTITY are those of BLAST. EBLOSUM30 to
    /// EBLOSUM90, EBLOSUMN, EPAM10 to EPAM500, EDNAFULL, EDNAMAT and EDNASIMPLE are those of EMBOSS, whose scores of B, Z, X, J,
    /// U and O differ from BLAST's.
    #[arg(long, value_name = "NAME|FILE", help_heading = SCORING, value_hint = ValueHint::FilePath)]
    pub matrix: Option<PathBuf>,

    /// What a gap costs once, however long it is [default: 20 for nucleotides, 11 for proteins]
    ///
    /// A gap of k symbols costs OPEN + k * EXTEND, as in BLAST. (Where the first symbol of a gap costs FIRST in all, as
    /// in EMBOSS and parasail, OPEN is FIRST - EXTEND.)
    #[arg(long, value_name = "OPEN", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_open: Option<i32>,

    /// What every symbol of a gap costs, the first included [default: 5 for nucleotides, 1 for proteins]
    ///
    /// A gap of k symbols costs OPEN + k * EXTEND, as in BLAST.
    #[arg(long, value_name = "EXTEND", help_heading = SCORING, allow_negative_numbers = true)]
    pub gap_extend: Option<i32>,

    /// What a gap at an end of the alignment costs once [default: 0 for nucleotides, as --gap-open for proteins or where a
    /// gap cost is given]
    ///
    /// Such a gap of k symbols costs OPEN + k * EXTEND, at both ends of both sequences. Neither its first symbol nor each
    /// further one may cost more than an inner gap's.
    #[arg(long, value_name = "OPEN", help_heading = SCORING, allow_negative_numbers = true)]
    pub end_gap_open: Option<i32>,

    /// What every symbol of a gap at an end of the alignment costs [default: 3 for nucleotides, as --gap-extend for proteins
    /// or where a gap cost is given]
    #[arg(long, value_name = "EXTEND", help_heading = SCORING, allow_negative_numbers = true)]
    pub end_gap_extend: Option<i32>,

    /// All scores and costs by the name of a scheme ('help' lists them); options for single ones override it
    #[arg(long, value_name = "NAME", help_heading = SCORING, value_parser = schemes(), ignore_case = true)]
    #[arg(hide_possible_values = true)]
    pub scheme: Option<String>,
}

impl ScoringArgs {
    /// Whether the list of schemes was asked for.
    pub(crate) fn lists_schemes(&self) -> bool {
        self.scheme.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("help"))
    }
}

// As above.
// What is aligned, whole sequences unless something else is said, and how it is scored.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct AlignmentArgs {
    /// Which parts of two sequences are aligned [default: global]
    #[arg(long, value_name = "MODE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub mode: Option<ModeName>,

    #[command(flatten)]
    pub scoring: ScoringArgs,

    /// Whether gaps at the ends of an alignment cost what inner gaps cost, or nothing [default: neither for nucleotides: see
    /// --end-gap-extend; charged for proteins]
    ///
    /// With --end-gap-open and --end-gap-extend they cost something else.
    #[arg(long, value_name = "RULE", help_heading = SCORING, value_enum, ignore_case = true)]
    pub end_gaps: Option<EndGapsName>,
}

// As above.
// The same of the parts that score most, unless something else is said.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct LocalAlignmentArgs {
    /// Which parts of the two sequences are aligned
    #[arg(long, value_name = "MODE", help_heading = SCORING, value_enum, ignore_case = true, default_value_t)]
    pub mode: LongModeName,

    #[command(flatten)]
    pub scoring: ScoringArgs,
}

// As above.
// What identity is.
#[derive(Debug, Clone, clap::Args, Default)]
pub(crate) struct IdentityArgs {
    /// Definition of identity, by vsearch's numbers [default: 2]
    ///
    /// 0: matches / length of the shorter sequence.
    /// 1: matches / columns of the alignment.
    /// 2: matches / columns without the end gaps.
    /// 3: 1 - (mismatches + gap openings) / length of the longer sequence.
    /// 4: as 1.
    ///
    /// In a local alignment 2 is as 1, and there is no 3.
    #[arg(long, value_name = "NUMBER", help_heading = SELECTION, verbatim_doc_comment)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=4))]
    pub iddef: Option<u8>,
}

/// The names of schemes, and 'help'.
fn schemes() -> PossibleValuesParser {
    let names = SCHEMES.iter().map(|scheme| PossibleValue::new(scheme.name).help(scheme.source));
    PossibleValuesParser::new(names.chain([PossibleValue::new("help").help("List the schemes")]))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AmbiguityName {
    /// They match if they can be the same base
    Overlap,
    /// They never match
    Mismatch,
    /// They score 0, and count as a match if they can be the same base (as in vsearch)
    Zero,
    /// If they can be the same base: (match + (k - 1) * mismatch) / k, rounded, where k is the number of bases of the one that
    /// has more; the same code counts as a match (as in BLASTN)
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Both sequences as wholes (Needleman-Wunsch)
    #[value(alias = "nw")]
    Global,
    /// Both as wholes, but what hangs over at either end of either costs nothing: the same as --end-gaps free
    #[value(alias = "semiglobal", alias = "overlap", alias = "sg")]
    SemiGlobal,
    /// The two parts that score most (Smith-Waterman)
    #[value(alias = "sw")]
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EndGapsName {
    /// They cost what inner gaps cost
    Charged,
    /// They cost nothing, at both ends of both sequences
    Free,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LongModeName {
    /// The two parts that score most (Smith-Waterman)
    #[default]
    #[value(alias = "sw")]
    Local,
    /// Both as wholes (Needleman-Wunsch)
    #[value(alias = "nw")]
    Global,
    /// Both as wholes, but what hangs over at either end of either costs nothing
    #[value(alias = "semiglobal", alias = "overlap", alias = "sg")]
    SemiGlobal,
}
