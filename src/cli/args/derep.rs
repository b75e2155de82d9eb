//! Arguments of `pairwave derep`.

use crate::cli::args::headings::{COMPUTING, OUTPUT};
use crate::cli::args::help::{with_first_paragraph, with_help};
use crate::cli::args::input::LettersArgs;
use crate::cli::args::machine::ThreadsArgs;
use crate::cli::args::output::OutputArgs;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Dereplicate reads: write each different sequence once, with its abundance
///
/// Names can state abundances (;size=12) and samples (;sample=A or ;barcodelabel=A). A sequence
/// gets the name of its most abundant read and the sum of all abundances. Reads without ;size=
/// count once. Case, and U or T, make no difference. Sequences are sorted by abundance, length
/// (both descending) and symbols. The result does not depend on the order of the reads.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pairwave derep [OPTIONS] <READS>...", after_long_help = EXAMPLES)]
#[command(mut_args(as_in_derep))]
pub(crate) struct DerepArgs {
    /// Reads: FASTA or FASTQ, plain or compressed (gz, bz2, xz, zst); - is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub reads: Vec<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub letters: LettersArgs,

    /// Join reads that are identical on this strand [default: plus]
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<JoinedStrands>,

    /// Join only reads of the same sample
    ///
    /// The sample of a read is the value of ;sample= or ;barcodelabel= in its name, or else the
    /// letters, digits and underscores at the start of the name. Each sequence is written once for
    /// each sample, with ;sample= in its name. This keeps the abundances that a table of samples
    /// needs.
    #[arg(long)]
    pub by_sample: bool,

    /// Write only sequences with at least this abundance [default: 1]
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub min_size: Option<u64>,

    /// Write all groups of identical reads to this file, in the uc format of vsearch
    ///
    /// The file contains all groups, also those below --min-size, in the order of the sequences. The
    /// names of all reads need additional memory, or space for temporary files. The file appears
    /// only when it is complete.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub uc: Option<PathBuf>,

    /// Use at most this much memory for reads, as in 8G or 512M [default: 2G]
    ///
    /// The size is a number of bytes, or a number with K, M, G or T for powers of 1024; at least
    /// 16M. Sequences that do not fit are sorted in parts, in temporary files in the directory that
    /// the environment variable TMPDIR names. The limit does not change the result.
    #[arg(long, value_name = "SIZE", help_heading = COMPUTING, allow_hyphen_values = true)]
    pub buffer: Option<String>,

    #[command(flatten)]
    pub threads: ThreadsArgs,

    /// Write the numbers of reads and sequences, and the time, to this JSON file
    ///
    /// The file appears only when it is complete.
    #[arg(long, value_name = "FILE", help_heading = COMPUTING, value_hint = ValueHint::FilePath)]
    pub stats: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JoinedStrands {
    /// Reads as in the file
    Plus,
    /// Also reads whose reverse complements are identical; DNA and RNA only
    Both,
}

/// Adapts the options that several commands share to `pairwave derep`.
fn as_in_derep(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "output" => with_first_paragraph(arg, OUTPUT_HELP),
        "alphabet" => with_help(arg, ALPHABET, NOT_DETECTED),
        _ => arg,
    }
}

const OUTPUT_HELP: &str = "\
Write FASTA to this file [default: standard output]; compressed if the name ends in .gz, .zst, .xz or .bz2";
const ALPHABET: &str = "Interpret the reads as this alphabet [default: dna]";
const NOT_DETECTED: &str = "The alphabet is not detected, because the reads are processed as they are read.";

const EXAMPLES: &str = "\
Examples:
  Write the different sequences of two files:
    pairwave derep a.fq.gz b.fq.gz -o unique.fa
  Remove sequences that occur once:
    pairwave derep reads.fa -o unique.fa --min-size 2
  Keep the abundances of samples, then cluster:
    pairwave derep reads.fa --by-sample -o unique.fa
    pairwave cluster unique.fa --min-identity 0.97 --otu-table otus.tsv";
