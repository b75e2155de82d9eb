//! Blocks that wait, and how many of them go into a batch.

use std::collections::VecDeque;
use std::sync::Arc;

use super::BandInfo;
use crate::engine::{Portion, Work};

/// Parts of what waits that are not made equal.
const MANY_PARTS: u64 = 64;

/// Blocks that wait, all of one band.
pub(super) struct Pile<W: Work> {
    pub info: Arc<BandInfo>,
    pub band: Arc<W::Band>,
    pub blocks: VecDeque<(W::Class, W::Block)>,
    /// Some engine could not do these: only one that does anything may take them.
    pub universal_only: bool,
}

/// Cells of the pair that the next batch of a pile begins with.
pub(super) fn next_pair_cells<W: Work>(pile: &Pile<W>) -> Option<u64> {
    W::first_cells(&pile.band, &pile.blocks.front()?.1)
}

/// Takes blocks of one class from a pile, splitting the last to fit the portion, at a multiple of `group` pairs if there are
/// as many; at least one pair.
pub(super) fn take_blocks<W: Work>(
    pile: &mut Pile<W>,
    portion: Portion,
    group: u64,
) -> Option<(W::Class, Vec<W::Block>)> {
    let class = pile.blocks.front()?.0;
    // Equal parts rather than whole ones and a remainder: every batch ends with a time in which the device runs dry.
    let mut waiting = 0u64;
    for (_, block) in pile.blocks.iter().take_while(|(next, _)| *next == class) {
        waiting = waiting.saturating_add(W::cells(block));
        if waiting / MANY_PARTS > portion.cells {
            // Of so many parts, the last may be a remainder; a pull should not look at every block of a large band.
            waiting = portion.cells;
            break;
        }
    }
    let parts = waiting.div_ceil(portion.cells.max(1)).max(1);
    let portion = Portion { cells: waiting.div_ceil(parts).max(1), ..portion };
    let one_block = W::one_block(&pile.band, portion.target_bytes);
    let (mut blocks, mut left): (Vec<W::Block>, Portion) = (Vec::new(), portion);
    while let Some((_, block)) = pile.blocks.pop_front_if(|(next, _)| *next == class) {
        // A sliver at the end of a batch is not worth a split.
        let sliver = W::cells(&block) > left.cells && left.cells < portion.cells / 16;
        if !blocks.is_empty() && (one_block || sliver || left.cells == 0 || left.pairs == 0) {
            pile.blocks.push_front((class, block));
            break;
        }
        let (mut head, mut tail) = W::split(&pile.band, block.clone(), left);
        let over = W::pairs(&head) % group.max(1);
        if tail.is_some() && over > 0 && W::pairs(&head) > over {
            (head, tail) = W::split(&pile.band, block, Portion { pairs: W::pairs(&head) - over, ..left });
        }
        left.cells = left.cells.saturating_sub(W::cells(&head));
        left.pairs = left.pairs.saturating_sub(W::pairs(&head));
        blocks.push(head);
        if let Some(tail) = tail {
            pile.blocks.push_front((class, tail));
            break;
        }
    }
    Some((class, blocks))
}
