//! Every row of a corridor: between two rows that were kept, both passes are done once more where the corridors of the
//! lanes are, and compared.

use crate::clustal::walk::Crossing;
use crate::seq::Code;
use crate::simd::{AlignedBuffer, LanesI32, MAX_I32_LANES};

/// What no alignment scores.
const NEVER: i32 = i32::MIN / 4;

/// Memory that is kept from strip to strip.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffers {
    forth: AlignedBuffer<i32>,
    cells: AlignedBuffer<i32>,
    gaps: AlignedBuffer<i32>,
}

/// Rows between two that were kept.
pub(super) struct Strip<'a> {
    /// Scores of each row's residue, from the upper kept row on.
    pub tables: &'a [&'a [i32; 32]],
    /// A vector of codes for each column.
    pub codes: &'a [Code],
    /// Numbers of columns before cells: the first and the last that are looked at.
    pub columns: [usize; 2],
    /// The kept row, cells and gaps, of the forward pass; `None` before the first row.
    pub above: Option<[&'a [i32]; 2]>,
    /// Those of the backward pass behind the last row.
    pub below: [&'a [i32]; 2],
    /// What gaps cost each lane to open.
    pub opens: &'a [i32; MAX_I32_LANES],
    /// And a residue in a gap.
    pub extend: i32,
    /// Scores that are more than these are in the corridor.
    pub limits: &'a [i32; MAX_I32_LANES],
    /// Scores of the best alignments.
    pub scores: &'a [i32; MAX_I32_LANES],
}

impl Strip<'_> {
    /// Shows where lanes cross each row except the kept one above, the last row first.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `self.codes` has whole vectors, at least
    /// `self.columns[1]` of them. Each code is less than
    /// [`STEPS`](crate::score::difference::STEPS).
    #[inline(always)]
    pub(super) unsafe fn crossings<W: LanesI32>(
        &self,
        buffers: &mut Buffers,
        mut show: impl FnMut(usize, &[Crossing; MAX_I32_LANES]),
    ) {
        let ([left, right], rows) = (self.columns, self.tables.len());
        let width = right + 1 - left;
        // A column before the first, which has nothing but starts of local alignments.
        let line = (width + 1) * W::COUNT;
        let forth = &mut buffers.forth.at_least((rows + 1) * 2 * line)[..(rows + 1) * 2 * line];
        let cells = &mut buffers.cells.at_least(line)[..line];
        let gaps = &mut buffers.gaps.at_least(line)[..line];
        let inner = left * W::COUNT..(right + 1) * W::COUNT;
        let (first_cells, first_gaps) = forth[..2 * line].split_at_mut(line);
        first_cells.fill(0);
        first_gaps.fill(NEVER);
        if let Some([above, above_gaps]) = self.above {
            first_cells[W::COUNT..].copy_from_slice(&above[inner.clone()]);
            first_gaps[W::COUNT..].copy_from_slice(&above_gaps[inner.clone()]);
        }
        cells[..line - W::COUNT].copy_from_slice(&self.below[0][inner.clone()]);
        gaps[..line - W::COUNT].copy_from_slice(&self.below[1][inner]);
        // Behind the last column.
        cells[line - W::COUNT..].fill(0);
        gaps[line - W::COUNT..].fill(NEVER);
        // SAFETY: the caller's: W's instructions are there. Rows have a vector for each column and one more; there are codes
        // for all columns.
        unsafe {
            self.sweep_forth::<W>(forth, line);
            for row in (1..=rows).rev() {
                let own = &forth[row * 2 * line..(row + 1) * 2 * line];
                let (own_cells, own_gaps) = own.split_at(line);
                show(row, &self.cross::<W>([own_cells, own_gaps], cells, gaps));
                if row > 1 {
                    self.sweep_back::<W>(self.tables[row - 1], cells, gaps);
                }
            }
        }
    }

    /// Computes the rows below the kept one, each after the row before it: its cells, then its
    /// gaps.
    ///
    /// # Safety
    /// The conditions of [`Strip::crossings`] hold. `forth` has two lines for each row and for the
    /// one above, and a line has a vector for each column and one more.
    #[inline(always)]
    unsafe fn sweep_forth<W: LanesI32>(&self, forth: &mut [i32], line: usize) {
        let [left, right] = self.columns;
        let width = right + 1 - left;
        // SAFETY: the caller's.
        unsafe {
            let (zero, extend) = (W::splat(0), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            for (row, table) in self.tables.iter().enumerate() {
                let (before, now) = forth[row * 2 * line..(row + 2) * 2 * line].split_at_mut(2 * line);
                zero.store(now.as_mut_ptr());
                W::splat(NEVER).store(now.as_mut_ptr().add(line));
                let (mut cell, mut diagonal, mut across) = (zero, zero, W::splat(NEVER));
                for place in 1..=width {
                    let (at, column) = (place * W::COUNT, left + place - 1);
                    let above = W::load(before.as_ptr().add(at));
                    if column == 0 {
                        // No residue is before the first column.
                        zero.store(now.as_mut_ptr().add(at));
                        W::splat(NEVER).store(now.as_mut_ptr().add(line + at));
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

    /// Finds where lanes cross a row. `forth` has the row's cells and gaps from above, `cells` and
    /// `gaps` those from below.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. All rows have a vector for each column, those of
    /// `forth` one more before these.
    #[inline(always)]
    unsafe fn cross<W: LanesI32>(&self, forth: [&[i32]; 2], cells: &[i32], gaps: &[i32]) -> [Crossing; MAX_I32_LANES] {
        let [left, right] = self.columns;
        let mut found = [[0; MAX_I32_LANES]; 4];
        // SAFETY: the caller's.
        unsafe {
            let (zero, one, opens) = (W::splat(0), W::splat(1), W::load(self.opens.as_ptr()));
            let (limits, scores) = (W::load(self.limits.as_ptr()), W::load(self.scores.as_ptr()));
            let (mut most, mut second, mut place) = (zero, W::splat(NEVER), zero);
            let (mut low, mut high, mut column) =
                (W::splat(-(right as i32)), W::splat(left as i32), W::splat(left as i32));
            for at in (0..right + 1 - left).map(|place| place * W::COUNT) {
                let closed = W::load(forth[0].as_ptr().add(at + W::COUNT)).add(W::load(cells.as_ptr().add(at)));
                let down = W::load(forth[1].as_ptr().add(at + W::COUNT)).add(W::load(gaps.as_ptr().add(at)));
                let in_gap = down.add(opens);
                let sum = closed.add(most);
                place = closed.where_greater(most, column, place);
                most = most.max(closed);
                second = second.max(in_gap).max(sum.sub(most));
                let score = closed.max(in_gap);
                low = score.where_greater(limits, low.max(zero.sub(column)), low);
                high = score.where_greater(limits, column, high);
                column = column.add(one);
            }
            for (to, lanes) in found.iter_mut().zip([place, scores.sub(second), zero.sub(low), high]) {
                lanes.store(to.as_mut_ptr());
            }
        }
        std::array::from_fn(|lane| {
            let [column, margin, least, most] = [0, 1, 2, 3].map(|value| found[value][lane]);
            Crossing { column: column as u32, margin, columns: [least as u32, most as u32] }
        })
    }

    /// Computes the cells and gaps of a row from those of the row below it. `table` has the scores
    /// of the row's residue.
    ///
    /// # Safety
    /// The conditions of [`Strip::crossings`] hold. `cells` and `gaps` have a vector for each
    /// column.
    #[inline(always)]
    unsafe fn sweep_back<W: LanesI32>(&self, table: &[i32; 32], cells: &mut [i32], gaps: &mut [i32]) {
        let [left, right] = self.columns;
        // SAFETY: the caller's.
        unsafe {
            let (zero, extend) = (W::splat(0), W::splat(self.extend));
            let first = W::load(self.opens.as_ptr()).add(extend);
            let (mut cell, mut diagonal, mut across) = (zero, zero, W::splat(NEVER));
            for place in (0..right + 1 - left).rev() {
                let at = place * W::COUNT;
                let below = W::load(cells.as_ptr().add(at));
                // The last column has no residue behind it that is looked at.
                let score = match (left + place) * W::COUNT {
                    code if code < self.codes.len() => W::lookup(table, self.codes.as_ptr().add(code)),
                    _ => W::splat(NEVER),
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
