//! The rows that a panel has beyond a multiple of four: the host computes them, three of them at most.

use crate::engine::long::{Best, Edge, Source, Sweep};
use crate::error::Result;

/// What the last rows give.
pub struct Finished {
    /// The panel's last column for these rows.
    pub right: Edge,
    /// The edge along the last one.
    pub bottom: Edge,
    /// The best cell among them.
    pub best: Option<Best>,
}

/// Computes the rows after `row` from the edge along it.
pub fn finish(sweep: &Sweep, row: u32, mut edge: Edge, left: &dyn Source) -> Result<Finished> {
    let (pair, gaps) = (sweep.pair, sweep.pair.scoring.gaps);
    let count = (sweep.rows.1 - row) as usize;
    let mut entering = Edge { h: vec![0; count], gap: vec![0; count] };
    left.read(row + 1, sweep.rows.1, &mut entering.h, &mut entering.gap)?;
    let (mut right, mut best) = (Edge::default(), None);
    let target = &pair.target[sweep.columns.0 as usize..sweep.columns.1 as usize];
    for (k, i) in (row + 1..=sweep.rows.1).enumerate() {
        let symbol = pair.query[i as usize - 1];
        let mut diagonal = edge.h[0];
        edge.h[0] = entering.h[k];
        let mut across = entering.gap[k];
        for (j, &other) in target.iter().enumerate() {
            let mut h = (diagonal + pair.scoring.substitution.score(symbol, other)).max(edge.gap[j + 1]).max(across);
            if pair.is_local() {
                h = h.max(0);
                if h > best.map_or(0, |best: Best| best.score) {
                    best = Some(Best { score: h, i, j: sweep.columns.0 + j as u32 + 1 });
                }
            }
            diagonal = edge.h[j + 1];
            edge.h[j + 1] = h;
            let opened = h - gaps.first;
            edge.gap[j + 1] = (edge.gap[j + 1] - gaps.next).max(opened);
            across = (across - gaps.next).max(opened);
        }
        right.h.push(edge.h[target.len()]);
        right.gap.push(across);
    }
    Ok(Finished { right, bottom: edge, best })
}
