//! Lengths, limits and counts of a batch, which determine the candidates.

use rayon::prelude::*;

use crate::edit::{BlockGroup, EditBatch, EditBlock, GROUP_PAIRS, group_blocks};
use crate::score::{EditDistance, EditMode, Limit};

/// Invocations per workgroup of the kernels whose workgroups share a pattern.
pub(super) const PATTERN_WORKGROUP: u32 = 32;
/// Number of blocks that one thread processes at a time.
pub(super) const BLOCKS_AT_ONCE: usize = 1 << 12;

/// Lengths, limits and counts of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EditExtent {
    /// Number of symbols of the longest pattern.
    pub pattern_symbols: u32,
    /// Number of symbols of the shortest pattern.
    pub least_pattern_symbols: u32,
    /// Number of symbols of the longest text, as far as kernels need to read it.
    pub text_symbols: u32,
    /// Upper bound on the limits of all pairs. The host applies each pair's own limit.
    pub limit: u32,
    /// Number of pairs.
    pub pairs: u64,
    /// Fraction of invocations with a pair, if a workgroup has [`PATTERN_WORKGROUP`] pairs of one
    /// pattern.
    pub filled: f64,
}

impl EditExtent {
    /// Computes the extent of a batch on the threads of the current pool.
    pub fn from_batch(batch: &EditBatch) -> Self {
        let (chunk, scheme) = (&batch.chunk, &*batch.chunk.scheme);
        let (least_text, longest_text) = chunk.text_symbols();
        let are_equal = least_text == longest_text;
        let tally = |tally: ExtentTally, block: &EditBlock| {
            let (m, pairs) = (chunk.patterns.length(block.pattern), block.pairs());
            tally.merge(ExtentTally {
                shortest: m,
                longest: m,
                limit: if are_equal && pairs > 0 { scheme.limit(m, longest_text) } else { 0 },
                pairs,
                needed: pairs.next_multiple_of(u64::from(PATTERN_WORKGROUP)),
            })
        };
        let blocks = batch.blocks.par_iter().with_min_len(BLOCKS_AT_ONCE);
        let all = blocks.fold(|| ExtentTally::NOTHING, tally).reduce(|| ExtentTally::NOTHING, ExtentTally::merge);
        let greatest_limit = |group: BlockGroup| {
            let blocks = batch.blocks[group.blocks].iter();
            let limits = blocks.flat_map(|block| {
                let m = chunk.patterns.length(block.pattern);
                block.regions.clone().map(move |index| scheme.limit(m, chunk.region(index).symbols()))
            });
            limits.max().unwrap_or(0)
        };
        let limit = match (scheme.mode, scheme.limit) {
            (EditMode::Global, _) if are_equal => all.limit,
            (EditMode::Global, _) => {
                group_blocks(batch, GROUP_PAIRS).into_par_iter().map(greatest_limit).max().unwrap_or(0)
            }
            // Pairs above the reach's rate of differences have no distance.
            (EditMode::Overlap(_), _) => EditDistance::NONE.distance - 1,
            (EditMode::Infix | EditMode::Prefix, Limit::Distance(distance)) => distance,
            (EditMode::Infix | EditMode::Prefix, _) => scheme.limit(all.longest, u32::MAX),
        };
        // In prefix mode, every distance beyond this column is at least the length of the pattern.
        let most = if scheme.mode == EditMode::Prefix { 2 * all.longest } else { u32::MAX };
        EditExtent {
            pattern_symbols: all.longest,
            least_pattern_symbols: all.shortest.min(all.longest),
            text_symbols: longest_text.min(most),
            limit,
            pairs: all.pairs,
            filled: all.pairs as f64 / all.needed.max(1) as f64,
        }
    }
}

/// Totals of some blocks.
struct ExtentTally {
    shortest: u32,
    longest: u32,
    /// Largest limit of a pair, if all texts have the same length.
    limit: u32,
    pairs: u64,
    /// Number of pairs, rounded up to whole workgroups for each pattern.
    needed: u64,
}

impl ExtentTally {
    const NOTHING: ExtentTally = ExtentTally { shortest: u32::MAX, longest: 0, limit: 0, pairs: 0, needed: 0 };

    fn merge(self, other: ExtentTally) -> ExtentTally {
        ExtentTally {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
            limit: self.limit.max(other.limit),
            pairs: self.pairs + other.pairs,
            needed: self.needed + other.needed,
        }
    }
}
