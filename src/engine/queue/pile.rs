//! Blocks that wait, and how many of them go into a batch.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ChunkInfo;
use crate::engine::{Portion, Work};

/// Parts of what waits that are not made equal.
const MANY_PARTS: u64 = 64;

/// Blocks that wait, all of one chunk.
pub(super) struct Pile<W: Work> {
    pub info: Arc<ChunkInfo>,
    pub chunk: Arc<W::Chunk>,
    pub blocks: VecDeque<(W::Class, W::Block)>,
    /// Some engine could not do these: only one that does anything may take them.
    pub universal_only: bool,
    /// The class of the first blocks, and the cells of all blocks of it that follow each other, once they were counted.
    counted: Option<(W::Class, u64)>,
}

impl<W: Work> Pile<W> {
    /// Blocks that wait.
    pub(super) fn new(
        info: Arc<ChunkInfo>,
        chunk: Arc<W::Chunk>,
        blocks: VecDeque<(W::Class, W::Block)>,
        universal_only: bool,
    ) -> Self {
        Pile { info, chunk, blocks, universal_only, counted: None }
    }

    /// More of them.
    pub(super) fn extend(&mut self, blocks: impl IntoIterator<Item = (W::Class, W::Block)>) {
        self.blocks.extend(blocks);
        self.counted = None;
    }

    /// Cells of the first blocks of one class. A chunk may have more blocks than should be counted at every pull.
    fn waiting(&mut self, class: W::Class) -> u64 {
        if let Some((_, cells)) = self.counted.filter(|(counted, _)| *counted == class) {
            return cells;
        }
        let own = self.blocks.iter().take_while(|(next, _)| *next == class);
        let cells = own.fold(0u64, |sum, (_, block)| sum.saturating_add(W::cells(block)));
        self.counted = Some((class, cells));
        cells
    }
}

/// Cells of the pair that the next batch of a pile begins with.
pub(super) fn next_pair_cells<W: Work>(pile: &Pile<W>) -> Option<u64> {
    W::first_cells(&pile.chunk, &pile.blocks.front()?.1)
}

/// What was taken from a pile.
pub(super) struct Taking<W: Work> {
    pub class: W::Class,
    pub blocks: Vec<W::Block>,
    /// Of the blocks.
    pub pairs: u64,
    pub cells: u64,
}

/// Takes blocks of one class from a pile, splitting the last to fit the portion, at a multiple of `group` pairs if there are
/// as many; at least one pair.
pub(super) fn take_blocks<W: Work>(pile: &mut Pile<W>, portion: Portion, group: u64) -> Option<Taking<W>> {
    let class = pile.blocks.front()?.0;
    // Equal parts rather than whole ones and a remainder: every batch ends with a time in which the device runs dry. Of many
    // parts, the last may be a remainder.
    let all = pile.waiting(class);
    let waiting = if all / MANY_PARTS > portion.cells { portion.cells } else { all };
    let parts = waiting.div_ceil(portion.cells.max(1)).max(1);
    let portion = Portion { cells: waiting.div_ceil(parts).max(1), ..portion };
    let one_block = W::one_block(&pile.chunk, portion.target_bytes);
    // As many as there will be, where all are alike.
    let likely = (pile.blocks.len() as f64 * portion.cells as f64 / all.max(1) as f64) as u64;
    let room = likely.min(portion.pairs).min(pile.blocks.len() as u64) as usize;
    let (mut blocks, mut left): (Vec<W::Block>, Portion) = (Vec::with_capacity(room), portion);
    let (mut pairs, mut cells) = (0, 0);
    while let Some((_, block)) = pile.blocks.pop_front_if(|(next, _)| *next == class) {
        // A sliver at the end of a batch is not worth a split.
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
        let (own_pairs, own_cells) = (W::pairs(&head), W::cells(&head));
        left.cells = left.cells.saturating_sub(own_cells);
        left.pairs = left.pairs.saturating_sub(own_pairs);
        (pairs, cells) = (pairs + own_pairs, cells + own_cells);
        blocks.push(head);
        if let Some(tail) = tail {
            pile.blocks.push_front((class, tail));
            break;
        }
    }
    // What was taken waits no longer. A sum that has reached its bound says nothing of what is left.
    pile.counted = Some((class, all.saturating_sub(cells))).filter(|_| all < u64::MAX);
    Some(Taking { class, blocks, pairs, cells })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, EditBlock, EditChunk, Places};
    use crate::score::{EditMode, EditScheme, Equality, Limit};
    use crate::seq::{Alphabet, SequenceStore};

    /// What is taken does not depend on whether the blocks that wait were counted at an earlier pull.
    #[test]
    fn piles_remember_what_waits() {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        store.push("s", &[1, 2, 4]).unwrap();
        let store = Arc::new(store.build());
        let scheme =
            EditScheme { mode: EditMode::Global, equality: Equality::literal(Alphabet::Dna), limit: Limit::None };
        let places = Places::Texts(vec![0; 50].into());
        let chunk = Arc::new(EditChunk::new(Arc::clone(&store), store, Arc::new(scheme), places));
        let info = Arc::new(ChunkInfo { index: 0, queries: 0..1, pairs: 0 });
        let block = |pairs: u32| EditBlock { pattern: 0, places: 0..pairs, cells: 9 * u64::from(pairs) };
        let some = |class: u32, sizes: &[u32]| sizes.iter().map(|&size| (class, block(size))).collect::<Vec<_>>();
        let pile = |blocks| Pile::<Edit>::new(Arc::clone(&info), Arc::clone(&chunk), blocks, false);
        for cells in [1, 20, 100, 333, 9 * 50, 10_000] {
            for pairs in [1, 7, 1000] {
                let portion = Portion { cells, pairs, target_bytes: u64::MAX };
                let mut own = pile([some(2, &[50, 1, 30, 7]), some(1, &[3; 20]), some(2, &[9, 50])].concat().into());
                let (mut all, mut later) = (0, some(2, &[11, 2]));
                while let Some(class) = own.blocks.front().map(|(class, _)| *class) {
                    if all >= 100 {
                        own.extend(later.drain(..));
                    }
                    let mut anew = pile(own.blocks.clone());
                    let (one, other) = (take_blocks(&mut own, portion, 4), take_blocks(&mut anew, portion, 4));
                    let (one, other) = (one.expect("some"), other.expect("some"));
                    assert_eq!((one.class, &one.blocks), (class, &other.blocks));
                    assert_eq!(own.blocks, anew.blocks);
                    assert_eq!(one.pairs, one.blocks.iter().map(EditBlock::pairs).sum::<u64>());
                    assert_eq!(one.cells, 9 * one.pairs);
                    all += one.pairs;
                }
                assert_eq!(all, 50 + 1 + 30 + 7 + 60 + 59 + 13);
            }
        }
    }
}
