//! Records of two files that are paired by number. They are read a chunk of pairs at a time, so
//! that the size of the files is not limited by memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::alphabet::Alphabet;
use super::alphabet::AlphabetChoice;
use super::input::{SequenceInput, is_standard};
use super::messages::input_error;
use super::reader::{self, Qualities, ReadOptions, Recorder, Records};
use super::store::{SequenceId, SequenceStore};
use crate::error::{Error, InputLocation, Result};

/// Consecutive records of two files. Records with the same number are a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedChunk {
    /// Number of the first pair, from 0.
    pub first: u64,
    /// Records of the first file.
    pub queries: Arc<SequenceStore>,
    /// Records of the second file. Their number is that of `queries`.
    pub targets: Arc<SequenceStore>,
}

/// A file of the pair.
struct PairedFile {
    recorder: Recorder,
    records: Records<'static>,
    name: String,
}

/// Reader of two files in parallel.
///
/// ```
/// use pairwave::seq::{Alphabet, PairedChunks, ReadOptions};
///
/// let genes = "assets/16s/gold12.fasta";
/// let mut chunks = PairedChunks::open([genes, genes], &ReadOptions::default(), 5, u64::MAX)?;
/// assert_eq!(chunks.alphabet(), Alphabet::Dna);
/// let mut first = Vec::new();
/// while let Some(chunk) = chunks.next()? {
///     first.push((chunk.first, chunk.queries.len(), chunk.targets.len()));
/// }
/// assert_eq!(first, [(0, 5, 5), (5, 5, 5), (10, 2, 2)]);
/// # Ok::<(), pairwave::Error>(())
/// ```
pub struct PairedChunks {
    sides: [PairedFile; 2],
    alphabet: Alphabet,
    most_pairs: usize,
    most_symbols: u64,
    /// The first chunk, which was read in advance to detect the alphabet.
    ready: Option<PairedChunk>,
    next: u64,
    is_at_end: bool,
    /// Arguments of [`PairedChunks::open`].
    paths: [PathBuf; 2],
    degap: bool,
    second_pass: Option<Box<SecondPass>>,
}

/// A second pass over the same files, for random access.
struct SecondPass {
    chunks: PairedChunks,
    last: Option<PairedChunk>,
}

impl std::fmt::Debug for PairedChunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.sides.iter().map(|side| side.name.as_str()).collect();
        f.debug_struct("PairedChunks").field("names", &names).field("next", &self.next).finish_non_exhaustive()
    }
}

impl PairedChunks {
    /// Opens two files of FASTA or FASTQ, plain or compressed, and reads the first chunk; `-` is
    /// standard input. A chunk has at most `most_pairs` pairs, and ends with the pair that makes it
    /// reach `most_symbols` symbols.
    ///
    /// The letters of [`read_files`](super::read_files) are accepted. Qualities are skipped. The
    /// alphabet is detected from the first chunk of both files together.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files) and of [`PairedChunks::next`].
    pub fn open<P: AsRef<Path>>(
        paths: [P; 2],
        options: &ReadOptions,
        most_pairs: usize,
        most_symbols: u64,
    ) -> Result<Self> {
        let paths = paths.each_ref().map(AsRef::as_ref);
        if paths.into_iter().all(is_standard) {
            return Err(Error::usage("standard input ('-') can be read only once"));
        }
        // Both files are opened before one is read.
        let [a, b] = [SequenceInput::open(paths[0])?, SequenceInput::open(paths[1])?];
        let sides = [PairedFile::open(a, options)?, PairedFile::open(b, options)?];
        let alphabet = Alphabet::Protein;
        let (most_pairs, most_symbols) = (most_pairs.max(1), most_symbols.max(1));
        let mut chunks = PairedChunks {
            sides,
            alphabet,
            most_pairs,
            most_symbols,
            ready: None,
            next: 0,
            is_at_end: false,
            paths: paths.map(Path::to_owned),
            degap: options.degap,
            second_pass: None,
        };
        chunks.fill()?;
        let [a, b] = &mut chunks.sides;
        let [queries, targets] = reader::decide_alphabet([&mut a.recorder, &mut b.recorder], options)?;
        chunks.alphabet = queries.alphabet();
        chunks.ready = chunks.chunk(queries, targets);
        Ok(chunks)
    }

