//! A group of sequences that are compared with another sequence at the same time.

use crate::posterior::floats::{LANES, LaneArray};
use crate::posterior::model::Model;
use crate::posterior::scale::BLOCK;
use crate::seq::Code;

/// A group of sequences as columns, one sequence in each lane.
#[derive(Debug)]
pub(in crate::posterior) struct PosteriorLanes {
    /// Number of columns, column 0 included, rounded up to whole blocks.
    columns: usize,
    pub(super) lengths: [usize; LANES],
    /// For each code in use, its weight with the symbol of every column of all lanes. Each code has
    /// one column more than the group.
    weights: Vec<LaneArray<f32>>,
    /// 1 in the last column of each lane.
    pub(super) ends: Vec<LaneArray<f32>>,
    /// Whether a block contains the last column of a lane.
    pub(super) has_end: Vec<bool>,
    /// Offset of each code in `weights`.
    slots: Vec<usize>,
}

impl PosteriorLanes {
    /// Creates a group. `wanted` marks the codes that occur in the sequences to compare with.
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
            weights.resize(first + stride, LaneArray::splat(0.0));
            for (lane, sequence) in sequences.iter().enumerate() {
                for (column, &other) in (1..).zip(*sequence) {
                    weights[first + column].0[lane] = model.weight(code as Code, other);
                }
            }
        }
        let mut lengths = [0; LANES];
        let mut ends = vec![LaneArray::splat(0.0); columns];
        let mut has_end = vec![false; columns / BLOCK];
        for (lane, sequence) in sequences.iter().enumerate().filter(|(_, sequence)| !sequence.is_empty()) {
            lengths[lane] = sequence.len();
            ends[sequence.len()].0[lane] = 1.0;
            has_end[sequence.len() / BLOCK] = true;
        }
        PosteriorLanes { columns, lengths, weights, ends, has_end, slots }
    }

    /// Returns the weights of a code with the symbols of all columns, and one more.
    #[inline(always)]
    pub(super) fn weights(&self, code: Code) -> &[LaneArray<f32>] {
        &self.weights[self.slots[usize::from(code)]..][..self.columns + 1]
    }
}
