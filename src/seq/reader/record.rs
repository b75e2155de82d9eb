//! Processing of one record: its name, letters and qualities are added to the store.

use std::borrow::Cow;

use super::{EMPTY_PARTNER, EmptyRecords, KeptLetters, Recorder};
use crate::error::{InputLocation, Result};
use crate::seq::alphabet::{Alphabet, AlphabetChoice, Code};
use crate::seq::detect::{self, CARRIAGE_RETURN, ILLEGAL};
use crate::seq::messages::{blank_comments, describe, input_error, letter_error, lines_and_column};

/// Location of a record, for messages.
struct RecordLocation<'r> {
    name: Cow<'r, str>,
    /// Line of the header.
    line: u64,
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
        self.at(file, self.line + 1 + ends, Some(column))
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
        let blanks = header.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
        let header = &header[blanks..];
        let name_bytes = header.split(|byte| b" \t\r".contains(byte)).next().unwrap_or(b"");
        let record = RecordLocation { name: String::from_utf8_lossy(name_bytes), line };
        self.check_header(header, name_bytes, blanks, &record)?;

        let mut without_comments = None;
        let takes_comments = self.choice != AlphabetChoice::Fixed(Alphabet::Bytes);
        let builder = &mut self.loaded.builder;
        let (mut count, mut seen) = (0, 0);
        if let Err(bytes) = builder.reserve(lines.len()) {
            let message = format!("out of memory: with this record the file's sequences take {bytes} bytes");
            return Err(input_error(record.at(&self.loaded.name, line, None), message));
        }
        builder.push_with(name_bytes, lines.len(), |codes| {
            (count, seen) = detect::encode(lines, &self.table, codes);
            if seen & ILLEGAL != 0 && takes_comments {
                without_comments = blank_comments(lines);
                if let Some(letters) = &without_comments {
                    (count, seen) = detect::encode(letters, &self.table, codes);
                }
            }
            count
        });
        if self.keeps_descriptions {
            builder.describe(header[name_bytes.len()..].trim_ascii());
        }
        let letters = without_comments.as_deref().unwrap_or(lines);
        if seen & (ILLEGAL | CARRIAGE_RETURN) != 0 {
            self.check_letters(lines, letters, &record)?;
        }
        if let Some(qualities) = quality.filter(|_| self.keeps_qualities) {
            self.add_qualities(letters, qualities, &record)?;
        }
        let words = self.loaded.builder.words();
        if count == 0 {
            match self.empty {
                EmptyRecords::Keep => {}
                EmptyRecords::Refuse => {
                    return Err(input_error(record.at(&self.loaded.name, line, None), EMPTY_PARTNER));
                }
                EmptyRecords::Skip => {
                    if self.skipped.count == 0 {
                        self.skipped.first = record.at(&self.loaded.name, line, None);
                    }
                    self.skipped.count += 1;
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
        self.take_census(lines, letters, &record);
        Ok(true)
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

    /// Adds the qualities of the last sequence.
    fn add_qualities(&mut self, letters: &[u8], qualities: &[u8], record: &RecordLocation<'_>) -> Result<()> {
        let is_quality = |byte: &u8| byte.is_ascii_graphic() || *byte == b'\n';
        if let Some(index) = qualities.iter().position(|byte| !is_quality(byte)) {
            let message = format!("{} is not a quality: qualities are '!' to '~'", describe(qualities[index]));
            let location = record.at_quality(&self.loaded.name, letters, qualities, index);
            return Err(input_error(location, message));
        }
        // The quality of a removed gap is removed too.
        let letters = letters.iter().filter(|byte| !b"\r\n".contains(byte));
        let qualities = qualities.iter().filter(|&&byte| byte != b'\n');
        let pairs = letters.zip(qualities).filter(|(letter, _)| detect::is_code(self.table[**letter as usize]));
        self.loaded.builder.qualify(&pairs.map(|(_, &quality)| quality).collect::<Vec<u8>>());
        Ok(())
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

    /// Counts the letters of the last sequence, if they decide on the alphabet or are compared with
    /// one.
    fn take_census(&mut self, lines: &[u8], letters: &[u8], record: &RecordLocation<'_>) {
        let builder = &self.loaded.builder;
        if self.compared_with.is_some() {
            let alphabet = builder.records_so_far().alphabet();
            let codes = builder.last_codes().iter().filter_map(|&code| Alphabet::Protein.encode(alphabet.decode(code)));
            self.loaded.census.add(&codes.collect::<Vec<Code>>());
        }
        if self.choice == AlphabetChoice::Detect {
            self.loaded.census.add(builder.last_codes());
            if self.loaded.first_foreign.is_none() && self.loaded.census.foreign() > 0 {
                // There may be no such letter: inosine counts as foreign, but is allowed in DNA.
                let index = letters.iter().position(|&byte| detect::is_foreign(byte));
                self.loaded.first_foreign =
                    index.map(|index| (letters[index], record.at_letter(&self.loaded.name, lines, index)));
            }
        }
    }
}
