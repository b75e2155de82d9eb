//! The sequences of a search's other side, from whatever holds them.

use std::io::{BufRead, Read, Seek};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use super::file::DatabaseFile;
use crate::error::{Error, InputLocation, Result};
use crate::seq::alphabet::{Alphabet, AlphabetChoice};
use crate::seq::input::{DATABASE_NAME_BYTES, Input, is_database, is_standard, open_file};
use crate::seq::messages::input_error;
use crate::seq::reader::{ReadOptions, Recorder};
use crate::seq::store::{SequenceId, SequenceStore};

/// How much there is in a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of sequences.
    pub sequences: u64,
    /// Symbols of all of them.
    pub symbols: u64,
}

/// What a search is against: sequences with names and descriptions, by falling length.
///
/// They are handed out in chunks, as there may be more of them than memory holds. Where each was in its input is known
/// ([`SubjectChunk::record`]), so that results need not depend on the order here.
///
/// ```
/// use pairwave::seq::{ReadOptions, Subjects};
///
/// let subjects = Subjects::of_bytes("x.fa", b">a first of two\nACG\n>b\nACGTACGT\n", &ReadOptions::default())?;
/// assert_eq!((subjects.size().sequences, subjects.size().symbols, subjects.lengths()), (2, 11, 3..=8));
/// let chunks = subjects.chunks(8).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(chunks.len(), 2);
/// assert_eq!((chunks[0].store.name(0), chunks[0].record(0)), ("b", 1));
/// assert_eq!((chunks[1].store.name(0), chunks[1].record(0)), ("a", 0));
/// assert_eq!(chunks[1].store.description(0), b"first of two");
/// # Ok::<(), pairwave::Error>(())
/// ```
#[derive(Debug)]
pub struct Subjects {
    alphabet: Alphabet,
    size: Size,
    /// Of each in order.
    lengths: Vec<u32>,
    /// Packed bytes before each sequence whose number is a multiple of [`SEQUENCES_A_MARK`].
    marks: Vec<u64>,
    source: Source,
}

/// Where the sequences are.
#[derive(Debug)]
enum Source {
    /// All in memory.
    Memory {
        records: Vec<u64>,
        store: Arc<SequenceStore>,
    },
    File(Box<DatabaseFile>),
}

