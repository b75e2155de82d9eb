//! Reader of alignments: rows of equal length, in FASTA, relaxed PHYLIP (sequential or
//! interleaved), Stockholm, Clustal, MSF or NEXUS, plain or compressed. The format is inferred from
//! the content.
//!
//! Letters are kept as in the file. A row may contain letters of either case, gap signs (`-`, `~`),
//! `?` and `*`. In FASTA (A2M), Stockholm and MSF, `.` is a gap too. PHYLIP and Clustal do not
//! define it, and some writers use it for the letter of the first row, so it is refused there.
//! NEXUS declares it as a gap, or with `matchchar` as the letter of the first row.
//!
//! Letters are checked against the alphabet later ([`AlignedRows::detect`],
//! [`AlignedRows::check`]), because the alphabet is detected from all rows.

use std::collections::HashMap;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::alphabet::{Alphabet, AlphabetChoice, Code};
use super::detect::LetterCensus;
use super::input::{self, SequenceInput};
use super::messages::{describe, input_error, letter_error};
use crate::error::{InputLocation, Result};

mod clustal;
mod msf;
mod nexus;
mod phylip;

pub(crate) use nexus::quoted as nexus_quoted;

/// An alignment as read from a file. It has at least one row, all rows have the same non-zero
/// length, and all names are unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedRows {
    /// Name of the file as the user gave it.
    pub file: String,
    /// Names, in the order of the file.
    pub names: Vec<BString>,
    /// Letters and gaps of each row.
    pub rows: Vec<Vec<u8>>,
}

/// Returns whether a letter is a gap sign.
pub fn is_gap(letter: u8) -> bool {
    matches!(letter, b'-' | b'.' | b'~')
}

/// Returns whether a letter is a gap sign or `?`.
pub fn is_gap_or_unknown(letter: u8) -> bool {
    is_gap(letter) || letter == b'?'
}

/// Returns the code of a letter in aligned sequences, if the alphabet has it. In addition to the
/// letters that readers of sequences accept, X is N in DNA. Gaps and `?` have no code.
pub fn aligned_code(alphabet: Alphabet, letter: u8) -> Option<Code> {
    match letter.to_ascii_uppercase() {
        b'X' | b'I' if alphabet == Alphabet::Dna => alphabet.encode(b'N'),
        letter => alphabet.encode(letter),
    }
}

impl AlignedRows {
    /// Reads an alignment; `-` is standard input.
    ///
    /// # Errors
    /// Returns [`crate::Error::Input`] with the file, the record and the line for rows of unequal
    /// lengths, two rows with the same name, counts that differ from PHYLIP's first line, missing
    /// rows, invalid bytes, and unknown formats. Returns [`crate::Error::Io`] if the system fails.
    pub fn read(path: impl AsRef<Path>) -> Result<AlignedRows> {
        let path = path.as_ref();
        AlignedRows::parse(&path.display().to_string(), &input::read_whole(SequenceInput::open(path)?)?)
    }

    /// Reads an alignment from memory like [`AlignedRows::read`], plain or compressed. Errors name
    /// the file `name`.
    ///
    /// ```
    /// use pairwave::seq::AlignedRows;
    ///
    /// let rows = AlignedRows::read_bytes("a.phy", b" 2 6\nfirst AC-\nsecond A-G\nTGN\nTGa\n")?;
    /// assert_eq!(rows.names, ["first", "second"]);
    /// assert_eq!(rows.rows, [b"AC-TGN", b"A-GTGa"]);
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    pub fn read_bytes(name: &str, data: &[u8]) -> Result<AlignedRows> {
        AlignedRows::parse(name, &input::read_whole(SequenceInput::new(name, Box::new(data))?)?)
    }

