//! The definition of the distances of all pairs of sequences.

use std::sync::Arc;

use serde::Serialize;

use super::cells_of;
use crate::clustal::ClustalCosts;
use crate::seq::SequenceStore;
use crate::tree::Distances;

/// The definition of the distance of two sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum PairDistance {
    /// 1 - identities / length of the shorter sequence, in ClustalW's full pairwise alignment
    /// ([`crate::clustal`]).
    #[default]
    Clustal,
    /// 1 - identities / length of the shorter sequence, in the best global alignment with the
    /// default scores.
    Identity,
    /// Levenshtein distance / length of the longer sequence.
    Edit,
    /// 1 - number of shared k-mers / number of k-mers of the shorter sequence
    /// ([`Kmers`](crate::tree::Kmers)).
    Kmer,
}

/// The distances of all pairs of sequences.
#[derive(Debug, Clone)]
pub struct PairDistances {
    /// The sequences: nucleotides or proteins.
    pub sequences: Arc<SequenceStore>,
    /// The definition of a distance.
    pub kind: PairDistance,
    /// Costs of ClustalW's distances; `None` for ClustalW's defaults.
    pub costs: Option<Arc<ClustalCosts>>,
    /// Whether to compute the distances in a second way, if there is one, and to fail if one
    /// differs.
    pub check: bool,
    /// Given distances. No distances are computed then.
    pub given: Option<Arc<Distances>>,
}

impl PairDistances {
    /// Creates a computation of ClustalW's distances.
    pub fn new(sequences: Arc<SequenceStore>) -> Self {
        PairDistances { sequences, kind: PairDistance::default(), costs: None, check: false, given: None }
    }

    /// Returns the number of cells of all pairs.
    pub fn cells(&self) -> u64 {
        cells_of(&self.sequences)
    }
}
