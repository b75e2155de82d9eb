//! A strip: some rows of a single pair, over all columns of a block. The words of the rows are in
//! the lanes of one or two vectors.

use super::{BlockColumns, BlockRows, MARGIN, VECTORS};
use crate::edit::cpu::least::{LastRowMinimum, RowSteps};
use crate::edit::cpu::planes::{MAX_PLANES, Matcher};
use crate::edit::cpu::step::{HorizontalDeltas, VerticalDeltas, step};
use crate::simd::{BITS, LanesU64, MAX_U64_LANES, array_of};

/// Some rows, and the columns where they are computed.
pub(super) struct RowStrip<'a> {
    pub rows: &'a BlockRows<'a>,
    pub first_row: usize,
    pub first: usize,
    pub last: usize,
}

impl RowStrip<'_> {
    /// Computes a strip of K vectors. If `last_row` is given, the strip contains the last row,
    /// whose distances are then recorded.
    ///
    /// # Safety
    /// The conditions of [`RowStrip::compute_block`] hold.
    #[inline(always)]
    pub(super) unsafe fn compute<V: LanesU64, M: Matcher, const K: usize>(
        &self,
        columns: &BlockColumns,
        last_row: Option<LastRowMinimum<1>>,
    ) -> LastRowMinimum<1> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.rows.resumes || self.rows.leaves {
                self.compute_block::<V, M, K, true>(columns, last_row)
            } else {
                self.compute_block::<V, M, K, false>(columns, last_row)
            }
        }
    }

    /// Implements [`RowStrip::compute`]. Without `IDLE_LANES`, there must be only one block.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `columns` and `self.rows` meet the
    /// conditions of [`BlockRows::sweep`]. `K` is at most [`VECTORS`]. `self.first_row` is less
    /// than the rows of the pattern, and a multiple of the rows in [`VECTORS`] vectors.
    /// `self.first` is at least 1, and `self.last` at most `n`.
    #[inline(always)]
    unsafe fn compute_block<V: LanesU64, M: Matcher, const K: usize, const IDLE_LANES: bool>(
        &self,
        columns: &BlockColumns,
        last_row: Option<LastRowMinimum<1>>,
    ) -> LastRowMinimum<1> {
        let BlockRows { pattern: symbols, resumes, leaves, .. } = *self.rows;
        let m = symbols.len();
        let lanes = K * V::COUNT;
        // The word that contains the last row, and the row's bit in it.
        let (last_word, bit) = ((m - 1 - self.first_row) / BITS, (m - 1) % BITS);
        let mut last_rows =
            FollowedRow { row: last_row.unwrap_or(LastRowMinimum::new([0])), last_word, bit, ups: 0, downs: 0 };
        let delay = if last_row.is_some() { last_word } else { lanes - 1 };
        // SAFETY: the caller guarantees the instructions of V, and margins on both sides of all
        // columns.
        unsafe {
            let pattern = self.load_pattern::<V, M, K>();
            // Before its first column, a word receives downward steps. Its rows then keep a
            // difference of one from row to row, and it passes downward steps to the next word.
            let mut states = [VerticalDeltas { pv: V::splat(u64::MAX), mv: V::splat(0) }; K];
            let mut tops = [HorizontalDeltas { hp: V::splat(0), hn: V::splat(u64::MAX), as_matches: V::splat(0) }; K];
            let kept = self.first_row / BITS;
            if IDLE_LANES && resumes {
                for (v, state) in states.iter_mut().enumerate() {
                    let words = kept + v * V::COUNT;
                    *state =
                        VerticalDeltas { pv: V::load(self.rows.pv.add(words)), mv: V::load(self.rows.mv.add(words)) };
                }
            }
            let mut saved = [[[0u64; MAX_U64_LANES]; 2]; K];
            // In words that continue from another block, or that store their rows for the next
            // block, only the block's own columns may change the rows.
            let all_begun = if resumes { self.first + lanes - 1 } else { 0 };
            let one_ended = if leaves { self.last + 1 } else { usize::MAX };
            for t in self.first..=self.last + delay {
                let before = tops;
                let has_idle_lanes = IDLE_LANES && (t < all_begun || t >= one_ended);
                if has_idle_lanes {
                    for (v, state) in states.iter().enumerate() {
                        state.pv.store(saved[v][0].as_mut_ptr());
                        state.mv.store(saved[v][1].as_mut_ptr());
                    }
                }
                let back = |v: usize| MARGIN + t - v * V::COUNT - (V::COUNT - 1);
                for v in 0..K {
                    let (hp, hn) = match v.checked_sub(1) {
                        Some(above) => (before[above].hp, before[above].hn),
                        None => (V::splat(*columns.up.add(t)), V::splat(*columns.down.add(t))),
                    };
                    let below = HorizontalDeltas::new(before[v].hp.shift_down(hp), before[v].hn.shift_down(hn));
                    let symbol = |plane: usize| V::load(columns.text.add(plane * columns.stride + back(v)));
                    (states[v], tops[v]) = step::<V, M>(states[v], below, |plane| pattern[v][plane], symbol);
                }
                if has_idle_lanes {
                    for (v, state) in states.iter_mut().enumerate() {
                        let (inside, outside) = self.words_in_block::<V>(t, v);
                        let (inside, outside) = (V::load(inside.as_ptr()), V::load(outside.as_ptr()));
                        let choose =
                            |new: V, old: &[u64; MAX_U64_LANES]| new.and_or(inside, V::load(old.as_ptr()).and(outside));
                        state.pv = choose(state.pv, &saved[v][0]);
                        state.mv = choose(state.mv, &saved[v][1]);
                    }
                }
                if last_row.is_none() {
                    // Only the output of the first lane remains. The output of the other lanes is
                    // overwritten.
                    let offset = t as isize - (lanes as isize - 1);
                    tops[K - 1].hp.store(columns.up.offset(offset));
                    tops[K - 1].hn.store(columns.down.offset(offset));
                } else if t >= self.first + last_word {
                    last_rows.take(self, tops[last_word / V::COUNT], t - last_word);
                }
            }
            if IDLE_LANES && leaves {
                for (v, state) in states.iter().enumerate() {
                    let words = kept + v * V::COUNT;
                    state.pv.store(self.rows.pv.add(words));
                    state.mv.store(self.rows.mv.add(words));
                }
            }
        }
        last_rows.row
    }

    /// Loads the planes of the strip's symbols. The first rows are in the last lane of the first
    /// vector.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `K` is at most [`VECTORS`].
    #[inline(always)]
    unsafe fn load_pattern<V: LanesU64, M: Matcher, const K: usize>(&self) -> [[V; MAX_PLANES]; K] {
        let BlockRows { pattern: symbols, planes, .. } = *self.rows;
        let mut pattern = [[0u64; VECTORS * MAX_U64_LANES]; MAX_PLANES];
        for word in 0..K * V::COUNT {
            let mut bits = [0; MAX_PLANES];
            let first = (self.first_row + word * BITS) as isize;
            // SAFETY: guaranteed by the caller.
            unsafe { planes.read::<V>(symbols, first, &mut bits[..M::PLANES]) };
            for (plane, bits) in bits.iter().enumerate() {
                pattern[plane][word / V::COUNT * V::COUNT + (V::COUNT - 1 - word % V::COUNT)] = *bits;
            }
        }
        array_of(|v| {
            // SAFETY: guaranteed by the caller. Each plane has the words of K vectors.
            array_of(|plane| unsafe { V::load(pattern[plane].as_ptr().add(v * V::COUNT)) })
        })
    }

    /// Returns two masks of the lanes of a vector: lanes whose word is at a column of the strip in
    /// iteration `t`, and all other lanes.
    fn words_in_block<V: LanesU64>(&self, t: usize, v: usize) -> ([u64; MAX_U64_LANES], [u64; MAX_U64_LANES]) {
        let mut inside = [0; MAX_U64_LANES];
        for (lane, mask) in inside[..V::COUNT].iter_mut().enumerate() {
            let column = t.wrapping_sub(v * V::COUNT + V::COUNT - 1 - lane);
            *mask = u64::from((self.first..=self.last).contains(&column)).wrapping_neg();
        }
        (inside, array_of(|lane| !inside[lane]))
    }
}

