//! Pairs of a batch that are computed a second time.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::buffer_pool::WorkspacePool;
use crate::error::Result;
use crate::pairs::cpu::compute::{self, ScoreWorkspace};
use crate::pairs::kernels::tile_tasks::{self, TileRun};
use crate::pairs::{PairsBatch, PairsBlock, PairsChunk, ResultFilter};
use crate::seq::SequenceId;

/// Number of targets that a host thread computes together.
const PIECE_TARGETS: u32 = 64;

/// Maps indices of pairs to queries and targets.
pub(super) struct PairLocator<'a> {
    batch: &'a PairsBatch,
    /// Number of pairs before each block.
    begins: Vec<u64>,
    /// Block of the last pair that was found. The next pair usually belongs to the same block.
    last: usize,
}

impl<'a> PairLocator<'a> {
    pub(super) fn new(batch: &'a PairsBatch) -> Self {
        PairLocator { batch, begins: tile_tasks::block_begins(batch), last: 0 }
    }

    /// Returns the query and the target of the pair with this index.
    pub(super) fn find(&mut self, pair: u32) -> (SequenceId, SequenceId) {
        let pair = u64::from(pair);
        let blocks = &self.batch.blocks;
        let is_there = (self.begins[self.last]..self.begins[self.last] + blocks[self.last].pairs()).contains(&pair);
        if !is_there {
            self.last = self.begins.partition_point(|&begin| begin <= pair) - 1;
        }
        let block = &blocks[self.last];
        let index = block.targets.start + (pair - self.begins[self.last]) as u32;
        (block.query, self.batch.chunk.order[index as usize])
    }
}

/// Some pairs of a batch, query by query.
pub(super) struct RecomputedPairs {
    pub chunk: PairsChunk,
    pub blocks: Vec<PairsBlock>,
    /// For each pair in the order of the blocks, its index in the list of requested pairs.
    order: Vec<usize>,
}

impl RecomputedPairs {
    pub(super) fn new(batch: &PairsBatch, pairs: &[u32]) -> Self {
        let mut locator = PairLocator::new(batch);
        let chunk = &batch.chunk;
        let mut all: Vec<(u32, u32, usize)> = pairs
            .iter()
            .enumerate()
            .map(|(which, &pair)| {
                let (query, target) = locator.find(pair);
                (query, target, which)
            })
            .collect();
        all.sort_by_key(|&(query, target, which)| (query, std::cmp::Reverse(chunk.targets.length(target)), which));
        let mut blocks = Vec::new();
        let mut end = 0u32;
        for of_query in all.chunk_by(|one, other| one.0 == other.0) {
            let (query, begin) = (of_query[0].0, end);
            end += of_query.len() as u32;
            let symbols: u64 = of_query.iter().map(|pair| u64::from(chunk.targets.length(pair.1))).sum();
            let cells = u64::from(chunk.queries.length(query)) * symbols;
            blocks.push(PairsBlock { query, targets: begin..end, cells });
        }
        let chunk = PairsChunk {
            queries: Arc::clone(&chunk.queries),
            targets: Arc::clone(&chunk.targets),
            order: all.iter().map(|pair| pair.1).collect(),
            scoring: Arc::clone(&chunk.scoring),
            filter: ResultFilter::Scores,
            earlier_is_query: chunk.earlier_is_query,
        };
        RecomputedPairs { chunk, blocks, order: all.into_iter().map(|pair| pair.2).collect() }
    }

    pub(super) fn cells(&self) -> u64 {
        self.blocks.iter().map(|block| block.cells).sum()
    }

    /// Returns one run per block.
    pub(super) fn runs(&self) -> Vec<TileRun> {
        let run = |block: &PairsBlock| TileRun::single_query(block.query, block.targets.start, block.targets.clone());
        self.blocks.iter().map(run).collect()
    }

    /// Returns the index of one of these pairs in the list of requested pairs.
    pub(super) fn named(&self, index: u32) -> usize {
        self.order[index as usize]
    }

    /// Computes the scores of all pairs on the host: on the threads of a pool, or on this thread.
    ///
    /// # Errors
    /// See [`compute::run_block`].
    pub(super) fn compute_scores_on_host(&self, pool: Option<&rayon::ThreadPool>) -> Result<Vec<(u32, i32)>> {
        let score = |workspace: &mut ScoreWorkspace, piece: &PairsBlock| {
            let hits = compute::run_block(&self.chunk, piece, workspace)?;
            // i32 holds all scores of the batch.
            Ok(piece.targets.clone().zip(hits.into_iter().map(|hit| hit.score as i32)).collect())
        };
        let mut pieces = self.pieces();
        // The largest pieces come first, so that all threads end at about the same time.
        pieces.sort_by_key(|piece| Reverse(piece.cells));
        let scores: Result<Vec<Vec<(u32, i32)>>> = match pool {
            Some(pool) => {
                let pieces = pieces.par_iter().with_max_len(1);
                let workspaces = WorkspacePool::default();
                pool.install(|| pieces.map(|piece| workspaces.with(|workspace| score(workspace, piece))).collect())
            }
            None => {
                let mut workspace = ScoreWorkspace::new();
                pieces.iter().map(|piece| score(&mut workspace, piece)).collect()
            }
        };
        Ok(scores?.into_iter().flatten().collect())
    }

    /// Divides the blocks into pieces, each with as many targets as a thread computes together.
    fn pieces(&self) -> Vec<PairsBlock> {
        let pieces = |block: &PairsBlock| {
            let Range { start, end } = block.targets;
            let pair = block.cells / u64::from(end - start).max(1);
            let query = block.query;
            let piece = move |start: u32| {
                let targets = start..end.min(start + PIECE_TARGETS);
                PairsBlock { query, cells: pair * targets.len() as u64, targets }
            };
            (start..end).step_by(PIECE_TARGETS as usize).map(piece)
        };
        self.blocks.iter().flat_map(pieces).collect()
    }
}
