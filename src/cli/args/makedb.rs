//! Arguments of `pairwave makedb` and `dbinfo`.

use crate::cli::args::headings::OUTPUT;
use crate::cli::args::help::with_first_paragraph;
use crate::cli::args::input::LettersArgs;
use crate::cli::args::output::{JsonArgs, OutputArgs};
use clap::{Arg, ValueHint};
use std::path::PathBuf;

/// Make a database that 'pairwave search' opens without reading and sorting the sequences again
///
/// A database holds all sequences with their names and descriptions, packed and sorted by length. A
/// search maps it into memory, so a database may be larger than the memory. Equal input gives equal
/// bytes.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave makedb [OPTIONS] <SEQS>... --output <DB>", after_long_help = MAKEDB_EXAMPLES)]
#[command(mut_arg("output", as_in_makedb))]
pub(crate) struct MakeDbArgs {
    /// Sequences: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub seqs: Vec<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Use at most this much memory for sequences, as in 8G or 512M [default: 1G]
    ///
    /// The size is a number of bytes, or a number with K, M, G or T for powers of 1024; at least
    /// 16M. Sequences that do not fit are sorted in parts, in temporary files in the directory of
    /// DB that take as much space as DB. The limit does not change the database.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory: Option<String>,
}

/// Adapts the option that names the output to `pairwave makedb`.
fn as_in_makedb(output: Arg) -> Arg {
    let output = output.value_name("DB").required(true);
    with_first_paragraph(output, "Write the database to this file, by convention NAME.pwdb")
}

/// Describe a database, verify it, or write its sequences as FASTA
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave dbinfo [OPTIONS] <DB>", after_long_help = DBINFO_EXAMPLES)]
#[command(mut_arg("json", |arg| arg.help_heading(OUTPUT).conflicts_with("fasta")))]
pub(crate) struct DbInfoArgs {
    /// Database made by 'pairwave makedb'
    #[arg(value_hint = ValueHint::FilePath)]
    pub db: PathBuf,

    /// Read the whole database and check that it is intact
    #[arg(long, conflicts_with = "fasta")]
    pub verify: bool,

    #[command(flatten)]
    pub written: JsonArgs,

    /// Write the sequences as FASTA in input order, in capitals, with T for U in nucleotides
    #[arg(long, help_heading = OUTPUT)]
    pub fasta: bool,

    /// Write the sequences with this name as FASTA; repeat the option for further names
    ///
    /// The sequences are written in the order of the names, and sequences with the same name in
    /// input order. A name is the header up to the first blank.
    #[arg(long, value_name = "NAME", help_heading = OUTPUT, conflicts_with_all = ["fasta", "json", "verify"])]
    pub entry: Vec<String>,

    /// Write the sequences with the names in this file, one in each line, as --entry does; - is
    /// standard input
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["fasta", "json", "verify"])]
    pub entries: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}

const MAKEDB_EXAMPLES: &str = "\
Examples:
  Make a database of proteins:
    pairwave makedb proteins.fa -o proteins.pwdb
  Make one database of several files:
    pairwave makedb a.fa.gz b.fa.gz -o genomes.pwdb --alphabet dna";

const DBINFO_EXAMPLES: &str = "\
Examples:
  Describe a database and check that it is intact:
    pairwave dbinfo proteins.pwdb --verify
  Write the sequences as FASTA:
    pairwave dbinfo proteins.pwdb --fasta -o proteins.fa.gz
  Write two of the sequences:
    pairwave dbinfo proteins.pwdb --entry P06787 --entry P62203 -o two.fa";
