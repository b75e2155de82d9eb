//! Corridors that contain every row. Between two stored rows, both passes are recomputed within the
//! corridors of the lanes. The sums of their values give the crossings of each row.

use crate::clustal::recursion::CorridorCrossing;
use crate::seq::Code;
use crate::simd::{AlignedBuffer, LanesI32, MAX_I32_LANES, array_of};

/// Minus infinity.
const NEG_INF: i32 = i32::MIN / 4;

/// Scratch memory, reused for all strips.
#[derive(Debug, Clone, Default)]
pub(super) struct DetailBuffers {
    forth: AlignedBuffer<i32>,
    cells: AlignedBuffer<i32>,
    gaps: AlignedBuffer<i32>,
}

/// The rows between two stored rows.
pub(super) struct DetailStrip<'a> {
    /// Scores of each row's residue, from the upper stored row on.
    pub tables: &'a [&'a [i32; 32]],
    /// One vector of codes per column.
    pub codes: &'a [Code],
    /// First and last column to compute, as the number of residues before a cell.
    pub columns: [usize; 2],
    /// Stored row of the forward pass, cells and gaps; `None` above the first row.
    pub above: Option<[&'a [i32]; 2]>,
    /// Row of the backward pass below the last row, cells and gaps.
    pub below: [&'a [i32]; 2],
    /// Cost of opening a gap in each lane.
    pub opens: &'a [i32; MAX_I32_LANES],
    /// Cost of each residue in a gap.
    pub extend: i32,
    /// Highest score outside the corridor, for each lane.
    pub limits: &'a [i32; MAX_I32_LANES],
    /// Scores of the best alignments.
    pub scores: &'a [i32; MAX_I32_LANES],
}

impl DetailStrip<'_> {
    /// Passes the crossings of each row below the upper stored row to `show`, starting with the
    /// last row.
    ///
    /// # Safety
    /// The processor must have the instructions of `W`. `self.codes` must have whole vectors, at
    /// least `self.columns[1]` of them. Each code is less than
    /// [`STEPS`](crate::score::difference::STEPS).
    #[inline(always)]
    pub(super) unsafe fn crossings<W: LanesI32>(
        &self,
        buffers: &mut DetailBuffers,
        mut show: impl FnMut(usize, &[CorridorCrossing; MAX_I32_LANES]),
    ) {
        let ([left, right], rows) = (self.columns, self.tables.len());
        let width = right + 1 - left;
        // Each line has one extra column in front. No alignment continues from there, so its cells
        // are 0.
        let line = (width + 1) * W::COUNT;
        let forth = &mut buffers.forth.at_least((rows + 1) * 2 * line)[..(rows + 1) * 2 * line];
        let cells = &mut buffers.cells.at_least(line)[..line];
        let gaps = &mut buffers.gaps.at_least(line)[..line];
        let inner = left * W::COUNT..(right + 1) * W::COUNT;
        let (first_cells, first_gaps) = forth[..2 * line].split_at_mut(line);
        first_cells.fill(0);
        first_gaps.fill(NEG_INF);
        if let Some([above, above_gaps]) = self.above {
            first_cells[W::COUNT..].copy_from_slice(&above[inner.clone()]);
            first_gaps[W::COUNT..].copy_from_slice(&above_gaps[inner.clone()]);
        }
        cells[..line - W::COUNT].copy_from_slice(&self.below[0][inner.clone()]);
        gaps[..line - W::COUNT].copy_from_slice(&self.below[1][inner]);
        // The extra column after the last one.
        cells[line - W::COUNT..].fill(0);
        gaps[line - W::COUNT..].fill(NEG_INF);
        // SAFETY: the caller guarantees the instructions of `W`. Each row has a vector for each
        // column and one more. There are codes for all columns.
        unsafe {
            self.sweep_forth::<W>(forth, line);
            for row in (1..=rows).rev() {
                let lines = &forth[row * 2 * line..(row + 1) * 2 * line];
                let (forth_cells, forth_gaps) = lines.split_at(line);
                show(row, &self.cross::<W>([forth_cells, forth_gaps], cells, gaps));
                if row > 1 {
                    self.sweep_back::<W>(self.tables[row - 1], cells, gaps);
                }
            }
        }
    }

    /// Computes the rows below the upper stored row. Each row is stored as a line of cells and then
    /// a line of gaps.
    ///
    /// # Safety
    /// The conditions of [`DetailStrip::crossings`] must hold. `forth` must have two lines for each
    /// row and for the one above, and a line has a vector for each column and one more.
    #[inline(always)]
    unsafe fn sweep_forth<W: LanesI32>(&self, forth: &mut [i32], line: usize) {
        let [left, right] = self.columns;
        let width = right + 1 - left;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (zero, extend) = (W::splat(0), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            for (row, table) in self.tables.iter().enumerate() {
                let (before, now) = forth[row * 2 * line..(row + 2) * 2 * line].split_at_mut(2 * line);
                zero.store(now.as_mut_ptr());
                W::splat(NEG_INF).store(now.as_mut_ptr().add(line));
                let (mut cell, mut diagonal, mut across) = (zero, zero, W::splat(NEG_INF));
                for index in 1..=width {
                    let (at, column) = (index * W::COUNT, left + index - 1);
                    let above = W::load(before.as_ptr().add(at));
                    if column == 0 {
                        // No residue precedes the first column.
                        zero.store(now.as_mut_ptr().add(at));
                        W::splat(NEG_INF).store(now.as_mut_ptr().add(line + at));
                    } else {
                        let down = W::load(before.as_ptr().add(line + at)).sub(extend).max(above.sub(first));
                        across = across.sub(extend).max(cell.sub(first));
                        let score = W::lookup(table, self.codes.as_ptr().add((column - 1) * W::COUNT));
                        cell = diagonal.add(score).max(down).max(zero).max(across);
                        cell.store(now.as_mut_ptr().add(at));
                        down.store(now.as_mut_ptr().add(line + at));
                    }
                    diagonal = above;
                }
            }
        }
    }

    /// Returns the crossing of a row in each lane. `forth` contains the row's cells and gaps of the
    /// forward pass. `cells` and `gaps` are those of the backward pass.
    ///
    /// # Safety
    /// The processor must have the instructions of `W`. All rows have a vector for each column. The
    /// rows of `forth` have one more vector before them.
    #[inline(always)]
    unsafe fn cross<W: LanesI32>(
        &self,
        forth: [&[i32]; 2],
        cells: &[i32],
        gaps: &[i32],
    ) -> [CorridorCrossing; MAX_I32_LANES] {
        let [left, right] = self.columns;
        let mut values = [[0; MAX_I32_LANES]; 4];
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (zero, one, opens) = (W::splat(0), W::splat(1), W::load(self.opens.as_ptr()));
            let (limits, scores) = (W::load(self.limits.as_ptr()), W::load(self.scores.as_ptr()));
            let (mut most, mut second, mut best_column) = (zero, W::splat(NEG_INF), zero);
            let (mut low, mut high, mut column) =
                (W::splat(-(right as i32)), W::splat(left as i32), W::splat(left as i32));
            for at in (0..right + 1 - left).map(|index| index * W::COUNT) {
                let closed = W::load(forth[0].as_ptr().add(at + W::COUNT)).add(W::load(cells.as_ptr().add(at)));
                let down = W::load(forth[1].as_ptr().add(at + W::COUNT)).add(W::load(gaps.as_ptr().add(at)));
                let in_gap = down.add(opens);
                let sum = closed.add(most);
                best_column = closed.where_greater(most, column, best_column);
                most = most.max(closed);
                second = second.max(in_gap).max(sum.sub(most));
                let score = closed.max(in_gap);
                low = score.where_greater(limits, low.max(zero.sub(column)), low);
                high = score.where_greater(limits, column, high);
                column = column.add(one);
            }
            for (to, lanes) in values.iter_mut().zip([best_column, scores.sub(second), zero.sub(low), high]) {
                lanes.store(to.as_mut_ptr());
            }
        }
        array_of(|lane| {
            let [column, margin, least, most] = [0, 1, 2, 3].map(|value| values[value][lane]);
            CorridorCrossing { column: column as u32, margin, columns: [least as u32, most as u32] }
        })
    }

    /// Computes the cells and gaps of a row from the row below it. `table` has the scores of the
    /// row's residue.
    ///
    /// # Safety
    /// The conditions of [`DetailStrip::crossings`] must hold. `cells` and `gaps` must have a
    /// vector for each column.
    #[inline(always)]
    unsafe fn sweep_back<W: LanesI32>(&self, table: &[i32; 32], cells: &mut [i32], gaps: &mut [i32]) {
        let [left, right] = self.columns;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (zero, extend) = (W::splat(0), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            let (mut cell, mut diagonal, mut across) = (zero, zero, W::splat(NEG_INF));
            for index in (0..right + 1 - left).rev() {
                let at = index * W::COUNT;
                let below = W::load(cells.as_ptr().add(at));
                // No residue follows the last column.
                let score = match (left + index) * W::COUNT {
                    code if code < self.codes.len() => W::lookup(table, self.codes.as_ptr().add(code)),
                    _ => W::splat(NEG_INF),
                };
                let down = W::load(gaps.as_ptr().add(at)).sub(extend).max(below.sub(first));
                across = across.sub(extend).max(cell.sub(first));
                cell = diagonal.add(score).max(down).max(zero).max(across);
                cell.store(cells.as_mut_ptr().add(at));
                down.store(gaps.as_mut_ptr().add(at));
                diagonal = below;
            }
        }
    }
}
