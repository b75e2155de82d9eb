//! Unrooted trees, as neighbour joining builds them, and ClustalW's format for them.

use std::io::Write;

use bstr::BString;

use super::Join;
use super::newick::NameStyle;

/// A tree without a root. Nodes are numbered: first the leaves, in the order of the sequences, and
/// then the joins, children before parents. The last remaining nodes are connected at a central
/// point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnrootedTree {
    /// Number of leaves.
    pub leaves: usize,
    /// Joins in the order of their creation. The first child contains the earlier sequence.
    pub joins: Vec<Join>,
    /// Nodes at the central point and the lengths of their branches. There are three nodes, or one
    /// for each leaf of a smaller tree.
    pub centre: Vec<(u32, f64)>,
}

/// The position of support values in a tree file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// In brackets after the length of the branch.
    Branches,
    /// Before the length of the branch, as the name of the node.
    Nodes,
}

/// An item that remains to be written.
enum DndStep {
    Node(u32),
    Text(&'static str),
    /// Name of a node.
    Label(u32),
    /// Length of the branch above a node.
    Length(u32, f64),
}

impl UnrootedTree {
    /// Formats the tree exactly as in ClustalW's guide tree file: one line for each branch, and
    /// five decimals. Names that need quotes in Newick have them ([`super::newick::quoted`]).
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves.
    pub fn dnd<S: AsRef<[u8]>>(&self, names: &[S]) -> BString {
        self.dnd_in(NameStyle::Quoted, names)
    }

    /// Formats the tree like [`UnrootedTree::dnd`], with names in this style. ClustalW's own style
    /// is [`NameStyle::Bare`].
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves.
    pub fn dnd_in<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S]) -> BString {
        if let [(first, length), (second, other)] = self.centre[..] {
            let name = |node: u32| style.written(names[node as usize].as_ref());
            let mut text = BString::default();
            for (start, node, length) in [("(", first, length), (",", second, other)] {
                text.extend_from_slice(start.as_bytes());
                text.extend_from_slice(&name(node));
                write!(text, ":{}", two_leaf_length(length)).expect("memory takes all");
            }
            text.extend_from_slice(b");\n");
            return text;
        }
        self.text(style, names, &vec![0; self.joins.len()], Labels::Branches)
    }

    /// Formats a tree of three or more leaves like [`UnrootedTree::dnd`], with the support of each
    /// join if it is not 0.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves, or fewer numbers than joins.
    pub fn labelled<S: AsRef<[u8]>>(&self, names: &[S], support: &[u32], labels: Labels) -> BString {
        self.text(NameStyle::Quoted, names, support, labels)
    }

    fn text<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S], support: &[u32], labels: Labels) -> BString {
        let mut text = BString::default();
        let label = |node: u32, position: Labels| {
            let join = (node as usize).checked_sub(self.leaves);
            join.map(|join| support[join]).filter(|&count| count > 0 && labels == position)
        };
        let mut stack = vec![DndStep::Text(");\n")];
        if labels == Labels::Nodes {
            stack = vec![DndStep::Text(")TRICHOTOMY;\n")];
        }
        for (index, &(node, length)) in self.centre.iter().enumerate().rev() {
            stack.extend([DndStep::Length(node, length), DndStep::Node(node)]);
            stack.push(DndStep::Text(if index == 0 { "(\n" } else { ",\n" }));
        }
        while let Some(step) = stack.pop() {
            match step {
                DndStep::Text(part) => text.extend_from_slice(part.as_bytes()),
                DndStep::Length(node, length) => {
                    let count = label(node, Labels::Branches).map(|count| format!("[{count}]")).unwrap_or_default();
                    write!(text, ":{length:.5}{count}").expect("memory takes all");
                }
                DndStep::Label(node) => {
                    let count = label(node, Labels::Nodes).map(|count| count.to_string());
                    text.extend_from_slice(count.unwrap_or_default().as_bytes());
                }
                DndStep::Node(node) => match (node as usize).checked_sub(self.leaves) {
                    None => text.extend_from_slice(&style.written(names[node as usize].as_ref())),
                    Some(join) => {
                        let Join { children: [left, right], lengths: [to_left, to_right] } = self.joins[join];
                        stack.extend([DndStep::Label(node), DndStep::Text(")\n"), DndStep::Length(right, to_right)]);
                        stack.extend([DndStep::Node(right), DndStep::Text(",\n"), DndStep::Length(left, to_left)]);
                        stack.extend([DndStep::Node(left), DndStep::Text("(\n")]);
                    }
                },
            }
        }
        text
    }
}

/// Formats the length of a branch in a tree of two leaves.
pub(super) fn two_leaf_length(length: f64) -> String {
    significant(length as f32)
}

/// Formats a number with five significant digits, like `%g`.
fn significant(value: f32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = format!("{value:.4e}");
    let (digits, exponent) = text.split_once('e').expect("there is an exponent");
    let power: i32 = exponent.parse().expect("it is a number");
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..5).contains(&power) {
        let decimals = usize::try_from(4 - power).unwrap_or(0);
        without_zeros(&format!("{value:.decimals$}"))
    } else {
        let sign = if power < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(digits), power.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_are_formatted_like_c() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (0.123_456_78, "0.12346"),
            (0.000_123_456_78, "0.00012346"),
            (0.000_012_345_678, "1.2346e-05"),
            (0.999_999_9, "1"),
            (123_456.78, "1.2346e+05"),
            (99_999.0, "99999"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn trees_of_few_leaves_can_be_written() {
        let two = UnrootedTree { leaves: 2, joins: vec![], centre: vec![(0, 0.125), (1, 0.125)] };
        assert_eq!(two.dnd(&["one", "two"]), "(one:0.125,two:0.125);\n");
        let one = UnrootedTree { leaves: 1, joins: vec![], centre: vec![(0, 0.0)] };
        assert_eq!(one.dnd(&["one"]), "(\none:0.00000);\n");
    }

    #[test]
    fn deep_trees_need_no_deep_stack() {
        let leaves = 100_000;
        let mut joins = vec![Join { children: [0, 1], lengths: [0.0, -0.25] }];
        for leaf in 2..leaves - 2 {
            joins.push(Join { children: [leaves + leaf - 2, leaf], lengths: [0.5, 0.0] });
        }
        let last = leaves + joins.len() as u32 - 1;
        let centre = vec![(last, 0.1), (leaves - 2, 0.0), (leaves - 1, 0.0)];
        let tree = UnrootedTree { leaves: leaves as usize, joins, centre };
        let names: Vec<String> = (0..leaves).map(|leaf| leaf.to_string()).collect();
        let text = tree.dnd(&names);
        let text = String::from_utf8(text.into()).unwrap();
        assert!(text.starts_with("(\n(\n(\n"));
        assert!(text.ends_with(":0.10000,\n99998:0.00000,\n99999:0.00000);\n"));
        assert!(text.contains("\n0:0.00000,\n1:-0.25000)\n:0.50000,\n2:0.00000)\n"));
    }
}