/// The last row of the pattern, which is recorded while its strip is computed.
struct FollowedRow {
    row: LastRowMinimum<1>,
    /// Word of the strip that contains the last row, and the row's bit in it.
    last_word: usize,
    bit: usize,
    /// Steps since the last update of `row`. The first is the highest bit.
    ups: u64,
    downs: u64,
}

impl FollowedRow {
    /// Records the step at a column of the strip, from the output of the vector that contains the
    /// row's word.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn take<V: LanesU64>(&mut self, strip: &RowStrip<'_>, top: HorizontalDeltas<V>, column: usize) {
        let (mut hp, mut hn) = ([0u64; MAX_U64_LANES], [0u64; MAX_U64_LANES]);
        // SAFETY: guaranteed by the caller. The arrays have space for the maximum number of lanes.
        unsafe {
            top.hp.store(hp.as_mut_ptr());
            top.hn.store(hn.as_mut_ptr());
        }
        let lane = V::COUNT - 1 - self.last_word % V::COUNT;
        let c = (column - strip.first) % BITS;
        self.ups |= (hp[lane] >> self.bit & 1) << (BITS - 1 - c);
        self.downs |= (hn[lane] >> self.bit & 1) << (BITS - 1 - c);
        if c == BITS - 1 || column == strip.last {
            let steps = RowSteps { up: [self.ups], down: [self.downs] };
            self.row.advance(steps, strip.rows.before + column - c - 1, [c + 1]);
            (self.ups, self.downs) = (0, 0);
        }
    }
}
