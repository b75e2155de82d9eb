//! Unrooted trees as PaPaRa reads them, with edges in PaPaRa's order.
//!
//! A root with two children is not a node: its two edges become one, with the sum of both lengths.
//! A missing length becomes 1 and a negative length becomes 0, each with a warning.
//!
//! Edges are numbered in pre-order: below the third child of the root, then below the first and the
//! second, then below any others. If the root has two children, the joint edge is the first,
//! followed by the edges below the right child and those below the left child.

use std::io::Write;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::error::Result;
use crate::tree::newick::{self, NewickError, NewickNode, quoted_with};

/// Index of a node. It is a type of its own, because edges also have numbers, which differ by 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Node 0, which is above all other nodes.
    pub const TOP: NodeId = NodeId(0);

    /// Returns the position of the node in lists of nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of the edge that leads down to the node; `None` for the top.
    pub fn edge_above(self) -> Option<u32> {
        self.0.checked_sub(1)
    }
}

/// An edge, seen from node 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The end closer to node 0.
    pub above: NodeId,
    /// The other end. Its index is the number of the edge plus 1.
    pub below: NodeId,
    /// Length from the file, or 1 if it is missing; at least 0.
    pub length: f64,
    /// Label of the inner node below, usually a support value.
    pub label: Option<BString>,
}

/// An unrooted tree of at least three leaves.
///
/// Node 0 is an inner node: the root of the file, or one end of the joint edge if the root has two
/// children. A node has a larger number than all nodes between it and node 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferenceTree {
    /// Edges by number. Edge e leads to node e + 1.
    pub edges: Vec<Edge>,
    /// Name of each leaf; `None` for inner nodes.
    pub names: Vec<Option<BString>>,
    /// Neighbours of each node that are farther from node 0.
    pub children: Vec<Vec<NodeId>>,
    /// Up to three edges of each node, each with the first leaf by name in the subtree behind it.
    /// The edges are sorted by that name.
    nearest: Vec<[Option<(u32, NodeId)>; 3]>,
}

impl ReferenceTree {
    /// Reads a tree from a plain or compressed file. `-` is standard input.
    ///
    /// # Errors
    /// Returns the errors of [`ReferenceTree::parse`], or [`crate::Error::Io`] if the system fails.
    pub fn read(path: impl AsRef<Path>) -> Result<ReferenceTree> {
        let path = path.as_ref();
        ReferenceTree::parse(&path.display().to_string(), &crate::seq::read_text(path)?)
    }

