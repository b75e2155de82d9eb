//! Dereplication: groups identical reads in limited memory.
//!
//! A thread reads the files in chunks. Tables collect the different sequences. The hash of a
//! sequence selects its table, so the threads fill the tables independently. Sequences are equal
//! only if all their symbols are equal. When the tables reach the memory limit, their sequences are
//! written to a temporary file as a run, in the order of hashes, and the tables are emptied. At the
//! end, the runs are merged. This joins identical sequences of different runs. The joined sequences
//! are sorted in the order of the output, again in runs that are merged. Reads that fit into memory
//! need no temporary file.

mod item;
mod runs;
mod table;
#[cfg(test)]
mod tests;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use twox_hash::XxHash3_64;

use self::item::{DerepItem, DerepRules, push_read, reads_of_list};
use self::runs::{RunFile, RunOrder};
use self::table::{DerepTable, in_output_order};
use super::run::Run;
use crate::cluster::annotations::{WRONG_ABUNDANCE, abundance, sample};
use crate::cluster::{DifferentSequence, IdenticalRead};
use crate::engine::threads::{no_thread, thread_pool};
use crate::error::{Error, Result};
use crate::seq::{
    Alphabet, AlphabetChoice, Code, LocatedChunk, LocatedChunks, ReadOptions, SequenceId,
    has_lesser_reverse_complement, push_reverse_complement,
};

/// Default memory limit in bytes.
pub const DEFAULT_MEMORY: u64 = 2 << 30;
/// Maximum number of symbols in a chunk.
const MAX_CHUNK_SYMBOLS: u64 = 8 << 20;
/// Minimum number of symbols in a chunk.
const MIN_CHUNK_SYMBOLS: u64 = 1 << 10;
/// Number of symbols of a chunk for each of its reads.
const SYMBOLS_PER_READ: u64 = 64;
/// Maximum number of chunks that wait between the reading thread and the others.
const WAITING_CHUNKS: usize = 2;
/// Bytes of all chunks in memory for each symbol of a chunk.
const BYTES_PER_SYMBOL: u64 = 10;
/// Maximum number of tables.
const MAX_TABLES: usize = 64;
/// Number of sequences between checks for interruption.
const SEQUENCES_PER_STEP: u64 = 1 << 12;

/// Message for a sum of abundances that exceeds 64 bits.
const ABUNDANCES_TOO_LARGE: &str = "the sum of the abundances up to this read exceeds 18446744073709551615";

/// Dereplication of reads: finds the different sequences and their abundances.
///
/// Names can state abundances (`;size=12`) and samples (`;sample=A` or `;barcodelabel=A`). Case,
/// and U or T, make no difference. The sequences are ordered by abundance (descending), length
/// (descending) and symbols. The result does not depend on the order of the reads, the number of
/// threads or the memory limit.
///
/// ```
/// use pairwave::{Dereplication, Run};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("reads.fa");
/// std::fs::write(&path, ">a\nACGT\n>b;size=3\nTTTT\n>c\nacgu\n").unwrap();
/// let mut names = Vec::new();
/// let summary = Dereplication::new(&[path]).run(&Run::default(), |sequence| {
///     names.push(String::from_utf8(sequence.annotated_name()).unwrap());
///     Ok(())
/// })?;
/// assert_eq!(names, ["b;size=3", "a;size=2"]);
/// assert_eq!((summary.reads, summary.sequences, summary.abundance), (3, 2, 5));
/// # Ok::<(), pairwave::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dereplication {
    /// Files of reads in FASTA or FASTQ, plain or compressed; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Alphabet of the reads.
    pub alphabet: Alphabet,
    /// Whether to remove gap signs from aligned reads instead of refusing them.
    pub degap: bool,
    /// Whether a read is identical to its reverse complement.
    pub both_strands: bool,
    /// Whether equal reads of different samples are separate sequences.
    pub by_sample: bool,
    /// Whether each sequence comes with the names of all its reads. All names of one sequence must
    /// fit into memory, also beyond the limit.
    pub lists_reads: bool,
    /// Minimum abundance of the sequences that are passed on.
    pub min_size: NonZeroU64,
    /// Approximate limit of memory for reads in bytes.
    pub memory: u64,
    /// Directory for temporary files. On systems that support it, these files have no names.
    pub directory: PathBuf,
}

