//! Files that describe clusters, besides the table.

use crate::cli::args::ClusterFilesArgs;
use crate::cli::common::first_given;
use pairwave::cluster::ClusterSet;
use pairwave::output::cluster::{
    ClusterContext, check_cluster_directory, check_list, check_shared, write_biom, write_centroids, write_clstr,
    write_cluster_files, write_list, write_otu_table, write_pairs, write_shared, write_uc,
};
use pairwave::output::{Output, OutputGroup};
use pairwave::seq::SequenceStore;
use pairwave::{Error, Result};
use std::path::PathBuf;

/// Paths of the files; `None` for files that are not written.
#[derive(Debug)]
pub(super) struct ClusterFiles(ClusterFilesArgs);

impl From<ClusterFilesArgs> for ClusterFiles {
    fn from(args: ClusterFilesArgs) -> Self {
        ClusterFiles(args)
    }
}

/// Function that writes one threshold's clusters to a file.
type ClusterSetWriter = fn(&ClusterContext<'_>, &ClusterSet, Output) -> Result<()>;
/// Function that writes the clusters of all thresholds to a file.
type ClusterSetsWriter = fn(&ClusterContext<'_>, &[ClusterSet], Output) -> Result<()>;

impl ClusterFiles {
    /// Returns the first given option.
    pub(super) fn first(&self) -> Option<&'static str> {
        self.0.given().first().map(|(option, _)| *option)
    }

    /// Returns whether a file contains the alignments of members.
    pub(super) fn has_alignments(&self) -> bool {
        self.0.uc.is_some()
    }

    /// Returns the first given option whose file describes one threshold only.
    pub(super) fn of_one_threshold(&self) -> Option<&'static str> {
        let of_all = ["--mothur-list", "--shared"];
        let given: Vec<(&'static str, bool)> =
            self.0.given().into_iter().map(|(option, _)| (option, !of_all.contains(&option))).collect();
        first_given(&given)
    }

    /// Checks that all files can be written.
    pub(super) fn check(&self) -> Result<()> {
        self.0.given().into_iter().try_for_each(|(option, path)| match option {
            "--clusters" => check_cluster_directory(path),
            _ => Output::check(path),
        })
    }

    /// Checks that the formats can express the names of the records.
    pub(super) fn check_names(&self, records: &SequenceStore) -> Result<()> {
        if self.0.mothur_list.is_some() {
            check_list(records)?;
        }
        if self.0.shared.is_some() { check_shared(records) } else { Ok(()) }
    }

    /// Writes all files, which appear with a group.
    pub(super) fn write(&self, context: &ClusterContext<'_>, sets: &[ClusterSet], outputs: &OutputGroup) -> Result<()> {
        let first = first_of(sets)?;
        let of_first: [(&Option<PathBuf>, ClusterSetWriter); 6] = [
            (&self.0.uc, write_uc),
            (&self.0.centroids, write_centroids),
            (&self.0.otu_table, write_otu_table),
            (&self.0.biom, write_biom),
            (&self.0.clstr, write_clstr),
            (&self.0.pairs_out, write_pairs),
        ];
        for (path, write) in of_first {
            if let Some(path) = path {
                write(context, first, outputs.create(path)?)?;
            }
        }
        let of_all: [(&Option<PathBuf>, ClusterSetsWriter); 2] =
            [(&self.0.mothur_list, write_list), (&self.0.shared, write_shared)];
        for (path, write) in of_all {
            if let Some(path) = path {
                write(context, sets, outputs.create(path)?)?;
            }
        }
        Ok(())
    }

    /// Writes the directory of clusters. It appears at once.
    pub(super) fn write_directory(&self, context: &ClusterContext<'_>, sets: &[ClusterSet]) -> Result<()> {
        match &self.0.clusters {
            Some(directory) => write_cluster_files(context, first_of(sets)?, directory),
            None => Ok(()),
        }
    }
}

/// Returns the clusters of the first threshold.
fn first_of(sets: &[ClusterSet]) -> Result<&ClusterSet> {
    sets.first().ok_or_else(|| Error::Internal("clusters without a threshold".into()))
}
