//! FASTA in pieces, so that memory does not limit the size of a record.

use std::io::{self, BufRead, Read};

use bstr::ByteSlice;

/// Minimum size of the buffer in bytes.
const MIN_BUFFER: usize = 16;

/// A piece of a FASTA input.
pub(super) enum FastaPiece<'b> {
    /// A header without `>` and line end, and its line from 1.
    Header { text: &'b [u8], line: u64 },
    /// Lines of the last record.
    Lines(FastaLines<'b>),
}

/// Lines of a record with their line ends, or a part of a line.
pub(super) struct FastaLines<'b> {
    pub(super) bytes: &'b [u8],
    /// Line of the first byte, from 1.
    pub(super) line: u64,
    /// Number of bytes of this line before the first byte.
    pub(super) column: u64,
}

/// Reader of the pieces of a FASTA input.
pub(super) struct FastaPieces<'a> {
    input: Box<dyn BufRead + Send + 'a>,
    /// Bytes of the input from `start` to `end`, and space for further ones.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_at_end: bool,
    /// Line of the byte at `start`, from 1.
    line: u64,
    /// Number of bytes of this line before `start`.
    column: u64,
}

impl<'a> FastaPieces<'a> {
    /// Creates a reader of `input`, which must start at the first header. Pieces have at most
    /// `most_bytes` bytes, except for longer headers.
    pub(super) fn new(input: Box<dyn BufRead + Send + 'a>, most_bytes: usize) -> Self {
        let buffer = vec![0; most_bytes.max(MIN_BUFFER)];
        FastaPieces { input, buffer, start: 0, end: 0, is_at_end: false, line: 1, column: 0 }
    }

    /// Returns the next piece, or `None` at the end. A piece of lines ends with a line, unless the
    /// line exceeds the buffer. Every line ends with a line feed, even the last one of the input.
    pub(super) fn next(&mut self) -> io::Result<Option<FastaPiece<'_>>> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            let is_header = self.column == 0 && unread.first() == Some(&b'>');
            let length = if is_header || self.column > 0 {
                unread.find_byte(b'\n').map(|end| end + 1)
            } else {
                let last_line = || unread.rfind_byte(b'\n').map(|end| end + 1);
                unread.find(b"\n>").map(|end| end + 1).or_else(last_line)
            };
            if let Some(length) = length {
                return Ok(Some(self.take(length, is_header)));
            }
            let is_full = self.start == 0 && self.end == self.buffer.len();
            if is_full && !is_header {
                // The line feed after a carriage return is in the same piece.
                let held = usize::from(unread.last() == Some(&b'\r'));
                return Ok(Some(self.take(self.end - held, false)));
            }
            if is_full {
                self.buffer.resize(2 * self.end, 0);
            }
            if self.is_at_end {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Reads further bytes. At the end of the input, ends the last line.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let count = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.is_at_end = count == 0;
        if self.is_at_end && self.end > 0 {
            self.buffer[self.end] = b'\n';
            self.end += 1;
        }
        self.end += count;
        Ok(())
    }

    /// Removes the next `length` bytes from the buffer and returns them.
    fn take(&mut self, length: usize, is_header: bool) -> FastaPiece<'_> {
        let bytes = &self.buffer[self.start..self.start + length];
        let (line, column) = (self.line, self.column);
        self.start += length;
        self.line += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.column = match bytes.last() {
            Some(b'\n') => 0,
            _ => self.column + length as u64,
        };
        if !is_header {
            return FastaPiece::Lines(FastaLines { bytes, line, column });
        }
        let text = &bytes[1..length - 1];
        FastaPiece::Header { text: text.strip_suffix(b"\r").unwrap_or(text), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `data` in pieces of at most `most` bytes. Returns the header of each record with its
    /// line, and its lines.
    fn records(data: &[u8], most: usize) -> Vec<(u64, String, String)> {
        let mut pieces = FastaPieces::new(Box::new(data), most);
        let mut records: Vec<(u64, String, String)> = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        while let Some(piece) = pieces.next().unwrap() {
            match piece {
                FastaPiece::Header { text: header, line } => records.push((line, text(header), String::new())),
                FastaPiece::Lines(FastaLines { bytes, line, column }) => {
                    let (first, _, lines) = records.last_mut().unwrap();
                    assert_eq!(line, *first + 1 + lines.matches('\n').count() as u64);
                    assert_eq!(column as usize, lines.len() - lines.rfind('\n').map_or(0, |end| end + 1));
                    assert!(bytes.last() != Some(&b'\r') || most < 2);
                    lines.push_str(&text(bytes));
                }
            }
        }
        records
    }

    #[test]
    fn pieces_make_up_the_records() {
        let data = b">a first of them\nACGT\nAC>GT\n\n>b\r\nACG\r\nACGTACGTACGTACGTACGTACGTACGTACG\r\nA\r\n>\n>c\nAC";
        let record = |line, header: &str, lines: &str| (line, header.to_owned(), lines.to_owned());
        let expected = [
            record(1, "a first of them", "ACGT\nAC>GT\n\n"),
            record(5, "b", "ACG\r\nACGTACGTACGTACGTACGTACGTACGTACG\r\nA\r\n"),
            record(9, "", ""),
            record(10, "c", "AC\n"),
        ];
        for most in (1..40).chain([1000]) {
            assert_eq!(records(data, most), expected, "{most}");
        }
        assert_eq!(records(b">a", 9), [record(1, "a", "")]);
        assert_eq!(records(b">a\nC\r", 9), [record(1, "a", "C\r\n")]);
        assert_eq!(records(b"", 9), []);
    }
}
