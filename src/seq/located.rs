//! Sequences of several files in chunks, with the location of each record.

use std::path::Path;
use std::sync::Arc;
use std::vec;

use super::input::{SequenceInput, is_standard};
use super::reader::{KeptLetters, ReadOptions, Recorder, Records};
use super::store::{SequenceId, SequenceStore};
use crate::error::{Error, InputLocation, Result};

/// Consecutive records of a file.
#[derive(Debug)]
pub(crate) struct LocatedChunk {
    pub(crate) store: SequenceStore,
    /// Letters of the records that their codes do not determine.
    letters: KeptLetters,
    file: Arc<str>,
    /// Line of each record's header.
    lines: Vec<u64>,
}

impl LocatedChunk {
    /// Returns the letters of a sequence as in the file, in either case. The slice is empty if its
    /// codes determine the letters.
    pub(crate) fn respelled(&self, id: SequenceId) -> &[u8] {
        self.letters.get(id)
    }

    /// Returns the location of a record.
    pub(crate) fn location(&self, id: SequenceId) -> InputLocation {
        InputLocation {
            file: self.file.to_string(),
            record: Some(self.store.name(id).to_owned()),
            line: Some(self.lines[id as usize]),
            column: None,
        }
    }
}

/// Reader of several files, chunk by chunk.
pub(crate) struct LocatedChunks {
    /// Files that have not been started.
    inputs: vec::IntoIter<SequenceInput<'static>>,
    current: Option<CurrentFile>,
    options: ReadOptions,
}

/// The file that is being read.
struct CurrentFile {
    name: Arc<str>,
    recorder: Recorder,
    records: Records<'static>,
    is_at_end: bool,
}

impl LocatedChunks {
    /// Opens FASTA or FASTQ, plain or compressed; `-` is standard input. The alphabet of `options`
    /// must be given.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files) for files that cannot be opened.
    pub(crate) fn open<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Self> {
        if paths.iter().filter(|path| is_standard(path.as_ref())).count() > 1 {
            return Err(Error::usage("standard input ('-') can be read only once"));
        }
        // All files are opened before the first is read, so that a misspelt name is reported at once.
        let inputs = paths.iter().map(|path| SequenceInput::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
        Ok(LocatedChunks { inputs: inputs.into_iter(), current: None, options: options.clone() })
    }

    /// Returns the next records, or `None` after the last. A chunk has records of one file. It has
    /// at most `most_records` records, and ends with the record that makes it reach `most_symbols`
    /// symbols.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files). After an error, nothing more can be
    /// read.
    pub(crate) fn next(&mut self, most_records: usize, most_symbols: u64) -> Result<Option<LocatedChunk>> {
        loop {
            let current = match &mut self.current {
                Some(current) => current,
                None => match self.inputs.next() {
                    None => return Ok(None),
                    Some(input) => self.current.insert(CurrentFile::open(input, &self.options)?),
                },
            };
            let chunk = current.next(most_records, most_symbols)?;
            if current.is_at_end {
                self.current = None;
            }
            if !chunk.store.is_empty() {
                return Ok(Some(chunk));
            }
        }
    }
}

impl CurrentFile {
    fn open(input: SequenceInput<'static>, options: &ReadOptions) -> Result<Self> {
        let mut recorder = Recorder::with_respelled_letters(options);
        let name = Arc::from(&*input.name);
        let records = recorder.open(input)?;
        Ok(CurrentFile { name, recorder, records, is_at_end: false })
    }

    /// Returns the next records. The chunk is empty if there are none.
    fn next(&mut self, most_records: usize, most_symbols: u64) -> Result<LocatedChunk> {
        let (mut lines, mut symbols) = (Vec::new(), 0);
        while lines.len() < most_records.max(1) && symbols < most_symbols.max(1) {
            if !self.recorder.next(&mut self.records)? {
                self.is_at_end = true;
                break;
            }
            lines.push(self.recorder.last_line());
            symbols += u64::from(*self.recorder.records_so_far().lengths().last().unwrap_or(&0));
        }
        let (store, letters) = self.recorder.take();
        Ok(LocatedChunk { store, letters, file: Arc::clone(&self.name), lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::{Alphabet, AlphabetChoice};

    #[test]
    fn chunks_have_records_of_one_file_with_their_locations() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = [("a.fa", ">a\nAC\nGT\n\n>b x\nacgu\n>none\n>c\nNX\n"), ("b.fq", "@d\nA\n+\n#\n@e\nC\n+\n#\n")]
            .map(|(name, text)| {
                let path = folder.path().join(name);
                std::fs::write(&path, text).unwrap();
                path
            });
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Dna), ..ReadOptions::default() };
        let mut chunks = LocatedChunks::open(&[&a, &b], &options).unwrap();
        let mut read = Vec::new();
        while let Some(chunk) = chunks.next(2, u64::MAX).unwrap() {
            for id in 0..chunk.store.len() as u32 {
                let location = chunk.location(id).to_string();
                let place = location.strip_prefix(folder.path().to_str().unwrap()).unwrap()[1..].to_owned();
                let respelled = String::from_utf8(chunk.respelled(id).to_vec()).unwrap();
                read.push((id, place, chunk.store.letters(id), respelled));
            }
        }
        let expected = [
            (0, "a.fa, line 1, record 'a'", "ACGT", ""),
            (1, "a.fa, line 5, record 'b'", "ACGT", "acgu"),
            (0, "a.fa, line 8, record 'c'", "NN", "NX"),
            (0, "b.fq, line 1, record 'd'", "A", ""),
            (1, "b.fq, line 5, record 'e'", "C", ""),
        ];
        let expected = expected.map(|(id, place, letters, kept)| (id, place.into(), letters.into(), kept.into()));
        assert_eq!(read, expected);
    }
}
