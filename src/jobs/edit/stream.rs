//! Places in texts that are read in parts, so that memory does not limit the texts. While a part is
//! searched, the next one is read.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::pieces::PieceBorders;
use super::spool::PlaceSpool;
use super::{EditDistances, EditResult};
use crate::edit::plan::Against;
use crate::edit::{Edit, Region};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::jobs::run::Progress;
use crate::jobs::session::SessionStart;
use crate::jobs::source::{BlockSource, ListedBlocks};
use crate::jobs::{Feed, Job, Run, Summary};
use crate::seq::{PartOfTexts, SequenceStore, TextParts};

/// Time between two checks for an interrupt while a part is read.
const PATIENCE: Duration = Duration::from_millis(50);

/// All places in texts that were read in parts.
#[derive(Debug)]
pub struct StreamedPlaces {
    texts: Arc<SequenceStore>,
    spool: PlaceSpool,
    summary: Summary,
}

impl StreamedPlaces {
    /// Returns the names and lengths of the texts. They have no codes.
    pub fn texts(&self) -> &Arc<SequenceStore> {
        &self.texts
    }

    /// Returns the summary of the job.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Passes all rows to `rows` in batches, in the order of [`Job::run`].
    ///
    /// # Errors
    /// - [`Error::Interrupted`] if `run` was interrupted.
    /// - [`Error::Io`] if the temporary file cannot be read.
    /// - Every error that `rows` returns.
    pub fn deliver(&self, run: &Run, mut rows: impl FnMut(&[EditResult]) -> Result<()>) -> Result<()> {
        self.spool.merge(|some| {
            run.check_interrupt()?;
            for row in &mut *some {
                let text = row.text();
                row.region = Region { text, start: 0, end: self.texts.length(text) };
            }
            rows(some)
        })
    }
}

impl EditDistances {
    /// Finds places in texts that are read in parts, with two parts in memory. The field `against`
    /// of the job must be an empty set of texts. Many places are kept in a temporary file in
    /// `directory`. The rows equal the rows of [`Job::run`]. The progress counts symbols as pairs.
    ///
    /// # Errors
    /// The errors of [`Job::run`] and of [`TextParts::next`], and [`Error::Io`] if the temporary file
    /// cannot be written.
    pub fn find_in_parts(&self, texts: TextParts, run: &Run, directory: impl AsRef<Path>) -> Result<StreamedPlaces> {
        self.find_in_parts_on(None, texts, run, directory)
    }

    /// Finds places like [`EditDistances::find_in_parts`], on these engines instead of the devices of
    /// `run`.
    ///
    /// # Errors
    /// The errors of [`EditDistances::find_in_parts`].
    #[doc(hidden)]
    pub fn find_in_parts_on(
        &self,
        engines: Option<Vec<Box<dyn Engine<Edit>>>>,
        texts: TextParts,
        run: &Run,
        directory: impl AsRef<Path>,
    ) -> Result<StreamedPlaces> {
        let started = Instant::now();
        self.validate_parts(&texts)?;
        let parts = ReadAhead::start(texts);
        let progress = Arc::new(SymbolProgress::new(Arc::clone(&run.progress)));
        let run = &Run { progress: Arc::clone(&progress) as Arc<dyn Progress>, ..run.clone() };
        let (mut spool, mut summary) = (PlaceSpool::new(directory.as_ref()), Summary::default());
        let (mut session, mut engines) = (None, Some(engines));
        let texts = loop {
            let part = match parts.next(run)? {
                NextPart::Part(part) => part,
                NextPart::End(texts) => break texts,
            };
            let job = EditDistances { against: Against::Texts(Arc::clone(&part.store)), ..self.clone() };
            let session = match &mut session {
                Some(session) => session,
                none => none.insert(job.open(SessionStart::for_blocks(engines.take().flatten()), run)?),
            };
            session.pieces.get_or_insert_with(PieceBorders::default).enter(&part);
            let block = job.whole_block(session);
            progress.begin(&part, block.cells);
            let source: Arc<dyn BlockSource> = ListedBlocks::new(&[block]);
            summary.add(job.feed(Feed { source: &source, run, sink: &mut spool }, session)?);
            progress.end();
        };
        if let Some(pieces) = session.as_ref().and_then(|session| session.pieces.as_ref()) {
            pieces.end()?;
        }
        // Texts in several parts count once.
        let whole = EditDistances { against: Against::Texts(Arc::new(texts)), ..self.clone() };
        let sum = |store: &SequenceStore| store.lengths().iter().map(|&length| u128::from(length)).sum::<u128>();
        let copies = self.strands().copies();
        let cells = sum(&self.patterns).saturating_mul(sum(whole.texts())).saturating_mul(copies.into());
        summary.pairs = self.patterns.len() as u64 * whole.texts().len() as u64 * u64::from(copies);
        summary.cells = u64::try_from(cells).unwrap_or(u64::MAX);
        summary.seconds = started.elapsed().as_secs_f64();
        Ok(StreamedPlaces { texts: Arc::clone(whole.texts()), spool, summary })
    }

