//! `pairwave makedb` and `pairwave dbinfo`: validated options, and the work.

mod entries;

use self::entries::EntryNames;
use super::args::{DbInfoArgs, MakeDbArgs};
use super::common::{check_temporary, output};
use super::endings;
use super::progress::ProgressDisplay;
use super::runner::results;
use super::{interrupt, log, size};
use indicatif::HumanCount;
use pairwave::error::InputLocation;
use pairwave::jobs::Progress as _;
use pairwave::output::{Output, OutputGroup, push_fasta_header, push_fasta_letters};
use pairwave::seq::database::{MakeOptions, SequenceTotals, VERSION, read_sorted};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, SequenceId, SequenceStore, Subjects};
use pairwave::{Error, Result};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Default memory for sequences, in bytes.
const MEMORY: u64 = 1 << 30;
/// Bytes of sequences that are verified at a time.
const CHECKED_AT_ONCE: u64 = 64 << 20;

/// Validated options of `pairwave makedb`.
#[derive(Debug)]
pub(super) struct MakeDb {
    /// Files of sequences; `-` is standard input.
    seqs: Vec<PathBuf>,
    output: PathBuf,
    read: ReadOptions,
    memory: u64,
}

impl TryFrom<MakeDbArgs> for MakeDb {
    type Error = Error;

    fn try_from(args: MakeDbArgs) -> Result<Self> {
        let inputs: Vec<&Path> = args.seqs.iter().map(PathBuf::as_path).collect();
        let Some(output) = output(args.output.output, &inputs)? else {
            return Err(Error::usage("--output -: a database is mapped into memory, so it must be a file"));
        };
        endings::check_plain("--output", Some(&output))?;
        endings::check("makedb", "--output", Some(&output), "database")?;
        let read = ReadOptions::from(args.letters);
        if read.alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) {
            return Err(Error::usage("--alphabet bytes: a database holds DNA, RNA or proteins"));
        }
        let memory = args.memory.as_deref().map(|text| size::bytes_of_option("--memory", text)).transpose()?;
        Ok(MakeDb { seqs: args.seqs, output, read, memory: memory.unwrap_or(MEMORY) })
    }
}

