//! What was typed. Nothing is checked here but that numbers are numbers; [`super::options`] says what is valid.

mod bench;
mod blocks;
mod edit;
mod long;
mod makedb;
mod mpi;
mod msa;
mod pairs;
mod papara;
mod request;
mod search;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};
use pairwave::score::SCHEMES;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) use bench::*;
pub(super) use blocks::*;
pub(super) use edit::*;
pub(super) use long::*;
pub(super) use makedb::*;
pub(super) use mpi::*;
pub(super) use msa::*;
pub(super) use pairs::*;
pub(super) use papara::*;
pub(super) use request::{LAYOUT, Request};
pub(super) use search::*;

const QUIET: &str = "Print errors only: no progress, no summary, no warnings";
/// Behind all other options.
const QUIET_ORDER: usize = 900;

/// Exact sequence alignment on any GPU, on CPUs, and on both at once.
#[derive(Debug, Parser)]
#[command(name = "pairwave", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Results go to standard output or to --output; progress and warnings go to standard error.")]
pub(super) struct Args {
    #[arg(short, long, global = true, display_order = QUIET_ORDER, help = QUIET)]
    pub quiet: bool,

    /// Say more of what is done: which devices and kernels, what was measured
    #[arg(short, long, global = true, display_order = 901, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Print how to cite pairwave and the work it stands on
    #[arg(long)]
    pub citation: bool,

    #[command(subcommand)]
    pub command: Option<Command>,

    /// All words, the program's name first.
    #[arg(skip)]
    pub typed: Vec<OsString>,

    /// The arguments of the command.
    #[arg(skip)]
    pub request: Request,
}

impl Args {
    /// From the words of a command line.
    pub(super) fn of(typed: Vec<OsString>) -> Result<Self, clap::Error> {
        let program = Args::command();
        let matches = program.clone().try_get_matches_from(&typed)?;
        let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut Args::command()))?;
        Ok(Args { typed, request: Request::of(&program, &matches), ..args })
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Allpairs(Box<AllPairsArgs>),
    Search(Box<SearchArgs>),
    Pairs(Box<PairsArgs>),
    Edit(Box<EditArgs>),
    Long(Box<LongArgs>),
    Papara(Box<PaparaArgs>),
    Msa(Box<MsaArgs>),
    Tree(Box<TreeArgs>),
    Dist(Box<DistArgs>),
    Plan(Box<PlanArgs>),
    Run(Box<RunArgs>),
    Merge(MergeArgs),
    Mpi(Box<MpiArgs>),
    Makedb(MakeDbArgs),
    Dbinfo(DbInfoArgs),
    Devices(DevicesArgs),
    Bench(Box<BenchArgs>),
    /// Write shell completions to standard output
    Completions {
        /// The shell to write them for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages: one file each into a directory, or all of them to standard output
    Man {
        /// Directory for the pages; it is made if there is none
        #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        directory: Option<PathBuf>,
    },
}

