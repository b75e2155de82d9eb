//! Probabilities that columns of two profiles are homologous: forward and backward sums over all
//! alignments.
//!
//! The model is that of groups in [`crate::posterior::model`], applied to profiles. Gaps cost less
//! in columns where few sequences have a residue. Values are f64 with one exponent for every few
//! rows. Forward values of matches are stored for one segment of rows. For earlier segments, they
//! are recomputed from a copy of the row before the segment.

use std::sync::atomic::{AtomicBool, Ordering};

use super::columns::ProfileColumns;
use super::math;
use crate::posterior::model::GapTransitions;
use crate::simd::{Simd, SimdKernel};

/// Number of rows after which values are rescaled.
const STEP: usize = 8;
/// Default bytes of stored forward values.
pub(super) const MEMORY: usize = 64 << 20;
/// Bytes of a stored cell.
const STORED_BYTES: usize = size_of::<f64>() + size_of::<f32>();

/// Row, column (from 0) and probability.
pub(super) type ColumnPair = (u32, u32, f32);

/// Two profiles.
pub(super) struct ProfilePairModel<'a> {
    /// Profile of the rows.
    pub a: &'a ProfileColumns,
    /// Profile of the columns.
    pub b: &'a ProfileColumns,
    /// Transition probabilities.
    pub chain: &'a GapTransitions,
    /// Weight of a residue that faces a gap of the other profile.
    pub mixed: f32,
    /// Minimum probability that is returned.
    pub cutoff: f32,
    /// Target bytes of stored forward values. More are used for many rows.
    pub memory: usize,
    /// Ends the computation early, without a result.
    pub interrupt: &'a AtomicBool,
}

/// Values of a row, from column 0 on.
#[derive(Debug, Clone, Default)]
struct ModelRow {
    matched: Vec<f64>,
    gaps: [Vec<f64>; 2],
    /// Sum of all values that a match may follow, in the forward pass.
    onward: Vec<f64>,
    exponent: i32,
}

impl ModelRow {
    fn new(columns: usize) -> Self {
        let empty = || vec![0.0; columns];
        ModelRow { matched: empty(), gaps: [empty(), empty()], onward: empty(), exponent: 0 }
    }

    #[inline(always)]
    fn rescale(&mut self) {
        let mut greatest = [0.0f64; 8];
        for values in [&self.matched, &self.onward, &self.gaps[0], &self.gaps[1]] {
            for chunk in values.chunks(8) {
                for (greatest, &value) in greatest.iter_mut().zip(chunk) {
                    *greatest = if value > *greatest { value } else { *greatest };
                }
            }
        }
        let greatest = greatest.iter().fold(0.0f64, |a, &b| a.max(b));
        if greatest > 0.0 {
            let shift = (greatest.to_bits() >> 52) as i32 - 1023;
            let factor = power(-shift);
            for values in [&mut self.matched, &mut self.onward].into_iter().chain(&mut self.gaps) {
                values.iter_mut().for_each(|value| *value *= factor);
            }
            self.exponent += shift;
        }
    }
}

/// Returns 2 to the power of `exponent`, clamped to the range of normal numbers.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1022) + 1023) as u64) << 52)
}

impl SimdKernel for ProfilePairModel<'_> {
    type Output = Vec<ColumnPair>;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Vec<ColumnPair> {
        self.probabilities()
    }
}

