//! Rooting of trees, with the same method and the same single precision as ClustalW 2.1.
//!
//! A node with more than two children is resolved by nodes with branches of length 0. For every
//! branch, the mean distances of the leaves on its two sides are compared. The root can lie on a
//! branch if a point on it makes these means equal. Each such branch has a height: the greatest
//! distance of a leaf to the node where its path meets the path from the branch to the old root.
//! The branch with the least height is chosen.

use rayon::prelude::*;

use super::newick::NewickNode;
use super::{GuideTree, Join, UnrootedTree, unrooted};

const NO_INDEX: usize = usize::MAX;

/// A tree where each inner node has two children.
#[derive(Default)]
struct Binary {
    /// Children of each node; both are [`NO_INDEX`] at leaves.
    children: Vec<[usize; 2]>,
    parent: Vec<usize>,
    /// Length of the branch above each node.
    length: Vec<f32>,
    /// Sequence of each leaf; `None` at inner nodes.
    leaf: Vec<Option<u32>>,
    /// Nodes in the order of the text.
    met: Vec<usize>,
    /// Leaves from left to right.
    leaves: Vec<usize>,
}

impl Binary {
    fn add(&mut self, parent: usize) -> usize {
        self.children.push([NO_INDEX; 2]);
        self.parent.push(parent);
        self.length.push(0.0);
        self.leaf.push(None);
        self.parent.len() - 1
    }

    /// Builds the tree from the nodes of a text, whose leaves have these sequences. Returns the
    /// tree, its root, and the node for the root of the text. The two differ if the text's root has
    /// more than two children.
    fn new(nodes: &[NewickNode], sequences: &[Option<u32>]) -> (Binary, usize, usize) {
        let mut tree = Binary::default();
        // Either makes a node from a node of the text, with the accumulated length of its branch,
        // or adds further children next to the existing ones.
        enum BuildStep {
            Make { node: usize, parent: usize, side: usize, length: f64 },
            AddSibling { node: usize, made: usize, from: usize, parent: usize, side: usize, length: f64 },
        }
        let mut stack =
            vec![BuildStep::Make { node: 0, parent: NO_INDEX, side: 0, length: nodes[0].length.unwrap_or(0.0) }];
        let (mut root, mut first) = (0, None);
        while let Some(step) = stack.pop() {
            match step {
                BuildStep::Make { mut node, parent, side, mut length } => {
                    // A node with one child is only a point on a branch.
                    while let [only] = nodes[node].children[..] {
                        node = only;
                        length += nodes[only].length.unwrap_or(0.0);
                    }
                    let made = tree.add(parent);
                    tree.met.push(made);
                    tree.attach(parent, side, made);
                    if nodes[node].children.is_empty() {
                        tree.leaves.push(made);
                        tree.leaf[made] = sequences[node];
                        tree.length[made] = length as f32;
                    } else {
                        first.get_or_insert(made);
                        stack.push(BuildStep::AddSibling { node, made, from: 2, parent, side, length });
                        for (side, &child) in nodes[node].children.iter().enumerate().take(2).rev() {
                            let length = nodes[child].length.unwrap_or(0.0);
                            stack.push(BuildStep::Make { node: child, parent: made, side, length });
                        }
                    }
                }
                BuildStep::AddSibling { node, made, from, parent, side, length } => {
                    match nodes[node].children.get(from) {
                        None => {
                            tree.length[made] = length as f32;
                            if parent == NO_INDEX {
                                root = made;
                            }
                        }
                        Some(&child) => {
                            let above = tree.add(parent);
                            tree.met.push(above);
                            tree.attach(parent, side, above);
                            tree.attach(above, 0, made);
                            tree.parent[made] = above;
                            stack.push(BuildStep::AddSibling {
                                node,
                                made: above,
                                from: from + 1,
                                parent,
                                side,
                                length,
                            });
                            let length = nodes[child].length.unwrap_or(0.0);
                            stack.push(BuildStep::Make { node: child, parent: above, side: 1, length });
                        }
                    }
                }
            }
        }
        tree.length[root] = 0.0;
        (tree, root, first.unwrap_or(0))
    }

    fn attach(&mut self, parent: usize, side: usize, child: usize) {
        if parent != NO_INDEX {
            self.children[parent][side] = child;
        }
    }

