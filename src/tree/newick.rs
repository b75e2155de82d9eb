//! Newick texts, alone or in the trees block of a NEXUS file, parsed into nodes.

use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use crate::error::{Error, InputLocation};
use crate::seq::names::has_blank;

/// A node of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewickNode {
    /// Indices of the node's children in the list of nodes, in the order of the text.
    pub children: Vec<usize>,
    /// Name of a leaf, or label of an inner node, which is usually a support value.
    pub label: Option<BString>,
    /// Length of the branch above the node. Neighbour joining produces some negative lengths.
    pub length: Option<f64>,
    /// Offset in the text of the node's label, or of the position where it would be.
    pub at: usize,
}

/// A problem in a text and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewickError {
    /// Byte offset in the text, from 0.
    pub at: usize,
    /// Description of the problem.
    pub message: String,
}

impl NewickError {
    /// Converts this to an error of the file that the text was read from, with line and column. If
    /// the text is blank, the error says so instead.
    pub fn in_file(self, file: &str, text: &[u8]) -> Error {
        if text.trim_ascii().is_empty() {
            let message = if text.is_empty() { "the file is empty" } else { "the file has no tree" };
            return Error::Input { location: InputLocation::in_file(file), message: message.into() };
        }
        let before = &text[..self.at.min(text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let location = InputLocation {
            file: file.to_owned(),
            record: None,
            line: Some(line as u64 + 1),
            column: Some((before.len() - start) as u64 + 1),
        };
        Error::Input { location, message: self.message }
    }
}

/// Bytes that end a name without quotes, in addition to blanks.
const ENDS: &[u8] = b"()[]:;,'\"";
/// Bytes that end a name in ClustalW's trees, in addition to blanks.
const BARE_ENDS: &[u8] = b"():;,";

/// The style of names in a Newick text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// Names are quoted if necessary ([`quoted`]).
    #[default]
    Quoted,
    /// Names are never quoted, as in ClustalW 2.1. Quotes and brackets are ordinary characters of a
    /// name.
    Bare,
}

impl NameStyle {
    /// Formats a name for the text.
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
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, NewickError> {
        Err(NewickError { at: self.at, message: message.into() })
    }

