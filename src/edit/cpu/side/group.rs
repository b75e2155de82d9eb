//! Setup of a group with one pair per lane, and the results that are recorded from its last rows.

use crate::edit::cpu::EditPair;
use crate::edit::cpu::ends::OverlapEnds;
use crate::edit::cpu::layout::{GroupLayout, MAX_PAIRS, VECTORS};
use crate::edit::cpu::least::{LastRowMinimum, RowSteps};
use crate::edit::cpu::planes::{MAX_PLANES, Matcher, Planes};
use crate::score::{EditDistance, EditMode, OverlapReach};
use crate::simd::{BITS, LanesU64};

/// The pairs of a group, and values derived from them.
pub(super) struct SideGroup<'a> {
    pub pairs: &'a [EditPair<'a>],
    planes: &'a Planes<'a>,
    mode: EditMode,
    pub at: GroupLayout,
    /// Number of words of the longest pattern.
    pub words: usize,
    /// Number of symbols of each pattern and of each text.
    pub patterns: [usize; MAX_PAIRS],
    pub texts: [usize; MAX_PAIRS],
}

impl<'a> SideGroup<'a> {
    #[inline(always)]
    pub(super) fn new<V: LanesU64, M: Matcher>(
        pairs: &'a [EditPair<'a>],
        planes: &'a Planes<'a>,
        mode: EditMode,
    ) -> Self {
        let lengths = |length: fn(&EditPair<'_>) -> usize| {
            let mut lengths = [0; MAX_PAIRS];
            lengths.iter_mut().zip(pairs).for_each(|(to, pair)| *to = length(pair));
            lengths
        };
        SideGroup {
            pairs,
            planes,
            mode,
            at: GroupLayout { lanes: VECTORS * V::COUNT, planes: M::PLANES },
            words: pairs.iter().map(|pair| pair.pattern.len().div_ceil(BITS)).max().unwrap_or(0),
            patterns: lengths(|pair| pair.pattern.len()),
            texts: lengths(|pair| pair.text.len()),
        }
    }

    #[inline(always)]
    pub(super) fn is_global(&self) -> bool {
        self.mode == EditMode::Global
    }

    /// Returns the reach in overlap mode.
    #[inline(always)]
    pub(super) fn overlap_reach(&self) -> Option<OverlapReach> {
        if let EditMode::Overlap(reach) = self.mode { Some(reach) } else { None }
    }

    /// Initialises all words with the planes of the patterns and the differences before the first
    /// column. Returns the bits of the padding rows before each pattern's first row, in its first
    /// word.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn set_patterns<V: LanesU64, M: Matcher>(&self, buffer: &mut [u64]) -> [u64; MAX_PAIRS] {
        let SideGroup { pairs, planes, at, words, .. } = *self;
        let (is_global, is_overlap) = (self.is_global(), self.overlap_reach().is_some());
        // Padding rows precede the first row of a pattern. Its last row is therefore the top bit of
        // a word, which is recorded. In global mode, no row is recorded, and rows after the last
        // one do no harm.
        let padding = |pair: &EditPair<'_>| if is_global { 0 } else { pair.padding() };
        let mut paddings = [0; MAX_PAIRS];
        buffer[..at.plane(words, 0)].fill(0);
        for word in 0..words {
            buffer[at.pv(word)..][..at.lanes].fill(u64::MAX);
        }
        for (lane, pair) in pairs.iter().enumerate() {
            let same_as_before = lane > 0 && std::ptr::eq(pairs[lane - 1].pattern, pair.pattern);
            let rows_before = padding(pair);
            paddings[lane] = bits_below(rows_before, 0);
            for word in 0..words {
                if same_as_before {
                    for plane in 0..=M::PLANES {
                        buffer[at.plane(word, plane) + lane] = buffer[at.plane(word, plane) + lane - 1];
                    }
                    continue;
                }
                let mut bits = [0; MAX_PLANES];
                let first = (word * BITS) as isize - rows_before as isize;
                // SAFETY: the caller guarantees the instructions of V.
                unsafe { planes.read::<V>(pair.pattern, first, &mut bits[..M::PLANES]) };
                if let Some(plane) = planes.padding() {
                    bits[plane] = bits_below(rows_before, word);
                }
                for (plane, bits) in bits[..M::PLANES].iter().enumerate() {
                    buffer[at.plane(word, plane) + lane] = *bits;
                }
                // An overlap starts in any row at no cost.
                buffer[at.pv(word) + lane] = if is_overlap { 0 } else { !bits_below(rows_before, word) };
            }
        }
        paddings
    }

    /// Returns the number of rows of each pattern and of columns of each text where no overlap can
    /// end.
    #[inline(always)]
    fn open(&self) -> [[usize; MAX_PAIRS]; 2] {
        let (mut open_rows, mut open_columns) = ([0; MAX_PAIRS], [0; MAX_PAIRS]);
        if let Some(reach) = self.overlap_reach() {
            for (lane, (&m, &n)) in self.patterns.iter().zip(&self.texts).enumerate().take(self.pairs.len()) {
                let before = |length: usize, other: usize| {
                    let last = length as u64 - 1;
                    last.saturating_sub(reach.unaligned(length as u32, other as u32)) as usize
                };
                (open_rows[lane], open_columns[lane]) = (before(m, n), before(n, m));
            }
        }
        [open_rows, open_columns]
    }

    /// Reads the planes of the next 64 symbols of all texts.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn read_texts<V: LanesU64, M: Matcher>(
        &self,
        before: usize,
        text: &mut [u64; MAX_PLANES * MAX_PAIRS],
    ) {
        for (lane, pair) in self.pairs.iter().enumerate() {
            let mut bits = [0; MAX_PLANES];
            // SAFETY: guaranteed by the caller.
            unsafe { self.planes.read::<V>(pair.text, before as isize, &mut bits[..M::PLANES]) };
            for (plane, bits) in bits[..M::PLANES].iter().enumerate() {
                text[plane * self.at.lanes + lane] = *bits;
            }
        }
    }
}

