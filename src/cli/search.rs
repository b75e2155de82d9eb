//! Validated options of `pairwave search`.

mod hits;
mod run;

use super::args::*;
use super::common::rows::{check_evalue, check_fraction, check_score_only};
use super::common::{ComputeOptions, OutputFiles, check_others, check_standard, check_strand};
use super::endings;
use super::scoring::ScoringChoice;
use pairwave::jobs::EditFilter;
use pairwave::output::search::{HitPart, SearchFormat};
use pairwave::output::{Field, SEARCH_FIELDS};
use pairwave::score::{CoverageFilter, Mode, Scoring};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, Strands};
use pairwave::{Error, Result};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Default scheme for nucleotides.
const OF_NUCLEOTIDES: &str = "blastn";

/// Queries to search in a database.
#[derive(Debug)]
pub(super) struct SearchOptions {
    /// File of queries; `-` is standard input.
    pub queries: PathBuf,
    pub db: PathBuf,
    pub read: ReadOptions,
    /// Scoring options for nucleotides, and for proteins.
    scoring: [ScoringChoice; 2],
    /// Strands to align; `None` is both for nucleotides, and the only strand of proteins.
    pub strand: Option<Strands>,
    pub selection: SearchSelection,
    pub format: FormatChoice,
    pub files: OutputFiles,
    /// File for an HTML page of the hits.
    pub report: Option<PathBuf>,
    /// File for the sequences of the hits.
    pub hits_fasta: Option<HitsFile>,
    pub compute: ComputeOptions,
    /// Command line that results record.
    command: String,
}

/// File for the sequences of the hits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HitsFile {
    pub path: PathBuf,
    pub part: HitPart,
}

/// Conditions that a written hit must meet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SearchSelection {
    /// Greatest E-value; `None` is the default if E-values exist.
    pub evalue: Option<f64>,
    pub min_score: Option<i64>,
    pub max_hits: Option<NonZeroUsize>,
    /// Most alignments of a query with a sequence; 1 by default.
    pub max_hsps: Option<NonZeroUsize>,
    /// Whether only the hits with the best score of their query are written.
    pub top_hits_only: bool,
    /// Least identity, from 0 to 1.
    pub min_identity: Option<f64>,
    pub query_cover: Option<f64>,
    pub coverage: CoverageFilter,
    pub score_only: bool,
    /// When edit distances exclude pairs before they are scored.
    pub edit_filter: EditFilter,
}

/// Output format. Its default fields depend on the sequences.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FormatChoice {
    pub name: SearchFormatName,
    pub fields: Option<Vec<&'static Field>>,
}

impl TryFrom<SearchArgs> for SearchOptions {
    type Error = Error;

    fn try_from(args: SearchArgs) -> Result<Self> {
        let (queries, db) = files(&args)?;
        let read = ReadOptions::from(args.letters);
        let scheme = args.alignment.scoring.scheme.clone().unwrap_or_else(|| OF_NUCLEOTIDES.into());
        let mut of_nucleotides = args.alignment.clone();
        of_nucleotides.scoring.scheme = Some(scheme);
        let scoring = [ScoringChoice::try_from(&of_nucleotides)?, ScoringChoice::try_from(&args.alignment)?];
        let mode = scoring[0].mode();
        let strand = args.strands.given();
        if let AlphabetChoice::Fixed(alphabet) = read.alphabet {
            resolved(&scoring, alphabet)?;
            check_strand(strand.unwrap_or_default(), alphabet)?;
        }
        let selection = selection(&args, mode)?;
        let format = format(&args, mode)?;
        let compute = ComputeOptions::try_from(&args.compute)?;
        check_score_only(selection.score_only, &[("--check", compute.check, "rescores alignments")])?;
        let inputs = [queries.as_path(), &db];
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        let report = args.report;
        let hits_fasta = sequence_file(args.sequences, selection.score_only)?;
        let sequences = hits_fasta.as_ref().map(|file| file.path.as_path());
        let others = [("--report", report.as_deref()), ("--hits-fasta", sequences)];
        check_others(&others, &inputs, &files.names())?;
        endings::check("search", "--output", files.output.as_deref(), &endings::value_name(format.name))?;
        endings::check("search", "--report", report.as_deref(), "--report")?;
        endings::check("search", "--hits-fasta", sequences, "--hits-fasta")?;
        Ok(SearchOptions {
            queries,
            db,
            read,
            scoring,
            strand,
            selection,
            format,
            files,
            report,
            hits_fasta,
            compute,
            command: String::new(),
        })
    }
}

