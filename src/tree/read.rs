//! Reading guide trees from Newick texts, and writing them.

use std::collections::HashMap;
use std::io::Write;

use bstr::{BString, ByteSlice};

use super::newick::{self, NameStyle, NewickError};
use super::{GuideTree, Join, Labels, root};
use crate::error::Result;

/// Returns a name in the form for inexact comparison: in lower case, and with `_` for the
/// characters that ClustalW and alignment formats replace by it.
fn fold_name(name: &[u8]) -> Vec<u8> {
    let fold = |&byte: &u8| if b" ()[]:;,'\"".contains(&byte) { b'_' } else { byte.to_ascii_lowercase() };
    name.iter().map(fold).collect()
}

impl GuideTree {
    /// Reads a guide tree from a Newick text or a NEXUS file. `names` are the names of the
    /// sequences in their order. `file` is the name of the file in errors.
    ///
    /// Names may be unquoted as in ClustalW's trees. A leaf without an equal name matches a name
    /// that differs only in case, or in `_` instead of blanks and punctuation. A root with more
    /// than two children is ignored, and the root is placed where ClustalW places it. Missing
    /// lengths are 0.
    ///
    /// # Errors
    /// Returns [`crate::Error::Input`] with the problem and its location. Errors include a name
    /// that no sequence has, that two leaves have, or that is missing, and a tree that has neither
    /// lengths nor a root.
    pub fn read<S: AsRef<[u8]>>(
        file: &str,
        text: &[u8],
        names: &[S],
        threads: &rayon::ThreadPool,
    ) -> Result<GuideTree> {
        // ClustalW never quotes names, but they may contain quotes and brackets.
        let bare = || parse(NameStyle::Bare, file, text, names, threads).ok();
        parse(NameStyle::Quoted, file, text, names, threads)
            .or_else(|wrong| bare().ok_or_else(|| wrong.in_file(file, text)))
    }

    /// Formats the tree as a Newick text on one line. Names are quoted where necessary.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves.
    pub fn newick<S: AsRef<[u8]>>(&self, names: &[S]) -> BString {
        self.newick_in(NameStyle::Quoted, names)
    }

    /// Formats the tree like [`GuideTree::newick`], with names in this style.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves.
    pub fn newick_in<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S]) -> BString {
        self.text(style, names, &vec![0; self.joins.len()], Labels::Nodes)
    }

    /// Formats the tree like [`GuideTree::newick`], with the support of each join if it is not 0.
    ///
    /// # Panics
    /// Panics if there are fewer names than leaves, or fewer numbers than joins.
    pub fn labelled<S: AsRef<[u8]>>(&self, names: &[S], support: &[u32], labels: Labels) -> BString {
        self.text(NameStyle::Quoted, names, support, labels)
    }

    fn text<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S], support: &[u32], labels: Labels) -> BString {
        enum WriteStep {
            Node(u32),
            Text(&'static str),
            Length(f64),
            /// Support of a node, if it is written in this place.
            Label(u32, Labels),
        }
        let mut text = BString::default();
        let root = (self.leaves + self.joins.len()).checked_sub(1);
        let mut stack = vec![WriteStep::Text(";\n")];
        stack.extend(root.map(|root| WriteStep::Node(root as u32)));
        while let Some(step) = stack.pop() {
            match step {
                WriteStep::Text(part) => text.extend_from_slice(part.as_bytes()),
                // Lengths that are exact in single precision are written with its digits.
                WriteStep::Length(length) if f64::from(length as f32) == length => {
                    write!(text, ":{}", length as f32).expect("memory takes all");
                }
                WriteStep::Length(length) => write!(text, ":{length}").expect("memory takes all"),
                WriteStep::Label(node, place) => {
                    let join = (node as usize).checked_sub(self.leaves);
                    match join.map(|join| support[join]).filter(|&count| count > 0 && place == labels) {
                        Some(count) if place == Labels::Nodes => write!(text, "{count}"),
                        Some(count) => write!(text, "[{count}]"),
                        None => Ok(()),
                    }
                    .expect("memory takes all");
                }
                WriteStep::Node(node) => match (node as usize).checked_sub(self.leaves) {
                    None => text.extend_from_slice(&style.written(names[node as usize].as_ref())),
                    Some(join) => {
                        let Join { children: [left, right], lengths: [to_left, to_right] } = self.joins[join];
                        stack.push(WriteStep::Text(")"));
                        for (child, length, before) in [(right, to_right, ","), (left, to_left, "(")] {
                            stack.extend([WriteStep::Label(child, Labels::Branches), WriteStep::Length(length)]);
                            stack.extend([WriteStep::Label(child, Labels::Nodes), WriteStep::Node(child)]);
                            stack.push(WriteStep::Text(before));
                        }
                    }
                },
            }
        }
        text
    }
}

fn parse<S: AsRef<[u8]>>(
    style: NameStyle,
    file: &str,
    text: &[u8],
    names: &[S],
    threads: &rayon::ThreadPool,
) -> std::result::Result<GuideTree, NewickError> {
    let nodes = newick::nodes_in(style, text)?;
    let mut exact: HashMap<&[u8], u32> = HashMap::new();
    let mut alike: HashMap<Vec<u8>, Option<u32>> = HashMap::new();
    for (number, name) in (0..).zip(names) {
        exact.entry(name.as_ref()).or_insert(number);
        // A folded name that several sequences share matches none of them.
        alike.entry(fold_name(name.as_ref())).and_modify(|old| *old = None).or_insert(Some(number));
    }
    let mut sequences = vec![None; nodes.len()];
    let mut is_named = vec![false; names.len()];
    for (node, sequence) in nodes.iter().zip(&mut sequences).filter(|(node, _)| node.children.is_empty()) {
        let name = node.label.as_ref().map(|label| label.as_bstr()).unwrap_or_default();
        let wrong = |message: String| NewickError { at: node.at, message };
        let number = exact.get(name.as_bytes()).copied().or_else(|| alike.get(&fold_name(name)).copied().flatten());
        let number = number.ok_or_else(|| wrong(format!("no sequence is called '{name}'")))?;
        if std::mem::replace(&mut is_named[number as usize], true) {
            return Err(wrong(format!("'{name}' is in the tree twice")));
        }
        *sequence = Some(number);
    }
    if let Some(missing) = is_named.iter().position(|&is_found| !is_found) {
        let message = format!("'{}' is not in the tree", names[missing].as_ref().as_bstr());
        return Err(NewickError { at: 0, message });
    }
    let mut top = 0;
    while let [only] = nodes[top].children[..] {
        top = only;
    }
    if nodes[top].children.len() > 2 && nodes[top + 1..].iter().all(|node| node.length.is_none()) {
        let message = "the tree has neither a root nor lengths: sequences cannot be aligned by it".to_owned();
        return Err(NewickError { at: nodes[top].at, message });
    }
    if nodes.iter().any(|node| node.length.is_some()) {
        newick::warn_of_missing(file, &nodes, "0");
    }
    Ok(root::from_nodes(&nodes, &sequences, threads))
}
