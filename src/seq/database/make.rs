//! Creation of databases from files of sequences that need not fit into memory.
//!
//! When the sequences read so far fill their share of the memory limit, they are sorted and written
//! to a temporary file as a run ([`Runs`]). The runs are merged at the end. The required memory
//! does not grow with the number of records.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::layout::sum;
use super::runs::{Runs, SortKey};
use super::subjects::SequenceTotals;
use super::writer::DatabaseWriter;
use crate::error::{Error, InputLocation, Result};
use crate::seq::alphabet::{Alphabet, Code};
use crate::seq::input::{SequenceInput, is_standard};
use crate::seq::reader::{Duplicates, NAMED_DUPLICATES, ReadOptions, Recorder};
use crate::seq::store::{SequenceId, SequenceStore};

/// Number of records between reports of progress.
const RECORDS_PER_STEP: u64 = 1 << 12;

/// Parameters for making a database.
#[derive(Debug, Clone)]
pub struct MakeOptions {
    /// Options for reading the inputs.
    pub read: ReadOptions,
    /// Approximate limit of memory in bytes, for any number of sequences. A single sequence that is
    /// longer than this limit is held in memory nevertheless.
    pub memory: u64,
    /// Directory for temporary files. On systems that support it, these files have no names.
    pub scratch_directory: PathBuf,
}

/// Summary of a written database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSummary {
    /// Numbers of sequences and symbols.
    pub size: SequenceTotals,
    /// Alphabet of the sequences.
    pub alphabet: Alphabet,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// Sequences of several files, ready to be written in the order of a database.
#[derive(Debug)]
pub struct Sorted {
    size: SequenceTotals,
    alphabet: Alphabet,
    /// Conversion from the codes that were read, if those are in another alphabet.
    recode: Option<Vec<Code>>,
    held: Vec<HeldSequences>,
    /// Sorted sequences in temporary files.
    runs: Runs,
    repeated: Repeated,
    /// Name of the input, for the warning about repeated names.
    source: String,
    options: MakeOptions,
}

/// Sequences of consecutive records.
#[derive(Debug)]
struct HeldSequences {
    first: u64,
    store: SequenceStore,
}

/// Sort key of a sequence in a database. In a run, the name, the description and the codes follow
/// the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct SequenceKey {
    /// Increases as the length decreases.
    shortness: u64,
    record: u64,
    name: u64,
    description: u64,
}

impl SequenceKey {
    fn length(&self) -> u64 {
        u64::MAX - self.shortness
    }
}

impl SortKey for SequenceKey {
    fn payload(&self) -> u64 {
        self.length() + self.name + self.description
    }
}

/// Shares of the memory limit.
struct Budget {
    /// Bytes for the sequences of a run.
    sequences: u64,
    /// Bytes for the hashes of names in a run.
    names: u64,
    /// Bytes for the read buffers of merged runs.
    merged: u64,
    /// Bytes for the database sections that are buffered until the codes are written.
    waiting: u64,
}

impl Budget {
    fn new(memory: u64) -> Self {
        let eighth = memory / 8;
        Budget { sequences: 5 * eighth, names: eighth, merged: eighth, waiting: eighth }
    }
}

