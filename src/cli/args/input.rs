//! Arguments that describe sequences, for every command that reads them.

use clap::ValueEnum;

// Plain comments: clap would take a doc comment as the help of the command.
// Alphabet and gaps of the input.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct LettersArgs {
    #[command(flatten)]
    pub alphabet: AlphabetArgs,

    #[command(flatten)]
    pub gaps: GapArgs,
}

// Alphabet of the input.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct AlphabetArgs {
    /// Interpret the sequences as this alphabet [default: detected from all letters]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<AlphabetName>,
}

// Gaps of the input.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct GapArgs {
    /// Remove gaps (-, . and ~) from aligned sequences instead of rejecting them
    #[arg(long)]
    pub degap: bool,
}

// Strands of the queries.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct StrandArgs {
    /// Align this strand of each query; DNA and RNA only [default: plus]
    ///
    /// With 'both', pairwave writes the better-scoring strand of each pair, the plus strand if the
    /// scores are equal. 'both' takes twice the time. Positions refer to the sequences as read.
    #[arg(long, value_name = "STRAND", value_enum, ignore_case = true)]
    pub strand: Option<StrandName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlphabetName {
    /// DNA with the IUPAC codes
    Dna,
    /// RNA with the IUPAC codes; U and T are the same letter
    Rna,
    /// Amino acids with B, Z, X, U, O, J and *
    Protein,
    /// Parsed only so that the error can name the command that supports it
    #[value(hide = true)]
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrandName {
    /// Query as read
    #[value(alias = "forward")]
    Plus,
    /// Reverse complement of the query
    #[value(alias = "reverse")]
    Minus,
    /// Better one of the two
    Both,
}
