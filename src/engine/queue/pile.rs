//! Piles of waiting blocks, and the selection of a batch from a pile.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ChunkInfo;
use crate::engine::{Portion, Work};

/// Largest number of batches in a pile that is divided into equal parts.
const MANY_PARTS: u64 = 64;

/// Waiting blocks of one chunk.
pub(super) struct Pile<W: Work> {
    pub info: Arc<ChunkInfo>,
    pub chunk: Arc<W::Chunk>,
    pub blocks: VecDeque<(W::Class, W::Block)>,
    /// Whether only an engine that accepts every batch may take these blocks, because another
    /// engine could not compute them.
    pub universal_only: bool,
    /// Class of the first block, and the number of cells in the run of blocks of that class at the
    /// front; `None` until they are counted.
    counted: Option<(W::Class, u64)>,
}

impl<W: Work> Pile<W> {
    /// Returns a pile of waiting blocks.
    pub(super) fn new(
        info: Arc<ChunkInfo>,
        chunk: Arc<W::Chunk>,
        blocks: VecDeque<(W::Class, W::Block)>,
        universal_only: bool,
    ) -> Self {
        Pile { info, chunk, blocks, universal_only, counted: None }
    }

    /// Appends blocks.
    pub(super) fn extend(&mut self, blocks: impl IntoIterator<Item = (W::Class, W::Block)>) {
        self.blocks.extend(blocks);
        self.counted = None;
    }

    /// Returns the number of cells in the run of blocks of this class at the front. The sum is
    /// stored, because counting a long pile at every pull would be slow.
    fn leading_cells(&mut self, class: W::Class) -> u64 {
        if let Some((_, cells)) = self.counted.filter(|(counted, _)| *counted == class) {
            return cells;
        }
        let leading = self.blocks.iter().take_while(|(next, _)| *next == class);
        let cells = leading.fold(0u64, |sum, (_, block)| sum.saturating_add(W::cells(block)));
        self.counted = Some((class, cells));
        cells
    }
}

/// Returns the cells of the first pair of the next batch of a pile.
pub(super) fn next_pair_cells<W: Work>(pile: &Pile<W>) -> Option<u64> {
    W::first_cells(&pile.chunk, &pile.blocks.front()?.1)
}

/// Blocks taken from a pile.
pub(super) struct TakenBlocks<W: Work> {
    pub class: W::Class,
    pub blocks: Vec<W::Block>,
    /// Number of pairs in the blocks.
    pub pairs: u64,
    /// Number of cells in the blocks.
    pub cells: u64,
}

