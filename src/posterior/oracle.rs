//! The textbook: both models' sums in logarithms of doubles, cell by cell.

use super::model::Model;
use crate::seq::Code;

fn add(values: &[f64]) -> f64 {
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return greatest;
    }
    greatest + values.iter().map(|value| (value - greatest).exp()).sum::<f64>().ln()
}

/// A table of rows and columns from 0.
struct Table {
    columns: usize,
    values: Vec<f64>,
}

impl Table {
    fn new(rows: usize, columns: usize) -> Self {
        Table { columns, values: vec![f64::NEG_INFINITY; rows * columns] }
    }
    fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }
    fn set(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.columns + column] = value;
    }
}

/// States: the match, then gaps in the one and the other of each kind.
fn forward_of_chain(model: &Model, a: &[Code], b: &[Code]) -> Vec<Table> {
    let chain = &model.chain;
    let ln = |value: f32| f64::from(value).ln();
    let mut states: Vec<Table> = (0..5).map(|_| Table::new(a.len() + 1, b.len() + 1)).collect();
    for row in 0..=a.len() {
        for column in 0..=b.len() {
            if row > 0 && column > 0 {
                let mut from = vec![if (row, column) == (1, 1) { ln(chain.start) } else { f64::NEG_INFINITY }];
                from.push(states[0].get(row - 1, column - 1) + ln(chain.stay()));
                for (state, values) in states.iter().enumerate().skip(1) {
                    let leave = ln(1.0 - chain.extend[(state - 1) / 2]);
                    from.push(values.get(row - 1, column - 1) + leave);
                }
                let value = add(&from) + ln(model.odds(a[row - 1], b[column - 1]));
                states[0].set(row, column, value);
            }
            for state in 1..5 {
                let kind = (state - 1) / 2;
                let (up, left) = if state % 2 == 1 { (1, 0) } else { (0, 1) };
                if row < up || column < left {
                    continue;
                }
                let is_first = (row - up, column - left) == (0, 0);
                let value = add(&[
                    if is_first { ln(chain.start_gap[kind]) } else { f64::NEG_INFINITY },
                    states[0].get(row - up, column - left) + ln(chain.open[kind]),
                    states[state].get(row - up, column - left) + ln(chain.extend[kind]),
                ]);
                states[state].set(row, column, value);
            }
        }
    }
    states
}

/// Logarithms of the matches' values and of the sum over all alignments, of the partition function.
fn forward_of_weights(model: &Model, a: &[Code], b: &[Code]) -> (Table, f64) {
    let ln = |value: f32| f64::from(value).ln();
    let mut states: Vec<Table> = (0..3).map(|_| Table::new(a.len() + 1, b.len() + 1)).collect();
    let mut ends = Vec::new();
    for row in 1..=a.len() {
        for column in 1..=b.len() {
            let start = if row == 1 || column == 1 { 0.0 } else { f64::NEG_INFINITY };
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
            if row == a.len() || column == b.len() {
                ends.push(matched);
            }
        }
    }
    let total = add(&ends);
    (states.swap_remove(0), total)
}

fn reversed(codes: &[Code]) -> Vec<Code> {
    codes.iter().rev().copied().collect()
}

/// The probability of every pair of residues: of the hidden Markov model and of the partition function. Both models are
/// the same read backwards, but for how a gap is left and opened, which a whole gap has once each.
pub(super) fn probabilities(model: &Model, a: &[Code], b: &[Code]) -> Vec<Vec<[f64; 2]>> {
    let ln = |value: f32| f64::from(value).ln();
    let chain = &model.chain;
    let states = forward_of_chain(model, a, b);
    let end = |state: usize| if state == 0 { ln(chain.start) } else { ln(chain.start_gap[(state - 1) / 2]) };
    let ends: Vec<f64> = (0..5).map(|state| states[state].get(a.len(), b.len()) + end(state)).collect();
    let total = add(&ends);
    // Backward, by the definition.
    let mut after: Vec<Table> = (0..5).map(|_| Table::new(a.len() + 2, b.len() + 2)).collect();
    for row in (0..=a.len()).rev() {
        for column in (0..=b.len()).rev() {
            let is_last = (row, column) == (a.len(), b.len());
            let on = if row < a.len() && column < b.len() {
                after[0].get(row + 1, column + 1) + ln(model.odds(a[row], b[column]))
            } else {
                f64::NEG_INFINITY
            };
            let mut of_match = vec![on + ln(chain.stay())];
            for (state, values) in after.iter_mut().enumerate().skip(1) {
                let kind = (state - 1) / 2;
                let (down, right) = if state % 2 == 1 { (1, 0) } else { (0, 1) };
                let same = values.get(row + down, column + right);
                let of_gap = [
                    if is_last { end(state) } else { f64::NEG_INFINITY },
                    same + ln(chain.extend[kind]),
                    on + ln(1.0 - chain.extend[kind]),
                ];
                of_match.push(same + ln(chain.open[kind]));
                values.set(row, column, add(&of_gap));
            }
            of_match.push(if is_last { end(0) } else { f64::NEG_INFINITY });
            after[0].set(row, column, add(&of_match));
        }
    }
    let (ahead, sum) = forward_of_weights(model, a, b);
    let (behind, _) = forward_of_weights(model, &reversed(a), &reversed(b));
    let probability = |row: usize, column: usize| {
        let chained = states[0].get(row, column) + after[0].get(row, column) - total;
        let back = behind.get(a.len() + 1 - row, b.len() + 1 - column);
        let weighted = ahead.get(row, column) + back - sum - ln(model.weight(a[row - 1], b[column - 1]));
        [chained.exp(), weighted.exp()]
    };
    (1..=a.len()).map(|row| (1..=b.len()).map(|column| probability(row, column)).collect()).collect()
}
