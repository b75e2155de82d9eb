//! Jobs in blocks. For any division of the job and any order of its blocks, the rows equal the rows
//! of the whole job.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pairwave::Result;
use pairwave::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, ListedBlocks, NextBlock};
use pairwave::jobs::{Feed, Run, Summary};

use super::random::Rng;

/// Collects the rows of each reported block, encoded to bytes and decoded again.
struct BlockRows<'a, J: Divisible> {
    job: &'a J,
    blocks: Vec<Vec<J::Row>>,
    open: Vec<J::Row>,
}

impl<J: Divisible<Row: Debug + PartialEq>> BlockSink<J::Row> for BlockRows<'_, J> {
    fn rows(&mut self, rows: &[J::Row]) -> Result<()> {
        assert!(!rows.is_empty(), "rows come in slices that hold some");
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| J::encode(row, &mut bytes));
        let mut left = &bytes[..];
        for row in rows {
            let mut read = [J::decode(&mut left).expect("a row that was written")];
            self.job.resolve(&mut read).expect("it is of this job");
            assert_eq!(read[0], *row, "a row that was written");
            self.open.extend(read);
        }
        assert!(left.is_empty() && J::decode(&mut left).is_none(), "bytes are left");
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.blocks.push(std::mem::take(&mut self.open));
        Ok(())
    }
}

/// A source of blocks with pauses: after each block, it has no block at the next request.
pub struct SourceWithGaps {
    blocks: Arc<ListedBlocks>,
    is_late: Mutex<bool>,
    left: AtomicUsize,
}

impl SourceWithGaps {
    pub fn new(blocks: &[Block]) -> Arc<Self> {
        Arc::new(SourceWithGaps {
            blocks: ListedBlocks::new(blocks),
            is_late: Mutex::new(false),
            left: blocks.len().into(),
        })
    }

    /// Returns the number of blocks that were not taken.
    pub fn remaining(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }
}

impl BlockSource for SourceWithGaps {
    fn next(&self) -> NextBlock {
        let mut is_late = self.is_late.lock().expect("nobody panics");
        *is_late ^= true;
        if !*is_late {
            return NextBlock::Nothing;
        }
        let next = self.blocks.next();
        if let NextBlock::Block(_) = next {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        next
    }

    fn pending_cells(&self) -> Arc<AtomicU64> {
        self.blocks.pending_cells()
    }
}

/// Computes a job that is divided into blocks of `cells` cells: a few at a time, in random order,
/// in two alternating sessions. Fails unless the rows of all blocks equal `expected`, the rows of
/// the whole job. Returns the blocks.
pub fn check_blocks<J: Divisible<Row: Debug + PartialEq>>(
    job: &J,
    expected: &[J::Row],
    cells: u64,
    run: &Run,
    rng: &mut Rng,
    session: impl Fn() -> J::Session,
) -> Vec<Block> {
    let blocks = job.cut(cells).expect("it can be cut");
    assert_eq!(job.cut(cells).expect("it can be cut"), blocks, "it is cut the same once more");
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    if rng.below(2u32) == 0 {
        (1..order.len()).for_each(|index| order.swap(index, rng.below(index + 1)));
    }
    let mut sessions = [session(), session()];
    let mut rows: Vec<Option<Vec<J::Row>>> = blocks.iter().map(|_| None).collect();
    while !order.is_empty() {
        let some: Vec<usize> = order.drain(..(1 + rng.below(5usize)).min(order.len())).collect();
        let selected: Vec<Block> = some.iter().map(|&index| blocks[index].clone()).collect();
        let mut kept = BlockRows { job, blocks: Vec::new(), open: Vec::new() };
        let session = &mut sessions[rng.below(2usize)];
        let summary = match rng.below(2u32) {
            0 => job.run_blocks(&selected, session, run, &mut kept).expect("blocks are computed"),
            _ => {
                let late = SourceWithGaps::new(&selected);
                let source: Arc<dyn BlockSource> = Arc::<SourceWithGaps>::clone(&late);
                let mut total = Summary::default();
                while late.remaining() > 0 {
                    let feed = Feed { source: &source, run, sink: &mut kept };
                    total.add(job.feed(feed, session).expect("blocks are computed").into());
                }
                total
            }
        };
        assert!(
            kept.open.is_empty() && kept.blocks.len() == selected.len(),
            "{} of {selected:?} ended",
            kept.blocks.len()
        );
        let sums = selected.iter().fold((0, 0), |sum, block| (sum.0 + block.pairs, sum.1 + block.cells));
        assert_eq!((summary.pairs, summary.cells), sums, "sums of {selected:?}");
        assert_eq!(summary.written, kept.blocks.iter().map(|rows| rows.len() as u64).sum::<u64>());
        some.into_iter().zip(kept.blocks).for_each(|(index, of_block)| rows[index] = Some(of_block));
    }
    let mut all: Vec<J::Row> = Vec::new();
    let mut left = blocks.iter().zip(rows).peekable();
    while let Some((block, parts)) = left.next() {
        let mut parts = parts.expect("every block was computed");
        if block.targets.is_some() {
            while let Some((_, more)) = left.next_if(|(next, _)| next.targets.is_some() && next.units == block.units) {
                parts.extend(more.expect("every block was computed"));
            }
            job.join(&mut parts);
        }
        all.extend(parts);
    }
    if let Some((index, (ours, theirs))) =
        (0..).zip(all.iter().zip(expected)).find(|(_, (ours, theirs))| ours != theirs)
    {
        panic!("row {index} of {} blocks: {ours:?} where {theirs:?} was expected", blocks.len());
    }
    assert_eq!(all.len(), expected.len(), "rows of {} blocks", blocks.len());
    blocks
}
