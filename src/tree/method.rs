//! Methods that build a tree from distances.

use bstr::BString;
use serde::Serialize;

use super::newick::NameStyle;
use super::{Distances, GuideTree, Labels, TreeRun, UnrootedTree, average, bionj, bme, join};
use crate::error::{Error, Result};
use crate::host;

/// The method that builds a tree from distances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum TreeMethod {
    /// Neighbour joining with ClustalW's numbers.
    #[default]
    NeighbourJoining,
    /// Neighbour joining with variances ([`bionj`](fn@super::bionj)).
    Bionj,
    /// Balanced minimum evolution ([`balanced_minimum_evolution`](super::balanced_minimum_evolution)).
    BalancedMinimumEvolution,
    /// Average linkage of clusters (UPGMA).
    Upgma,
    /// Clusters by k-mer distances to some seed sequences. Does not need the distances of all
    /// pairs.
    Mbed,
}

/// A tree of a method.
#[derive(Debug, Clone, PartialEq)]
pub enum BuiltTree {
    /// A tree without a root.
    Unrooted(UnrootedTree),
    /// A tree of average linkage.
    Rooted(GuideTree),
}

impl TreeMethod {
    /// Returns whether the callers sort the sequences by name, so that ties between equally good
    /// trees do not depend on the order of the input. ClustalW's methods keep its order.
    pub fn sorts_by_name(self) -> bool {
        matches!(self, TreeMethod::Bionj | TreeMethod::BalancedMinimumEvolution)
    }

    /// Returns the bytes for the distances of all pairs and for the tree. [`TreeMethod::Mbed`] needs
    /// no such distances.
    pub fn memory(self, sequences: usize) -> u64 {
        // Half a matrix of f64 for the distances. `bionj` has two copies of them, and a whole matrix
        // of distances and of variances. `bme` has a matrix of twice as many nodes instead.
        let bytes_per_square: u64 = match self {
            TreeMethod::NeighbourJoining | TreeMethod::Upgma => 4,
            TreeMethod::Bionj => 24,
            TreeMethod::BalancedMinimumEvolution => 40,
            TreeMethod::Mbed => 0,
        };
        (sequences as u64).saturating_mul(sequences as u64).saturating_mul(bytes_per_square)
    }

    /// Refuses a tree whose distances do not fit in memory. `limit` is the number of bytes that may
    /// be used; `None` selects the memory of the machine.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn check_memory(self, sequences: usize, limit: Option<u64>) -> Result<()> {
        let needed = self.memory(sequences);
        let Some(most) = limit.or_else(host::available).filter(|&most| needed > most) else { return Ok(()) };
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        Err(Error::usage_of(
            "tree",
            format!(
                "the distances of all pairs of {sequences} sequences and their tree need {:.1} GiB, but {:.1} GiB may \
                 be used; mbed compares sequences that are not aligned without these distances",
                gib(needed),
                gib(most)
            ),
        ))
    }

    /// Builds the tree. [`TreeMethod::Mbed`] without seeds is average linkage.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `run` is stopped.
    pub fn build(self, distances: Distances, run: TreeRun<'_>) -> Result<BuiltTree> {
        Ok(match self {
            TreeMethod::NeighbourJoining => BuiltTree::Unrooted(join::build(distances, run)?),
            TreeMethod::Bionj => BuiltTree::Unrooted(bionj::build(&distances, run)?),
            TreeMethod::BalancedMinimumEvolution => BuiltTree::Unrooted(bme::build(&distances, run)?),
            TreeMethod::Upgma | TreeMethod::Mbed => BuiltTree::Rooted(average::build(distances, run.stopped)?),
        })
    }

    /// Builds the tree of sequences with these names. If the method [sorts by
    /// name](Self::sorts_by_name), the tree depends on the names instead of the order.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `run` is stopped.
    ///
    /// # Panics
    /// Panics if the number of names is not the number of sequences.
    pub fn build_named<S: AsRef<[u8]>>(self, distances: Distances, names: &[S], run: TreeRun<'_>) -> Result<BuiltTree> {
        assert_eq!(names.len(), distances.sequences(), "names of other sequences");
        if !self.sorts_by_name() {
            return self.build(distances, run);
        }
        let order = name_order(names);
        let mut sorted = Distances::new(names.len());
        for (a, &first) in order.iter().enumerate() {
            for (b, &second) in order[..a].iter().enumerate() {
                sorted.set(a, b, distances.get(first, second));
            }
        }
        Ok(match self.build(sorted, run)? {
            BuiltTree::Unrooted(mut tree) => {
                let original = |node: &mut u32| {
                    if let Some(&leaf) = order.get(*node as usize) {
                        *node = leaf as u32;
                    }
                };
                tree.joins.iter_mut().flat_map(|join| &mut join.children).for_each(original);
                tree.centre.iter_mut().for_each(|(node, _)| original(node));
                BuiltTree::Unrooted(tree)
            }
            rooted @ BuiltTree::Rooted(_) => rooted,
        })
    }
}

/// Returns the indices of names in the order of their bytes. Equal names keep their order.
pub fn name_order<S: AsRef<[u8]>>(names: &[S]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&index| names[index].as_ref());
    order
}

impl BuiltTree {
    /// Returns the tree as a Newick text.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves.
    pub fn newick_in<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S]) -> BString {
        match self {
            BuiltTree::Unrooted(tree) => tree.dnd_in(style, names),
            BuiltTree::Rooted(tree) => tree.newick_in(style, names),
        }
    }

    /// Returns the Newick text of a tree of three or more leaves with the support of each join if
    /// it is not 0.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves, or fewer numbers than joins.
    pub fn labelled<S: AsRef<[u8]>>(&self, names: &[S], support: &[u32], labels: Labels) -> BString {
        match self {
            BuiltTree::Unrooted(tree) => tree.labelled(names, support, labels),
            BuiltTree::Rooted(tree) => tree.labelled(names, support, labels),
        }
    }
}