/// Counts and time of a finished dereplication.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DerepSummary {
    /// Number of reads.
    pub reads: u64,
    /// Number of different sequences.
    pub sequences: u64,
    /// Sum of the abundances of all reads.
    pub abundance: u64,
    /// Number of sequences that reach the minimum abundance.
    pub written: u64,
    /// Number of bytes written to temporary files.
    pub temporary_bytes: u64,
    /// Duration.
    pub seconds: f64,
}

impl Dereplication {
    /// Creates a job for files of nucleotides with the default options.
    pub fn new<P: AsRef<Path>>(inputs: &[P]) -> Self {
        Dereplication {
            inputs: inputs.iter().map(|path| path.as_ref().to_owned()).collect(),
            alphabet: Alphabet::Dna,
            degap: false,
            both_strands: false,
            by_sample: false,
            lists_reads: false,
            min_size: NonZeroU64::MIN,
            memory: DEFAULT_MEMORY,
            directory: std::env::temp_dir(),
        }
    }

    /// Reads all files, and passes the different sequences to `take` in order.
    ///
    /// # Errors
    /// Returns the errors of [`Dereplication::read`], [`DereplicatedReads::write`] and `take`.
    pub fn run(&self, run: &Run, take: impl FnMut(&DifferentSequence<'_>) -> Result<()>) -> Result<DerepSummary> {
        self.read(run)?.write(run, take)
    }

    /// Reads all files. `run` gives the threads and receives the number of reads as pairs. Only the
    /// end of the process interrupts the reading.
    ///
    /// # Errors
    /// Returns the errors of [`read_files`](crate::seq::read_files), except that files of any size
    /// are read. Returns [`Error::Input`] with the location for a name with a wrong abundance,
    /// [`Error::Usage`] if both strands of proteins are requested, and [`Error::Io`] if temporary
    /// files cannot be written.
    pub fn read(&self, run: &Run) -> Result<DereplicatedReads> {
        let start = Instant::now();
        if self.both_strands && self.alphabet != Alphabet::Dna {
            return Err(Error::usage_of("strand", format!("{} have only one strand", self.alphabet.letters())));
        }
        let options =
            ReadOptions { alphabet: AlphabetChoice::Fixed(self.alphabet), degap: self.degap, ..ReadOptions::default() };
        let chunks = LocatedChunks::open(&self.inputs, &options)?;
        let mut reads = DereplicatedReads::new(self, thread_pool(run.threads)?, start);
        let budget = DerepBudget::new(self.memory);
        let is_single = reads.pool.current_num_threads() == 1;
        for_each_chunk(chunks, &budget, is_single, |chunk| {
            reads.add(&chunk)?;
            run.progress.advance(chunk.store.len() as u64, 0);
            if reads.memory() >= budget.tables { reads.write_run() } else { Ok(()) }
        })?;
        if reads.runs.is_some() && reads.tables.iter().any(|table| table.len() > 0) {
            reads.write_run()?;
        }
        Ok(reads)
    }
}

/// Shares of the memory limit.
struct DerepBudget {
    chunk_reads: usize,
    chunk_symbols: u64,
    /// Bytes of the tables while reads are read.
    tables: u64,
}

impl DerepBudget {
    fn new(memory: u64) -> Self {
        let chunk_symbols = (memory / 32).clamp(MIN_CHUNK_SYMBOLS, MAX_CHUNK_SYMBOLS);
        DerepBudget {
            chunk_reads: (chunk_symbols / SYMBOLS_PER_READ) as usize,
            chunk_symbols,
            tables: memory.saturating_sub(chunk_symbols * BYTES_PER_SYMBOL),
        }
    }
}

/// Passes all chunks to `take`. They are read on a thread of their own, unless only one thread is
/// allowed.
fn for_each_chunk(
    mut chunks: LocatedChunks,
    budget: &DerepBudget,
    is_single: bool,
    mut take: impl FnMut(LocatedChunk) -> Result<()>,
) -> Result<()> {
    let (reads, symbols) = (budget.chunk_reads, budget.chunk_symbols);
    if is_single {
        while let Some(chunk) = chunks.next(reads, symbols)? {
            take(chunk)?;
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING_CHUNKS);
        let read = move || loop {
            let chunk = chunks.next(reads, symbols);
            let is_last = !matches!(chunk, Ok(Some(_)));
            if sender.send(chunk).is_err() || is_last {
                break;
            }
        };
        thread::Builder::new().spawn_scoped(scope, read).map_err(|error| no_thread(&error.to_string()))?;
        // If the thread panics, the channel closes, and the scope passes the panic on.
        while let Some(chunk) = receiver.recv().unwrap_or(Ok(None))? {
            take(chunk)?;
        }
        Ok(())
    })
}

