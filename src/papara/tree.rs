//! Trees as PaPaRa takes them: unrooted, edges in its order.
//!
//! A root with two children is no node: its edges are one, as long as both. A length that is missing is 1, one below 0 is 0, each
//! with a warning. Edges are numbered
//! in pre-order: under the third child of the root, the first, the second, then any others; where the root had two children, the
//! joint edge first, then those under the right child, then under the left.

use std::io::Write;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::error::Result;
use crate::tree::newick::{self, NewickError, NewickNode, quoted_with};

/// A node's number.
pub type NodeId = u32;

/// An edge, seen from node 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The node nearer to node 0.
    pub above: NodeId,
    /// The other one: the edge's own number and 1.
    pub below: NodeId,
    /// As the file says, or 1; at least 0.
    pub length: f64,
    /// The label of the inner node below, mostly a support value.
    pub label: Option<BString>,
}

/// An unrooted tree of three leaves or more.
///
/// NewickNode 0 is an inner one: the file's root, or where that had two children an end of their joint edge. A node has a greater
/// number than those between it and node 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// In the order of their numbers; edge e leads to node e + 1.
    pub edges: Vec<Edge>,
    /// Names of leaves; `None` for inner nodes.
    pub names: Vec<Option<BString>>,
    /// The nodes next to each one that are farther from node 0.
    pub children: Vec<Vec<NodeId>>,
    /// For each node, at most three directions: the edge and the first leaf by name behind it, sorted by name.
    nearest: Vec<[Option<(u32, NodeId)>; 3]>,
}

impl Tree {
    /// Reads a tree, plain or compressed; `-` is standard input.
    ///
    /// # Errors
    /// As [`Tree::parse`]; [`crate::Error::Io`] if the system fails.
    pub fn read(path: impl AsRef<Path>) -> Result<Tree> {
        let path = path.as_ref();
        Tree::parse(&path.display().to_string(), &crate::seq::read_text(path)?)
    }