    /// Parses a Newick text or a NEXUS file. `file` is the name for errors and warnings.
    ///
    /// # Errors
    /// Returns [`crate::Error::Input`] with the problem and its position. Trees with fewer than
    /// three leaves and duplicate leaf names are errors too.
    ///
    /// ```
    /// use pairwave::papara::ReferenceTree;
    ///
    /// let tree = ReferenceTree::parse("a.nwk", b"((a:1,b:2)0.9:1,(c:1,d:1):0.5);")?;
    /// assert_eq!(tree.annotated(), "(a:1{3},b:2{4},(c:1{1},d:1{2})0.9:1.5{0});");
    /// assert_eq!((tree.split(0), tree.split(1)), ("a,b|c,d".into(), "c|a,d".into()));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    pub fn parse(file: &str, text: &[u8]) -> Result<ReferenceTree> {
        build(file, text).map_err(|wrong| wrong.in_file(file, text))
    }

    /// Returns the nodes and names of the leaves.
    pub fn leaves(&self) -> impl Iterator<Item = (NodeId, &BStr)> {
        self.names.iter().enumerate().filter_map(|(node, name)| Some((NodeId(node as u32), name.as_ref()?.as_bstr())))
    }

    /// Renames leaves. No two leaves may have the same name.
    pub(super) fn rename(&mut self, renamed: impl Iterator<Item = (NodeId, BString)>) {
        renamed.for_each(|(leaf, name)| self.names[leaf.index()] = Some(name));
        let ranked = self.rank();
        debug_assert!(ranked.is_ok(), "two leaves are called {ranked:?}");
    }

    /// Sorts the leaves by name and computes `nearest`. Returns `Err` with a name that two leaves
    /// share.
    fn rank(&mut self) -> Result<(), BString> {
        let mut leaves: Vec<(&BStr, NodeId)> = self.leaves().map(|(leaf, name)| (name, leaf)).collect();
        leaves.sort_unstable();
        if let Some(pair) = leaves.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(pair[0].0.to_owned());
        }
        let leaves: Vec<NodeId> = leaves.into_iter().map(|(_, leaf)| leaf).collect();
        self.nearest = nearest_leaves(self, &leaves);
        Ok(())
    }

    /// Returns the tree as Newick, with each edge's number in braces after its length, as in
    /// placement files. The root is node 0. Parsing the text with this module gives the same edge
    /// numbers.
    pub fn annotated(&self) -> BString {
        let mut text = BString::default();
        // Each entry is a node and the number of its children already written.
        let mut stack: Vec<(NodeId, usize)> = vec![(NodeId::TOP, 0)];
        while let Some((node, written)) = stack.pop() {
            let children = &self.children[node.index()];
            if written < children.len() {
                text.push(if written == 0 { b'(' } else { b',' });
                stack.push((node, written + 1));
                // The edges of node 0 are numbered from its third child on.
                let rank = if node == NodeId::TOP && written < 3 { (written + 1) % 3 } else { written };
                stack.push((children[rank], 0));
                continue;
            }
            if !children.is_empty() {
                text.push(b')');
            }
            let Some(number) = node.edge_above() else { continue };
            let edge = &self.edges[number as usize];
            let label = self.names[node.index()].as_deref().or(edge.label.as_deref());
            text.extend_from_slice(&label.map(|label| quoted_with(label, b"{}")).unwrap_or_default());
            write!(text, ":{}{{{number}}}", edge.length).expect("memory takes all");
        }
        text.push(b';');
        text
    }

    /// Returns a unique name of an edge, such as `a,b|c,d`: a and b are leaves behind one end, c
    /// and d behind the other. The two leaves of a side come from different subtrees: those whose
    /// first leaf by name comes first. The edge of leaf a is named `a|c,d`.
    pub fn split(&self, edge: u32) -> BString {
        let [above, below] = [self.edges[edge as usize].above, self.edges[edge as usize].below];
        let name = |leaf: NodeId| self.names[leaf.index()].as_ref().map(|name| name.as_bstr()).unwrap_or_default();
        let behind = |node: NodeId| {
            let others = self.nearest[node.index()].iter().flatten().filter(|(other, _)| *other != edge);
            let mut leaves: Vec<&BStr> = others.take(2).map(|&(_, leaf)| name(leaf)).collect();
            if leaves.is_empty() {
                leaves.push(name(node));
            }
            leaves
        };
        let mut sides = [behind(above), behind(below)];
        sides.sort_unstable();
        sides.sort_by_key(Vec::len);
        sides.map(|side| bstr::join(",", side.into_iter().map(|name| quoted_with(name, b"|")))).join(&b'|').into()
    }
}

/// An edge without a number yet: the indices of its upper and lower node in the text, and its
/// length.
type PendingEdge = (usize, usize, f64);