/// Different sequences of all reads, in memory or in a temporary file.
#[derive(Debug)]
pub struct DereplicatedReads {
    rules: DerepRules,
    both_strands: bool,
    lists_reads: bool,
    min_size: NonZeroU64,
    memory: u64,
    directory: PathBuf,
    pool: Arc<rayon::ThreadPool>,
    /// Tables by the upper bits of the hashes. Their number is a power of two.
    tables: Vec<DerepTable>,
    /// Runs in the order of hashes, if the memory limit was reached.
    runs: Option<RunFile>,
    reads: u64,
    abundance: u64,
    start: Instant,
}

/// Values of a read that its table needs.
#[derive(Debug, Clone, Copy)]
struct ReadKey {
    hash: u64,
    /// Abundance; 0 for a wrong one.
    abundance: u64,
    /// Whether the reverse complement represents the read in its table.
    is_minus: bool,
}

/// Returns the codes that represent a read in its table.
fn table_codes<'a>(codes: &'a [Code], is_minus: bool, scratch: &'a mut Vec<Code>) -> &'a [Code] {
    if !is_minus {
        return codes;
    }
    scratch.clear();
    push_reverse_complement(codes, scratch);
    scratch
}

impl DereplicatedReads {
    fn new(job: &Dereplication, pool: Arc<rayon::ThreadPool>, start: Instant) -> Self {
        let rules = DerepRules { alphabet: job.alphabet, by_sample: job.by_sample };
        let tables = pool.current_num_threads().next_power_of_two().min(MAX_TABLES);
        DereplicatedReads {
            rules,
            both_strands: job.both_strands,
            lists_reads: job.lists_reads,
            min_size: job.min_size,
            memory: job.memory,
            directory: job.directory.clone(),
            pool,
            tables: (0..tables).map(|_| DerepTable::new(rules)).collect(),
            runs: None,
            reads: 0,
            abundance: 0,
            start,
        }
    }

    /// Returns the bytes of memory that the tables use.
    fn memory(&self) -> u64 {
        self.tables.iter().map(DerepTable::memory).fold(0, u64::saturating_add)
    }

