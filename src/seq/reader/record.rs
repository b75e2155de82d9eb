//! Processing of one record: its name, letters and qualities are added to the store. A record can be
//! added in pieces.

use std::borrow::Cow;

use super::fasta::FastaLines;
use super::{EMPTY_PARTNER, EmptyRecords, KeptLetters, Recorder};
use crate::error::{InputLocation, Result};
use crate::seq::alphabet::{Alphabet, AlphabetChoice, Code};
use crate::seq::detect::{self, CARRIAGE_RETURN, ILLEGAL, LetterTable};
use crate::seq::messages::{blank_comments, describe, input_error, letter_error, lines_and_column};

/// Location of a record, for messages.
struct RecordLocation<'r> {
    name: Cow<'r, str>,
    /// Line of the header.
    line: u64,
    /// Line of the first byte of the lines in question.
    first_line: u64,
    /// Number of bytes of that line before them.
    column: u64,
}

/// A record that is added in pieces.
pub(super) struct OpenRecord {
    name: Vec<u8>,
    /// Line of the header.
    line: u64,
    /// Number of symbols so far.
    symbols: u64,
    /// Whether the next bytes continue a comment line.
    is_in_comment: bool,
}

impl OpenRecord {
    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Returns the number of symbols so far.
    pub(super) fn symbols(&self) -> u64 {
        self.symbols
    }
}

/// Lines of a record after they were encoded.
#[derive(Default)]
struct EncodedLines {
    /// Number of codes.
    count: usize,
    /// Kinds of bytes in the lines.
    seen: u16,
    /// The lines with blanks in place of comments, if there are comments.
    without_comments: Option<Vec<u8>>,
}

impl EncodedLines {
    /// Writes the codes of some lines to `codes`.
    fn encode(lines: &[u8], table: &LetterTable, takes_comments: bool, codes: &mut [Code]) -> Self {
        let (count, seen) = detect::encode(lines, table, codes);
        let may_have_comments = seen & ILLEGAL != 0 && takes_comments;
        match may_have_comments.then(|| blank_comments(lines)).flatten() {
            Some(letters) => {
                let (count, seen) = detect::encode(&letters, table, codes);
                EncodedLines { count, seen, without_comments: Some(letters) }
            }
            None => EncodedLines { count, seen, without_comments: None },
        }
    }

    /// Returns the lines without comments.
    fn letters<'l>(&'l self, lines: &'l [u8]) -> &'l [u8] {
        self.without_comments.as_deref().unwrap_or(lines)
    }
}

impl RecordLocation<'_> {
    /// Returns a location in the record.
    fn at(&self, file: &str, line: u64, column: Option<u64>) -> InputLocation {
        InputLocation {
            file: file.to_owned(),
            record: (!self.name.is_empty()).then(|| self.name.to_string()),
            line: Some(line),
            column,
        }
    }

    /// Returns the location of a letter by its index in the lines after the header.
    fn at_letter(&self, file: &str, lines: &[u8], index: usize) -> InputLocation {
        let (ends, column) = lines_and_column(lines, index);
        let before = if ends == 0 { self.column } else { 0 };
        self.at(file, self.first_line + ends, Some(before + column))
    }

    /// Returns the location of a quality by its index in the lines after the `+` line. `lines` are
    /// the lines of the sequence.
    fn at_quality(&self, file: &str, lines: &[u8], qualities: &[u8], index: usize) -> InputLocation {
        let (sequence_ends, _) = lines_and_column(lines, lines.len());
        let (ends, column) = lines_and_column(qualities, index);
        // The header, the last line of the sequence and the `+` line come before.
        self.at(file, self.line + 3 + sequence_ends + ends, Some(column))
    }
}

