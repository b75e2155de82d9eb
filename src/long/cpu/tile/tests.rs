use super::*;
use crate::alignment::Op;
use crate::long::oracle::LongMatrices;
use crate::long::{PathPoint, PathState};
use crate::score::{Ambiguity, EndGaps, Mode};

/// Returns the next random number.
fn random(state: &mut fastrand::Rng) -> u64 {
    state.u64(..)
}

/// Strips of all heights give the oracle's values, first best cell and directions, for a tile
/// inside the matrices.
#[test]
fn tiles_match_the_oracle() {
    println!("seed 7");
    let state = &mut fastrand::Rng::with_seed(7);
    for round in 0..150 {
        let instruction_sets = InstructionSet::available();
        let instruction_set = instruction_sets[round % instruction_sets.len()];
        let lengths: [usize; 4] = std::array::from_fn(|k| match (k, random(state) % 3) {
            (0 | 1, 0) => 0,
            (0 | 1, _) => random(state) as usize % 5,
            (_, 0) => [0, 1, 2, 15, 16, 17, 31, 32, 33, 128, 129][random(state) as usize % 11],
            _ => random(state) as usize % 170,
        });
        let [top, left, m, n] = lengths;
        let codes = |length: usize, state: &mut fastrand::Rng| -> Vec<Code> {
            (0..length).map(|_| [1, 2, 4, 8, 1, 15][random(state) as usize % 6]).collect()
        };
        let (query, target) = (codes(top + m, state), codes(left + n, state));
        let next = (random(state) % 3) as i32;
        let gaps = Gaps { first: next + (random(state) % 3) as i32, next };
        let mode = if random(state).is_multiple_of(2) { Mode::Local } else { Mode::Global };
        let large = if random(state).is_multiple_of(8) { 1000 } else { 1 };
        let scoring = Scoring::nucleotide(2 * large, -3, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
        let scoring = Scoring { mode, ..scoring };
        let what = format!("{instruction_set:?} {lengths:?} {gaps:?} {mode:?} {large}");
        let truth = LongMatrices::fill(&query, &target, &scoring);
        let (rows, columns) = (top..top + m, left..left + n);
        let scheme = TileScoring::new(&scoring, mode == Mode::Local, instruction_set);
        let mut buffers = TileBuffers::default();
        let borders = || (truth.row_border(top, columns.clone()), truth.column_border(left, rows.clone()));
        let check = |row: &Border, column: &Border| {
            let lower = truth.row_border(top + m, columns.clone());
            let right = truth.column_border(left + n, rows.clone());
            assert_eq!((&row.h, &row.gap[1..]), (&lower.h, &lower.gap[1..]), "{what}");
            assert_eq!((&column.h, &column.gap[1..]), (&right.h, &right.gap[1..]), "{what}");
        };
        let (query, target) = (&query[rows.clone()], &target[columns.clone()]);
        let (mut row, mut column) = borders();
        let best_cell = scheme.sweep(query, target, &mut row, &mut column, 0, &mut buffers);
        check(&row, &column);
        let best_cell = best_cell.map(|best_cell| {
            let (i, j) = scheme.first_cell(query, target, &best_cell, &mut buffers);
            (i64::from(best_cell.value), top + i + 1, left + j + 1)
        });
        let expected = truth.best(rows.clone(), columns.clone()).filter(|_| mode == Mode::Local);
        assert_eq!(best_cell, expected, "{what}");

        let (mut row, mut column) = borders();
        let mut directions = TileDirections::default();
        scheme.directions(query, target, &mut row, &mut column, &mut directions, &mut buffers);
        check(&row, &column);
        for i in 0..m {
            for j in 0..n {
                let at = |state| PathPoint { i: (top + i + 1) as u32, j: (left + j + 1) as u32, state };
                // The tracebacks stop after one column.
                let traceback = truth.trace_back(at(PathState::H), top + i, left + j);
                let step = match (traceback.points[0].1, traceback.points.get(1)) {
                    (Some(Op::Match | Op::Mismatch), _) => DirectionStep::Two,
                    (_, None) => DirectionStep::Ends,
                    (_, Some((point, _))) if point.state == PathState::I => DirectionStep::Insertion,
                    _ => DirectionStep::Deletion,
                };
                assert_eq!(directions.step(i, j), step, "{i} {j} {what}");
                let leaves = |state| truth.trace_back(at(state), top + i, left + j).points[1].0.state == PathState::H;
                assert!(i == 0 || directions.insertion_leaves(i - 1, j) == leaves(PathState::I), "I {i} {j} {what}");
                assert!(j == 0 || directions.deletion_leaves(i, j - 1) == leaves(PathState::D), "D {i} {j} {what}");
            }
        }
    }
}