    /// Adds the reads of a chunk to the tables.
    fn add(&mut self, chunk: &LocatedChunk) -> Result<()> {
        let ids = 0..chunk.store.len() as SequenceId;
        let keys: Vec<ReadKey> = self.pool.install(|| {
            let ids = ids.into_par_iter();
            ids.map_init(Vec::new, |scratch, id| self.key(chunk, id, scratch)).collect()
        });
        if let Some(id) = keys.iter().position(|key| key.abundance == 0) {
            return Err(Error::Input { location: chunk.location(id as SequenceId), message: WRONG_ABUNDANCE.into() });
        }
        self.reads += keys.len() as u64;
        for (id, key) in (0..).zip(&keys) {
            let sum = self.abundance.checked_add(key.abundance);
            let too_large = || Error::Input { location: chunk.location(id), message: ABUNDANCES_TOO_LARGE.into() };
            self.abundance = sum.ok_or_else(too_large)?;
        }
        let bits = u64::BITS - self.tables.len().ilog2();
        let lists_reads = self.lists_reads;
        let fill = |(number, table): (usize, &mut DerepTable)| {
            let (mut scratch, mut list) = (Vec::new(), Vec::new());
            for (id, key) in (0..).zip(&keys) {
                if key.hash.checked_shr(bits).unwrap_or(0) != number as u64 {
                    continue;
                }
                let name = chunk.store.name_bytes(id);
                if lists_reads {
                    list.clear();
                    push_read(&mut list, name, key.abundance, key.is_minus);
                }
                let item = DerepItem {
                    hash: key.hash,
                    size: key.abundance,
                    greatest_size: key.abundance,
                    codes: table_codes(chunk.store.codes(id), key.is_minus, &mut scratch),
                    is_minus: key.is_minus,
                    name,
                    respelled: chunk.respelled(id),
                };
                table.add(&item, &list);
            }
        };
        let tables = &mut self.tables;
        self.pool.install(|| tables.par_iter_mut().enumerate().for_each(fill));
        Ok(())
    }

    fn key(&self, chunk: &LocatedChunk, id: SequenceId, scratch: &mut Vec<Code>) -> ReadKey {
        let (codes, name) = (chunk.store.codes(id), chunk.store.name_bytes(id));
        let is_minus = self.both_strands && has_lesser_reverse_complement(codes);
        let seed = if self.rules.by_sample { XxHash3_64::oneshot(sample(name)) } else { 0 };
        let hash = XxHash3_64::oneshot_with_seed(seed, table_codes(codes, is_minus, scratch));
        ReadKey { hash, abundance: abundance(name).unwrap_or(0), is_minus }
    }