impl Recorder {
    /// Adds a record to the store. Returns `false` if it has no sequence and is skipped.
    pub(super) fn add(&mut self, header: &[u8], lines: &[u8], quality: Option<&[u8]>, line: u64) -> Result<bool> {
        let line = self.lines_before + line;
        let (name_bytes, description, record) = self.checked_header(header, line)?;
        self.reserve(lines, "file's sequences", &record)?;
        let takes_comments = self.takes_comments();
        let mut encoded = EncodedLines::default();
        let builder = &mut self.loaded.builder;
        builder.push_with(name_bytes, lines.len(), |codes| {
            encoded = EncodedLines::encode(lines, &self.table, takes_comments, codes);
            encoded.count
        });
        if self.keeps_descriptions {
            builder.describe(description);
        }
        let EncodedLines { count, .. } = encoded;
        let letters = encoded.letters(lines);
        self.check_encoded(lines, &encoded, &record)?;
        if let Some(qualities) = quality {
            self.check_qualities(letters, qualities, &record)?;
            if self.keeps_qualities {
                self.add_qualities(letters, qualities);
            }
        }
        let words = self.loaded.builder.words();
        if count == 0 {
            match self.empty {
                EmptyRecords::Keep => {}
                EmptyRecords::Refuse => {
                    return Err(input_error(record.at(&self.loaded.name, line, None), EMPTY_PARTNER));
                }
                EmptyRecords::Skip => {
                    self.skip(&record);
                    self.loaded.builder.pop_empty();
                    return Ok(false);
                }
            }
        }
        self.has_sequence |= count > 0;
        self.last_line = line;
        if let Some(KeptLetters { letters: kept, ends }) = &mut self.letters {
            let is_nucleotides = self.loaded.builder.records_so_far().alphabet() == Alphabet::Dna;
            if !self.keeps_respelled_only || is_nucleotides && detect::has_respelled_nucleotide(letters) {
                kept.extend(letters.iter().filter(|&&byte| detect::is_code(self.table[byte as usize])));
            }
            ends.push(kept.len());
        }
        self.check_limits(count, words, &record)?;
        self.take_census(count, lines, letters, &record);
        Ok(true)
    }

    /// Starts a record that is added in pieces.
    pub(super) fn begin(&self, header: &[u8], line: u64) -> Result<OpenRecord> {
        let line = self.lines_before + line;
        let (name, ..) = self.checked_header(header, line)?;
        Ok(OpenRecord { name: name.to_owned(), line, symbols: 0, is_in_comment: false })
    }

    /// Adds a piece of a record. The letters as in the file are not kept.
    pub(super) fn extend(&mut self, open: &mut OpenRecord, piece: &FastaLines<'_>) -> Result<()> {
        let lines = piece.bytes;
        let has_line_end = lines.last() == Some(&b'\n');
        if open.is_in_comment {
            open.is_in_comment = !has_line_end;
            return Ok(());
        }
        let name = String::from_utf8_lossy(&open.name);
        let (first_line, column) = (self.lines_before + piece.line, piece.column);
        let record = RecordLocation { name, line: open.line, first_line, column };
        self.reserve(lines, "sequences", &record)?;
        let takes_comments = self.takes_comments() && column == 0;
        let mut encoded = EncodedLines::default();
        self.loaded.builder.extend_with(lines.len(), |codes| {
            encoded = EncodedLines::encode(lines, &self.table, takes_comments, codes);
            encoded.count
        });
        open.is_in_comment = encoded.without_comments.is_some() && !has_line_end;
        self.check_encoded(lines, &encoded, &record)?;
        open.symbols += encoded.count as u64;
        if open.symbols > self.limits.letters as u64 {
            let message = format!("the sequence is too long: it has more than {} letters", self.limits.letters);
            return Err(input_error(record.at(&self.loaded.name, open.line, None), message));
        }
        self.take_census(encoded.count, lines, encoded.letters(lines), &record);
        Ok(())
    }

