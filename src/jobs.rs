//! What a user asks for. Each job reads, plans, runs and writes.

pub mod allpairs;
#[doc(hidden)]
pub mod blocks;
mod check;
#[doc(hidden)]
pub mod devices;
pub mod edit;
pub mod edit_filter;
mod engines;
pub mod long;
pub mod msa;
pub mod pairs;
pub mod papara;
mod run;
pub mod search;
pub mod stats;

use serde::Serialize;

use crate::engine::stats::{EngineStats, go_on};

pub use crate::files::fingerprint::{Difference, Fingerprint, InputFile};
#[doc(hidden)]
pub use crate::files::names;
pub use allpairs::{AllPairs, PairResult};
pub use edit::{EditAlignment, EditDistances, EditResult};
pub use edit_filter::EditFilter;
pub use long::{LongAlignment, LongHit, LongSummary, LongWant, Strand, StrandOf};
pub use pairs::{PairList, PairRow, PairSource};
pub use papara::{PhyloAlignment, PhyloResult, ReadSource};
pub use run::{Job, Progress, Run};
pub use search::{Search, SearchHit};

/// What a job did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Pairs compared.
    pub pairs: u64,
    /// Cells of their matrices.
    pub cells: u64,
    /// Pairs that were aligned (traced back).
    pub aligned: u64,
    /// Pairs that were given to the caller.
    pub written: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Time in kernels in seconds, summed over engines.
    pub kernel_seconds: f64,
    /// What each engine did.
    pub engines: Vec<EngineStats>,
    /// Time between the first and the last engine's end, as a fraction of the job's time
    /// ([`Ran`](crate::engine::stats::Ran)).
    pub imbalance: f64,
}

impl Summary {
    /// Adds what was done after this, by the same engines or others.
    pub fn add(&mut self, later: Summary) {
        go_on(&mut self.engines, later.engines, self.seconds);
        self.pairs += later.pairs;
        self.cells = self.cells.saturating_add(later.cells);
        self.aligned += later.aligned;
        self.written += later.written;
        self.seconds += later.seconds;
        self.kernel_seconds += later.kernel_seconds;
        self.imbalance = self.imbalance.max(later.imbalance);
    }
}
