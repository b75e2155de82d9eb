//! Sequencing reads in chunks, so that the size of a file is not limited by memory.

use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::alphabet::Alphabet;
use super::input::SequenceInput;
use super::reader::{KeptLetters, Recorder, Records};
use super::store::{SequenceId, SequenceStore};
use crate::error::Result;

/// Consecutive reads of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadChunk {
    /// Number of the first read in the file, from 0.
    pub first: u64,
    /// The reads without gaps. Some may be empty.
    pub store: Arc<SequenceStore>,
    letters: KeptLetters,
}

impl ReadChunk {
    /// Returns the numbers of the reads in the file, from 0.
    pub fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.store.len() as u64
    }

    /// Returns the letters of a read as in the file (either case, U), one for each code. Gaps are
    /// removed.
    pub fn letters(&self, id: SequenceId) -> &[u8] {
        self.letters.get(id)
    }
}

/// Reader of a file of sequencing reads, chunk by chunk.
///
/// ```
/// use pairwave::seq::{Alphabet, ReadChunks};
///
/// let mut chunks = ReadChunks::open_bytes("a.fa", b">a\nACgu-\n>b\n>c\nN?\n", Alphabet::Dna)?;
/// let two = chunks.next(2, u64::MAX)?.expect("there are two");
/// assert_eq!((two.first, two.store.len(), two.letters(0), two.letters(1)), (0, 2, &b"ACgu"[..], &b""[..]));
/// let one = chunks.next(2, u64::MAX)?.expect("there is a third");
/// assert_eq!((one.first, one.store.letters(0).as_str(), one.letters(0)), (2, "NN", &b"N?"[..]));
/// assert_eq!(chunks.next(2, u64::MAX)?, None);
/// # Ok::<(), pairwave::Error>(())
/// ```
pub struct ReadChunks<'a> {
    recorder: Recorder,
    records: Records<'a>,
    next: u64,
}

impl ReadChunks<'static> {
    /// Opens FASTA or FASTQ, plain or compressed; `-` is standard input. The letters of
    /// [`read_files`](super::read_files) are accepted, and `?` stands for any letter. A read may be
    /// empty. Warns if the first chunk looks like another alphabet.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files) for everything before the first
    /// record.
    pub fn open(path: impl AsRef<Path>, alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(SequenceInput::open(path.as_ref())?, alphabet)
    }

    /// Opens bytes like [`ReadChunks::open_bytes`], and shares their ownership.
    ///
    /// # Errors
    /// Returns the errors of [`ReadChunks::open`].
    pub fn open_shared(name: &str, data: Arc<[u8]>, alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(SequenceInput::new(name, Box::new(Cursor::new(data)))?, alphabet)
    }
}

impl<'a> ReadChunks<'a> {
    /// Opens bytes in memory like [`ReadChunks::open`]. Errors name the file `name`.
    ///
    /// # Errors
    /// Returns the errors of [`ReadChunks::open`].
    pub fn open_bytes(name: &str, data: &'a [u8], alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(SequenceInput::new(name, Box::new(data))?, alphabet)
    }

    fn new(input: SequenceInput<'a>, alphabet: Alphabet) -> Result<Self> {
        let mut recorder = Recorder::for_reads(alphabet);
        let records = recorder.open(input)?;
        Ok(ReadChunks { recorder, records, next: 0 })
    }

    /// Returns the next reads, or `None` after the last. A chunk has at most `most_reads` reads,
    /// and ends with the read that makes it reach `most_symbols` symbols. It has at least one read.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files), except that a record may be empty.
    /// After an error, nothing more can be read.
    pub fn next(&mut self, most_reads: usize, most_symbols: u64) -> Result<Option<ReadChunk>> {
        let mut symbols = 0;
        loop {
            let store = self.recorder.records_so_far();
            let is_full = store.len() >= most_reads.max(1) || symbols >= most_symbols.max(1);
            if is_full || !self.recorder.next(&mut self.records)? {
                break;
            }
            symbols += u64::from(*self.recorder.records_so_far().lengths().last().unwrap_or(&0));
        }
        self.recorder.end_comparison();
        let (store, letters) = self.recorder.take();
        let first = self.next;
        self.next += store.len() as u64;
        Ok((!store.is_empty()).then(|| ReadChunk { first, store: Arc::new(store), letters }))
    }
}