    fn parse(file: &str, data: &[u8]) -> Result<AlignedRows> {
        let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
        let lines = AlignmentLines { file, lines: data.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect() };
        let Some(first) = lines.lines.iter().position(|line| !line.is_empty() && line[0] != b';') else {
            let message = if data.is_empty() { "the file is empty" } else { "the file has no row" };
            return Err(input_error(InputLocation::in_file(file), message));
        };
        let Some(format) = AlignmentFormat::from_line(lines.lines[first]) else {
            let message = "this is not an alignment in a known format: expected '>' (FASTA), two numbers (PHYLIP), \
                           '# STOCKHOLM', 'CLUSTAL', '!!' (MSF) or '#NEXUS'";
            return Err(lines.wrong(first, None, message));
        };
        let parsed = match format {
            AlignmentFormat::Fasta => fasta(&lines, first),
            AlignmentFormat::Stockholm => stockholm(&lines, first),
            AlignmentFormat::Clustal => clustal::read(&lines, first),
            AlignmentFormat::Msf => msf::read(&lines, first),
            AlignmentFormat::Nexus => nexus::read(&lines, first),
            AlignmentFormat::Phylip(header) => phylip::read(&lines, first, header),
        };
        parsed?.finish(&lines)
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// Detects the alphabet from the letters of all rows, as [`AlphabetChoice::Detect`] defines it.
    /// N, X, `?` and gaps have no effect.
    pub fn detect(&self) -> Alphabet {
        let mut census = LetterCensus::default();
        let mut codes = Vec::new();
        for row in &self.rows {
            codes.clear();
            let letters = row.iter().filter(|letter| !letter.eq_ignore_ascii_case(&b'X'));
            codes.extend(letters.filter_map(|&letter| Alphabet::Protein.encode(letter)));
            census.add(&codes);
        }
        census.alphabet()
    }

    /// Checks all letters, and returns the chosen or detected alphabet.
    ///
    /// # Errors
    /// Returns [`crate::Error::Input`] for the first letter that the alphabet lacks, with its row
    /// and column.
    pub fn check(&self, choice: AlphabetChoice) -> Result<Alphabet> {
        let alphabet = match choice {
            AlphabetChoice::Detect => self.detect(),
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        let known: [bool; 256] = std::array::from_fn(|letter| {
            is_gap_or_unknown(letter as u8) || aligned_code(alphabet, letter as u8).is_some()
        });
        for (name, row) in self.names.iter().zip(&self.rows) {
            if let Some(column) = row.iter().position(|&letter| !known[letter as usize]) {
                let location =
                    InputLocation { file: self.file.clone(), record: Some(name.to_string()), line: None, column: None };
                let hint = match choice {
                    AlphabetChoice::Detect => {
                        ", the alphabet that was detected; give the alphabet if these are proteins"
                    }
                    AlphabetChoice::Fixed(_) => "",
                };
                let letter_error = letter_error(row[column], AlphabetChoice::Fixed(alphabet));
                return Err(input_error(location, format!("column {}: {letter_error}{hint}", column + 1)));
            }
        }
        Ok(alphabet)
    }
}

/// The formats of alignments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AlignmentFormat {
    Fasta,
    Stockholm,
    Clustal,
    Msf,
    Nexus,
    /// PHYLIP, with the numbers of rows and columns.
    Phylip(phylip::Header),
}

impl AlignmentFormat {
    /// Infers the format from a file's first line.
    fn from_line(line: &[u8]) -> Option<AlignmentFormat> {
        match line {
            [b'>', ..] => Some(AlignmentFormat::Fasta),
            line if line.starts_with(b"# STOCKHOLM") => Some(AlignmentFormat::Stockholm),
            line if clustal::is_header(line) => Some(AlignmentFormat::Clustal),
            line if msf::is_header(line) => Some(AlignmentFormat::Msf),
            line if nexus::is_header(line) => Some(AlignmentFormat::Nexus),
            line => phylip::header(line).map(AlignmentFormat::Phylip),
        }
    }
}

/// Returns the name of the alignment format that starts with this line, except for FASTA.
pub(super) fn alignment_format(line: &[u8]) -> Option<&'static str> {
    match AlignmentFormat::from_line(line)? {
        AlignmentFormat::Fasta => None,
        AlignmentFormat::Stockholm => Some("Stockholm"),
        AlignmentFormat::Clustal => Some("Clustal"),
        AlignmentFormat::Msf => Some("MSF"),
        AlignmentFormat::Nexus => Some("NEXUS"),
        AlignmentFormat::Phylip(_) => Some("PHYLIP"),
    }
}

/// The meaning of `.` in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Dot {
    #[default]
    Gap,
    /// The format does not define it. The value completes the error message.
    Undefined(&'static str),
}

/// Lines of a file without surrounding blanks.
struct AlignmentLines<'a> {
    file: &'a str,
    lines: Vec<&'a [u8]>,
}

impl AlignmentLines<'_> {
    /// Returns an error about a line, counted from 0.
    fn wrong(&self, line: usize, record: Option<&BStr>, message: impl Into<String>) -> crate::Error {
        let record = record.map(|name| name.to_string());
        input_error(
            InputLocation { file: self.file.to_owned(), record, line: Some(line as u64 + 1), column: None },
            message,
        )
    }
}

/// Rows that have been parsed so far.
#[derive(Debug, Default)]
struct ParsedRows {
    names: Vec<BString>,
    rows: Vec<Vec<u8>>,
    /// First line of each row, counted from 0.
    lines: Vec<usize>,
    dot: Dot,
}

impl ParsedRows {
    /// Creates an empty set of rows of a format that does not define `.`. `advice` completes the
    /// error about a `.`.
    fn without_dots(advice: &'static str) -> Self {
        ParsedRows { dot: Dot::Undefined(advice), ..ParsedRows::default() }
    }

