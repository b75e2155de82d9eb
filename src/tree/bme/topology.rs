//! Unrooted binary trees whose subtrees can be moved.

use crate::tree::{Join, UnrootedTree};

/// Number of an edge of a [`Topology`]. Nodes are plain indices, so that the two cannot be confused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeId(u32);

impl EdgeId {
    const NO_EDGE: EdgeId = EdgeId(u32::MAX);

    /// Creates the number of an edge from its index.
    pub(super) fn new(index: usize) -> Self {
        EdgeId(index as u32)
    }

    /// Returns the index of the edge, counted from 0.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An unrooted tree of at least three leaves. Leaves are the first nodes. Inner nodes have three
/// edges.
#[derive(Debug, Clone)]
pub(super) struct Topology {
    leaves: usize,
    /// The two nodes of each edge.
    ends: Vec<[u32; 2]>,
    /// The edges of each node; a leaf has one.
    edges: Vec<[EdgeId; 3]>,
}

/// An edge in an order from the leaves to a root.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeBelow {
    pub edge: EdgeId,
    /// The node of the edge that is farther from the root.
    pub node: usize,
    /// The edges below that node; `None` for a leaf.
    pub beyond: Option<[EdgeId; 2]>,
}

/// The result of moving a subtree.
pub(super) struct Moved {
    /// Nodes from the old place of the subtree to its new place, without the node behind the old
    /// place. The last node is the one that moved.
    pub path: Vec<usize>,
    /// The edge that was moved to the far half of the target.
    pub far_half: EdgeId,
}

impl Topology {
    pub(super) fn new(tree: &UnrootedTree) -> Self {
        let nodes = 2 * tree.leaves - 2;
        let mut made = Topology {
            leaves: tree.leaves,
            ends: Vec::with_capacity(nodes - 1),
            edges: vec![[EdgeId::NO_EDGE; 3]; nodes],
        };
        for (join, node) in tree.joins.iter().zip(tree.leaves..) {
            join.children.iter().for_each(|&child| made.connect(node, child as usize));
        }
        tree.centre.iter().for_each(|&(child, _)| made.connect(nodes - 1, child as usize));
        made
    }

    fn connect(&mut self, a: usize, b: usize) {
        let edge = EdgeId::new(self.ends.len());
        self.ends.push([a as u32, b as u32]);
        for node in [a, b] {
            let free = self.edges[node].iter_mut().find(|edge| **edge == EdgeId::NO_EDGE).expect("the tree is binary");
            *free = edge;
        }
    }

    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    /// Returns the number of edges.
    pub(super) fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns all edges.
    pub(super) fn edges(&self) -> impl Iterator<Item = EdgeId> + use<> {
        (0..self.ends.len()).map(EdgeId::new)
    }

    pub(super) fn ends(&self, edge: EdgeId) -> [usize; 2] {
        self.ends[edge.index()].map(|node| node as usize)
    }

    pub(super) fn edge_of_leaf(&self, leaf: usize) -> EdgeId {
        self.edges[leaf][0]
    }

    /// Returns the edges of an inner node.
    pub(super) fn edges_of(&self, node: usize) -> [EdgeId; 3] {
        self.edges[node]
    }

    /// Returns the node that two neighbouring edges share.
    pub(super) fn node_between(&self, a: EdgeId, b: EdgeId) -> usize {
        let [first, second] = self.ends(a);
        if self.ends(b).contains(&first) { first } else { second }
    }

    /// Returns the node at the other end of an edge.
    pub(super) fn across(&self, edge: EdgeId, node: usize) -> usize {
        let [a, b] = self.ends(edge);
        if a == node { b } else { a }
    }

    /// Returns the two other edges of a node; `None` for a leaf.
    pub(super) fn others(&self, node: usize, edge: EdgeId) -> Option<[EdgeId; 2]> {
        let [a, b, c] = self.edges[node];
        match edge {
            _ if node < self.leaves => None,
            edge if edge == a => Some([b, c]),
            edge if edge == b => Some([a, c]),
            _ => Some([a, b]),
        }
    }

