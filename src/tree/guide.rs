//! Guide trees, which define the order of aligning sequences and groups.

/// An inner node of a [`GuideTree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Join {
    /// Numbers of the two child nodes.
    pub children: [u32; 2],
    /// Lengths of the branches to the children.
    pub lengths: [f64; 2],
}

/// A rooted tree. Every inner node has two children. Nodes are numbered: first the leaves,
/// in the order of the sequences, and then the joins, children before parents and the root last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuideTree {
    /// Number of leaves. A single leaf has no joins.
    pub leaves: usize,
    /// Inner nodes; one fewer than leaves.
    pub joins: Vec<Join>,
}

impl GuideTree {
    /// Returns the same tree with its joins in depth-first order: all joins below the first child,
    /// and then all below the second. This order keeps the number of unfinished groups small at any
    /// time.
    #[must_use]
    pub fn in_depth(&self) -> GuideTree {
        let mut numbers: Vec<u32> = (0..(self.leaves + self.joins.len()) as u32).collect();
        let mut joins = Vec::with_capacity(self.joins.len());
        let root = numbers.last().copied().unwrap_or(0);
        let mut stack = vec![(root, false)];
        while let Some((node, is_done)) = stack.pop() {
            let Some(join) = (node as usize).checked_sub(self.leaves).and_then(|join| self.joins.get(join)) else {
                continue;
            };
            if is_done {
                numbers[node as usize] = (self.leaves + joins.len()) as u32;
                joins.push(Join { children: join.children.map(|child| numbers[child as usize]), ..*join });
            } else {
                let [first, second] = join.children;
                stack.extend([(node, true), (second, false), (first, false)]);
            }
        }
        GuideTree { leaves: self.leaves, joins }
    }

    /// Returns the leaves from left to right.
    pub fn order(&self) -> Vec<u32> {
        (self.leaves + self.joins.len()).checked_sub(1).map_or_else(Vec::new, |root| self.leaves_below(root as u32))
    }

    /// Returns the leaves below a node from left to right; a leaf is below itself.
    ///
    /// # Panics
    /// Panics if the tree has no such node.
    pub fn leaves_below(&self, node: u32) -> Vec<u32> {
        let (mut leaves, mut stack) = (Vec::new(), vec![node]);
        while let Some(node) = stack.pop() {
            match (node as usize).checked_sub(self.leaves) {
                None => leaves.push(node),
                Some(join) => stack.extend(self.joins[join].children.iter().rev()),
            }
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_are_sorted_depth_first() {
        let join = |children, length| Join { children, lengths: [length, 0.0] };
        let tree = GuideTree { leaves: 4, joins: vec![join([2, 3], 1.0), join([1, 0], 2.0), join([5, 4], 3.0)] };
        let walked = vec![join([1, 0], 2.0), join([2, 3], 1.0), join([4, 5], 3.0)];
        assert_eq!(tree.in_depth(), GuideTree { leaves: 4, joins: walked });
        assert_eq!((tree.order(), tree.in_depth().order()), (vec![1, 0, 2, 3], vec![1, 0, 2, 3]));
        let one = GuideTree { leaves: 1, joins: vec![] };
        assert_eq!((one.order(), GuideTree::default().order()), (vec![0], vec![]));
        assert_eq!((one.in_depth(), GuideTree::default().in_depth()), (one, GuideTree::default()));
    }
}