    /// Starts a row.
    fn start_row(&mut self, lines: &AlignmentLines<'_>, line: usize, name: &[u8]) -> Result<()> {
        if name.is_empty() {
            return Err(lines.wrong(line, None, "the row has no name"));
        }
        if let Some(byte) = name.iter().find(|byte| byte.is_ascii_control()) {
            return Err(lines.wrong(line, None, format!("{} in the row's name", describe(*byte))));
        }
        let columns = self.rows.first().map_or(0, Vec::len);
        self.names.push(name.into());
        self.rows.push(Vec::with_capacity(columns));
        self.lines.push(line);
        Ok(())
    }

    /// Returns the index of the row with this name. The row is started if this is its first line.
    fn row<'a>(
        &mut self,
        rows: &mut HashMap<&'a [u8], usize>,
        lines: &AlignmentLines<'_>,
        line: usize,
        name: &'a [u8],
    ) -> Result<usize> {
        if let Some(&row) = rows.get(name) {
            return Ok(row);
        }
        self.start_row(lines, line, name)?;
        rows.insert(name, self.rows.len() - 1);
        Ok(self.rows.len() - 1)
    }

    /// Adds the letters of a line to a row.
    fn add(&mut self, lines: &AlignmentLines<'_>, line: usize, row: usize, letters: &[u8]) -> Result<()> {
        let is_known = |byte: u8| byte.is_ascii_alphabetic() || byte == b'*' || is_gap_or_unknown(byte);
        for &byte in letters {
            if let (b'.', Dot::Undefined(advice)) = (byte, self.dot) {
                let message = format!("column {}: '.' {advice}", self.rows[row].len() + 1);
                return Err(lines.wrong(line, Some(self.names[row].as_bstr()), message));
            }
            if is_known(byte) {
                self.rows[row].push(byte);
            } else if !matches!(byte, b' ' | b'\t') {
                let message = format!("{} is not a letter of an alignment", describe(byte));
                return Err(lines.wrong(line, Some(self.names[row].as_bstr()), message));
            }
        }
        Ok(())
    }

    /// Checks the rows and returns the alignment.
    fn finish(self, lines: &AlignmentLines<'_>) -> Result<AlignedRows> {
        let Some(first) = self.rows.first() else {
            return Err(input_error(InputLocation::in_file(lines.file), "the file has no row"));
        };
        let mut seen = HashMap::with_capacity(self.names.len());
        for ((name, row), &line) in self.names.iter().zip(&self.rows).zip(&self.lines) {
            if let Some(earlier) = seen.insert(name, line) {
                let message = format!("line {} has a row of this name already", earlier + 1);
                return Err(lines.wrong(line, Some(name.as_bstr()), message));
            }
            if row.is_empty() {
                return Err(lines.wrong(line, Some(name.as_bstr()), "the row has no letters"));
            }
            if row.len() != first.len() {
                let (columns, other) = (row.len(), first.len());
                let message = format!("the row has {columns} columns, but the first, '{}', {other}", self.names[0]);
                return Err(lines.wrong(line, Some(name.as_bstr()), message));
            }
        }
        Ok(AlignedRows { file: lines.file.to_owned(), names: self.names, rows: self.rows })
    }
}

/// Splits a line into its first word and the rest.
fn split_word(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii_start())
}

fn fasta(lines: &AlignmentLines<'_>, first: usize) -> Result<ParsedRows> {
    let mut parsed = ParsedRows::default();
    for (number, line) in lines.lines.iter().enumerate().skip(first) {
        match line {
            [b';', ..] => {}
            [b'>', header @ ..] => parsed.start_row(lines, number, split_word(header.trim_ascii_start()).0)?,
            letters => parsed.add(lines, number, parsed.rows.len() - 1, letters)?,
        }
    }
    Ok(parsed)
}

/// Reads Stockholm. Annotations are skipped, and there may be several blocks.
fn stockholm(lines: &AlignmentLines<'_>, first: usize) -> Result<ParsedRows> {
    let mut parsed = ParsedRows::default();
    let mut rows: HashMap<&[u8], usize> = HashMap::new();
    let mut body = lines.lines.iter().enumerate().skip(first + 1);
    for (number, &line) in body.by_ref() {
        match line {
            [] | [b'#', ..] => continue,
            b"//" => {
                return match body.find(|(_, line)| !line.is_empty()) {
                    Some((number, _)) => Err(lines.wrong(number, None, "there is more than one alignment")),
                    None => Ok(parsed),
                };
            }
            _ => {}
        }
        let (name, letters) = split_word(line);
        let row = parsed.row(&mut rows, lines, number, name)?;
        parsed.add(lines, number, row, letters)?;
    }
    Err(lines.wrong(lines.lines.len() - 1, None, "the alignment does not end with '//': is the file truncated?"))
}

#[cfg(test)]
mod tests;
