//! The target sequences of a search, from memory or from a database file.

use std::collections::HashMap;
use std::io::{BufRead, Read, Seek};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;

use super::file::DatabaseFile;
use crate::error::{Error, InputLocation, Result};
use crate::seq::alphabet::{Alphabet, AlphabetChoice};
use crate::seq::input::{DATABASE_NAME_BYTES, SequenceInput, is_database, is_standard, open_file};
use crate::seq::messages::input_error;
use crate::seq::reader::{ReadOptions, Recorder};
use crate::seq::store::{SequenceId, SequenceStore};

/// Numbers of sequences and symbols.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequenceTotals {
    /// Number of sequences.
    pub sequences: u64,
    /// Number of symbols in all sequences.
    pub symbols: u64,
}

/// The targets of a search: sequences with names and descriptions, in order of decreasing length.
///
/// They are returned in chunks, because they may exceed the memory. [`SubjectChunk::record`]
/// returns the position of a sequence in its input, so that results need not depend on this order.
///
/// ```
/// use pairwave::seq::{ReadOptions, Subjects};
///
/// let subjects = Subjects::from_bytes("x.fa", b">a first of two\nACG\n>b\nACGTACGT\n", &ReadOptions::default())?;
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
    size: SequenceTotals,
    /// Length of each sequence, in order.
    lengths: Vec<u32>,
    /// Number of packed bytes before each sequence whose index is a multiple of
    /// [`SEQUENCES_PER_MARK`].
    marks: Vec<u64>,
    source: SubjectSource,
}

/// Storage of the sequences.
#[derive(Debug)]
enum SubjectSource {
    /// All sequences are in memory.
    Memory {
        records: Vec<u64>,
        store: Arc<SequenceStore>,
    },
    File(Box<DatabaseFile>),
}

