//! Ancestral states of every edge: sets of characters after Fitch (1971), and whether a site is a gap, as PaPaRa computes them.
//!
//! A row of values looks along an edge: it sums up all leaves on one side of it. Those of both sides make the edge's vector. Sites
//! are independent: blocks of 16 of them go to threads, and a block's values are held side by side, so that all
//! arithmetic is over short arrays. The work is linear in the number of leaves.

mod likelihood;
mod parsimony;
mod sets;

use rayon::prelude::*;

use super::reference::Reference;
use super::tree::{NodeId, Tree};
use super::vectors::{Cells, OCTET, Site, Vectors, all, encode};

/// How a site is found to be a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GapModel {
    /// By the likelihoods of two states, residue and gap, on the branch lengths (PaPaRa's default, "pgap").
    #[default]
    Likelihood,
    /// By parsimony, as in Berger and Stamatakis (2011) ("cgap").
    Parsimony,
}

/// Sites of a block. Wide enough for any vector unit; the values of 27,641 edges of so many sites take 14 MB a thread.
const WIDTH: usize = 16;

/// What is carried along edges, of the sites of a block.
trait Values {
    /// Of one side of an edge.
    type Row: Copy;

    /// A leaf of which these are the sets, seen over its edge.
    fn leaf(&self, sets: &[u32; WIDTH], edge: usize) -> Self::Row;

    /// What two sides of a node make, seen over the edge to the third.
    fn two(&self, one: &Self::Row, other: &Self::Row, edge: usize) -> Self::Row;

    /// What some sides of a node make, one or more, seen over the edge to the next.
    fn many(&self, sides: &[Self::Row], edge: usize) -> Self::Row;

    /// Of each of the sides from `first` on what all others make, seen over the edge to it. Edges are given from there on.
    fn others(&self, sides: &[Self::Row], first: usize, edges: impl Iterator<Item = usize>) -> Vec<Self::Row>;

    /// What both sides of an edge make: the bits of each site's cell.
    fn both(&self, above: &Self::Row, below: &Self::Row) -> [u32; WIDTH];
}

/// The vectors of all edges, in the tree's order. Of each site both flags are equal.
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
        GapModel::Parsimony => write(reference, &parsimony::Gaps { all, gap }, &mut vectors),
    });
    vectors
}

/// Computes all blocks of sites, and writes them to where they lie.
fn write(reference: &Reference, flags: &(impl Values + Sync), vectors: &mut Vectors) {
    match vectors.cells_mut() {
        Cells::Bytes(cells) => write_cells(reference, flags, cells, |bits| bits as u8),
        Cells::Words(cells) => write_cells(reference, flags, cells, |bits| bits),
    }
}

fn write_cells<C: Send>(
    reference: &Reference,
    flags: &(impl Values + Sync),
    cells: &mut [C],
    cell: impl Fn(u32) -> C + Sync,
) {
    let sites = reference.sites() as usize;
    // Of each block its part of every octet.
    let octets = cells.len() / (sites * OCTET);
    let mut parts: Vec<Vec<&mut [C]>> = (0..sites.div_ceil(WIDTH)).map(|_| Vec::with_capacity(octets)).collect();
    for octet in cells.chunks_mut(sites * OCTET) {
        octet.chunks_mut(WIDTH * OCTET).zip(&mut parts).for_each(|(part, own)| own.push(part));
    }
    let sets = sets::Sets { bits: all(reference.alphabet).count_ones() as usize };
    parts.into_par_iter().enumerate().for_each(|(block, mut parts)| {
        let first = block * WIDTH;
        let count = WIDTH.min(sites - first);
        let leaf = |node: NodeId| {
            let mut own = [0; WIDTH];
            let sites = first as u32..(first + count) as u32;
            own.iter_mut().zip(reference.leaf_sets(node, sites)).for_each(|(own, set)| *own = set);
            own
        };
        let leaves: Vec<[u32; WIDTH]> = (0..reference.tree.names.len() as NodeId).map(leaf).collect();
        let states = Sides::new(&reference.tree, &sets, &leaves);
        let gaps = Sides::new(&reference.tree, flags, &leaves);
        for edge in 0..reference.tree.edges.len() {
            let (states, gaps) = (states.both(edge), gaps.both(edge));
            let part = &mut parts[edge / OCTET][edge % OCTET..];
            for site in 0..count {
                part[site * OCTET] = cell(states[site] | gaps[site]);
            }
        }
    });
}

/// Both sides of all edges.
struct Sides<'a, V: Values> {
    values: &'a V,
    above: Vec<V::Row>,
    below: Vec<V::Row>,
}

impl<'a, V: Values> Sides<'a, V> {
    fn new(tree: &Tree, values: &'a V, leaves: &[[u32; WIDTH]]) -> Self {
        let edge_of = |child: NodeId| child as usize - 1;
        // Of each edge what is below it. Node n has edge n - 1, and what is below it greater numbers.
        let none = values.leaf(&[0; WIDTH], 0);
        let mut below = vec![none; tree.edges.len()];
        for edge in (0..tree.edges.len()).rev() {
            below[edge] = match tree.children[edge + 1][..] {
                [] => values.leaf(&leaves[edge + 1], edge),
                [one, other] => values.two(&below[edge_of(one)], &below[edge_of(other)], edge),
                ref own => {
                    let sides: Vec<V::Row> = own.iter().map(|&child| below[edge_of(child)]).collect();
                    values.many(&sides, edge)
                }
            };
        }
        let mut above = vec![none; tree.edges.len()];
        for (node, children) in tree.children.iter().enumerate() {
            match children[..] {
                [] => {}
                [one, other] if node > 0 => {
                    let (own, one, other) = (above[node - 1], edge_of(one), edge_of(other));
                    above[one] = values.two(&own, &below[other], one);
                    above[other] = values.two(&own, &below[one], other);
                }
                ref own => {
                    let mut sides: Vec<V::Row> = Vec::with_capacity(own.len() + 1);
                    if node > 0 {
                        sides.push(above[node - 1]);
                    }
                    let first = sides.len();
                    sides.extend(own.iter().map(|&child| below[edge_of(child)]));
                    let others = values.others(&sides, first, own.iter().map(|&child| edge_of(child)));
                    own.iter().zip(others).for_each(|(&child, row)| above[edge_of(child)] = row);
                }
            }
        }
        Sides { values, above, below }
    }

    fn both(&self, edge: usize) -> [u32; WIDTH] {
        self.values.both(&self.above[edge], &self.below[edge])
    }
}
