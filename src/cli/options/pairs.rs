//! Validated options of `pairwave pairs`.

use super::format::format;
use crate::cli::args::{
    AlignmentArgs, AllPairsArgs, EndGapsName, FormatName, ModeName, PairsArgs, RowsArgs, ScoringArgs,
};
use crate::cli::common::rows::check_score_only;
use crate::cli::common::{ComputeOptions, OutputFiles, check_standard};
use crate::cli::endings;
use crate::cli::pairs::{Listing, PairsJob};
use crate::cli::scoring::PairScheme;
use pairwave::output::{Field, PairFormat};
use pairwave::{Error, Result};
use std::path::Path;

impl TryFrom<PairsArgs> for PairsJob {
    type Error = Error;

    fn try_from(args: PairsArgs) -> Result<Self> {
        check_intervals(&args)?;
        let alignment = alignment(&args);
        let PairScheme { read, scoring, strand } = PairScheme::new(args.letters, &alignment, args.strands)?;
        check_score_only(
            args.results.score_only,
            &[
                ("--iddef", args.identity.iddef.is_some(), "defines identity"),
                ("--check", args.compute.machine.check, "rescores alignments"),
            ],
        )?;
        let coverage = args.coverage.filter(args.results.score_only)?;
        let identity = args.identity.definition(scoring.mode())?;
        // Options that both commands share have the same meaning.
        let shared = AllPairsArgs {
            strands: args.strands,
            identity: args.identity,
            results: args.results,
            rows: RowsArgs {
                format: if args.paf.is_some() { FormatName::Paf } else { FormatName::from(args.rows.format) },
                fields: args.rows.fields,
            },
            width: args.width,
            ..AllPairsArgs::default()
        };
        let is_default = shared.rows.fields.is_none() && !shared.results.score_only;
        let mut format = format(&shared, scoring.mode())?;
        if let PairFormat::Tsv(fields) = &mut format {
            fields.extend(is_default.then(|| Field::named("cigar")).flatten());
        }
        let compute = ComputeOptions::try_from(&args.compute)?;
        let a = args.a.ok_or_else(|| Error::usage("A is missing: name a file of queries"))?;
        let listing = match (args.b, args.pairs, args.paf) {
            (b, _, Some(paf)) => Listing::Intervals { b, paf, extend: args.extend.unwrap_or(0) },
            (None, None, None) => {
                return Err(Error::usage(
                    "B is missing: name a file whose record i is aligned with record i of A, or list pairs of A in a \
            file with --pairs",
                ));
            }
            (Some(b), None, None) => Listing::InStep(b),
            (b, Some(list), None) => Listing::Listed { b, list },
        };
        let inputs: Vec<&Path> = std::iter::once(a.as_path()).chain(listing.paths()).collect();
        check_standard(&inputs, "only one of A, B, --pairs and --paf can be -")?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        endings::check("pairs", "--output", files.output.as_deref(), &shared.rows.format_name())?;
        Ok(PairsJob {
            a,
            listing,
            read,
            scoring,
            strand,
            identity,
            coverage,
            score_only: args.results.score_only,
            format,
            files,
            compute,
        })
    }
}

/// Rejects options that have no effect with `--paf`, or only with it.
fn check_intervals(args: &PairsArgs) -> Result<()> {
    if args.paf.is_none() {
        return match args.extend {
            Some(_) => Err(Error::usage("--extend applies only to --paf: remove it")),
            None => Ok(()),
        };
    }
    let problems = [
        (args.pairs.is_some(), "--pairs and --paf both list the pairs: remove one of them"),
        (args.strands.strand.is_some(), "--strand: the records of --paf have the strands: remove it"),
        (args.results.score_only, "--score-only computes no alignments, but --paf writes them: remove one of them"),
        (
            args.alignment.mode.is_some_and(|mode| mode != ModeName::Global),
            "--mode: --paf aligns intervals end to end: remove it, or use --end-gaps free",
        ),
    ];
    match problems.into_iter().find(|(given, _)| *given) {
        Some((_, problem)) => Err(Error::usage(problem)),
        None => Ok(()),
    }
}

/// Returns the options of the alignment. End gaps of intervals cost as much as inner gaps unless an
/// option sets their costs, so that an alignment spans its intervals.
fn alignment(args: &PairsArgs) -> AlignmentArgs {
    let mut alignment = args.alignment.clone();
    let ScoringArgs { end_gap_open, end_gap_extend, .. } = alignment.scoring;
    if args.paf.is_some() && end_gap_open.is_none() && end_gap_extend.is_none() {
        alignment.end_gaps = alignment.end_gaps.or(Some(EndGapsName::Charged));
    }
    alignment
}
