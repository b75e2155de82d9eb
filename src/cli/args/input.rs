//! Sequences as they are typed: the same for every command that reads them.

use clap::ValueEnum;

// Not a comment of documentation: clap would make it that of the command.
// What letters mean.
#[derive(Debug, Clone, Copy, clap::Args, Default)]
pub(crate) struct LettersArgs {
    /// Kind of sequences [default: detected from the letters of all of them]
    #[arg(long, value_name = "ALPHABET", value_enum, ignore_case = true)]
    pub alphabet: Option<AlphabetName>,

    /// Take gaps (-, . and ~) out of aligned sequences instead of refusing them
    #[arg(long)]
    pub degap: bool,
}

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
pub enum StrandName {
    /// The query as it is
    #[value(alias = "forward")]
    Plus,
    /// Its reverse complement
    #[value(alias = "reverse")]
    Minus,
    /// Whichever is more alike
    Both,
}
