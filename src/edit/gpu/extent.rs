//! What a batch's pairs come to: what ways to compute it depend on.

use rayon::prelude::*;

use crate::edit::{EditBatch, EditBlock, GROUP_PAIRS, Group, groups};
use crate::score::{EditDistance, EditMode, Limit};

/// Invocations a workgroup of `myers_band`: as many pairs of one pattern.
pub(super) const BAND_WORKGROUP: u32 = 32;
/// Blocks that one thread looks at at a time.
pub(super) const BLOCKS_AT_ONCE: usize = 1 << 12;

/// Greatest lengths in a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Longest pattern.
    pub pattern_symbols: u32,
    /// Shortest pattern.
    pub least_pattern_symbols: u32,
    /// Longest text, as far as it is looked at.
    pub text_symbols: u32,
    /// No pair's limit is above it; the host looks at each pair's own.
    pub limit: u32,
    /// Pairs.
    pub pairs: u64,
    /// Workgroups of so many pairs of one pattern that the pairs would fill at best, of so many that they need.
    pub filled: f64,
}

impl Extent {
    /// Those of a batch, found on the threads of the pool that this runs in.
    pub fn of(batch: &EditBatch) -> Self {
        let (chunk, scheme) = (&batch.chunk, &*batch.chunk.scheme);
        let (least_text, longest_text) = chunk.text_symbols();
        let are_equal = least_text == longest_text;
        let tally = |tally: Tally, block: &EditBlock| {
            let (m, pairs) = (chunk.patterns.length(block.pattern), block.pairs());
            tally.and(Tally {
                shortest: m,
                longest: m,
                limit: if are_equal && pairs > 0 { scheme.limit(m, longest_text) } else { 0 },
                pairs,
                needed: pairs.next_multiple_of(u64::from(BAND_WORKGROUP)),
            })
        };
        let blocks = batch.blocks.par_iter().with_min_len(BLOCKS_AT_ONCE);
        let all = blocks.fold(|| Tally::NOTHING, tally).reduce(|| Tally::NOTHING, Tally::and);
        let greatest_limit = |group: Group| {
            let blocks = batch.blocks[group.blocks].iter();
            let limits = blocks.flat_map(|block| {
                let m = chunk.patterns.length(block.pattern);
                block.places.clone().map(move |place| scheme.limit(m, chunk.region(place).symbols()))
            });
            limits.max().unwrap_or(0)
        };
        let limit = match (scheme.mode, scheme.limit) {
            (EditMode::Global, _) if are_equal => all.limit,
            (EditMode::Global, _) => groups(batch, GROUP_PAIRS).into_par_iter().map(greatest_limit).max().unwrap_or(0),
            // What is above the reach's rate has no distance.
            (EditMode::Overlap(_), _) => EditDistance::NONE.distance - 1,
            (EditMode::Infix | EditMode::Prefix, Limit::Distance(distance)) => distance,
            (EditMode::Infix | EditMode::Prefix, _) => scheme.limit(all.longest, u32::MAX),
        };
        // In prefix mode no distance beyond is less than the pattern's length.
        let most = if scheme.mode == EditMode::Prefix { 2 * all.longest } else { u32::MAX };
        Extent {
            pattern_symbols: all.longest,
            least_pattern_symbols: all.shortest.min(all.longest),
            text_symbols: longest_text.min(most),
            limit,
            pairs: all.pairs,
            filled: all.pairs as f64 / all.needed.max(1) as f64,
        }
    }
}

/// What some blocks come to.
struct Tally {
    shortest: u32,
    longest: u32,
    /// The greatest limit of a pair, where all texts have one length.
    limit: u32,
    pairs: u64,
    /// Pairs, if a workgroup has those of one pattern only.
    needed: u64,
}

impl Tally {
    const NOTHING: Tally = Tally { shortest: u32::MAX, longest: 0, limit: 0, pairs: 0, needed: 0 };

    fn and(self, other: Tally) -> Tally {
        Tally {
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
            limit: self.limit.max(other.limit),
            pairs: self.pairs + other.pairs,
            needed: self.needed + other.needed,
        }
    }
}