/// Returns the two input files, given as arguments or with options.
fn files(args: &SearchArgs) -> Result<(PathBuf, PathBuf)> {
    let mut plain = [&args.queries, &args.db].into_iter().flatten().cloned();
    let queries = args.query.clone().or_else(|| plain.next());
    let queries = queries.ok_or_else(|| Error::usage("QUERIES is missing: name a file of queries"))?;
    let db = args.database.clone().or_else(|| plain.next());
    let db = db.ok_or_else(|| Error::usage("DB is missing: name a database or a file of sequences"))?;
    if let Some(more) = plain.next() {
        return Err(Error::usage(format!("'{}': the queries and the database are already given", more.display())));
    }
    check_standard(&[&queries, &db], "QUERIES and DB cannot both be -")?;
    Ok((queries, db))
}

fn resolved(scoring: &[ScoringChoice; 2], alphabet: Alphabet) -> Result<Scoring> {
    scoring[usize::from(alphabet != Alphabet::Dna)].resolve(alphabet)?.scoring()
}

fn selection(args: &SearchArgs, mode: Mode) -> Result<SearchSelection> {
    check_fraction("--min-identity", args.identities.min_identity)?;
    check_fraction("--query-cover", args.query_cover)?;
    check_evalue(args.evalue, mode)?;
    check_score_only(
        args.results.score_only,
        &[
            ("--min-identity", args.identities.min_identity.is_some(), "needs alignments"),
            ("--query-cover", args.query_cover.is_some(), "needs alignments"),
        ],
    )?;
    let positive =
        |hits, option| NonZeroUsize::new(hits).ok_or_else(|| Error::usage(format!("{option} 0 would write nothing")));
    let max_hsps = args.max_hsps.map(|most| positive(most, "--max-hsps")).transpose()?;
    let finds_several = max_hsps.is_some_and(|most| most.get() > 1);
    if finds_several && mode != Mode::Local {
        return Err(Error::usage("--max-hsps: only --mode local finds several alignments of a query and a sequence"));
    }
    check_score_only(args.results.score_only, &[("--max-hsps", finds_several, "needs alignments")])?;
    Ok(SearchSelection {
        evalue: args.evalue,
        min_score: args.scores.min_score,
        max_hits: args.max_target_seqs.map(|most| positive(most, "--max-target-seqs")).transpose()?,
        max_hsps,
        top_hits_only: args.top_hits_only,
        min_identity: args.identities.min_identity,
        query_cover: args.query_cover,
        coverage: args.coverage.filter(args.results.score_only)?,
        score_only: args.results.score_only,
        edit_filter: args.filter.choice(args.identities.min_identity)?,
    })
}

/// Returns the file for the sequences of the hits.
fn sequence_file(args: HitSequencesArgs, score_only: bool) -> Result<Option<HitsFile>> {
    let Some(path) = args.hits_fasta else { return Ok(None) };
    let part = match args.hit_part.unwrap_or_default() {
        HitPartName::Region if score_only => {
            return Err(Error::usage(
                "--hits-fasta writes aligned regions, but --score-only computes none: add --hit-part whole",
            ));
        }
        HitPartName::Region => HitPart::Region { flank: args.flank.unwrap_or(0) },
        HitPartName::Whole if args.flank.is_some() => {
            return Err(Error::usage("--flank extends regions, but --hit-part whole writes whole sequences"));
        }
        HitPartName::Whole => HitPart::Whole,
    };
    Ok(Some(HitsFile { path, part }))
}