    /// Puts a root on the branch above a node, and reverses the branches from there to the old
    /// root. `difference` is the excess of the mean distance of the leaves outside of the node over
    /// the mean of the leaves below it.
    fn root_above(&mut self, node: usize, difference: f32) -> usize {
        let root = self.add(NO_INDEX);
        let above = self.parent[node];
        let whole = self.length[node];
        // These comparisons leave NaN unchanged.
        let mut to_node = difference / 2.0;
        if to_node < 0.0 {
            to_node = 0.0;
        }
        if to_node > whole {
            to_node = whole;
        }
        let mut carried = self.length[above];
        self.length[node] = to_node;
        self.length[above] = whole - to_node;
        self.parent[node] = root;
        self.children[root] = [above, node];
        let next = self.parent[above];
        let side = usize::from(self.children[above][0] != node);
        self.children[above][side] = next;
        self.parent[above] = root;
        let (mut below, mut turned) = (above, next);
        while turned != NO_INDEX {
            let next = self.parent[turned];
            let side = usize::from(self.children[turned][0] != below);
            self.children[turned][side] = next;
            self.parent[turned] = below;
            std::mem::swap(&mut self.length[turned], &mut carried);
            (below, turned) = (turned, next);
        }
        // The old root has one child left, so it is only a point on a branch.
        let [left, right] = self.children[below];
        let child = if left == NO_INDEX { right } else { left };
        self.length[child] += self.length[below];
        let above = self.parent[below];
        self.parent[child] = above;
        let side = usize::from(self.children[above][0] != below);
        self.children[above][side] = child;
        root
    }

    /// Returns the guide tree below a root. As in ClustalW, all joins of the first child come
    /// before the second's.
    fn guide(&self, root: usize) -> GuideTree {
        let leaves = self.leaves.len();
        let mut numbers: Vec<u32> = self.leaf.iter().map(|leaf| leaf.unwrap_or(0)).collect();
        let mut joins = Vec::with_capacity(leaves.saturating_sub(1));
        let mut stack = vec![(root, false)];
        while let Some((node, is_done)) = stack.pop() {
            let [left, right] = self.children[node];
            if left == NO_INDEX {
                continue;
            }
            if is_done {
                numbers[node] = (leaves + joins.len()) as u32;
                let lengths = [left, right].map(|child| f64::from(self.length[child]));
                joins.push(Join { children: [left, right].map(|child| numbers[child]), lengths });
            } else {
                stack.extend([(node, true), (right, false), (left, false)]);
            }
        }
        GuideTree { leaves, joins }
    }
}

/// Leaves below nodes and distances from leaves to ancestors, for choosing the root.
struct LeafPaths<'a> {
    tree: &'a Binary,
    /// Range of the leaves below each node, counted from left to right.
    below: Vec<(u32, u32)>,
    /// Start of each leaf's range in `sums`. The length of the range is the depth of the leaf.
    start: Vec<usize>,
    /// Number of branches above each node.
    depth: Vec<u32>,
    /// For each leaf, its distances to its ancestors, the nearest first, as running sums.
    sums: Vec<f32>,
}

impl<'a> LeafPaths<'a> {
    fn new(tree: &'a Binary) -> Self {
        let nodes = tree.parent.len();
        let mut below = vec![(u32::MAX, 0); nodes];
        let mut start = Vec::with_capacity(tree.leaves.len() + 1);
        let mut sums = Vec::new();
        for (index, &leaf) in (0..).zip(&tree.leaves) {
            start.push(sums.len());
            let (mut node, mut sum) = (leaf, 0.0);
            loop {
                let (first, end) = &mut below[node];
                *first = index.min(*first);
                *end = index + 1;
                let parent = tree.parent[node];
                if parent == NO_INDEX {
                    break;
                }
                sum += tree.length[node];
                sums.push(sum);
                node = parent;
            }
        }
        start.push(sums.len());
        let mut depth = vec![0; nodes];
        for (index, &leaf) in tree.leaves.iter().enumerate() {
            let mut node = leaf;
            let mut count = (start[index + 1] - start[index]) as u32;
            while node != NO_INDEX && depth[node] != count {
                depth[node] = count;
                count = count.saturating_sub(1);
                node = tree.parent[node];
            }
        }
        LeafPaths { tree, below, start, depth, sums }
    }

    /// Returns the distance from a leaf to its ancestor at this depth.
    fn distance_to_ancestor(&self, index: u32, depth: u32) -> f32 {
        let (start, end) = (self.start[index as usize], self.start[index as usize + 1]);
        let steps = end - start - depth as usize;
        if steps == 0 { 0.0 } else { self.sums[start + steps - 1] }
    }

