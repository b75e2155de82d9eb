//! FASTA reader (needletail), FASTQ reader and reader of lists, plain or compressed, whose errors name
//! file, record, line and column.
//!
//! Each record is encoded directly into the packed store. If the alphabet is detected, letters are
//! stored as protein codes, which every letter has, and converted in place after all files have
//! been read. This avoids a second copy of the letters.

use std::collections::HashSet;
use std::path::Path;

use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::{FastaReader, FastxReader};

use super::aligned::{aligned_code, alignment_format};
use super::alphabet::Alphabet;
pub use super::alphabet::AlphabetChoice;
use super::detect::{self, ILLEGAL, LetterCensus, LetterTable};
use super::input::{self, InputCompression, SequenceInput};
use super::messages::{describe, input_error};
use super::store::{SequenceId, SequenceStore, StoreBuilder};
use crate::error::{Error, InputLocation, Result};

mod alphabets;
mod duplicates;
mod fasta;
mod fastq;
mod list;
mod parts;
mod record;
mod sources;

use alphabets::build_stores;
pub(super) use alphabets::decide_alphabet;
pub(super) use duplicates::{Duplicates, NAMED_DUPLICATES};
use fastq::{FastqError, FastqReader, FastqRecord};
use list::ListReader;
pub use parts::{PartOfTexts, PartSize, TextParts, open_texts};
pub use sources::{SequenceSource, read_sources};

/// Options for reading sequences.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The alphabet.
    pub alphabet: AlphabetChoice,
    /// Whether to remove gap signs (`-`, `.`, `~`) from aligned sequences instead of refusing them.
    pub degap: bool,
    /// Whether a file that does not start like FASTA or FASTQ is read as a list: each line has a
    /// sequence, or a name, a tab and a sequence. A sequence without a name is its own name.
    pub lists: bool,
}

/// Reads every file into its own store. All stores get the same alphabet. `-` is standard input.
///
/// A file is FASTA or FASTQ (sequences and qualities may be wrapped), plain or compressed with
/// gzip, bzip2, xz or zstd. Both are inferred from the content. Lines end with LF, CR LF or CR. The
/// letters are those of [`Alphabet`], in either case; `I` (inosine) and `X` in DNA are read as N.
/// Blanks between letters and lines that start with `;` are skipped. A record's name is the first
/// word of its header. Records without a sequence are skipped with one warning.
///
/// # Errors
///
/// Returns [`Error::Input`] with the location for everything that the user can correct: a letter
/// that the alphabet lacks (including gaps and digits), a quality of FASTQ that is not a printable
/// ASCII character, a record without a name, a truncated or damaged file, a file without sequences
/// or in another format, and a file that is too large (16 GiB of packed letters). Returns
/// [`Error::Usage`] if standard input is named twice, and [`Error::Io`] if the system fails.
///
/// Warnings (duplicate names, a file that looks like the other alphabet) go through
/// [`tracing::warn!`].
pub fn read_files<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    read_each(paths, options, || Recorder::new(options, LIMITS))
}

/// Reads files like [`read_files`], and keeps the qualities of FASTQ
/// ([`SequenceStore::qualities`]).
///
/// # Errors
/// Returns the errors of [`read_files`].
pub fn read_qualified<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    read_each(paths, options, || Recorder { keeps_qualities: true, ..Recorder::new(options, LIMITS) })
}

/// Whether the qualities of FASTQ are kept ([`SequenceStore::qualities`]). They take as much memory
/// as the sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Qualities {
    /// Qualities are kept.
    Keep,
    /// Qualities are checked, but not kept.
    Skip,
}

/// Checks the name of a record. Returns the message of an error.
pub type NameCheck = fn(&[u8]) -> std::result::Result<(), &'static str>;

