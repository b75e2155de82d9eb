//! The textbook recurrence for the alignment of two profiles.
//!
//! The opening and extension costs of a gap in one profile depend on the columns of the other
//! profile that face it. Gaps at the ends cost nothing.

use super::pass::{MiddleRow, PairProblem, ProfileRectangle};

/// Returns the middle row of a rectangle, computed from the top. It contains the best scores of all
/// alignments that end there, and of those with an open gap in the second profile.
pub fn forward(problem: &PairProblem, rectangle: ProfileRectangle) -> MiddleRow {
    let ProfileRectangle { a, b, m, n, opens, .. } = rectangle;
    let mut row = MiddleRow { best: vec![0; n + 1], open: vec![0; n + 1] };
    for j in 1..=n {
        row.best[j] = -problem.open_first(a, b + 1) - j as i32 * problem.extend_first(a, b + 1);
        row.open[j] = row.best[j] - problem.open_second(a + 1, b + j);
    }
    let opening = if opens { problem.open_second(a + 1, b) } else { 0 };
    for i in 1..=m / 2 {
        let mut diagonal = row.best[0];
        row.best[0] = -opening - i as i32 * problem.extend_second(a + 1, b);
        let mut along = row.best[0] - problem.open_first(a + i, b + 1);
        for j in 1..=n {
            let extend = problem.extend_first(a + i, b + j);
            let opened = row.best[j - 1] - problem.open_first(a + i, b + j) - extend;
            along = opened.max(along - extend);
            let extend = problem.extend_second(a + i, b + j);
            let opened = row.best[j] - problem.open_second(a + i, b + j) - extend;
            row.open[j] = opened.max(row.open[j] - extend);
            let together = diagonal + problem.scores.score(a + i - 1, b + j - 1);
            diagonal = row.best[j];
            row.best[j] = together.max(along).max(row.open[j]);
        }
    }
    row.open[0] = row.best[0];
    row
}

/// Returns the middle row of a rectangle, computed from the bottom. The score of an open gap does
/// not include its opening cost.
pub fn backward(problem: &PairProblem, rectangle: ProfileRectangle) -> MiddleRow {
    let ProfileRectangle { a, b, m, n, closes, .. } = rectangle;
    let mut row = MiddleRow { best: vec![0; n + 1], open: vec![0; n + 1] };
    let mut symbols = 0;
    for j in (0..n).rev() {
        symbols += problem.extend_first(a + m, b + j + 1);
        row.best[j] = -problem.open_first(a + m, b + j + 1) - symbols;
        row.open[j] = row.best[j];
    }
    let mut symbols = 0;
    for i in (m / 2..m).rev() {
        let mut diagonal = row.best[n];
        symbols += problem.extend_second(a + i + 1, b + n);
        row.best[n] = -symbols - if closes { problem.open_second(a + i + 1, b + n) } else { 0 };
        // Score of a gap along the row without its opening cost, which is known only at its start.
        let mut along = row.best[n];
        for j in (0..n).rev() {
            along = along.max(row.best[j + 1]) - problem.extend_first(a + i, b + j + 1);
            row.open[j] = row.open[j].max(row.best[j]) - problem.extend_second(a + i + 1, b + j);
            let together = diagonal + problem.scores.score(a + i, b + j);
            let down = row.open[j] - problem.open_second(a + i + 1, b + j);
            diagonal = row.best[j];
            row.best[j] = together.max(along - problem.open_first(a + i, b + j + 1)).max(down);
        }
    }
    row.open[n] = row.best[n] + problem.open_second(a + m / 2 + 1, b + n);
    row
}
