//! The textbook algorithm: sums of logarithms as f64, cell by cell.

use super::model::Model;
use crate::seq::Code;

fn add(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return greatest;
    }
    greatest + values.iter().map(|value| (value - greatest).exp()).sum::<f64>().ln()
}

/// A table with rows and columns from 0 on.
struct LogTable {
    columns: usize,
    values: Vec<f64>,
}

impl LogTable {
    fn new(rows: usize, columns: usize) -> Self {
        LogTable { columns, values: vec![f64::NEG_INFINITY; rows * columns] }
    }
    fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }
    fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.columns + column] = value;
    }
}

/// Returns the logarithms of the values of matches, and of the sum over all alignments.
fn forward(model: &Model, a: &[Code], b: &[Code]) -> (LogTable, f64) {
    let ln = |value: f32| f64::from(value).ln();
    // An alignment starts and ends without a gap in a corner, and with a gap at another border.
    let end = |row: bool, column: bool| match (row, column) {
        (true, true) => 0.0,
        (false, false) => f64::NEG_INFINITY,
        _ => ln(model.end_gap),
    };
    let mut states: Vec<LogTable> = (0..3).map(|_| LogTable::new(a.len() + 1, b.len() + 1)).collect();
    let mut ends = Vec::new();
    for row in 1..=a.len() {
        for column in 1..=b.len() {
            let start = end(row == 1, column == 1);
            let onward: Vec<f64> = states.iter().map(|state| state.get(row - 1, column - 1)).chain([start]).collect();
            let matched = add(&onward) + ln(model.weight(a[row - 1], b[column - 1]));
            states[0].set(row, column, matched);
            for (state, (row_before, column_before)) in [(1, (row - 1, column)), (2, (row, column - 1))] {
                let value = add(&[
                    states[0].get(row_before, column_before) + ln(model.open),
                    states[state].get(row_before, column_before) + ln(model.extend),
                ]);
                states[state].set(row, column, value);
            }
            ends.push(matched + end(row == a.len(), column == b.len()));
        }
    }
    let total = add(&ends);
    (states.swap_remove(0), total)
}

fn reversed(codes: &[Code]) -> Vec<Code> {
    codes.iter().rev().copied().collect()
}

/// Returns the probability of every residue pair. The backward values are the forward values of the
/// reversed sequences.
pub(super) fn probabilities(model: &Model, a: &[Code], b: &[Code]) -> Vec<Vec<f64>> {
    let (ahead, sum) = forward(model, a, b);
    let (behind, _) = forward(model, &reversed(a), &reversed(b));
    let probability = |row: usize, column: usize| {
        let back = behind.get(a.len() + 1 - row, b.len() + 1 - column);
        let weight = f64::from(model.weight(a[row - 1], b[column - 1])).ln();
        (ahead.get(row, column) + back - sum - weight).exp()
    };
    (1..=a.len()).map(|row| (1..=b.len()).map(|column| probability(row, column)).collect()).collect()
}
