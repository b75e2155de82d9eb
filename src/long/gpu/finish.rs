//! The rows that a panel has beyond a multiple of four: the host computes them, three of them at most.

use crate::error::Result;
use crate::long::{Best, Edge, LongPair, Sink, Source, Sweep};
use crate::seq::Code;

/// What the last rows give.
pub(super) struct Finished {
    /// The panel's last column for these rows.
    pub right: Edge,
    /// The edge along the last one.
    pub bottom: Edge,
    /// The best cell among them.
    pub best: Option<Best>,
    /// What entered from the left.
    pub left: Edge,
    /// The columns that were asked for, for these rows.
    pub inner: Vec<Edge>,
}

/// The row above one that is computed, which replaces it: a value for each column.
pub(super) struct RowAbove<'a> {
    /// H.
    pub h: &'a mut [i32],
    /// Gaps that enter the next row.
    pub gap: &'a mut [i32],
}

/// Computes a row of some columns, whose H and entering gaps are in place: `diagonal` is H above and left of them, `across`
/// what enters from the left. Hands out each column's number, its H and what it hands on to the right; returns what the last
/// one does.
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

/// Computes the rows after `row` from the edge along it. `columns`, in rising order from the panel's first, are to be known.
pub(super) fn finish(sweep: &Sweep, row: u32, mut edge: Edge, left: &dyn Source, columns: &[u32]) -> Result<Finished> {
    let pair = sweep.pair;
    let count = (sweep.rows.1 - row) as usize;
    let mut entering = Edge { h: vec![0; count], gap: vec![0; count] };
    left.read(row + 1, sweep.rows.1, &mut entering.h, &mut entering.gap)?;
    let (mut right, mut best) = (Edge::default(), None);
    let mut inner = vec![Edge::default(); columns.len()];
    let target = &pair.target[sweep.columns.0 as usize..sweep.columns.1 as usize];
    for (k, i) in (row + 1..=sweep.rows.1).enumerate() {
        let symbol = pair.query[i as usize - 1];
        let diagonal = std::mem::replace(&mut edge.h[0], entering.h[k]);
        let mut next_inner = 0;
        let above = RowAbove { h: &mut edge.h[1..], gap: &mut edge.gap[1..] };
        let across = next_row(pair, symbol, target, above, diagonal, entering.gap[k], |j, h, across| {
            if pair.is_local() && h > best.map_or(0, |best: Best| best.score) {
                best = Some(Best { score: h, i, j: sweep.columns.0 + j as u32 + 1 });
            }
            if columns.get(next_inner) == Some(&(j as u32 + 1)) {
                inner[next_inner].h.push(h);
                inner[next_inner].gap.push(across);
                next_inner += 1;
            }
        });
        right.h.push(edge.h[target.len()]);
        right.gap.push(across);
    }
    Ok(Finished { right, bottom: edge, best, left: entering, inner })
}

/// Hands on the edges of a panel without rows or columns.
pub(super) fn hand_empty(sweep: &Sweep, left: &dyn Source, sink: &dyn Sink) -> Result<()> {
    if sweep.rows.0 == sweep.rows.1 {
        let last = sweep.top.h.len() - 1;
        sink.right(sweep.rows.0, &sweep.top.h[last..], &sweep.top.gap[last..])?;
        return sink.mark(sweep.rows.1, sweep.top.clone());
    }
    let count = (sweep.rows.1 - sweep.rows.0) as usize + 1;
    let mut edge = Edge { h: vec![0; count], gap: vec![0; count] };
    left.read(sweep.rows.0, sweep.rows.1, &mut edge.h, &mut edge.gap)?;
    sink.right(sweep.rows.0, &edge.h, &edge.gap)?;
    let marks = (1..).map(|k| u64::from(sweep.rows.0) + k * u64::from(sweep.mark_every));
    let inside = marks.take_while(|&row| row < sweep.rows.1.into()).map(|row| row as u32);
    for row in inside.chain([sweep.rows.1]) {
        let at = (row - sweep.rows.0) as usize;
        sink.mark(row, Edge { h: vec![edge.h[at]], gap: vec![edge.gap[at]] })?;
    }
    Ok(())
}
