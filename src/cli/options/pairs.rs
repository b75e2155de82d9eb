//! Validated options of `pairwave pairs`.

use super::format::format;
use crate::cli::args::{AllPairsArgs, FormatName, PairsArgs, RowsArgs};
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
        let PairScheme { read, scoring, strand } = PairScheme::new(args.letters, &args.alignment, args.strands)?;
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
            rows: RowsArgs { format: FormatName::from(args.rows.format), fields: args.rows.fields },
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
        let listing = match (args.b, args.pairs) {
            (None, None) => {
                return Err(Error::usage(
                    "B is missing: name a file whose record i is aligned with record i of A, or list pairs of A in a \
            file with --pairs",
                ));
            }
            (Some(b), None) => Listing::InStep(b),
            (b, Some(list)) => Listing::Listed { b, list },
        };
        let inputs: Vec<&Path> = std::iter::once(a.as_path()).chain(listing.paths()).collect();
        check_standard(&inputs, "only one of A, B and --pairs can be -")?;
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
