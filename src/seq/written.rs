//! Sequences whose letters are kept as they were written.

use std::path::Path;

use super::alphabet::Code;
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
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Written> {
        Written::of(Input::open(path.as_ref())?, options)
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

    /// The same sequences without some of their letters, and how many these are.
    ///
    /// ```
    /// use pairwave::seq::{Alphabet, ReadOptions, Written};
    ///
    /// let read = Written::read_bytes("one.fa", b">a\nMKV*\n>b\nmLWy\n", &ReadOptions::default())?;
    /// let (kept, left_out) = read.without(|letter| letter == b'*');
    /// assert_eq!((kept.letters(0), kept.store.letters(1).as_str(), left_out), (&b"MKV"[..], "MLWY", 1));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    #[must_use]
    pub fn without(&self, drops: impl Fn(u8) -> bool) -> (Written, usize) {
        let mut store = SequenceStore::builder(self.store.alphabet());
        let mut letters = Letters::default();
        for id in 0..self.store.len() as SequenceId {
            let both = self.store.codes(id).iter().zip(self.letters(id));
            let kept: Vec<(Code, u8)> =
                both.map(|(&code, &letter)| (code, letter)).filter(|(_, letter)| !drops(*letter)).collect();
            store.push_renamed(&self.store, id, &kept.iter().map(|own| own.0).collect::<Vec<Code>>());
            letters.letters.extend(kept.iter().map(|own| own.1));
            letters.ends.push(letters.letters.len());
        }
        let left_out = self.letters.letters.len() - letters.letters.len();
        (Written { store: store.build(), letters }, left_out)
    }
}
