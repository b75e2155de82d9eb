//! Identities of all pairs of some sequences, for pictures.

use super::Clusters;
use crate::cluster::UniqueId;
use crate::error::Result;
use crate::jobs::{AllPairs, Job, Run};
use crate::score::CoverageFilter;

impl Clusters {
    /// Returns the identities of all pairs of some sequences as a symmetric matrix, row by row. A
    /// pair without an alignment has identity 0.
    ///
    /// # Errors
    /// The errors of [`Job::run`].
    pub fn identities(&self, sequences: &[UniqueId], run: &Run) -> Result<Vec<f64>> {
        let rows = sequences.len();
        let mut matrix = vec![0.0; rows * rows];
        (0..rows).for_each(|row| matrix[row * rows + row] = 1.0);
        let job = AllPairs {
            queries: self.store(sequences),
            min_identity: None,
            coverage: CoverageFilter::default(),
            ..self.pairs()
        };
        job.run(run, |results| {
            for result in results {
                let (a, b) = (result.query as usize, result.target as usize);
                matrix[a * rows + b] = result.identity;
                matrix[b * rows + a] = result.identity;
            }
            Ok(())
        })?;
        Ok(matrix)
    }
}
