//! Pictures of the identities of centroids.

use pairwave::Result;
use pairwave::cluster::{ClusterSet, UniqueId};
use pairwave::jobs::{Clusters, Run};
use pairwave::output::plot::HeatMap;

/// Maximum number of centroids in the picture of a report.
pub(super) const REPORT_CENTROIDS: usize = 60;
/// Maximum number of centroids in a picture.
pub(super) const PLOT_CENTROIDS: usize = 200;

/// The centroids of the largest clusters, and the identities of all their pairs.
pub(super) struct CentroidIdentities {
    names: Vec<Vec<u8>>,
    matrix: Vec<f64>,
    title: String,
}

impl CentroidIdentities {
    /// Compares the centroids of at most `most` clusters: the largest, in the order of clusters.
    pub(super) fn compute(clusters: &Clusters, set: &ClusterSet, most: usize, run: &Run) -> Result<Self> {
        let mut order: Vec<usize> = (0..set.clusters.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(set.clusters[number].size));
        order.truncate(most);
        order.sort_unstable();
        let centroids: Vec<UniqueId> = order.iter().map(|&number| set.clusters[number].centroid).collect();
        let all = set.clusters.len();
        let title = match centroids.len() {
            shown if shown == all => format!("Identities of {all} centroids"),
            shown => format!("Centroids of the largest {shown} of {all} clusters"),
        };
        Ok(CentroidIdentities {
            names: centroids.iter().map(|&id| clusters.unique.store.name_bytes(id).to_vec()).collect(),
            matrix: clusters.identities(&centroids, run)?,
            title,
        })
    }

    /// Draws the identities.
    pub(super) fn draw<T>(&self, draw: impl FnOnce(HeatMap<'_>) -> T) -> T {
        let names: Vec<&[u8]> = self.names.iter().map(Vec::as_slice).collect();
        let values = |row: usize, column: usize| self.matrix[row * names.len() + column];
        draw(HeatMap { names: &names, values: &values, title: &self.title, legend: "identity" })
    }
}
