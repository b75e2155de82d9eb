//! FASTA reader (needletail) and FASTQ reader, plain or compressed, with errors that name file, record, line and column.
//!
//! Each record goes straight into the packed store. Where the alphabet is detected, letters are stored as protein
//! codes, which every letter has, and recoded in place once all files have been seen: no second copy of the letters.

use std::collections::HashSet;
use std::path::Path;

use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::{FastaReader, FastxReader, Format};

use super::aligned::{aligned_code, alignment_format};
pub use super::alphabet::AlphabetChoice;
use super::alphabet::{Alphabet, Code};
use super::detect::{self, Census, ILLEGAL, Table};
use super::input::{self, Compression, Input};
use super::messages::{complaint, describe, input_error};
use super::store::{SequenceId, SequenceStore, StoreBuilder};
use crate::error::{Error, InputLocation, Result};

mod fastq;
mod record;

use fastq::{FastqError, FastqReader, FastqRecord};

/// How input is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The alphabet.
    pub alphabet: AlphabetChoice,
    /// Take the signs of gaps (`-`, `.`, `~`) out of aligned sequences instead of refusing them.
    pub degap: bool,
}

/// Reads every file into a store of its own; all stores get the same alphabet. `-` is standard input.
///
/// A file is FASTA or FASTQ (sequences and qualities may be wrapped), plain or compressed with gzip, bzip2, xz or zstd; both
/// are inferred from the content. Lines end with LF, CR LF or CR. Letters are those of [`Alphabet`], of either case; `I`
/// (inosine) and `X` in DNA are read as N. Blanks between letters and lines that begin with `;` are skipped. A record's name
/// is the first word of its header. Records without sequence are skipped with one warning.
///
/// # Errors
///
/// [`Error::Input`] for everything that the user can mend, with the place: a letter that the alphabet lacks (gaps
/// and digits among them), a record without name, a truncated or damaged file, a file without sequences or of another format, one that is too large (16 GiB of packed letters). [`Error::Usage`] if standard input
/// is named twice, [`Error::Io`] if the system fails.
///
/// Warnings (duplicate names, a file that looks to be of the other alphabet) go through [`tracing::warn!`].
pub fn read_files<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    read_each(paths, options, || Recorder::new(options, LIMITS))
}

/// Reads files as [`read_files`] does, and keeps the qualities of FASTQ ([`SequenceStore::qualities`]).
///
/// # Errors
/// As [`read_files`]; [`Error::Input`] also for a quality that is no printable ASCII character.
pub fn read_qualified<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    read_each(paths, options, || Recorder { keeps_qualities: true, ..Recorder::new(options, LIMITS) })
}

