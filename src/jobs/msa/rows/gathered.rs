//! Rows of counts become distances again.

use super::super::{PairDistance, PairDistances, clustal, distances};
use super::PairCounts;
use crate::clustal::{Plan, Table};
use crate::error::{Error, Result};
use crate::tree::Distances;

/// Rows of distances that are put together.
#[derive(Debug)]
pub struct GatheredDistances {
    of: PairDistances,
    into: Into,
    /// Pairs that are missing.
    left: u64,
}

#[derive(Debug)]
enum Into {
    Clustal { plan: Plan, table: Table },
    Distances(Distances),
}

impl GatheredDistances {
    pub(super) fn new(of: &PairDistances) -> Result<Self> {
        let into = match of.kind {
            PairDistance::Clustal => {
                let plan = clustal::plan(of)?;
                Into::Clustal { table: plan.table(), plan }
            }
            _ => Into::Distances(Distances::new(of.sequences.len())),
        };
        let left = match &into {
            Into::Clustal { plan, .. } => plan.blocks.iter().map(|list| list.targets.len() as u64).sum(),
            Into::Distances(distances) => distances.pairs(),
        };
        Ok(GatheredDistances { of: of.clone(), into, left })
    }

    /// Adds rows, of which each comes once, in any order.
    ///
    /// # Errors
    /// [`Error::Internal`] if they are not of this job.
    pub fn add(&mut self, rows: &[PairCounts]) -> Result<()> {
        for row in rows {
            self.add_row(row).ok_or_else(|| {
                let PairCounts { unit, first, counts } = row;
                Error::Internal(format!("{} distances of {unit} from {first} on are not of this job", counts.len()))
            })?;
        }
        Ok(())
    }

    fn add_row(&mut self, row: &PairCounts) -> Option<()> {
        let (first, sequences) = (row.first as usize, &self.of.sequences);
        self.left = self.left.checked_sub(row.counts.len() as u64)?;
        match &mut self.into {
            Into::Clustal { plan, table } => {
                let list = plan.blocks.get(row.unit as usize)?;
                let own = plan.chunk.targets(list).get(first..first.checked_add(row.counts.len())?)?;
                for (&target, &count) in own.iter().zip(&row.counts) {
                    table.set(list.query, target, count);
                }
            }
            Into::Distances(into) => {
                let end = first.checked_add(row.counts.len())?;
                if row.unit >= row.first || end > sequences.len() {
                    return None;
                }
                for (other, &count) in (row.first..).zip(&row.counts) {
                    let lengths = [row.unit, other].map(|id| sequences.length(id));
                    let distance = match self.of.kind {
                        PairDistance::Identity => distances::of_identities(count, lengths),
                        _ => distances::of_edits(count, lengths),
                    };
                    into.set(row.unit as usize, other as usize, distance);
                }
            }
        }
        Some(())
    }

    /// The distances.
    ///
    /// # Errors
    /// [`Error::Internal`] if some are missing.
    pub fn finish(self) -> Result<Distances> {
        match self.into {
            _ if self.left > 0 => Err(Error::Internal(format!("{} distances are missing", self.left))),
            Into::Clustal { table, .. } => Ok(table.distances()),
            Into::Distances(distances) => Ok(distances),
        }
    }
}
