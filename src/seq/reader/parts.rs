//! Reader of texts in parts of limited size, so that memory limits neither a file nor a record.
//!
//! A part has whole records, except that its first and its last record may be pieces of records.
//! Adjacent pieces overlap, so that a search finds every match in at least one of them.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::fasta::{FastaPiece, FastaPieces};
use super::fastq::FastqReader;
use super::list::ListReader;
use super::record::OpenRecord;
use super::{
    Alphabet, AlphabetChoice, LIMITS, ReadOptions, RecordReader, Recorder, Records, SequenceFormat, decide_alphabet,
    warn_of_duplicates,
};
use crate::error::{Error, Result};
use crate::seq::alphabet::PAD;
use crate::seq::input::{self, SequenceInput};
use crate::seq::store::{SequenceId, SequenceStore, StoreBuilder};

/// Maximum number of bytes of FASTA that are decoded at once.
const PIECE_BYTES: usize = 1 << 18;

/// The size of the parts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSize {
    /// Number of symbols after which a part ends. A part can be larger by the overlaps, and by one
    /// record of FASTQ.
    pub symbols: u64,
    /// Maximum number of symbols of a match.
    pub overlap: u32,
}

/// Consecutive records of a file. The first and the last one may be pieces of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartOfTexts {
    /// The records and pieces.
    pub store: Arc<SequenceStore>,
    /// Number of the first record in the file, from 0.
    pub first: SequenceId,
    /// Number of symbols of the first record before its piece.
    pub offset: u32,
    /// Number of symbols at the start of the first piece that belong to the part before and only
    /// precede matches of this part. 0 if the part before has no symbols of this record.
    pub before: u32,
    /// Number of symbols at the end of the last piece that belong to the next part and only follow
    /// matches of this part. 0 if the record ends in this part.
    pub after: u32,
}

/// Reader of a file of texts, part by part.
///
/// ```
/// use pairwave::seq::{Alphabet, PartSize, TextParts};
///
/// let size = PartSize { symbols: 4, overlap: 2 };
/// let mut parts = TextParts::from_reader("a.fa", &b">a\nAC\n>b\nACGTACGTACGT\n"[..], Alphabet::Dna, size)?;
/// let mut read = Vec::new();
/// while let Some(part) = parts.next()? {
///     let last = part.store.letters(part.store.len() as u32 - 1);
///     read.push((part.first, part.offset, part.before, last, part.after));
/// }
/// assert_eq!(read[0], (0, 0, 0, "ACGTACGTACGT".to_owned(), 2));
/// assert_eq!(read[1], (1, 8, 2, "ACGT".to_owned(), 0));
/// let texts = parts.finish();
/// assert_eq!((texts.name(1), texts.length(1)), ("b", 12));
/// # Ok::<(), pairwave::Error>(())
/// ```
pub struct TextParts {
    recorder: Recorder,
    source: PartSource,
    size: PartSize,
    /// The record that is being read, and its position in the part.
    open: Option<OpenPiece>,
    /// Number of symbols of the complete records and pieces in the part.
    symbols: u64,
    /// Position of the part that is being read.
    next: PartOrigin,
    /// The first part, which was read in advance to detect the alphabet.
    ready: Option<PartOfTexts>,
    /// Names and lengths of the records that have ended.
    outline: StoreBuilder,
    is_at_end: bool,
}

