//! CPU threads that filter the pairs of a batch by edit distances before they score them. They
//! replace a GPU that is lost during a job.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::edit::{Edit, EditBatch, EditBlock, EditChunk, TextRegions, pattern_words};
use crate::engine::pending::PendingBatches;
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Capacity, Engine, Ticket};
use crate::error::Result;
use crate::pairs::{Pairs, PairsBatch, PairsBlock, PairsReport};
use crate::score::EditScheme;

/// The engine of one thread.
struct FilteringWorker {
    scheme: Arc<EditScheme>,
    distances: <Edit as CpuKind>::Scratch,
    scores: <Pairs as CpuKind>::Scratch,
    waiting: PendingBatches<Pairs>,
    interrupt: Arc<AtomicBool>,
}

/// Returns one worker for each thread, but at least one. Every pair with the job's identity must be
/// within the limit of `scheme`.
pub(super) fn filtering_workers(
    scheme: &Arc<EditScheme>,
    threads: usize,
    interrupt: &Arc<AtomicBool>,
) -> Vec<Box<dyn Engine<Pairs>>> {
    let worker = |_| {
        Box::new(FilteringWorker {
            scheme: Arc::clone(scheme),
            distances: Default::default(),
            scores: Default::default(),
            waiting: PendingBatches::default(),
            interrupt: Arc::clone(interrupt),
        }) as Box<dyn Engine<Pairs>>
    };
    (0..threads.max(1)).map(worker).collect()
}

impl FilteringWorker {
    /// Returns the pairs of a batch that may reach the identity, in blocks of adjacent targets.
    fn selected(&mut self, batch: &PairsBatch) -> Result<Vec<PairsBlock>> {
        let chunk = &batch.chunk;
        let places = TextRegions::Texts(Arc::clone(&chunk.order));
        let (queries, targets) = (Arc::clone(&chunk.queries), Arc::clone(&chunk.targets));
        let edit_chunks = Arc::new(EditChunk::new(queries, targets, Arc::clone(&self.scheme), places));
        let class = |block: &&PairsBlock| pattern_words(chunk.queries.length(block.query));
        let mut blocks: Vec<&PairsBlock> = batch.blocks.iter().collect();
        blocks.sort_by_key(class);
        let mut selected = Vec::new();
        // A batch of distances must have patterns of a single class.
        for blocks in blocks.chunk_by(|one, other| class(one) == class(other)) {
            let edit_block = |block: &&PairsBlock| EditBlock {
                pattern: block.query,
                regions: block.targets.clone(),
                cells: block.cells,
            };
            let edits = EditBatch { chunk: Arc::clone(&edit_chunks), blocks: blocks.iter().map(edit_block).collect() };
            let report = Edit::compute(&edits, &mut self.distances, &self.interrupt)?;
            let all = 0..blocks.iter().map(|block| block.targets.len()).sum();
            let mut within = report.distances.within(all).map(|(pair, _)| pair).peekable();
            let mut first = 0;
            for block in blocks {
                let length = u64::from(chunk.queries.length(block.query));
                while let Some(pair) = within.next_if(|&pair| pair < first + block.targets.len()) {
                    let position = block.targets.start + (pair - first) as u32;
                    let cells = length * u64::from(chunk.targets.length(chunk.order[position as usize]));
                    match selected.last_mut() {
                        Some(PairsBlock { query, targets, cells: sum })
                            if (*query, targets.end) == (block.query, position) =>
                        {
                            targets.end += 1;
                            *sum += cells;
                        }
                        _ => selected.push(PairsBlock { query: block.query, targets: position..position + 1, cells }),
                    }
                }
                first += block.targets.len();
            }
        }
        Ok(selected)
    }
}

impl Engine<Pairs> for FilteringWorker {
    fn name(&self) -> &str {
        "cpu"
    }

    fn universal(&self) -> bool {
        true
    }

    fn capacity(&self) -> Capacity {
        Capacity { cells: Pairs::CELLS, pairs: Pairs::PAIRS, store_bytes: u64::MAX, batches: 1 }
    }

    fn submit(&mut self, batch: Arc<PairsBatch>) -> Result<Ticket> {
        Ok(self.waiting.add(batch))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<PairsReport> {
        let batch = self.waiting.take(ticket)?;
        let blocks = self.selected(&batch)?;
        Pairs::compute(&PairsBatch { chunk: Arc::clone(&batch.chunk), blocks }, &mut self.scores, &self.interrupt)
    }
}
