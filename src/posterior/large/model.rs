//! Which columns of two profiles belong together: forward and backward sums over all alignments.
//!
//! As of a pair of sequences ([`crate::posterior::model`]), with gaps that weigh the less, the fewer sequences have a residue
//! there. Values are doubles with an exponent for every few rows. Forward values of matches are kept for a segment of rows;
//! those of segments before it are computed again from a copy of the row before them.

use super::columns::Columns;
use super::math;
use crate::posterior::model::Chain;
use crate::simd::{Simd, SimdKernel};

/// Rows after which values are scaled.
const STEP: usize = 8;
/// Bytes of forward values that are usually kept.
pub(super) const MEMORY: usize = 64 << 20;
/// Bytes of a column of these.
const KEPT: usize = size_of::<f64>() + size_of::<f32>();

/// A row, column (from 0) and probability.
pub(super) type Entry = (u32, u32, f32);

/// Two profiles.
pub(super) struct Both<'a> {
    /// The rows.
    pub a: &'a Columns,
    /// The columns.
    pub b: &'a Columns,
    /// Transitions.
    pub chain: &'a Chain,
    /// What a residue weighs that stands beside a gap of the other profile.
    pub mixed: f32,
    /// Probabilities from here on are kept.
    pub cutoff: f32,
    /// Bytes of forward values that are kept, or more where rows are many.
    pub memory: usize,
}

/// Values of a row, with column 0.
#[derive(Debug, Clone, Default)]
struct Row {
    matched: Vec<f64>,
    gaps: [Vec<f64>; 2],
    /// All that may go on to a match, forwards.
    onward: Vec<f64>,
    exponent: i32,
}

impl Row {
    fn new(columns: usize) -> Self {
        let empty = || vec![0.0; columns];
        Row { matched: empty(), gaps: [empty(), empty()], onward: empty(), exponent: 0 }
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

/// Two to a power, cut to what a normal number can be.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1022) + 1023) as u64) << 52)
}

impl SimdKernel for Both<'_> {
    type Output = Vec<Entry>;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Vec<Entry> {
        self.probabilities()
    }
}

