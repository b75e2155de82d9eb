//! Probabilities that two bases of an RNA pair with each other: a partition function over the
//! secondary structures of one sequence (McCaskill 1990).
//!
//! The energies are those of the nearest-neighbour model (Mathews et al. 2004) for stacked pairs
//! and the lengths of loops. Mismatches and dangling ends have mean values, so that only the pair at
//! the end of a helix matters. Loops of more than [`MAX_HAIRPIN`] bases in a hairpin and of
//! [`MAX_INTERIOR`] bases between two pairs are excluded. Multiple loops have a constant cost per
//! loop and per branch.

#[cfg(test)]
mod tests;

use super::model::exp;
use super::sparse::Sparse;
use crate::seq::Code;

/// Maximum length of sequences whose base pairs are computed. The time grows with the third power
/// of the length: about 2 ms for 100 bases, and 100 ms for 400.
pub(super) const MAX_LENGTH: usize = 400;
/// Minimum probability that is stored.
const CUTOFF: f64 = 0.01;
/// Probability below which a pair's effect on the pairs that it encloses is ignored.
const NEGLIGIBLE: f64 = 1e-7;
/// Minimum number of bases in a hairpin.
const MIN_HAIRPIN: usize = 3;
/// Maximum number of bases in a hairpin.
const MAX_HAIRPIN: usize = 30;
/// Maximum number of unpaired bases between two stacked pairs.
const MAX_INTERIOR: usize = 20;
/// Least distance of two paired bases.
const MIN_SPAN: usize = MIN_HAIRPIN + 1;
/// The gas constant times 310.15 K, in kcal/mol.
const THERMAL_ENERGY: f64 = 0.616_32;
/// Energy per base that scales the sums, so that they stay in the range of f64, in kcal/mol.
const SCALE: f64 = 0.8;

/// Energies of two stacked pairs in kcal/mol. Rows: the outer pair. Columns: the inner pair, read
/// from its second base to its first. Order: CG, GC, GU, UG, AU, UA.
const STACK: [[f64; 6]; 6] = [
    [-2.4, -3.3, -2.1, -1.4, -2.1, -2.1],
    [-3.3, -3.4, -2.5, -1.5, -2.2, -2.4],
    [-2.1, -2.5, 1.3, -0.5, -1.4, -1.3],
    [-1.4, -1.5, -0.5, 0.3, -0.6, -1.0],
    [-2.1, -2.2, -1.4, -0.6, -1.1, -0.9],
    [-2.1, -2.4, -1.3, -1.0, -0.9, -1.3],
];
/// Energies of hairpins of 3 to [`MAX_HAIRPIN`] bases in kcal/mol.
const HAIRPIN: [f64; MAX_HAIRPIN - MIN_HAIRPIN + 1] = [
    5.4, 5.6, 5.7, 5.4, 6.0, 5.5, 6.4, 6.5, 6.6, 6.7, 6.8, 6.9, 6.9, 7.0, 7.1, 7.1, 7.2, 7.2, 7.3, 7.3, 7.4, 7.4, 7.5,
    7.5, 7.5, 7.6, 7.6, 7.7,
];
/// Energies of bulges of 1 to [`MAX_INTERIOR`] bases in kcal/mol.
const BULGE: [f64; MAX_INTERIOR] =
    [3.8, 2.8, 3.2, 3.6, 4.0, 4.4, 4.6, 4.7, 4.8, 4.9, 5.0, 5.1, 5.2, 5.3, 5.4, 5.4, 5.5, 5.5, 5.6, 5.7];
/// Energies of interior loops of 2 to [`MAX_INTERIOR`] bases in kcal/mol. The first two are mean
/// values.
const INTERIOR: [f64; MAX_INTERIOR - 1] =
    [0.9, 1.6, 1.1, 2.0, 2.0, 2.1, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 2.9, 3.0, 3.1, 3.1, 3.2, 3.3];
/// Mean energy of the first mismatch in a hairpin of more than three bases.
const HAIRPIN_MISMATCH: f64 = -0.8;
/// Energy for each base that one side of an interior loop has more than the other, and its maximum.
const ASYMMETRY: [f64; 2] = [0.6, 3.0];
/// Energy of a pair other than CG and GC at the end of a helix, and in an interior loop.
const WEAK_END: f64 = 0.5;
const WEAK_INTERIOR: f64 = 0.7;
/// Energy of a multiple loop, and of each of its branches.
const MULTIPLE_LOOP: [f64; 2] = [3.4, 0.4];

