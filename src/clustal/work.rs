//! Chunks, blocks, batches and reports of ClustalW's pairwise alignments.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::costs::ClustalCosts;
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::seq::{SequenceId, SequenceStore};

/// Data that the blocks of a batch share.
#[derive(Debug)]
pub struct ClustalChunk {
    /// Sequences of both sides of all pairs.
    pub sequences: Arc<SequenceStore>,
    /// Scores of letters and costs of gaps.
    pub costs: Arc<ClustalCosts>,
    /// Targets of all blocks. Target ranges of blocks index this list. It consists of runs of
    /// decreasing length, so neighbours have similar lengths.
    pub order: Arc<[SequenceId]>,
}

impl ClustalChunk {
    /// Returns the pairs of a block in the order of its targets. The sequence with the smaller ID
    /// comes first and forms the rows of ClustalW's matrix. The order matters, because it decides
    /// between equal scores.
    pub fn pairs<'a>(&'a self, block: &'a ClustalBlock) -> impl Iterator<Item = (SequenceId, SequenceId)> + 'a {
        self.targets(block).iter().map(|&target| (block.query.min(target), block.query.max(target)))
    }

    /// Returns the targets of a block.
    pub fn targets(&self, block: &ClustalBlock) -> &[SequenceId] {
        &self.order[block.targets.start as usize..block.targets.end as usize]
    }

    /// Returns the number of cells of a pair.
    pub fn cells(&self, a: SequenceId, b: SequenceId) -> u64 {
        u64::from(self.sequences.length(a)) * u64::from(self.sequences.length(b))
    }

    /// Builds the block of a query and a range of [`ClustalChunk::order`].
    pub fn block(&self, query: SequenceId, targets: Range<u32>) -> ClustalBlock {
        let ids = &self.order[targets.start as usize..targets.end as usize];
        ClustalBlock { query, cells: ids.iter().map(|&target| self.cells(query, target)).sum(), targets }
    }
}

/// The smallest piece of work: one sequence against a range of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClustalBlock {
    /// The sequence that all pairs of the block contain.
    pub query: SequenceId,
    /// Partners of the query: a range of [`ClustalChunk::order`].
    pub targets: Range<u32>,
    /// Number of cells of all its pairs.
    pub cells: u64,
}

/// The job kind that computes the identities of ClustalW's pairwise alignments.
#[derive(Debug, Clone, Copy)]
pub struct Clustal;

/// Blocks that an engine computes together.
pub type ClustalBatch = Batch<Clustal>;

/// The result of one pair. A position is the number of residues before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairIdentities {
    /// Number of identities in ClustalW's alignment.
    pub identities: u32,
    /// Start of the best local alignment in the first and in the second sequence.
    pub start: [u32; 2],
    /// End (exclusive) of that alignment. If no residues score above 0, all of `start` and `end`
    /// are 0.
    pub end: [u32; 2],
}

/// Results of a batch.
#[derive(Debug, Clone, Default)]
pub struct ClustalReport {
    /// One entry per pair, ordered by block and then by target. Entries of unfinished blocks are
    /// meaningless.
    pub identities: Vec<PairIdentities>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device spent on kernels, if it can be measured.
    pub kernel_time: Option<Duration>,
}

impl BatchReport for ClustalReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

impl Work for Clustal {
    type Chunk = ClustalChunk;
    type Block = ClustalBlock;
    type Class = ();
    type Report = ClustalReport;

    fn pairs(block: &ClustalBlock) -> u64 {
        block.targets.len() as u64
    }

    fn cells(block: &ClustalBlock) -> u64 {
        block.cells
    }

    fn first_cells(chunk: &ClustalChunk, block: &ClustalBlock) -> Option<u64> {
        Some(chunk.cells(block.query, *chunk.targets(block).first()?))
    }

    fn one_block(_chunk: &ClustalChunk, _store_bytes: u64) -> bool {
        false
    }