impl Subjects {
    /// Opens a database that `pairwave makedb` made, which is mapped, or a file of sequences (FASTA or FASTQ, plain or
    /// compressed; `-` is standard input), which is read whole. They are told apart by the first bytes.
    ///
    /// Of a database the options mean nothing but an alphabet that is given, which has to be its own. A file that is mapped
    /// must not be changed while it is used ([`Subjects::check_unchanged`]; to replace it by another of the same name does no
    /// harm).
    ///
    /// # Errors
    /// As [`read_files`](crate::seq::read_files); [`Error::Input`] for a database that is damaged or truncated, that another
    /// version made, or whose alphabet is another.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        if is_standard(path) {
            return Subjects::read(Input::open(path)?, options);
        }
        let failed = |source| Error::io(path, source);
        let mut file = open_file(path)?;
        let mut start = Vec::new();
        // What is no regular file cannot be mapped, and what was read of it would be lost.
        if file.metadata().map_err(failed)?.is_file() {
            file.by_ref().take(DATABASE_NAME_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
            file.rewind().map_err(failed)?;
        }
        if !is_database(&start) {
            return Subjects::read(Input::new(&path.display().to_string(), Box::new(file))?, options);
        }
        let (database, lengths) = DatabaseFile::open(path, file)?;
        let subjects = Subjects::of_file(database, lengths);
        match options.alphabet {
            AlphabetChoice::Fixed(alphabet) if alphabet != subjects.alphabet => {
                let message = format!(
                    "the database is of {}, and {} are asked for",
                    subjects.alphabet.letters(),
                    alphabet.letters()
                );
                Err(input_error(InputLocation::in_file(path), message))
            }
            _ => Ok(subjects),
        }
    }

    /// Those of an opened database.
    fn of_file(file: DatabaseFile, lengths: Vec<u32>) -> Self {
        let foot = *file.foot();
        let size = Size { sequences: foot.sequences, symbols: foot.symbols };
        let marks = marks(&lengths);
        Subjects { alphabet: foot.alphabet, size, lengths, marks, source: Source::File(Box::new(file)) }
    }

    /// The same of a file in memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`Subjects::open`].
    pub fn of_bytes(name: &str, data: &[u8], options: &ReadOptions) -> Result<Self> {
        Subjects::read(Input::new(name, Box::new(data))?, options)
    }

    fn read(mut input: Input<'_>, options: &ReadOptions) -> Result<Self> {
        input.peek()?;
        if input.bytes.fill_buf().is_ok_and(is_database) {
            let message = "a database of 'pairwave makedb' is mapped, which neither standard input, a pipe nor a compressed \
                           file can be: name the database itself";
            return Err(input_error(input.place(), message));
        }
        let mut recorder = Recorder::of_described(options);
        recorder.read(input)?;
        Ok(Subjects::of_store(recorder.finish(options)?.0))
    }

    /// Those of a store, whose ids are the records' numbers.
    pub fn of_store(store: SequenceStore) -> Self {
        let order = by_falling_length(store.lengths());
        let store = if order.is_sorted() {
            store
        } else {
            let mut builder = SequenceStore::builder(store.alphabet());
            order.iter().for_each(|&id| builder.push_from(&store, id));
            builder.build()
        };
        let lengths = store.lengths().to_vec();
        let symbols = lengths.iter().map(|&length| u64::from(length)).sum();
        let size = Size { sequences: lengths.len() as u64, symbols };
        let records = order.into_iter().map(u64::from).collect();
        let (alphabet, marks) = (store.alphabet(), marks(&lengths));
        let source = Source::Memory { records, store: Arc::new(store.shared()) };
        Subjects { alphabet, size, lengths, marks, source }
    }

    /// The alphabet of all.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// How many there are.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The least length and the greatest; 0 and 0 if there are none.
    pub fn lengths(&self) -> RangeInclusive<u32> {
        *self.lengths.last().unwrap_or(&0)..=*self.lengths.first().unwrap_or(&0)
    }

    /// The length of each, falling.
    pub(crate) fn each_length(&self) -> &[u32] {
        &self.lengths
    }

    /// Bytes of the database file; `None` if a file of sequences was read.
    pub fn file_bytes(&self) -> Option<u64> {
        match &self.source {
            Source::Memory { .. } => None,
            Source::File(file) => Some(file.bytes()),
        }
    }

    /// Checks that a database file is as it was when it was opened: results that are computed of a file that was written to
    /// meanwhile are not to be trusted.
    ///
    /// # Errors
    /// [`Error::Input`] if its size or its time of modification is another.
    pub fn check_unchanged(&self) -> Result<()> {
        match &self.source {
            Source::Memory { .. } => Ok(()),
            Source::File(file) => file.check_unchanged(),
        }
    }

    /// Cuts the order by falling length into ranges whose sequences take at most so many bytes packed, and are at most
    /// so many that ids can count them; of one that takes more there is a range of its own.
    pub fn ranges(&self, at_most_bytes: u64) -> Vec<Range<u64>> {
        self.ranges_of(0..self.size.sequences, at_most_bytes)
    }

    /// The same of a part of that order.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn ranges_of(&self, part: Range<u64>, at_most_bytes: u64) -> Vec<Range<u64>> {
        let (mut ranges, mut start, mut bytes) = (Vec::new(), part.start, 0);
        for (at, &length) in (part.start..).zip(&self.lengths[part.start as usize..part.end as usize]) {
            let more = packed(length);
            if at > start && (bytes + more > at_most_bytes.min(MAX_BYTES) || at - start >= MAX_SEQUENCES) {
                ranges.push(start..at);
                (start, bytes) = (at, 0);
            }
            bytes += more;
        }
        if start < part.end {
            ranges.push(start..part.end);
        }
        ranges
    }

    /// The sequences of a range of that order. Of a database, only what holds these is read.
    ///
    /// # Errors
    /// [`Error::Input`] if that part of a database is damaged.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn chunk(&self, range: Range<u64>) -> Result<SubjectChunk> {
        let (start, end) = (range.start as usize, range.end as usize);
        let (store, records) = match &self.source {
            Source::Memory { records, store } => {
                let is_all = range == (0..self.size.sequences);
                let store = if is_all { Arc::clone(store) } else { Arc::new(store.part(start as u32..end as u32)) };
                (store, records[start..end].into())
            }
            Source::File(file) => {
                let lengths = self.lengths[start..end].to_vec();
                let codes = self.packed_before(start)..self.packed_before(end);
                (Arc::new(file.store(range.clone(), lengths, codes)?), file.records(range.clone())?.into())
            }
        };
        Ok(SubjectChunk { first: range.start, store, records })
    }

    /// Goes through all sequences in the order of their records.
    ///
    /// # Errors
    /// As [`Subjects::chunk`], and what `take` returns.
    pub fn in_input_order(&self, mut take: impl FnMut(&SequenceStore, SequenceId) -> Result<()>) -> Result<()> {
        let mut order: Vec<u64> = vec![0; self.lengths.len()];
        for range in self.ranges(u64::MAX) {
            let records = match &self.source {
                Source::Memory { records, .. } => records[range.start as usize..range.end as usize].to_vec(),
                Source::File(file) => file.records(range.clone())?,
            };
            for (place, record) in range.zip(records) {
                order[record as usize] = place;
            }
        }
        // Those of one length are beside each other.
        for places in order.chunk_by(|&before, &after| after == before + 1) {
            let chunk = self.chunk(places[0]..places[0] + places.len() as u64)?;
            (0..chunk.store.len() as SequenceId).try_for_each(|id| take(&chunk.store, id))?;
        }
        Ok(())
    }

    /// Bytes that the sequences before one take packed.
    fn packed_before(&self, index: usize) -> u64 {
        let mark = index / SEQUENCES_A_MARK;
        let rest = &self.lengths[mark * SEQUENCES_A_MARK..index];
        self.marks[mark] + rest.iter().map(|&length| packed(length)).sum::<u64>()
    }

    /// All chunks, of [`Subjects::ranges`], one after the other.
    pub fn chunks(&self, at_most_bytes: u64) -> SubjectChunks<'_> {
        SubjectChunks { subjects: self, ranges: self.ranges(at_most_bytes).into_iter() }
    }
}

