//! Sequences whose letters are kept as they were written.

use super::input::Input;
use super::reader::{Letters, ReadOptions, Recorder};
use super::store::{SequenceId, SequenceStore};
use crate::error::Result;

/// Sequences, and their letters as the file has them: either case, U.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The sequences.
    pub store: SequenceStore,
    letters: Letters,
}

impl Written {
    /// Reads a file as [`read_files`](super::read_files) does.
    ///
    /// # Errors
    /// As [`read_files`](super::read_files).
    pub fn read(path: &str, options: &ReadOptions) -> Result<Written> {
        Written::of(Input::open(path)?, options)
    }

    /// The same from memory, as [`read_bytes`](super::read_bytes) does.
    ///
    /// ```
    /// use pairwave::seq::{ReadOptions, Written};
    ///
    /// let two = Written::read_bytes("two.fa", b">a\nACgu\n>b\nGATTACA\n", &ReadOptions::default())?;
    /// assert_eq!((two.store.letters(0).as_str(), two.letters(0), two.letters(1)), ("ACGT", &b"ACgu"[..], &b"GATTACA"[..]));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`read_bytes`](super::read_bytes).
    pub fn read_bytes(name: &str, data: &[u8], options: &ReadOptions) -> Result<Written> {
        Written::of(Input::new(name, Box::new(data))?, options)
    }

    fn of(input: Input<'_>, options: &ReadOptions) -> Result<Written> {
        let mut recorder = Recorder::of_letters(options);
        recorder.read(input)?;
        let (store, letters) = recorder.finish(options)?;
        Ok(Written { store, letters })
    }

    /// Letters of a sequence, one a code.
    pub fn letters(&self, id: SequenceId) -> &[u8] {
        self.letters.of(id)
    }
}