/// Reads a file like [`read_files`], and refuses records whose names `check` refuses.
///
/// # Errors
/// Returns the errors of [`read_files`], and [`Error::Input`] with the location and the message for
/// a refused name.
pub fn read_checked(path: impl AsRef<Path>, options: &ReadOptions, check: NameCheck) -> Result<SequenceStore> {
    let recorder = || Recorder { check_name: Some(check), ..Recorder::new(options, LIMITS) };
    read_each(&[path], options, recorder)?.pop().ok_or_else(|| Error::Internal("a file without a store".into()))
}

/// Reads every file with its own recorder.
fn read_each<P: AsRef<Path>>(
    paths: &[P],
    options: &ReadOptions,
    recorder: impl Fn() -> Recorder,
) -> Result<Vec<SequenceStore>> {
    if paths.iter().filter(|path| input::is_standard(path.as_ref())).count() > 1 {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    // All files are opened before the first is read, so that a misspelt name is reported at once.
    let inputs = paths.iter().map(|path| SequenceInput::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
    let files = inputs.into_iter().map(|input| recorder().read_all(input)).collect::<Result<Vec<_>>>()?;
    build_stores(files, options)
}

/// Reads two files like [`read_files`], but refuses records without a sequence, because records are
/// paired by their numbers.
///
/// # Errors
/// Returns the errors of [`read_files`].
pub fn read_partners<P: AsRef<Path>>(
    paths: [P; 2],
    options: &ReadOptions,
    qualities: Qualities,
) -> Result<[SequenceStore; 2]> {
    let paths = paths.each_ref().map(AsRef::as_ref);
    if paths.into_iter().all(input::is_standard) {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    let [a, b] = [SequenceInput::open(paths[0])?, SequenceInput::open(paths[1])?];
    let recorder = || Recorder::for_partners(options, qualities);
    let files = vec![recorder().read_all(a)?, recorder().read_all(b)?];
    let stores = build_stores(files, options)?;
    stores.try_into().map_err(|_| Error::Internal("a store is missing".into()))
}

/// Reads a file like [`read_files`], and keeps the descriptions after the names
/// ([`SequenceStore::description`]) and the qualities of FASTQ ([`SequenceStore::qualities`]).
///
/// # Errors
/// Returns the errors of [`read_files`].
pub fn read_described(path: impl AsRef<Path>, options: &ReadOptions) -> Result<SequenceStore> {
    let mut recorder = Recorder { keeps_qualities: true, ..Recorder::keeping_descriptions(options) };
    recorder.read(SequenceInput::open(path.as_ref())?)?;
    Ok(recorder.finish(options)?.0)
}

/// Reads queries in the alphabet of a database, with the descriptions after the names. Warns about
/// a file that looks like another alphabet, unless `options` give the alphabet.
///
/// # Errors
/// Returns the errors of [`read_files`].
pub fn read_queries(
    path: impl AsRef<Path>,
    alphabet: Alphabet,
    options: &ReadOptions,
    qualities: Qualities,
) -> Result<SequenceStore> {
    let fixed = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..options.clone() };
    let keeps_qualities = qualities == Qualities::Keep;
    let mut recorder = Recorder { keeps_qualities, ..Recorder::keeping_descriptions(&fixed) };
    recorder.compared_with = (options.alphabet == AlphabetChoice::Detect).then_some("the database");
    recorder.read(SequenceInput::open(path.as_ref())?)?;
    recorder.end_comparison();
    Ok(recorder.finish(&fixed)?.0)
}

/// Reads FASTA or FASTQ from memory like [`read_files`], plain or compressed. Errors name the file
/// `name`.
///
/// ```
/// use pairwave::seq::{Alphabet, ReadOptions, read_bytes};
///
/// let store = read_bytes("two.fa", b">a first\nACGU\nAC\n>b\ngattaca\n", &ReadOptions::default())?;
/// assert_eq!(store.alphabet(), Alphabet::Dna);
/// assert_eq!((store.name(0), store.letters(0).as_str()), ("a", "ACGTAC"));
///
/// let error = read_bytes("one.fa", b">a\nACGT\nAC-T\n", &ReadOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("one.fa, line 3, column 3, record 'a': "));
/// # Ok::<(), pairwave::Error>(())
/// ```
pub fn read_bytes(name: &str, data: &[u8], options: &ReadOptions) -> Result<SequenceStore> {
    let file = Recorder::new(options, LIMITS).read_all(SequenceInput::new(name, Box::new(data))?)?;
    Ok(build_stores(vec![file], options)?.remove(0))
}

/// Limits of a store's size.
#[derive(Debug, Clone, Copy)]
struct StoreLimits {
    /// Maximum number of letters in a sequence.
    letters: usize,
    /// Maximum number of words in all sequences.
    words: usize,
}

/// Kernels address the letters of a sequence and the words of a store with 32 bits. The limits
/// ensure that even the exclusive end of the last one fits 32 bits.
const LIMITS: StoreLimits = StoreLimits { letters: u32::MAX as usize, words: u32::MAX as usize };

/// Message for a record without a sequence if records are paired by their numbers.
const EMPTY_PARTNER: &str = "the record has no sequence, and skipping it would change all later pairs: remove it and its partner from \
        both files";

/// Records of one file, with the information to detect the alphabet.
struct Loaded {
    name: String,
    builder: StoreBuilder,
    census: LetterCensus,
    /// First letter that is not a nucleotide letter, and its location, if letters are counted.
    first_foreign: Option<(u8, InputLocation)>,
}

impl Loaded {
    /// Warns if the file looks like another alphabet than `read_as`. `reason` explains why it is
    /// read as that.
    fn warn_of_alphabet(&self, read_as: Alphabet, reason: &str) {
        if self.census.alphabet() == read_as {
            return;
        }
        let location = InputLocation::in_file(&self.name);
        let (detected, other) = match read_as {
            Alphabet::Dna => ("a protein file", "DNA/RNA"),
            Alphabet::Protein | Alphabet::Bytes => ("DNA/RNA", "protein"),
        };
        tracing::warn!("{location}: looks like {detected} by itself but is read as {other}, {reason}");
    }
}

/// Letters of records as in the file, one record after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeptLetters {
    pub(super) letters: Vec<u8>,
    /// End of each record's letters.
    pub(super) ends: Vec<usize>,
}

impl KeptLetters {
    /// Returns the letters of one record.
    pub(super) fn get(&self, id: SequenceId) -> &[u8] {
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.letters[start..self.ends[id as usize]]
    }
}

/// The records of one input.
pub(super) struct Records<'a> {
    reader: RecordReader<'a>,
    name: String,
    compression: Option<InputCompression>,
}

