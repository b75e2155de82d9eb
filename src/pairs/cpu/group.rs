//! Groups of targets, one per lane, aligned with one query (inter-sequence vectors as in SWIPE:
//! Rognes 2011).

use super::ROWS;
use super::checkpoint::Checkpoints;
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, MAX_LANES};

/// Approximate bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Buffers that are reused for all groups, by all kernels.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupBuffers<E> {
    /// The row above: cells or differences, one vector per column.
    pub above: AlignedBuffer<E>,
    /// Gaps that continue from the row above (affine gaps only).
    pub gaps: AlignedBuffer<E>,
    /// Scores or steps of the current rows: one vector for each code and row.
    pub profile: AlignedBuffer<E>,
    /// Rows of differences that are kept for alignments.
    pub checkpoints: Checkpoints<E>,
}

/// One query against a group of targets, with the scoring `F` and elements of type `E`.
pub(super) struct GroupTask<'a, F, E, V> {
    /// The scoring. Its range must hold the scores of all pairs.
    pub form: &'a F,
    /// The query.
    pub query: &'a ProfiledSequence<'a>,
    /// The targets.
    pub group: TargetGroup<'a>,
    /// Working memory.
    pub buffers: &'a mut GroupBuffers<E>,
    /// Results: one value per lane, to be decoded by the scoring.
    pub values: &'a mut [V; MAX_LANES],
}

/// Codes of all lanes in [`ROWS`] rows.
pub(super) type CodeStrip = [[Code; MAX_LANES]; ROWS];

/// Targets with padding in front, so that all end in the same row. The number of rows is a multiple
/// of [`ROWS`].
pub(super) struct TargetGroup<'a> {
    targets: &'a [&'a [Code]],
    rows: usize,
}

impl<'a> TargetGroup<'a> {
    /// Returns a group of targets, at most one per lane.
    pub(super) fn new(targets: &'a [&'a [Code]]) -> Self {
        let longest = targets.iter().map(|target| target.len()).max().unwrap_or(0);
        // Strips read a few symbols from each target, which no hardware prefetcher follows. This
        // loop touches every cache line in advance.
        let lines = targets.iter().flat_map(|target| target.iter().step_by(CACHE_LINE));
        std::hint::black_box(lines.fold(0, |all, code| all ^ code));
        TargetGroup { targets, rows: longest.next_multiple_of(ROWS) }
    }

    /// Returns the number of rows including padding.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the length of a lane's target, or 0 for an unused lane.
    pub(super) fn symbols(&self, lane: usize) -> usize {
        self.targets.get(lane).map_or(0, |target| target.len())
    }

    /// Returns the number of the lane's symbols up to and including row `r`. It is 0 within the
    /// padding.
    pub(super) fn done(&self, r: usize, lane: usize) -> usize {
        (r + 1 + self.symbols(lane)).saturating_sub(self.rows)
    }

    /// Returns whether row `r` is the last row of a lane's padding.
    pub(super) fn is_corner(&self, r: usize, lane: usize) -> bool {
        r + 1 + self.symbols(lane) == self.rows
    }

    /// Returns whether row `r` is after the first symbol of every non-empty target.
    pub(super) fn is_inside(&self, r: usize) -> bool {
        self.targets.iter().all(|target| target.is_empty() || r > self.rows - target.len())
    }

    /// Reads the codes of rows `r` to `r + ROWS - 1`.
    #[inline(always)]
    pub(super) fn strip(&self, r: usize, strip: &mut CodeStrip) {
        let mut words = [0u32; MAX_LANES];
        for (word, target) in words.iter_mut().zip(self.targets) {
            let pad = self.rows - target.len();
            *word = match r.checked_sub(pad) {
                Some(first) => {
                    let mut codes = [PAD; ROWS];
                    codes.copy_from_slice(&target[first..first + ROWS]);
                    u32::from_le_bytes(codes)
                }
                // The padding ends within these rows or after them.
                None => (0..ROWS).fold(0, |word, k| match (r + k).checked_sub(pad) {
                    Some(at) => word | (target[at] as u32) << (8 * k),
                    None => word,
                }),
            };
        }
        for (k, codes) in strip.iter_mut().enumerate() {
            for (code, word) in codes.iter_mut().zip(words) {
                *code = (word >> (8 * k)) as Code;
            }
        }
    }
}

/// A sequence whose codes select vectors of a profile. Kernels read these vectors without a check.
#[derive(Debug, Clone)]
pub(super) struct ProfiledSequence<'a> {
    symbols: &'a [Code],
    /// Distinct codes in increasing order.
    codes: Vec<Code>,
}

impl<'a> ProfiledSequence<'a> {
    /// Finds the distinct codes of a sequence.
    pub(super) fn new(symbols: &'a [Code]) -> Self {
        let mut present = [false; 1 << Code::BITS];
        symbols.iter().for_each(|&code| present[code as usize] = true);
        ProfiledSequence { symbols, codes: (0..=Code::MAX).filter(|&code| present[code as usize]).collect() }
    }

    /// Returns the symbols.
    pub(super) fn symbols(&self) -> &'a [Code] {
        self.symbols
    }

    /// Returns the distinct codes in increasing order, for a profile of `size` codes.
    ///
    /// # Panics
    /// Panics if a code is not less than `size`.
    #[inline(always)]
    pub(super) fn codes_below(&self, size: usize) -> &[Code] {
        assert!(self.codes.last().is_none_or(|&greatest| usize::from(greatest) < size), "a code has no scores");
        &self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_end_in_the_same_row() {
        let (long, short, empty) = (vec![1, 2, 4, 8, 1], vec![3, 5], vec![]);
        let targets: Vec<&[Code]> = vec![&long, &short, &empty];
        let group = TargetGroup::new(&targets);
        assert_eq!(group.rows(), 8);
        let mut strip = [[9; MAX_LANES]; ROWS];
        group.strip(0, &mut strip);
        let rows = |strip: &CodeStrip| strip.map(|codes| [codes[0], codes[1], codes[2], codes[63]]);
        assert_eq!(rows(&strip), [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]);
        group.strip(4, &mut strip);
        assert_eq!(rows(&strip), [[2, 0, 0, 0], [4, 0, 0, 0], [8, 3, 0, 0], [1, 5, 0, 0]]);
        assert_eq!((group.done(2, 0), group.done(3, 0), group.done(7, 0), group.done(7, 2)), (0, 1, 5, 0));
        assert_eq!([1, 2, 3].map(|row| group.is_corner(row, 0)), [false, true, false]);
        assert!(group.is_corner(5, 1) && group.is_corner(7, 2));
        assert!(!group.is_inside(6) && group.is_inside(7));
        assert!(TargetGroup::new(&targets[..1]).is_inside(4) && !TargetGroup::new(&targets[..1]).is_inside(3));
    }

    #[test]
    fn distinct_codes_are_sorted() {
        assert_eq!(ProfiledSequence::new(&[8, 1, 8]).codes_below(9), [1, 8]);
        assert!(ProfiledSequence::new(&[]).codes_below(0).is_empty());
    }

    #[test]
    #[should_panic(expected = "a code has no scores")]
    fn code_beyond_the_profile_is_refused() {
        ProfiledSequence::new(&[8, 40, 8]).codes_below(40);
    }
}