/// Builds the tree of a text.
fn build(file: &str, text: &[u8]) -> Result<ReferenceTree, NewickError> {
    let nodes = newick::nodes(text)?;
    let whole = |message: String| NewickError { at: 0, message };
    let is_leaf = |node: usize| nodes[node].children.is_empty();
    let leaves = (0..nodes.len()).filter(|&node| is_leaf(node)).count();
    if leaves < 3 {
        return Err(whole(format!("the tree needs at least three leaves; it has {leaves}")));
    }
    let (root, _) = descend(&nodes, 0);
    // The last entry is processed next.
    let mut stack: Vec<PendingEdge> = Vec::new();
    let is_joint = nodes[root].children.len() == 2;
    let top = match nodes[root].children[..] {
        [] | [_] => return Err(whole("the root has no children".into())),
        [left, right] => {
            let ((left, a), (right, b)) = (descend(&nodes, left), descend(&nodes, right));
            stack.extend(nodes[left].children.iter().rev().map(|&child| edge_to(&nodes, left, child)));
            stack.extend(nodes[right].children.iter().rev().map(|&child| edge_to(&nodes, right, child)));
            // A leaf is always the lower end of its edge.
            let (above, below) = if is_leaf(left) { (right, left) } else { (left, right) };
            stack.push((above, below, (a + b).min(f64::MAX)));
            above
        }
        [first, second, third, ref others @ ..] => {
            let children = others.iter().rev().copied().chain([second, first, third]);
            stack.extend(children.map(|child| edge_to(&nodes, root, child)));
            root
        }
    };
    let mut tree = ReferenceTree { names: vec![None], children: vec![Vec::new()], ..ReferenceTree::default() };
    let mut numbers = vec![NodeId::TOP; nodes.len()];
    numbers[top] = NodeId::TOP;
    while let Some((above, below, length)) = stack.pop() {
        let number = NodeId(tree.names.len() as u32);
        numbers[below] = number;
        // The support of the joint edge may be written at either end.
        let other = || nodes[above].label.clone().filter(|_| is_joint && number == NodeId(1));
        let label = nodes[below].label.clone();
        let (name, label) = if is_leaf(below) { (label, None) } else { (None, label.or_else(other)) };
        let above = numbers[above];
        tree.edges.push(Edge { above, below: number, length, label });
        tree.names.push(name);
        tree.children.push(Vec::new());
        tree.children[above.index()].push(number);
        // The edges at both ends of the joint edge are already on the stack.
        if !(is_joint && number == NodeId(1)) {
            stack.extend(nodes[below].children.iter().rev().map(|&child| edge_to(&nodes, below, child)));
        }
    }
    tree.rank().map_err(|name| whole(format!("two leaves have the name '{name}'")))?;
    newick::warn_of_missing(file, &nodes, "1");
    newick::warn_of_negative(file, &nodes);
    Ok(tree)
}

/// Follows nodes with a single child down to the next leaf or branching node. Returns that node and
/// the total length of the edges to it.
fn descend(nodes: &[NewickNode], mut node: usize) -> (usize, f64) {
    let above = |node: usize| nodes[node].length.map_or(1.0, |length| length.max(0.0));
    let mut length = above(node);
    while let [only] = nodes[node].children[..] {
        node = only;
        length += above(only);
    }
    (node, length.min(f64::MAX))
}

fn edge_to(nodes: &[NewickNode], above: usize, child: usize) -> PendingEdge {
    let (below, length) = descend(nodes, child);
    (above, below, length)
}

/// Returns `nearest` for each node: the edges to the subtrees with the first leaves by name, and
/// these leaves. `leaves` is sorted by name.
fn nearest_leaves(tree: &ReferenceTree, leaves: &[NodeId]) -> Vec<[Option<(u32, NodeId)>; 3]> {
    let mut ranks = vec![u32::MAX; tree.names.len()];
    for (rank, &leaf) in (0..).zip(leaves) {
        ranks[leaf.index()] = rank;
    }
    // First leaf at or below each node.
    let mut below = ranks;
    for edge in tree.edges.iter().rev() {
        below[edge.above.index()] = below[edge.above.index()].min(below[edge.below.index()]);
    }
    // First leaf above each node, outside the subtree of the node.
    let mut above = vec![u32::MAX; tree.names.len()];
    let mut nearest = Vec::with_capacity(tree.names.len());
    for (node, children) in tree.children.iter().enumerate() {
        let mut three = [(u32::MAX, u32::MAX); 3];
        let mut add = |rank: u32, edge: u32| {
            let index = three.partition_point(|&(other, _)| other <= rank);
            if rank < u32::MAX && index < 3 {
                three[index..].rotate_right(1);
                three[index] = (rank, edge);
            }
        };
        if node > 0 {
            add(above[node], node as u32 - 1);
        }
        for &child in children {
            add(below[child.index()], child.0 - 1);
        }
        for &child in children {
            above[child.index()] = if three[0].1 == child.0 - 1 { three[1].0 } else { three[0].0 };
        }
        nearest.push(three.map(|(rank, edge)| (rank < u32::MAX).then(|| (edge, leaves[rank as usize]))));
    }
    nearest
}

#[cfg(test)]
mod tests;
