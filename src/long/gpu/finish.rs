//! Computes the rows of a panel beyond a multiple of four on the host. There are at most three.

use crate::error::Result;
use crate::long::{BestCell, Border, LeftSource, LongPair, PanelSweep, SweepSink};
use crate::seq::Code;

/// Results of the last rows of a panel.
pub(super) struct LastRows {
    /// The panel's last column for these rows.
    pub right: Border,
    /// The border along the last row.
    pub bottom: Border,
    /// The best cell of these rows.
    pub best: Option<BestCell>,
    /// The left border for these rows.
    pub left: Border,
    /// The requested columns for these rows.
    pub inner: Vec<Border>,
}

/// Values of the previous row, one for each column. The computed row replaces them.
pub(super) struct RowAbove<'a> {
    /// H.
    pub h: &'a mut [i32],
    /// Gaps that enter the next row.
    pub gap: &'a mut [i32],
}

/// Computes one row in place of the row above. `diagonal` is H of the cell above and to the left of
/// the first column. `across` is the gap that enters from the left. Calls `each` with the index of
/// each column, its H, and the gap that enters the next column. Returns the gap that leaves the
/// last column.
pub(super) fn next_row(
    pair: &LongPair,
    symbol: Code,
    columns: &[Code],
    above: RowAbove<'_>,
    mut diagonal: i32,
    mut across: i32,
    mut each: impl FnMut(usize, i32, i32),
) -> i32 {
    let gaps = pair.scoring.gaps;
    let RowAbove { h, gap } = above;
    for (c, ((&other, h), gap)) in columns.iter().zip(h).zip(gap).enumerate() {
        let mut value = (diagonal + pair.scoring.substitution.score(symbol, other)).max(*gap).max(across);
        if pair.is_local() {
            value = value.max(0);
        }
        diagonal = std::mem::replace(h, value);
        let opened = value - gaps.first;
        *gap = (*gap - gaps.next).max(opened);
        across = (across - gaps.next).max(opened);
        each(c, value, across);
    }
    across
}

/// Computes the rows after `row` from the border along `row`. Also returns the values in `columns`,
/// which are sorted and count from the panel's first column.
pub(super) fn finish(
    sweep: &PanelSweep,
    row: u32,
    mut border: Border,
    left: &dyn LeftSource,
    columns: &[u32],
) -> Result<LastRows> {
    let pair = sweep.pair;
    let count = (sweep.rows.last - row) as usize;
    let mut entering = Border { h: vec![0; count], gap: vec![0; count] };
    left.read(row + 1, sweep.rows.last, &mut entering.h, &mut entering.gap)?;
    let (mut right, mut best) = (Border::default(), None);
    let mut inner = vec![Border::default(); columns.len()];
    let target = &pair.target[sweep.columns.first as usize..sweep.columns.last as usize];
    for (k, i) in (row + 1..=sweep.rows.last).enumerate() {
        let symbol = pair.query[i as usize - 1];
        let diagonal = std::mem::replace(&mut border.h[0], entering.h[k]);
        let mut next_inner = 0;
        let above = RowAbove { h: &mut border.h[1..], gap: &mut border.gap[1..] };
        let across = next_row(pair, symbol, target, above, diagonal, entering.gap[k], |j, h, across| {
            if pair.is_local() && h > best.map_or(0, |best: BestCell| best.score) {
                best = Some(BestCell { score: h, i, j: sweep.columns.first + j as u32 + 1 });
            }
            if columns.get(next_inner) == Some(&(j as u32 + 1)) {
                inner[next_inner].h.push(h);
                inner[next_inner].gap.push(across);
                next_inner += 1;
            }
        });
        right.h.push(border.h[target.len()]);
        right.gap.push(across);
    }
    Ok(LastRows { right, bottom: border, best, left: entering, inner })
}

/// Delivers the borders of a panel without rows or columns.
pub(super) fn hand_empty(sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<()> {
    if sweep.rows.first == sweep.rows.last {
        let last = sweep.top.h.len() - 1;
        sink.push_right_border(sweep.rows.first, &sweep.top.h[last..], &sweep.top.gap[last..])?;
        return sink.push_row(sweep.rows.last, sweep.top.clone().into());
    }
    let count = sweep.rows.length() as usize + 1;
    let mut border = Border { h: vec![0; count], gap: vec![0; count] };
    left.read(sweep.rows.first, sweep.rows.last, &mut border.h, &mut border.gap)?;
    sink.push_right_border(sweep.rows.first, &border.h, &border.gap)?;
    let marks = (1..).map(|k| u64::from(sweep.rows.first) + k * u64::from(sweep.mark_every));
    let inside = marks.take_while(|&row| row < sweep.rows.last.into()).map(|row| row as u32);
    for row in inside.chain([sweep.rows.last]) {
        let at = (row - sweep.rows.first) as usize;
        sink.push_row(row, Border { h: vec![border.h[at]], gap: vec![border.gap[at]] }.into())?;
    }
    Ok(())
}