impl Both<'_> {
    #[inline(always)]
    fn probabilities(&self) -> Vec<Entry> {
        let (rows, columns) = (self.a.count, self.b.count + 1);
        if rows == 0 || columns == 1 {
            return Vec::new();
        }
        // As many rows as rows that are copied, where memory is not enough for all.
        let balanced = (3 * rows).isqrt().max(self.memory / (columns * KEPT));
        let segment = balanced.min(rows).next_multiple_of(STEP);
        let segments = rows.div_ceil(segment);
        let mut row = Row::new(columns);
        row.onward.copy_from_slice(&self.b.before);
        let mut copies = Vec::new();
        let mut kept = vec![0.0f64; segment.min(rows) * columns];
        let mut likeness = vec![0.0f32; segment.min(rows) * columns];
        let mut exponents = vec![0i32; rows];
        let mut total = Total::default();
        for index in 0..segments {
            if index + 1 < segments {
                copies.push(row.clone());
            }
            let first = index * segment;
            for (at, exponent) in exponents.iter_mut().enumerate().skip(first).take(segment) {
                let place = (at - first) * columns;
                let likeness = &mut likeness[place..][..columns];
                self.like(at, likeness);
                self.forward(at, likeness, &mut row);
                *exponent = row.exponent;
                kept[place..][..columns].copy_from_slice(&row.matched);
                if at + 1 < rows {
                    total.add(row.matched[columns - 1] * self.a.after[at + 1], row.exponent);
                } else {
                    for (&value, &after) in row.matched.iter().zip(&self.b.after) {
                        total.add(value * after, row.exponent);
                    }
                }
            }
        }
        let mut found = Vec::new();
        if total.value <= 0.0 {
            return found;
        }
        let mut behind = Row::new(columns);
        let mut below = vec![0.0f32; columns];
        for index in (0..segments).rev() {
            let (first, last) = (index * segment, ((index + 1) * segment).min(rows));
            if index + 1 < segments {
                let mut row = std::mem::take(&mut copies[index]);
                for at in first..last {
                    let place = (at - first) * columns;
                    let likeness = &mut likeness[place..][..columns];
                    self.like(at, likeness);
                    self.forward(at, likeness, &mut row);
                    kept[place..][..columns].copy_from_slice(&row.matched);
                }
            }
            for at in (first..last).rev() {
                let place = (at - first) * columns;
                self.backward(at, &below, &mut behind);
                let share = power(exponents[at] + behind.exponent - total.exponent) / total.value;
                self.collect(at, &kept[place..][..columns], &behind.matched, share, &mut found);
                below.copy_from_slice(&likeness[place..][..columns]);
            }
        }
        found.reverse();
        found
    }

    /// What each column is worth in a match with a row.
    #[inline(always)]
    fn like(&self, at: usize, likeness: &mut [f32]) {
        let letters = self.a.over.len() / self.a.count;
        let columns = likeness.len();
        likeness.fill(0.0);
        for letter in 0..letters {
            let over = self.a.over[at * letters + letter];
            let likely = &self.b.likely[letter * columns..][..columns];
            likeness.iter_mut().zip(likely).for_each(|(sum, &likely)| *sum += over * likely);
        }
        let (own, share, mixed) = (self.a.root[at + 1], self.a.share[at + 1], math::log2(self.mixed));
        for ((value, &root), &other) in likeness[1..].iter_mut().zip(&self.b.root[1..]).zip(&self.b.share[1..]) {
            let alone = mixed * (share + other - 2.0 * share * other);
            *value = math::exp2(own * root * math::log2(*value + 1e-6) + alone);
        }
    }

    /// A row from the one before it.
    #[inline(always)]
    fn forward(&self, at: usize, likeness: &[f32], row: &mut Row) {
        let columns = likeness.len();
        let likeness = &likeness[..columns];
        let (open, extend) =
            ([0, 1].map(|kind| self.a.open[kind][at + 1]), [0, 1].map(|kind| self.a.extend[kind][at + 1]));
        let close = self.chain.extend.map(|extend| f64::from(1.0 - extend));
        let stay = f64::from(self.chain.stay());
        let Row { matched, gaps: [short, long], onward, .. } = row;
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
            // What a gap to the right may follow: a match, and a gap downwards.
            source = onward[column] + (1.0 - stay) * matched[column];
            onward[column] += close[0] * gap + close[1] * long_gap;
        }
        onward[0] += self.a.before[at + 1] * power(-row.exponent);
        if (at + 1).is_multiple_of(STEP) {
            row.rescale();
        }
    }

    /// The same backwards: row `at` from the one after it, of which `below` is the likeness.
    #[inline(always)]
    fn backward(&self, at: usize, below: &[f32], row: &mut Row) {
        let columns = below.len();
        let is_last = at + 1 == self.a.count;
        let next = (at + 2).min(self.a.count);
        let (open, extend) = ([0, 1].map(|kind| self.a.open[kind][next]), [0, 1].map(|kind| self.a.extend[kind][next]));
        let close = self.chain.extend.map(|extend| f64::from(1.0 - extend));
        let stay = f64::from(self.chain.stay());
        let Row { matched, gaps: [short, long], onward, .. } = row;
        let (matched, short, long, onward) =
            (&mut matched[..columns], &mut short[..columns], &mut long[..columns], &mut onward[..columns]);
        // Here `onward` is what a match to the lower right brings.
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
    fn collect(&self, at: usize, ahead: &[f64], behind: &[f64], share: f64, found: &mut Vec<Entry>) {
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
                        found.push((at as u32, column as u32 - 1, value.min(1.0) as f32));
                    }
                }
            }
        }
    }
}

/// A sum with an exponent.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    value: f64,
    exponent: i32,
}

impl Total {
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
