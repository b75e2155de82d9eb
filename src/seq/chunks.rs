//! Reads in pieces: a file of any size goes through memory a chunk at a time.

use std::io::Cursor;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::alphabet::Alphabet;
use super::input::Input;
use super::reader::{Letters, Recorder, Records};
use super::store::{SequenceId, SequenceStore};
use crate::error::Result;

/// Reads that follow each other in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadChunk {
    /// Number of the first in the file, from 0.
    pub first: u64,
    /// The reads; their gaps are taken out. Some may be empty.
    pub store: Arc<SequenceStore>,
    letters: Letters,
}

impl ReadChunk {
    /// Numbers of the reads in the file, from 0.
    pub fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.store.len() as u64
    }

    /// Letters of a read as the file has them (either case, U), one a code; gaps are taken out.
    pub fn letters(&self, id: SequenceId) -> &[u8] {
        self.letters.of(id)
    }
}

/// Reads reads chunk by chunk.
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
    /// Opens FASTA or FASTQ, plain or compressed; `-` is standard input. Letters are those that
    /// [`read_files`](super::read_files) takes; `?` is any letter. A read may be empty. A warning says if the first chunk looks to
    /// be of another alphabet.
    ///
    /// # Errors
    /// As [`read_files`](super::read_files), for what is before the first record.
    pub fn open(path: impl AsRef<Path>, alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(Input::open(path.as_ref())?, alphabet)
    }

    /// As [`ReadChunks::open_bytes`], of bytes that are kept.
    ///
    /// # Errors
    /// As [`ReadChunks::open`].
    pub fn open_shared(name: &str, data: Arc<[u8]>, alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(Input::new(name, Box::new(Cursor::new(data)))?, alphabet)
    }
}

impl<'a> ReadChunks<'a> {
    /// The same from memory; `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`ReadChunks::open`].
    pub fn open_bytes(name: &str, data: &'a [u8], alphabet: Alphabet) -> Result<Self> {
        ReadChunks::new(Input::new(name, Box::new(data))?, alphabet)
    }

    fn new(input: Input<'a>, alphabet: Alphabet) -> Result<Self> {
        let mut recorder = Recorder::of_reads(alphabet);
        let records = recorder.open(input)?;
        Ok(ReadChunks { recorder, records, next: 0 })
    }

    /// The next reads, so many at most, and none after that with which they have so many symbols; `None` after the last. There is
    /// always one at least.
    ///
    /// # Errors
    /// As [`read_files`](super::read_files), but that a record may be empty. After an error nothing more can be read.
    pub fn next(&mut self, most_reads: usize, most_symbols: u64) -> Result<Option<ReadChunk>> {
        let mut symbols = 0;
        loop {
            let store = self.recorder.so_far();
            let is_full = store.len() >= most_reads.max(1) || symbols >= most_symbols.max(1);
            if is_full || !self.recorder.next(&mut self.records)? {
                break;
            }
            symbols += u64::from(*self.recorder.so_far().lengths().last().unwrap_or(&0));
        }
        self.recorder.end_comparison();
        let (store, letters) = self.recorder.take();
        let first = self.next;
        self.next += store.len() as u64;
        Ok((!store.is_empty()).then(|| ReadChunk { first, store: Arc::new(store), letters }))
    }
}