    /// Returns two values for a node. The first is the excess of the mean distance of the leaves
    /// elsewhere over the mean of the leaves below it. The second is the greatest distance of a
    /// leaf to the point where its path meets the path from the node to the root.
    fn balance(&self, node: usize) -> (f32, f32) {
        let (first, end) = self.below[node];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut here, mut way) = (node, 0.0);
        while self.tree.parent[here] != NO_INDEX {
            way += self.tree.length[here];
            let parent = self.tree.parent[here];
            let [left, right] = self.tree.children[parent];
            let (list, sibling) = if left == here { (&mut after, right) } else { (&mut before, left) };
            list.push((self.below[sibling], self.depth[parent], way));
            here = parent;
        }
        let (mut outside, mut inside, mut most) = (0.0, 0.0, 0.0);
        // A sum in single precision, which depends on the order from left to right.
        for &((first, end), depth, way) in before.iter().rev().chain(&after) {
            for index in first..end {
                let up = self.distance_to_ancestor(index, depth);
                outside += up;
                outside += way;
                most = if up > most { up } else { most };
            }
        }
        for index in first..end {
            let up = self.distance_to_ancestor(index, self.depth[node]);
            inside += up;
            most = if up > most { up } else { most };
        }
        let count = (end - first) as usize;
        let difference = outside / (self.tree.leaves.len() - count) as f32 - inside / count as f32;
        (difference, most)
    }
}

/// Builds a guide tree from a text's nodes, whose leaves have these sequences. A tree without a
/// root gets one.
pub(super) fn from_nodes(nodes: &[NewickNode], sequences: &[Option<u32>], threads: &rayon::ThreadPool) -> GuideTree {
    let (mut tree, root, first) = Binary::new(nodes, sequences);
    if root == first || tree.leaves.len() < 3 {
        return tree.guide(root);
    }
    let paths = LeafPaths::new(&tree);
    let balances: Vec<(f32, f32)> = threads.install(|| {
        let balance = |&node: &usize| if tree.parent[node] == NO_INDEX { (-1.0, 0.0) } else { paths.balance(node) };
        tree.met.par_iter().map(balance).collect()
    });
    drop(paths);
    let mut best = None;
    for (&node, &(difference, most)) in tree.met.iter().zip(&balances) {
        let fits = difference == 0.0 || (difference > 0.0 && difference < 2.0 * tree.length[node]);
        if fits && tree.parent[node] != NO_INDEX && best.is_none_or(|(_, _, least)| most < least) {
            best = Some((node, difference, most));
        }
    }
    let (node, difference) = match best {
        Some((node, difference, _)) if node != first => (node, difference),
        _ => {
            let [left, right] = tree.children[first];
            (right, tree.length[left] + tree.length[right])
        }
    };
    let root = tree.root_above(node, difference);
    tree.guide(root)
}

impl UnrootedTree {
    /// Returns the guide tree that ClustalW derives. The lengths are rounded as in its tree file.
    /// The root is where the leaves on both sides have the same mean distance, at the shallowest of
    /// such points.
    pub fn rooted(&self, threads: &rayon::ThreadPool) -> GuideTree {
        root_unrooted(self, threads)
    }
}

/// Roots a tree. Its lengths are rounded to the five decimals of a tree file.
fn root_unrooted(tree: &UnrootedTree, threads: &rayon::ThreadPool) -> GuideTree {
    if tree.leaves == 0 {
        return GuideTree::default();
    }
    let mut nodes = vec![NewickNode::default()];
    let mut sequences = vec![None];
    // Each entry is an index in `nodes`, and the children to add to it: their numbers in the tree
    // and their lengths.
    let mut stack = vec![(0, tree.centre.clone())];
    while let Some((parent, children)) = stack.pop() {
        for (number, length) in children {
            let index = nodes.len();
            nodes[parent].children.push(index);
            let length = if tree.leaves == 2 {
                unrooted::two_leaf_length(length).parse()
            } else {
                format!("{length:.5}").parse()
            };
            let length = length.expect("a number that was just written");
            nodes.push(NewickNode { length: Some(length), ..NewickNode::default() });
            sequences.push((number as usize).checked_sub(tree.leaves).is_none().then_some(number));
            if let Some(join) = (number as usize).checked_sub(tree.leaves) {
                let Join { children, lengths } = tree.joins[join];
                stack.push((index, children.into_iter().zip(lengths).collect()));
            }
        }
    }
    from_nodes(&nodes, &sequences, threads)
}

#[cfg(test)]
mod tests;