/// Type of a pair: 1 plus its index in [`STACK`], or 0 if the bases cannot pair.
type PairType = u8;

fn pair_type(first: Code, second: Code) -> PairType {
    const A: Code = 1;
    const C: Code = 2;
    const G: Code = 4;
    const U: Code = 8;
    match (first, second) {
        (C, G) => 1,
        (G, C) => 2,
        (G, U) => 3,
        (U, G) => 4,
        (A, U) => 5,
        (U, A) => 6,
        _ => 0,
    }
}

/// Weights of the parts of structures: exponentials of their negative energies, multiplied by
/// `unpaired` for each base.
struct StructureWeights {
    stack: [[f64; 7]; 7],
    hairpin: [f64; MAX_HAIRPIN + 1],
    bulge: [f64; MAX_INTERIOR + 1],
    interior: [f64; MAX_INTERIOR + 1],
    asymmetry: [f64; MAX_INTERIOR + 1],
    /// Weight of a pair type at the end of a helix.
    end: [f64; 7],
    /// Weight of a pair type in an interior loop.
    inner_end: [f64; 7],
    /// Weight of a pair type that closes a multiple loop, including its branch.
    closing: [f64; 7],
    /// Weight of a pair type that is a branch of a multiple loop.
    branch: [f64; 7],
    /// Weight of an unpaired base.
    unpaired: f64,
}

impl StructureWeights {
    fn new() -> Self {
        let weight = |energy: f64| exp(-energy / THERMAL_ENERGY);
        let unpaired = weight(SCALE);
        let scale = |bases: usize| (0..bases).fold(1.0, |product, _| product * unpaired);
        let weak = |kind: usize, energy: f64| if kind > 2 { weight(energy) } else { 1.0 };
        // The second pair of a stack is read from the other side.
        const REVERSED: [usize; 6] = [1, 0, 3, 2, 5, 4];
        let stack = |outer: usize, inner: usize| match (outer, inner) {
            (0, _) | (_, 0) => 0.0,
            _ => weight(STACK[outer - 1][REVERSED[inner - 1]]) * scale(2),
        };
        let hairpin = |bases: usize| {
            let mismatch = if bases > MIN_HAIRPIN { HAIRPIN_MISMATCH } else { 0.0 };
            let energy = bases.checked_sub(MIN_HAIRPIN).map(|at| HAIRPIN[at] + mismatch);
            energy.map_or(0.0, |energy| weight(energy) * scale(bases + 2))
        };
        let loops = |bases: usize, least: usize, energies: &[f64]| {
            bases.checked_sub(least).map_or(0.0, |at| weight(energies[at]) * scale(bases + 2))
        };
        let [each, most] = ASYMMETRY;
        let [multiple, branch] = MULTIPLE_LOOP;
        StructureWeights {
            stack: std::array::from_fn(|outer| std::array::from_fn(|inner| stack(outer, inner))),
            hairpin: std::array::from_fn(hairpin),
            bulge: std::array::from_fn(|bases| loops(bases, 1, &BULGE)),
            interior: std::array::from_fn(|bases| loops(bases, 2, &INTERIOR)),
            asymmetry: std::array::from_fn(|bases| weight((each * bases as f64).min(most))),
            end: std::array::from_fn(|kind| weak(kind, WEAK_END)),
            inner_end: std::array::from_fn(|kind| weak(kind, WEAK_INTERIOR)),
            closing: std::array::from_fn(|kind| weak(kind, WEAK_END) * weight(multiple + branch) * scale(2)),
            branch: std::array::from_fn(|kind| weak(kind, WEAK_END) * weight(branch)),
            unpaired,
        }
    }

    /// Returns the weight of the loop between two pairs with the given numbers of unpaired bases on
    /// the left and right, excluding the inner pair.
    #[inline]
    fn two_pairs(&self, outer: PairType, inner: PairType, left: usize, right: usize) -> f64 {
        let (outer, inner) = (usize::from(outer), usize::from(inner));
        match (left, right) {
            (0, 0) => self.stack[outer][inner],
            // The helix continues across a bulge of one base.
            (0, 1) | (1, 0) => self.stack[outer][inner] * self.bulge[1] / (self.unpaired * self.unpaired),
            (0, bases) | (bases, 0) => self.bulge[bases] * self.end[outer] * self.end[inner],
            _ => {
                let ends = self.inner_end[outer] * self.inner_end[inner];
                self.interior[left + right] * self.asymmetry[left.abs_diff(right)] * ends
            }
        }
    }