/// The reader of a format. FASTQ and lists have no long records, so these are not cut.
enum PartSource {
    Fasta { pieces: FastaPieces<'static>, name: String, compression: Option<input::InputCompression> },
    Whole(Records<'static>),
}

/// The record that is being read.
struct OpenPiece {
    record: OpenRecord,
    /// Byte of the store where the piece starts.
    start: usize,
    /// Number of symbols of the record before the piece.
    offset: u64,
    /// Number of symbols of the piece that are in the part before, too.
    before: u32,
}

/// Fields of a [`PartOfTexts`] that are known when it starts.
#[derive(Debug, Clone, Copy, Default)]
struct PartOrigin {
    first: SequenceId,
    offset: u32,
    before: u32,
}

impl OpenPiece {
    /// Returns the number of symbols of the piece so far.
    fn symbols(&self) -> u64 {
        self.record.symbols() - self.offset
    }
}

/// Reads patterns like [`read_files`](super::read_files), and opens texts that are read in parts.
/// `-` is standard input. With `keeps_qualities`, the patterns keep the qualities of FASTQ. `size`
/// returns the size of the parts, given the lengths of the patterns.
///
/// If the alphabet is detected, the patterns and the first part decide on it.
///
/// # Errors
/// Returns the errors of [`read_files`](super::read_files) for the patterns and for the first part.
pub fn open_texts(
    [patterns, texts]: [&Path; 2],
    options: &ReadOptions,
    keeps_qualities: bool,
    size: impl FnOnce(&[u32]) -> PartSize,
) -> Result<(SequenceStore, TextParts)> {
    if [patterns, texts].into_iter().all(input::is_standard) {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    let [patterns, texts] = [SequenceInput::open(patterns)?, SequenceInput::open(texts)?];
    let mut recorder = Recorder { keeps_qualities, ..Recorder::new(options, LIMITS) };
    recorder.read(patterns)?;
    let size = size(recorder.records_so_far().lengths());
    let mut parts = TextParts::open(texts, options, size)?;
    parts.fill()?;
    let [patterns, first] = decide_alphabet([&mut recorder, &mut parts.recorder], options)?;
    parts.ready = parts.cut(first);
    Ok((patterns, parts))
}

impl TextParts {
    /// Opens FASTA or FASTQ, plain or compressed, from any reader. Errors name the file `name`.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files) for everything before the first
    /// record.
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        alphabet: Alphabet,
        size: PartSize,
    ) -> Result<TextParts> {
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..ReadOptions::default() };
        TextParts::open(SequenceInput::new(name, Box::new(reader))?, &options, size)
    }

    fn open(mut input: SequenceInput<'static>, options: &ReadOptions, size: PartSize) -> Result<TextParts> {
        let mut recorder = Recorder::new(options, LIMITS);
        recorder.loaded.name.clone_from(&input.name);
        let format = recorder.find_first_record(&mut input)?;
        let (name, compression) = (input.name.clone(), input.compression);
        let source = match format {
            SequenceFormat::Fasta => {
                let most_bytes = PIECE_BYTES.min(usize::try_from(size.symbols).unwrap_or(PIECE_BYTES));
                PartSource::Fasta { pieces: FastaPieces::new(input.bytes, most_bytes), name, compression }
            }
            SequenceFormat::Fastq => {
                let reader = RecordReader::Fastq(Box::new(FastqReader::new(input, recorder.choice)));
                PartSource::Whole(Records { reader, name, compression })
            }
            SequenceFormat::List => {
                PartSource::Whole(Records { reader: RecordReader::List(ListReader::new(input)), name, compression })
            }
        };
        // Without overlap, a place at a border would be in no part.
        let size = PartSize { symbols: size.symbols.max(1), overlap: size.overlap.max(1) };
        Ok(TextParts {
            recorder,
            source,
            size,
            open: None,
            symbols: 0,
            next: PartOrigin::default(),
            ready: None,
            outline: SequenceStore::builder(Alphabet::Protein),
            is_at_end: false,
        })
    }

    /// Returns the alphabet. It is decided when the first part is read.
    pub fn alphabet(&self) -> Alphabet {
        self.recorder.records_so_far().alphabet()
    }

    /// Returns the maximum number of symbols of a match.
    pub fn overlap(&self) -> u32 {
        self.size.overlap
    }

    /// Returns the next part, or `None` after the last. A part has at least one record or piece.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files), except that memory does not limit
    /// the file. After an error, nothing more can be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator would continue after an error")]
    pub fn next(&mut self) -> Result<Option<PartOfTexts>> {
        if let Some(part) = self.ready.take() {
            return Ok(Some(part));
        }
        self.fill()?;
        let (store, _) = self.recorder.take();
        Ok(self.cut(store))
    }

    /// Returns the names and lengths of all records that were read. They have no codes. Warns about
    /// names that occur more than once.
    pub fn finish(self) -> SequenceStore {
        let alphabet = self.alphabet();
        let mut outline = self.outline;
        outline.recode(alphabet, &[PAD]);
        let outline = outline.build().with_file(&self.recorder.loaded.name);
        warn_of_duplicates(&self.recorder.loaded.name, &outline);
        outline
    }

    /// Reads records until the part is complete, and ends its last piece.
    fn fill(&mut self) -> Result<()> {
        while !self.is_at_end && !self.is_full() {
            match &mut self.source {
                PartSource::Whole(records) => {
                    self.is_at_end = !self.recorder.next(records)?;
                    if !self.is_at_end {
                        let store = self.recorder.records_so_far();
                        let last = store.len() as SequenceId - 1;
                        self.outline.push_outline(store.name_bytes(last), store.length(last));
                        self.symbols += u64::from(store.length(last));
                    }
                }
                PartSource::Fasta { pieces, name, compression } => {
                    let piece = pieces.next();
                    let piece = piece.map_err(|error| input::read_error(name, *compression, error.to_string()))?;
                    match (piece, &mut self.open) {
                        (Some(FastaPiece::Lines(lines)), Some(open)) => {
                            self.recorder.extend(&mut open.record, &lines)?
                        }
                        (Some(FastaPiece::Lines(_)), None) => {
                            return Err(Error::Internal("a line before the first header".into()));
                        }
                        (Some(FastaPiece::Header { text, line }), open) => {
                            let record = self.recorder.begin(text, line)?;
                            let ended = open.replace(OpenPiece { record, start: 0, offset: 0, before: 0 });
                            self.end_record(ended);
                        }
                        (None, open) => {
                            let ended = open.take();
                            self.end_record(ended);
                            self.recorder.report_skipped()?;
                            self.is_at_end = true;
                        }
                    }
                }
            }
        }
        if let Some(open) = &self.open
            && open.symbols() > 0
        {
            self.recorder.end(&open.record, open.start);
        }
        Ok(())
    }

    /// Returns whether the part is complete. A last piece must have a symbol that is neither before
    /// nor after the matches of the part.
    fn is_full(&self) -> bool {
        let open = self.open.as_ref().map_or(0, OpenPiece::symbols);
        let is_too_short = |open: &OpenPiece| {
            open.symbols() > 0 && open.symbols() <= u64::from(open.before) + u64::from(self.size.overlap)
        };
        self.symbols + open >= self.size.symbols && !self.open.as_ref().is_some_and(is_too_short)
    }

    /// Adds a record that has ended to the part. The next record starts after it.
    fn end_record(&mut self, ended: Option<OpenPiece>) {
        if let Some(ended) = ended
            && self.recorder.end(&ended.record, ended.start)
        {
            self.symbols += ended.symbols();
            // The reader refuses records with more symbols.
            self.outline.push_outline(ended.record.name(), ended.record.symbols() as u32);
        }
        if let Some(open) = &mut self.open {
            open.start = self.recorder.loaded.builder.bytes();
        }
    }

    /// Returns the part that was read, and starts the next one with the overlap.
    fn cut(&mut self, store: SequenceStore) -> Option<PartOfTexts> {
        self.symbols = 0;
        if store.is_empty() {
            return None;
        }
        let PartOrigin { first, offset, before } = self.next;
        let mut after = 0;
        self.next = PartOrigin { first: self.outline.records_so_far().len() as SequenceId, offset: 0, before: 0 };
        if let Some(open) = &mut self.open {
            open.start = 0;
            if open.symbols() > 0 {
                after = self.size.overlap;
                let codes = store.codes(store.len() as SequenceId - 1);
                let border = codes.len() - after as usize;
                let kept = border.saturating_sub(after as usize);
                open.offset += kept as u64;
                open.before = (border - kept) as u32;
                self.recorder.loaded.builder.extend_with(codes.len() - kept, |to| {
                    to.copy_from_slice(&codes[kept..]);
                    codes.len() - kept
                });
                (self.next.offset, self.next.before) = (open.offset as u32, open.before);
            }
        }
        Some(PartOfTexts { store: Arc::new(store), first, offset, before, after })
    }
}

#[cfg(test)]
mod tests;
