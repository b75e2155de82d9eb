//! Options and input that trees and distances share. The input is sequences, or rows of an
//! alignment.

use crate::cli::args::{
    ColumnArgs, ComputeArgs, PairDistanceName, PairScoringArgs, SequencesArgs, SubstitutionModelName, TreeMethodName,
};
use crate::cli::common::plot::PlotFile;
use crate::cli::common::{ComputeOptions, OutputFiles, first_idle};
use crate::cli::endings::value_name;
use crate::cli::msa::{SequenceFile, SequenceSet, idle_computing};
use crate::cli::runner::Files;
use bstr::BString;
use clap::ValueEnum;
use pairwave::clustal::ClustalCosts;
use pairwave::error::InputLocation;
use pairwave::jobs::msa::PairDistance;
use pairwave::seq::aligned::aligned_code;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{AlignedRows, Alphabet, Code, PAD};
use pairwave::tree::{
    Correction, Distances, MAX_DISTANCE, ModelKind, RowComparison, SubstitutionModel, TreeRun, UnreliablePairs,
    name_order,
};
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

    /// Returns the options of computing that have no effect on distances of sequences.
    pub(super) fn idle_computing(&self) -> Vec<&'static str> {
        idle_computing(self.distance).to_vec()
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
        if let Some(columns) = self.columns {
            let rows = CodedRows::read(&self.source.path, self.source.options.alphabet)?;
            rows.check_model(columns.correction)?;
            return Ok(Compared::Rows(rows));
        }
        Ok(Compared::Sequences(self.source.read()?))
    }

    /// Returns the costs of ClustalW's distances of sequences.
    pub(super) fn costs(&self, sequences: &SequenceSet) -> Result<Arc<ClustalCosts>> {
        self.pairs.costs(sequences.store.alphabet(), 0.5)
    }
}

/// Rejects options of computing that have no effect. Like k-mers, columns are compared by CPU threads
/// without alignments.
pub(super) fn check_computing(
    compute: &ComputeArgs,
    columns: &ColumnArgs,
    distance: Option<PairDistanceName>,
    tree: Option<TreeMethodName>,
) -> Result<()> {
    let (with, idle) = match distance {
        _ if columns.aligned => ("--aligned".to_owned(), idle_computing(PairDistance::Kmer)),
        _ if tree == Some(TreeMethodName::Mbed) => ("--tree mbed".to_owned(), idle_computing(PairDistance::Kmer)),
        _ => {
            let name = distance.unwrap_or(PairDistanceName::Clustal);
            (format!("--distance {}", value_name(name)), idle_computing(name.into()))
        }
    };
    let machine = &compute.machine;
    let given = [
        ("--device", !machine.device.device.is_empty()),
        ("--memory", machine.memory.is_some()),
        ("--kernel", compute.kernels.kernel.is_some()),
        ("--tune", compute.kernels.tune),
        ("--check", machine.check),
    ];
    match first_idle(&given, idle) {
        Some(option) => Err(Error::usage(format!("{option} has no effect with {with}: remove it"))),
        None => Ok(()),
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

    /// Rejects a model of other letters.
    fn check_model(&self, correction: Correction) -> Result<()> {
        match correction {
            Correction::Model(model) if model.kind.alphabet() != self.alphabet => Err(Error::usage(format!(
                "--model {}: this model is for {}, but the rows of {} are {}: use {} or give --alphabet",
                model_name(model.kind),
                model.kind.alphabet().letters(),
                self.file,
                self.alphabet.letters(),
                if self.alphabet == Alphabet::Dna { "--model gtr" } else { "--model lg" }
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the rows in the order of their names.
    pub(super) fn by_name(mut self) -> CodedRows {
        let order = name_order(&self.names);
        self.codes = order.iter().map(|&row| std::mem::take(&mut self.codes[row])).collect();
        self.names = order.iter().map(|&row| std::mem::take(&mut self.names[row])).collect();
        self
    }

    pub(super) fn distances(&self, comparison: RowComparison, run: TreeRun<'_>) -> Result<Distances> {
        let (distances, doubts) = Distances::from_rows(self.alphabet, &self.codes, comparison, run)?;
        let pairs = self.codes.len() * self.codes.len().saturating_sub(1) / 2;
        if let UnreliablePairs { far: far @ 1.., .. } = doubts {
            match comparison.correction {
                Correction::Model(SubstitutionModel { kind, .. }) => tracing::warn!(
                    "--model {}: {far} of {pairs} distances are undefined or exceed {MAX_DISTANCE} and count as \
                     {MAX_DISTANCE}",
                    model_name(kind)
                ),
                _ => {
                    let most = if self.alphabet == Alphabet::Dna { "3.5" } else { "10" };
                    tracing::warn!(
                        "--kimura: {far} of {pairs} distances are too large to be corrected and count as {most}"
                    );
                }
            }
        }
        if let Some([a, b]) = doubts.first_apart {
            let location = InputLocation::in_file(&self.file);
            let left = if comparison.without_gaps { " that --no-gap-columns keeps" } else { "" };
            let replaced = match comparison.correction {
                Correction::Model(_) => "the mean of the others",
                _ => "0, as in ClustalW",
            };
            tracing::warn!(
                "{location}: {} of {pairs} pairs of rows have no residues in common columns{left}: their distance counts as \
                 {replaced}; the first are '{}' and '{}'",
                doubts.apart,
                self.names[a],
                self.names[b]
            );
        }
        Ok(distances)
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
    pub(super) fn comparison(&self) -> Result<Option<RowComparison>> {
        let correction = match self.model.map(ModelKind::from) {
            Some(kind) => {
                Correction::Model(SubstitutionModel { kind, shape: gamma_shape(kind, self.gamma.as_deref())? })
            }
            None if self.kimura => Correction::Kimura,
            None => Correction::Uncorrected,
        };
        Ok(self.aligned.then_some(RowComparison { without_gaps: self.no_gap_columns, correction }))
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

impl From<SubstitutionModelName> for ModelKind {
    fn from(name: SubstitutionModelName) -> Self {
        match name {
            SubstitutionModelName::Jc69 => ModelKind::Jc69,
            SubstitutionModelName::K80 => ModelKind::K80,
            SubstitutionModelName::F84 => ModelKind::F84,
            SubstitutionModelName::Tn93 => ModelKind::Tn93,
            SubstitutionModelName::Gtr => ModelKind::Gtr,
            SubstitutionModelName::Lg => ModelKind::Lg,
            SubstitutionModelName::Wag => ModelKind::Wag,
            SubstitutionModelName::Jtt => ModelKind::Jtt,
        }
    }
}

/// Returns the value of `--model`.
fn model_name(kind: ModelKind) -> String {
    let name = SubstitutionModelName::value_variants().iter().find(|&&name| ModelKind::from(name) == kind);
    name.map_or_else(String::new, |&name| value_name(name))
}

/// Returns the shape of the gamma distribution of the rates of sites, if there is one.
fn gamma_shape(kind: ModelKind, typed: Option<&str>) -> Result<Option<f64>> {
    match typed {
        None => Ok(kind.is_numerical().then_some(1.0)),
        Some(typed) if typed.eq_ignore_ascii_case("none") => Ok(None),
        Some(typed) => match typed.parse() {
            Ok(shape) if (0.05..=100.0).contains(&shape) => Ok(Some(shape)),
            _ => Err(Error::usage(format!("--gamma {typed}: must be a number from 0.05 to 100, or none"))),
        },
    }
}
