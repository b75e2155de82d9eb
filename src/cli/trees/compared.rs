//! Input of trees and distances: sequences, or rows of an alignment.

use crate::cli::args::{ColumnArgs, SequencesArgs};
use crate::cli::msa::{SequenceFile, SequenceSet};
use bstr::BString;
use pairwave::error::InputLocation;
use pairwave::seq::aligned::aligned_code;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{AlignedRows, Alphabet, Code, PAD};
use pairwave::tree::{Distances, RowComparison, UnreliablePairs};
use pairwave::{Error, Result};
use std::path::Path;

/// Sequences or aligned rows that are compared.
pub(in crate::cli) enum Compared {
    Sequences(SequenceSet),
    Rows(CodedRows),
}

impl SequenceFile {
    /// Reads sequences, or rows of an alignment if `are_aligned`.
    pub(super) fn compared(&self, are_aligned: bool) -> Result<Compared> {
        if are_aligned {
            return Ok(Compared::Rows(CodedRows::read(&self.path, self.options.alphabet)?));
        }
        Ok(Compared::Sequences(self.read()?))
    }
}

/// Rows of an alignment as codes.
pub(in crate::cli) struct CodedRows {
    file: String,
    pub(super) names: Vec<BString>,
    pub(super) alphabet: Alphabet,
    pub(super) codes: Vec<Vec<Code>>,
}

impl CodedRows {
    fn read(path: &Path, alphabet: AlphabetChoice) -> Result<CodedRows> {
        let rows = AlignedRows::read(path)?;
        let alphabet = rows.check(alphabet)?;
        let code = |&letter: &u8| aligned_code(alphabet, letter).unwrap_or(PAD);
        let codes = rows.rows.iter().map(|row| row.iter().map(code).collect()).collect();
        Ok(CodedRows { file: rows.file, names: rows.names, alphabet, codes })
    }

    pub(super) fn distances(&self, comparison: RowComparison, threads: &rayon::ThreadPool) -> Distances {
        let (distances, doubts) = Distances::from_rows(self.alphabet, &self.codes, comparison, threads);
        let pairs = self.codes.len() * self.codes.len().saturating_sub(1) / 2;
        if let UnreliablePairs { far: far @ 1.., .. } = doubts {
            let most = if self.alphabet == Alphabet::Dna { "3.5" } else { "10" };
            tracing::warn!("--kimura: {far} of {pairs} distances are too large to be corrected and count as {most}");
        }
        if let Some([a, b]) = doubts.first_apart {
            let place = InputLocation::in_file(&self.file);
            let left = if comparison.without_gaps { " that --no-gap-columns keeps" } else { "" };
            tracing::warn!(
                "{place}: {} of {pairs} pairs of rows have no residues in common columns{left}: their distance counts as 0, as \
                 in ClustalW; the first are '{}' and '{}'",
                doubts.apart,
                self.names[a],
                self.names[b]
            );
        }
        distances
    }
}

impl ColumnArgs {
    /// Rejects `--degap` for an alignment.
    pub(super) fn check(&self, input: &SequencesArgs) -> Result<()> {
        if self.aligned && input.letters.degap {
            return Err(Error::usage("--degap with --aligned: an alignment needs its gaps: remove one of them"));
        }
        Ok(())
    }

    /// Returns how columns are compared, if they are.
    pub(super) fn comparison(&self) -> Option<RowComparison> {
        self.aligned.then_some(RowComparison { without_gaps: self.no_gap_columns, kimura: self.kimura })
    }
}

impl Compared {
    /// Returns the sequences, whose distances can be computed in blocks.
    pub(super) fn sequences(&self) -> Result<&SequenceSet> {
        match self {
            Compared::Sequences(sequences) => Ok(sequences),
            Compared::Rows(_) => Err(Error::usage("--aligned: the comparison of columns cannot be split into blocks")),
        }
    }
}