    fn split(chunk: &ClustalChunk, block: ClustalBlock, portion: Portion) -> (ClustalBlock, Option<ClustalBlock>) {
        let (mut end, mut cells, most) = (block.targets.start, 0, portion.pairs.max(1));
        for &target in chunk.targets(&block) {
            let more = chunk.cells(block.query, target);
            let taken = u64::from(end - block.targets.start);
            if taken > 0 && (taken >= most || cells + more > portion.cells) {
                let tail =
                    ClustalBlock { query: block.query, targets: end..block.targets.end, cells: block.cells - cells };
                return (ClustalBlock { targets: block.targets.start..end, cells, ..block }, Some(tail));
            }
            (end, cells) = (end + 1, cells + more);
        }
        (block, None)
    }

    fn check(batch: &ClustalBatch, report: &ClustalReport) -> Result<(), String> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
        if report.identities.len() as u64 != batch.pairs() {
            return Err(format!("{} results for {} pairs", report.identities.len(), batch.pairs()));
        }
        let mut identities = report.identities.iter();
        for (block, is_finished) in batch.blocks.iter().zip(finished) {
            for ((a, b), pair) in batch.chunk.pairs(block).zip(identities.by_ref()) {
                if is_finished && !is_possible(pair, [a, b].map(|id| batch.chunk.sequences.length(id))) {
                    return Err(format!("impossible result {pair:?} of sequences {a} and {b}"));
                }
            }
        }
        Ok(())
    }
}

/// Checks whether a result is possible for sequences of these lengths.
fn is_possible(pair: &PairIdentities, lengths: [u32; 2]) -> bool {
    let sides = [0, 1].map(|side| pair.end[side].checked_sub(pair.start[side]));
    let inside = pair.end[0] <= lengths[0] && pair.end[1] <= lengths[1];
    let enough = sides.iter().all(|side| side.is_some_and(|residues| pair.identities <= residues));
    inside && enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Alphabet;

    fn batch() -> ClustalBatch {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        for length in [3, 9, 5, 7] {
            store.push("s", &vec![1; length]).unwrap();
        }
        let order: Arc<[SequenceId]> = Arc::new([1, 3, 2, 0]);
        let costs = Arc::new(ClustalCosts::dna());
        let chunk = ClustalChunk { sequences: Arc::new(store.build()), costs, order };
        let block = chunk.block(2, 0..4);
        Batch { chunk: Arc::new(chunk), blocks: vec![block] }
    }

    #[test]
    fn blocks_split_between_pairs_and_lose_none() {
        let batch = batch();
        let (chunk, whole) = (&batch.chunk, &batch.blocks[0]);
        assert_eq!((whole.cells, Clustal::first_cells(chunk, whole)), (5 * 24, Some(45)));
        for (cells, pairs, first) in [(0, 9, 1), (80, 9, 2), (79, 9, 1), (1000, 3, 3), (1000, 0, 1), (1000, 4, 4)] {
            let portion = Portion { cells, pairs, target_bytes: 0 };
            let (head, tail) = Clustal::split(chunk, whole.clone(), portion);
            assert_eq!(Clustal::pairs(&head), first);
            assert_eq!(head, chunk.block(2, 0..first as u32));
            assert_eq!(tail, (first < 4).then(|| chunk.block(2, first as u32..4)));
        }
        assert_eq!(chunk.pairs(whole).collect::<Vec<_>>(), [(1, 2), (2, 3), (2, 2), (0, 2)]);
    }

    #[test]
    fn impossible_reports_are_rejected() {
        let batch = batch();
        let right = PairIdentities { identities: 3, start: [0, 0], end: [3, 3] };
        let mut report = ClustalReport { identities: vec![right; 4], ..ClustalReport::default() };
        assert_eq!(Clustal::check(&batch, &report), Ok(()));
        let wrong = [
            PairIdentities { identities: 4, ..right },
            PairIdentities { start: [1, 0], ..right },
            PairIdentities { start: [5, 0], ..right },
            PairIdentities { end: [4, 5], ..right },
            PairIdentities { end: [3, 6], ..right },
        ];
        for pair in wrong {
            report.identities[3] = pair;
            assert!(Clustal::check(&batch, &report).is_err(), "{pair:?}");
        }
        report.unfinished = vec![0];
        assert_eq!(Clustal::check(&batch, &report), Ok(()));
        report.identities.pop();
        assert!(Clustal::check(&batch, &report).is_err());
    }
}
