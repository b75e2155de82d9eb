//! The operations that the library offers. Each job reads its input, plans the work, runs it on
//! engines and returns rows in order.

mod aligning;
pub mod allpairs;
mod block;
#[doc(hidden)]
pub mod blocks;
mod check;
pub mod cluster;
mod deliver;
pub mod derep;
#[doc(hidden)]
pub mod devices;
pub mod edit;
pub mod edit_filter;
mod engines;
#[cfg(test)]
pub(crate) mod example;
mod job;
pub mod long;
pub mod msa;
pub mod pairs;
pub mod papara;
mod run;
pub mod search;
mod session;
mod source;
pub mod stats;

pub use crate::files::fingerprint::{Difference, Fingerprint, InputFile};
#[doc(hidden)]
pub use crate::files::names;
pub use allpairs::{AllPairs, PairResult};
pub use cluster::Clusters;
pub use derep::{DerepSummary, Dereplication};
pub use edit::{EditAlignment, EditDistances, EditResult, StreamedPlaces};
pub use edit_filter::EditFilter;
#[doc(hidden)]
pub use job::Feed;
pub use job::Job;
pub use long::{
    LongAlignment, LongDetails, LongHit, LongRecordHit, LongRecordPairs, LongWant, Strand, Strands, TopPer,
};
pub use pairs::{PairList, PairRow, PairSource};
pub use papara::{PhyloAlignment, PhyloResult, ReadSource};
pub use run::{Progress, Run};
pub use search::{Search, SearchHit};
#[doc(hidden)]
pub use session::SessionStart;
pub use stats::Summary;
