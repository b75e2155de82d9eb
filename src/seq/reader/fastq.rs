//! FASTQ records on four or more lines: sequences and qualities may be wrapped.
//!
//! Line ends are not part of a quality. A quality ends when it has the length of the sequence,
//! because it may start with `@` or `+`.

use std::io::{self, BufRead};

use crate::seq::alphabet::Alphabet;
use crate::seq::alphabet::AlphabetChoice;
use crate::seq::input::SequenceInput;

/// Reader of the records of a FASTQ input.
pub(super) struct FastqReader<'a> {
    bytes: Box<dyn BufRead + Send + 'a>,
    /// Whether a sequence may start with `+`.
    is_text: bool,
    /// Lines read so far.
    lines: u64,
    /// The record's header without `@`.
    header: Vec<u8>,
    /// The record's sequence with the line ends between its lines.
    sequence: Vec<u8>,
    /// The record's qualities with the line ends between their lines.
    quality: Vec<u8>,
    /// The line read last.
    line: Vec<u8>,
    /// Whether `line` is the first of the next record.
    is_ahead: bool,
}

/// A record of a FASTQ file.
pub(super) struct FastqRecord<'a> {
    pub(super) header: &'a [u8],
    pub(super) sequence: &'a [u8],
    /// One character for each symbol, with the line ends between the lines.
    pub(super) quality: &'a [u8],
    /// Line of the header, from 1.
    pub(super) line: u64,
}

/// A reason why a record cannot be read.
pub(super) enum FastqError {
    Io(io::Error),
    /// Line from 1, the record's header if it is known, and the problem.
    Format {
        line: u64,
        header: Option<Vec<u8>>,
        message: String,
    },
}

impl<'a> FastqReader<'a> {
    /// Creates a reader of `input`, which must start at the first header.
    pub(super) fn new(input: SequenceInput<'a>, choice: AlphabetChoice) -> Self {
        FastqReader {
            bytes: input.bytes,
            is_text: choice == AlphabetChoice::Fixed(Alphabet::Bytes),
            lines: 0,
            header: Vec::new(),
            sequence: Vec::new(),
            quality: Vec::new(),
            line: Vec::new(),
            is_ahead: false,
        }
    }

    /// Reads the next record, or returns `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<FastqRecord<'_>>, FastqError> {
        if !self.read_header()? {
            return Ok(None);
        }
        let start = self.lines;
        let symbols = self.read_sequence()?;
        self.check_separator()?;
        self.read_quality(start, symbols)?;
        Ok(Some(FastqRecord { header: &self.header, sequence: &self.sequence, quality: &self.quality, line: start }))
    }

    /// Reads the next line without its end into `line`. Returns `false` at the end of the input.
    fn read_line(&mut self) -> Result<bool, FastqError> {
        self.line.clear();
        if self.bytes.read_until(b'\n', &mut self.line).map_err(FastqError::Io)? == 0 {
            return Ok(false);
        }
        self.lines += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }

    /// Reads the header. Returns `false` if there are only blank lines left.
    fn read_header(&mut self) -> Result<bool, FastqError> {
        let mut blank = None;
        if !std::mem::take(&mut self.is_ahead) {
            loop {
                if !self.read_line()? {
                    return Ok(false);
                }
                if !self.line.is_empty() {
                    break;
                }
                blank = blank.or(Some(self.lines));
            }
        }
        let header = self.line.strip_prefix(b"@");
        let Some(header) = header.filter(|_| blank.is_none()) else {
            let line = blank.unwrap_or(self.lines);
            let message = "a FASTQ record has to start with '@'".to_owned();
            return Err(FastqError::Format { line, header: None, message });
        };
        self.header.clear();
        self.header.extend_from_slice(header);
        Ok(true)
    }

    /// Reads the sequence up to the `+` line, and returns its length without line ends.
    fn read_sequence(&mut self) -> Result<usize, FastqError> {
        self.sequence.clear();
        let (mut symbols, mut lines) = (0, 0);
        while self.read_line()? {
            match self.line.first() {
                Some(b'+') if lines > 0 || !self.is_text => return Ok(symbols),
                Some(b'@' | b'>') if !self.is_text => {
                    return Err(self.wrong("expected the '+' line of a FASTQ record"));
                }
                _ => {}
            }
            if lines > 0 {
                self.sequence.push(b'\n');
            }
            self.sequence.extend_from_slice(&self.line);
            symbols += self.line.len();
            lines += 1;
        }
        Err(self.wrong("the file ends inside a FASTQ record"))
    }

    /// Refuses a `+` line that names another record.
    fn check_separator(&self) -> Result<(), FastqError> {
        let name = |text: &[u8]| text.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default().to_vec();
        let repeated = name(&self.line[1..]);
        if repeated.is_empty() || repeated == name(&self.header) {
            return Ok(());
        }
        let repeated = String::from_utf8_lossy(&repeated).escape_debug().to_string();
        Err(self.wrong(format!("the '+' line names '{repeated}': it is empty or repeats the record's name")))
    }

    /// Reads the quality of a sequence of this length.
    fn read_quality(&mut self, start: u64, symbols: usize) -> Result<(), FastqError> {
        self.quality.clear();
        let (mut count, mut lines) = (0, 0);
        loop {
            if !self.read_line()? {
                return if count == symbols { Ok(()) } else { Err(self.unequal(start, symbols, count)) };
            }
            // An empty sequence may have no quality line.
            if symbols == 0 && self.line.first() == Some(&b'@') {
                self.is_ahead = true;
                return Ok(());
            }
            let with = count + self.line.len();
            if with > symbols {
                // The header of the next record was read as part of the quality.
                let is_header = count > 0 && self.line.first() == Some(&b'@');
                return Err(self.unequal(start, symbols, if is_header { count } else { with }));
            }
            count = with;
            if lines > 0 {
                self.quality.push(b'\n');
            }
            self.quality.extend_from_slice(&self.line);
            lines += 1;
            if count == symbols {
                return Ok(());
            }
        }
    }

    fn unequal(&self, line: u64, symbols: usize, qualities: usize) -> FastqError {
        let message = format!(
            "the FASTQ record is truncated or damaged: sequence length is {symbols} but quality length is {qualities}"
        );
        FastqError::Format { line, header: Some(self.header.clone()), message }
    }

    /// Returns the error of the line read last.
    fn wrong(&self, message: impl Into<String>) -> FastqError {
        FastqError::Format { line: self.lines, header: Some(self.header.clone()), message: message.into() }
    }
}