/// Ids by falling length; those of one length by their numbers.
pub(super) fn by_falling_length(lengths: &[u32]) -> Vec<SequenceId> {
    let mut order: Vec<SequenceId> = (0..lengths.len() as SequenceId).collect();
    order.sort_by_key(|&id| std::cmp::Reverse(lengths[id as usize]));
    order
}

/// See [`Subjects`].
fn marks(lengths: &[u32]) -> Vec<u64> {
    let mut before = 0;
    let sums = lengths.chunks(SEQUENCES_A_MARK).map(|some| {
        before += some.iter().map(|&length| packed(length)).sum::<u64>();
        before
    });
    std::iter::once(0).chain(sums).collect()
}

/// Bytes that a sequence takes packed.
fn packed(length: u32) -> u64 {
    u64::from(length).next_multiple_of(4)
}

/// See [`Subjects`].
const SEQUENCES_A_MARK: usize = 1 << 12;
/// Words of a store are counted with 32 bits, ends among them.
const MAX_BYTES: u64 = u32::MAX as u64 * 4;
/// Ids have 32 bits.
const MAX_SEQUENCES: u64 = u32::MAX as u64;

/// Some sequences of [`Subjects`], by falling length.
#[derive(Debug, Clone)]
pub struct SubjectChunk {
    /// The sequences, with their descriptions.
    pub store: Arc<SequenceStore>,
    first: u64,
    records: Arc<[u64]>,
}

