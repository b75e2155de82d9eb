//! Validated options of `pairwave edit`.

mod exact;
mod run;

use self::exact::{Pam, exact_symbols};
use super::args::*;
use super::common::rows::check_fraction;
use super::common::{ComputeOptions, OutputFiles, check_standard, check_strand, max_hits};
use super::endings;
use super::tips::number_instead;
use pairwave::edit::exact::ExactSymbols;
use pairwave::edit::overhang_cost::OverhangCost;
use pairwave::output::{EDIT_FIELDS, EditDefaults, Field, PairFormat};
use pairwave::score::{Ambiguity, EditMode, Equality, Limit};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, Strands};
use pairwave::{Error, Result};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Distances of the pairs of one file, of two files, or of listed candidates.
#[derive(Debug)]
pub(super) struct EditOptions {
    /// File of patterns; `-` is standard input.
    pub patterns: PathBuf,
    pub texts: Option<PathBuf>,
    pub pairs: Option<PathBuf>,
    pub read: ReadOptions,
    pub strand: Strands,
    pub mode: EditMode,
    pub limit: Limit,
    pub equality: EqualityChoice,
    pub max_hits: Option<NonZeroU32>,
    pub all_ends: bool,
    pub all_places: bool,
    pub exact: ExactSymbols,
    pub pam: Option<Pam>,
    pub overhang: Option<f64>,
    pub max_n_fraction: Option<f64>,
    pub align: bool,
    pub format: PairFormat,
    pub files: OutputFiles,
    pub compute: ComputeOptions,
}

/// Rules of equality; `None` is the default for nucleotides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EqualityChoice {
    ambiguity: Option<EditAmbiguityName>,
    n: Option<EditNName>,
}

impl TryFrom<EditArgs> for EditOptions {
    type Error = Error;

    fn try_from(args: EditArgs) -> Result<Self> {
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        let strand = args.strands.given().unwrap_or_default();
        let equality = EqualityChoice::new(args.ambiguity, args.n)?;
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            equality.resolve(alphabet)?;
            check_strand(strand, alphabet)?;
        }
        let mode = EditMode::from(args.mode);
        let limit = args.max_distance.as_deref().map_or(Ok(Limit::None), limit)?;
        let fields = args.rows.fields.as_deref().map(Field::parse_edit_list).transpose()?;
        let contents = RequiredContents::new(&args, fields.as_deref());
        contents.check_ends(&args, mode, limit)?;
        check_places(&args, &contents, limit)?;
        check_nucleotides(&args, alphabet)?;
        let pam = args.pam.as_deref().map(Pam::parse).transpose()?;
        let exact = exact_symbols(args.exact.as_deref(), pam.as_ref())?;
        check_fraction("--max-n-frac", args.max_n_frac)?;
        if args.max_n_frac == Some(1.0) {
            return Err(Error::usage("--max-n-frac 1 drops no place: give a smaller fraction, or remove it"));
        }
        args.overhang.map(OverhangCost::new).transpose()?;
        contents.check_fields(&args, fields.is_some())?;
        check_bytes(&args, alphabet, fields.as_deref())?;
        let format = format(&args, &contents, fields)?;

        let compute = ComputeOptions::try_from(&args.compute)?;
        args.compute.kernels.check_untuned("edit")?;
        let patterns = args.patterns.ok_or_else(|| Error::usage("PATTERNS is missing: name a file of patterns"))?;
        let inputs = [Some(&*patterns), args.texts.as_deref(), args.pairs.as_deref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
        check_standard(&inputs, "only one of PATTERNS, TEXTS and --pairs can be -")?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        endings::check("edit", "--output", files.output.as_deref(), &args.rows.format_name())?;
        Ok(EditOptions {
            patterns,
            texts: args.texts,
            pairs: args.pairs,
            read: ReadOptions { alphabet, degap: args.gaps.degap, lists: args.lists },
            strand,
            mode,
            limit,
            equality,
            max_hits: max_hits(args.max_hits)?,
            all_ends: contents.all_ends,
            all_places: args.all_places,
            exact,
            pam,
            overhang: args.overhang,
            max_n_fraction: args.max_n_frac,
            align: contents.alignment,
            format,
            files,
            compute,
        })
    }
}

