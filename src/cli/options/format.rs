//! Validated formats of pairs.

use crate::cli::args::{AllPairsArgs, DistanceName, FormatName, ShapeName};
use crate::cli::common::first_given;
use pairwave::output::{Distance, DistanceMatrixShape, FIELDS, Field, PairFormat};
use pairwave::score::Mode;
use pairwave::seq::Strands;
use pairwave::{Error, Result};

/// Returns the format of the rows of aligned pairs.
pub(super) fn format(args: &AllPairsArgs, mode: Mode) -> Result<PairFormat> {
    let name = args.rows.format;
    check_format(args)?;
    if name == FormatName::Phylip {
        check_matrix(args, mode)?;
    }
    let format = match name {
        FormatName::Tsv => PairFormat::Tsv(fields(args, mode, Field::tsv_defaults, Field::local_tsv_defaults)?),
        FormatName::Jsonl => {
            PairFormat::JsonLines(fields(args, mode, Field::json_defaults, Field::local_json_defaults)?)
        }
        FormatName::Blast6 => PairFormat::Blast6,
        FormatName::Paf => PairFormat::Paf,
        FormatName::Sam => PairFormat::Sam { command: String::new() },
        FormatName::Text => PairFormat::Text { width: args.width.columns()? },
        FormatName::Phylip => PairFormat::Phylip {
            distance: args.distance.map_or(Distance::default(), Distance::from),
            shape: args.shape.matrix_shape.map_or(DistanceMatrixShape::default(), DistanceMatrixShape::from),
        },
    };
    check_definition(args, &format)?;
    Ok(format)
}

/// Rejects options that have no effect on the format.
fn check_format(args: &AllPairsArgs) -> Result<()> {
    let (name, typed) = (args.rows.format, args.rows.format_name());
    let has_fields = matches!(name, FormatName::Tsv | FormatName::Jsonl);
    args.rows.check_fields(has_fields)?;
    for (option, given) in
        [("--distance", args.distance.is_some()), ("--matrix-shape", args.shape.matrix_shape.is_some())]
    {
        if given && name != FormatName::Phylip {
            return Err(Error::usage(format!("{option} applies only to --format phylip, but the format is {typed}")));
        }
    }
    args.width.check(name == FormatName::Text, &typed)?;
    args.rows.check_score_only(args.results.score_only, has_fields)
}

/// Rejects options that a matrix of distances cannot show.
fn check_matrix(args: &AllPairsArgs, mode: Mode) -> Result<()> {
    if mode == Mode::Local {
        return Err(Error::usage("--format phylip needs end-to-end alignments: remove --mode local"));
    }
    let filters = [
        ("--min-identity", args.identities.min_identity.is_some()),
        ("--min-score", args.scores.min_score.is_some()),
        ("--max-hits", args.max_hits.is_some()),
        ("--top-hits-only", args.top_hits_only),
    ];
    let coverages = args.coverage.options().map(|(option, given)| (option, given.is_some()));
    if let Some(option) = first_given(&filters).or_else(|| first_given(&coverages)) {
        return Err(Error::usage(format!(
            "{option} would leave holes in the matrix: remove it, because phylip needs every pair"
        )));
    }
    if args.against.is_some() && args.shape.matrix_shape == Some(ShapeName::Lower) {
        return Err(Error::usage(
            "--matrix-shape lower needs a single file: with a second file the matrix is a rectangle",
        ));
    }
    if args.identity.iddef.is_some() && args.distance.is_some_and(|distance| distance != DistanceName::Identity) {
        return Err(Error::usage("--iddef applies only to --distance identity"));
    }
    Ok(())
}

/// Function that returns the default fields, for scores only or not.
type Defaults = fn(bool) -> Vec<&'static Field>;

/// Returns the named fields, or the default fields of the format and the mode.
fn fields(
    args: &AllPairsArgs,
    mode: Mode,
    defaults: Defaults,
    local_defaults: fn() -> Vec<&'static Field>,
) -> Result<Vec<&'static Field>> {
    let is_local = mode == Mode::Local;
    match &args.rows.fields {
        Some(list) => {
            let fields = Field::parse_list(list, args.results.score_only)?;
            match fields.iter().find(|field| is_local && field.needs_whole_sequences()) {
                Some(field) => Err(Error::usage(format!(
                    "--fields: '{}' needs end-to-end alignments, but the mode is local",
                    field.name
                ))),
                None => Ok(fields),
            }
        }
        None => {
            let defaults =
                if is_local && !args.results.score_only { local_defaults() } else { defaults(args.results.score_only) };
            let has_strand = args.strands.given().unwrap_or_default() != Strands::Plus;
            Ok(if has_strand { Field::with_strand(defaults, FIELDS) } else { defaults })
        }
    }
}

/// Rejects `--iddef` if nothing depends on the definition of identity.
fn check_definition(args: &AllPairsArgs, format: &PairFormat) -> Result<()> {
    let shows_identity = match format {
        PairFormat::Tsv(fields) | PairFormat::JsonLines(fields) => {
            fields.iter().any(|field| field.follows_definition())
        }
        PairFormat::Blast6 | PairFormat::Phylip { .. } => true,
        PairFormat::Paf | PairFormat::Bed | PairFormat::Sam { .. } | PairFormat::Text { .. } => false,
    };
    let selects = args.identities.min_identity.is_some() || args.max_hits.is_some() || args.top_hits_only;
    let has_effect = shows_identity || selects;
    if args.identity.iddef.is_some() && !has_effect {
        return Err(Error::usage(format!(
            "--iddef: nothing that {} writes here depends on the definition of identity: remove it",
            args.rows.format_name()
        )));
    }
    Ok(())
}

impl From<DistanceName> for Distance {
    fn from(name: DistanceName) -> Self {
        match name {
            DistanceName::Identity => Distance::Identity,
            DistanceName::Kimura => Distance::Kimura,
            DistanceName::JukesCantor => Distance::JukesCantor,
        }
    }
}

impl From<ShapeName> for DistanceMatrixShape {
    fn from(name: ShapeName) -> Self {
        match name {
            ShapeName::Square => DistanceMatrixShape::Square,
            ShapeName::Lower => DistanceMatrixShape::Lower,
        }
    }
}