/// The reader of a format.
enum RecordReader<'a> {
    Fasta(Box<dyn FastxReader + 'a>),
    Fastq(Box<FastqReader<'a>>),
    List(ListReader<'a>),
}

/// Format of a file of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SequenceFormat {
    Fasta,
    Fastq,
    /// Lines, if [`ReadOptions::lists`] allows them.
    List,
}

/// The treatment of records without a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyRecords {
    Skip,
    Keep,
    /// Refuse the record, because skipping it would give later records wrong partners.
    Refuse,
}

/// Records without a sequence that were skipped.
#[derive(Debug, Default)]
struct Skipped {
    count: u64,
    /// Location of the first of them.
    first: InputLocation,
}

/// Reader of one file, which adds its records to a store.
pub(super) struct Recorder {
    table: LetterTable,
    /// The original letters, if they are kept.
    letters: Option<KeptLetters>,
    /// Whether only the letters of records that their codes do not determine are kept.
    keeps_respelled_only: bool,
    /// Whether the descriptions after the names are kept.
    keeps_descriptions: bool,
    /// Whether the qualities of FASTQ are kept.
    keeps_qualities: bool,
    empty: EmptyRecords,
    /// Additional check of the names.
    check_name: Option<NameCheck>,
    skipped: Skipped,
    /// Whether a record with a sequence was read.
    has_sequence: bool,
    choice: AlphabetChoice,
    takes_lists: bool,
    /// Name of the database or alignment whose alphabet is used, if the letters are compared with
    /// that alphabet.
    compared_with: Option<&'static str>,
    limits: StoreLimits,
    /// Number of lines before the first line that needletail reads.
    lines_before: u64,
    /// Line of the last record's header.
    last_line: u64,
    loaded: Loaded,
}

