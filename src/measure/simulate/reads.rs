//! Reads and their candidate regions in a random genome (Chacon et al. 2014, section 4.1).

use std::sync::Arc;

use rayon::prelude::*;

use super::random;
use crate::edit::{EditBatch, EditBlock, EditChunk, Region, TextRegions};
use crate::pairs::gpu::tune::random_store;
use crate::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Number of candidate regions of a read.
pub(crate) const CANDIDATES: u32 = 20;
/// A read of m symbols may have up to m / `ERRORS` errors. Its region extends beyond it by this
/// number of symbols at each end.
const ERRORS: u32 = 5;
/// Inverse of the mean fraction of changed symbols in a read.
pub(crate) const CHANGED: u32 = 20;

/// Returns a random genome.
pub(crate) fn genome(symbols: usize, seed: u64) -> Arc<SequenceStore> {
    Arc::new(random_store(Alphabet::Dna, 1, symbols, seed))
}

/// Simulated reads of one length, and their comparison.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedReads {
    /// The genome that the reads come from.
    pub genome: Arc<SequenceStore>,
    /// The edit scheme.
    pub scheme: Arc<EditScheme>,
    /// Number of symbols of a read.
    pub length: u32,
}

impl SimulatedReads {
    /// Creates reads of `length` symbols.
    pub(crate) fn new(genome: &Arc<SequenceStore>, mode: EditMode, limit: Limit, length: u32) -> Self {
        let scheme = EditScheme { mode, equality: Equality::dna(Ambiguity::Overlap, true), limit };
        SimulatedReads { genome: Arc::clone(genome), scheme: Arc::new(scheme), length }
    }

    /// Returns the number of symbols of the region for a read of `length` symbols. It equals
    /// `length` in global mode.
    pub(crate) fn region_symbols(mode: EditMode, length: u32) -> u32 {
        if mode == EditMode::Global { length } else { length + 2 * (length / ERRORS) }
    }

    /// Returns the number of symbols of the regions.
    pub(crate) fn text_symbols(&self) -> u32 {
        Self::region_symbols(self.scheme.mode, self.length)
    }

    /// Returns `count` reads. Each has the region that it comes from and other random regions.
    pub(crate) fn batch(&self, count: u32, seed: u64) -> Arc<EditBatch> {
        let genome = self.genome.codes(0);
        let symbols = self.text_symbols();
        let before = (symbols - self.length) / 2;
        let starts = genome.len() as u32 - symbols + 1;
        let parts = (0..count).into_par_iter().map(|read| {
            let mut next = random(seed ^ u64::from(read) << 32);
            let mut region = || {
                let start = next() % starts;
                Region { text: 0, start, end: start + symbols }
            };
            let regions: Vec<Region> = (0..CANDIDATES).map(|_| region()).collect();
            let first = (regions[0].start + before) as usize;
            let origin = genome[first..first + self.length as usize].iter();
            // Replaces a base by a different one.
            let changed =
                |&code: &Code| if next().is_multiple_of(CHANGED) { (code << 1 | code >> 3) & 15 } else { code };
            (origin.map(changed).collect::<Vec<Code>>(), regions)
        });
        let parts: Vec<(Vec<Code>, Vec<Region>)> = parts.collect();
        let mut patterns = SequenceStore::builder(Alphabet::Dna);
        let mut regions = Vec::with_capacity(parts.len() * CANDIDATES as usize);
        for (index, (codes, origin)) in parts.into_iter().enumerate() {
            patterns.push_valid(format!("read{index}"), &codes);
            regions.extend(origin);
        }
        let cells = u64::from(CANDIDATES) * u64::from(self.length) * u64::from(symbols);
        let blocks = (0..count).map(|pattern| {
            let first = pattern * CANDIDATES;
            EditBlock { pattern, regions: first..first + CANDIDATES, cells }
        });
        let (texts, scheme) = (Arc::clone(&self.genome), Arc::clone(&self.scheme));
        let chunk = EditChunk::new(Arc::new(patterns.build()), texts, scheme, TextRegions::Regions(Arc::new(regions)));
        Arc::new(EditBatch { chunk: Arc::new(chunk), blocks: blocks.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::oracle;

    #[test]
    fn reads_match_the_first_of_their_regions() {
        let genome = genome(1_000_000, 7);
        for (mode, symbols) in [(EditMode::Infix, 140), (EditMode::Global, 100)] {
            let reads = SimulatedReads::new(&genome, mode, Limit::None, 100);
            let batch = reads.batch(30, 3);
            assert_eq!((batch.pairs(), batch.cells()), (600, 600 * 100 * symbols));
            assert_eq!(batch.chunk.patterns, reads.batch(30, 3).chunk.patterns);
            assert_ne!(batch.chunk.patterns, reads.batch(30, 4).chunk.patterns);
            for block in &batch.blocks {
                let read = batch.chunk.patterns.codes(block.pattern);
                let distance = |position| oracle::find(read, batch.chunk.text(position), &reads.scheme).distance;
                let first = block.regions.start;
                assert!(distance(first) < 20, "{mode:?}: {}", distance(first));
                assert!(distance(first + 1) > 20, "{mode:?}: {}", distance(first + 1));
            }
        }
    }
}
