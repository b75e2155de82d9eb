//! Ancestral states of every edge, as computed by PaPaRa: sets of characters after Fitch (1971),
//! and a flag for gap sites.
//!
//! A row of values summarises all leaves on one side of an edge. The rows of both sides combine to
//! the vector of the edge. Sites are independent, so threads compute blocks of 16 sites. The values
//! of a block are adjacent in memory, so all arithmetic works on short arrays. The work is linear
//! in the number of leaves.

mod likelihood;
mod parsimony;
mod sets;

use rayon::prelude::*;

use super::reference::Reference;
use super::tree::{NodeId, ReferenceTree};
use super::vectors::{OCTET, Site, StateCells, Vectors, all, encode};

/// The method that decides whether a site is a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GapModel {
    /// Compares the likelihoods of the states residue and gap, given the branch lengths (PaPaRa's
    /// default, "pgap").
    #[default]
    Likelihood,
    /// Uses parsimony, as in Berger and Stamatakis (2011) ("cgap").
    Parsimony,
}

/// Number of sites in a block. It fills the vector registers of any instruction set. With 27,641
/// edges, the values of a block take 14 MB per thread.
const WIDTH: usize = 16;

/// A model of values that are propagated along edges, for the sites of a block.
trait EdgeValues {
    /// Values of one side of an edge.
    type Row: Copy;

    /// Returns the values of a leaf with these sets, propagated across its edge.
    fn leaf(&self, sets: &[u32; WIDTH], edge: usize) -> Self::Row;

    /// Combines the values of two neighbours of a node and propagates them across `edge` to the
    /// third.
    fn combine_two(&self, one: &Self::Row, other: &Self::Row, edge: usize) -> Self::Row;

    /// Combines the values of all neighbours of a node except one and propagates them across `edge`
    /// to that neighbour.
    fn combine_all(&self, sides: &[Self::Row], edge: usize) -> Self::Row;

    /// Computes one row for each neighbour of a node from index `first` on. The row combines all
    /// other neighbours in `sides` and is propagated across the edge to that neighbour. `edges`
    /// contains the edges to these neighbours.
    fn combine_others(&self, sides: &[Self::Row], first: usize, edges: impl Iterator<Item = usize>) -> Vec<Self::Row>;

    /// Combines both sides of an edge. Returns the bits that this model contributes to each site's
    /// cell.
    fn edge_bits(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH];
}

/// Computes the vectors of all edges, in the tree's order. Both flags of a site are equal.
pub fn edge_vectors(reference: &Reference, model: GapModel, pool: &rayon::ThreadPool) -> Vectors {
    let edges = reference.tree.edges.len() as u32;
    let mut vectors = Vectors::new(reference.alphabet, reference.sites(), edges);
    let gap = encode(reference.alphabet, Site { set: 0, is_penalised: true, is_free: true });
    let all = all(reference.alphabet);
    pool.install(|| match model {
        GapModel::Likelihood => {
            let flags = likelihood::Likelihoods::new(&reference.tree, reference.gap_share(), all, gap);
            write(reference, &flags, &mut vectors);
        }
        GapModel::Parsimony => write(reference, &parsimony::ParsimonyGaps { all, gap }, &mut vectors),
    });
    vectors
}

/// Computes all blocks of sites and writes their cells.
fn write(reference: &Reference, flags: &(impl EdgeValues + Sync), vectors: &mut Vectors) {
    match vectors.cells_mut() {
        StateCells::Bytes(cells) => write_cells(reference, flags, cells, |bits| bits as u8),
        StateCells::Words(cells) => write_cells(reference, flags, cells, |bits| bits),
    }
}

