//! Alignment of reads with their best edges on CPU threads, and delivery in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;

use super::{PhyloAlignment, PhyloResult, ReadGroup};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::{Error, Result};
use crate::papara::search::{EdgeSearch, UnionTree};
use crate::papara::trace::{self, ReadAligner};
use crate::score::PhyloScheme;
use crate::seq::{QueryStrands, SequenceId, Strand, reverse_complement_letters};

/// The rows of a group.
type GroupRows = Result<Vec<PhyloResult>>;

/// A group after its alignment.
struct AlignedGroup {
    index: usize,
    /// Numbers of its reads.
    reads: Range<u64>,
    rows: GroupRows,
}

/// Groups that are being aligned or wait for earlier groups.
pub(super) struct ReadFinisher {
    work: Arc<GroupAligner>,
    pool: Arc<rayon::ThreadPool>,
    sender: Sender<AlignedGroup>,
    receiver: Receiver<AlignedGroup>,
    /// Number of groups that are being aligned.
    running: usize,
    waiting: BTreeMap<usize, (Range<u64>, Vec<PhyloResult>)>,
    /// Index of the group that is due.
    next: usize,
    written: u64,
}

/// Shared data for aligning a group.
struct GroupAligner {
    union_tree: Arc<UnionTree>,
    scheme: Arc<PhyloScheme>,
    strands: QueryStrands,
    check: bool,
}

impl ReadFinisher {
    pub(super) fn new(job: &PhyloAlignment, union_tree: &Arc<UnionTree>, pool: &Arc<rayon::ThreadPool>) -> Self {
        let (sender, receiver) = channel();
        let work = GroupAligner {
            union_tree: Arc::clone(union_tree),
            scheme: Arc::clone(&job.scheme),
            strands: job.strands(),
            check: job.check,
        };
        ReadFinisher {
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

    /// Returns the number of groups that were not delivered.
    pub(super) fn len(&self) -> usize {
        self.running + self.waiting.len()
    }

    /// Returns the number of delivered rows.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Starts aligning a group whose best edges are known.
    pub(super) fn add(&mut self, group: ReadGroup) {
        let (work, sender) = (Arc::clone(&self.work), self.sender.clone());
        self.running += 1;
        self.pool.spawn(move || {
            // Sending fails only if the job has ended.
            let _ = sender.send(AlignedGroup {
                index: group.index,
                reads: group.reads.numbers(),
                rows: work.align(&group),
            });
        });
    }

    /// Delivers groups that are aligned and due, with the numbers of their reads. Waits until at
    /// most `most` groups are left.
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
            let Some(AlignedGroup { index, reads, rows: aligned }) = received else { break };
            self.running -= 1;
            self.waiting.insert(index, (reads, aligned?));
            while let Some((reads, group)) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.written += group.len() as u64;
                rows(reads, &group)?;
            }
        }
        Ok(())
    }
}

impl GroupAligner {
    fn align(&self, group: &ReadGroup) -> GroupRows {
        let reads: Vec<SequenceId> = (0..group.searches.len() as SequenceId).collect();
        let aligners = WorkspacePool::<ReadAligner>::default();
        let align = |&read: &SequenceId| {
            aligners.with(|aligner| self.align_read(aligner, group, read, &group.searches[read as usize]))
        };
        reads.par_iter().map(align).filter_map(Result::transpose).collect()
    }

    /// Aligns a read. Returns `None` if it is empty.
    fn align_read(
        &self,
        aligner: &mut ReadAligner,
        group: &ReadGroup,
        read: SequenceId,
        search: &EdgeSearch,
    ) -> Result<Option<PhyloResult>> {
        let Some(best) = search.best.first else { return Ok(None) };
        let codes = group.store.codes(self.strands.query(read, best.strand));
        let vectors = self.union_tree.vectors(0);
        let placed = aligner.align(codes, vectors, best.vector, &self.scheme);
        let name = group.reads.store.name_bytes(read).to_vec();
        let wrong = |message: String| Error::Internal(format!("read {}: {message}", String::from_utf8_lossy(&name)));
        if placed.score != best.score {
            return Err(wrong(format!(
                "the alignment scores {}, but the engine reported {}",
                placed.score, best.score
            )));
        }
        if self.check {
            let score = trace::rescore(&placed, codes, vectors, best.vector, &self.scheme).map_err(wrong)?;
            if score != i64::from(best.score) {
                return Err(wrong(format!("the alignment's columns score {score}, not {}", best.score)));
            }
        }
        let letters = group.reads.letters(read);
        Ok(Some(PhyloResult {
            number: group.reads.first + u64::from(read),
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
