//! Aligning reads with their best edges on threads of the CPU, and handing them over in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;

use super::{Chunk, PhyloAlignment, PhyloResult};
use crate::error::{Error, Result};
use crate::papara::search::{Levels, Search};
use crate::papara::trace::{self, Aligner};
use crate::score::PhyloScheme;
use crate::seq::{QueryStrands, SequenceId, Strand, reverse_complement_letters};
use crate::simd::InstructionSet;

/// The rows of a chunk.
type Rows = Result<Vec<PhyloResult>>;

/// What came of a chunk.
struct Aligned {
    index: usize,
    /// Numbers of its reads.
    reads: Range<u64>,
    rows: Rows,
}

/// Chunks that are aligned, or wait for those before them.
pub(super) struct Finish {
    work: Arc<Work>,
    pool: Arc<rayon::ThreadPool>,
    sender: Sender<Aligned>,
    receiver: Receiver<Aligned>,
    /// Chunks that are being aligned.
    running: usize,
    waiting: BTreeMap<usize, (Range<u64>, Vec<PhyloResult>)>,
    /// The chunk whose turn it is.
    next: usize,
    written: u64,
}

/// What is needed to align a chunk.
struct Work {
    levels: Arc<Levels>,
    scheme: Arc<PhyloScheme>,
    strands: QueryStrands,
    check: bool,
}

impl Finish {
    pub(super) fn new(job: &PhyloAlignment, levels: &Arc<Levels>, pool: &Arc<rayon::ThreadPool>) -> Self {
        let (sender, receiver) = channel();
        let work = Work {
            levels: Arc::clone(levels),
            scheme: Arc::clone(&job.scheme),
            strands: job.strands(),
            check: job.check,
        };
        Finish {
            work: Arc::new(work),
            pool: Arc::clone(pool),
            sender,
            receiver,
            running: 0,
            waiting: BTreeMap::new(),
            next: 0,
            written: 0,
        }
    }

    /// Chunks that were not handed over.
    pub(super) fn len(&self) -> usize {
        self.running + self.waiting.len()
    }

    /// Rows that were handed over.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// The edges of a chunk's reads are known.
    pub(super) fn add(&mut self, chunk: Chunk) {
        let (work, sender) = (Arc::clone(&self.work), self.sender.clone());
        self.running += 1;
        self.pool.spawn(move || {
            // Nobody listens only if the job has ended.
            let _ = sender.send(Aligned { index: chunk.index, reads: chunk.reads.numbers(), rows: work.align(&chunk) });
        });
    }

    /// Hands over what is done and whose turn it is, with the numbers of a chunk's reads; waits until no more than `most` chunks
    /// are left.
    pub(super) fn deliver(
        &mut self,
        most: usize,
        rows: &mut impl FnMut(Range<u64>, &[PhyloResult]) -> Result<()>,
    ) -> Result<()> {
        loop {
            let received = match self.len() > most && self.running > 0 {
                true => self.receiver.recv().ok(),
                false => self.receiver.try_recv().ok(),
            };
            let Some(Aligned { index, reads, rows: aligned }) = received else { break };
            self.running -= 1;
            self.waiting.insert(index, (reads, aligned?));
            while let Some((reads, chunk)) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.written += chunk.len() as u64;
                rows(reads, &chunk)?;
            }
        }
        Ok(())
    }
}

impl Work {
    fn align(&self, chunk: &Chunk) -> Rows {
        let reads: Vec<SequenceId> = (0..chunk.searches.len() as SequenceId).collect();
        let aligner = || Aligner::new(InstructionSet::best());
        let rows = reads
            .par_iter()
            .map_init(aligner, |aligner, &read| self.align_read(aligner, chunk, read, &chunk.searches[read as usize]));
        rows.filter_map(Result::transpose).collect()
    }

    /// One read; `None` if it is empty.
    fn align_read(
        &self,
        aligner: &mut Aligner,
        chunk: &Chunk,
        read: SequenceId,
        search: &Search,
    ) -> Result<Option<PhyloResult>> {
        let Some(best) = search.best.first else { return Ok(None) };
        let codes = chunk.store.codes(self.strands.query(read, best.strand));
        let vectors = self.levels.level(0);
        let placed = aligner.align(codes, vectors, best.vector, &self.scheme);
        let name = chunk.reads.store.name_bytes(read).to_vec();
        let wrong = |message: String| Error::Internal(format!("read {}: {message}", String::from_utf8_lossy(&name)));
        if placed.score != best.score {
            return Err(wrong(format!("the alignment scores {}, but {} was found", placed.score, best.score)));
        }
        if self.check {
            let score = trace::rescore(&placed, codes, vectors, best.vector, &self.scheme).map_err(wrong)?;
            if score != i64::from(best.score) {
                return Err(wrong(format!("the alignment's columns score {score}, not {}", best.score)));
            }
        }
        let letters = chunk.reads.letters(read);
        Ok(Some(PhyloResult {
            number: chunk.reads.first + u64::from(read),
            letters: match best.strand {
                Strand::Plus => letters.to_vec(),
                Strand::Minus => reverse_complement_letters(letters),
            },
            name,
            edge: best.edge,
            score: best.score,
            runner_up: search.best.second.map(|second| (second.edge, second.score)),
            strand: best.strand,
            first_site: placed.first_site,
            cigar: placed.cigar,
        }))
    }
}
