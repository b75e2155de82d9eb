//! Newick texts, alone or in the trees block of a NEXUS file: what stands in them, node by node.

use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use crate::error::{Error, Place};
use crate::seq::names::has_blank;

/// A node as the text has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Places of its children in the list of nodes, as the text has them.
    pub children: Vec<usize>,
    /// The name of a leaf; of an inner node mostly a support value.
    pub label: Option<BString>,
    /// Of the branch above it. Neighbour joining leaves some below 0.
    pub length: Option<f64>,
    /// The byte of the text at which its label stands, or would.
    pub at: usize,
}

/// What is wrong with a text, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// From 0.
    pub at: usize,
    /// In words.
    pub message: String,
}

impl Wrong {
    /// As an error of the file that the text was read from, with line and column.
    pub fn of_file(self, file: &str, text: &[u8]) -> Error {
        let before = &text[..self.at.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let place = Place {
            file: file.to_owned(),
            record: None,
            line: Some(line as u64 + 1),
            column: Some((before.len() - start) as u64 + 1),
        };
        Error::Input { place, message: self.message }
    }
}

/// Bytes at which a name without quotes ends, beside blanks.
const ENDS: &[u8] = b"()[]:;,'\"";
/// Bytes at which a name ends in ClustalW's trees.
const BARE_ENDS: &[u8] = b"():;,";

/// How names stand in a Newick text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// In quotes where they need them ([`quoted`]).
    #[default]
    Quoted,
    /// Bare, as ClustalW 2.1 writes and reads them: quotes and brackets are ordinary characters of a name.
    Bare,
}

impl NameStyle {
    /// Returns a name as the text holds it.
    pub fn written(self, name: &[u8]) -> BString {
        match self {
            NameStyle::Quoted => quoted(name),
            NameStyle::Bare => name.into(),
        }
    }
}

/// A text that is read from left to right.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    style: NameStyle,
}

