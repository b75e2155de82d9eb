//! Makes a database of files of sequences that need not fit into memory.
//!
//! What was read is sorted whenever it fills the memory that may be taken, and put aside as a database of its own in a file
//! without a name. In the end all of these are gone through side by side.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file::DatabaseFile;
use super::layout::sum;
use super::subjects::{Size, SubjectChunk, Subjects};
use super::writer::Writer;
use crate::error::{Error, Place, Result};
use crate::seq::alphabet::{Alphabet, Code};
use crate::seq::input::{Input, is_standard};
use crate::seq::reader::{Duplicates, ReadOptions, Recorder};
use crate::seq::store::{SequenceId, SequenceStore};

/// Records after which is said how far it is.
const RECORDS_A_STEP: u64 = 1 << 12;
/// Least bytes of symbols that are taken at a time of what was put aside.
const LEAST_TAKEN: u64 = 1 << 16;

/// How a database is made.
#[derive(Debug, Clone)]
pub struct MakeOptions {
    /// How its inputs are read.
    pub read: ReadOptions,
    /// Bytes of sequences that are held in memory at most, in about. A sequence that is longer is held all the same.
    pub memory: u64,
    /// Directory for what does not fit. The files there have no names where the system knows such files.
    pub aside: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// How many sequences there are.
    pub size: Size,
    /// Their alphabet.
    pub alphabet: Alphabet,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Sequences of several files, to be written in the order of a database.
#[derive(Debug)]
pub struct Sorted {
    size: Size,
    alphabet: Alphabet,
    /// From the codes that were read, if those are of another alphabet.
    recode: Option<Vec<Code>>,
    held: Vec<Held>,
    /// What was put aside, each in order.
    runs: Vec<Subjects>,
    options: MakeOptions,
}

/// Sequences of records that follow each other.
#[derive(Debug)]
struct Held {
    first: u64,
    store: SequenceStore,
}

/// Reads files of sequences as [`read_files`](crate::seq::read_files) does, but for all as if they were one file. `seen` is
/// told now and then how much was read.
///
/// # Errors
/// As [`read_files`](crate::seq::read_files), but that a file of any size is read; [`Error::Io`] if nothing can be put aside.
pub fn read_sorted<P: AsRef<Path>>(paths: &[P], options: &MakeOptions, mut seen: impl FnMut(Size)) -> Result<Sorted> {
    if paths.iter().filter(|path| is_standard(path.as_ref())).count() > 1 {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    // As where all are held: a misspelt name must not cost minutes.
    let inputs = paths.iter().map(|path| Input::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
    let (mut size, mut held, mut held_bytes, mut runs) = (Size::default(), Vec::new(), 0, Vec::new());
    let (mut names, mut duplicates, mut recorders) = (HashSet::new(), Duplicates::default(), Vec::new());
    for input in inputs {
        let mut recorder = Recorder::of_described(&options.read);
        let mut records = recorder.open(input)?;
        loop {
            let is_more = recorder.next(&mut records)?;
            let store = recorder.so_far();
            if is_more {
                let id = store.len() as SequenceId - 1;
                size.sequences += 1;
                size.symbols += u64::from(store.length(id));
                // 64 bits stand for a name: two of a billion names meet by chance in one of 37 such databases.
                if !names.insert(sum(store.name_bytes(id))) {
                    duplicates.add(store.name(id));
                }
                if size.sequences.is_multiple_of(RECORDS_A_STEP) {
                    seen(size);
                }
            }
            let is_full = held_bytes + store.memory() >= options.memory;
            if (is_full || !is_more) && !store.is_empty() {
                let store = recorder.take().0;
                held_bytes += store.memory();
                held.push(Held { first: size.sequences - store.len() as u64, store });
            }
            if is_full && is_more {
                runs.push(put_aside(std::mem::take(&mut held), options)?);
                held_bytes = 0;
            }
            if !is_more {
                break;
            }
        }
        recorders.push(recorder);
    }
    duplicates.warn(&match paths {
        [path] => Place::of_file(path).to_string(),
        _ => "the files together".to_owned(),
    });
    let (alphabet, recode) = Recorder::settle(recorders, &options.read)?;
    if !runs.is_empty() && !held.is_empty() {
        runs.push(put_aside(std::mem::take(&mut held), options)?);
    }
    Ok(Sorted { size, alphabet, recode, held, runs, options: options.clone() })
}

/// Sorts what is held into a file.
fn put_aside(held: Vec<Held>, options: &MakeOptions) -> Result<Subjects> {
    let failed = |source| Error::io(&options.aside, source);
    let file = tempfile::tempfile_in(&options.aside).map_err(failed)?;
    let alphabet = held.first().map_or(Alphabet::Protein, |held| held.store.alphabet());
    let mut writer = Writer::new(BufWriter::new(file), &options.aside, alphabet, &options.aside)?;
    write_held(&held, &mut |record, name, description, codes| writer.push(record, name, description, codes))?;
    let file: File = writer.finish()?.0.into_inner().map_err(|problem| failed(problem.into_error()))?;
    let (run, lengths) = DatabaseFile::open(&options.aside, &file)?;
    Ok(Subjects::of_file(run.of_some(), lengths))
}

/// Takes a sequence: its record, name, description and codes.
type Take<'a> = dyn FnMut(u64, &[u8], &[u8], &[Code]) -> Result<()> + 'a;

/// Goes through what is held by falling length, then by record.
fn write_held(held: &[Held], take: &mut Take<'_>) -> Result<()> {
    let count = held.iter().map(|held| held.store.len()).sum();
    let mut order: Vec<(Reverse<u32>, u32, SequenceId)> = Vec::with_capacity(count);
    for (part, held) in (0..).zip(held) {
        order.extend((0..).zip(held.store.lengths()).map(|(id, &length)| (Reverse(length), part, id)));
    }
    order.sort_unstable();
    for (_, part, id) in order {
        let Held { first, store } = &held[part as usize];
        take(first + u64::from(id), store.name_bytes(id), store.description(id), store.codes(id))?;
    }
    Ok(())
}

/// Goes through what was put aside, which is in the order of records, by falling length, then by record.
fn write_runs(runs: &[Subjects], memory: u64, take: &mut Take<'_>) -> Result<()> {
    let at_most = (memory / runs.len().max(1) as u64).max(LEAST_TAKEN);
    let mut cursors = runs.iter().map(|run| Cursor::new(run, at_most)).collect::<Result<Vec<_>>>()?;
    // The greatest comes first: the longest, of those the one of the first run.
    let mut next: BinaryHeap<(u32, Reverse<usize>)> = BinaryHeap::with_capacity(runs.len());
    next.extend(cursors.iter().enumerate().filter_map(|(run, cursor)| Some((cursor.length()?, Reverse(run)))));
    while let Some((_, Reverse(run))) = next.pop() {
        let cursor = &mut cursors[run];
        if let Some(SubjectChunk { store, .. }) = &cursor.chunk {
            let id = cursor.at;
            let record = cursor.chunk.as_ref().map_or(0, |chunk| chunk.record(id));
            take(record, store.name_bytes(id), store.description(id), store.codes(id))?;
        }
        cursor.advance()?;
        next.extend(cursor.length().map(|length| (length, Reverse(run))));
    }
    Ok(())
}

/// A place in what was put aside.
struct Cursor<'a> {
    run: &'a Subjects,
    ranges: std::vec::IntoIter<Range<u64>>,
    /// `None` at the end.
    chunk: Option<SubjectChunk>,
    at: SequenceId,
}

impl<'a> Cursor<'a> {
    fn new(run: &'a Subjects, at_most: u64) -> Result<Self> {
        let mut cursor = Cursor { run, ranges: run.ranges(at_most).into_iter(), chunk: None, at: 0 };
        cursor.next_chunk()?;
        Ok(cursor)
    }

    fn next_chunk(&mut self) -> Result<()> {
        self.at = 0;
        self.chunk = self.ranges.next().map(|range| self.run.chunk(range)).transpose()?;
        Ok(())
    }

    fn length(&self) -> Option<u32> {
        self.chunk.as_ref().map(|chunk| chunk.store.length(self.at))
    }

    fn advance(&mut self) -> Result<()> {
        self.at += 1;
        match &self.chunk {
            Some(chunk) if self.at as usize == chunk.store.len() => self.next_chunk(),
            _ => Ok(()),
        }
    }
}

impl Sorted {
    /// How much was read.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The alphabet of all.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Writes the database; `name` stands for it in errors. `step` is told now and then how many sequences are written, and
    /// may end it.
    ///
    /// # Errors
    /// [`Error::Io`] if the system fails, and what `step` returns.
    pub fn write(self, to: impl Write, name: &Path, mut step: impl FnMut(u64) -> Result<()>) -> Result<Made> {
        let Sorted { size, alphabet, recode, held, runs, options } = self;
        let mut writer = Writer::new(to, name, alphabet, &options.aside)?;
        let (mut done, mut recoded) = (0, Vec::new());
        let mut take = |record: u64, name: &[u8], description: &[u8], codes: &[Code]| {
            if done % RECORDS_A_STEP == 0 {
                step(done)?;
            }
            done += 1;
            match &recode {
                None => writer.push(record, name, description, codes),
                Some(recode) => {
                    recoded.clear();
                    recoded.extend(codes.iter().map(|&code| recode[code as usize]));
                    writer.push(record, name, description, &recoded)
                }
            }
        };
        if runs.is_empty() {
            write_held(&held, &mut take)?;
        } else {
            write_runs(&runs, options.memory, &mut take)?;
        }
        let (_, bytes) = writer.finish()?;
        Ok(Made { size, alphabet, bytes })
    }
}