/// Takes blocks of one class from the front of a pile: as many as fit the portion, but at least one
/// pair.
///
/// The last block is split to fit the portion. The split is at a multiple of `group` pairs if the
/// block has that many.
pub(super) fn take_blocks<W: Work>(pile: &mut Pile<W>, portion: Portion, group: u64) -> Option<TakenBlocks<W>> {
    let class = pile.blocks.front()?.0;
    // Equal parts are better than full parts and a small remainder, because the device is only
    // partly busy at the end of every batch. If there are many parts, a remainder does not matter.
    let all = pile.leading_cells(class);
    let waiting = if all / MANY_PARTS > portion.cells { portion.cells } else { all };
    let parts = waiting.div_ceil(portion.cells.max(1)).max(1);
    let portion = Portion { cells: waiting.div_ceil(parts).max(1), ..portion };
    let one_block = W::one_block(&pile.chunk, portion.target_bytes);
    // Estimated number of blocks in the batch; exact if all blocks have the same size.
    let likely = (pile.blocks.len() as f64 * portion.cells as f64 / all.max(1) as f64) as u64;
    let block_capacity = likely.min(portion.pairs).min(pile.blocks.len() as u64) as usize;
    let (mut blocks, mut left): (Vec<W::Block>, Portion) = (Vec::with_capacity(block_capacity), portion);
    let (mut pairs, mut cells) = (0, 0);
    while let Some((_, block)) = pile.blocks.pop_front_if(|(next, _)| *next == class) {
        // Splitting off a small piece to fill the end of a batch is not worthwhile.
        let sliver = W::cells(&block) > left.cells && left.cells < portion.cells / 16;
        if !blocks.is_empty() && (one_block || sliver || left.cells == 0 || left.pairs == 0) {
            pile.blocks.push_front((class, block));
            break;
        }
        let (head, tail) = if W::fits(&block, left) {
            (block, None)
        } else {
            let (head, tail) = W::split(&pile.chunk, block.clone(), left);
            let over = W::pairs(&head) % group.max(1);
            if tail.is_some() && over > 0 && W::pairs(&head) > over {
                W::split(&pile.chunk, block, Portion { pairs: W::pairs(&head) - over, ..left })
            } else {
                (head, tail)
            }
        };
        let (head_pairs, head_cells) = (W::pairs(&head), W::cells(&head));
        left.cells = left.cells.saturating_sub(head_cells);
        left.pairs = left.pairs.saturating_sub(head_pairs);
        (pairs, cells) = (pairs + head_pairs, cells + head_cells);
        blocks.push(head);
        if let Some(tail) = tail {
            pile.blocks.push_front((class, tail));
            break;
        }
    }
    // Subtract the taken cells. A saturated sum is discarded, because the remainder is unknown.
    pile.counted = Some((class, all.saturating_sub(cells))).filter(|_| all < u64::MAX);
    Some(TakenBlocks { class, blocks, pairs, cells })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, EditBlock, EditChunk, TextRegions};
    use crate::score::{EditMode, EditScheme, Equality, Limit};
    use crate::seq::{Alphabet, SequenceStore};

    /// The selection does not depend on whether the waiting blocks were counted at an earlier pull.
    #[test]
    fn stored_sums_do_not_change_the_selection() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        store.push("s", &[1, 2, 4]).unwrap();
        let store = Arc::new(store.build());
        let scheme =
            EditScheme { mode: EditMode::Global, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
        let places = TextRegions::Texts(vec![0; 50].into());
        let chunk = Arc::new(EditChunk::new(Arc::clone(&store), store, Arc::new(scheme), places));
        let info = Arc::new(ChunkInfo { index: 0, queries: 0..1, pairs: 0 });
        let block = |pairs: u32| EditBlock { pattern: 0, regions: 0..pairs, cells: 9 * u64::from(pairs) };
        let some = |class: u32, sizes: &[u32]| sizes.iter().map(|&size| (class, block(size))).collect::<Vec<_>>();
        let pile = |blocks| Pile::<Edit>::new(Arc::clone(&info), Arc::clone(&chunk), blocks, false);
        for cells in [1, 20, 100, 333, 9 * 50, 10_000] {
            for pairs in [1, 7, 1000] {
                let portion = Portion { cells, pairs, target_bytes: u64::MAX };
                let mut reused = pile([some(2, &[50, 1, 30, 7]), some(1, &[3; 20]), some(2, &[9, 50])].concat().into());
                let (mut all, mut later) = (0, some(2, &[11, 2]));
                while let Some(class) = reused.blocks.front().map(|(class, _)| *class) {
                    if all >= 100 {
                        reused.extend(later.drain(..));
                    }
                    let mut fresh = pile(reused.blocks.clone());
                    let (one, other) = (take_blocks(&mut reused, portion, 4), take_blocks(&mut fresh, portion, 4));
                    let (one, other) = (one.expect("some"), other.expect("some"));
                    assert_eq!((one.class, &one.blocks), (class, &other.blocks));
                    assert_eq!(reused.blocks, fresh.blocks);
                    assert_eq!(one.pairs, one.blocks.iter().map(EditBlock::pairs).sum::<u64>());
                    assert_eq!(one.cells, 9 * one.pairs);
                    all += one.pairs;
                }
                assert_eq!(all, 50 + 1 + 30 + 7 + 60 + 59 + 13);
            }
        }
    }
}