    /// Checks that the job finds places, and that parts have enough overlap.
    fn validate_parts(&self, texts: &TextParts) -> Result<()> {
        self.validate()?;
        if !self.all_places {
            return Err(Error::usage_of("all_places", "texts are read in parts only to find all places in them"));
        }
        if self.texts().alphabet() != texts.alphabet() {
            return Err(Error::usage_of("texts", "the parts have another alphabet than the patterns"));
        }
        let least = self.max_part_symbols();
        if least > texts.overlap() {
            return Err(Error::usage_of("texts", format!("the parts must overlap by {least} symbols")));
        }
        Ok(())
    }
}

/// Answer of [`ReadAhead::next`].
enum NextPart {
    Part(PartOfTexts),
    /// The names and lengths of all texts, after the last part.
    End(SequenceStore),
}

/// A thread that reads the next part while the current one is searched.
struct ReadAhead(Receiver<Result<NextPart>>);

impl ReadAhead {
    /// Starts reading. The thread ends when the value is dropped, unless it waits for input.
    fn start(texts: TextParts) -> Self {
        // The thread waits with one part until the receiver takes it.
        let (sender, receiver) = sync_channel(0);
        thread::spawn(move || {
            if let Err(error) = read_parts(texts, &sender) {
                // A receiver that is gone needs no error.
                let _ = sender.send(Err(error));
            }
        });
        ReadAhead(receiver)
    }

    /// Waits for the next part.
    fn next(&self, run: &Run) -> Result<NextPart> {
        loop {
            run.check_interrupt()?;
            match self.0.recv_timeout(PATIENCE) {
                Ok(next) => return next,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Internal("the reader of texts has ended early".into()));
                }
            }
        }
    }
}

/// Sends all parts, and then the outline of the texts.
fn read_parts(mut texts: TextParts, sender: &SyncSender<Result<NextPart>>) -> Result<()> {
    while let Some(part) = texts.next()? {
        if sender.send(Ok(NextPart::Part(part))).is_err() {
            return Ok(());
        }
    }
    let _ = sender.send(Ok(NextPart::End(texts.finish())));
    Ok(())
}

/// Converts progress in cells to progress in symbols of the texts.
struct SymbolProgress {
    inner: Arc<dyn Progress>,
    part: Mutex<PartProgress>,
}

/// Progress in the current part.
#[derive(Default)]
struct PartProgress {
    symbols: u64,
    cells: u64,
    done_cells: u64,
    /// Number of symbols that were reported.
    reported: u64,
}

impl SymbolProgress {
    fn new(inner: Arc<dyn Progress>) -> Self {
        SymbolProgress { inner, part: Mutex::default() }
    }

    /// Starts a part with this number of cells.
    fn begin(&self, part: &PartOfTexts, cells: u64) {
        let stored: u64 = part.store.lengths().iter().map(|&length| u64::from(length)).sum();
        let symbols = stored - u64::from(part.before) - u64::from(part.after);
        *self.part.lock().unwrap_or_else(PoisonError::into_inner) =
            PartProgress { symbols, cells, ..PartProgress::default() };
    }

    /// Reports all symbols of the part.
    fn end(&self) {
        let cells = self.part.lock().unwrap_or_else(PoisonError::into_inner).cells;
        self.advance(0, cells);
    }
}

impl Progress for SymbolProgress {
    fn advance(&self, _pairs: u64, cells: u64) {
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        part.done_cells = part.done_cells.saturating_add(cells).min(part.cells);
        let share = part.done_cells as f64 / part.cells.max(1) as f64;
        let symbols = if part.done_cells == part.cells { part.symbols } else { (part.symbols as f64 * share) as u64 };
        let more = symbols.saturating_sub(part.reported);
        part.reported += more;
        self.inner.advance(more, cells);
    }
}