    /// Returns the weight of the hairpin that a pair closes.
    fn hairpin(&self, kind: PairType, bases: usize) -> f64 {
        let end = if bases == MIN_HAIRPIN { self.end[usize::from(kind)] } else { 1.0 };
        self.hairpin.get(bases).map_or(0.0, |weight| weight * end)
    }
}

/// Values of all ranges of bases, from the first base to the last, inclusive.
struct RangeTable {
    stride: usize,
    values: Vec<f64>,
}

impl RangeTable {
    fn new(length: usize) -> Self {
        RangeTable { stride: length, values: vec![0.0; length * length] }
    }
    #[inline]
    fn get(&self, first: usize, last: usize) -> f64 {
        self.values[first * self.stride + last]
    }
    #[inline]
    fn at(&mut self, first: usize, last: usize) -> &mut f64 {
        &mut self.values[first * self.stride + last]
    }
}

/// Sums over the structures of every range of bases.
struct Folding<'a> {
    weights: &'a StructureWeights,
    length: usize,
    /// Types of all pairs, by first and second base.
    kinds: Vec<PairType>,
    /// Structures in which the first base pairs with the last.
    closed: RangeTable,
    /// One branch of a multiple loop that starts at the first base. The arguments are swapped: the
    /// last base, then the first.
    one: RangeTable,
    /// One or more branches of a multiple loop.
    some: RangeTable,
    /// Structures of each prefix and of each suffix, by their length and start.
    prefixes: Vec<f64>,
    suffixes: Vec<f64>,
    /// Weights of unpaired ranges, by length.
    empty: Vec<f64>,
}

impl<'a> Folding<'a> {
    fn new(weights: &'a StructureWeights, codes: &[Code]) -> Self {
        let length = codes.len();
        let mut kinds = vec![0; length * length];
        let kind = |first: usize, last: usize| pair_type(codes[first], codes[last]);
        for first in 0..length {
            for last in first + MIN_SPAN..length {
                // A pair without a neighbour in a helix is ignored.
                let outside = first > 0 && last + 1 < length && kind(first - 1, last + 1) > 0;
                if outside || (last >= first + MIN_SPAN + 2 && kind(first + 1, last - 1) > 0) {
                    kinds[first * length + last] = kind(first, last);
                }
            }
        }
        let mut empty = vec![1.0; length + 1];
        (0..length).for_each(|at| empty[at + 1] = empty[at] * weights.unpaired);
        let table = || RangeTable::new(length);
        let (prefixes, suffixes) = (empty.clone(), empty.iter().rev().copied().collect());
        Folding { weights, length, kinds, closed: table(), one: table(), some: table(), prefixes, suffixes, empty }
    }

    fn kind(&self, first: usize, last: usize) -> PairType {
        self.kinds[first * self.length + last]
    }

    /// Calls `visit` for each pair that may follow a pair inside a helix, a bulge or an interior
    /// loop, with the weight of the loop.
    #[inline]
    fn inner_pairs(&self, first: usize, last: usize, mut visit: impl FnMut(usize, usize, f64)) {
        let outer = self.kind(first, last);
        // Number of bases that may be unpaired between both pairs.
        let Some(free) = (last - first).checked_sub(MIN_SPAN + 2).map(|free| free.min(MAX_INTERIOR)) else { return };
        for left in 0..=free {
            let start = first + 1 + left;
            for right in 0..=free - left {
                let inner = self.kind(start, last - 1 - right);
                if inner > 0 {
                    visit(start, last - 1 - right, self.weights.two_pairs(outer, inner, left, right));
                }
            }
        }
    }