impl MakeDb {
    /// Returns the directory for sorted parts that do not fit in memory: the directory of the
    /// output, which must have space anyway.
    fn scratch_directory(&self) -> PathBuf {
        // For a symbolic link, this is the directory of its target.
        let output = self.output.canonicalize().unwrap_or_else(|_| self.output.clone());
        match output.parent() {
            _ if output.metadata().is_ok_and(|file| !file.is_file()) => std::env::temp_dir(),
            Some(directory) if directory != Path::new("") => directory.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

/// Makes a database. With `quiet`, prints only errors on standard error.
pub(super) fn make(job: &MakeDb, quiet: bool) -> Result<()> {
    let begin = Instant::now();
    Output::check(&job.output)?;
    if job.scratch_directory() == std::env::temp_dir() {
        check_temporary()?;
    }
    let options =
        MakeOptions { read: job.read.clone(), memory: job.memory, scratch_directory: job.scratch_directory() };
    let progress = ProgressDisplay::start_sequences(quiet);
    let mut before = 0;
    let sorted = read_sorted(&job.seqs, &options, |size| {
        progress.advance(size.sequences - before, 0);
        before = size.sequences;
    })?;
    // Interrupts are watched from here on. While input is read, an interrupt ends the process, and
    // there are no files to remove.
    let interrupted = interrupt::watch();
    let all = sorted.size().sequences;
    let mut output = Output::create(&job.output)?;
    let made = sorted.write(Through(&mut output), &job.output, |done| {
        progress.step("writing", done, all);
        check_interrupted(&interrupted)
    })?;
    output.finish()?;
    drop(progress);
    if !quiet {
        log::line(&format!(
            "{} of {} in {:.3} s: {} bytes",
            format_totals(made.size),
            made.alphabet.letters(),
            begin.elapsed().as_secs_f64(),
            HumanCount(made.bytes)
        ));
    }
    Ok(())
}

fn check_interrupted(interrupted: &AtomicBool) -> Result<()> {
    if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

fn format_totals(size: SequenceTotals) -> String {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    format!(
        "{} sequence{}, {} symbol{}",
        HumanCount(size.sequences),
        plural(size.sequences),
        HumanCount(size.symbols),
        plural(size.symbols)
    )
}

/// Output as a stream.
struct Through<'a>(&'a mut Output);

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.buffer().extend_from_slice(bytes);
        match self.0.pass_on() {
            Ok(()) => Ok(bytes.len()),
            Err(Error::Io { source, .. }) => Err(source),
            Err(Error::OutputClosed) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(other) => Err(io::Error::other(other.to_string())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Validated options of `pairwave dbinfo`.
#[derive(Debug)]
pub(super) struct DbInfo {
    db: PathBuf,
    verify: bool,
    json: bool,
    fasta: bool,
    /// Records to write as FASTA; `None` if none is named.
    entries: Option<EntryNames>,
    /// Output file; `None` is standard output.
    output: Option<PathBuf>,
}

impl TryFrom<DbInfoArgs> for DbInfo {
    type Error = Error;

    fn try_from(args: DbInfoArgs) -> Result<Self> {
        let inputs: Vec<&Path> = std::iter::once(args.db.as_path()).chain(args.entries.as_deref()).collect();
        let output = output(args.output.output, &inputs)?;
        let has_entries = !args.entry.is_empty() || args.entries.is_some();
        let written = match (args.fasta, args.written.json) {
            (true, _) => "--fasta",
            (_, true) => "--json",
            _ if has_entries => "--entry",
            _ => "text",
        };
        endings::check("dbinfo", "--output", output.as_deref(), written)?;
        let entries = has_entries.then_some(EntryNames { names: args.entry, list: args.entries });
        Ok(DbInfo { db: args.db, verify: args.verify, json: args.written.json, fasta: args.fasta, entries, output })
    }
}

/// Description of a database.
#[derive(Debug, Serialize)]
struct DatabaseFacts {
    alphabet: Alphabet,
    sequences: u64,
    symbols: u64,
    shortest: u32,
    longest: u32,
    bytes: u64,
    version: u32,
    /// Whether the whole database was read and found intact.
    verified: bool,
}

impl DatabaseFacts {
    fn lines(&self) -> String {
        let count = |number: u64| HumanCount(number).to_string();
        let mean = self.symbols as f64 / self.sequences.max(1) as f64;
        let mut rows = vec![
            ("kind", self.alphabet.letters().to_owned()),
            ("sequences", count(self.sequences)),
            ("symbols", count(self.symbols)),
            ("lengths", format!("{} to {}, {mean:.1} on average", self.shortest, self.longest)),
            ("bytes", count(self.bytes)),
            ("version", self.version.to_string()),
        ];
        if self.verified {
            rows.push(("verified", "the database is intact".to_owned()));
        }
        rows.iter().map(|(name, value)| format!("{name:<11}{value}\n")).collect()
    }
}

/// Describes, verifies or exports a database.
pub(super) fn info(job: &DbInfo, quiet: bool) -> Result<()> {
    let subjects = Subjects::open(&job.db, &ReadOptions::default())?;
    let Some(bytes) = subjects.file_bytes() else {
        return Err(Error::Input {
            location: InputLocation::in_file(&job.db),
            message: "this is a file of sequences, not a database of 'pairwave makedb'".to_owned(),
        });
    };
    if job.verify {
        subjects.chunks(CHECKED_AT_ONCE).try_for_each(|chunk| chunk.map(drop))?;
    }
    let entries = job.entries.as_ref().map(|entries| entries.find(&job.db, &subjects)).transpose()?;
    let interrupted = interrupt::watch();
    let outputs = OutputGroup::default();
    let mut output = results(job.output.as_deref(), &outputs, quiet)?;
    if let Some(entries) = entries {
        for index in entries {
            check_interrupted(&interrupted)?;
            write_fasta(&subjects.chunk(index..index + 1)?.store, 0, output.buffer());
            output.pass_on()?;
        }
    } else if job.fasta {
        subjects.in_input_order(|store, id| {
            check_interrupted(&interrupted)?;
            write_fasta(store, id, output.buffer());
            output.pass_on()
        })?;
    } else {
        let (size, lengths) = (subjects.size(), subjects.lengths());
        let facts = DatabaseFacts {
            alphabet: subjects.alphabet(),
            sequences: size.sequences,
            symbols: size.symbols,
            shortest: *lengths.start(),
            longest: *lengths.end(),
            bytes,
            version: VERSION,
            verified: job.verify,
        };
        if job.json {
            serde_json::to_writer_pretty(output.buffer(), &facts)
                .map_err(|error| Error::Internal(format!("the description cannot be written as JSON: {error}")))?;
            output.buffer().push(b'\n');
        } else {
            output.buffer().extend_from_slice(facts.lines().as_bytes());
        }
    }
    subjects.check_unchanged()?;
    output.finish()?;
    outputs.publish()
}

fn write_fasta(store: &SequenceStore, id: SequenceId, out: &mut Vec<u8>) {
    push_fasta_header(store.name_bytes(id), store.description(id), out);
    push_fasta_letters(store.alphabet(), store.codes(id), out);
}