    /// Writes the sequences of all tables to a run in the order of hashes, and empties the tables.
    fn write_run(&mut self) -> Result<()> {
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(RunFile::new(&self.directory)?),
        };
        let tables = &self.tables;
        let orders: Vec<_> = self.pool.install(|| tables.par_iter().map(DerepTable::in_hash_order).collect());
        runs.add(|out| {
            let mut tables = tables.iter().zip(orders);
            tables.try_for_each(|(table, order)| order.into_iter().try_for_each(|entry| table.write(entry, out)))
        })?;
        self.tables.iter_mut().for_each(DerepTable::clear);
        Ok(())
    }

    /// Passes the different sequences that reach the minimum abundance to `take`, in order. `run`
    /// gives the interrupt flag and receives the steps.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if temporary files cannot be written or read, [`Error::Interrupted`],
    /// and the errors of `take`.
    pub fn write(mut self, run: &Run, take: impl FnMut(&DifferentSequence<'_>) -> Result<()>) -> Result<DerepSummary> {
        let mut passed = PassedSequences { rules: self.rules, run, written: 0, total: 0, take };
        let (sequences, temporary_bytes) = match self.runs.take() {
            None => (self.write_tables(&mut passed)?, 0),
            Some(runs) => {
                self.tables.clear();
                self.write_runs(runs, &mut passed)?
            }
        };
        Ok(DerepSummary {
            reads: self.reads,
            sequences,
            abundance: self.abundance,
            written: passed.written,
            temporary_bytes,
            seconds: self.start.elapsed().as_secs_f64(),
        })
    }

    /// Passes on the sequences of the tables. Returns the number of different sequences.
    fn write_tables<F>(&self, passed: &mut PassedSequences<'_, F>) -> Result<u64>
    where
        F: FnMut(&DifferentSequence<'_>) -> Result<()>,
    {
        let keys = self.pool.install(|| in_output_order(&self.tables, self.rules, self.min_size.get()));
        passed.total = keys.len() as u64;
        for key in keys {
            let table = &self.tables[key.table as usize];
            passed.pass(table.item(key.entry), table.reads(key.entry))?;
        }
        Ok(self.tables.iter().map(|table| table.len() as u64).sum())
    }

    /// Passes on the sequences of runs in the order of hashes. Returns the number of different
    /// sequences, and of bytes in temporary files.
    fn write_runs<F>(&self, runs: RunFile, passed: &mut PassedSequences<'_, F>) -> Result<(u64, u64)>
    where
        F: FnMut(&DifferentSequence<'_>) -> Result<()>,
    {
        let (sorted, sequences) = self.sort(&runs, passed.run)?;
        let bytes = runs.bytes() + sorted.bytes();
        // Frees the space of the first file.
        drop(runs);
        passed.total = sequences;
        sorted
            .merge(self.memory, RunOrder::Output, self.rules, |item, list| passed.pass(item, std::iter::once(list)))?;
        Ok((sequences, bytes))
    }

    /// Joins identical sequences of all runs. Returns runs in the order of the output, and the
    /// number of different sequences.
    fn sort(&self, runs: &RunFile, run: &Run) -> Result<(RunFile, u64)> {
        let mut sorted = RunFile::new(&self.directory)?;
        let mut tables = [DerepTable::new(self.rules)];
        let (limit, mut sequences) = (self.memory / 4 * 3, 0u64);
        runs.merge(self.memory / 4, RunOrder::Hash, self.rules, |item, list| {
            let [table] = &mut tables;
            if !table.ends_with(&item) {
                table.pop_below(self.min_size.get());
                if sequences.is_multiple_of(SEQUENCES_PER_STEP) {
                    run.check_interrupt()?;
                }
                sequences += 1;
                if table.len() > 0 && table.memory() >= limit {
                    self.write_sorted_run(&tables, &mut sorted)?;
                    tables[0].clear();
                }
            }
            tables[0].add_in_order(&item, list);
            Ok(())
        })?;
        tables[0].pop_below(self.min_size.get());
        self.write_sorted_run(&tables, &mut sorted)?;
        Ok((sorted, sequences))
    }

    fn write_sorted_run(&self, tables: &[DerepTable], sorted: &mut RunFile) -> Result<()> {
        let keys = self.pool.install(|| in_output_order(tables, self.rules, self.min_size.get()));
        sorted.add(|out| keys.iter().try_for_each(|key| tables[key.table as usize].write(key.entry, out)))
    }
}

/// Sequences on their way to a callback.
struct PassedSequences<'a, F> {
    rules: DerepRules,
    run: &'a Run,
    written: u64,
    /// Number of sequences, if it is known.
    total: u64,
    take: F,
}

impl<F: FnMut(&DifferentSequence<'_>) -> Result<()>> PassedSequences<'_, F> {
    /// Passes on a sequence. `lists` contains its reads.
    fn pass<'i>(&mut self, item: DerepItem<'i>, lists: impl Iterator<Item = &'i [u8]>) -> Result<()> {
        if self.written.is_multiple_of(SEQUENCES_PER_STEP) {
            self.run.check_interrupt()?;
            self.run.progress.step("writing", self.written, self.total);
        }
        self.written += 1;
        let mut reads: Vec<IdenticalRead<'i>> = lists.flat_map(|list| reads_of_list(list, item.is_minus)).collect();
        reads.sort_unstable_by(|a, b| (b.abundance, a.name, a.strand).cmp(&(a.abundance, b.name, b.strand)));
        (self.take)(&DifferentSequence {
            name: item.name,
            abundance: item.size,
            letters: &item.letters(self.rules.alphabet),
            is_of_one_sample: self.rules.by_sample,
            reads: &reads,
        })
    }
}
