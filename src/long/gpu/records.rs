//! Searches for the best cell of a panel. Each strip reports its best score, and records the input
//! of the batches in which lanes first reached it. The host computes these batches again and finds
//! the cell. A search in the kernel would be slow: at each block of an alignment whose score grows,
//! it would stop all lanes of the strip and all strips to the right.

use super::GpuLong;
use super::finish::{RowAbove, next_row};
use super::layout::StripLayout;
use crate::error::Result;
use crate::long::kernels::striped::{BLOCK_ROWS, RECORD_HEAD, RECORD_TURNS, Record};
use crate::long::{BestCell, PanelSweep};
use crate::seq::Code;
use crate::simd::array_of;

/// Number of bytes of recorded batches that are read at once.
const A_READ: u64 = 16 << 20;

/// State of a lane before a step.
struct ReplayLane<'a> {
    h: Vec<i32>,
    gap: Vec<i32>,
    corner: i32,
    /// H and horizontal gap of the lane's last column in four rows, as the lane to the right
    /// receives them.
    sent: [(i32, i32); BLOCK_ROWS as usize],
    /// First column of the lane, counted from 1 in the panel.
    column: u32,
    symbols: &'a [Code],
}

impl GpuLong {
    /// Finds the best cell of a panel that was computed.
    pub(super) fn best(&mut self, laid: &StripLayout, sweep: &PanelSweep) -> Result<Option<BestCell>> {
        let StripLayout { plan, variant, records, .. } = laid;
        let strips = plan.params.strips as usize;
        let heads = self.read_words(records, 0, (strips * RECORD_HEAD) as u64 * 4)?;
        let heads: Vec<&[u32]> = heads.chunks_exact(RECORD_HEAD).collect();
        let score = |strip: usize| heads[strip][0] as i32;
        let Some(top) = (0..strips).map(score).max().filter(|&top| top > 0) else {
            return Ok(None);
        };
        // Among equal scores, the cell in the first row is the best. A strip that reaches the score
        // this many batches after the first strip reaches it in a later row.
        let first = (0..strips).filter(|&strip| score(strip) == top).map(|strip| heads[strip][1]).min();
        let end = first.unwrap_or(0) + variant.slots() * variant.batch;
        let (slots, slot_words) = (variant.slots() as usize, variant.slot_words() as usize);
        let places: Vec<(u32, u64)> = (0..strips)
            .filter(|&strip| score(strip) == top && heads[strip][1] < end)
            .flat_map(|strip| {
                let first = strips * (RECORD_HEAD + RECORD_TURNS) + strip * slots * slot_words;
                (0..heads[strip][2] as usize).map(move |slot| (strip as u32, (first + slot * slot_words) as u64 * 4))
            })
            .collect();
        let slot_bytes = slot_words as u64 * 4;
        let mut best = None;
        for places in places.chunks((A_READ / slot_bytes).max(1) as usize) {
            let begins: Vec<u64> = places.iter().map(|&(_, index)| index).collect();
            let words = self.read_pieces(records, &begins, slot_bytes)?;
            for (&(strip, _), words) in places.iter().zip(words.chunks_exact(slot_words)) {
                let record = Record { variant, words };
                best = BestCell::better(best, replay(&record, strip, laid, sweep));
            }
        }
        match best {
            Some(cell) if cell.score == top => Ok(best),
            _ => Err(self.gpu.error("no recorded batch contains the best score of the strips")),
        }
    }
}

/// Computes a batch again, and returns its best cell.
fn replay(record: &Record, strip: u32, laid: &StripLayout, sweep: &PanelSweep) -> Option<BestCell> {
    let StripLayout { plan, variant, .. } = laid;
    let params = &plan.params;
    let pair = sweep.pair;
    let first_lane = if strip == 0 { params.padding / variant.cells } else { 0 };
    let target = &pair.target[sweep.columns.first as usize..sweep.columns.last as usize];
    let mut lanes: Vec<ReplayLane> = (first_lane..variant.lanes)
        .map(|t| {
            let column = (strip * variant.lanes + t) * variant.cells - params.padding;
            let symbols = &target[column as usize..((column + variant.cells) as usize).min(target.len())];
            let count = symbols.len() as u32;
            ReplayLane {
                h: (0..count).map(|c| record.h(t, c)).collect(),
                // With linear gaps the kernel records no gaps, because the gap that enters is
                // always a new one.
                gap: (0..count)
                    .map(|c| if variant.linear { record.h(t, c) - pair.scoring.gaps.first } else { record.gap(t, c) })
                    .collect(),
                corner: record.corner(t),
                sent: array_of(|r| record.sent(t, r as u32)),
                column: column + 1,
                symbols,
            }
        })
        .collect();
    let mut best: Option<BestCell> = None;
    for step in 0..variant.batch {
        // Goes from right to left, so that each lane still finds the values of its left neighbour
        // from before the step.
        for n in (0..lanes.len()).rev() {
            let block = i64::from(record.first_step()) + i64::from(step) - i64::from(first_lane) - n as i64;
            if block < 0 || block >= i64::from(params.rows / BLOCK_ROWS) {
                continue;
            }
            let entering = match n {
                0 => array_of(|r| record.entered(step, r as u32)),
                _ => lanes[n - 1].sent,
            };
            let lane = &mut lanes[n];
            for (r, (near, across)) in entering.into_iter().enumerate() {
                let i = sweep.rows.first + block as u32 * BLOCK_ROWS + r as u32 + 1;
                let symbol = pair.query[i as usize - 1];
                let diagonal = std::mem::replace(&mut lane.corner, near);
                let above = RowAbove { h: &mut lane.h, gap: &mut lane.gap };
                let across = next_row(pair, symbol, lane.symbols, above, diagonal, across, |c, h, _| {
                    if h > 0 {
                        let cell = BestCell { score: h, i, j: sweep.columns.first + lane.column + c as u32 };
                        best = BestCell::better(best, Some(cell));
                    }
                });
                // Every lane has at least one column.
                lane.sent[r] = (lane.h[lane.symbols.len() - 1], across);
            }
        }
    }
    best
}
