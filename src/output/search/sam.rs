//! SAM output of a search. The header lists only the subjects of hits, in the order of their first
//! hits, because listing all sequences of a database would take longer than the search. The list is
//! complete only at the end, so lines are buffered until then, in a temporary file if there are
//! many.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;

use super::{SearchBody, SearchContext, SearchHit, SearchPairs};
use crate::error::{Error, Result};
use crate::output::Output;
use crate::output::sam::{PairsSam, ReferenceShape, check_reads, check_record, double_name, push_header};
use crate::seq::{SequenceId, SequenceStore, Subjects};

/// Maximum number of bytes of lines that are buffered in memory.
const IN_MEMORY: usize = 64 << 20;
/// Number of packed bytes of subjects whose names are checked at once.
const CHECKED_BYTES: u64 = 64 << 20;
/// Number of bytes that are read back at once.
const PIECE: usize = 1 << 17;

pub(super) struct SearchSam {
    command: String,
    pairs: PairsSam,
    lines: Output,
    spool: SharedSpool,
    /// Names and lengths of the subjects of hits.
    references: Vec<(String, u32)>,
    /// Record number of each name.
    records: HashMap<String, u64>,
}

/// Checks that SAM can contain all queries, and hits with all subjects.
pub(super) fn check(queries: &SequenceStore, subjects: &Subjects) -> Result<()> {
    check_reads(queries)?;
    let mut records: HashMap<Vec<u8>, u64> = HashMap::new();
    for chunk in subjects.chunks(CHECKED_BYTES) {
        let chunk = chunk?;
        for id in 0..chunk.store.len() as SequenceId {
            check_record(&chunk.store, id, true)?;
            let record = chunk.record(id);
            if let Some(other) = records.insert(chunk.store.name_bytes(id).to_vec(), record) {
                return Err(double_name(&chunk.store, id, record.max(other)));
            }
        }
    }
    Ok(())
}

impl SearchSam {
    pub(super) fn new(command: &str, queries: &SequenceStore) -> Result<Self> {
        let spool = SharedSpool(Arc::new(Mutex::new(SpooledTempFile::new(IN_MEMORY))));
        Ok(SearchSam {
            command: command.to_owned(),
            pairs: PairsSam::of_reads(queries)?,
            lines: Output::to_writer(spool.clone()),
            spool,
            references: Vec::new(),
            records: HashMap::new(),
        })
    }

    /// Adds the hit's subject to the references, if it is new.
    fn add_reference(&mut self, hit: &SearchHit) -> Result<()> {
        let (name, length) = (hit.subjects.name(hit.subject), hit.subjects.length(hit.subject));
        match self.records.get(name) {
            Some(&record) if record == hit.record => Ok(()),
            Some(_) => Err(double_name(&hit.subjects, hit.subject, hit.record)),
            None => {
                check_record(&hit.subjects, hit.subject, true)?;
                self.records.insert(name.to_owned(), hit.record);
                self.references.push((name.to_owned(), length));
                Ok(())
            }
        }
    }
}

impl SearchBody for SearchSam {
    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        _output: &mut Output,
    ) -> Result<()> {
        for hit in hits {
            self.add_reference(hit)?;
            let (context, pair) = all.pair(query, hit);
            self.pairs.add(context, &pair)?;
        }
        self.pairs.flush(&all.pairs, &mut self.lines)
    }

    fn end(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        let references = self.references.iter().map(|(name, length)| (name.as_str(), *length));
        push_header(&self.command, references, ReferenceShape::Linear, output)?;
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

/// A temporary file that is shared by a writer and a reader.
#[derive(Clone)]
struct SharedSpool(Arc<Mutex<SpooledTempFile>>);

impl Write for SharedSpool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
