//! Sequences with their original letters.

use std::path::Path;

use super::alphabet::Code;
use super::input::SequenceInput;
use super::reader::{KeptLetters, ReadOptions, Recorder};
use super::store::{SequenceId, SequenceStore};
use crate::error::Result;

/// Sequences, with their letters as in the file (either case, U).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalLetters {
    /// The sequences.
    pub store: SequenceStore,
    letters: KeptLetters,
}

impl OriginalLetters {
    /// Reads a file like [`read_files`](super::read_files).
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files).
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<OriginalLetters> {
        OriginalLetters::from_input(SequenceInput::open(path.as_ref())?, options)
    }

    /// Reads bytes in memory like [`read_bytes`](super::read_bytes).
    ///
    /// ```
    /// use pairwave::seq::{ReadOptions, OriginalLetters};
    ///
    /// let two = OriginalLetters::read_bytes("two.fa", b">a\nACgu\n>b\nGATTACA\n", &ReadOptions::default())?;
    /// assert_eq!((two.store.letters(0).as_str(), two.letters(0), two.letters(1)), ("ACGT", &b"ACgu"[..], &b"GATTACA"[..]));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`read_bytes`](super::read_bytes).
    pub fn read_bytes(name: &str, data: &[u8], options: &ReadOptions) -> Result<OriginalLetters> {
        OriginalLetters::from_input(SequenceInput::new(name, Box::new(data))?, options)
    }

    fn from_input(input: SequenceInput<'_>, options: &ReadOptions) -> Result<OriginalLetters> {
        let mut recorder = Recorder::with_letters_kept(options);
        recorder.read(input)?;
        let (store, letters) = recorder.finish(options)?;
        Ok(OriginalLetters { store, letters })
    }

    /// Returns the letters of a sequence, one for each code.
    pub fn letters(&self, id: SequenceId) -> &[u8] {
        self.letters.get(id)
    }

    /// Returns the sequences without the letters that satisfy `drops`, and the number of dropped
    /// letters.
    ///
    /// ```
    /// use pairwave::seq::{Alphabet, ReadOptions, OriginalLetters};
    ///
    /// let read = OriginalLetters::read_bytes("one.fa", b">a\nMKV*\n>b\nmLWy\n", &ReadOptions::default())?;
    /// let (kept, dropped) = read.without(|letter| letter == b'*');
    /// assert_eq!((kept.letters(0), kept.store.letters(1).as_str(), dropped), (&b"MKV"[..], "MLWY", 1));
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    #[must_use]
    pub fn without(&self, drops: impl Fn(u8) -> bool) -> (OriginalLetters, usize) {
        let mut store = SequenceStore::builder(self.store.alphabet());
        let mut letters = KeptLetters::default();
        for id in 0..self.store.len() as SequenceId {
            let both = self.store.codes(id).iter().zip(self.letters(id));
            let kept: Vec<(Code, u8)> =
                both.map(|(&code, &letter)| (code, letter)).filter(|(_, letter)| !drops(*letter)).collect();
            store.push_renamed(&self.store, id, &kept.iter().map(|original| original.0).collect::<Vec<Code>>());
            letters.letters.extend(kept.iter().map(|original| original.1));
            letters.ends.push(letters.letters.len());
        }
        let dropped = self.letters.letters.len() - letters.letters.len();
        (OriginalLetters { store: store.build(), letters }, dropped)
    }
}
