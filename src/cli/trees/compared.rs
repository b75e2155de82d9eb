//! Options and input that trees and distances share. The input is sequences, or rows of an
//! alignment.

use crate::cli::args::{ColumnArgs, PairScoringArgs, SequencesArgs};
use crate::cli::common::plot::PlotFile;
use crate::cli::common::{ComputeOptions, OutputFiles};
use crate::cli::msa::{SequenceFile, SequenceSet};
use crate::cli::runner::Files;
use bstr::BString;
use pairwave::clustal::ClustalCosts;
use pairwave::error::InputLocation;
use pairwave::jobs::msa::PairDistance;
use pairwave::seq::aligned::aligned_code;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{AlignedRows, Alphabet, Code, PAD};
use pairwave::tree::{Distances, RowComparison, UnreliablePairs};
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Validated options that `pairwave tree` and `pairwave dist` share.
#[derive(Debug)]
pub(super) struct ComparisonOptions {
    pub source: SequenceFile,
    /// Comparison of columns, if the sequences are aligned.
    pub columns: Option<RowComparison>,
    pub distance: PairDistance,
    pub pairs: PairScoringArgs,
    pub files: OutputFiles,
    pub plot: Option<PlotFile>,
    pub compute: ComputeOptions,
}

impl ComparisonOptions {
    /// Returns the output files.
    pub(super) fn output_files(&self) -> Files<'_> {
        Files::new(&self.files, self.plot.as_ref().map(|plot| plot.path.as_path()))
    }

    /// Returns the first given option that names an output file besides the results.
    pub(super) fn other_output(&self) -> Option<&'static str> {
        self.plot.as_ref().map(|_| "--plot")
    }

    /// Returns the paths of the input files as typed.
    pub(super) fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.source.path), self.pairs.matrix_file()].into_iter().flatten().collect()
    }

    /// Reads the input.
    pub(super) fn read(&self) -> Result<Compared> {
        if self.columns.is_some() {
            return Ok(Compared::Rows(CodedRows::read(&self.source.path, self.source.options.alphabet)?));
        }
        Ok(Compared::Sequences(self.source.read()?))
    }

    /// Returns the costs of ClustalW's distances of sequences.
    pub(super) fn costs(&self, sequences: &SequenceSet) -> Result<Arc<ClustalCosts>> {
        self.pairs.costs(sequences.store.alphabet(), 0.5)
    }
}

/// Sequences or aligned rows that are compared.
pub(in crate::cli) enum Compared {
    Sequences(SequenceSet),
    Rows(CodedRows),
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
            let location = InputLocation::in_file(&self.file);
            let left = if comparison.without_gaps { " that --no-gap-columns keeps" } else { "" };
            tracing::warn!(
                "{location}: {} of {pairs} pairs of rows have no residues in common columns{left}: their distance counts as 0, as \
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
        if self.aligned && input.letters.gaps.degap {
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