fn format(args: &SearchArgs, mode: Mode) -> Result<FormatChoice> {
    let words: Vec<&str> = args.outfmt.iter().flat_map(|words| words.split_whitespace()).collect();
    let (name, list) = match words.split_first() {
        None => (args.format.unwrap_or_default(), args.fields.clone()),
        Some((number, fields)) => {
            let name = match *number {
                "0" => SearchFormatName::Blast0,
                "6" => SearchFormatName::Blast6,
                "7" => SearchFormatName::Blast7,
                _ => {
                    return Err(Error::usage(format!(
                        "--outfmt {number}: must be 0, 6 or 7; --format has further formats"
                    )));
                }
            };
            (name, Some(fields.join(" ")).filter(|fields| !fields.is_empty()))
        }
    };
    let typed = endings::value_name(name);
    let is_table = matches!(name, SearchFormatName::Blast6 | SearchFormatName::Blast7);
    if list.is_some() && !is_table && !matches!(name, SearchFormatName::Tsv | SearchFormatName::Jsonl) {
        return Err(Error::usage(format!(
            "--fields applies only to tsv, jsonl, blast6 and blast7, but the format is {typed}"
        )));
    }
    if mode != Mode::Local && matches!(name, SearchFormatName::Blast7 | SearchFormatName::Blast0) {
        return Err(Error::usage(format!(
            "{typed} applies only to --mode local; use tsv, jsonl, paf or sam for whole sequences"
        )));
    }
    if args.report.is_some() && mode != Mode::Local {
        return Err(Error::usage("--report applies only to --mode local"));
    }
    check_score_only(args.results.score_only, &[("--report", args.report.is_some(), "shows alignments")])?;
    if args.results.score_only && !matches!(name, SearchFormatName::Tsv | SearchFormatName::Jsonl) && list.is_none() {
        return Err(Error::usage(format!(
            "--score-only computes no alignments, but {typed} describes them: use --format tsv or jsonl"
        )));
    }
    let fields = list.map(|list| Field::parse_search_list(&list, args.results.score_only)).transpose()?;
    let lacking = fields.iter().flatten().find(|field| field.needs_significance());
    if let Some(field) = lacking.filter(|_| mode != Mode::Local) {
        return Err(Error::usage(format!("--fields: '{}' exists for local alignments only", field.name)));
    }
    Ok(FormatChoice { name, fields })
}

impl SearchOptions {
    /// Returns whether the search aligns end to end or locally.
    fn mode(&self) -> Mode {
        self.scoring[0].mode()
    }
}

impl FormatChoice {
    /// Returns the format for hits with or without E-values, and for sequences with or without
    /// strands.
    fn resolve(&self, score_only: bool, has_evalues: bool, has_strands: bool, command: &str) -> Result<SearchFormat> {
        let fields = |defaults: Vec<&'static Field>| match &self.fields {
            Some(fields) => match fields.iter().find(|field| !has_evalues && field.needs_significance()) {
                Some(field) => Err(Error::usage(format!(
                    "--fields: '{}' needs statistical parameters, which are not known for these scores and gap costs",
                    field.name
                ))),
                None => Ok(fields.clone()),
            },
            None => {
                let defaults = if has_evalues { defaults } else { Field::without_significance(defaults) };
                Ok(if has_strands { Field::with_strand(defaults, SEARCH_FIELDS) } else { defaults })
            }
        };
        Ok(match self.name {
            SearchFormatName::Tsv => SearchFormat::Tsv(fields(Field::search_tsv_defaults(score_only))?),
            SearchFormatName::Jsonl => SearchFormat::JsonLines(fields(Field::search_json_defaults(score_only))?),
            SearchFormatName::Blast6 | SearchFormatName::Blast7 => {
                let columns = match &self.fields {
                    None => Field::blast_defaults(),
                    Some(_) => fields(Vec::new())?,
                };
                let is_6 = self.name == SearchFormatName::Blast6;
                if is_6 { SearchFormat::Blast6(columns) } else { SearchFormat::Blast7(columns) }
            }
            SearchFormatName::Blast0 => SearchFormat::Blast0,
            SearchFormatName::Paf => SearchFormat::Paf,
            SearchFormatName::Sam => SearchFormat::Sam { command: command.to_owned() },
        })
    }
}
