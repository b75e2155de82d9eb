//! Chunks of reads on their way through the rounds of a search: what is ready for the engines, and what came back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::engine::Work;
use crate::engine::ordered::ReorderWindow;
use crate::engine::owner::BatchOutcome;
use crate::engine::queue::QueuedChunk;
use crate::error::{Error, Result};
use crate::papara::search::{Levels, Round, Search};
use crate::papara::{Phylo, PhyloBlock, PhyloChunk};
use crate::score::PhyloScheme;
use crate::seq::{QueryStrands, ReadChunk, SequenceId, SequenceStore, Strand};

/// Reads that go through the rounds together.
pub(super) struct Chunk {
    /// Where it stands among all.
    pub index: usize,
    /// The reads.
    pub reads: ReadChunk,
    /// Their strands.
    pub store: Arc<SequenceStore>,
    /// How far each is.
    pub searches: Vec<Search>,
}

/// A band whose scores are coming in.
struct OpenChunk {
    chunk: usize,
    round: Round,
    pairs_left: u64,
}

/// Bands that are planned, and not yet taken.
struct Ready {
    bands: Mutex<VecDeque<QueuedChunk<Phylo>>>,
    ahead: Arc<ReorderWindow>,
}

impl Ready {
    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<QueuedChunk<Phylo>>> {
        // Nothing that is done under the lock panics.
        self.bands.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Chunks in their rounds.
pub(super) struct Rounds<'a> {
    levels: &'a Levels,
    scheme: Arc<PhyloScheme>,
    strands: QueryStrands,
    ready: Arc<Ready>,
    /// Bands that were planned.
    planned: usize,
    chunks: HashMap<usize, Chunk>,
    open: HashMap<usize, OpenChunk>,
}

impl<'a> Rounds<'a> {
    /// No chunk yet.
    pub(super) fn new(levels: &'a Levels, scheme: &Arc<PhyloScheme>, strands: QueryStrands) -> Self {
        let ready = Ready { bands: Mutex::default(), ahead: Arc::new(ReorderWindow::closed()) };
        Rounds {
            levels,
            scheme: Arc::clone(scheme),
            strands,
            ready: Arc::new(ready),
            planned: 0,
            chunks: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// The states that reads are scored against.
    pub(super) fn levels(&self) -> &'a Levels {
        self.levels
    }

    /// The strands of reads that are scored.
    pub(super) fn strands(&self) -> QueryStrands {
        self.strands
    }

    /// How far bands may be planned.
    pub(super) fn ahead(&self) -> Arc<ReorderWindow> {
        Arc::clone(&self.ready.ahead)
    }

    /// The bands, in the order in which they become ready. Whoever asks for more than [`Rounds::ahead`] allows finds the end.
    pub(super) fn bands(&self) -> impl Iterator<Item = QueuedChunk<Phylo>> + Send + 'static {
        let ready = Arc::clone(&self.ready);
        std::iter::from_fn(move || ready.lock().pop_front())
    }

    /// Chunks on their way.
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// No chunk will follow: once those are through there are no more bands.
    pub(super) fn end(&self) {
        if self.chunks.is_empty() {
            self.ready.ahead.open(usize::MAX);
        }
    }

    /// A chunk sets out. If it has nothing to score, it comes back.
    pub(super) fn begin(&mut self, index: usize, reads: ReadChunk) -> Option<Chunk> {
        let searches = (0..reads.store.len()).map(|_| Search::new(self.levels.len())).collect();
        let chunk = Chunk { index, store: self.strands.store(&reads.store), reads, searches };
        self.plan(chunk, Some(Round::All))
    }

    /// What engines found of a band. Gives the chunk if that was its last round.
    pub(super) fn take(&mut self, outcome: &BatchOutcome<Phylo>) -> Result<Option<Chunk>> {
        let index = outcome.chunk.index;
        let gone = || Error::Internal(format!("band {index} is not open"));
        let band = self.open.get_mut(&index).ok_or_else(gone)?;
        let chunk = self.chunks.get_mut(&band.chunk).ok_or_else(gone)?;
        band.pairs_left = band.pairs_left.checked_sub(outcome.pairs).ok_or_else(gone)?;
        let level = band.round.level(self.levels.len());
        let (batch, mut rest) = (&outcome.batch, &outcome.report.scores[..]);
        for (place, block) in batch.blocks.iter().enumerate() {
            let (own, others) = rest.split_at(block.places.len());
            rest = others;
            if outcome.report.unfinished.contains(&place) {
                continue;
            }
            let (read, strand) = self.strands.of(block.read);
            let search = &mut chunk.searches[read as usize];
            for (place, scores) in block.places.clone().zip(own) {
                search.take(self.levels, level, batch.chunk.octet(place), strand, scores);
            }
        }
        if band.pairs_left > 0 {
            return Ok(None);
        }
        let OpenChunk { chunk, round, .. } = self.open.remove(&index).ok_or_else(gone)?;
        let chunk = self.chunks.remove(&chunk).ok_or_else(gone)?;
        Ok(self.plan(chunk, round.next(self.levels.len())))
    }

    /// Plans the next round of a chunk in which there is something to score. After the last the chunk comes back.
    fn plan(&mut self, mut chunk: Chunk, mut round: Option<Round>) -> Option<Chunk> {
        while let Some(own) = round {
            let (band, blocks) = self.band(&mut chunk, own);
            let pairs: u64 = blocks.iter().map(|(_, block)| Phylo::pairs(block)).sum();
            if pairs > 0 {
                let first = chunk.reads.first as SequenceId;
                let range = first..first + chunk.reads.store.len() as SequenceId;
                self.open.insert(self.planned, OpenChunk { chunk: chunk.index, round: own, pairs_left: pairs });
                self.chunks.insert(chunk.index, chunk);
                self.planned += 1;
                self.ready.lock().push_back((range, Arc::new(band), blocks));
                self.ready.ahead.open(self.planned);
                return None;
            }
            round = own.next(self.levels.len());
        }
        Some(chunk)
    }

    fn band(&self, chunk: &mut Chunk, round: Round) -> (PhyloChunk, Vec<((), PhyloBlock)>) {
        let vectors = Arc::clone(self.levels.level(round.level(self.levels.len())));
        let (mut octets, mut blocks) = (Vec::new(), Vec::new());
        let mut band =
            PhyloChunk { reads: Arc::clone(&chunk.store), vectors, scheme: Arc::clone(&self.scheme), octets: None };
        if round == Round::All {
            for read in (0..chunk.store.len() as SequenceId).filter(|&read| chunk.store.length(read) > 0) {
                let places = 0..band.vectors.octets();
                blocks.push(((), PhyloBlock { read, places, place_cells: band.cells(read) }));
            }
            return (band, blocks);
        }
        for (read, search) in (0..).zip(&mut chunk.searches) {
            let mut open = search.open(self.levels, round);
            open.sort_unstable();
            for own in open.chunk_by(|one, other| one.0 == other.0) {
                let begin = octets.len() as u32;
                octets.extend(own.iter().map(|(_, octet)| *octet));
                let strand: Strand = own[0].0;
                let read = self.strands.query(read, strand);
                let block = PhyloBlock { read, places: begin..octets.len() as u32, place_cells: band.cells(read) };
                blocks.push(((), block));
            }
        }
        band.octets = Some(octets.into());
        (band, blocks)
    }
}