impl ProfilePairModel<'_> {
    #[inline(always)]
    fn probabilities(&self) -> Vec<ColumnPair> {
        let (rows, columns) = (self.a.count, self.b.count + 1);
        if rows == 0 || columns == 1 {
            return Vec::new();
        }
        // If memory does not suffice for all rows, the segment length balances the stored rows
        // against the copied rows.
        let balanced = (3 * rows).isqrt().max(self.memory / (columns * STORED_BYTES));
        let segment = balanced.min(rows).next_multiple_of(STEP);
        let segments = rows.div_ceil(segment);
        let mut row = ModelRow::new(columns);
        row.onward.copy_from_slice(&self.b.before);
        let mut copies = Vec::new();
        let mut kept = vec![0.0f64; segment.min(rows) * columns];
        let mut likeness = vec![0.0f32; segment.min(rows) * columns];
        let mut exponents = vec![0i32; rows];
        let mut total = ScaledSum::default();
        for index in 0..segments {
            if index + 1 < segments {
                copies.push(row.clone());
            }
            let first = index * segment;
            for (at, exponent) in exponents.iter_mut().enumerate().skip(first).take(segment) {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Vec::new();
                }
                let offset = (at - first) * columns;
                let likeness = &mut likeness[offset..][..columns];
                self.match_weights(at, likeness);
                self.forward(at, likeness, &mut row);
                *exponent = row.exponent;
                kept[offset..][..columns].copy_from_slice(&row.matched);
                if at + 1 < rows {
                    total.add(row.matched[columns - 1] * self.a.after[at + 1], row.exponent);
                } else {
                    for (&value, &after) in row.matched.iter().zip(&self.b.after) {
                        total.add(value * after, row.exponent);
                    }
                }
            }
        }
        let mut pairs = Vec::new();
        if total.value <= 0.0 {
            return pairs;
        }
        let mut behind = ModelRow::new(columns);
        let mut below = vec![0.0f32; columns];
        for index in (0..segments).rev() {
            let (first, last) = (index * segment, ((index + 1) * segment).min(rows));
            if index + 1 < segments {
                let mut row = std::mem::take(&mut copies[index]);
                for at in first..last {
                    if self.interrupt.load(Ordering::Relaxed) {
                        return Vec::new();
                    }
                    let offset = (at - first) * columns;
                    let likeness = &mut likeness[offset..][..columns];
                    self.match_weights(at, likeness);
                    self.forward(at, likeness, &mut row);
                    kept[offset..][..columns].copy_from_slice(&row.matched);
                }
            }
            for at in (first..last).rev() {
                if self.interrupt.load(Ordering::Relaxed) {
                    return Vec::new();
                }
                let offset = (at - first) * columns;
                self.backward(at, &below, &mut behind);
                let share = power(exponents[at] + behind.exponent - total.exponent) / total.value;
                self.collect(at, &kept[offset..][..columns], &behind.matched, share, &mut pairs);
                below.copy_from_slice(&likeness[offset..][..columns]);
            }
        }
        pairs.reverse();
        pairs
    }

    /// Computes the match weight of each column with row `at`.
    #[inline(always)]
    fn match_weights(&self, at: usize, likeness: &mut [f32]) {
        let letters = self.a.over.len() / self.a.count;
        let columns = likeness.len();
        likeness.fill(0.0);
        for letter in 0..letters {
            let over = self.a.over[at * letters + letter];
            let likely = &self.b.likely[letter * columns..][..columns];
            likeness.iter_mut().zip(likely).for_each(|(sum, &likely)| *sum += over * likely);
        }
        let (row_root, share, mixed) = (self.a.root[at + 1], self.a.share[at + 1], math::log2(self.mixed));
        for ((value, &root), &other) in likeness[1..].iter_mut().zip(&self.b.root[1..]).zip(&self.b.share[1..]) {
            let alone = mixed * (share + other - 2.0 * share * other);
            *value = math::exp2(row_root * root * math::log2(*value + 1e-6) + alone);
        }
    }

    /// Computes row `at` from the previous row.
    #[inline(always)]
    fn forward(&self, at: usize, likeness: &[f32], row: &mut ModelRow) {
        let columns = likeness.len();
        let likeness = &likeness[..columns];
        let (open, extend) =
            ([0, 1].map(|kind| self.a.open[kind][at + 1]), [0, 1].map(|kind| self.a.extend[kind][at + 1]));
        let close = self.chain.extend.map(|extend| f64::from(1.0 - extend));
        let stay = f64::from(self.chain.match_to_match());
        let ModelRow { matched, gaps: [short, long], onward, .. } = row;
        let (matched, short, long, onward) =
            (&mut matched[..columns], &mut short[..columns], &mut long[..columns], &mut onward[..columns]);
        for column in 0..columns {
            let above = matched[column];
            short[column] = open[0] * above + extend[0] * short[column];
            long[column] = open[1] * above + extend[1] * long[column];
        }
        for column in 1..columns {
            matched[column] = f64::from(likeness[column]) * onward[column - 1];
        }
        matched[0] = 0.0;
        for column in 0..columns {
            let down = close[0] * short[column] + close[1] * long[column];
            onward[column] = stay * matched[column] + down;
        }
        let [right, further] = [0, 1].map(|kind| (&self.b.open[kind][..columns], &self.b.extend[kind][..columns]));
        let (mut gap, mut long_gap, mut source) = (0.0, 0.0, 0.0);
        for column in 0..columns {
            gap = right.0[column] * source + right.1[column] * gap;
            long_gap = further.0[column] * source + further.1[column] * long_gap;
            // A gap to the right may follow a match or a gap downwards.
            source = onward[column] + (1.0 - stay) * matched[column];
            onward[column] += close[0] * gap + close[1] * long_gap;
        }
        onward[0] += self.a.before[at + 1] * power(-row.exponent);
        if (at + 1).is_multiple_of(STEP) {
            row.rescale();
        }
    }

    /// Computes the backward values of row `at` from the next row, whose match weights are `below`.
    #[inline(always)]
    fn backward(&self, at: usize, below: &[f32], row: &mut ModelRow) {
        let columns = below.len();
        let is_last = at + 1 == self.a.count;
        let next = (at + 2).min(self.a.count);
        let (open, extend) = ([0, 1].map(|kind| self.a.open[kind][next]), [0, 1].map(|kind| self.a.extend[kind][next]));
        let close = self.chain.extend.map(|extend| f64::from(1.0 - extend));
        let stay = f64::from(self.chain.match_to_match());
        let ModelRow { matched, gaps: [short, long], onward, .. } = row;
        let (matched, short, long, onward) =
            (&mut matched[..columns], &mut short[..columns], &mut long[..columns], &mut onward[..columns]);
        // Here, `onward` is the value of a match to the lower right.
        for column in 0..columns - 1 {
            onward[column] = f64::from(below[column + 1]) * matched[column + 1];
        }
        onward[columns - 1] = 0.0;
        let (mut gap, mut long_gap) = (0.0, 0.0);
        for column in (0..columns).rev() {
            let right = if column + 1 < columns {
                self.b.open[0][column + 1] * gap + self.b.open[1][column + 1] * long_gap
            } else {
                0.0
            };
            if column + 1 < columns {
                gap *= self.b.extend[0][column + 1];
                long_gap *= self.b.extend[1][column + 1];
            }
            gap += close[0] * onward[column];
            long_gap += close[1] * onward[column];
            matched[column] = right;
        }
        for column in 0..columns {
            let (diagonal, right) = (onward[column], matched[column]);
            matched[column] = stay * diagonal + right + open[0] * short[column] + open[1] * long[column];
            short[column] = close[0] * (diagonal + right) + extend[0] * short[column];
            long[column] = close[1] * (diagonal + right) + extend[1] * long[column];
        }
        if is_last {
            short.fill(0.0);
            long.fill(0.0);
            matched.copy_from_slice(&self.b.after);
        } else {
            matched[columns - 1] += self.a.after[at + 1] * power(-row.exponent);
        }
        if (at + 1).is_multiple_of(STEP) {
            row.rescale();
        }
    }

    #[inline(always)]
    fn collect(&self, at: usize, ahead: &[f64], behind: &[f64], share: f64, pairs: &mut Vec<ColumnPair>) {
        let least = f64::from(self.cutoff);
        for (block, (ahead, behind)) in ahead.chunks(8).zip(behind.chunks(8)).enumerate().rev() {
            let mut values = [0.0; 8];
            let mut any = false;
            for ((value, &ahead), &behind) in values.iter_mut().zip(ahead).zip(behind) {
                *value = ahead * behind * share;
                any |= *value >= least;
            }
            if any {
                for (lane, &value) in values.iter().enumerate().rev() {
                    let column = block * 8 + lane;
                    if value >= least && column > 0 {
                        pairs.push((at as u32, column as u32 - 1, value.min(1.0) as f32));
                    }
                }
            }
        }
    }
}

/// A sum with an exponent.
#[derive(Debug, Clone, Copy, Default)]
struct ScaledSum {
    value: f64,
    exponent: i32,
}

impl ScaledSum {
    fn add(&mut self, value: f64, exponent: i32) {
        if value <= 0.0 {
            return;
        }
        if self.value == 0.0 {
            self.exponent = exponent;
        } else if exponent > self.exponent {
            self.value *= power(self.exponent - exponent);
            self.exponent = exponent;
        }
        self.value += value * power(exponent - self.exponent);
    }
}
