//! Where the root of a tree is: as ClustalW 2.1 finds it, in its single precision.
//!
//! A node that splits in more than two gets nodes of branch length 0. Of every branch the mean distances of the leaves on
//! both sides are compared; the root may stand on it if it can make them equal there. Of such branches the one is taken that
//! has the least distance between a leaf and the node where its way meets the branch's.

use rayon::prelude::*;

use super::newick::Node;
use super::{GuideTree, Join, UnrootedTree, unrooted};

const NONE: usize = usize::MAX;

/// A tree with two children at each inner node.
#[derive(Default)]
struct Binary {
    /// Both NONE at leaves.
    children: Vec<[usize; 2]>,
    parent: Vec<usize>,
    /// Of the branch above.
    length: Vec<f32>,
    /// The sequence, at leaves.
    leaf: Vec<Option<u32>>,
    /// Nodes in the order in which a reader meets them.
    met: Vec<usize>,
    /// Leaves from left to right.
    leaves: Vec<usize>,
}

impl Binary {
    fn add(&mut self, parent: usize) -> usize {
        self.children.push([NONE; 2]);
        self.parent.push(parent);
        self.length.push(0.0);
        self.leaf.push(None);
        self.parent.len() - 1
    }

    /// The nodes of a text, in which leaves have these sequences: the tree, its root and the node that stands for the text's
    /// own root, from which that may differ.
    fn new(nodes: &[Node], sequences: &[Option<u32>]) -> (Binary, usize, usize) {
        let mut tree = Binary::default();
        // A node to be made for one of the text with its length so far, or children to be put beside those that are there.
        enum Step {
            Make { node: usize, parent: usize, side: usize, length: f64 },
            Beside { node: usize, made: usize, from: usize, parent: usize, side: usize, length: f64 },
        }
        let mut stack = vec![Step::Make { node: 0, parent: NONE, side: 0, length: nodes[0].length.unwrap_or(0.0) }];
        let (mut root, mut first) = (0, None);
        while let Some(step) = stack.pop() {
            match step {
                Step::Make { mut node, parent, side, mut length } => {
                    // A mere point on a branch is no node.
                    while let [only] = nodes[node].children[..] {
                        node = only;
                        length += nodes[only].length.unwrap_or(0.0);
                    }
                    let made = tree.add(parent);
                    tree.met.push(made);
                    tree.hang(parent, side, made);
                    if nodes[node].children.is_empty() {
                        tree.leaves.push(made);
                        tree.leaf[made] = sequences[node];
                        tree.length[made] = length as f32;
                    } else {
                        first.get_or_insert(made);
                        stack.push(Step::Beside { node, made, from: 2, parent, side, length });
                        for (side, &child) in nodes[node].children.iter().enumerate().take(2).rev() {
                            let length = nodes[child].length.unwrap_or(0.0);
                            stack.push(Step::Make { node: child, parent: made, side, length });
                        }
                    }
                }
                Step::Beside { node, made, from, parent, side, length } => match nodes[node].children.get(from) {
                    None => {
                        tree.length[made] = length as f32;
                        if parent == NONE {
                            root = made;
                        }
                    }
                    Some(&child) => {
                        let above = tree.add(parent);
                        tree.met.push(above);
                        tree.hang(parent, side, above);
                        tree.hang(above, 0, made);
                        tree.parent[made] = above;
                        stack.push(Step::Beside { node, made: above, from: from + 1, parent, side, length });
                        let length = nodes[child].length.unwrap_or(0.0);
                        stack.push(Step::Make { node: child, parent: above, side: 1, length });
                    }
                },
            }
        }
        tree.length[root] = 0.0;
        (tree, root, first.unwrap_or(0))
    }

    fn hang(&mut self, parent: usize, side: usize, child: usize) {
        if parent != NONE {
            self.children[parent][side] = child;
        }
    }

    /// Puts a root on the branch above a node, and turns all that was above it. `difference` is by how much the leaves that are
    /// not below the node are farther from it.
    fn root_above(&mut self, node: usize, difference: f32) -> usize {
        let root = self.add(NONE);
        let above = self.parent[node];
        let whole = self.length[node];
        // As comparisons leave what is no number.
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
        while turned != NONE {
            let next = self.parent[turned];
            let side = usize::from(self.children[turned][0] != below);
            self.children[turned][side] = next;
            self.parent[turned] = below;
            std::mem::swap(&mut self.length[turned], &mut carried);
            (below, turned) = (turned, next);
        }
        // The old root has one child left and is a mere point on a branch.
        let [left, right] = self.children[below];
        let child = if left == NONE { right } else { left };
        self.length[child] += self.length[below];
        let above = self.parent[below];
        self.parent[child] = above;
        let side = usize::from(self.children[above][0] != below);
        self.children[above][side] = child;
        root
    }

