//! The sequences that another one is compared with at once.

use crate::posterior::floats::{LANES, Lane};
use crate::posterior::model::Model;
use crate::posterior::scale::BLOCK;
use crate::seq::Code;

/// A group of sequences, one a lane, as columns.
#[derive(Debug)]
pub(in crate::posterior) struct Group {
    /// Columns with column 0, whole blocks.
    columns: usize,
    pub(super) lengths: [usize; LANES],
    /// Of each code that is asked for and column: what it weighs beside the symbol there. One more column than there are.
    weights: Vec<Lane<f32>>,
    /// 1 in each lane's last column.
    pub(super) ends: Vec<Lane<f32>>,
    /// Whether a block has a last column.
    pub(super) has_end: Vec<bool>,
    /// Where a code's columns begin.
    slots: Vec<usize>,
}

impl Group {
    /// Sequences of a group, to be compared with sequences of the codes in `wanted`.
    pub(in crate::posterior) fn new(model: &Model, sequences: &[&[Code]], wanted: &[bool]) -> Self {
        assert!(sequences.len() <= LANES, "a group of {}", sequences.len());
        let longest = sequences.iter().map(|sequence| sequence.len()).max().unwrap_or(0);
        let columns = (longest + 1).next_multiple_of(BLOCK);
        let stride = columns + 1;
        let mut weights = Vec::new();
        let mut slots = vec![usize::MAX; model.codes()];
        for code in (0..model.codes()).filter(|&code| wanted[code]) {
            slots[code] = weights.len();
            let first = weights.len();
            weights.resize(first + stride, Lane::splat(0.0));
            for (lane, sequence) in sequences.iter().enumerate() {
                for (column, &other) in (1..).zip(*sequence) {
                    weights[first + column].0[lane] = model.weight(code as Code, other);
                }
            }
        }
        let mut lengths = [0; LANES];
        let mut ends = vec![Lane::splat(0.0); columns];
        let mut has_end = vec![false; columns / BLOCK];
        for (lane, sequence) in sequences.iter().enumerate().filter(|(_, sequence)| !sequence.is_empty()) {
            lengths[lane] = sequence.len();
            ends[sequence.len()].0[lane] = 1.0;
            has_end[sequence.len() / BLOCK] = true;
        }
        Group { columns, lengths, weights, ends, has_end, slots }
    }

    /// What a code weighs beside the symbols of every column, and one more.
    #[inline(always)]
    pub(super) fn weights(&self, code: Code) -> &[Lane<f32>] {
        &self.weights[self.slots[usize::from(code)]..][..self.columns + 1]
    }
}
