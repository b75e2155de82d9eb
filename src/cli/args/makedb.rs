//! What was typed after `pairwave makedb` and `dbinfo`.

use crate::cli::args::headings::OUTPUT;
use crate::cli::args::input::LettersArgs;
use crate::cli::args::output::OutputArgs;
use clap::ValueHint;
use std::path::PathBuf;

/// Make a database of sequences, which a search need not read and sort again
///
/// The database has all sequences, their names and descriptions, packed and sorted by length. A search maps it into memory, so it
/// may be larger than that. The same input makes the same bytes.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave makedb [OPTIONS] <SEQS>... --output <DB>", after_long_help = MAKEDB_EXAMPLES)]
pub(crate) struct MakeDbArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub seqs: Vec<PathBuf>,

    /// Where to write, by convention NAME.pwdb. The file appears when it is whole
    #[arg(short, long, value_name = "DB", required = true, help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Memory for sequences, as in 8G or 512M [default: 1G]
    ///
    /// Bytes, or a number with K, M, G or T for powers of 1024; at least 16M. What does not fit is sorted in parts that wait
    /// on disk, in the directory of DB: as much as DB takes in the end. It does not change what is written.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory: Option<String>,
}

/// Say what is in a database, check it, or make FASTA of it
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave dbinfo [OPTIONS] <DB>", after_long_help = DBINFO_EXAMPLES)]
pub(crate) struct DbInfoArgs {
    /// The database, of 'pairwave makedb'
    #[arg(value_hint = ValueHint::FilePath)]
    pub db: PathBuf,

    /// Read all of it, and say whether it is as it was written
    #[arg(long, conflicts_with = "fasta")]
    pub verify: bool,

    /// Write JSON
    #[arg(long, help_heading = OUTPUT, conflicts_with = "fasta")]
    pub json: bool,

    /// Write the sequences instead, as FASTA in the order of the input. Letters are capitals, and U in nucleotides is T
    #[arg(long, help_heading = OUTPUT)]
    pub fasta: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

const MAKEDB_EXAMPLES: &str = "\
Examples:
  A database of proteins:
    pairwave makedb proteins.fa -o proteins.pwdb
  One of several files, as if they were one:
    pairwave makedb a.fa.gz b.fa.gz -o genomes.pwdb --alphabet dna";

const DBINFO_EXAMPLES: &str = "\
Examples:
  What is in it, and whether it is whole:
    pairwave dbinfo proteins.pwdb --verify
  The sequences again:
    pairwave dbinfo proteins.pwdb --fasta -o proteins.fa.gz";