/// Reads files of sequences like [`read_files`](crate::seq::read_files), but as if they were a
/// single file. `seen` is called from time to time with the totals so far.
///
/// # Errors
/// Returns the errors of [`read_files`](crate::seq::read_files), except that files of any size are
/// read. Returns [`Error::Io`] if temporary files cannot be written.
pub fn read_sorted<P: AsRef<Path>>(
    paths: &[P],
    options: &MakeOptions,
    mut seen: impl FnMut(SequenceTotals),
) -> Result<Sorted> {
    if paths.iter().filter(|path| is_standard(path.as_ref())).count() > 1 {
        return Err(Error::usage("standard input ('-') can be read only once"));
    }
    // All inputs are opened first, so that a misspelt name is reported at once.
    let inputs = paths.iter().map(|path| SequenceInput::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
    let budget = Budget::new(options.memory);
    let (mut size, mut held, mut held_bytes) = (SequenceTotals::default(), Vec::new(), 0);
    let mut runs = Runs::new(&options.scratch_directory, budget.merged);
    let (mut names, mut recorders) = (NameSums::new(&options.scratch_directory, &budget), Vec::new());
    for input in inputs {
        let mut recorder = Recorder::keeping_descriptions(&options.read);
        let mut records = recorder.open(input)?;
        loop {
            let is_more = recorder.next(&mut records)?;
            let store = recorder.records_so_far();
            if is_more {
                let id = store.len() as SequenceId - 1;
                names.add(store.name_bytes(id), size.sequences)?;
                size.sequences += 1;
                size.symbols += u64::from(store.length(id));
                if size.sequences.is_multiple_of(RECORDS_PER_STEP) {
                    seen(size);
                }
            }
            let is_full = held_bytes + held_memory(store) >= budget.sequences;
            if (is_full || !is_more) && !store.is_empty() {
                let store = recorder.take().0;
                held_bytes += held_memory(&store);
                held.push(HeldSequences { first: size.sequences - store.len() as u64, store });
            }
            if is_full && is_more {
                write_run(&std::mem::take(&mut held), &mut runs)?;
                held_bytes = 0;
            }
            if !is_more {
                break;
            }
        }
        recorders.push(recorder);
    }
    let (alphabet, recode) = Recorder::decide_alphabet(recorders, &options.read)?;
    if !runs.is_empty() && !held.is_empty() {
        write_run(&std::mem::take(&mut held), &mut runs)?;
    }
    let source = match paths {
        [path] => InputLocation::in_file(path).to_string(),
        _ => "the files together".to_owned(),
    };
    let repeated = names.repeated()?;
    Ok(Sorted { size, alphabet, recode, held, runs, repeated, source, options: options.clone() })
}

/// Returns the number of bytes that the sequences of a store and their sort keys occupy.
fn held_memory(store: &SequenceStore) -> u64 {
    store.memory() + (store.len() * size_of::<HeldKey>()) as u64
}

/// Writes the held sequences to a run, in order.
fn write_run(held: &[HeldSequences], runs: &mut Runs) -> Result<()> {
    runs.add::<SequenceKey>(|run| {
        write_held(held, &mut |record, name, description, codes| {
            let shortness = u64::MAX - codes.len() as u64;
            let key = SequenceKey { shortness, record, name: name.len() as u64, description: description.len() as u64 };
            run.push(&key, &[name, description, codes])
        })
    })
}

/// Hashes of the records' names, to find names that occur more than once.
struct NameSums {
    /// Hashes and records that are not in a run yet.
    held: Vec<NameKey>,
    most_held: usize,
    runs: Runs,
}

/// The hash of a name, and its record. Two of a billion different names have the same 64-bit hash
/// with a probability of 1 in 37.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct NameKey {
    hash: u64,
    record: u64,
}

impl SortKey for NameKey {
    fn payload(&self) -> u64 {
        0
    }
}

/// Records with the name of an earlier record.
#[derive(Debug, Default)]
struct Repeated {
    records: u64,
    /// For each repeated name, the first record that repeats it, in increasing order. Contains at
    /// most [`NAMED_DUPLICATES`] + 1 records.
    first: Vec<u64>,
}

impl NameSums {
    fn new(scratch_directory: &Path, budget: &Budget) -> Self {
        let most_held = (budget.names as usize / size_of::<NameKey>()).max(1);
        NameSums { held: Vec::new(), most_held, runs: Runs::new(scratch_directory, budget.merged) }
    }

    fn add(&mut self, name: &[u8], record: u64) -> Result<()> {
        if self.held.len() == self.most_held {
            self.write_run()?;
        }
        self.held.push(NameKey { hash: sum(name), record });
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        self.held.sort_unstable();
        self.runs.add::<NameKey>(|run| self.held.iter().try_for_each(|key| run.push(key, &[])))?;
        self.held.clear();
        Ok(())
    }

