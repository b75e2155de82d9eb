//! Guide trees from Newick texts and as such.

use std::collections::HashMap;
use std::io::Write;

use bstr::{BString, ByteSlice};

use super::newick::{self, NameStyle, Wrong};
use super::{GuideTree, Join, root};
use crate::error::Result;

/// Returns a name as it is compared if no name is the same: without case, and with `_` for the characters for which ClustalW and
/// formats of alignments have it.
fn folded(name: &[u8]) -> Vec<u8> {
    let fold = |&byte: &u8| if b" ()[]:;,'\"".contains(&byte) { b'_' } else { byte.to_ascii_lowercase() };
    name.iter().map(fold).collect()
}

impl GuideTree {
    /// The guide tree of a Newick text or a NEXUS file whose leaves have these names, those of the sequences in their order. `file` stands for
    /// the text's file in errors.
    ///
    /// Names may be bare as in ClustalW's trees. Without a name that is the same, one counts that differs in upper and lower case only, or has `_` for blanks and punctuation. A root with
    /// more than two children is none: it is put where ClustalW puts it. Missing lengths are 0.
    ///
    /// # Errors
    /// [`crate::Error::Input`] with what is wrong and where: also a name that no sequence has, that two leaves have, or that is
    /// missing, and a tree with no lengths that has no root.
    pub fn read<S: AsRef<[u8]>>(
        file: &str,
        text: &[u8],
        names: &[S],
        threads: &rayon::ThreadPool,
    ) -> Result<GuideTree> {
        // ClustalW's names are never in quotes, but may hold quotes and brackets.
        let bare = || parse(NameStyle::Bare, file, text, names, threads).ok();
        parse(NameStyle::Quoted, file, text, names, threads)
            .or_else(|wrong| bare().ok_or_else(|| wrong.of_file(file, text)))
    }

    /// Returns the tree as a Newick text on one line, with names in quotes where they need them.
    ///
    /// # Panics
    /// If there are fewer names than leaves.
    pub fn newick<S: AsRef<[u8]>>(&self, names: &[S]) -> BString {
        self.newick_in(NameStyle::Quoted, names)
    }

    /// Returns the same with names in this style.
    ///
    /// # Panics
    /// If there are fewer names than leaves.
    pub fn newick_in<S: AsRef<[u8]>>(&self, style: NameStyle, names: &[S]) -> BString {
        enum Step {
            Node(u32),
            Text(&'static str),
            Length(f64),
        }
        let mut text = BString::default();
        let root = (self.leaves + self.joins.len()).checked_sub(1);
        let mut stack = vec![Step::Text(";\n")];
        stack.extend(root.map(|root| Step::Node(root as u32)));
        while let Some(step) = stack.pop() {
            match step {
                Step::Text(part) => text.extend_from_slice(part.as_bytes()),
                // Lengths of single precision need no more digits than it has.
                Step::Length(length) if f64::from(length as f32) == length => {
                    write!(text, ":{}", length as f32).expect("memory takes all");
                }
                Step::Length(length) => write!(text, ":{length}").expect("memory takes all"),
                Step::Node(node) => match (node as usize).checked_sub(self.leaves) {
                    None => text.extend_from_slice(&style.written(names[node as usize].as_ref())),
                    Some(join) => {
                        let Join { children: [left, right], lengths: [to_left, to_right] } = self.joins[join];
                        stack.extend([Step::Text(")"), Step::Length(to_right), Step::Node(right), Step::Text(",")]);
                        stack.extend([Step::Length(to_left), Step::Node(left), Step::Text("(")]);
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
) -> std::result::Result<GuideTree, Wrong> {
    let nodes = newick::nodes_in(style, text)?;
    let mut exact: HashMap<&[u8], u32> = HashMap::new();
    let mut alike: HashMap<Vec<u8>, Option<u32>> = HashMap::new();
    for (number, name) in (0..).zip(names) {
        exact.entry(name.as_ref()).or_insert(number);
        // Of names that are alike none counts.
        alike.entry(folded(name.as_ref())).and_modify(|old| *old = None).or_insert(Some(number));
    }
    let mut sequences = vec![None; nodes.len()];
    let mut found = vec![false; names.len()];
    for (node, sequence) in nodes.iter().zip(&mut sequences).filter(|(node, _)| node.children.is_empty()) {
        let name = node.label.as_ref().map(|label| label.as_bstr()).unwrap_or_default();
        let wrong = |message: String| Wrong { at: node.at, message };
        let number = exact.get(name.as_bytes()).copied().or_else(|| alike.get(&folded(name)).copied().flatten());
        let number = number.ok_or_else(|| wrong(format!("no sequence is called '{name}'")))?;
        if std::mem::replace(&mut found[number as usize], true) {
            return Err(wrong(format!("'{name}' is in the tree twice")));
        }
        *sequence = Some(number);
    }
    if let Some(missing) = found.iter().position(|&is_found| !is_found) {
        let message = format!("'{}' is not in the tree", names[missing].as_ref().as_bstr());
        return Err(Wrong { at: 0, message });
    }
    let mut top = 0;
    while let [only] = nodes[top].children[..] {
        top = only;
    }
    if nodes[top].children.len() > 2 && nodes[top + 1..].iter().all(|node| node.length.is_none()) {
        let message = "the tree has neither a root nor lengths: sequences cannot be aligned by it".to_owned();
        return Err(Wrong { at: nodes[top].at, message });
    }
    if nodes.iter().any(|node| node.length.is_some()) {
        newick::warn_of_missing(file, &nodes, "0");
    }
    Ok(root::of_nodes(&nodes, &sequences, threads))
}
