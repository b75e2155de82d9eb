//! Skips a strand if a small part of its matrix, the *corner*, proves that it contains no alignment of
//! the best known score.
//!
//! A local alignment of this score contains a minimum number of symbols of each sequence, so it
//! starts in the upper left corner of the matrix and leaves that corner. An alignment of whole
//! sequences starts in the corner anyway, and its corner contains all columns.
//!
//! Only the corner is swept. The greatest value in its last row and column that the rest of the
//! matrix can still reach is compared with the known score.

use std::sync::Arc;
use std::time::Instant;

use super::parts::{JobShared, MatrixSweep};
use super::run::LongRunner;
use super::strand::StrandMatrix;
use crate::error::{Error, Result};
use crate::long::chain::border::{BorderLine, LinePart};
use crate::long::chain::grid::{MatrixCut, MatrixSize};
use crate::long::chain::panels::{Watch, sweep};
use crate::long::chain::table::MatrixPart;
use crate::long::{BorderSpan, LongPair};

/// Margin in rows and columns around the corner of the matrix where every good local alignment
/// starts. It is the shorter length divided by `CORNER_MARGIN`, but at least `MIN_MARGIN`.
/// Alignments of unrelated sequences and most repeats are shorter than the margin.
const CORNER_MARGIN: u32 = 32;
const MIN_MARGIN: u32 = 1024;
/// Divisor of the number of cells in the matrix. The corner is swept separately only if its number
/// of cells does not exceed the quotient.
const CORNER_PART: u64 = 8;
/// Number of rows per match that is lost. Unrelated whole sequences lose one match in fewer rows.
const ROWS_PER_MATCH: i64 = 3;

impl LongRunner<'_> {
    /// Skips a strand if its corner proves that it contains no alignment of the best known score.
    ///
    /// # Errors
    /// The errors of [`sweep`].
    pub(super) fn skip_hopeless_strand(&mut self, side: &mut StrandMatrix) -> Result<()> {
        let StrandMatrix { ref pair, bound, .. } = *side;
        let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
        let known = self.shared.best.get();
        // If a strand is known to reach half of the score, its corner would probably prove nothing,
        // and would be swept twice.
        if side.pass.is_some() || known <= 0 || bound > known / 2 || !side.empty.is_empty() {
            return Ok(());
        }
        let Some(corner) = corner(pair, known) else { return Ok(()) };
        let MatrixSize { rows, columns } = corner;
        if rows > self.shared.cut.belt_rows {
            return Ok(());
        }
        let begin = Instant::now();
        let line = |last| BorderLine::from_part(0..=last, LinePart::Border);
        let JobShared { engine_pool, border_store, cut, best, watch, .. } = &mut self.shared;
        let part = MatrixPart {
            pair: pair.clone(),
            rows: BorderSpan::new(0, rows),
            columns: BorderSpan::new(0, columns),
            top: line(columns),
            left: line(rows),
            cut: MatrixCut { pitch: None, ..*cut },
            needs_traceback: false,
            prune: true,
            best: Arc::clone(best),
        };
        let swath = sweep(part, engine_pool, border_store, None, Watch { progress: None, ..*watch })?;
        let missing = || Error::Internal("a sweep ended without its last row or column".into());
        let bottom = swath.grid.across.get(&rows).ok_or_else(missing)?.slice(pair, 0, columns)?;
        let right = swath.grid.down.get(&columns).ok_or_else(missing)?.slice(pair, 0, rows)?;
        let rest = pair.rest_gain();
        let below = bottom.h.into_iter().zip(0..).map(|(h, j)| i64::from(h) + rest.after(rows, j));
        let beside = right.h.into_iter().zip(0..).map(|(h, i)| i64::from(h) + rest.after(i, columns));
        let reached = below.chain(beside).max().unwrap_or(0);
        let is_hopeless = reached < i64::from(known);
        tracing::debug!(rows, columns, reached, is_hopeless, seconds = begin.elapsed().as_secs_f64(), "corner swept");
        self.summary.details.sweep_seconds += begin.elapsed().as_secs_f64();
        if is_hopeless {
            let cells = u64::from(m) * u64::from(n);
            let pruned_cells = cells - corner.cells() + swath.pruned_cells;
            self.summary.cells += cells;
            self.summary.details.pruned_cells += pruned_cells;
            side.pass = Some(MatrixSweep::pruned_matrix(cells, pruned_cells));
            watch.progress.inspect(|progress| progress(cells));
        }
        Ok(())
    }
}

/// Returns the size of the corner; `None` if it is not small, or if an alignment may not leave it.
fn corner(pair: &LongPair, known: i32) -> Option<MatrixSize> {
    let (m, n) = (pair.query.len() as u32, pair.target.len() as u32);
    let whole = MatrixSize { rows: m, columns: n };
    let greatest = pair.scoring.substitution.max_score().max(1);
    let is_small = |size: &MatrixSize| size.cells() <= whole.cells() / CORNER_PART;
    if !pair.is_local() {
        let lost = i64::from(greatest) * i64::from(m.min(n)) - i64::from(known);
        let rows = lost * ROWS_PER_MATCH / i64::from(greatest);
        let rows = u32::try_from(rows).ok()?.max(MIN_MARGIN);
        return Some(MatrixSize { rows, columns: n }).filter(is_small);
    }
    let symbols = known as u32 / greatest as u32;
    let margin = (m.min(n) / CORNER_MARGIN).max(MIN_MARGIN);
    let side = |length: u32| length.saturating_sub(symbols).saturating_add(margin);
    let size = MatrixSize { rows: side(m), columns: side(n) };
    // An alignment leaves a corner if the corner has fewer rows or columns than the alignment.
    Some(size).filter(|size| size.rows < symbols.min(m) && size.columns < symbols.min(n) && is_small(size))
}
