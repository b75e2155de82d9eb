//! Sequences that are compared with each other.

use crate::cli::args::SequencesArgs;
use crate::cli::common::file_name;
use pairwave::seq::{Alphabet, OriginalLetters, ReadOptions, SequenceStore};
use pairwave::{Error, Result};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// File of sequences, and how to read it.
#[derive(Debug)]
pub(in crate::cli) struct SequenceFile {
    /// Path; `-` is standard input.
    pub(in crate::cli) path: PathBuf,
    pub(in crate::cli) options: ReadOptions,
}

impl From<SequencesArgs> for SequenceFile {
    fn from(args: SequencesArgs) -> Self {
        SequenceFile { path: args.seqs, options: args.letters.into() }
    }
}

impl SequenceFile {
    /// Returns the title of pages and pictures: the name of the file.
    pub(in crate::cli) fn title(&self) -> String {
        file_name(&self.path)
    }

    pub(in crate::cli) fn read(&self) -> Result<SequenceSet> {
        let written = OriginalLetters::read(&self.path, &self.options)?;
        if written.store.alphabet() == Alphabet::Bytes {
            return Err(Error::usage("--alphabet bytes: the sequences must be nucleotides or proteins"));
        }
        Ok(SequenceSet { store: Arc::new(written.store.clone()), written })
    }
}

/// Sequences as read.
pub(in crate::cli) struct SequenceSet {
    pub(in crate::cli) store: Arc<SequenceStore>,
    written: OriginalLetters,
}

impl SequenceSet {
    /// Returns the sequences without the letters that ClustalW skips when it reads.
    pub(super) fn of_clustal_letters(self) -> SequenceSet {
        if self.store.alphabet() != Alphabet::Protein {
            return self;
        }
        let (written, left_out) = self.written.without(|letter| matches!(letter, b'J' | b'j' | b'*'));
        if left_out == 0 {
            return self;
        }
        let location = self.store.file_location();
        tracing::warn!("{location}: {left_out} letters J and * are skipped, as in ClustalW");
        SequenceSet { store: Arc::new(written.store.clone()), written }
    }

    pub(in crate::cli) fn names(&self) -> Vec<&[u8]> {
        (0..self.store.len() as u32).map(|id| self.store.name_bytes(id)).collect()
    }

    /// Returns the letters as read, or as capitals if `as_clustal`, as ClustalW writes them.
    pub(super) fn letters(&self, as_clustal: bool) -> Vec<Cow<'_, [u8]>> {
        let written = |id| Cow::Borrowed(self.written.letters(id));
        let capitals = |id| Cow::Owned(self.written.letters(id).to_ascii_uppercase());
        let ids = 0..self.store.len() as u32;
        if as_clustal { ids.map(capitals).collect() } else { ids.map(written).collect() }
    }
}