/// Align all pairs of sequences, as wholes or their best parts
///
/// Every sequence is aligned with every later one of the file, or with every one of another file: over
/// their whole length, or with --mode local the two parts of them that score most. Scores, alignments and the order of the output do not depend on the devices that compute them.
#[derive(Debug, clap::Args, Default)]
#[command(override_usage = "pairwave allpairs [OPTIONS] <SEQS> [OTHER]", after_long_help = ALLPAIRS_EXAMPLES)]
pub(super) struct AllPairsArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required_unless_present_any = ["fields", "scheme"], value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    /// Align every sequence of SEQS with every sequence of this file instead of with each other
    #[arg(value_hint = ValueHint::FilePath)]
    pub other: Option<PathBuf>,

    /// The same as OTHER
    #[arg(long, value_name = "OTHER", value_hint = ValueHint::FilePath, conflicts_with = "other")]
    pub against: Option<PathBuf>,

    /// Kind of sequences [default: detected from the letters of all of them]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<AlphabetName>,

    /// Take gaps (-, . and ~) out of aligned sequences instead of refusing them
    #[arg(long)]
    pub degap: bool,

    /// Which strand of each query is aligned with the targets; DNA and RNA only [default: plus]
    ///
    /// Of both strands of a pair that reach --min-identity and --min-score the one that scores more is written, the plus
    /// strand if they score the same. Both take twice the time. Positions are those of the sequences as they were read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,

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

    /// Write only pairs of at least this identity, a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_identity: Option<f64>,

    /// Write only pairs of at least this score
    #[arg(long, value_name = "SCORE", help_heading = SELECTION, allow_negative_numbers = true)]
    pub min_score: Option<i64>,

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

    /// Write at most this many pairs for each query: the best by identity, then by score, then by input order (with
    /// --mode local by score first). What is left stays in input order
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub max_hits: Option<u32>,

    /// Compute scores only, no alignments
    #[arg(long, help_heading = SELECTION)]
    pub score_only: bool,

    /// Where to write [default: standard output]; compressed if the name ends in .gz, .zst, .xz or .bz2. The
    /// file appears when it is whole
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// What to write
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: FormatName,

    /// Fields of tsv and jsonl, separated by commas; --fields help lists them
    ///
    /// The default of tsv is query,target,identity,score,matches,columns,gaps,query_length,target_length, and
    /// query,target,score with --score-only; with --mode local query_start, query_end, target_start and target_end stand
    /// before the lengths, and with --strand minus or both strand stands after target. vsearch's and BLAST's names of fields are
    /// understood too, and give what these programs print: identity is a fraction with six digits, id and pident are
    /// percentages. Positions count from 1 and include the last.
    #[arg(long, value_name = "LIST", help_heading = OUTPUT)]
    pub fields: Option<String>,

    /// Columns of an alignment in a block of text [default: 60]
    #[arg(long, value_name = "COLUMNS", help_heading = OUTPUT)]
    pub width: Option<u32>,

    /// Distance in a phylip matrix [default: identity]
    #[arg(long, value_name = "DISTANCE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub distance: Option<DistanceName>,

    /// Shape of a phylip matrix [default: square]
    #[arg(long, value_name = "SHAPE", help_heading = OUTPUT, value_enum, ignore_case = true)]
    pub matrix_shape: Option<ShapeName>,

    /// Leave out pairs whose edit distance rules --min-identity out, before they are scored [default: auto]
    ///
    /// It never changes what is written.
    #[arg(long, value_name = "WHEN", help_heading = COMPUTING, value_enum, ignore_case = true)]
    pub edit_filter: Option<EditFilterName>,

    #[command(flatten)]
    pub compute: ComputeArgs,
}

// Not a comment of documentation: clap would make it that of the command.
// How symbols and gaps are scored: the same for every job that computes scores.
#[derive(Debug, Clone, clap::Args, Default)]
pub(super) struct ScoringArgs {
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
    pub(super) fn lists_schemes(&self) -> bool {
        self.scheme.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("help"))
    }
}

/// The names of schemes, and 'help'.
fn schemes() -> PossibleValuesParser {
    let names = SCHEMES.iter().map(|scheme| PossibleValue::new(scheme.name).help(scheme.source));
    PossibleValuesParser::new(names.chain([PossibleValue::new("help").help("List the schemes")]))
}

// As above.
// Who computes, and how: the same for every job of many pairs.
#[derive(Debug, clap::Args, Default)]
pub(super) struct ComputeArgs {
    #[command(flatten)]
    pub machine: MachineArgs,

    /// Kernel to use, by the name that 'pairwave devices --self-test' prints [default: the fastest for these sequences]
    #[arg(long, value_name = "NAME", help_heading = COMPUTING)]
    pub kernel: Option<String>,

    /// Measure anew which settings are fastest on the devices, and remember them
    #[arg(long, help_heading = COMPUTING)]
    pub tune: bool,
}

// As above.
// Who computes, and what it leaves behind: the same for every job.
#[derive(Debug, clap::Args, Default)]
pub(super) struct MachineArgs {
    /// Device to use: its index, a part of its name, its PCI bus id, cpu, or all [default: the best there is]
    ///
    /// May be given several times, or with several devices separated by commas. A part of a name means every GPU that has
    /// it; a bus id or an index means one of them. 'pairwave devices' lists what there is.
    #[arg(long, value_name = "DEVICE", help_heading = COMPUTING, action = ArgAction::Append, value_delimiter = ',')]
    pub device: Vec<String>,

    /// Memory to take on each GPU at most, as in 8G or 512M [default: 70% of a card's, a quarter of a shared one's]
    ///
    /// Bytes, or a number with K, M, G or T for powers of 1024; at least 16M. The limit is that of each device by itself;
    /// one above the default changes nothing.
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub memory: Option<String>,