    /// Returns all edges as seen from a leaf, those farther from it first. The edges below an edge
    /// directly precede it.
    pub(super) fn below(&self, leaf: usize) -> Vec<EdgeBelow> {
        let first = self.edge_of_leaf(leaf);
        let mut order = Vec::with_capacity(self.edge_count());
        let mut stack = vec![(first, self.across(first, leaf))];
        while let Some((edge, node)) = stack.pop() {
            let beyond = self.others(node, edge);
            order.push(EdgeBelow { edge, node, beyond });
            stack.extend(beyond.into_iter().flatten().map(|next| (next, self.across(next, node))));
        }
        order.reverse();
        order
    }

    fn replace_end(&mut self, edge: EdgeId, old: usize, new: usize) {
        let end = self.ends[edge.index()].iter_mut().find(|end| **end == old as u32).expect("the edge has this end");
        *end = new as u32;
    }

    fn replace_edge(&mut self, node: usize, old: EdgeId, new: EdgeId) {
        let place = self.edges[node].iter_mut().find(|edge| **edge == old).expect("the node has this edge");
        *place = new;
    }

    /// Moves the subtree beyond `pruned`, which is attached at `node`, to the edge that ends
    /// `way`. The way consists of the edges from `node` to the target, in order.
    pub(super) fn regraft(&mut self, pruned: EdgeId, node: usize, way: &[EdgeId]) -> Moved {
        let (Some(&ahead), Some(&target)) = (way.first(), way.last()) else {
            unreachable!("a move has a way");
        };
        let others = self.others(node, pruned).expect("the node is not a leaf");
        let behind = others[usize::from(others[0] == ahead)];
        let mut path = Vec::with_capacity(way.len() + 1);
        let mut here = node;
        for &edge in &way[..way.len() - 1] {
            here = self.across(edge, here);
            path.push(here);
        }
        let (first, near) = (path[0], here);
        let far = self.across(target, near);
        // The edge behind the node now leads to the first node of the path, the edge ahead becomes
        // the far half of the target, and the target becomes its near half.
        self.replace_end(behind, node, first);
        self.replace_edge(first, ahead, behind);
        self.replace_end(ahead, first, far);
        self.replace_edge(far, target, ahead);
        self.replace_end(target, far, node);
        self.replace_edge(node, behind, target);
        path.push(node);
        Moved { path, far_half: ahead }
    }

    /// Converts this to a tree whose central point is next to the first leaf. The first child of
    /// each join contains the earlier sequence. Negative lengths become 0.
    pub(super) fn unrooted(&self, length: impl Fn(EdgeId) -> f64) -> UnrootedTree {
        let mut joins = Vec::with_capacity(self.leaves - 3);
        // Number in the new tree and first leaf of each node.
        let mut made = vec![(0u32, 0u32); self.edges.len()];
        let first = self.edge_of_leaf(0);
        let centre = self.across(first, 0);
        let children = |made: &[(u32, u32)], edges: &[EdgeId], parent: usize| {
            let mut children: Vec<(u32, u32, f64)> = edges
                .iter()
                .map(|&edge| {
                    let (number, leaf) = made[self.across(edge, parent)];
                    (leaf, number, length(edge).max(0.0))
                })
                .collect();
            children.sort_unstable_by_key(|&(leaf, ..)| leaf);
            children
        };
        for step in self.below(0) {
            made[step.node] = match step.beyond {
                None => (step.node as u32, step.node as u32),
                Some(_) if step.node == centre => break,
                Some(edges) => {
                    let below = children(&made, &edges, step.node);
                    let lengths = [below[0].2, below[1].2];
                    joins.push(Join { children: [below[0].1, below[1].1], lengths });
                    ((self.leaves + joins.len() - 1) as u32, below[0].0)
                }
            };
        }
        let edges = self.edges[centre];
        let centre = children(&made, &edges, centre).into_iter().map(|(_, number, length)| (number, length)).collect();
        UnrootedTree { leaves: self.leaves, joins, centre }
    }
}
