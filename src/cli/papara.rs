//! Validated options of `pairwave papara`.

mod run;

use super::args::*;
use super::common::{ComputeOptions, OutputFiles, check_others, check_standard, check_strand, is_standard};
use super::endings;
use pairwave::output::PlacedFormat;
use pairwave::papara::GapModel;
use pairwave::score::{Gaps, PhyloScheme};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, Strands};
use pairwave::{Error, Result};
use std::path::PathBuf;

/// Reads to align with references.
#[derive(Debug)]
pub(super) struct Papara {
    /// File of the tree; `-` is standard input.
    pub tree: PathBuf,
    pub reference: PathBuf,
    pub reads: PathBuf,
    pub alphabet: AlphabetChoice,
    pub strand: Strands,
    pub gap_model: GapModel,
    pub scheme: PhyloScheme,
    pub format: PlacedFormat,
    pub files: OutputFiles,
    pub table: Option<PathBuf>,
    pub jplace: Option<PathBuf>,
    pub tree_out: Option<PathBuf>,
    pub checkpoint: Option<PathBuf>,
    pub exhaustive: bool,
    pub compute: ComputeOptions,
    /// Arguments of the command.
    pub request: JobRequest,
}

impl TryFrom<PaparaArgs> for Papara {
    type Error = Error;

    fn try_from(mut args: PaparaArgs) -> Result<Self> {
        if let Some(name) = &args.run_name {
            args.output.output = Some(in_papara(name)?);
        }
        let scheme = scheme(&args)?;
        let alphabet = args.alphabet.choice();
        if alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) {
            return Err(Error::usage("--alphabet bytes: the references must be DNA, RNA or proteins"));
        }
        let strand = args.strands.given().unwrap_or_default();
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            check_strand(strand, alphabet)?;
        }
        let compute = ComputeOptions::try_from(&args.compute)?;
        args.compute.kernels.check_untuned("papara")?;
        let inputs = [args.tree.as_path(), &args.reference, &args.reads];
        check_standard(&inputs, "only one of --tree, --reference and --reads can be -")?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        let others = [
            ("--table", args.table.as_deref()),
            ("--jplace", args.jplace.as_deref()),
            ("--tree-out", args.tree_out.as_deref()),
            ("--checkpoint", args.checkpoint.as_deref()),
        ];
        check_others(&others, &inputs, &files.names())?;
        if args.checkpoint.is_some() && is_standard(&args.reads) {
            return Err(Error::usage(
                "--checkpoint: standard input cannot be read a second time; name a file of reads",
            ));
        }
        let by_ending = || files.output.as_deref().filter(|_| args.run_name.is_none()).and_then(endings::format_of);
        let is_papara = args.run_name.is_some() || args.cgap;
        let default = if is_papara { PlacedFormatName::Phylip } else { PlacedFormatName::Fasta };
        let typed = args.format.or(args.fasta.then_some(PlacedFormatName::Fasta));
        let format = typed.or_else(by_ending).unwrap_or(default);
        for (option, path, written) in [
            // The ending of a run's name is no format.
            ("--output", if args.run_name.is_some() { &None } else { &files.output }, &*endings::value_name(format)),
            ("--table", &args.table, "--table"),
            ("--jplace", &args.jplace, "--jplace"),
            ("--tree-out", &args.tree_out, "--tree-out"),
            ("--checkpoint", &args.checkpoint, "a checkpoint"),
        ] {
            endings::check("papara", option, path.as_deref(), written)?;
        }
        endings::check_plain("--checkpoint", args.checkpoint.as_deref())?;
        let is_phylip = format == PlacedFormatName::Phylip;
        let format = PlacedFormat { is_phylip, keep_length: args.keep_length, reads_only: args.split };
        Ok(Papara {
            tree: args.tree,
            reference: args.reference,
            reads: args.reads,
            alphabet,
            strand,
            gap_model: match args.gap_model {
                GapModelName::Cgap => GapModel::Parsimony,
                GapModelName::Pgap if args.cgap => GapModel::Parsimony,
                GapModelName::Pgap => GapModel::Likelihood,
            },
            scheme,
            format,
            files,
            table: args.table,
            jplace: args.jplace,
            tree_out: args.tree_out,
            checkpoint: args.checkpoint,
            exhaustive: args.exhaustive,
            compute,
            request: JobRequest::default(),
        })
    }
}

/// Returns the file of a run with this name, as PaPaRa calls it.
fn in_papara(name: &str) -> Result<PathBuf> {
    if name.is_empty() || name.contains(std::path::is_separator) {
        return Err(Error::usage(format!("--run-name '{name}': must be a part of a file name, as in run1")));
    }
    Ok(PathBuf::from(format!("papara_alignment.{name}")))
}

/// Returns the named scheme with the given scores.
fn scheme(args: &PaparaArgs) -> Result<PhyloScheme> {
    let mut scheme = match args.scoring {
        Some(PhyloScoringName::Paper) => PhyloScheme::paper(),
        Some(PhyloScoringName::Papara) | None => PhyloScheme::papara(),
    };
    let numbers = [args.matching, args.mismatch, args.gap_open, args.gap_extend, args.gap_site];
    if let Some(typed) = &args.parameters {
        if numbers.iter().any(Option::is_some) || args.scoring.is_some() {
            return Err(Error::usage("--parameters sets all scores: remove it, or the other options of scores"));
        }
        let wrong = || {
            let exceeds = |number: &str| number.parse::<i128>().is_ok() && number.parse::<i32>().is_err();
            let is_range_exceeded = typed.split(':').any(exceeds);
            let range = if is_range_exceeded { format!(" from {} to {}", i32::MIN, i32::MAX) } else { String::new() };
            Error::usage(format!("--parameters {typed}: must be four whole numbers{range}, as in -3:-1:2:-3"))
        };
        let numbers: Vec<i32> =
            typed.split(':').map(|number| number.parse().map_err(|_| wrong())).collect::<Result<_>>()?;
        let [open, extend, matching, gap_site] = numbers[..] else { return Err(wrong()) };
        if open > 0 || extend > 0 || gap_site > 0 {
            return Err(Error::usage(format!(
                "--parameters {typed}: the scores of gaps and gap sites must be 0 or less"
            )));
        }
        if open > extend {
            return Err(Error::usage(format!(
                "--parameters {typed}: the first symbol of a gap must cost at least as much as each further one"
            )));
        }
        let gaps = Gaps::from_emboss(open.saturating_neg(), extend.saturating_neg());
        scheme = PhyloScheme {
            matching,
            gap_site: gap_site.saturating_neg(),
            deletion: gaps,
            insertion: gaps,
            ..PhyloScheme::papara()
        };
    }
    scheme.matching = args.matching.unwrap_or(scheme.matching);
    scheme.mismatch = args.mismatch.unwrap_or(scheme.mismatch);
    scheme.gap_site = args.gap_site.unwrap_or(scheme.gap_site);
    if args.gap_open.is_some() || args.gap_extend.is_some() {
        let of = |gaps: Gaps| {
            Gaps::from_blast(args.gap_open.unwrap_or(gaps.opening()), args.gap_extend.unwrap_or(gaps.next))
        };
        (scheme.deletion, scheme.insertion) = (of(scheme.deletion), of(scheme.insertion));
    }
    scheme.validate()?;
    Ok(scheme)
}
