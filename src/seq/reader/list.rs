//! Lists of sequences: a line has a sequence, or a name, a tab and a sequence.

use std::io::{self, BufRead};

use super::Recorder;
use super::fasta::FastaLines;
use crate::error::{InputLocation, Result};
use crate::seq::input::SequenceInput;
use crate::seq::messages::input_error;

/// Reader of the lines of a list. Blank lines and lines that start with `;` are skipped.
pub(super) struct ListReader<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    bytes: Vec<u8>,
    line: u64,
}

/// A line with a sequence.
pub(super) struct ListLine<'b> {
    /// The line without its end.
    bytes: &'b [u8],
    /// Number of the line, from 1.
    line: u64,
}

impl<'a> ListReader<'a> {
    /// Creates a reader of `input`, which must start at a line with a sequence.
    pub(super) fn new(input: SequenceInput<'a>) -> Self {
        ListReader { input: input.bytes, bytes: Vec::new(), line: 0 }
    }

    /// Returns the next line with a sequence, or `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<ListLine<'_>>> {
        loop {
            self.bytes.clear();
            if self.input.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let is_skipped = self.bytes.starts_with(b";") || self.bytes.trim_ascii().is_empty();
            if !is_skipped {
                let end = self.bytes.iter().rposition(|byte| !b" \r\n".contains(byte)).map_or(0, |last| last + 1);
                return Ok(Some(ListLine { bytes: &self.bytes[..end], line: self.line }));
            }
        }
    }
}

impl Recorder {
    /// Adds the sequence of a line to the store. Returns `false` if the line has only a name and is
    /// skipped.
    pub(super) fn add_listed(&mut self, listed: &ListLine<'_>) -> Result<bool> {
        let mut columns = listed.bytes.split(|&byte| byte == b'\t');
        let first = columns.next().unwrap_or_default();
        let named = columns.next();
        if columns.next().is_some() {
            let line = Some(self.lines_before + listed.line);
            let location = InputLocation { line, ..InputLocation::in_file(&self.loaded.name) };
            let message = "a line has a sequence, or a name, a tab and a sequence; this one has more columns";
            return Err(input_error(location, message));
        }
        let (name, letters, column) = match named {
            Some(letters) => (first.to_vec(), letters, first.len() + 1),
            None => (first.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect(), first, 0),
        };
        self.add_line(&name, &FastaLines { bytes: letters, line: listed.line, column: column as u64 })
    }
}