    /// CPU threads [default: all]
    #[arg(short = 't', visible_short_alias = 'j', long, value_name = "N", help_heading = COMPUTING)]
    pub threads: Option<usize>,

    /// Write what each device did, and what the job took, to this file as JSON. The file appears when it is whole
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,

    /// Rescore every alignment independently and stop at the first whose score is not what was computed
    #[arg(long, help_heading = COMPUTING)]
    pub check: bool,
}

/// Show the devices that can compute
#[derive(Debug, clap::Args, Default)]
pub(super) struct DevicesArgs {
    /// Write JSON
    #[arg(long)]
    pub json: bool,

    /// Run every kernel on every device against a slow and simple reference, and say which pass
    #[arg(long)]
    pub self_test: bool,

    /// Measure every kernel on every device, in GCUPS (1e9 cells of the alignment matrix a second)
    #[arg(long)]
    pub bench: bool,

    /// Device to show: its index, a part of its name, its PCI bus id, cpu, or all [default: all]
    ///
    /// May be given several times, or with several devices separated by commas. A part of a name means every GPU that has
    /// it; a bus id or an index means one of them.
    #[arg(long, value_name = "DEVICE", action = ArgAction::Append, value_delimiter = ',')]
    pub device: Vec<String>,
}

const SCORING: &str = "Scoring";
const SELECTION: &str = "Selection";
const OUTPUT: &str = "Output";
const COMPUTING: &str = "Computing";

const ALLPAIRS_EXAMPLES: &str = "\
Cost of a gap of k symbols: OPEN + k * EXTEND (BLAST's convention)

Examples:
  Pairs of 16S genes of one species, as a table:
    pairwave allpairs genes.fa --min-identity 0.97 -o pairs.tsv.gz
  A distance matrix for a tree:
    pairwave allpairs genes.fa --format phylip --distance jukes-cantor -o genes.phy
  The best five proteins of a second file for each of the first:
    pairwave allpairs queries.fa targets.fa --max-hits 5 --format blast6
  The alignments themselves:
    pairwave allpairs genes.fa --fields query,target,identity,cigar
  Parts of proteins that are alike:
    pairwave allpairs proteins.fa --mode local --min-score 60 --format blast6";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlphabetName {
    /// DNA with the IUPAC codes
    Dna,
    /// The same: U and T are one letter
    Rna,
    /// Amino acids with B, Z, X, U, O, J and *
    Protein,
    /// Understood, so that it can be said where these are
    #[value(hide = true)]
    Bytes,
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
pub(super) enum ModeName {
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
pub(super) enum FormatName {
    /// Tab-separated values with a header line
    #[default]
    #[value(alias = "table", alias = "tab-separated")]
    Tsv,
    /// The twelve columns of BLAST's -outfmt 6; E-value and bit score are -1 and 0
    #[value(alias = "blast-tab", alias = "outfmt6")]
    Blast6,
    /// minimap2's format with the tags NM, AS, de and cg
    #[value(alias = "pairwise-mapping")]
    Paf,
    /// One JSON object a line
    #[value(alias = "json", alias = "json-lines", alias = "ndjson")]
    Jsonl,
    /// The alignments in blocks under each other, for people (as EMBOSS's needle and water have them)
    #[value(alias = "pair", alias = "blocks")]
    Text,
    /// SAM with = and X, soft clips and the tags NM and AS: queries are reads, targets are references; DNA and RNA only
    Sam,
    /// PHYLIP distance matrix
    #[value(alias = "phylip-matrix", alias = "distance-matrix")]
    Phylip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistanceName {
    /// 1 - identity
    Identity,
    /// Nucleotides: two parameters, transitions and transversions (1980); proteins: -ln(1 - p - 0.2 p^2) (1983)
    Kimura,
    /// -b ln(1 - p/b), b = 3/4 for nucleotides and 19/20 for proteins
    #[value(alias = "jc", alias = "jc69")]
    JukesCantor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EditFilterName {
    /// Where it pays: large jobs with a high identity
    Auto,
    /// Wherever an edit distance tells something
    On,
    /// Never
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeName {
    /// The whole matrix
    Square,
    /// The triangle below the diagonal
    Lower,
}