impl Scanner<'_> {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { at: self.at, message: message.into() })
    }

    /// Passes over blanks and comments, which may stand in each other.
    fn skip(&mut self) -> Result<(), Wrong> {
        loop {
            match self.text.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'[') if self.style == NameStyle::Quoted => {
                    let mut depth = 0;
                    let begin = self.at;
                    loop {
                        match self.text.get(self.at) {
                            Some(b'[') => depth += 1,
                            Some(b']') => depth -= 1,
                            Some(_) => {}
                            None => {
                                self.at = begin;
                                return self.wrong("a comment does not end");
                            }
                        }
                        self.at += 1;
                        if depth == 0 {
                            break;
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, Wrong> {
        self.skip()?;
        Ok(self.text.get(self.at).copied())
    }

    /// A name, in quotes or not (then `_` stays what it is: alignments have it so). None is none.
    fn label(&mut self) -> Result<Option<BString>, Wrong> {
        let first = self.peek()?;
        let begin = self.at;
        let mut bytes = Vec::new();
        match first {
            Some(quote @ (b'\'' | b'"')) if self.style == NameStyle::Quoted => loop {
                self.at += 1;
                match self.text.get(self.at) {
                    Some(&byte) if byte == quote => {
                        self.at += 1;
                        if self.text.get(self.at) != Some(&quote) {
                            break;
                        }
                        bytes.push(byte);
                    }
                    Some(&byte) => bytes.push(byte),
                    None => {
                        self.at = begin;
                        return self.wrong("a name in quotes does not end");
                    }
                }
            },
            _ => {
                while let Some(&byte) = self.text.get(self.at) {
                    let is_end = match self.style {
                        NameStyle::Quoted => ENDS.contains(&byte),
                        NameStyle::Bare => BARE_ENDS.contains(&byte),
                    };
                    if byte.is_ascii_whitespace() || is_end {
                        break;
                    }
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
        // It would end up in tables and on terminals.
        if let Some(byte) = bytes.iter().find(|byte| byte.is_ascii_control()) {
            self.at = begin;
            return self.wrong(format!("byte 0x{byte:02X} in a name"));
        }
        Ok((!bytes.is_empty()).then(|| bytes.into()))
    }

    /// A length after its colon, and the number of the edge in braces that placements have there, which says nothing here.
    fn length(&mut self) -> Result<Option<f64>, Wrong> {
        let mut length = None;
        if self.peek()? == Some(b':') {
            self.at += 1;
            self.skip()?;
            let begin = self.at;
            while self.text.get(self.at).is_some_and(|byte| b"+-.eE0123456789".contains(byte)) {
                self.at += 1;
            }
            let text = String::from_utf8_lossy(&self.text[begin..self.at]);
            length = match text.parse::<f64>() {
                Ok(length) if length.is_finite() => Some(length),
                _ => {
                    let is_length = |byte: &&u8| !b",()[]{}:;".contains(byte) && !byte.is_ascii_whitespace();
                    let all: Vec<u8> = self.text[begin..].iter().take_while(is_length).copied().collect();
                    let message = format!("'{}' is not a branch length", String::from_utf8_lossy(&all));
                    self.at = begin;
                    return self.wrong(message);
                }
            };
        }
        if self.peek()? == Some(b'{') {
            let begin = self.at;
            self.at += 1;
            while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                self.at += 1;
            }
            if self.text.get(self.at) != Some(&b'}') {
                self.at = begin;
                return self.wrong("braces that hold no edge's number");
            }
            self.at += 1;
        }
        Ok(length)
    }
}

/// Nodes of the tree in a Newick text or a NEXUS file, the root first, parents before children. Deep trees need no deep stack.
/// Leaves of a NEXUS tree have the names that its TRANSLATE command gives them.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn nodes(text: &[u8]) -> Result<Vec<Node>, Wrong> {
    nodes_in(NameStyle::Quoted, text)
}

/// Reads a text whose names are in this style, as [`nodes`] does.
///
/// # Errors
/// As [`nodes`].
pub fn nodes_in(style: NameStyle, text: &[u8]) -> Result<Vec<Node>, Wrong> {
    let mut scanner = Scanner { text, at: 0, style };
    while text.get(scanner.at).is_some_and(u8::is_ascii_whitespace) {
        scanner.at += 1;
    }
    if text[scanner.at..].get(..NEXUS.len()).is_some_and(|start| start.eq_ignore_ascii_case(NEXUS)) {
        scanner.at += NEXUS.len();
        return scanner.nexus();
    }
    let nodes = scanner.tree()?;
    match scanner.peek()? {
        None => Ok(nodes),
        Some(_) => scanner.wrong(SEVERAL_TREES),
    }
}

/// Warns of branches without length, which count as `missing_as`.
pub(crate) fn warn_of_missing(file: &str, nodes: &[Node], missing_as: &str) {
    warn_of_lengths(file, nodes, |length| length.is_none(), &format!("no length: each counts as {missing_as}"));
}

/// Warns of branches whose length is below 0, which count as 0.
pub(crate) fn warn_of_negative(file: &str, nodes: &[Node]) {
    let is_negative = |length: Option<f64>| length.is_some_and(|length| length < 0.0);
    warn_of_lengths(file, nodes, is_negative, "a length below 0: each counts as 0");
}

/// Warns once of branches whose length is of some kind. The root has no branch.
fn warn_of_lengths(file: &str, nodes: &[Node], is_wrong: impl Fn(Option<f64>) -> bool, problem: &str) {
    let mut wrong = nodes.iter().skip(1).filter(|node| is_wrong(node.length));
    let Some(first) = wrong.next() else { return };
    let (count, branches) = (wrong.count() + 1, nodes.len() - 1);
    let first = match &first.label {
        Some(name) => format!("that above '{name}'"),
        None => "that above an inner node".to_owned(),
    };
    let place = Place::of_file(file);
    let have = if count == 1 { "has" } else { "have" };
    tracing::warn!("{place}: {count} of {branches} branches {have} {problem}; the first is {first}");
}

/// The first word of a NEXUS file.
const NEXUS: &[u8] = b"#NEXUS";
const SEVERAL_TREES: &str = "there is more than one tree";

impl Scanner<'_> {
    /// Reads the one tree of a NEXUS file.
    fn nexus(&mut self) -> Result<Vec<Node>, Wrong> {
        let mut names: HashMap<BString, BString> = HashMap::new();
        let mut found: Option<Vec<Node>> = None;
        while self.peek()?.is_some() {
            let start = self.at;
            let command = self.label()?.unwrap_or_default().to_ascii_lowercase();
            match command.as_slice() {
                b"tree" | b"utree" if found.is_some() => {
                    self.at = start;
                    return self.wrong(SEVERAL_TREES);
                }
                b"tree" | b"utree" => {
                    self.skip_to(b'=', "the tree has no '='")?;
                    found = Some(self.tree()?);
                }
                b"translate" => self.translate(&mut names)?,
                _ => self.skip_to(b';', "the command does not end with ';'")?,
            }
        }
        let Some(mut nodes) = found else { return self.wrong("the NEXUS file has no tree") };
        for node in nodes.iter_mut().filter(|node| node.children.is_empty()) {
            if let Some(name) = node.label.as_ref().and_then(|label| names.get(label)) {
                node.label = Some(name.clone());
            }
        }
        Ok(nodes)
    }

    /// Skips a byte, and everything before it that is neither quoted nor a comment.
    fn skip_to(&mut self, end: u8, missing: &str) -> Result<(), Wrong> {
        loop {
            match self.peek()? {
                Some(b'\'' | b'"') => drop(self.label()?),
                Some(byte) => {
                    self.at += 1;
                    if byte == end {
                        return Ok(());
                    }
                }
                None => return self.wrong(missing),
            }
        }
    }

    /// Reads pairs of a label in trees and a name, with commas between them.
    fn translate(&mut self, names: &mut HashMap<BString, BString>) -> Result<(), Wrong> {
        loop {
            if let (Some(label), Some(name)) = (self.label()?, self.label()?) {
                names.insert(label, name);
            }
            match self.peek()? {
                Some(b',') => self.at += 1,
                Some(b';') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.wrong("expected ',' or ';' after a label and its name"),
            }
        }
    }

    /// Reads a tree up to and including its `;`.
    fn tree(&mut self) -> Result<Vec<Node>, Wrong> {
        let mut nodes = vec![Node::default()];
        let mut open: Vec<usize> = Vec::new();
        let mut current = 0;
        loop {
            if self.peek()? == Some(b'(') {
                self.at += 1;
                open.push(current);
                nodes.push(Node::default());
                let child = nodes.len() - 1;
                nodes[current].children.push(child);
                current = child;
                continue;
            }
            loop {
                self.skip()?;
                nodes[current].at = self.at;
                nodes[current].label = self.label()?;
                if nodes[current].children.is_empty() && nodes[current].label.is_none() {
                    return self.wrong("a leaf has no name");
                }
                nodes[current].length = self.length()?;
                match (self.peek()?, open.last().copied()) {
                    (Some(b','), Some(parent)) => {
                        self.at += 1;
                        nodes.push(Node::default());
                        current = nodes.len() - 1;
                        nodes[parent].children.push(current);
                        break;
                    }
                    (Some(b')'), Some(parent)) => {
                        self.at += 1;
                        open.pop();
                        current = parent;
                    }
                    (Some(b';'), None) => {
                        self.at += 1;
                        return Ok(nodes);
                    }
                    (None, None) => return self.wrong("the tree does not end with ';'"),
                    (None, Some(_)) => return self.wrong("a '(' has no ')'"),
                    (Some(byte), _) if byte.is_ascii_graphic() => {
                        return self.wrong(format!("'{}' is not expected here", char::from(byte)));
                    }
                    (Some(byte), _) => return self.wrong(format!("byte 0x{byte:02X} is not expected here")),
                }
            }
        }
    }
}

/// Returns a name as a Newick text holds it.
///
/// A name with blanks or one of `( ) [ ] : ; , ' "` stands in single quotes, and a single quote in it is doubled. `_` needs no quotes:
/// this reader and most others keep it as it is. Nor does `|`, which accessions have: many programs read no quotes. A control
/// character becomes `_`, since no reader takes one.
pub fn quoted(name: &[u8]) -> BString {
    quoted_with(name, b"")
}

/// Returns the same, with quotes also for names that hold one of these bytes.
pub(crate) fn quoted_with(name: &[u8], others: &[u8]) -> BString {
    let name: Vec<u8> = name.iter().map(|&byte| if byte.is_ascii_control() { b'_' } else { byte }).collect();
    let is_special = |byte: u8| ENDS.contains(&byte) || others.contains(&byte);
    match name.is_empty() || name.bytes().any(is_special) || has_blank(&name) {
        true => [b"'", &*name.replace("'", "''"), b"'"].concat().into(),
        false => name.into(),
    }
}