    /// The tree of a Newick text or a NEXUS file; `file` stands for its file in errors and warnings.
    ///
    /// # Errors
    /// [`crate::Error::Input`] with what is wrong, and where: also fewer than three leaves, or a name that two leaves have.
    ///
    /// ```
    /// let tree = pairwave::papara::Tree::parse("a.nwk", b"((a:1,b:2)0.9:1,(c:1,d:1):0.5);")?;
    /// assert_eq!(tree.annotated(), "(a:1{3},b:2{4},(c:1{1},d:1{2})0.9:1.5{0});");
    /// assert_eq!((tree.split(0), tree.split(1)), ("a,b|c,d".into(), "c|a,d".into()));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    pub fn parse(file: &str, text: &[u8]) -> Result<Tree> {
        build(file, text).map_err(|wrong| wrong.in_file(file, text))
    }

    /// Leaves: their nodes and names.
    pub fn leaves(&self) -> impl Iterator<Item = (NodeId, &BStr)> {
        self.names.iter().enumerate().filter_map(|(node, name)| Some((node as NodeId, name.as_ref()?.as_bstr())))
    }

    /// Gives leaves other names, which no two may have.
    pub(super) fn rename(&mut self, renamed: impl Iterator<Item = (NodeId, BString)>) {
        renamed.for_each(|(leaf, name)| self.names[leaf as usize] = Some(name));
        let ranked = self.rank();
        debug_assert!(ranked.is_ok(), "two leaves are called {ranked:?}");
    }

    /// Finds the least leaves; `Err` has a name that two leaves have.
    fn rank(&mut self) -> Result<(), BString> {
        let mut leaves: Vec<(&BStr, NodeId)> = self.leaves().map(|(leaf, name)| (name, leaf)).collect();
        leaves.sort_unstable();
        if let Some(pair) = leaves.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(pair[0].0.to_owned());
        }
        let leaves: Vec<NodeId> = leaves.into_iter().map(|(_, leaf)| leaf).collect();
        self.nearest = nearest(self, &leaves);
        Ok(())
    }

    /// Newick with each edge's number in braces after its length, as files of placements have it. Its root is node 0, and a
    /// reader that numbers edges as this one does finds the same numbers.
    pub fn annotated(&self) -> BString {
        let mut text = BString::default();
        // Nodes with the number of their children that are written.
        let mut stack: Vec<(NodeId, usize)> = vec![(0, 0)];
        while let Some((node, written)) = stack.pop() {
            let own = &self.children[node as usize];
            if written < own.len() {
                text.push(if written == 0 { b'(' } else { b',' });
                stack.push((node, written + 1));
                // NewickNode 0's third child has the first edge.
                let rank = if node == 0 && written < 3 { (written + 1) % 3 } else { written };
                stack.push((own[rank], 0));
                continue;
            }
            if !own.is_empty() {
                text.push(b')');
            }
            if node == 0 {
                continue;
            }
            let number = node as usize - 1;
            let edge = &self.edges[number];
            let label = self.names[node as usize].as_deref().or(edge.label.as_deref());
            text.extend_from_slice(&label.map(|label| quoted_with(label, b"{}")).unwrap_or_default());
            write!(text, ":{}{{{number}}}", edge.length).expect("memory takes all");
        }
        text.push(b';');
        text
    }

    /// A name of an edge that no other has: `a,b|c,d`, of which a and b are leaves behind one end, c and d behind the other, each
    /// in another of the two subtrees there that have the least leaves by name; `a|c,d` of a leaf's edge.
    pub fn split(&self, edge: u32) -> BString {
        let [above, below] = [self.edges[edge as usize].above, self.edges[edge as usize].below];
        let name = |leaf: NodeId| self.names[leaf as usize].as_ref().map(|name| name.as_bstr()).unwrap_or_default();
        let behind = |node: NodeId| {
            let others = self.nearest[node as usize].iter().flatten().filter(|(other, _)| *other != edge);
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

/// An edge that is not numbered yet: the nodes of the text at its ends, and its length.
type Waiting = (usize, usize, f64);

/// The tree of a text.
fn build(file: &str, text: &[u8]) -> Result<Tree, NewickError> {
    let nodes = newick::nodes(text)?;
    let whole = |message: String| NewickError { at: 0, message };
    let is_leaf = |node: usize| nodes[node].children.is_empty();
    let leaves = (0..nodes.len()).filter(|&node| is_leaf(node)).count();
    if leaves < 3 {
        return Err(whole(format!("the tree takes three leaves; it has {leaves}")));
    }
    let (root, _) = descend(&nodes, 0);
    // The last is next.
    let mut stack: Vec<Waiting> = Vec::new();
    let is_joint = nodes[root].children.len() == 2;
    let top = match nodes[root].children[..] {
        [] | [_] => return Err(whole("the root has no children".into())),
        [left, right] => {
            let ((left, a), (right, b)) = (descend(&nodes, left), descend(&nodes, right));
            stack.extend(nodes[left].children.iter().rev().map(|&child| edge_to(&nodes, left, child)));
            stack.extend(nodes[right].children.iter().rev().map(|&child| edge_to(&nodes, right, child)));
            // A leaf is below its edge.
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
    let mut tree = Tree { names: vec![None], children: vec![Vec::new()], ..Tree::default() };
    let mut numbers = vec![0; nodes.len()];
    numbers[top] = 0;
    while let Some((above, below, length)) = stack.pop() {
        let number = tree.names.len() as NodeId;
        numbers[below] = number;
        // Support of the joint edge may stand at either end.
        let other = || nodes[above].label.clone().filter(|_| is_joint && number == 1);
        let label = nodes[below].label.clone();
        let (name, label) = if is_leaf(below) { (label, None) } else { (None, label.or_else(other)) };
        let above = numbers[above];
        tree.edges.push(Edge { above, below: number, length, label });
        tree.names.push(name);
        tree.children.push(Vec::new());
        tree.children[above as usize].push(number);
        // What is at the joint edge's ends waits already.
        if !(is_joint && number == 1) {
            stack.extend(nodes[below].children.iter().rev().map(|&child| edge_to(&nodes, below, child)));
        }
    }
    tree.rank().map_err(|name| whole(format!("two leaves are called '{name}'")))?;
    newick::warn_of_missing(file, &nodes, "1");
    newick::warn_of_negative(file, &nodes);
    Ok(tree)
}

/// The first node from this one on that is no mere point on an edge, and the length of the edge that leads there.
fn descend(nodes: &[NewickNode], mut node: usize) -> (usize, f64) {
    let above = |node: usize| nodes[node].length.map_or(1.0, |length| length.max(0.0));
    let mut length = above(node);
    while let [only] = nodes[node].children[..] {
        node = only;
        length += above(only);
    }
    (node, length.min(f64::MAX))
}

fn edge_to(nodes: &[NewickNode], above: usize, child: usize) -> Waiting {
    let (below, length) = descend(nodes, child);
    (above, below, length)
}

/// Returns, for each node, the three edges behind which the first leaves are, with these leaves. `leaves` are in order.
fn nearest(tree: &Tree, leaves: &[NodeId]) -> Vec<[Option<(u32, NodeId)>; 3]> {
    let mut ranks = vec![u32::MAX; tree.names.len()];
    for (rank, &leaf) in (0..).zip(leaves) {
        ranks[leaf as usize] = rank;
    }
    // The first leaf below each node, itself included.
    let mut below = ranks;
    for edge in tree.edges.iter().rev() {
        below[edge.above as usize] = below[edge.above as usize].min(below[edge.below as usize]);
    }
    // The first leaf above each node, that is in no direction of its children.
    let mut above = vec![u32::MAX; tree.names.len()];
    let mut nearest = Vec::with_capacity(tree.names.len());
    for (node, children) in tree.children.iter().enumerate() {
        let mut three = [(u32::MAX, u32::MAX); 3];
        let mut add = |rank: u32, edge: u32| {
            let place = three.partition_point(|&(other, _)| other <= rank);
            if rank < u32::MAX && place < 3 {
                three[place..].rotate_right(1);
                three[place] = (rank, edge);
            }
        };
        if node > 0 {
            add(above[node], node as u32 - 1);
        }
        children.iter().for_each(|&child| add(below[child as usize], child - 1));
        for &child in children {
            above[child as usize] = if three[0].1 == child - 1 { three[1].0 } else { three[0].0 };
        }
        nearest.push(three.map(|(rank, edge)| (rank < u32::MAX).then(|| (edge, leaves[rank as usize]))));
    }
    nearest
}

#[cfg(test)]
mod tests;