/// Reads every file with a recorder of its own.
fn read_each<P: AsRef<Path>>(
    paths: &[P],
    options: &ReadOptions,
    recorder: impl Fn() -> Recorder,
) -> Result<Vec<SequenceStore>> {
    if paths.iter().filter(|path| input::is_standard(path.as_ref())).count() > 1 {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    // All are opened before the first is read: a misspelt name must not cost minutes.
    let inputs = paths.iter().map(|path| Input::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
    let files = inputs.into_iter().map(|input| recorder().read_all(input)).collect::<Result<Vec<_>>>()?;
    settle_alphabet(files, options)
}

/// Reads files as [`read_files`] does, but refuses a record without sequence: record N of one file belongs to record N of the
/// other.
///
/// # Errors
/// As [`read_files`].
pub fn read_partners<P: AsRef<Path>>(paths: [P; 2], options: &ReadOptions) -> Result<[SequenceStore; 2]> {
    let paths = paths.each_ref().map(AsRef::as_ref);
    if paths.into_iter().all(input::is_standard) {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    let [a, b] = [Input::open(paths[0])?, Input::open(paths[1])?];
    let files = vec![Recorder::of_partners(options).read_all(a)?, Recorder::of_partners(options).read_all(b)?];
    let stores = settle_alphabet(files, options)?;
    stores.try_into().map_err(|_| Error::Internal("a store is missing".into()))
}

/// Reads one file as [`read_files`] does, and keeps what headers say after the names
/// ([`SequenceStore::description`]) and the qualities of FASTQ ([`SequenceStore::qualities`]).
///
/// # Errors
/// As [`read_files`].
pub fn read_described(path: impl AsRef<Path>, options: &ReadOptions) -> Result<SequenceStore> {
    let mut recorder = Recorder { keeps_qualities: true, ..Recorder::of_described(options) };
    recorder.read(Input::open(path.as_ref())?)?;
    Ok(recorder.finish(options)?.0)
}

/// Reads queries as letters of a database's alphabet, with what headers say after the names. Warns of a file that looks to be of
/// another alphabet, unless `options` give that.
///
/// # Errors
/// As [`read_files`].
pub fn read_queries(path: impl AsRef<Path>, alphabet: Alphabet, options: &ReadOptions) -> Result<SequenceStore> {
    let fixed = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..options.clone() };
    let mut recorder = Recorder { keeps_qualities: true, ..Recorder::of_described(&fixed) };
    recorder.compared_with = (options.alphabet == AlphabetChoice::Detect).then_some("the database");
    recorder.read(Input::open(path.as_ref())?)?;
    recorder.end_comparison();
    Ok(recorder.finish(&fixed)?.0)
}

/// Reads FASTA or FASTQ from memory, plain or compressed; `name` stands for the file in errors. As [`read_files`] else.
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
    let file = Recorder::new(options, LIMITS).read_all(Input::new(name, Box::new(data))?)?;
    Ok(settle_alphabet(vec![file], options)?.remove(0))
}

/// How large a store may be.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Letters of one sequence.
    letters: usize,
    /// Words of all sequences.
    words: usize,
}

/// Kernels address letters of a sequence and words of a store with 32 bits; the end of the last one is one past.
const LIMITS: Limits = Limits { letters: u32::MAX as usize, words: u32::MAX as usize };

/// The error of a record without sequence where records are pairs by their numbers.
const EMPTY_PARTNER: &str = "the record has no sequence, and skipping it would pair all later records with others: take it \
                             and its partner out of both files";

/// How many duplicate names a warning lists.
pub(super) const NAMED_DUPLICATES: usize = 3;

/// One file's records, with what is needed to decide on the alphabet.
struct Loaded {
    name: String,
    builder: StoreBuilder,
    census: Census,
    /// The first letter that is not a nucleotide's, if letters are counted.
    first_foreign: Option<(u8, InputLocation)>,
}

impl Loaded {
    /// Warns if the file looks to be of another alphabet than the one that it is read as for a reason.
    fn warn_of_alphabet(&self, read_as: Alphabet, reason: &str) {
        if self.census.alphabet() == read_as {
            return;
        }
        let location = InputLocation::in_file(&self.name);
        let (own, other) = match read_as {
            Alphabet::Dna => ("a protein file", "DNA/RNA"),
            Alphabet::Protein | Alphabet::Bytes => ("DNA/RNA", "protein"),
        };
        tracing::warn!("{location}: looks like {own} by itself but is read as {other}, {reason}");
    }
}

/// Letters of records as the file has them, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Letters {
    pub(super) letters: Vec<u8>,
    /// Where those of each record end.
    pub(super) ends: Vec<usize>,
}

impl Letters {
    /// Those of one record.
    pub(super) fn of(&self, id: SequenceId) -> &[u8] {
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.letters[start..self.ends[id as usize]]
    }
}

/// The records of one input.
pub(super) struct Records<'a> {
    reader: RecordReader<'a>,
    name: String,
    compression: Option<Compression>,
}

/// The reader of a format.
enum RecordReader<'a> {
    Fasta(Box<dyn FastxReader + 'a>),
    Fastq(Box<FastqReader<'a>>),
}

/// The treatment of records without sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyRecords {
    Skip,
    Keep,
    /// Another file's record of the same number would get another partner.
    Refuse,
}

/// Records without sequence that were skipped.
#[derive(Debug, Default)]
struct Skipped {
    count: u64,
    /// The first of them.
    first: InputLocation,
}

