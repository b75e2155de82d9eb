//! Distances of many patterns in tiles of texts, computed by all threads with an index of the
//! patterns' pieces.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::compute::{DistanceWorkspace, run_until};
use super::windows::{BlockWindows, PairWindow, Sought, regions_together};
use crate::edit::pieces::{FoundWindow, PackedTexts, PieceIndex, consecutive_ranges};
use crate::edit::{BatchDistances, EditBatch, EditBlock, EditChunk, Region};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::{Error, Result};
use crate::score::EditDistance;
use crate::seq::SequenceId;

/// Number of symbols of texts that one thread searches at a time for all patterns of an index.
const SYMBOLS_AT_ONCE: u64 = 1 << 18;
/// Number of cells that one thread computes at a time for a pattern without pieces in the index.
const CELLS_AT_ONCE: u64 = 1 << 30;

/// How a chunk is computed.
pub struct IndexRun<'a> {
    /// Flag that ends the computation.
    pub interrupt: &'a AtomicBool,
    /// Receives the numbers of pairs and cells that were computed.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// Returns the distances of the patterns of an index in all regions of a chunk, on the threads of the
/// current pool. The chunk must have packed texts. Pairs are numbered by pattern, starting with the
/// first pattern of the index, and by region.
///
/// # Errors
/// [`Error::Interrupted`] if the interrupt is set, and [`Error::Internal`] if the chunk has no packed
/// texts or too many pairs.
pub fn indexed_distances(chunk: &Arc<EditChunk>, index: &PieceIndex, run: &IndexRun<'_>) -> Result<BatchDistances> {
    let pairs = index.queries().len() * chunk.len();
    let packed = chunk.packed.as_deref().filter(|_| u32::try_from(pairs).is_ok());
    let packed = packed.ok_or_else(|| Error::Internal("a chunk is not planned for an index".into()))?;
    let search = IndexedSearch { chunk, index, run };
    let workspaces = WorkspacePool::<IndexWorkspace>::default();
    let segments = search.segments();
    packed.pack_long(segments.iter().map(|segment| chunk.region(segment.start).text));
    let found = segments.into_par_iter().map(|segment| {
        let found = workspaces.with(|workspace| search.in_segment(packed, segment.clone(), workspace))?;
        search.advance(|query| index.contains(query), segment);
        Ok(found)
    });
    let mut list: Vec<(u32, EditDistance)> = found.collect::<Result<Vec<_>>>()?.concat();
    let alone = search.blocks_without_pieces().into_par_iter().map(|block| {
        let found = workspaces.with(|workspace| search.in_block(&block, &mut workspace.distances))?;
        search.advance(|query| query == block.pattern, block.regions);
        Ok(found)
    });
    list.extend(alone.collect::<Result<Vec<_>>>()?.concat());
    // A pair keeps its least distance, and the first of equal ends.
    list.par_sort_unstable();
    list.dedup_by_key(|(pair, _)| *pair);
    Ok(BatchDistances::Listed { pairs, list })
}

/// Memory of a thread.
#[derive(Debug, Default)]
struct IndexWorkspace {
    windows: Vec<FoundWindow>,
    distances: DistanceWorkspace,
}

/// A chunk that is searched with an index.
#[derive(Clone, Copy)]
struct IndexedSearch<'a> {
    chunk: &'a Arc<EditChunk>,
    index: &'a PieceIndex,
    run: &'a IndexRun<'a>,
}

impl IndexedSearch<'_> {
    /// Returns ranges of regions that one thread searches at a time.
    fn segments(&self) -> Vec<Range<u32>> {
        let regions = 0..self.chunk.len() as u32;
        consecutive_ranges(regions, SYMBOLS_AT_ONCE, |region| u64::from(self.chunk.region(region).symbols()))
    }

    /// Returns the pairs within the limit in a segment of the regions, in any order. A pair can be
    /// returned several times.
    fn in_segment(
        &self,
        packed: &PackedTexts,
        segment: Range<u32>,
        workspace: &mut IndexWorkspace,
    ) -> Result<Vec<(u32, EditDistance)>> {
        let IndexedSearch { chunk, index, .. } = *self;
        let mut found = BlockWindows::default();
        let mut start = segment.start;
        while start < segment.end {
            let (end, Region { text, start: begin, end: last }) = regions_together(chunk, start..segment.end);
            let regions: Vec<Region> = (start..end).map(|region| chunk.region(region)).collect();
            index.windows(packed, text, begin as usize..last as usize, &mut workspace.windows);
            for &FoundWindow { query, start: before, end: until } in &workspace.windows {
                let pattern = chunk.patterns.codes(query);
                let limit = chunk.scheme.limit(pattern.len() as u32, u32::MAX);
                let sought = Sought { pattern, codes: chunk.texts.codes(text), limit };
                let pair = self.pair(query, start);
                found.add(pair as usize, &regions, before as usize..until as usize, sought);
            }
            start = end;
        }
        let BlockWindows { pairs, windows } = found;
        let mut results = Vec::new();
        let put = |window: usize, result: EditDistance| {
            if result.is_some() {
                let PairWindow { pair, before } = windows[window];
                results.push((pair as u32, EditDistance { end: result.end + before, ..result }));
            }
        };
        let pairs = pairs.into_iter().enumerate().collect();
        let is_over = || self.run.interrupt.load(Ordering::Relaxed);
        workspace.distances.compute_pairs(&chunk.scheme, pairs, is_over, put).ok_or(Error::Interrupted)?;
        Ok(results)
    }

    /// Returns blocks of the patterns that have no pieces in the index.
    fn blocks_without_pieces(&self) -> Vec<EditBlock> {
        let queries = self.index.queries().filter(|&query| !self.index.contains(query));
        let blocks = queries.flat_map(|pattern| {
            let symbols = u64::from(self.chunk.patterns.length(pattern));
            let cells = |region: u32| symbols * u64::from(self.chunk.region(region).symbols());
            let ranges = consecutive_ranges(0..self.chunk.len() as u32, CELLS_AT_ONCE, cells);
            let block = |regions: Range<u32>| EditBlock { pattern, cells: regions.clone().map(cells).sum(), regions };
            ranges.into_iter().map(block).collect::<Vec<_>>()
        });
        blocks.collect()
    }

    /// Returns the pairs of a block that are within the limit.
    fn in_block(&self, block: &EditBlock, workspace: &mut DistanceWorkspace) -> Result<Vec<(u32, EditDistance)>> {
        let batch = EditBatch { chunk: Arc::clone(self.chunk), blocks: vec![block.clone()] };
        let is_over = || self.run.interrupt.load(Ordering::Relaxed);
        let results = run_until(&batch, workspace, is_over).ok_or(Error::Interrupted)?;
        let numbered = (self.pair(block.pattern, block.regions.start)..).zip(results);
        Ok(numbered.filter(|(_, result)| result.is_some()).collect())
    }

    /// Returns the number of a pair.
    fn pair(&self, query: SequenceId, region: u32) -> u32 {
        (query - self.index.queries().start) * self.chunk.len() as u32 + region
    }

    /// Reports the pairs of some patterns with regions as computed.
    fn advance(&self, is_computed: impl Fn(SequenceId) -> bool, regions: Range<u32>) {
        let queries = self.index.queries().filter(|&query| is_computed(query));
        let (mut patterns, mut rows) = (0, 0);
        for query in queries {
            patterns += 1;
            rows += u64::from(self.chunk.patterns.length(query));
        }
        let columns: u64 = regions.clone().map(|region| u64::from(self.chunk.region(region).symbols())).sum();
        (self.run.progress)(patterns * regions.len() as u64, rows * columns);
    }
}
