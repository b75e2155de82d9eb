//! Scoring schemes: substitution tables, gap costs, identities and statistics. Gap costs in the
//! conventions of other programs are converted in this module only.

#[doc(hidden)]
pub mod bound;
#[doc(hidden)]
pub mod chance;
#[doc(hidden)]
pub mod clustal;
pub mod coverage;
#[doc(hidden)]
pub mod difference;
pub mod edit;
pub mod edit_filter;
pub mod gaps;
pub mod identity;
pub mod least_matches;
#[doc(hidden)]
pub mod local;
#[doc(hidden)]
pub mod local_bound;
pub mod matrix;
#[doc(hidden)]
pub mod offset;
pub mod phylo;
pub(crate) mod random;
pub mod schemes;
pub mod scoring;
pub mod statistics;
pub mod substitution;

pub use bound::IdentityFilter;
pub use coverage::CoverageFilter;
pub use difference::DifferenceScoring;
pub use edit::{EditDistance, EditMode, EditScheme, Equality, Limit, OverlapReach};
pub use edit_filter::{EditLimit, OverlapProof, edit_filter};
pub use gaps::{EndGaps, Gaps, Mode};
pub use identity::{AlignmentCounts, IdentityDefinition};
pub use least_matches::LeastMatches;
pub use local::LocalScoring;
pub use local_bound::LocalScoreBound;
pub use matrix::SubstitutionMatrix;
pub use offset::OffsetScoring;
pub use phylo::PhyloScheme;
pub use schemes::{NamedScheme, SCHEMES};
pub use scoring::{Ambiguity, Scoring};
pub use statistics::{DatabaseSize, DatabaseStatistics, MaxEvalue, Significance, Statistics};
pub use substitution::{MAX_SCORE, Substitution};