    /// Returns the alphabet of all records.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the first chunk, until it is taken.
    pub fn first(&self) -> Option<&PairedChunk> {
        self.ready.as_ref()
    }

    /// Returns whether all records have been read.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Returns the next chunk, or `None` after the last.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](super::read_files). Returns [`Error::Input`] if one
    /// file has more records than the other. That error names both numbers and the first record
    /// without a partner. After an error, nothing more can be read.
    #[expect(clippy::should_implement_trait, reason = "it fails")]
    pub fn next(&mut self) -> Result<Option<PairedChunk>> {
        if let Some(chunk) = self.ready.take() {
            return Ok(Some(chunk));
        }
        if self.is_at_end {
            return Ok(None);
        }
        self.fill()?;
        let [queries, targets] = self.sides.each_mut().map(|side| side.recorder.take().0);
        Ok(self.chunk(queries, targets))
    }

    /// Opens the same files again from the start.
    ///
    /// # Errors
    /// Returns the errors of [`PairedChunks::open`], and [`Error::Usage`] for standard input, which
    /// cannot be read again.
    pub fn reopen(&self) -> Result<Self> {
        let paths = self.paths.each_ref();
        if paths.into_iter().any(|path| is_standard(path)) {
            return Err(Error::usage_of("queries", "standard input can be read once only: name a file"));
        }
        let options =
            ReadOptions { alphabet: AlphabetChoice::Fixed(self.alphabet), degap: self.degap, ..ReadOptions::default() };
        PairedChunks::open(paths, &options, self.most_pairs, self.most_symbols)
    }

    /// Returns the chunk that contains the pair with this number, or `None` if there are fewer
    /// pairs. This does not affect [`PairedChunks::next`]: the files are read a second time, and
    /// again from the start whenever an earlier chunk than the previous one is requested.
    ///
    /// # Errors
    /// Returns the errors of [`PairedChunks::reopen`] and of [`PairedChunks::next`].
    pub fn at(&mut self, number: u64) -> Result<Option<PairedChunk>> {
        let is_behind = |second_pass: &SecondPass| second_pass.last.as_ref().is_none_or(|last| number < last.first);
        let second_pass = match self.second_pass.take().filter(|second_pass| !is_behind(second_pass)) {
            Some(second_pass) => second_pass,
            None => {
                let mut chunks = self.reopen()?;
                let last = chunks.next()?;
                Box::new(SecondPass { chunks, last })
            }
        };
        let SecondPass { chunks, last } = &mut **self.second_pass.insert(second_pass);
        while last.as_ref().is_some_and(|last| last.first + last.queries.len() as u64 <= number) {
            *last = chunks.next()?;
        }
        Ok(last.clone())
    }

    fn chunk(&mut self, queries: SequenceStore, targets: SequenceStore) -> Option<PairedChunk> {
        let first = self.next;
        self.next += queries.len() as u64;
        (!queries.is_empty()).then(|| PairedChunk { first, queries: Arc::new(queries), targets: Arc::new(targets) })
    }

    /// Reads the records of a chunk.
    fn fill(&mut self) -> Result<()> {
        let mut symbols = 0;
        while self.sides[0].recorder.records_so_far().len() < self.most_pairs && symbols < self.most_symbols {
            match [self.sides[0].read()?, self.sides[1].read()?] {
                [true, true] => {
                    let length =
                        |side: &PairedFile| u64::from(*side.recorder.records_so_far().lengths().last().unwrap_or(&0));
                    symbols += self.sides.iter().map(length).sum::<u64>();
                }
                [false, false] => {
                    self.is_at_end = true;
                    break;
                }
                [has_more, _] => return Err(self.unequal(usize::from(!has_more))),
            }
        }
        Ok(())
    }