impl SubjectChunk {
    /// The place of a sequence's record in the input, from 0.
    pub fn record(&self, id: SequenceId) -> u64 {
        self.records[id as usize]
    }

    /// The number of a sequence in the order by falling length, from 0.
    pub fn place(&self, id: SequenceId) -> u64 {
        self.first + u64::from(id)
    }
}

/// Chunks of [`Subjects`], each read when it is asked for.
#[derive(Debug)]
pub struct SubjectChunks<'a> {
    subjects: &'a Subjects,
    ranges: std::vec::IntoIter<Range<u64>>,
}

impl Iterator for SubjectChunks<'_> {
    type Item = Result<SubjectChunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ranges.next().map(|range| self.subjects.chunk(range))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ranges.size_hint()
    }
}

impl ExactSizeIterator for SubjectChunks<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_sequence_is_no_chunk() {
        let subjects = Subjects::of_store(SequenceStore::builder(Alphabet::Protein).build());
        assert_eq!((subjects.size(), subjects.lengths(), subjects.chunks(100).len()), (Size::default(), 0..=0, 0));
        assert_eq!(subjects.alphabet(), Alphabet::Protein);
    }

    #[test]
    fn headers_are_kept_whole() {
        let text = b">a\nAC\n>b \t two  words \nACG\n>\xFFc\td\nA\n>e  \nACGTA\n>f \xFF\nA\n";
        let subjects = Subjects::of_bytes("x.fa", text, &ReadOptions::default()).unwrap();
        let chunk = subjects.chunk(0..5).unwrap();
        let found: Vec<(u64, &[u8], &[u8])> =
            (0..5).map(|id| (chunk.record(id), chunk.store.name_bytes(id), chunk.store.description(id))).collect();
        let expected: [(u64, &[u8], &[u8]); 5] =
            [(3, b"e", b""), (1, b"b", b"two  words"), (0, b"a", b""), (2, b"\xFFc", b"d"), (4, b"f", b"\xFF")];
        assert_eq!(found, expected);
        assert_eq!(chunk.store.name(3), "\u{FFFD}c");
        // Nobody else pays for them.
        let plain = crate::seq::read_bytes("x.fa", text, &ReadOptions::default()).unwrap();
        assert!((0..5).all(|id| plain.description(id).is_empty()));
    }

    proptest! {
        #[test]
        fn chunks_are_all_sequences_by_falling_length(
            lengths in prop::collection::vec(0..40_usize, 0..30), at_most in 0..200_u64,
        ) {
            let mut builder = SequenceStore::builder(Alphabet::Bytes);
            for (record, &length) in lengths.iter().enumerate() {
                builder.push(record.to_string(), &vec![1 + record as u8; length]).unwrap();
            }
            let store = builder.build();
            let subjects = Subjects::of_store(store.clone());
            prop_assert_eq!(subjects.size().symbols, lengths.iter().sum::<usize>() as u64);
            let mut seen: Vec<(std::cmp::Reverse<u32>, u64)> = Vec::new();
            let mut last_bytes = u64::MAX;
            for chunk in subjects.chunks(at_most) {
                let chunk = chunk.unwrap();
                let bytes = chunk.store.packed_bytes().len() as u64;
                prop_assert!(!chunk.store.is_empty());
                prop_assert!(bytes <= at_most || chunk.store.len() == 1);
                // No chunk ends before it has to.
                let first = u64::from(chunk.store.length(0)).next_multiple_of(4);
                prop_assert!(last_bytes.saturating_add(first) > at_most);
                last_bytes = bytes;
                for id in 0..chunk.store.len() as SequenceId {
                    let record = chunk.record(id);
                    prop_assert_eq!(chunk.store.codes(id), store.codes(record as SequenceId));
                    prop_assert_eq!(chunk.place(id), seen.len() as u64);
                    prop_assert_eq!(chunk.store.name(id), store.name(record as SequenceId));
                    seen.push((std::cmp::Reverse(chunk.store.length(id)), record));
                }
            }
            prop_assert_eq!(seen.len(), lengths.len());
            prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