impl Recorder {
    fn new(options: &ReadOptions, limits: StoreLimits) -> Self {
        let alphabet = match options.alphabet {
            AlphabetChoice::Detect => Alphabet::Protein,
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        Recorder {
            table: detect::table(alphabet, options.degap),
            letters: None,
            keeps_respelled_only: false,
            keeps_descriptions: false,
            keeps_qualities: false,
            empty: EmptyRecords::Skip,
            check_name: None,
            skipped: Skipped::default(),
            has_sequence: false,
            choice: options.alphabet,
            takes_lists: options.lists,
            compared_with: None,
            limits,
            lines_before: 0,
            last_line: 0,
            loaded: Loaded {
                name: String::new(),
                builder: SequenceStore::builder(alphabet),
                census: LetterCensus::default(),
                first_foreign: None,
            },
        }
    }

    /// Creates a recorder for reads of an alignment. It keeps the letters, removes gaps, and
    /// accepts the additional letters of [`aligned_code`]. `?` stands for any letter.
    pub(super) fn for_reads(alphabet: Alphabet) -> Self {
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), degap: true, lists: false };
        let mut recorder = Recorder {
            empty: EmptyRecords::Keep,
            compared_with: Some("the reference alignment"),
            ..Recorder::new(&options, LIMITS).with_letters()
        };
        for (letter, entry) in (0..=u8::MAX).zip(&mut recorder.table) {
            let code = aligned_code(alphabet, if letter == b'?' { b'X' } else { letter });
            if let Some(code) = code.filter(|_| *entry == ILLEGAL) {
                *entry = code.into();
            }
        }
        recorder
    }

    /// Warns if the letters so far look like another alphabet. Later letters are not compared.
    pub(super) fn end_comparison(&mut self) {
        let other = self.compared_with.take().filter(|_| !self.loaded.census.is_empty());
        if let Some(other) = other {
            self.loaded.warn_of_alphabet(self.records_so_far().alphabet(), &format!("as {other} is"));
        }
    }

    /// Creates a recorder for records that are paired with records of another file by number.
    pub(super) fn for_partners(options: &ReadOptions, qualities: Qualities) -> Self {
        let keeps_qualities = qualities == Qualities::Keep;
        Recorder { empty: EmptyRecords::Refuse, keeps_qualities, ..Recorder::new(options, LIMITS) }
    }

    /// Creates a recorder that keeps the letters as in the file.
    pub(super) fn with_letters_kept(options: &ReadOptions) -> Self {
        Recorder::new(options, LIMITS).with_letters()
    }

    /// Creates a recorder that keeps the letters of records that their codes do not determine: U, I
    /// and X in nucleotides. Other records have no letters.
    pub(super) fn with_respelled_letters(options: &ReadOptions) -> Self {
        Recorder { keeps_respelled_only: true, ..Recorder::with_letters_kept(options) }
    }

    /// Creates a recorder that keeps the descriptions after the names.
    pub(super) fn keeping_descriptions(options: &ReadOptions) -> Self {
        Recorder { keeps_descriptions: true, ..Recorder::new(options, LIMITS) }
    }

    fn with_letters(self) -> Self {
        Recorder { letters: Some(KeptLetters::default()), ..self }
    }

    /// Reads all records of `input`.
    pub(super) fn read(&mut self, input: SequenceInput<'_>) -> Result<()> {
        let mut records = self.open(input)?;
        while self.next(&mut records)? {}
        warn_of_duplicates(&self.loaded.name, self.records_so_far());
        Ok(())
    }

    /// Decides on the alphabet, and returns the store and the kept letters.
    pub(super) fn finish(self, options: &ReadOptions) -> Result<(SequenceStore, KeptLetters)> {
        let store = build_stores(vec![self.loaded], options)?.remove(0);
        Ok((store, self.letters.unwrap_or_default()))
    }

    fn read_all(mut self, input: SequenceInput<'_>) -> Result<Loaded> {
        self.read(input)?;
        Ok(self.loaded)
    }

    /// Finds the first record of `input`.
    pub(super) fn open<'a>(&mut self, mut input: SequenceInput<'a>) -> Result<Records<'a>> {
        self.loaded.name.clone_from(&input.name);
        let format = self.find_first_record(&mut input)?;
        let (name, compression) = (input.name.clone(), input.compression);
        let reader = match format {
            // Two additional line feeds at the end of a FASTA file change no record. They make
            // needletail return a last record that consists only of a header. Without them, it
            // returns an error without the record's name.
            SequenceFormat::Fasta => {
                RecordReader::Fasta(Box::new(FastaReader::new(std::io::Read::chain(input.bytes, &b"\n\n"[..]))))
            }
            SequenceFormat::Fastq => RecordReader::Fastq(Box::new(FastqReader::new(input, self.choice))),
            SequenceFormat::List => RecordReader::List(ListReader::new(input)),
        };
        Ok(Records { reader, name, compression })
    }

    /// Reads the next record. Returns `false` if there is none. A record without a sequence is
    /// skipped, kept or refused.
    pub(super) fn next(&mut self, records: &mut Records<'_>) -> Result<bool> {
        let Records { reader, name, compression } = records;
        loop {
            let is_kept = match reader {
                RecordReader::Fasta(reader) => match reader.next() {
                    None => break,
                    Some(Ok(record)) => self.add(record.id(), record.raw_seq(), None, record.start_line_number())?,
                    Some(Err(error)) if error.kind == ParseErrorKind::Io => {
                        return Err(input::read_error(name, *compression, error.msg));
                    }
                    Some(Err(error)) => return Err(self.fasta_error(&error)),
                },
                RecordReader::Fastq(reader) => match reader.next() {
                    Ok(None) => break,
                    Ok(Some(FastqRecord { header, sequence, quality, line })) => {
                        self.add(header, sequence, Some(quality), line)?
                    }
                    Err(FastqError::Io(error)) => return Err(input::read_error(name, *compression, error.to_string())),
                    Err(FastqError::Format { line, header, message }) => {
                        return Err(self.fastq_error(line, header.as_deref(), message));
                    }
                },
                RecordReader::List(reader) => match reader.next() {
                    Ok(None) => break,
                    Ok(Some(line)) => self.add_listed(&line)?,
                    Err(error) => return Err(input::read_error(name, *compression, error.to_string())),
                },
            };
            if is_kept {
                return Ok(true);
            }
        }
        self.report_skipped()?;
        Ok(false)
    }

    /// Warns about the skipped records without a sequence. Returns an error if there were no other
    /// records.
    fn report_skipped(&mut self) -> Result<()> {
        let Skipped { count, first } = std::mem::take(&mut self.skipped);
        match count {
            0 => {}
            _ if !self.has_sequence => return Err(input_error(first, "no record of the file has a sequence")),
            1 => tracing::warn!("{first}: the record has no sequence and is skipped"),
            2 => tracing::warn!("{first}: the record has no sequence and is skipped, as is another one"),
            _ => tracing::warn!("{first}: the record has no sequence and is skipped, as are {} others", count - 1),
        }
        Ok(())
    }

    /// Returns everything that was read since the last call, and starts a new store.
    pub(super) fn take(&mut self) -> (SequenceStore, KeptLetters) {
        let builder = &mut self.loaded.builder;
        let alphabet = builder.records_so_far().alphabet();
        let store = std::mem::replace(builder, SequenceStore::builder(alphabet)).build();
        (store.with_file(&self.loaded.name), self.letters.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Returns the line of the last record's header.
    pub(super) fn last_line(&self) -> u64 {
        self.last_line
    }

    /// Returns the sequences read since the last call of [`Recorder::take`].
    pub(super) fn records_so_far(&self) -> &SequenceStore {
        self.loaded.builder.records_so_far()
    }

    /// Skips a byte order mark and blank lines, and infers the format from the next byte.
    fn find_first_record(&mut self, input: &mut SequenceInput<'_>) -> Result<SequenceFormat> {
        let (mut at_start, mut in_comment, mut mark) = (true, false, &b"\xEF\xBB\xBF"[..]);
        loop {
            let Some(byte) = input.peek()? else {
                let message = if at_start { "the file is empty" } else { "the file has no record" };
                return Err(input_error(input.location(), message));
            };
            match byte {
                b'>' => return Ok(SequenceFormat::Fasta),
                b'@' => return Ok(SequenceFormat::Fastq),
                b'\n' => (self.lines_before, in_comment) = (self.lines_before + 1, false),
                _ if at_start && input.bytes.fill_buf().is_ok_and(input::is_database) => {
                    let message = "this is a database of 'pairwave makedb'; sequences are expected here";
                    return Err(input_error(input.location(), message));
                }
                _ if in_comment => {}
                b';' => in_comment = true,
                b'\r' => {}
                _ if mark.first() == Some(&byte) => mark = &mark[1..],
                _ if self.takes_lists => return Ok(SequenceFormat::List),
                _ => {
                    let location = InputLocation { line: Some(self.lines_before + 1), ..input.location() };
                    let line = input.bytes.fill_buf().unwrap_or_default().split(|&byte| byte == b'\n').next();
                    if let Some(format) = line.and_then(|line| alignment_format(line.trim_ascii())) {
                        let message = format!(
                            "this is an alignment in {format} format, and FASTA or FASTQ is expected ('dist' and 'tree' \
                             read alignments with `aligned`)"
                        );
                        return Err(input_error(location, message));
                    }
                    let message = format!(
                        "this is neither FASTA nor FASTQ: expected '>' or '@' at the start, found {}",
                        describe(byte)
                    );
                    return Err(input_error(location, message));
                }
            }
            at_start = false;
            input.bytes.consume(1);
        }
    }

    /// Converts needletail's error.
    fn fasta_error(&self, error: &ParseError) -> Error {
        let line = self.lines_before + error.position.line;
        self.line_error(line, error.position.id.as_deref().map(str::as_bytes), error.msg.clone())
    }

    /// Returns the error of a FASTQ record, or of a SAM file that looked like FASTQ.
    fn fastq_error(&self, line: u64, header: Option<&[u8]>, message: String) -> Error {
        let is_sam = |header: &[u8]| {
            ["HD\t", "SQ\t", "RG\t", "PG\t", "CO\t"].iter().any(|tag| header.starts_with(tag.as_bytes()))
        };
        if header.is_some_and(is_sam) {
            let location = InputLocation::in_file(&self.loaded.name);
            return input_error(location, "this is SAM, not FASTQ: convert it with 'samtools fastq'");
        }
        self.line_error(self.lines_before + line, header, message)
    }

    fn line_error(&self, line: u64, header: Option<&[u8]>, message: String) -> Error {
        let name = header.and_then(|header| header.trim_ascii().split(u8::is_ascii_whitespace).next());
        let location = InputLocation {
            file: self.loaded.name.clone(),
            record: name.filter(|name| !name.is_empty()).map(|name| String::from_utf8_lossy(name).into_owned()),
            line: Some(line),
            column: None,
        };
        input_error(location, message)
    }
}

/// Warns once about all names of a file that occur more than once.
fn warn_of_duplicates(file: &str, store: &SequenceStore) {
    let mut seen = HashSet::with_capacity(store.len());
    let mut duplicates = Duplicates::default();
    for id in 0..store.len() as SequenceId {
        if !seen.insert(store.name_bytes(id)) {
            duplicates.add(store.name(id));
        }
    }
    duplicates.warn(&InputLocation::in_file(file).to_string());
}

#[cfg(test)]
mod tests;