    /// Adds the record of a line that has the letters of `line`. Returns `false` if there are none
    /// and the record is skipped.
    pub(super) fn add_line(&mut self, name: &[u8], letters: &FastaLines<'_>) -> Result<bool> {
        let start = self.loaded.builder.bytes();
        let mut open = self.begin(name, letters.line)?;
        self.extend(&mut open, letters)?;
        let is_kept = self.end(&open, start);
        let record = RecordLocation {
            name: String::from_utf8_lossy(&open.name),
            line: open.line,
            first_line: open.line,
            column: 0,
        };
        self.check_limits(open.symbols as usize, self.loaded.builder.words(), &record)?;
        Ok(is_kept)
    }

    /// Returns the name in a header, the description after it, and the location of the record.
    fn checked_header<'h>(&self, header: &'h [u8], line: u64) -> Result<(&'h [u8], &'h [u8], RecordLocation<'h>)> {
        let blanks = header.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        let header = &header[blanks..];
        let name = header.split(|byte| b" \t\r".contains(byte)).next().unwrap_or(b"");
        let record = RecordLocation { name: String::from_utf8_lossy(name), line, first_line: line + 1, column: 0 };
        self.check_header(header, name, blanks, &record)?;
        Ok((name, header[name.len()..].trim_ascii(), record))
    }

    /// Reserves memory for the codes of some lines. `what` names the codes in memory.
    fn reserve(&mut self, lines: &[u8], what: &str, record: &RecordLocation<'_>) -> Result<()> {
        self.loaded.builder.reserve(lines.len()).map_err(|bytes| {
            let message = format!("out of memory: with this record the {what} take {bytes} bytes");
            input_error(record.at(&self.loaded.name, record.line, None), message)
        })
    }

    /// Returns whether a line can be a comment.
    fn takes_comments(&self) -> bool {
        self.choice != AlphabetChoice::Fixed(Alphabet::Bytes)
    }

    /// Refuses lines with a letter that is not allowed.
    fn check_encoded(&self, lines: &[u8], encoded: &EncodedLines, record: &RecordLocation<'_>) -> Result<()> {
        match encoded.seen & (ILLEGAL | CARRIAGE_RETURN) {
            0 => Ok(()),
            _ => self.check_letters(lines, encoded.letters(lines), record),
        }
    }

    /// Ends a record whose codes start at byte `start`. Returns `false` if it has no sequence and is
    /// skipped.
    pub(super) fn end(&mut self, open: &OpenRecord, start: usize) -> bool {
        let name = String::from_utf8_lossy(&open.name);
        if open.symbols == 0 {
            self.skip(&RecordLocation { name, line: open.line, first_line: open.line + 1, column: 0 });
            return false;
        }
        self.has_sequence = true;
        self.loaded.builder.close(start, &open.name);
        true
    }

    /// Counts a record without a sequence.
    fn skip(&mut self, record: &RecordLocation<'_>) {
        if self.skipped.count == 0 {
            self.skipped.first = record.at(&self.loaded.name, record.line, None);
        }
        self.skipped.count += 1;
    }

    /// Refuses a header that contains a carriage return, lacks a name, or has a control character
    /// in the name. `blanks` is the number of blanks before the name.
    fn check_header(&self, header: &[u8], name: &[u8], blanks: usize, record: &RecordLocation<'_>) -> Result<()> {
        let before = blanks as u64 + 2;
        let location = |column: u64| record.at(&self.loaded.name, record.line, Some(column));
        if let Some(index) = header.iter().position(|&byte| byte == b'\r') {
            return Err(input_error(location(index as u64 + before), letter_error(b'\r', self.choice)));
        }
        if record.name.is_empty() {
            return Err(input_error(location(2), "the record has no name"));
        }
        // Control characters in a name would be written to tables and terminals.
        if let Some(index) = name.iter().position(u8::is_ascii_control) {
            let message = format!("{} in the record's name", describe(header[index]));
            return Err(input_error(location(index as u64 + before), message));
        }
        let checked = self.check_name.map_or(Ok(()), |check| check(name));
        checked.map_err(|message| input_error(record.at(&self.loaded.name, record.line, None), message))
    }

    /// Refuses letters that the alphabet lacks, and carriage returns within lines. `letters` are
    /// the lines without comments.
    fn check_letters(&self, lines: &[u8], letters: &[u8], record: &RecordLocation<'_>) -> Result<()> {
        let illegal = (0..letters.len()).find(|&index| match self.table[letters[index] as usize] {
            ILLEGAL => true,
            CARRIAGE_RETURN => letters.get(index + 1) != Some(&b'\n'),
            _ => false,
        });
        let Some(index) = illegal else { return Ok(()) };
        let other = self.compared_with.filter(|_| letters[index].is_ascii_alphabetic());
        let hint = other.map_or_else(String::new, |other| format!(", the alphabet of {other}"));
        let location = record.at_letter(&self.loaded.name, lines, index);
        Err(input_error(location, letter_error(letters[index], self.choice) + &hint))
    }

    /// Refuses bytes that are not qualities.
    fn check_qualities(&self, letters: &[u8], qualities: &[u8], record: &RecordLocation<'_>) -> Result<()> {
        let is_wrong = |byte: u8| !byte.is_ascii_graphic() & (byte != b'\n');
        // Testing all bytes is vectorised, unlike a search for the first one.
        if !qualities.iter().fold(false, |any, &byte| any | is_wrong(byte)) {
            return Ok(());
        }
        let index = qualities.iter().position(|&byte| is_wrong(byte)).unwrap_or_default();
        let message = format!("{} is not a quality: qualities are '!' to '~'", describe(qualities[index]));
        Err(input_error(record.at_quality(&self.loaded.name, letters, qualities, index), message))
    }

    /// Adds the qualities of the last sequence.
    fn add_qualities(&mut self, letters: &[u8], qualities: &[u8]) {
        // The quality of a removed gap is removed too.
        let letters = letters.iter().filter(|byte| !b"\r\n".contains(byte));
        let qualities = qualities.iter().filter(|&&byte| byte != b'\n');
        let pairs = letters.zip(qualities).filter(|(letter, _)| detect::is_code(self.table[**letter as usize]));
        self.loaded.builder.qualify(&pairs.map(|(_, &quality)| quality).collect::<Vec<u8>>());
    }

    /// Refuses a record with too many letters, and a record that makes the store too large.
    fn check_limits(&self, count: usize, words: usize, record: &RecordLocation<'_>) -> Result<()> {
        let location = || record.at(&self.loaded.name, record.line, None);
        if count > self.limits.letters {
            let message = format!("the sequence is too long: {count} letters of at most {}", self.limits.letters);
            return Err(input_error(location(), message));
        }
        if words > self.limits.words {
            let message = format!(
                "the file is too large: with this record {words} words of four letters, of at most {}",
                self.limits.words
            );
            return Err(input_error(location(), message));
        }
        Ok(())
    }

    /// Counts the last `count` letters, if they decide on the alphabet or are compared with one.
    fn take_census(&mut self, count: usize, lines: &[u8], letters: &[u8], record: &RecordLocation<'_>) {
        let store = self.loaded.builder.records_so_far();
        let codes = &store.packed_bytes()[store.packed_bytes().len() - count..];
        if self.compared_with.is_some() {
            let alphabet = store.alphabet();
            let codes = codes.iter().filter_map(|&code| Alphabet::Protein.encode(alphabet.decode(code)));
            self.loaded.census.add(&codes.collect::<Vec<Code>>());
        }
        if self.choice == AlphabetChoice::Detect {
            self.loaded.census.add(codes);
            if self.loaded.first_foreign.is_none() && self.loaded.census.foreign() > 0 {
                // There may be no such letter: inosine counts as foreign, but is allowed in DNA.
                let index = letters.iter().position(|&byte| detect::is_foreign(byte));
                self.loaded.first_foreign =
                    index.map(|index| (letters[index], record.at_letter(&self.loaded.name, lines, index)));
            }
        }
    }
}
