//! Turns rows of counts into distances.

use super::super::{PairDistance, PairDistances, clustal, distances};
use super::PairCounts;
use crate::clustal::{ClustalPlan, IdentityTable};
use crate::error::{Error, Result};
use crate::tree::Distances;

/// Rows of distances that are being gathered.
#[derive(Debug)]
pub struct GatheredDistances {
    job: PairDistances,
    table: DistanceTable,
    /// Number of missing pairs.
    left: u64,
}

#[derive(Debug)]
enum DistanceTable {
    Clustal { plan: ClustalPlan, table: IdentityTable },
    Distances(Distances),
}

impl GatheredDistances {
    pub(super) fn new(job: &PairDistances) -> Result<Self> {
        let table = match job.kind {
            PairDistance::Clustal => {
                let plan = clustal::plan(job)?;
                DistanceTable::Clustal { table: plan.table(), plan }
            }
            _ => DistanceTable::Distances(Distances::new(job.sequences.len())),
        };
        let left = match &table {
            DistanceTable::Clustal { plan, .. } => plan.blocks.iter().map(|list| list.targets.len() as u64).sum(),
            DistanceTable::Distances(distances) => distances.pairs(),
        };
        Ok(GatheredDistances { job: job.clone(), table, left })
    }

    /// Adds rows in any order. Each row must be added once.
    ///
    /// # Errors
    /// [`Error::Internal`] if the rows do not belong to this job.
    pub fn add(&mut self, rows: &[PairCounts]) -> Result<()> {
        for row in rows {
            self.add_row(row).ok_or_else(|| {
                let PairCounts { unit, first, counts } = row;
                Error::Internal(format!(
                    "{} distances of {unit} from {first} on do not belong to this job",
                    counts.len()
                ))
            })?;
        }
        Ok(())
    }

    fn add_row(&mut self, row: &PairCounts) -> Option<()> {
        let (first, sequences) = (row.first as usize, &self.job.sequences);
        self.left = self.left.checked_sub(row.counts.len() as u64)?;
        match &mut self.table {
            DistanceTable::Clustal { plan, table } => {
                let list = plan.blocks.get(row.unit as usize)?;
                let targets = plan.chunk.targets(list).get(first..first.checked_add(row.counts.len())?)?;
                for (&target, &count) in targets.iter().zip(&row.counts) {
                    table.set(list.query, target, count);
                }
            }
            DistanceTable::Distances(table) => {
                let end = first.checked_add(row.counts.len())?;
                if row.unit >= row.first || end > sequences.len() {
                    return None;
                }
                for (other, &count) in (row.first..).zip(&row.counts) {
                    let lengths = [row.unit, other].map(|id| sequences.length(id));
                    let distance = match self.job.kind {
                        PairDistance::Identity => distances::distance_from_identities(count, lengths),
                        _ => distances::distance_from_edits(count, lengths),
                    };
                    table.set(row.unit as usize, other as usize, distance);
                }
            }
        }
        Some(())
    }

    /// Returns the distances.
    ///
    /// # Errors
    /// [`Error::Internal`] if some are missing.
    pub fn finish(self) -> Result<Distances> {
        match self.table {
            _ if self.left > 0 => Err(Error::Internal(format!("{} distances are missing", self.left))),
            DistanceTable::Clustal { table, .. } => Ok(table.distances()),
            DistanceTable::Distances(distances) => Ok(distances),
        }
    }
}