    /// Skips blanks and comments. Comments may be nested.
    fn skip(&mut self) -> Result<(), NewickError> {
        loop {
            match self.text.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'[') if self.style == NameStyle::Quoted => {
                    let mut depth = 0;
                    let start = self.at;
                    loop {
                        match self.text.get(self.at) {
                            Some(b'[') => depth += 1,
                            Some(b']') => depth -= 1,
                            Some(_) => {}
                            None => {
                                self.at = start;
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

    fn peek(&mut self) -> Result<Option<u8>, NewickError> {
        self.skip()?;
        Ok(self.text.get(self.at).copied())
    }

    /// Reads a name, quoted or not. `_` stays unchanged, since alignments contain it too. Returns
    /// `None` if there is no name.
    fn label(&mut self) -> Result<Option<BString>, NewickError> {
        let first = self.peek()?;
        let start = self.at;
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
                        self.at = start;
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
        // Control characters in a name would be written to tables and terminals.
        if let Some(byte) = bytes.iter().find(|byte| byte.is_ascii_control()) {
            self.at = start;
            return self.wrong(format!("byte 0x{byte:02X} in a name"));
        }
        Ok((!bytes.is_empty()).then(|| bytes.into()))
    }

    /// Reads the length after a colon. Skips an edge number in braces after it, as in the trees of
    /// placements.
    fn length(&mut self) -> Result<Option<f64>, NewickError> {
        let mut length = None;
        if self.peek()? == Some(b':') {
            self.at += 1;
            self.skip()?;
            let start = self.at;
            while self.text.get(self.at).is_some_and(|byte| b"+-.eE0123456789".contains(byte)) {
                self.at += 1;
            }
            let text = String::from_utf8_lossy(&self.text[start..self.at]);
            length = match text.parse::<f64>() {
                Ok(length) if length.is_finite() => Some(length),
                _ => {
                    let is_length = |byte: &&u8| !b",()[]{}:;".contains(byte) && !byte.is_ascii_whitespace();
                    let all: Vec<u8> = self.text[start..].iter().take_while(is_length).copied().collect();
                    let message = format!("'{}' is not a branch length", String::from_utf8_lossy(&all));
                    self.at = start;
                    return self.wrong(message);
                }
            };
        }
        if self.peek()? == Some(b'{') {
            let start = self.at;
            self.at += 1;
            while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                self.at += 1;
            }
            if self.text.get(self.at) != Some(&b'}') {
                self.at = start;
                return self.wrong("braces without an edge number");
            }
            self.at += 1;
        }
        Ok(length)
    }
}

/// Parses the tree in a Newick text or a NEXUS file. The root is the first node, and parents come
/// before children. The parser is not recursive, so deep trees need no deep call stack. The
/// TRANSLATE command of a NEXUS file is applied to the names of leaves.
///
/// # Errors
/// Returns the problem in the text and its position.
pub fn nodes(text: &[u8]) -> Result<Vec<NewickNode>, NewickError> {
    nodes_in(NameStyle::Quoted, text)
}

/// Parses a text like [`nodes`], with names in this style.
///
/// # Errors
/// Returns the errors of [`nodes`].
pub fn nodes_in(style: NameStyle, text: &[u8]) -> Result<Vec<NewickNode>, NewickError> {
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

/// Warns about branches without a length, which count as `missing_as`.
pub(crate) fn warn_of_missing(file: &str, nodes: &[NewickNode], missing_as: &str) {
    warn_of_lengths(file, nodes, |length| length.is_none(), &format!("no length: each counts as {missing_as}"));
}

/// Warns about branches with a negative length, which count as 0.
pub(crate) fn warn_of_negative(file: &str, nodes: &[NewickNode]) {
    let is_negative = |length: Option<f64>| length.is_some_and(|length| length < 0.0);
    warn_of_lengths(file, nodes, is_negative, "a length below 0: each counts as 0");
}

/// Warns once about all branches whose length satisfies `is_wrong`. The root has no branch.
fn warn_of_lengths(file: &str, nodes: &[NewickNode], is_wrong: impl Fn(Option<f64>) -> bool, problem: &str) {
    let mut wrong = nodes.iter().skip(1).filter(|node| is_wrong(node.length));
    let Some(first) = wrong.next() else { return };
    let (count, branches) = (wrong.count() + 1, nodes.len() - 1);
    let first = match &first.label {
        Some(name) => format!("the branch above '{name}'"),
        None => "the branch above an inner node".to_owned(),
    };
    let location = InputLocation::in_file(file);
    let have = if count == 1 { "has" } else { "have" };
    tracing::warn!("{location}: {count} of {branches} branches {have} {problem}; the first is {first}");
}

/// First word of a NEXUS file.
const NEXUS: &[u8] = b"#NEXUS";
const SEVERAL_TREES: &str = "there is more than one tree";

impl Scanner<'_> {
    /// Reads the only tree of a NEXUS file.
    fn nexus(&mut self) -> Result<Vec<NewickNode>, NewickError> {
        let mut names: HashMap<BString, BString> = HashMap::new();
        let mut tree_nodes: Option<Vec<NewickNode>> = None;
        while self.peek()?.is_some() {
            let start = self.at;
            let command = self.label()?.unwrap_or_default().to_ascii_lowercase();
            match command.as_slice() {
                b"tree" | b"utree" if tree_nodes.is_some() => {
                    self.at = start;
                    return self.wrong(SEVERAL_TREES);
                }
                b"tree" | b"utree" => {
                    self.skip_to(b'=', "the tree has no '='")?;
                    tree_nodes = Some(self.tree()?);
                }
                b"translate" => self.translate(&mut names)?,
                _ => self.skip_to(b';', "the command does not end with ';'")?,
            }
        }
        let Some(mut nodes) = tree_nodes else { return self.wrong("the NEXUS file has no tree") };
        for node in nodes.iter_mut().filter(|node| node.children.is_empty()) {
            if let Some(name) = node.label.as_ref().and_then(|label| names.get(label)) {
                node.label = Some(name.clone());
            }
        }
        Ok(nodes)
    }

    /// Skips to the byte after `end`. Quoted names and comments are skipped completely.
    fn skip_to(&mut self, end: u8, missing: &str) -> Result<(), NewickError> {
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

    /// Reads pairs of a label and a name, which are separated by commas.
    fn translate(&mut self, names: &mut HashMap<BString, BString>) -> Result<(), NewickError> {
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
    fn tree(&mut self) -> Result<Vec<NewickNode>, NewickError> {
        let mut nodes = vec![NewickNode::default()];
        let mut open: Vec<usize> = Vec::new();
        let mut current = 0;
        loop {
            if self.peek()? == Some(b'(') {
                self.at += 1;
                open.push(current);
                nodes.push(NewickNode::default());
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
                        nodes.push(NewickNode::default());
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

/// Formats a name for a Newick text.
///
/// A name with blanks or any of `( ) [ ] : ; , ' "` is put in single quotes, and single quotes in
/// it are doubled. `_` needs no quotes, because this reader and most others keep it unchanged. `|`,
/// which accessions contain, is not quoted either, because many programs cannot read quotes. A
/// control character becomes `_`, since no reader accepts it.
pub fn quoted(name: &[u8]) -> BString {
    quoted_with(name, b"")
}

/// Formats a name like [`quoted`], and also quotes names that contain any byte of `others`.
pub(crate) fn quoted_with(name: &[u8], others: &[u8]) -> BString {
    let name: Vec<u8> = name.iter().map(|&byte| if byte.is_ascii_control() { b'_' } else { byte }).collect();
    let is_special = |byte: u8| ENDS.contains(&byte) || others.contains(&byte);
    match name.is_empty() || name.bytes().any(is_special) || has_blank(&name) {
        true => [b"'", &*name.replace("'", "''"), b"'"].concat().into(),
        false => name.into(),
    }
}
