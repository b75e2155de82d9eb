//! FASTA and FASTQ readers (needletail), plain or compressed, with errors that name file, record, line and column.

use super::alphabet::Alphabet;
use super::store::SequenceStore;
use crate::error::Result;

/// How the alphabet is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlphabetChoice {
    /// From the letters of all records.
    #[default]
    Detect,
    /// As said.
    Fixed(Alphabet),
}

/// How input is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The alphabet.
    pub alphabet: AlphabetChoice,
}

/// Reads every file into a store of its own; all stores get the same alphabet. `-` is standard input.
///
/// Warnings (duplicate names, ...) go through [`tracing::warn!`].
pub fn read_files(paths: &[&str], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    let _ = (paths, options);
    todo!()
}