    fn repeated(mut self) -> Result<Repeated> {
        let (mut repeated, mut last, mut is_first) = (Repeated::default(), None, true);
        let mut take = |key: NameKey| {
            if last != Some(key.hash) {
                (last, is_first) = (Some(key.hash), true);
                return;
            }
            repeated.records += 1;
            if std::mem::take(&mut is_first) {
                let index = repeated.first.partition_point(|&record| record < key.record);
                repeated.first.insert(index, key.record);
                repeated.first.truncate(NAMED_DUPLICATES + 1);
            }
        };
        if self.runs.is_empty() {
            self.held.sort_unstable();
            self.held.into_iter().for_each(take);
        } else {
            self.write_run()?;
            self.runs.merge(|key, _| {
                take(key);
                Ok(())
            })?;
        }
        Ok(repeated)
    }
}

/// A callback for a sequence: its record, name, description and codes.
type Take<'a> = dyn FnMut(u64, &[u8], &[u8], &[Code]) -> Result<()> + 'a;

/// Sort key of a sequence in memory: its length, the index of its [`HeldSequences`], and its id
/// there.
type HeldKey = (Reverse<u32>, u32, SequenceId);

/// Passes all sequences in memory to `take`, sorted by decreasing length and then by record.
fn write_held(held: &[HeldSequences], take: &mut Take<'_>) -> Result<()> {
    let count = held.iter().map(|held| held.store.len()).sum();
    let mut order: Vec<HeldKey> = Vec::with_capacity(count);
    for (part, held) in (0..).zip(held) {
        order.extend((0..).zip(held.store.lengths()).map(|(id, &length)| (Reverse(length), part, id)));
    }
    order.sort_unstable();
    for (_, part, id) in order {
        let HeldSequences { first, store } = &held[part as usize];
        take(first + u64::from(id), store.name_bytes(id), store.description(id), store.codes(id))?;
    }
    Ok(())
}

/// Passes all sequences of the runs to `take`, sorted by decreasing length and then by record.
fn write_runs(runs: Runs, take: &mut Take<'_>) -> Result<()> {
    let (mut bytes, scratch_directory) = (Vec::new(), runs.scratch_directory().to_owned());
    runs.merge(|key: SequenceKey, payload| {
        bytes.clear();
        payload.read_to_end(&mut bytes).map_err(|source| Error::io(&scratch_directory, source))?;
        if bytes.len() as u64 != key.payload() {
            return Err(Error::io(&scratch_directory, io::ErrorKind::UnexpectedEof.into()));
        }
        let (name, rest) = bytes.split_at(key.name as usize);
        let (description, codes) = rest.split_at(key.description as usize);
        take(key.record, name, description, codes)
    })
}

impl Sorted {
    /// Returns the numbers of sequences and symbols that were read.
    pub fn size(&self) -> SequenceTotals {
        self.size
    }

    /// Returns the alphabet of all sequences.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Writes the database. Errors name it `name`. `step` is called from time to time with the
    /// number of written sequences, and can stop the writing by returning an error. One warning
    /// lists names that occur more than once.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails, and the errors of `step`.
    pub fn write(
        self,
        to: impl Write,
        name: impl AsRef<Path>,
        mut step: impl FnMut(u64) -> Result<()>,
    ) -> Result<DatabaseSummary> {
        let Sorted { size, alphabet, recode, held, runs, repeated, source, options } = self;
        let waiting = Budget::new(options.memory).waiting;
        let mut writer = DatabaseWriter::new(to, name.as_ref(), alphabet, &options.scratch_directory, waiting)?;
        let (mut done, mut recoded) = (0, Vec::new());
        let mut names = vec![String::new(); repeated.first.len()];
        let mut take = |record: u64, name: &[u8], description: &[u8], codes: &[Code]| {
            if done % RECORDS_PER_STEP == 0 {
                step(done)?;
            }
            done += 1;
            if let Ok(index) = repeated.first.binary_search(&record) {
                names[index] = String::from_utf8_lossy(name).into_owned();
            }
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
            write_runs(runs, &mut take)?;
        }
        Duplicates::new(repeated.records, names).warn(&source);
        let (_, bytes) = writer.finish()?;
        Ok(DatabaseSummary { size, alphabet, bytes })
    }
}
