//! Validated options of `pairwave msa`.

mod added;
mod costs;
mod mode;
mod run;
mod sequences;
mod written;

use super::args::*;
use super::common::{ComputeOptions, OutputFiles, check_others, check_standard, first_given};
use super::endings;
use super::size;
use super::tips::percentage_advice;
use mode::ModeChoice;
use pairwave::jobs::msa::{PairDistance, TreeMethod};
use pairwave::output::msa::MsaFormat;
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};

pub(super) use added::AddToAlignment;
pub(super) use costs::idle_computing;
pub(super) use sequences::{SequenceFile, SequenceSet};

impl From<PairDistanceName> for PairDistance {
    fn from(name: PairDistanceName) -> Self {
        match name {
            PairDistanceName::Clustal => PairDistance::Clustal,
            PairDistanceName::Identity => PairDistance::Identity,
            PairDistanceName::Edit => PairDistance::Edit,
            PairDistanceName::Kmer => PairDistance::Kmer,
        }
    }
}

impl From<TreeMethodName> for TreeMethod {
    fn from(name: TreeMethodName) -> Self {
        match name {
            TreeMethodName::Nj => TreeMethod::NeighbourJoining,
            TreeMethodName::Bionj => TreeMethod::Bionj,
            TreeMethodName::Bme => TreeMethod::BalancedMinimumEvolution,
            TreeMethodName::Upgma => TreeMethod::Upgma,
            TreeMethodName::Mbed => TreeMethod::Mbed,
        }
    }
}

/// Sequences to align with each other.
#[derive(Debug)]
pub(super) struct MultipleAlign {
    source: SequenceFile,
    mode: ModeChoice,
    distance: Option<PairDistance>,
    pairs: PairScoringArgs,
    tree: Option<TreeMethod>,
    guidetree_in: Option<PathBuf>,
    guidetree_out: Option<PathBuf>,
    distmat_out: Option<PathBuf>,
    in_tree_order: bool,
    format: MsaFormat,
    files: OutputFiles,
    report: Option<PathBuf>,
    /// Minimum confidence of the columns to write.
    mask: Option<f32>,
    host_memory: Option<u64>,
    compute: ComputeOptions,
}

impl TryFrom<MsaArgs> for MultipleAlign {
    type Error = Error;

    fn try_from(args: MsaArgs) -> Result<Self> {
        let compute = ComputeOptions::try_from(&args.compute)?;
        added::check_base(&args)?;
        let Some(seqs) = args.input.seqs.clone() else { return Err(Error::usage("SEQS is missing")) };
        let inputs: Vec<&Path> = [Some(&*seqs), args.guidetree_in.as_deref()].into_iter().flatten().collect();
        check_standard(&inputs, "SEQS and --guidetree-in cannot both be -")?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        let others = [
            ("--guidetree-out", args.guidetree_out.as_deref()),
            ("--distmat-out", args.distmat_out.as_deref()),
            ("--report", args.report.as_deref()),
        ];
        check_others(&others, &inputs, &files.names())?;
        let is_clustal = args.mode == MsaModeName::Clustalw;
        check_distances(&args, is_clustal)?;
        check_mode(&args.scoring, is_clustal)?;
        check_computing(&args, is_clustal)?;
        check_mask(args.mask)?;
        let host_memory =
            args.host_memory.as_deref().map(|text| size::bytes_of_option("--host-memory", text)).transpose()?;
        if host_memory.is_some()
            && is_clustal
            && (args.guidetree_in.is_some() || args.distances.tree == Some(TreeMethodName::Mbed))
        {
            return Err(Error::usage(
                "--host-memory has no effect with --mode clustalw along a tree from --guidetree-in or --tree mbed, \
                 which need no distances of all pairs: remove it",
            ));
        }
        let by_ending = || files.output.as_deref().and_then(endings::format_of);
        let name = args.format.or_else(by_ending).unwrap_or(MsaFormatName::Fasta);
        for (option, path, written) in [
            ("--output", &files.output, &*endings::value_name(name)),
            ("--guidetree-out", &args.guidetree_out, "--guidetree-out"),
            ("--distmat-out", &args.distmat_out, "--distmat-out"),
            ("--report", &args.report, "--report"),
        ] {
            endings::check("msa", option, path.as_deref(), written)?;
        }
        Ok(MultipleAlign {
            source: SequenceFile { path: seqs, options: args.input.letters.into() },
            pairs: args.pairs,
            mode: if is_clustal { ModeChoice::Clustal(args.scoring) } else { ModeChoice::Accurate(args.scoring) },
            distance: args.distances.pair.distance.map(PairDistance::from),
            tree: args.distances.tree.map(TreeMethod::from),
            guidetree_in: args.guidetree_in,
            guidetree_out: args.guidetree_out,
            distmat_out: args.distmat_out,
            in_tree_order: args.order == RowOrderName::Tree,
            format: format(name),
            files,
            report: args.report,
            mask: args.mask,
            host_memory,
            compute,
        })
    }
}