fn write_cells<C: Send>(
    reference: &Reference,
    flags: &(impl EdgeValues + Sync),
    cells: &mut [C],
    cell: impl Fn(u32) -> C + Sync,
) {
    let sites = reference.sites() as usize;
    // `parts[block]` contains, for every octet, the cells of the block's sites.
    let octets = cells.len() / (sites * OCTET);
    let mut parts: Vec<Vec<&mut [C]>> = (0..sites.div_ceil(WIDTH)).map(|_| Vec::with_capacity(octets)).collect();
    for octet in cells.chunks_mut(sites * OCTET) {
        octet.chunks_mut(WIDTH * OCTET).zip(&mut parts).for_each(|(part, block_parts)| block_parts.push(part));
    }
    let sets = sets::FitchSets { bits: all(reference.alphabet).count_ones() as usize };
    parts.into_par_iter().enumerate().for_each(|(block, mut parts)| {
        let first = block * WIDTH;
        let count = WIDTH.min(sites - first);
        let leaf = |node: NodeId| {
            let mut sets = [0; WIDTH];
            let sites = first as u32..(first + count) as u32;
            sets.iter_mut().zip(reference.leaf_sets(node, sites)).for_each(|(to, set)| *to = set);
            sets
        };
        let leaves: Vec<[u32; WIDTH]> = (0..reference.tree.names.len() as u32).map(NodeId).map(leaf).collect();
        let states = EdgeSides::new(&reference.tree, &sets, &leaves);
        let gaps = EdgeSides::new(&reference.tree, flags, &leaves);
        for edge in 0..reference.tree.edges.len() {
            let (states, gaps) = (states.edge_bits(edge), gaps.edge_bits(edge));
            let part = &mut parts[edge / OCTET][edge % OCTET..];
            for site in 0..count {
                part[site * OCTET] = cell(states[site] | gaps[site]);
            }
        }
    });
}

/// The values on both sides of all edges.
struct EdgeSides<'a, V: EdgeValues> {
    values: &'a V,
    above: Vec<V::Row>,
    below: Vec<V::Row>,
}

impl<'a, V: EdgeValues> EdgeSides<'a, V> {
    fn new(tree: &ReferenceTree, values: &'a V, leaves: &[[u32; WIDTH]]) -> Self {
        let edge_of = |child: NodeId| child.index() - 1;
        // `below[edge]` contains the values of the side below the edge. Edge n - 1 leads to node n,
        // and nodes below node n have larger numbers.
        let none = values.leaf(&[0; WIDTH], 0);
        let mut below = vec![none; tree.edges.len()];
        for edge in (0..tree.edges.len()).rev() {
            below[edge] = match tree.children[edge + 1][..] {
                [] => values.leaf(&leaves[edge + 1], edge),
                [one, other] => values.combine_two(&below[edge_of(one)], &below[edge_of(other)], edge),
                ref children => {
                    let sides: Vec<V::Row> = children.iter().map(|&child| below[edge_of(child)]).collect();
                    values.combine_all(&sides, edge)
                }
            };
        }
        let mut above = vec![none; tree.edges.len()];
        for (node, children) in tree.children.iter().enumerate() {
            match children[..] {
                [] => {}
                [one, other] if node > 0 => {
                    let (above_node, one, other) = (above[node - 1], edge_of(one), edge_of(other));
                    above[one] = values.combine_two(&above_node, &below[other], one);
                    above[other] = values.combine_two(&above_node, &below[one], other);
                }
                ref children => {
                    let mut sides: Vec<V::Row> = Vec::with_capacity(children.len() + 1);
                    if node > 0 {
                        sides.push(above[node - 1]);
                    }
                    let first = sides.len();
                    sides.extend(children.iter().map(|&child| below[edge_of(child)]));
                    let others = values.combine_others(&sides, first, children.iter().map(|&child| edge_of(child)));
                    children.iter().zip(others).for_each(|(&child, row)| above[edge_of(child)] = row);
                }
            }
        }
        EdgeSides { values, above, below }
    }

    fn edge_bits(&self, edge: usize) -> [u32; WIDTH] {
        self.values.edge_bits(&self.above[edge], &self.below[edge])
    }
}