impl Subjects {
    /// Opens a database made by `pairwave makedb`, which is mapped, or a file of sequences, which
    /// is read completely. The first bytes distinguish them. A file of sequences is FASTA or FASTQ,
    /// plain or compressed; `-` is standard input.
    ///
    /// For a database, the only relevant option is a given alphabet, which must be that of the
    /// database. A mapped file must not be changed while it is used
    /// ([`Subjects::check_unchanged`]). It may be replaced by another file with the same name.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](crate::seq::read_files). Returns [`Error::Input`] for a
    /// database that is damaged or truncated, that has another version, or whose alphabet is not
    /// the given one.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        let path = path.as_ref();
        if is_standard(path) {
            return Subjects::read(SequenceInput::open(path)?, options);
        }
        let failed = |source| Error::io(path, source);
        let mut file = open_file(path)?;
        let mut start = Vec::new();
        // Other kinds of files cannot be mapped, and the bytes read from them here would be lost.
        if file.metadata().map_err(failed)?.is_file() {
            file.by_ref().take(DATABASE_NAME_BYTES as u64).read_to_end(&mut start).map_err(failed)?;
            file.rewind().map_err(failed)?;
        }
        if !is_database(&start) {
            return Subjects::read(SequenceInput::new(&path.display().to_string(), Box::new(file))?, options);
        }
        let (database, lengths) = DatabaseFile::open(path, file)?;
        let subjects = Subjects::from_file(database, lengths);
        match options.alphabet {
            AlphabetChoice::Fixed(alphabet) if alphabet != subjects.alphabet => {
                let message = format!(
                    "the database is of {}, but {} were requested",
                    subjects.alphabet.letters(),
                    alphabet.letters()
                );
                Err(input_error(InputLocation::in_file(path), message))
            }
            _ => Ok(subjects),
        }
    }

    /// Creates the targets of an opened database.
    fn from_file(file: DatabaseFile, lengths: Vec<u32>) -> Self {
        let footer = *file.footer();
        let size = SequenceTotals { sequences: footer.sequences, symbols: footer.symbols };
        let marks = marks(&lengths);
        Subjects { alphabet: footer.alphabet, size, lengths, marks, source: SubjectSource::File(Box::new(file)) }
    }

    /// Opens a file in memory. Errors name it `name`.
    ///
    /// # Errors
    /// Returns the errors of [`Subjects::open`].
    pub fn from_bytes(name: &str, data: &[u8], options: &ReadOptions) -> Result<Self> {
        Subjects::read(SequenceInput::new(name, Box::new(data))?, options)
    }

    fn read(mut input: SequenceInput<'_>, options: &ReadOptions) -> Result<Self> {
        input.peek()?;
        if input.bytes.fill_buf().is_ok_and(is_database) {
            let message = "a database of 'pairwave makedb' cannot be read from standard input, a pipe or a compressed file: name \
                the database file itself";
            return Err(input_error(input.location(), message));
        }
        let mut recorder = Recorder::keeping_descriptions(options);
        recorder.read(input)?;
        Ok(Subjects::from_store(recorder.finish(options)?.0))
    }

    /// Creates the targets from a store. Sequence ids become record numbers.
    pub fn from_store(store: SequenceStore) -> Self {
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
        let size = SequenceTotals { sequences: lengths.len() as u64, symbols };
        let records = order.into_iter().map(u64::from).collect();
        let (alphabet, marks) = (store.alphabet(), marks(&lengths));
        let source = SubjectSource::Memory { records, store: Arc::new(store.shared()) };
        Subjects { alphabet, size, lengths, marks, source }
    }

    /// Returns the alphabet of all sequences.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the numbers of sequences and symbols.
    pub fn size(&self) -> SequenceTotals {
        self.size
    }

    /// Returns the least and the greatest length, which are both 0 if there are no sequences.
    pub fn lengths(&self) -> RangeInclusive<u32> {
        *self.lengths.last().unwrap_or(&0)..=*self.lengths.first().unwrap_or(&0)
    }

    /// Returns the length of each sequence, in decreasing order.
    pub(crate) fn each_length(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the size of the database file in bytes, or `None` for a file of sequences.
    pub fn file_bytes(&self) -> Option<u64> {
        match &self.source {
            SubjectSource::Memory { .. } => None,
            SubjectSource::File(file) => Some(file.bytes()),
        }
    }

    /// Checks that a database file has not changed since it was opened. Results from a file that
    /// changed meanwhile are unreliable.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if its size or modification time has changed.
    pub fn check_unchanged(&self) -> Result<()> {
        match &self.source {
            SubjectSource::Memory { .. } => Ok(()),
            SubjectSource::File(file) => file.check_unchanged(),
        }
    }

    /// Divides the sequences into ranges. The sequences of a range take at most `at_most_bytes`
    /// packed bytes, and their number fits [`SequenceId`]. A sequence that takes more has a range
    /// of its own.
    pub fn ranges(&self, at_most_bytes: u64) -> Vec<Range<u64>> {
        self.ranges_of(0..self.size.sequences, at_most_bytes)
    }

    /// Divides a part of the sequences into ranges, like [`Subjects::ranges`].
    ///
    /// # Panics
    /// Panics if the part exceeds the number of sequences.
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

    /// Returns the sequences of a range. Only the needed part of a database is read.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if that part of a database is damaged.
    ///
    /// # Panics
    /// Panics if the range exceeds the number of sequences.
    pub fn chunk(&self, range: Range<u64>) -> Result<SubjectChunk> {
        let (start, end) = (range.start as usize, range.end as usize);
        let (store, records) = match &self.source {
            SubjectSource::Memory { records, store } => {
                let is_all = range == (0..self.size.sequences);
                let store = if is_all { Arc::clone(store) } else { Arc::new(store.part(start as u32..end as u32)) };
                (store, records[start..end].into())
            }
            SubjectSource::File(file) => {
                let lengths = self.lengths[start..end].to_vec();
                let codes = self.packed_before(start)..self.packed_before(end);
                (Arc::new(file.store(range.clone(), lengths, codes)?), file.records(range.clone())?.into())
            }
        };
        Ok(SubjectChunk { first: range.start, store, records })
    }

    /// Passes all sequences to `take`, in the order of their records.
    ///
    /// # Errors
    /// Returns the errors of [`Subjects::chunk`] and of `take`.
    pub fn in_input_order(&self, mut take: impl FnMut(&SequenceStore, SequenceId) -> Result<()>) -> Result<()> {
        let mut order: Vec<u64> = vec![0; self.lengths.len()];
        for range in self.ranges(u64::MAX) {
            for (index, record) in range.clone().zip(self.records(range)?) {
                order[record as usize] = index;
            }
        }
        // Sequences of equal length that are adjacent in the input are adjacent here too.
        for places in order.chunk_by(|&before, &after| after == before + 1) {
            let chunk = self.chunk(places[0]..places[0] + places.len() as u64)?;
            (0..chunk.store.len() as SequenceId).try_for_each(|id| take(&chunk.store, id))?;
        }
        Ok(())
    }

    /// Returns the indices of the sequences with each of these names, in the order of their records.
    /// Several sequences may have the same name.
    ///
    /// ```
    /// use pairwave::seq::{ReadOptions, Subjects};
    ///
    /// let subjects = Subjects::from_bytes("x.fa", b">a\nACG\n>b\nAC\n>a\nACGT\n", &ReadOptions::default())?;
    /// let indices = subjects.find(&[b"b", b"c", b"a"])?;
    /// // The sequences are in order of decreasing length.
    /// assert_eq!(indices, [vec![2], vec![], vec![1, 0]]);
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::Input`] if the names of a database are damaged.
    pub fn find(&self, names: &[&[u8]]) -> Result<Vec<Vec<u64>>> {
        let wanted: HashMap<&[u8], usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let mut found: Vec<Vec<(u64, u64)>> = vec![Vec::new(); names.len()];
        for start in (0..self.size.sequences).step_by(NAMES_AT_ONCE) {
            let range = start..(start + NAMES_AT_ONCE as u64).min(self.size.sequences);
            let (mut index, mut matching) = (start, Vec::new());
            let mut take = |name: &[u8]| {
                matching.extend(wanted.get(name).map(|&at| (at, index)));
                index += 1;
            };
            match &self.source {
                SubjectSource::Memory { store, .. } => {
                    range.for_each(|index| take(store.name_bytes(index as SequenceId)));
                }
                SubjectSource::File(file) => file.for_each_name(range, take)?,
            }
            for (at, index) in matching {
                found[at].push((self.records(index..index + 1)?[0], index));
            }
        }
        // A name that occurs twice in `names` has the same sequences both times.
        let indices = names.iter().map(|name| {
            let mut sequences = found[wanted[name]].clone();
            sequences.sort_unstable();
            sequences.into_iter().map(|(_, index)| index).collect()
        });
        Ok(indices.collect())
    }

    /// Returns the record numbers of some sequences.
    fn records(&self, range: Range<u64>) -> Result<Vec<u64>> {
        match &self.source {
            SubjectSource::Memory { records, .. } => Ok(records[range.start as usize..range.end as usize].to_vec()),
            SubjectSource::File(file) => file.records(range),
        }
    }

    /// Returns the number of packed bytes before the sequence with this index.
    fn packed_before(&self, index: usize) -> u64 {
        let mark = index / SEQUENCES_PER_MARK;
        let rest = &self.lengths[mark * SEQUENCES_PER_MARK..index];
        self.marks[mark] + rest.iter().map(|&length| packed(length)).sum::<u64>()
    }

    /// Returns an iterator over the chunks of [`Subjects::ranges`].
    pub fn chunks(&self, at_most_bytes: u64) -> SubjectChunks<'_> {
        SubjectChunks { subjects: self, ranges: self.ranges(at_most_bytes).into_iter() }
    }
}

/// Returns ids in order of decreasing length. Sequences of one length keep their order.
pub(super) fn by_falling_length(lengths: &[u32]) -> Vec<SequenceId> {
    let mut order: Vec<SequenceId> = (0..lengths.len() as SequenceId).collect();
    order.sort_by_key(|&id| std::cmp::Reverse(lengths[id as usize]));
    order
}

/// Computes [`Subjects::marks`].
fn marks(lengths: &[u32]) -> Vec<u64> {
    let mut before = 0;
    let sums = lengths.chunks(SEQUENCES_PER_MARK).map(|some| {
        before += some.iter().map(|&length| packed(length)).sum::<u64>();
        before
    });
    std::iter::once(0).chain(sums).collect()
}

/// Returns the number of bytes that a packed sequence takes.
fn packed(length: u32) -> u64 {
    u64::from(length).next_multiple_of(4)
}

/// Distance between the entries of [`Subjects::marks`], in sequences.
const SEQUENCES_PER_MARK: usize = 1 << 12;
/// Number of names that are read together.
const NAMES_AT_ONCE: usize = 1 << 20;
/// Maximum size of a range. Words of a store, including the end, are counted with 32 bits.
const MAX_BYTES: u64 = u32::MAX as u64 * 4;
/// Maximum number of sequences in a range, since ids have 32 bits.
const MAX_SEQUENCES: u64 = u32::MAX as u64;

/// Some sequences of [`Subjects`], in order of decreasing length.
#[derive(Debug, Clone)]
pub struct SubjectChunk {
    /// The sequences, with their descriptions.
    pub store: Arc<SequenceStore>,
    first: u64,
    records: Arc<[u64]>,
}

impl SubjectChunk {
    /// Returns the number of a sequence's record in the input, from 0.
    pub fn record(&self, id: SequenceId) -> u64 {
        self.records[id as usize]
    }

    /// Returns the index of a sequence in the order of decreasing length, from 0.
    pub fn index(&self, id: SequenceId) -> u64 {
        self.first + u64::from(id)
    }
}

/// An iterator over chunks of [`Subjects`]. Chunks are read on demand.
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
    fn no_sequences_give_no_chunks() {
        let subjects = Subjects::from_store(SequenceStore::builder(Alphabet::Protein).build());
        assert_eq!(
            (subjects.size(), subjects.lengths(), subjects.chunks(100).len()),
            (SequenceTotals::default(), 0..=0, 0)
        );
        assert_eq!(subjects.alphabet(), Alphabet::Protein);
    }

    #[test]
    fn headers_are_kept_completely() {
        let text = b">a\nAC\n>b \t two  words \nACG\n>\xFFc\td\nA\n>e  \nACGTA\n>f \xFF\nA\n";
        let subjects = Subjects::from_bytes("x.fa", text, &ReadOptions::default()).unwrap();
        let chunk = subjects.chunk(0..5).unwrap();
        let actual: Vec<(u64, &[u8], &[u8])> =
            (0..5).map(|id| (chunk.record(id), chunk.store.name_bytes(id), chunk.store.description(id))).collect();
        let expected: [(u64, &[u8], &[u8]); 5] =
            [(3, b"e", b""), (1, b"b", b"two  words"), (0, b"a", b""), (2, b"\xFFc", b"d"), (4, b"f", b"\xFF")];
        assert_eq!(actual, expected);
        assert_eq!(chunk.store.name(3), "\u{FFFD}c");
        // Stores without descriptions need no memory for them.
        let plain = crate::seq::read_bytes("x.fa", text, &ReadOptions::default()).unwrap();
        assert!((0..5).all(|id| plain.description(id).is_empty()));
    }

    proptest! {
        #[test]
        fn chunks_hold_all_sequences_by_decreasing_length(
            lengths in prop::collection::vec(0..40_usize, 0..30), max_bytes in 0..200_u64,
        ) {
            let mut builder = SequenceStore::builder(Alphabet::Bytes);
            for (record, &length) in lengths.iter().enumerate() {
                builder.push(record.to_string(), &vec![1 + record as u8; length]).unwrap();
            }
            let store = builder.build();
            let subjects = Subjects::from_store(store.clone());
            prop_assert_eq!(subjects.size().symbols, lengths.iter().sum::<usize>() as u64);
            let mut seen: Vec<(std::cmp::Reverse<u32>, u64)> = Vec::new();
            let mut last_bytes = u64::MAX;
            for chunk in subjects.chunks(max_bytes) {
                let chunk = chunk.unwrap();
                let bytes = chunk.store.packed_bytes().len() as u64;
                prop_assert!(!chunk.store.is_empty());
                prop_assert!(bytes <= max_bytes || chunk.store.len() == 1);
                // No chunk ends earlier than necessary.
                let first = u64::from(chunk.store.length(0)).next_multiple_of(4);
                prop_assert!(last_bytes.saturating_add(first) > max_bytes);
                last_bytes = bytes;
                for id in 0..chunk.store.len() as SequenceId {
                    let record = chunk.record(id);
                    prop_assert_eq!(chunk.store.codes(id), store.codes(record as SequenceId));
                    prop_assert_eq!(chunk.index(id), seen.len() as u64);
                    prop_assert_eq!(chunk.store.name(id), store.name(record as SequenceId));
                    seen.push((std::cmp::Reverse(chunk.store.length(id)), record));
                }
            }
            prop_assert_eq!(seen.len(), lengths.len());
            prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
