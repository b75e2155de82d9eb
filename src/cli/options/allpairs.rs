//! Validated options of `pairwave allpairs`.

use super::format::format;
use crate::cli::args::AllPairsArgs;
use crate::cli::common::rows::{check_fraction, check_score_only};
use crate::cli::common::{ComputeOptions, OutputFiles, check_standard, max_hits};
use crate::cli::endings;
use crate::cli::scoring::{PairScheme, ScoringChoice};
use pairwave::jobs::EditFilter;
use pairwave::output::PairFormat;
use pairwave::score::{CoverageFilter, IdentityDefinition, Mode};
use pairwave::seq::{ReadOptions, Strands};
use pairwave::{Error, Result};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// All pairs of one file, or of one file and another.
#[derive(Debug)]
pub(in crate::cli) struct AllPairsOptions {
    /// File of sequences; `-` is standard input.
    pub seqs: PathBuf,
    pub against: Option<PathBuf>,
    pub read: ReadOptions,
    pub scoring: ScoringChoice,
    pub strand: Strands,
    pub selection: AllPairsSelection,
    pub format: PairFormat,
    pub files: OutputFiles,
    pub compute: ComputeOptions,
}

/// Conditions that a written pair must meet, and the values that are computed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cli) struct AllPairsSelection {
    /// Least identity, from 0 to 1.
    pub min_identity: Option<f64>,
    pub coverage: CoverageFilter,
    pub min_score: Option<i64>,
    pub identity: IdentityDefinition,
    pub max_hits: Option<NonZeroU32>,
    /// Whether only the pairs with the best identity of their query are written.
    pub top_hits_only: bool,
    pub score_only: bool,
    /// When edit distances exclude pairs before they are scored.
    pub edit_filter: EditFilter,
}

impl TryFrom<AllPairsArgs> for AllPairsOptions {
    type Error = Error;

    fn try_from(mut args: AllPairsArgs) -> Result<Self> {
        args.against = args.against.or(args.other.take());
        let PairScheme { read, scoring, strand } = PairScheme::new(args.letters, &args.alignment, args.strands)?;
        let selection = selection(&args, scoring.mode())?;
        let format = format(&args, scoring.mode())?;
        let compute = ComputeOptions::try_from(&args.compute)?;
        let seqs = args.seqs.ok_or_else(|| Error::usage("SEQS is missing: name a file of sequences"))?;
        let inputs: Vec<&Path> = [Some(&*seqs), args.against.as_deref()].into_iter().flatten().collect();
        check_standard(&inputs, "SEQS and OTHER cannot both be -")?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        endings::check("allpairs", "--output", files.output.as_deref(), &args.rows.format_name())?;
        Ok(AllPairsOptions { seqs, against: args.against, read, scoring, strand, selection, format, files, compute })
    }
}

fn selection(args: &AllPairsArgs, mode: Mode) -> Result<AllPairsSelection> {
    check_fraction("--min-identity", args.identities.min_identity)?;
    check_score_only(
        args.results.score_only,
        &[
            ("--min-identity", args.identities.min_identity.is_some(), "compares identities"),
            ("--max-hits", args.max_hits.is_some(), "ranks by identity"),
            ("--top-hits-only", args.top_hits_only, "compares identities"),
            ("--iddef", args.identity.iddef.is_some(), "defines identity"),
            ("--check", args.compute.machine.check, "rescores alignments"),
        ],
    )?;
    Ok(AllPairsSelection {
        min_identity: args.identities.min_identity,
        coverage: args.coverage.filter(args.results.score_only)?,
        min_score: args.scores.min_score,
        identity: args.identity.definition(mode)?,
        max_hits: max_hits(args.max_hits)?,
        top_hits_only: args.top_hits_only,
        score_only: args.results.score_only,
        edit_filter: args.filter.choice(args.identities.min_identity)?,
    })
}