/// Rejects options for distances and the guide tree that have no effect.
fn check_distances(args: &MsaArgs, is_clustal: bool) -> Result<()> {
    let pairs = args.pairs.given();
    let given = [
        ("--distance", args.distances.pair.distance.is_some()),
        ("--tree", args.distances.tree.is_some()),
        ("--distmat-out", args.distmat_out.is_some() && is_clustal),
        (pairs.unwrap_or_default(), pairs.is_some()),
    ];
    args.pairs.check(args.distances.pair.distance)?;
    if args.guidetree_in.is_some()
        && let Some(option) = first_given(&given)
    {
        return Err(Error::usage(format!(
            "{option} has no effect with --guidetree-in, which gives the tree: remove one of them"
        )));
    }
    if !is_clustal
        && args.distances.pair.distance.is_none()
        && let Some(option) = pairs
    {
        return Err(Error::usage(format!("{option} with --mode accurate needs --distance clustal: add it")));
    }
    args.pairs.check_tree(&args.distances)?;
    if args.distmat_out.is_some() && args.distances.tree == Some(TreeMethodName::Mbed) {
        return Err(Error::usage("--distmat-out with --tree mbed: mbed computes no whole matrix: remove one of them"));
    }
    Ok(())
}

/// Rejects options of computing that have no effect: they concern the distances of the guide tree, or
/// the other mode.
fn check_computing(args: &MsaArgs, is_clustal: bool) -> Result<()> {
    let (tree, distance) = (args.distances.tree, args.distances.pair.distance);
    let is_guided = is_clustal || distance.is_some() || tree.is_some();
    let has_distances = is_guided && args.guidetree_in.is_none() && tree != Some(TreeMethodName::Mbed);
    let kind = has_distances.then(|| distance.map_or_else(PairDistance::default, PairDistance::from));
    let kernels = &args.compute.kernels;
    for (option, is_idle, message) in [
        (
            "--kernel",
            kernels.kernel.is_some() && is_clustal && kind != Some(PairDistance::Clustal),
            "selects a kernel for ClustalW's distances, but none are computed",
        ),
        (
            "--tune",
            kernels.tune && kind != Some(PairDistance::Identity),
            "measures kernels for --distance identity, but no such distances are computed",
        ),
        (
            "--check",
            args.compute.machine.check && matches!(kind, None | Some(PairDistance::Kmer)),
            "checks the distances of the guide tree, but no distances of aligned pairs are computed",
        ),
    ] {
        if is_idle {
            return Err(Error::usage(format!("{option} {message}: remove it")));
        }
    }
    Ok(())
}

/// Rejects a minimum confidence outside 0 to 1.
fn check_mask(mask: Option<f32>) -> Result<()> {
    match mask {
        Some(least) if !(0.0..=1.0).contains(&least) => {
            let advice = percentage_advice(f64::from(least));
            Err(Error::usage(format!("--mask {least}: must be from 0 to 1{advice}")))
        }
        _ => Ok(()),
    }
}

/// Rejects settings of the other mode.
fn check_mode(scoring: &ProfileScoringArgs, is_clustal: bool) -> Result<()> {
    match (scoring.of_clustal(), scoring.of_accurate()) {
        (Some(option), _) if !is_clustal => Err(Error::usage(format!("{option} applies only to --mode clustalw"))),
        (_, Some(option)) if is_clustal => Err(Error::usage(format!("{option} applies only to --mode accurate"))),
        _ => Ok(()),
    }
}

fn format(name: MsaFormatName) -> MsaFormat {
    match name {
        MsaFormatName::Fasta => MsaFormat::Fasta,
        MsaFormatName::Clustal => MsaFormat::Clustal,
        MsaFormatName::Phylip => MsaFormat::Phylip { is_interleaved: true, is_strict: false },
        MsaFormatName::PhylipStrict => MsaFormat::Phylip { is_interleaved: true, is_strict: true },
        MsaFormatName::Stockholm => MsaFormat::Stockholm,
        MsaFormatName::Msf => MsaFormat::Msf,
        MsaFormatName::Nexus => MsaFormat::Nexus,
    }
}