    /// Returns the error if file `longer` has more records than the other. Its last read record is
    /// the first without a partner.
    fn unequal(&mut self, longer: usize) -> Error {
        let partners = self.next + self.sides[1 - longer].recorder.records_so_far().len() as u64;
        let store = self.sides[longer].recorder.records_so_far();
        let record = store.name(store.len() as SequenceId - 1).to_owned();
        let mut count = partners + 1;
        loop {
            // The remaining records are only counted.
            self.sides[longer].recorder.take();
            match self.sides[longer].read() {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(error) => return error,
            }
        }
        let names = [longer, 1 - longer].map(|side| self.sides[side].name.as_str());
        no_partner(names, [count, partners], &record)
    }
}

impl PairedFile {
    fn open(input: SequenceInput<'static>, options: &ReadOptions) -> Result<Self> {
        let name = input.name.clone();
        let mut recorder = Recorder::for_partners(options, Qualities::Skip);
        let records = recorder.open(input)?;
        Ok(PairedFile { recorder, records, name })
    }

    fn read(&mut self) -> Result<bool> {
        self.recorder.next(&mut self.records)
    }
}

/// Refuses two sets of records that are paired by number if one set has more records. `paths` names
/// their files.
///
/// # Errors
/// Returns the [`Error::Input`] that [`PairedChunks::next`] describes.
pub fn check_counts<P: AsRef<Path>>(paths: [P; 2], [a, b]: [&SequenceStore; 2]) -> Result<()> {
    let names = paths.map(|path| path.as_ref().display().to_string());
    let names = names.each_ref().map(String::as_str);
    let counts = [a.len() as u64, b.len() as u64];
    let (names, counts, longer) = match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => (names, counts, a),
        std::cmp::Ordering::Less => ([names[1], names[0]], [counts[1], counts[0]], b),
    };
    Err(no_partner(names, counts, longer.name(counts[1] as SequenceId)))
}

