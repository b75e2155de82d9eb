//! A sweep that computes the best scores of each row of a part, restricted to windows of columns.

use crate::clustal::costs::SIZE;
use crate::clustal::oracle::ClustalGaps;
use crate::seq::Code;

/// Minus infinity. The gap costs of a pair can be subtracted from it without an overflow.
pub(super) const NEG_INF: i32 = i32::MIN / 4;

/// Best scores of alignments from a corner to the cells of one row. `gap` covers only alignments
/// with a gap in the second sequence at the cell.
#[derive(Debug, Clone, Default)]
pub(super) struct SweepRows {
    pub best: Vec<i32>,
    pub gap: Vec<i32>,
}

/// A sweep over a part from its first or last corner.
pub(super) struct PartSweep<Window, Table, Letter> {
    /// Costs of gaps.
    pub gaps: ClustalGaps,
    /// Number of rows and of columns.
    pub sizes: [usize; 2],
    /// Cost of opening a gap at the corner.
    pub opening: i32,
    /// Returns the first and the last column of a row's window. Neither decreases from row to row.
    pub window: Window,
    /// Returns the scores of a row's residue.
    pub table: Table,
    /// Returns the residue of a column.
    pub letter: Letter,
}

impl SweepRows {
    /// Sweeps to the last row and passes every row and its window to `show`. The corner must be in
    /// the first window.
    #[inline(always)]
    pub(super) fn sweep<'t>(
        &mut self,
        sweep: PartSweep<impl Fn(usize) -> [usize; 2], impl Fn(usize) -> &'t [i32; SIZE], impl Fn(usize) -> Code>,
        mut show: impl FnMut(usize, [usize; 2], &[i32], &[i32]),
    ) {
        let PartSweep { gaps: ClustalGaps { open, extend }, sizes, opening, window, table, letter } = sweep;
        let border = |residues: usize| if residues == 0 { 0 } else { -opening - extend * residues as i32 };
        let SweepRows { best, gap } = self;
        if best.len() <= sizes[1] {
            best.resize(sizes[1] + 1, NEG_INF);
            gap.resize(sizes[1] + 1, NEG_INF);
        }
        let [mut first, mut last] = window(0);
        for column in first..=last {
            best[column] = border(column);
            gap[column] = best[column] - open;
        }
        show(0, [first, last], best, gap);
        for row in 0..sizes[0] {
            let [from, to] = window(row + 1);
            // Columns that are new in the window have no cell above them.
            if to > last {
                best[last + 1..=to].fill(NEG_INF);
                gap[last + 1..=to].fill(NEG_INF);
            }
            let mut before = if from > first { best[from - 1] } else { NEG_INF };
            let (mut cell, mut across) = (NEG_INF, NEG_INF);
            let mut start = from;
            if from == 0 {
                before = std::mem::replace(&mut best[0], border(row + 1));
                cell = best[0];
                // Column 0 is a gap in the second sequence.
                gap[0] = cell;
                across = cell - open;
                start = 1;
            }
            let scores = table(row);
            let cells = best[start..=to].iter_mut().zip(&mut gap[start..=to]);
            for (column, (best, gap)) in (start..).zip(cells) {
                across = (across - extend).max(cell - open - extend);
                let down = (*gap - extend).max(*best - open - extend);
                let score = scores[letter(column - 1) as usize % SIZE];
                cell = (before + score).max(down).max(across);
                before = std::mem::replace(best, cell);
                *gap = down;
            }
            (first, last) = (from, to);
            show(row + 1, [from, to], best, gap);
        }
    }
}
