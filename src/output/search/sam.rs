//! SAM of a search. Its header names the sequences that were found, in the order in which they were found first: naming all of
//! a database would take longer than the search. As they are known in the end, lines are kept until then, in a temporary
//! file if they are many.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;

use super::{All, Body, SearchContext, SearchHit};
use crate::error::{Error, Result};
use crate::output::Output;
use crate::output::sam::{Sam as Pairs, check_name, push_header};
use crate::seq::{SequenceId, SequenceStore};

/// Bytes of lines that are kept in memory.
const IN_MEMORY: usize = 64 << 20;
/// Bytes that are read back at once.
const PIECE: usize = 1 << 17;

pub(super) struct Sam {
    command: String,
    pairs: Pairs,
    lines: Output,
    spool: Spool,
    /// Names and lengths of sequences that were found.
    references: Vec<(String, u32)>,
    /// The records that have these names.
    records: HashMap<String, u64>,
}

impl Sam {
    pub(super) fn new(command: &str, queries: &SequenceStore) -> Result<Self> {
        let spool = Spool(Arc::new(Mutex::new(SpooledTempFile::new(IN_MEMORY))));
        Ok(Sam {
            command: command.to_owned(),
            pairs: Pairs::of_reads(queries)?,
            lines: Output::to_writer(spool.clone()),
            spool,
            references: Vec::new(),
            records: HashMap::new(),
        })
    }

    /// Makes the hit's sequence a reference, if it is none yet.
    fn refer(&mut self, hit: &SearchHit) -> Result<()> {
        let (name, length) = (hit.subjects.name(hit.subject), hit.subjects.length(hit.subject));
        match self.records.get(name) {
            Some(&record) if record == hit.record => Ok(()),
            Some(_) => check_name(name, Some(length), true),
            None => {
                check_name(name, Some(length), false)?;
                self.records.insert(name.to_owned(), hit.record);
                self.references.push((name.to_owned(), length));
                Ok(())
            }
        }
    }
}

impl Body for Sam {
    fn query(&mut self, all: &mut All, query: SequenceId, hits: &[SearchHit], _output: &mut Output) -> Result<()> {
        for hit in hits {
            self.refer(hit)?;
            let (context, pair) = all.pair(query, hit);
            self.pairs.add(context, &pair)?;
        }
        self.pairs.flush(&all.pairs, &mut self.lines)
    }

    fn end(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        push_header(&self.command, self.references.iter().map(|(name, length)| (name.as_str(), *length)), output)?;
        std::mem::replace(&mut self.lines, Output::to_writer(io::sink())).finish()?;
        let mut spool = self.spool.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |source| Error::io("a temporary file", source);
        spool.rewind().map_err(failed)?;
        loop {
            let read = (&mut *spool).take(PIECE as u64).read_to_end(output.buffer()).map_err(failed)?;
            output.pass_on()?;
            if read == 0 {
                return Ok(());
            }
        }
    }
}

/// A temporary file with two ends.
#[derive(Clone)]
struct Spool(Arc<Mutex<SpooledTempFile>>);

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