/// The results of all pairs up to the current column.
pub(super) struct GroupLastRows {
    /// Last rows, for patterns that may end in any column.
    pub rows: LastRowMinimum<MAX_PAIRS>,
    /// Ends of overlaps.
    pub ends: OverlapEnds<MAX_PAIRS>,
    /// Number of rows of each pattern and of columns of each text where no overlap can end.
    open_rows: [usize; MAX_PAIRS],
    open_columns: [usize; MAX_PAIRS],
}

impl GroupLastRows {
    #[inline(always)]
    pub(super) fn new(group: &SideGroup<'_>) -> Self {
        let [open_rows, open_columns] = group.open();
        let rows = LastRowMinimum::new(group.patterns.map(|m| m as i64));
        GroupLastRows { rows, ends: OverlapEnds::new(), open_rows, open_columns }
    }

    /// Records the steps of the columns after `before`.
    #[inline(always)]
    pub(super) fn advance(&mut self, group: &SideGroup<'_>, steps: RowSteps<MAX_PAIRS>, before: usize) {
        let columns = group.texts.map(|end| end.saturating_sub(before).min(BITS));
        match group.overlap_reach() {
            None => self.rows.advance(steps, before, columns),
            Some(reach) => {
                let skipped = self.open_columns.map(|open| open.saturating_sub(before));
                self.ends.advance(steps, skipped, columns, |lane, column| {
                    reach.most_edits(group.patterns[lane] as u32, (before + column) as u32)
                });
            }
        }
    }

    /// Returns the least distance of overlaps that end in the last column of a lane's text. `words`
    /// contains the words of that column.
    #[inline(always)]
    pub(super) fn least_down(
        &self,
        group: &SideGroup<'_>,
        reach: OverlapReach,
        lane: usize,
        words: impl Iterator<Item = (u64, u64)>,
    ) -> u32 {
        let (padding, n) = (group.pairs[lane].padding(), group.texts[lane] as u32);
        let most = |row: usize| reach.most_edits((row - padding) as u32, n);
        least_down(words, self.open_rows[lane] + padding, most)
    }

    /// Writes the final results.
    #[inline(always)]
    pub(super) fn finish(&self, group: &SideGroup<'_>, results: &mut [EditDistance]) {
        if group.overlap_reach().is_some() {
            for (results, least) in results.iter_mut().zip(self.ends.least_distances()) {
                *results = EditDistance { distance: results.distance.min(least), end: 0 };
            }
        } else if !group.is_global() {
            results.iter_mut().zip(self.rows.results()).for_each(|(to, results)| *to = results);
        }
    }
}

/// Returns the bits of a word that are below a row. Rows are counted from the first word.
fn bits_below(row: usize, word: usize) -> u64 {
    match row.saturating_sub(word * BITS) {
        rows @ 0..BITS => (1 << rows) - 1,
        _ => u64::MAX,
    }
}

/// Returns the distance in the last row of `m` and column `end`. `words` contains the differences
/// of that column.
#[inline(always)]
pub(super) fn last_cell(words: impl Iterator<Item = (u64, u64)>, m: usize, end: u32) -> EditDistance {
    let distance = words.enumerate().fold(end, |distance, (number, (pv, mv))| {
        let mask = bits_below(m, number);
        distance + (pv & mask).count_ones() - (mv & mask).count_ones()
    });
    EditDistance { distance, end }
}

/// Returns the least value of a column that is at most `most(row)`, with rows counted from 1.
/// `words` contains the differences of the column. The first `skipped` rows do not count. Row 0 has
/// the value 0.
#[inline(always)]
fn least_down(words: impl Iterator<Item = (u64, u64)>, skipped: usize, most: impl Fn(usize) -> u32) -> u32 {
    let mut ends = OverlapEnds::new();
    for (number, (pv, mv)) in words.enumerate() {
        // Steps start at the highest bit, rows at the lowest.
        let steps = RowSteps { up: [pv.reverse_bits()], down: [mv.reverse_bits()] };
        let skipped = skipped.saturating_sub(number * BITS);
        ends.advance(steps, [skipped], [BITS], |_, row| most(number * BITS + row));
    }
    ends.least_distances()[0]
}
