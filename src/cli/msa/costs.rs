//! Matrices and costs by name: ClustalW's, other built-in ones, and files.

use crate::cli::args::{DistanceArgs, PairDistanceName, PairScoringArgs, TreeMethodName};
use crate::cli::common::first_given;
use crate::cli::scoring::is_built_in;
use pairwave::clustal::ClustalCosts;
use pairwave::clustal::costs::PairGaps;
use pairwave::jobs::msa::PairDistance;
use pairwave::profile::Series;
use pairwave::score::SubstitutionMatrix;
use pairwave::score::clustal::ClustalMatrix;
use pairwave::seq::Alphabet;
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the options of computing that have no effect on these distances of sequences. Only CPU
/// threads compare k-mers, without alignments. `--kernel` selects only among kernels for ClustalW's
/// distances, and only the kernels for identities have settings to measure.
pub(in crate::cli) fn idle_computing(distance: PairDistance) -> &'static [&'static str] {
    match distance {
        PairDistance::Clustal => &["--tune"],
        PairDistance::Identity => &["--kernel"],
        PairDistance::Edit => &["--kernel", "--tune"],
        PairDistance::Kmer => &["--device", "--memory", "--kernel", "--tune", "--check"],
    }
}

impl PairScoringArgs {
    /// Returns the first option that was given.
    pub(in crate::cli) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--pair-matrix", self.pair_matrix.is_some()),
            ("--pair-gap-open", self.pair_gap_open.is_some()),
            ("--pair-gap-extend", self.pair_gap_extend.is_some()),
        ];
        first_given(&given)
    }

    /// Returns the path of the matrix, unless the name is built in.
    pub(in crate::cli) fn matrix_file(&mut self) -> Option<&mut PathBuf> {
        self.pair_matrix.as_mut().filter(|name| is_file_of_matrix(name))
    }

    /// Rejects options that have no effect on another kind of distance.
    pub(in crate::cli) fn check(&self, distance: Option<PairDistanceName>) -> Result<()> {
        match self.given() {
            Some(option) if distance.is_some_and(|distance| distance != PairDistanceName::Clustal) => {
                Err(Error::usage(format!("{option} applies only to --distance clustal")))
            }
            _ => Ok(()),
        }
    }

    /// Rejects options that have no effect on a tree by shared k-mers.
    pub(in crate::cli) fn check_tree(&self, distances: &DistanceArgs) -> Result<()> {
        match distances.pair.distance.map(|_| "--distance").or_else(|| self.given()) {
            Some(option) if distances.tree == Some(TreeMethodName::Mbed) => Err(Error::usage(format!(
                "{option} has no effect with --tree mbed, which compares shared k-mers: remove one of them"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the costs of ClustalW's distances for this alphabet.
    pub(in crate::cli) fn costs(&self, alphabet: Alphabet, transitions: f32) -> Result<Arc<ClustalCosts>> {
        let mut gaps = PairGaps { transition: transitions, ..PairGaps::for_alphabet(alphabet) };
        for (option, typed, cost) in [
            ("--pair-gap-open", self.pair_gap_open, &mut gaps.open),
            ("--pair-gap-extend", self.pair_gap_extend, &mut gaps.extend),
        ] {
            if let Some(typed) = typed {
                *cost = cost_of(option, typed)?;
            }
        }
        let default = Path::new(if alphabet == Alphabet::Dna { "iub" } else { "gonnet" });
        let name = self.pair_matrix.as_deref().unwrap_or(default);
        let built_in = match of_series("--pair-matrix", name, alphabet)? {
            Some(Series::Gonnet) => "gonnet250",
            Some(Series::Blosum) => "blosum30",
            Some(Series::Pam) => "pam350",
            Some(Series::Identity) => "id",
            Some(Series::Bases) => "clustalw",
            Some(Series::Iub) => "iub",
            Some(Series::One(_)) | None => "",
        };
        let costs = match ClustalMatrix::built_in(built_in) {
            Some(matrix) => ClustalCosts::new(alphabet, matrix, gaps),
            None => ClustalCosts::new(alphabet, &other_matrix("--pair-matrix", name, alphabet)?, gaps),
        };
        Ok(Arc::new(costs))
    }
}

/// Validates a cost.
pub(super) fn cost_of(option: &str, typed: f32) -> Result<f32> {
    if (0.0..=1000.0).contains(&typed) {
        Ok(typed)
    } else {
        Err(Error::usage(format!("{option} {typed}: must be from 0 to 1000")))
    }
}

/// Returns the matrix series of a name, or the matrix of a file.
pub(super) fn series(name: &Path, alphabet: Alphabet) -> Result<Series> {
    match of_series("--matrix", name, alphabet)? {
        Some(series) => Ok(series),
        None => other_matrix("--matrix", name, alphabet).map(Series::One),
    }
}

/// Returns whether a name is not a built-in matrix.
pub(super) fn is_file_of_matrix(name: &Path) -> bool {
    let is_series = |alphabet| !matches!(of_series("", name, alphabet), Ok(None));
    !is_series(Alphabet::Dna) && !is_built_in(name)
}

/// Returns a matrix that ClustalW lacks: a file, or a built-in one. It must suit the sequences.
fn other_matrix(option: &str, name: &Path, alphabet: Alphabet) -> Result<ClustalMatrix> {
    match SubstitutionMatrix::open(name) {
        Ok(matrix) => {
            matrix.substitution(alphabet)?;
            Ok(ClustalMatrix::from_substitution_matrix(&matrix))
        }
        Err(Error::Usage(_)) => {
            let name = name.display().to_string();
            let (clustal, others) = (
                "gonnet, blosum, pam and id for proteins, iub and clustalw for nucleotides",
                SubstitutionMatrix::suggestion(&name),
            );
            Err(Error::usage(format!("{option} {name}: no such file; ClustalW's matrices are {clustal}, and {others}")))
        }
        Err(error) => Err(error),
    }
}

/// Returns ClustalW's matrix series of this name, if there is one.
fn of_series(option: &str, name: &Path, alphabet: Alphabet) -> Result<Option<Series>> {
    let lower = name.as_os_str().to_ascii_lowercase();
    let (series, needed) = match lower.to_str().unwrap_or_default() {
        "gonnet" => (Series::Gonnet, Alphabet::Protein),
        "blosum" => (Series::Blosum, Alphabet::Protein),
        "pam" => (Series::Pam, Alphabet::Protein),
        "id" => (Series::Identity, Alphabet::Protein),
        "iub" => (Series::Iub, Alphabet::Dna),
        "clustalw" => (Series::Bases, Alphabet::Dna),
        _ => return Ok(None),
    };
    if needed == alphabet {
        Ok(Some(series))
    } else {
        Err(Error::usage(format!(
            "{option} {}: this matrix is for {}, but the sequences are {}",
            name.display(),
            needed.letters(),
            alphabet.letters()
        )))
    }
}
