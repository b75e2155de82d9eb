//! Rows of best scores of a part, in windows.

use crate::clustal::costs::SIZE;
use crate::clustal::oracle::Gaps;
use crate::seq::Code;

/// What no alignment scores. A pair's sums of gap costs may be taken off it without an overflow.
pub(super) const NEVER: i32 = i32::MIN / 4;

/// Best scores from a corner to the cells of a row: of any alignments, and of those with a gap in the second sequence
/// there.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub best: Vec<i32>,
    pub gap: Vec<i32>,
}

/// A part, seen from a corner.
pub(super) struct Sweep<Window, Table, Letter> {
    /// What gaps cost.
    pub gaps: Gaps,
    /// Rows and columns.
    pub sizes: [usize; 2],
    /// What a gap at the corner costs to open.
    pub opening: i32,
    /// The first and the last number of columns before cells after so many rows. Both rise.
    pub window: Window,
    /// Scores of a row's residue.
    pub table: Table,
    /// A column's residue.
    pub letter: Letter,
}

impl Rows {
    /// Sweeps to the last row, and shows every row and its window on the way. The corner is in the first window.
    #[inline(always)]
    pub(super) fn sweep<'t>(
        &mut self,
        sweep: Sweep<impl Fn(usize) -> [usize; 2], impl Fn(usize) -> &'t [i32; SIZE], impl Fn(usize) -> Code>,
        mut show: impl FnMut(usize, [usize; 2], &[i32], &[i32]),
    ) {
        let Sweep { gaps: Gaps { open, extend }, sizes, opening, window, table, letter } = sweep;
        let edge = |residues: usize| if residues == 0 { 0 } else { -opening - extend * residues as i32 };
        let Rows { best, gap } = self;
        if best.len() <= sizes[1] {
            best.resize(sizes[1] + 1, NEVER);
            gap.resize(sizes[1] + 1, NEVER);
        }
        let [mut least, mut most] = window(0);
        for column in least..=most {
            best[column] = edge(column);
            gap[column] = best[column] - open;
        }
        show(0, [least, most], best, gap);
        for row in 0..sizes[0] {
            let [from, to] = window(row + 1);
            // Columns that come into the window have nothing above them.
            if to > most {
                best[most + 1..=to].fill(NEVER);
                gap[most + 1..=to].fill(NEVER);
            }
            let mut before = if from > least { best[from - 1] } else { NEVER };
            let (mut cell, mut across) = (NEVER, NEVER);
            let mut begin = from;
            if from == 0 {
                before = std::mem::replace(&mut best[0], edge(row + 1));
                cell = best[0];
                // The edge is a gap.
                gap[0] = cell;
                across = cell - open;
                begin = 1;
            }
            let scores = table(row);
            let cells = best[begin..=to].iter_mut().zip(&mut gap[begin..=to]);
            for (column, (best, gap)) in (begin..).zip(cells) {
                across = (across - extend).max(cell - open - extend);
                let down = (*gap - extend).max(*best - open - extend);
                let score = scores[letter(column - 1) as usize % SIZE];
                cell = (before + score).max(down).max(across);
                before = std::mem::replace(best, cell);
                *gap = down;
            }
            (least, most) = (from, to);
            show(row + 1, [from, to], best, gap);
        }
    }
}
