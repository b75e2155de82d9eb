//! What is valid of `pairwave pairs`.

use super::{format, mode};
use crate::cli::args::{AllPairsArgs, ComputeArgs, FormatName, MachineArgs, PairsArgs};
use crate::cli::common::{check_stats, check_strand, compute, is_standard, output};
use crate::cli::endings;
use crate::cli::pairs::{Listing, PairsJob};
use crate::cli::scoring::ScoringChoice;
use pairwave::output::{Field, Format};
use pairwave::seq::Strand;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::{Error, Result};
use std::path::Path;

impl TryFrom<PairsArgs> for PairsJob {
    type Error = Error;

    fn try_from(args: PairsArgs) -> Result<Self> {
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        let (mode, end_gaps) = mode(args.mode, args.end_gaps)?;
        let scoring = ScoringChoice::new(&args.scoring, mode, end_gaps)?;
        let strand = args.strand.map_or(Strand::Forward, Strand::from);
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            scoring.resolve(alphabet)?;
            check_strand(strand, alphabet)?;
        }
        // What both have means the same.
        let shared = AllPairsArgs {
            strand: args.strand,
            iddef: args.iddef,
            score_only: args.score_only,
            format: FormatName::from(args.format),
            fields: args.fields,
            width: args.width,
            compute: ComputeArgs {
                machine: MachineArgs { check: args.compute.machine.check, ..MachineArgs::default() },
                ..ComputeArgs::default()
            },
            ..AllPairsArgs::default()
        };
        let identity = super::selection(&shared, mode)?.identity;
        let is_default = shared.fields.is_none() && !shared.score_only;
        let mut format = format(&shared, mode)?;
        if let Format::Tsv(fields) = &mut format {
            fields.extend(is_default.then(|| Field::named("cigar")).flatten());
        }
        let (compute, stats) = compute(args.compute)?;
        let a = args.a.ok_or_else(|| Error::usage("a file of queries is missing"))?;
        let listing = match (args.b, args.pairs) {
            (None, None) => {
                return Err(Error::usage(
                    "B is missing: record i of A is aligned with record i of B; or name pairs of A in a file with --pairs",
                ));
            }
            (Some(b), None) => Listing::InStep(b),
            (b, Some(list)) => Listing::Listed { b, list },
        };
        let inputs: Vec<&Path> = std::iter::once(a.as_path()).chain(listing.paths()).collect();
        if inputs.iter().filter(|input| is_standard(input)).count() > 1 {
            return Err(Error::usage("standard input can be read once: only one of A, B and --pairs can be -"));
        }
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        endings::check("pairs", "--output", output.as_deref(), &endings::typed(args.format))?;
        Ok(PairsJob {
            a,
            listing,
            alphabet,
            degap: args.degap,
            scoring,
            strand,
            identity,
            score_only: args.score_only,
            format,
            output,
            stats,
            compute,
        })
    }
}