    /// Computes the sums of all ranges, the shorter ones first.
    fn fill(&mut self) {
        let weights = self.weights;
        for span in MIN_SPAN..self.length {
            for first in 0..self.length - span {
                let last = first + span;
                let kind = usize::from(self.kind(first, last));
                if kind > 0 {
                    let mut sum = weights.hairpin(kind as PairType, span - 1);
                    self.inner_pairs(first, last, |start, end, weight| sum += weight * self.closed.get(start, end));
                    let multiple: f64 =
                        self.splits(first + 1, last - 1).map(|at| self.two_parts(first + 1, last - 1, at)).sum();
                    *self.closed.at(first, last) = sum + multiple * weights.closing[kind];
                }
                let branch = self.closed.get(first, last) * weights.branch[kind];
                *self.one.at(last, first) = self.one.get(last - 1, first) * weights.unpaired + branch;
                let single: f64 =
                    (first..=last - MIN_SPAN).map(|at| self.empty[at - first] * self.one.get(last, at)).sum();
                let several: f64 = self.splits(first, last).map(|at| self.two_parts(first, last, at)).sum();
                *self.some.at(first, last) = single + several;
            }
        }
        for end in 1..=self.length {
            let mut sum = self.prefixes[end - 1] * weights.unpaired;
            for first in 0..end.saturating_sub(MIN_SPAN) {
                sum += self.prefixes[first] * self.exterior(first, end - 1);
            }
            self.prefixes[end] = sum;
        }
        for first in (0..self.length).rev() {
            let mut sum = self.suffixes[first + 1] * weights.unpaired;
            for last in first + MIN_SPAN..self.length {
                sum += self.exterior(first, last) * self.suffixes[last + 1];
            }
            self.suffixes[first] = sum;
        }
    }

    /// Returns the first bases of the last branch of a multiple loop in a range.
    fn splits(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        first + MIN_SPAN + 1..(last + 1).saturating_sub(MIN_SPAN)
    }

    /// Returns the sum over structures with a branch from `at` on, and others before it.
    #[inline]
    fn two_parts(&self, first: usize, last: usize, at: usize) -> f64 {
        self.some.get(first, at - 1) * self.one.get(last, at)
    }

    /// Returns the sum over structures of a range whose ends pair outside all loops.
    fn exterior(&self, first: usize, last: usize) -> f64 {
        self.closed.get(first, last) * self.weights.end[usize::from(self.kind(first, last))]
    }

    /// Returns the probable pairs in both directions. Derivatives of the sum over all structures
    /// are computed for every range, the longer ones first.
    fn pairs(&self) -> Vec<(u32, u32, f32)> {
        let weights = self.weights;
        let total = self.prefixes[self.length];
        let table = || RangeTable::new(self.length);
        let (mut closed, mut one, mut some) = (table(), table(), table());
        let mut pairs = Vec::new();
        for span in (MIN_SPAN..self.length).rev() {
            for first in 0..self.length - span {
                let last = first + span;
                let share = some.get(first, last);
                if share > 0.0 {
                    (first..=last - MIN_SPAN).for_each(|at| *one.at(last, at) += share * self.empty[at - first]);
                    self.add_parts([first, last], share, &mut some, &mut one);
                }
                let share = one.get(last, first);
                if share > 0.0 {
                    *one.at(last - 1, first) += share * weights.unpaired;
                }
                let kind = usize::from(self.kind(first, last));
                if kind == 0 {
                    continue;
                }
                let outside = self.prefixes[first] * weights.end[kind] * self.suffixes[last + 1];
                let share = closed.get(first, last) + outside + share * weights.branch[kind];
                let probability = share * self.closed.get(first, last) / total;
                if probability >= CUTOFF {
                    let probability = probability.min(1.0) as f32;
                    pairs.push((first as u32, last as u32, probability));
                    pairs.push((last as u32, first as u32, probability));
                }
                if probability >= NEGLIGIBLE {
                    self.inner_pairs(first, last, |start, end, weight| *closed.at(start, end) += share * weight);
                    self.add_parts([first + 1, last - 1], share * weights.closing[kind], &mut some, &mut one);
                }
            }
        }
        pairs
    }

    /// Adds a share of the derivative of all divisions of a multiple loop to their parts.
    fn add_parts(&self, [first, last]: [usize; 2], share: f64, some: &mut RangeTable, one: &mut RangeTable) {
        for at in self.splits(first, last) {
            *some.at(first, at - 1) += share * self.one.get(last, at);
            *one.at(last, at) += share * self.some.get(first, at - 1);
        }
    }
}

/// Returns the probabilities of all base pairs of a sequence, in both directions. The result has no
/// pairs if the sequence has more than [`MAX_LENGTH`] bases. Ambiguous bases do not pair.
pub(super) fn base_pairs(codes: &[Code]) -> Sparse {
    let mut pairs = Vec::new();
    if (MIN_SPAN + 1..=MAX_LENGTH).contains(&codes.len()) {
        let weights = StructureWeights::new();
        let mut folding = Folding::new(&weights, codes);
        folding.fill();
        pairs = folding.pairs();
    }
    Sparse::from_any_order(codes.len(), pairs.into_iter())
}
