//! `pairwave cluster`: validated options.

mod files;
#[cfg(feature = "plot")]
mod pictures;
mod run;

use super::args::*;
use super::common::plot::PlotFile;
use super::common::rows::check_fraction;
use super::common::{ComputeOptions, OutputFiles, check_others};
use super::scoring::{PairScheme, ScoringChoice};
use super::{endings, size};
use files::ClusterFiles;
use pairwave::cluster::ClusterMethod;
use pairwave::jobs::cluster::PAIR_MEMORY;
use pairwave::score::{CoverageFilter, IdentityDefinition};
use pairwave::seq::{ReadOptions, Strands};
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};

/// Sequences to cluster.
#[derive(Debug)]
pub(super) struct ClusterOptions {
    /// File of sequences; `-` is standard input.
    seqs: PathBuf,
    read: ReadOptions,
    scoring: ScoringChoice,
    strand: Strands,
    /// Minimum identities, at least one.
    thresholds: Vec<f64>,
    min_score: Option<i64>,
    identity: IdentityDefinition,
    coverage: CoverageFilter,
    method: ClusterMethod,
    /// Maximum memory of similar pairs, in bytes.
    pair_memory: u64,
    files: OutputFiles,
    /// Further output files.
    others: ClusterFiles,
    /// File for an HTML page of the clusters.
    report: Option<PathBuf>,
    /// File for a picture of the identities of centroids.
    plot: Option<PlotFile>,
    compute: ComputeOptions,
}

impl From<ClusterMethodName> for ClusterMethod {
    fn from(name: ClusterMethodName) -> Self {
        match name {
            ClusterMethodName::Greedy => ClusterMethod::Greedy,
            ClusterMethodName::Single => ClusterMethod::Single,
            ClusterMethodName::Complete => ClusterMethod::Complete,
            ClusterMethodName::Average => ClusterMethod::Average,
        }
    }
}

impl TryFrom<ClusterArgs> for ClusterOptions {
    type Error = Error;

    fn try_from(args: ClusterArgs) -> Result<Self> {
        let PairScheme { read, scoring, strand } = PairScheme::new(args.letters, &args.alignment, args.strands)?;
        if strand == Strands::Minus {
            return Err(Error::usage("--strand minus: sequences are compared on the plus strand or on both; use both"));
        }
        check_thresholds(&args.min_identities)?;
        let seqs = args.seqs.ok_or_else(|| Error::usage("SEQS is missing: name a file of sequences"))?;
        let inputs = [seqs.as_path()];
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        endings::check("cluster", "--output", files.output.as_deref(), "tsv")?;
        let plot = args.plot.map(|path| PlotFile::new(path, &inputs, files.names())).transpose()?;
        let report = args.report.as_ref().map(|path| ("--report", path));
        let given: Vec<(&'static str, &PathBuf)> = args.files.given().into_iter().chain(report).collect();
        let drawn = plot.as_ref().map(|plot| ("--plot", &plot.path));
        let given: Vec<(&'static str, &PathBuf)> = given.into_iter().chain(drawn).collect();
        let named: Vec<(&'static str, Option<&Path>)> =
            given.iter().map(|(option, path)| (*option, Some(path.as_path()))).collect();
        check_others(&named, &inputs, &files.names())?;
        for (option, path) in given {
            endings::check("cluster", option, Some(path), option)?;
        }
        let others = ClusterFiles::from(args.files);
        let of_one = others
            .of_one_threshold()
            .or(args.report.is_some().then_some("--report"))
            .or(plot.is_some().then_some("--plot"));
        if let (Some(option), 2..) = (of_one, args.min_identities.len()) {
            return Err(Error::usage(format!(
                "{option} describes the clusters of one threshold: give one value to --min-identity, or remove it"
            )));
        }
        Ok(ClusterOptions {
            identity: args.identity.definition(scoring.mode())?,
            pair_memory: match args.pair_memory {
                Some(text) => size::bytes_of_option("--pair-memory", &text)?,
                None => PAIR_MEMORY,
            },
            compute: ComputeOptions::try_from(&args.compute)?,
            thresholds: args.min_identities,
            min_score: args.scores.min_score,
            coverage: match args.cov {
                None if args.cov_mode.is_some() => {
                    return Err(Error::usage("--cov-mode has no effect without --cov: add --cov or remove it"));
                }
                None => args.coverages.filter(false)?,
                Some(_) => coverage(args.cov, args.cov_mode.unwrap_or_default())?,
            },
            method: args.clustering.into(),
            seqs,
            read,
            scoring,
            strand,
            files,
            others,
            report: args.report,
            plot,
        })
    }
}

/// Returns the filter of `--cov` and `--cov-mode`.
fn coverage(minimum: Option<f64>, mode: CoverageModeName) -> Result<CoverageFilter> {
    check_fraction("--cov", minimum)?;
    let none = CoverageFilter::default();
    Ok(match mode {
        CoverageModeName::Both => CoverageFilter { both: minimum, ..none },
        CoverageModeName::Target => CoverageFilter { target: minimum, ..none },
        CoverageModeName::Query => CoverageFilter { query: minimum, ..none },
        CoverageModeName::Shorter => CoverageFilter { shorter: minimum, ..none },
    })
}

fn check_thresholds(thresholds: &[f64]) -> Result<()> {
    for (index, &given) in thresholds.iter().enumerate() {
        check_fraction("--min-identity", Some(given))?;
        if given == 0.0 {
            return Err(Error::usage("--min-identity 0: must be above 0, or all sequences are one cluster"));
        }
        if thresholds[..index].contains(&given) {
            return Err(Error::usage(format!("--min-identity {given}: this threshold is given twice")));
        }
    }
    Ok(())
}