/// Returns whether any named field has a property.
fn any_field(fields: Option<&[&'static Field]>, has: fn(&Field) -> bool) -> bool {
    fields.into_iter().flatten().any(|field| has(field))
}

/// Contents of rows that an option, a format or a field requires.
struct RequiredContents {
    all_ends: bool,
    alignment: bool,
    /// Whether a field shows all ends.
    ends_field: bool,
    /// Whether a field needs an alignment.
    alignment_field: bool,
}

impl RequiredContents {
    fn new(args: &EditArgs, fields: Option<&[&'static Field]>) -> Self {
        let ends_field = any_field(fields, Field::needs_all_ends);
        let alignment_field = any_field(fields, Field::needs_alignment);
        RequiredContents {
            all_ends: args.all_ends || ends_field,
            alignment: args.align || args.all_places || !has_fields(args.rows.format) || alignment_field,
            ends_field,
            alignment_field,
        }
    }

    /// Rejects `--all-ends` if there is only one end, or if every symbol is an end.
    fn check_ends(&self, args: &EditArgs, mode: EditMode, limit: Limit) -> Result<()> {
        if !self.all_ends {
            return Ok(());
        }
        let typed = if args.all_ends { "--all-ends" } else { "--fields ends" };
        if mode == EditMode::Global {
            return Err(Error::usage(format!(
                "{typed} applies only to --mode infix or prefix: a global alignment has one end"
            )));
        }
        if limit == Limit::None {
            return Err(Error::usage(format!("{typed} needs --max-distance: without it every symbol is an end")));
        }
        Ok(())
    }

    /// Rejects options that compute values which none of the named fields shows.
    fn check_fields(&self, args: &EditArgs, are_named: bool) -> Result<()> {
        for (option, is_given, is_shown, what) in [
            ("--align", args.align, self.alignment_field, "needs an alignment"),
            ("--all-ends", args.all_ends, self.ends_field, "is 'ends'"),
        ] {
            if is_given && are_named && !is_shown {
                return Err(Error::usage(format!(
                    "{option} with --fields: no listed field {what}: remove one of the two options"
                )));
            }
        }
        Ok(())
    }
}

/// Rejects `--all-places` if it has no effect, and options that have no effect with it.
fn check_places(args: &EditArgs, contents: &RequiredContents, limit: Limit) -> Result<()> {
    let wrong = |what: &str| Err(Error::usage(format!("--all-places {what}")));
    let for_places = [
        ("--exact", args.exact.is_some()),
        ("--pam", args.pam.is_some()),
        ("--overhang", args.overhang.is_some()),
        ("--max-n-frac", args.max_n_frac.is_some()),
    ];
    if let Some((option, _)) = for_places.iter().find(|(_, is_given)| *is_given)
        && !args.all_places
    {
        return Err(Error::usage(format!(
            "{option} applies only to --all-places: add --all-places or remove {option}"
        )));
    }
    match args {
        _ if !args.all_places => Ok(()),
        _ if args.mode != EditModeName::Infix => wrong("needs --mode infix: places are parts of a text"),
        _ if limit == Limit::None => wrong("needs --max-distance: without it every part of a text is a place"),
        _ if args.pairs.is_some() => wrong("with --pairs: places are sought in whole texts; remove one of them"),
        _ if args.texts.is_none() && args.patterns.is_some() => wrong("needs TEXTS: name a file to search in"),
        _ if args.max_hits.is_some() => wrong("with --max-hits: it selects pairs, not places; remove one of them"),
        _ if contents.ends_field => wrong("with --fields ends: every place has one end; remove one of them"),
        _ if args.all_ends => wrong("with --all-ends: every place has one end; remove one of them"),
        _ if args.align => wrong("with --align: places are always aligned; remove --align"),
        _ => Ok(()),
    }
}

/// Rejects options that apply only to nucleotides.
fn check_nucleotides(args: &EditArgs, alphabet: AlphabetChoice) -> Result<()> {
    let AlphabetChoice::Fixed(alphabet) = alphabet else { return Ok(()) };
    for (option, is_given) in [("--pam", args.pam.is_some()), ("--max-n-frac", args.max_n_frac.is_some())] {
        if is_given && alphabet != Alphabet::Dna {
            return Err(Error::usage(format!(
                "{option} applies only to nucleotides: remove it, or use --alphabet dna"
            )));
        }
    }
    Ok(())
}

/// Rejects options that the alphabet 'bytes' does not support.
fn check_bytes(args: &EditArgs, alphabet: AlphabetChoice, fields: Option<&[&'static Field]>) -> Result<()> {
    if alphabet != AlphabetChoice::Fixed(Alphabet::Bytes) {
        return Ok(());
    }
    if args.gaps.degap {
        return Err(Error::usage("--degap: the alphabet 'bytes' has no gaps; remove it"));
    }
    if any_field(fields, Field::shows_letters) {
        return Err(Error::usage(
            "--fields: aligned rows of arbitrary bytes could break the table; use cigar, or --alphabet dna or protein",
        ));
    }
    Ok(())
}

/// Returns the format with the named fields, or with its default fields.
fn format(args: &EditArgs, contents: &RequiredContents, fields: Option<Vec<&'static Field>>) -> Result<PairFormat> {
    let defaults = EditDefaults {
        regions: args.pairs.is_some(),
        parts: args.mode != EditModeName::Global,
        aligned: contents.alignment,
        ends: contents.all_ends,
        overhang: args.overhang.is_some(),
    };
    let fields = fields.unwrap_or_else(|| match args.strands.given().unwrap_or_default() {
        Strands::Plus => defaults.fields(),
        Strands::Minus | Strands::Both => Field::with_strand(defaults.fields(), EDIT_FIELDS),
    });
    let (name, typed) = (args.rows.format, args.rows.format_name());
    args.rows.check_fields(has_fields(name))?;
    if contents.all_ends && !has_fields(name) {
        return Err(Error::usage(format!("--all-ends: a line of {typed} holds only one end; use tsv or jsonl")));
    }
    let is_positioned = matches!(name, EditFormatName::Bed | EditFormatName::Sam);
    if is_positioned && args.mode == EditModeName::Global {
        return Err(Error::usage(format!(
            "--format {typed} applies only to --mode infix or prefix: it describes parts of texts"
        )));
    }
    Ok(match name {
        EditFormatName::Tsv => PairFormat::Tsv(fields),
        EditFormatName::Jsonl => PairFormat::JsonLines(fields),
        EditFormatName::Paf => PairFormat::Paf,
        EditFormatName::Bed => PairFormat::Bed,
        EditFormatName::Sam => PairFormat::Sam { command: String::new() },
    })
}

/// Returns whether `--fields` selects the fields of a format. The other formats need alignments.
fn has_fields(format: EditFormatName) -> bool {
    matches!(format, EditFormatName::Tsv | EditFormatName::Jsonl)
}

/// Parses a number of edits, or with a decimal point a rate.
fn limit(typed: &str) -> Result<Limit> {
    let wrong = |why: &str| {
        if let Some(advice) = number_instead("--max-distance <RATE>", typed) {
            return Err(Error::usage(format!("--max-distance {typed}: {why}; {advice}")));
        }
        Err(Error::usage(format!(
            "--max-distance {typed}: {why}; give a number of edits, as in 5, or a rate with a decimal point, as in 0.05"
        )))
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(typed) {
        return typed.parse().map_or_else(|_| wrong("no sequence is that long"), |edits| Ok(Limit::Distance(edits)));
    }
    let digits = typed.replacen('.', "", 1);
    match typed.parse::<f64>() {
        Ok(rate) if typed.contains('.') && is_number(&digits) => {
            if rate <= 1.0 {
                Ok(Limit::Rate(rate))
            } else {
                wrong("rates are from 0 to 1")
            }
        }
        _ => wrong("this is neither a number of edits nor a rate"),
    }
}

impl EqualityChoice {
    fn new(ambiguity: Option<EditAmbiguityName>, n: Option<EditNName>) -> Result<Self> {
        match (ambiguity, n) {
            (Some(EditAmbiguityName::Literal), Some(_)) => {
                Err(Error::usage("--n with --ambiguity literal: N is then an ordinary letter: remove one of them"))
            }
            (Some(EditAmbiguityName::Mismatch), Some(n)) => Err(Error::usage(format!(
                "--n {} with --ambiguity mismatch: N is ambiguous and then equals nothing: remove one of them",
                endings::value_name(n)
            ))),
            _ => Ok(EqualityChoice { ambiguity, n }),
        }
    }

    /// Returns the rules of equality for this alphabet.
    fn resolve(self, alphabet: Alphabet) -> Result<Equality> {
        let rule = match (alphabet, self.ambiguity) {
            (Alphabet::Dna, None | Some(EditAmbiguityName::Overlap)) => Ambiguity::Overlap,
            (Alphabet::Dna, Some(EditAmbiguityName::Mismatch)) => Ambiguity::Mismatch,
            (Alphabet::Dna, Some(EditAmbiguityName::Literal)) => return Ok(Equality::literal(alphabet)),
            (Alphabet::Protein | Alphabet::Bytes, None) if self.n.is_none() => return Ok(Equality::literal(alphabet)),
            (Alphabet::Protein | Alphabet::Bytes, _) => {
                let what = if alphabet == Alphabet::Protein { "proteins" } else { "bytes" };
                return Err(Error::usage(format!(
                    "--ambiguity and --n apply only to nucleotides, but the sequences are {what}; remove them, or \
            use --alphabet dna if the sequences are nucleotides"
                )));
            }
        };
        Ok(Equality::dna(rule, self.n != Some(EditNName::Mismatch)))
    }
}

impl From<EditModeName> for EditMode {
    fn from(name: EditModeName) -> Self {
        match name {
            EditModeName::Global => EditMode::Global,
            EditModeName::Infix => EditMode::Infix,
            EditModeName::Prefix => EditMode::Prefix,
        }
    }
}

impl From<EditAlphabetName> for AlphabetChoice {
    fn from(name: EditAlphabetName) -> Self {
        AlphabetChoice::Fixed(match name {
            EditAlphabetName::Dna | EditAlphabetName::Rna => Alphabet::Dna,
            EditAlphabetName::Protein => Alphabet::Protein,
            EditAlphabetName::Bytes => Alphabet::Bytes,
        })
    }
}