/// Reads the records of one file.
pub(super) struct Recorder {
    table: Table,
    /// Where letters are kept, if they are.
    letters: Option<Letters>,
    /// Whether what headers say after the names is kept.
    keeps_descriptions: bool,
    /// Whether the qualities of FASTQ are kept.
    keeps_qualities: bool,
    empty: EmptyRecords,
    skipped: Skipped,
    /// Whether a record with a sequence was read.
    has_sequence: bool,
    choice: AlphabetChoice,
    /// The database or the alignment whose alphabet is used, if letters are compared with that alphabet.
    compared_with: Option<&'static str>,
    limits: Limits,
    /// Lines before the first one that needletail sees.
    lines_before: u64,
    loaded: Loaded,
}

impl Recorder {
    fn new(options: &ReadOptions, limits: Limits) -> Self {
        let alphabet = match options.alphabet {
            AlphabetChoice::Detect => Alphabet::Protein,
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        Recorder {
            table: detect::table(alphabet, options.degap),
            letters: None,
            keeps_descriptions: false,
            keeps_qualities: false,
            empty: EmptyRecords::Skip,
            skipped: Skipped::default(),
            has_sequence: false,
            choice: options.alphabet,
            compared_with: None,
            limits,
            lines_before: 0,
            loaded: Loaded {
                name: String::new(),
                builder: SequenceStore::builder(alphabet),
                census: Census::default(),
                first_foreign: None,
            },
        }
    }

    /// Of reads for an alignment: letters are kept, gaps taken out, and what [`aligned_code`] knows beside the alphabet's own
    /// letters is read, `?` as any letter.
    pub(super) fn of_reads(alphabet: Alphabet) -> Self {
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), degap: true };
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
            self.loaded.warn_of_alphabet(self.so_far().alphabet(), &format!("as {other} is"));
        }
    }

    /// Reads records with partners of the same number in another file.
    pub(super) fn of_partners(options: &ReadOptions) -> Self {
        Recorder { empty: EmptyRecords::Refuse, keeps_qualities: true, ..Recorder::new(options, LIMITS) }
    }

    /// Reads as it is said, and keeps letters as the file has them.
    pub(super) fn of_letters(options: &ReadOptions) -> Self {
        Recorder::new(options, LIMITS).with_letters()
    }

    /// Reads as it is said, and keeps what headers say after the names.
    pub(super) fn of_described(options: &ReadOptions) -> Self {
        Recorder { keeps_descriptions: true, ..Recorder::new(options, LIMITS) }
    }

    fn with_letters(self) -> Self {
        Recorder { letters: Some(Letters::default()), ..self }
    }

    /// Reads all records of `input`.
    pub(super) fn read(&mut self, input: Input<'_>) -> Result<()> {
        let mut records = self.open(input)?;
        while self.next(&mut records)? {}
        self.warn_of_duplicates();
        Ok(())
    }

    /// The store, and the letters if they were kept; the alphabet is settled.
    pub(super) fn finish(self, options: &ReadOptions) -> Result<(SequenceStore, Letters)> {
        let store = settle_alphabet(vec![self.loaded], options)?.remove(0);
        Ok((store, self.letters.unwrap_or_default()))
    }

    fn read_all(mut self, input: Input<'_>) -> Result<Loaded> {
        self.read(input)?;
        Ok(self.loaded)
    }

    /// Finds the first record of `input`.
    pub(super) fn open<'a>(&mut self, mut input: Input<'a>) -> Result<Records<'a>> {
        self.loaded.name.clone_from(&input.name);
        let format = self.find_first_record(&mut input)?;
        let (name, compression) = (input.name.clone(), input.compression);
        let reader = match format {
            // Two line feeds more at the end of a FASTA file change no record, and make needletail hand out a last
            // record that is nothing but a header instead of an error that no longer knows its name.
            Format::Fasta => {
                RecordReader::Fasta(Box::new(FastaReader::new(std::io::Read::chain(input.bytes, &b"\n\n"[..]))))
            }
            Format::Fastq => RecordReader::Fastq(Box::new(FastqReader::new(input, self.choice))),
        };
        Ok(Records { reader, name, compression })
    }

    /// Reads the next record, if there is one. A record without sequence is skipped, kept or refused.
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
            };
            if is_kept {
                return Ok(true);
            }
        }
        self.report_skipped()?;
        Ok(false)
    }

    /// Warns of the records without sequence that were skipped; an error if there are no others.
    fn report_skipped(&mut self) -> Result<()> {
        let Skipped { count, first } = std::mem::take(&mut self.skipped);
        match count {
            0 => {}
            _ if !self.has_sequence => return Err(input_error(first, "no record of the file has a sequence")),
            1 => tracing::warn!("{first}: the record has no sequence and is skipped"),
            _ => tracing::warn!("{first}: the record has no sequence and is skipped, as are {} others", count - 1),
        }
        Ok(())
    }

    /// What was read since the last call, and begins anew; records have no place but in the store.
    pub(super) fn take(&mut self) -> (SequenceStore, Letters) {
        let builder = &mut self.loaded.builder;
        let alphabet = builder.so_far().alphabet();
        let store = std::mem::replace(builder, SequenceStore::builder(alphabet)).build();
        (store, self.letters.as_mut().map(std::mem::take).unwrap_or_default())
    }

    /// The sequences since then.
    pub(super) fn so_far(&self) -> &SequenceStore {
        self.loaded.builder.so_far()
    }

    /// Skips a byte order mark and blank lines, and tells the format by the first byte that is left.
    fn find_first_record(&mut self, input: &mut Input<'_>) -> Result<Format> {
        let (mut at_start, mut in_comment, mut mark) = (true, false, &b"\xEF\xBB\xBF"[..]);
        loop {
            let Some(byte) = input.peek()? else {
                let message = if at_start { "the file is empty" } else { "the file has no record" };
                return Err(input_error(input.place(), message));
            };
            match byte {
                b'>' => return Ok(Format::Fasta),
                b'@' => return Ok(Format::Fastq),
                b'\n' => (self.lines_before, in_comment) = (self.lines_before + 1, false),
                _ if at_start && input.bytes.fill_buf().is_ok_and(input::is_database) => {
                    let message = "this is a database of 'pairwave makedb'; sequences are expected here";
                    return Err(input_error(input.place(), message));
                }
                _ if in_comment => {}
                b';' => in_comment = true,
                b'\r' => {}
                _ if mark.first() == Some(&byte) => mark = &mark[1..],
                _ => {
                    let location = InputLocation { line: Some(self.lines_before + 1), ..input.place() };
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

    /// Translates needletail's error.
    fn fasta_error(&self, error: &ParseError) -> Error {
        let line = self.lines_before + error.position.line;
        self.line_error(line, error.position.id.as_deref().map(str::as_bytes), error.msg.clone())
    }

    /// Returns the error of a FASTQ record, or of a SAM file that was taken for FASTQ.
    fn fastq_error(&self, line: u64, header: Option<&[u8]>, message: String) -> Error {
        let is_sam = |header: &[u8]| {
            ["HD\t", "SQ\t", "RG\t", "PG\t", "CO\t"].iter().any(|tag| header.starts_with(tag.as_bytes()))
        };
        if header.is_some_and(is_sam) {
            let location = InputLocation::in_file(&self.loaded.name);
            return input_error(location, "this is SAM, not FASTQ: 'samtools fastq' makes FASTQ of it");
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

    /// One warning for all names that occur more than once.
    fn warn_of_duplicates(&self) {
        let store = self.loaded.builder.so_far();
        let mut seen = HashSet::with_capacity(store.len());
        let mut duplicates = Duplicates::default();
        for id in 0..store.len() as SequenceId {
            if !seen.insert(store.name_bytes(id)) {
                duplicates.add(store.name(id));
            }
        }
        duplicates.warn(&InputLocation::in_file(&self.loaded.name).to_string());
    }

    /// The alphabet of what several have read, and what that makes of the codes that they were read as, if that is another.
    pub(super) fn settle(all: Vec<Self>, options: &ReadOptions) -> Result<(Alphabet, Option<Vec<Code>>)> {
        let read_as = all.first().map(|recorder| recorder.so_far().alphabet());
        let stores = settle_alphabet(all.into_iter().map(|recorder| recorder.loaded).collect(), options)?;
        let none_read = match options.alphabet {
            AlphabetChoice::Detect => Alphabet::Protein,
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        let alphabet = stores.first().map_or(none_read, SequenceStore::alphabet);
        let is_other = read_as.is_some_and(|read_as| read_as != alphabet);
        Ok((alphabet, is_other.then(|| detect::protein_to_dna().to_vec())))
    }
}

/// Names that occur more than once.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    records: u64,
    /// The first of them.
    distinct: Vec<String>,
    more: bool,
}

impl Duplicates {
    /// `records` records have the name of an earlier one. `distinct` holds such names, at most [`NAMED_DUPLICATES`] and one more.
    pub(super) fn new(records: u64, mut distinct: Vec<String>) -> Self {
        let more = distinct.len() > NAMED_DUPLICATES;
        distinct.truncate(NAMED_DUPLICATES);
        Duplicates { records, distinct, more }
    }

    /// A record has the name of an earlier one.
    pub(super) fn add(&mut self, name: &str) {
        self.records += 1;
        if !self.distinct.iter().any(|known| known == name) {
            if self.distinct.len() < NAMED_DUPLICATES {
                self.distinct.push(name.to_owned());
            } else {
                self.more = true;
            }
        }
    }

    /// Says so, if there is any.
    pub(super) fn warn(&self, location: &str) {
        if self.records == 0 {
            return;
        }
        let (shown, more) = (self.distinct.join("', '"), if self.more { ", ..." } else { "" });
        let records = if self.records == 1 { "1 record has" } else { &format!("{} records have", self.records) };
        tracing::warn!("{location}: {records} the name of an earlier one: '{shown}'{more}");
    }
}

/// What was read so far of some files, after which their alphabet is decided; the rest is read as letters of that.
pub(super) fn settle<const N: usize>(
    recorders: [&mut Recorder; N],
    options: &ReadOptions,
) -> Result<[SequenceStore; N]> {
    let take = |recorder: &mut Recorder| {
        let name = recorder.loaded.name.clone();
        let empty = Loaded {
            name,
            builder: SequenceStore::builder(Alphabet::Protein),
            census: Census::default(),
            first_foreign: None,
        };
        std::mem::replace(&mut recorder.loaded, empty)
    };
    let mut recorders = recorders;
    let stores = settle_alphabet(recorders.iter_mut().map(|recorder| take(recorder)).collect(), options)?;
    let alphabet = stores.first().map_or(Alphabet::Protein, SequenceStore::alphabet);
    for recorder in recorders {
        recorder.table = detect::table(alphabet, options.degap);
        recorder.choice = AlphabetChoice::Fixed(alphabet);
        recorder.loaded.builder = SequenceStore::builder(alphabet);
    }
    stores.try_into().map_err(|_| Error::Internal("a store is missing".into()))
}

/// Decides on the alphabet of all files, recodes their letters if they were read as something else, and builds.
fn settle_alphabet(mut files: Vec<Loaded>, options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    if options.alphabet == AlphabetChoice::Detect {
        let mut census = Census::default();
        files.iter().for_each(|file| census.merge(&file.census));
        let alphabet = census.alphabet();
        if alphabet == Alphabet::Dna {
            if let Some((letter, location)) = files.iter_mut().find_map(|file| file.first_foreign.take()) {
                let message = format!(
                    "{}, the alphabet that was detected; give the alphabet if these are proteins",
                    complaint(letter, AlphabetChoice::Fixed(alphabet))
                );
                return Err(input_error(location, message));
            }
            let recode = detect::protein_to_dna();
            files.iter_mut().for_each(|file| file.builder.recode(alphabet, &recode));
        }
        files.iter().for_each(|file| file.warn_of_alphabet(alphabet, "as all files together look"));
    }
    Ok(files.into_iter().map(|file| file.builder.build()).collect())
}

#[cfg(test)]
mod tests;