    /// The guide tree below a root: joins as ClustalW aligns them, all of the first child's before the second's.
    fn guide(&self, root: usize) -> GuideTree {
        let leaves = self.leaves.len();
        let mut numbers: Vec<u32> = self.leaf.iter().map(|leaf| leaf.unwrap_or(0)).collect();
        let mut joins = Vec::with_capacity(leaves.saturating_sub(1));
        let mut stack = vec![(root, false)];
        while let Some((node, is_done)) = stack.pop() {
            let [left, right] = self.children[node];
            if left == NONE {
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

/// What the choice of the root takes: leaves below nodes, and ways from leaves up.
struct Ways<'a> {
    tree: &'a Binary,
    /// The leaves below each node, from left to right.
    below: Vec<(u32, u32)>,
    /// Of each leaf where its sums begin, and above it how many nodes are.
    start: Vec<usize>,
    /// Branches above each node.
    depth: Vec<u32>,
    /// Of each leaf how long the way is to its ancestors, the nearest first, added up on the way.
    sums: Vec<f32>,
}

impl<'a> Ways<'a> {
    fn new(tree: &'a Binary) -> Self {
        let nodes = tree.parent.len();
        let mut below = vec![(u32::MAX, 0); nodes];
        let mut start = Vec::with_capacity(tree.leaves.len() + 1);
        let mut sums = Vec::new();
        for (place, &leaf) in (0..).zip(&tree.leaves) {
            start.push(sums.len());
            let (mut node, mut sum) = (leaf, 0.0);
            loop {
                let (first, end) = &mut below[node];
                *first = place.min(*first);
                *end = place + 1;
                let parent = tree.parent[node];
                if parent == NONE {
                    break;
                }
                sum += tree.length[node];
                sums.push(sum);
                node = parent;
            }
        }
        start.push(sums.len());
        let mut depth = vec![0; nodes];
        for (place, &leaf) in tree.leaves.iter().enumerate() {
            let mut node = leaf;
            let mut count = (start[place + 1] - start[place]) as u32;
            while node != NONE && depth[node] != count {
                depth[node] = count;
                count = count.saturating_sub(1);
                node = tree.parent[node];
            }
        }
        Ways { tree, below, start, depth, sums }
    }

    /// How long the way is from a leaf to an ancestor of this depth.
    fn up(&self, place: u32, depth: u32) -> f32 {
        let (start, end) = (self.start[place as usize], self.start[place as usize + 1]);
        let steps = end - start - depth as usize;
        if steps == 0 { 0.0 } else { self.sums[start + steps - 1] }
    }

    /// By how much leaves elsewhere are farther from a node than those below it, on the mean; and how far a leaf is at most from
    /// where its way meets that from the node to the root.
    fn balance(&self, node: usize) -> (f32, f32) {
        let (first, end) = self.below[node];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut here, mut way) = (node, 0.0);
        while self.tree.parent[here] != NONE {
            way += self.tree.length[here];
            let parent = self.tree.parent[here];
            let [left, right] = self.tree.children[parent];
            let (list, sibling) = if left == here { (&mut after, right) } else { (&mut before, left) };
            list.push((self.below[sibling], self.depth[parent], way));
            here = parent;
        }
        let (mut outside, mut inside, mut most) = (0.0, 0.0, 0.0);
        // A sum in single precision: from left to right.
        for &((first, end), depth, way) in before.iter().rev().chain(&after) {
            for place in first..end {
                let up = self.up(place, depth);
                outside += up;
                outside += way;
                most = if up > most { up } else { most };
            }
        }
        for place in first..end {
            let up = self.up(place, self.depth[node]);
            inside += up;
            most = if up > most { up } else { most };
        }
        let count = (end - first) as usize;
        let difference = outside / (self.tree.leaves.len() - count) as f32 - inside / count as f32;
        (difference, most)
    }
}

/// The tree of a text's nodes, with a root if it has none. Leaves have these sequences.
pub(super) fn of_nodes(nodes: &[Node], sequences: &[Option<u32>], threads: &rayon::ThreadPool) -> GuideTree {
    let (mut tree, root, first) = Binary::new(nodes, sequences);
    if root == first || tree.leaves.len() < 3 {
        return tree.guide(root);
    }
    let ways = Ways::new(&tree);
    let balances: Vec<(f32, f32)> = threads.install(|| {
        let balance = |&node: &usize| if tree.parent[node] == NONE { (-1.0, 0.0) } else { ways.balance(node) };
        tree.met.par_iter().map(balance).collect()
    });
    drop(ways);
    let mut best = None;
    for (&node, &(difference, most)) in tree.met.iter().zip(&balances) {
        let fits = difference == 0.0 || (difference > 0.0 && difference < 2.0 * tree.length[node]);
        if fits && tree.parent[node] != NONE && best.is_none_or(|(_, _, least)| most < least) {
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
    /// The guide tree that ClustalW makes of it: lengths as its file has them, the root where both sides are on the mean
    /// equally far, the shallowest of such places.
    pub fn rooted(&self, threads: &rayon::ThreadPool) -> GuideTree {
        of_unrooted(self, threads)
    }
}

/// The tree with a root, its lengths as a file of five decimals has them.
fn of_unrooted(tree: &UnrootedTree, threads: &rayon::ThreadPool) -> GuideTree {
    if tree.leaves == 0 {
        return GuideTree::default();
    }
    let mut nodes = vec![Node::default()];
    let mut sequences = vec![None];
    // Children of the node at this place of the list: numbers in the tree, with their lengths.
    let mut stack = vec![(0, tree.centre.clone())];
    while let Some((parent, children)) = stack.pop() {
        for (number, length) in children {
            let place = nodes.len();
            nodes[parent].children.push(place);
            let length =
                if tree.leaves == 2 { unrooted::of_two(length).parse() } else { format!("{length:.5}").parse() };
            let length = length.expect("a number that was just written");
            nodes.push(Node { length: Some(length), ..Node::default() });
            sequences.push((number as usize).checked_sub(tree.leaves).is_none().then_some(number));
            if let Some(join) = (number as usize).checked_sub(tree.leaves) {
                let Join { children, lengths } = tree.joins[join];
                stack.push((place, children.into_iter().zip(lengths).collect()));
            }
        }
    }
    of_nodes(&nodes, &sequences, threads)
}

#[cfg(test)]
mod tests;
