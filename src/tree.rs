//! Phylogenetic and guide trees: distances, tree construction, rooting, and weights of the leaves.
//!
//! ```
//! use pairwave::tree::{Distances, neighbour_joining};
//! let mut distances = Distances::new(3);
//! for (a, b, distance) in [(0, 1, 0.1), (0, 2, 0.5), (1, 2, 0.4)] {
//!     distances.set(a, b, distance);
//! }
//! let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
//! let tree = neighbour_joining(distances, &threads);
//! assert_eq!(tree.dnd(&["a", "b", "c"]), "(\na:0.10000,\nb:0.00000,\nc:0.40000);\n");
//! let guide = tree.rooted(&threads);
//! assert_eq!(guide.weights(), [375, 166, 458]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod newick;

mod average;
mod bed;
mod bionj;
mod bme;
mod bootstrap;
mod columns;
mod distances;
mod guide;
mod join;
mod kmers;
mod method;
mod model;
mod read;
mod regroup;
mod root;
mod run;
mod unrooted;
mod weights;

pub use average::average_linkage;
pub use bed::{EmbeddedTreeOptions, embedded};
pub use bionj::bionj;
pub use bme::balanced_minimum_evolution;
pub use bootstrap::Bootstrap;
pub use columns::{Correction, RowComparison};
pub use distances::{Distances, UnreliablePairs};
pub use guide::{GuideTree, Join};
pub use join::neighbour_joining;
pub use kmers::Kmers;
pub use method::{BuiltTree, TreeMethod, name_order};
pub use model::{MAX_DISTANCE, ModelKind, SubstitutionModel};
pub use regroup::regroup;
pub use run::TreeRun;
pub use unrooted::{Labels, UnrootedTree};
pub use weights::Identities;

#[cfg(test)]
mod tests;
