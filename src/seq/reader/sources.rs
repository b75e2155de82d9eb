//! Sequences that are in files or in memory.

use std::path::Path;

use super::{EmptyRecords, LIMITS, Loaded, ReadOptions, Recorder, build_stores};
use crate::error::{Error, InputLocation, Result};
use crate::seq::input::SequenceInput;
use crate::seq::messages::input_error;
use crate::seq::store::SequenceStore;

/// Records of one set of sequences.
#[derive(Debug, Clone, Copy)]
pub enum SequenceSource<'a> {
    /// A file, as [`read_files`](super::read_files) reads it.
    File(&'a Path),
    /// Records in memory.
    Memory {
        /// Name of the set in errors.
        set: &'a str,
        /// Name and letters of each record.
        records: &'a [(&'a [u8], &'a [u8])],
    },
}

/// Reads every source into its own store. All stores get the same alphabet.
///
/// Letters in memory are those of [`Alphabet`](crate::Alphabet), as in a file; blanks and line ends
/// are skipped. A name ends at its first blank. Unlike the records of a file, a record in memory may
/// have no letters.
///
/// # Errors
/// Returns the errors of [`read_files`](super::read_files). The location of an error in memory has
/// the name of the set as its file, and the column of the letter in bytes from 1.
///
/// ```
/// use pairwave::ReadOptions;
/// use pairwave::seq::{Alphabet, SequenceSource, read_sources};
///
/// let queries = SequenceSource::Memory { set: "queries", records: &[(b"a", b"ACGU"), (b"none", b"")] };
/// let targets = SequenceSource::File("assets/16s/gold12.fasta".as_ref());
/// let stores = read_sources(&[queries, targets], &ReadOptions::default())?;
/// assert_eq!((stores[0].alphabet(), stores[0].letters(0).as_str(), stores[0].length(1)), (Alphabet::Dna, "ACGT", 0));
///
/// let wrong = SequenceSource::Memory { set: "queries", records: &[(b"a", b"AC-GT")] };
/// let error = read_sources(&[wrong], &ReadOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("queries, column 3, record 'a': '-' is a gap"));
/// # Ok::<(), pairwave::Error>(())
/// ```
pub fn read_sources(sources: &[SequenceSource<'_>], options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    let loaded = sources.iter().map(|source| match *source {
        SequenceSource::File(path) => Recorder::new(options, LIMITS).read_all(SequenceInput::open(path)?),
        SequenceSource::Memory { set, records } => {
            let mut recorder = Recorder { empty: EmptyRecords::Keep, ..Recorder::new(options, LIMITS) };
            recorder.loaded.name = set.to_owned();
            recorder.add_records(records)
        }
    });
    build_stores(loaded.collect::<Result<_>>()?, options)
}

impl Recorder {
    /// Adds records in memory, at least one.
    fn add_records(mut self, records: &[(&[u8], &[u8])]) -> Result<Loaded> {
        if records.is_empty() {
            return Err(input_error(InputLocation::in_file(&self.loaded.name), "there are no sequences"));
        }
        for (name, letters) in records {
            self.add(name, letters, None, 0).map_err(without_line)?;
        }
        if let Some((_, location)) = &mut self.loaded.first_foreign {
            location.line = None;
        }
        Ok(self.loaded)
    }
}

/// Removes the line of a location, which a record in memory does not have.
fn without_line(error: Error) -> Error {
    match error {
        Error::Input { location, message } => {
            Error::Input { location: InputLocation { line: None, ..location }, message }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, AlphabetChoice};

    fn message(records: &[(&[u8], &[u8])], alphabet: AlphabetChoice) -> String {
        let source = SequenceSource::Memory { set: "reads", records };
        let error = read_sources(&[source], &ReadOptions { alphabet, ..ReadOptions::default() }).unwrap_err();
        error.to_string()
    }

    #[test]
    fn errors_in_memory_name_set_record_and_column() {
        let (detect, dna) = (AlphabetChoice::Detect, AlphabetChoice::Fixed(Alphabet::Dna));
        assert_eq!(message(&[], detect), "reads: there are no sequences");
        let wrong = message(&[(b"a", b"ACGT"), (b"b", b"AC!T")], detect);
        assert!(wrong.starts_with("reads, column 3, record 'b': '!' is not a letter"), "{wrong}");
        assert!(message(&[(b"a", b"ACGTE")], dna).starts_with("reads, column 5, record 'a': 'E' is not a letter"));
        let foreign: &[u8] = b"ACGTACGTACGTACGTACGTE";
        assert!(message(&[(b"a", foreign)], detect).starts_with("reads, column 21, record 'a': 'E' is not"));
        assert!(message(&[(b"", b"A")], dna).contains("the record has no name"));
    }

    #[test]
    fn stores_from_memory_and_files_are_equal() {
        let file = crate::read("assets/16s/gold12.fasta").unwrap();
        let letters: Vec<String> = (0..file.len() as u32).map(|id| file.letters(id)).collect();
        let records: Vec<(&[u8], &[u8])> =
            (0..).zip(&letters).map(|(id, letters)| (file.name_bytes(id), letters.as_bytes())).collect();
        let memory = SequenceSource::Memory { set: "genes", records: &records };
        let stores =
            read_sources(&[memory, SequenceSource::File("assets/16s/gold12.fasta".as_ref())], &ReadOptions::default());
        let stores = stores.unwrap();
        assert!(stores[0] == *file && stores[1] == *file);
    }
}