/// Returns the error for two files of unequal length. The arguments are the names of the longer and
/// the other file, their numbers of records, and the first record without a partner.
fn no_partner([longer, other]: [&str; 2], [count, partners]: [u64; 2], record: &str) -> Error {
    let location =
        InputLocation { file: longer.to_owned(), record: Some(record.to_owned()), ..InputLocation::default() };
    let other = InputLocation::in_file(other);
    let records = if partners == 1 { "1 record".to_owned() } else { format!("{partners} records") };
    let message = format!("it has no partner: this is record {} of {count}, and {other} has {records}", partners + 1);
    input_error(location, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::read_files;
    use std::io::Write;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    /// Returns the names and letters of all pairs in two files.
    fn pairs(texts: [&str; 2], most_pairs: usize, most_symbols: u64) -> Result<Vec<[String; 4]>> {
        let files = texts.map(file);
        let paths = files.each_ref().map(|file| file.path().to_str().unwrap());
        let read = || {
            let mut chunks = PairedChunks::open(paths, &ReadOptions::default(), most_pairs, most_symbols)?;
            let mut all = Vec::new();
            while let Some(chunk) = chunks.next()? {
                assert_eq!((chunk.first, chunk.queries.len()), (all.len() as u64, chunk.targets.len()));
                assert!(chunk.queries.len() <= most_pairs);
                all.extend((0..chunk.queries.len() as SequenceId).map(|id| {
                    let (a, b) = (&chunk.queries, &chunk.targets);
                    [a.name(id).to_owned(), a.letters(id), b.name(id).to_owned(), b.letters(id)]
                }));
            }
            Ok(all)
        };
        read().map_err(|error: Error| {
            let text = error.to_string();
            Error::usage(text.replace(paths[0], "a.fa").replace(paths[1], "b.fa"))
        })
    }

    #[test]
    fn paired_chunks_follow_both_files() {
        let texts = [">a\nACGU\n>b\nN\n>c\nGATTACA\n", "@x\nAC\n+\nII\n@y\nTTT\n+\nIII\n@z\nG\n+\nI\n"];
        let all = pairs(texts, 9, u64::MAX).unwrap();
        assert_eq!(all[0], ["a", "ACGT", "x", "AC"]);
        assert_eq!(all[2], ["c", "GATTACA", "z", "G"]);
        for most in [(1, u64::MAX), (2, u64::MAX), (3, 1), (3, 7), (4, 10)] {
            assert_eq!(pairs(texts, most.0, most.1).unwrap(), all, "{most:?}");
        }
    }

    #[test]
    fn any_pair_is_found_repeatedly() {
        let files = [">a\nACGU\n>b\nN\n>c\nGATTACA\n", ">x\nAC\n>y\nTTT\n>z\nG\n"].map(file);
        let paths = files.each_ref().map(|file| file.path().to_str().unwrap());
        let mut chunks = PairedChunks::open(paths, &ReadOptions::default(), 2, u64::MAX).unwrap();
        let mut all = Vec::new();
        let mut again = chunks.reopen().unwrap();
        while let Some(chunk) = again.next().unwrap() {
            all.push(chunk);
        }
        for number in [2, 0, 1, 1, 2, 3, 9, 0, 2] {
            let expected = all.iter().find(|chunk| (chunk.first..chunk.first + 2).contains(&number) && number < 3);
            assert_eq!(chunks.at(number).unwrap().as_ref(), expected, "pair {number}");
        }
        assert_eq!(chunks.next().unwrap().as_ref(), Some(&all[0]), "who reads on is not disturbed");
        chunks.at(2).unwrap();
        assert_eq!(chunks.next().unwrap().as_ref(), Some(&all[1]));
        assert_eq!(chunks.next().unwrap(), None);
    }

    #[test]
    fn alphabet_is_detected_from_both_files() {
        let protein = ">p\nMKVEFILPQ\n>q\nACGT\n";
        let all = pairs([">a\nACGT\n>b\nEFIL\n", protein], 1, u64::MAX).unwrap();
        assert_eq!(all[1], ["b", "EFIL", "q", "ACGT"]);
        let error = pairs([">a\nACGT\n>b\nEFIL\n", ">a\nACGT\n>b\nACGT\n"], 1, u64::MAX).unwrap_err().to_string();
        assert!(error.starts_with("a.fa, line 4, column 1, record 'b': 'E' is not a letter of DNA/RNA"), "{error}");
        let store = read_files(&["assets/16s/gold12.fasta"], &ReadOptions::default()).unwrap().remove(0);
        let (path, fixed) = ("assets/16s/gold12.fasta", AlphabetChoice::Fixed(Alphabet::Dna));
        for alphabet in [AlphabetChoice::Detect, fixed] {
            let options = ReadOptions { alphabet, ..ReadOptions::default() };
            let mut chunks = PairedChunks::open([path, path], &options, 100, u64::MAX).unwrap();
            assert_eq!((chunks.first().map(|chunk| chunk.queries.len()), chunks.is_at_end()), (Some(12), true));
            let chunk = chunks.next().unwrap().unwrap();
            assert!(*chunk.queries == store && *chunk.targets == store && chunks.next().unwrap().is_none());
        }
    }

    #[test]
    fn records_without_partner_are_named_with_both_counts() {
        let (three, one) = (">a\nACGT\n>b\nGG\n>c\nT\n", ">x\nACGT\n");
        let message = |texts, most| pairs(texts, most, u64::MAX).unwrap_err().to_string();
        for most in [1, 2, 9] {
            let longer = message([three, one], most);
            assert_eq!(longer, "a.fa, record 'b': it has no partner: this is record 2 of 3, and b.fa has 1 record");
            let shorter = message([one, three], most);
            assert_eq!(shorter, "b.fa, record 'b': it has no partner: this is record 2 of 3, and a.fa has 1 record");
        }
        assert!(message([three, ">x\nACGT\n>y\nA7\n"], 1).starts_with("b.fa, line 4, column 2, record 'y'"));
        let stores: Vec<SequenceStore> = [three, one]
            .map(|text| crate::seq::read_bytes("text", text.as_bytes(), &ReadOptions::default()).unwrap())
            .into();
        let error = |a: usize, b: usize| check_counts(["a.fa", "b.fa"], [&stores[a], &stores[b]]);
        assert_eq!(error(0, 1).unwrap_err().to_string(), message([three, one], 9));
        assert!(error(1, 0).unwrap_err().to_string().starts_with("b.fa, record 'b': it has no partner"));
        error(0, 0).unwrap();
    }
}
