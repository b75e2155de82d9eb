//! Finds alignments of known score that end in a given small region. The sweep goes back from this
//! region over the reversed prefixes, in narrow lanes. It skips cells that cannot lead to the
//! score.
//!
//! A\[p,q\] is the greatest score of a global alignment of the p query symbols and q target symbols
//! before an end, over all ends. Let g(a) be the greatest score of symbol a with any other symbol
//! (or 0), and G\[p\] the sum of these over the p query symbols. The sweep computes
//!
//! ```text
//! W[p,q] = A[p,q] - G[p]
//! ```
//!
//! No column increases W. A column with symbols a and b adds sub(a,b) - g(a), which is at most 0. A
//! gap column subtracts its cost, and a query symbol opposite a gap subtracts g(a) as well. Values
//! below a limit therefore stay below it. The integers need to hold only the difference between the
//! alignment's score and the best possible score of its query symbols.
//!
//! Two limits hold along the canonical alignment, which has score S ([`super::backward`] has the
//! proof):
//!
//! 1. At most the rest of G can still be gained, so that `W >= S - G[m]`. This limit is the same
//!    for all cells.
//! 2. Every suffix of the alignment scores more than 0, so that `W > -G[p]`. A strip of rows uses
//!    the limit of its last row.
//!
//! A third limit follows from the best possible score of the remaining target symbols. It trims a
//! strip's last row on both sides.
//!
//! Strips of rows are computed as in [`Skew`]. Each strip starts at the first column with a live
//! value in the row above, and ends as soon as no lane has a value above the limits. All values are
//! stored, and [`super::reach`] follows the alignments through them.

mod strip;

use self::strip::{StripLanes, StripSweep, add_start_cells, keep_last_row, trim_last_row};
use crate::score::Scoring;
use crate::score::difference::{Element, STEPS};
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, InstructionSet, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew, SkewBuffers};

/// Number of steps of a strip between two tests for live lanes.
const STEPS_AT_ONCE: usize = 16;

/// A pair to search, with both sequences reversed. Row 0 and column 0 belong to the last symbols
/// with which an alignment may end.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnchoredPair<'a> {
    pub query: &'a [Code],
    pub target: &'a [Code],
    /// Numbers of query and target symbols, counted from the first, with which an alignment may
    /// end. At least 1 each.
    pub ends: [usize; 2],
    /// Score of the alignments to find, above 0. It must be the greatest score.
    pub score: i64,
    pub scoring: &'a Scoring,
}

/// Greatest scores that symbols can contribute.
#[derive(Debug, Default)]
pub(super) struct Gains {
    /// Greatest score of each code with any other code, or 0 if that is negative.
    pub codes: Vec<i64>,
    /// Sums over the first symbols of the query.
    pub query: Vec<i64>,
    target: Vec<i64>,
}

impl Gains {
    pub(super) fn set(&mut self, at: &AnchoredPair) {
        let substitution = &at.scoring.substitution;
        let size = substitution.size() as Code;
        let greatest = |a: Code| (1..size).map(|b| substitution.score(a, b).into()).max().unwrap_or(0).max(0);
        self.codes.clear();
        self.codes.extend((0..size).map(|a| if a == PAD { 0 } else { greatest(a) }));
        let codes = &self.codes;
        for (sums, symbols) in [(&mut self.query, at.query), (&mut self.target, at.target)] {
            sums.clear();
            sums.push(0);
            let mut sum = 0;
            sums.extend(symbols.iter().map(|&code| {
                sum += codes[usize::from(code)];
                sum
            }));
        }
    }
}

/// Rows that are computed together.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnchoredStrip {
    /// Index of the strip's first value.
    pub base: usize,
    /// First step of the strip.
    pub from: usize,
    pub steps: usize,
    /// Value of cells that lead nowhere. All other values are greater.
    pub dead: i64,
}

/// Results of a sweep with integers of one width.
#[derive(Debug, Default)]
pub(super) struct AnchoredValues<E> {
    skew: SkewBuffers<E>,
    above: AlignedBuffer<E>,
    gaps: AlignedBuffer<E>,
    /// W of the lanes of each step, followed by I and D with affine gaps.
    pub cells: AlignedBuffer<E>,
    pub strips: Vec<AnchoredStrip>,
    /// Row and column of the first symbols of alignments with the score.
    pub start_cells: Vec<[usize; 2]>,
    /// Lanes per vector.
    pub lanes: usize,
    /// Number of vectors that are stored for each step.
    pub arrays: usize,
}

/// Outcome of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchoredOutcome {
    /// The sweep is complete.
    Done,
    /// The integers do not hold the values.
    TooNarrow,
    /// The values do not fit in the memory budget.
    OutOfMemory,
}

/// Computes all cells that alignments with the score may visit, and stores their values in at most
/// `max_bytes` bytes. If only one end is possible, the sweep stops after the first strip with a
/// start, because an alignment that starts in a later strip is not canonical.
pub(super) fn sweep<E: LaneElement>(
    at: &AnchoredPair,
    gains: &Gains,
    values: &mut AnchoredValues<E>,
    max_bytes: usize,
    instructions: InstructionSet,
) -> AnchoredOutcome {
    let Some(scores) = AnchoredScores::<E>::new(at, gains) else { return AnchoredOutcome::TooNarrow };
    values.strips.clear();
    values.start_cells.clear();
    instructions.run(AnchoredSweep { at, gains, scores: &scores, values, max_values: max_bytes / size_of::<E>() })
}

/// Score steps as integers of one width.
struct AnchoredScores<E> {
    /// Value that each pair of codes (target, query) adds to W.
    table: Vec<[E; STEPS]>,
    /// Lowest value of a live cell. Cells that lead nowhere may have lower values.
    least: i64,
}

impl<E: Element> AnchoredScores<E> {
    fn new(at: &AnchoredPair, gains: &Gains) -> Option<Self> {
        let (substitution, gaps) = (&at.scoring.substitution, at.scoring.gaps);
        let worst = i64::from(substitution.min_score()).min(0);
        let best = gains.codes.iter().copied().max().unwrap_or(0);
        let margin = 4 * (i64::from(gaps.first) + best - worst);
        if margin > E::MAX / 2 {
            return None;
        }
        let size = substitution.size();
        let mut table = vec![[E::from_number(worst - best); STEPS]; size];
        for (b, row) in table.iter_mut().enumerate().skip(1) {
            for (a, entry) in row[..size].iter_mut().enumerate().skip(1) {
                *entry = E::from_number(i64::from(substitution.score(a as Code, b as Code)) - gains.codes[a]);
            }
        }
        Some(AnchoredScores { table, least: E::MIN + margin })
    }
}

struct AnchoredSweep<'a, E> {
    at: &'a AnchoredPair<'a>,
    gains: &'a Gains,
    scores: &'a AnchoredScores<E>,
    values: &'a mut AnchoredValues<E>,
    /// Greatest number of values that may be kept.
    max_values: usize,
}

impl<E: LaneElement> SimdKernel for AnchoredSweep<'_, E> {
    type Output = AnchoredOutcome;
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> AnchoredOutcome {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe {
            if self.at.scoring.gaps.is_linear() {
                strips::<E::In<S>, false>(self)
            } else {
                strips::<E::In<S>, true>(self)
            }
        }
    }
}

/// Computes the strips one after another. Stores all values, and the cells where alignments start.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of the query are less than [`STEPS`].
#[inline(always)]
unsafe fn strips<W: Lanes, const AFFINE: bool>(task: AnchoredSweep<'_, W::Elem>) -> AnchoredOutcome {
    let AnchoredSweep { at, gains, scores, values, max_values } = task;
    (values.lanes, values.arrays) = (W::COUNT, if AFFINE { 3 } else { 1 });
    let AnchoredValues { skew, above, gaps, cells, strips, start_cells, arrays, .. } = values;
    let (m, n, count) = (at.query.len(), at.target.len(), W::COUNT);
    let lowest = W::Elem::from_number(scores.least);
    let codes = distinct_codes(at.target);
    let mut skew = Skew::<W>::new(at.target, scores.table.len(), skew);
    // Column c is at index MAX_LANES + c. A vector extends beyond the columns on either side,
    // because its lanes are in different columns.
    let length = n + 2 * MAX_LANES;
    let above = &mut above.at_least(length)[..length];
    let gaps = &mut gaps.at_least(length)[..if AFFINE { length } else { 0 }];
    above.fill(lowest);
    gaps.fill(lowest);
    // Range of columns with live values in the row above.
    let (mut low, mut high) = (0, 0);
    let (mut top, mut used) = (0, 0);
    while top < m {
        let bottom = (top + count).min(m);
        // Number of the strip's first rows that have a possible end above them.
        let end_rows = at.ends[0].saturating_sub(top).min(count);
        let mut quiet = high;
        if end_rows > 0 {
            (low, quiet) = (0, high.max(at.ends[1] + end_rows));
        } else if low >= high {
            break;
        }
        let dead = (at.score - gains.query[m]).max(1 - gains.query[bottom]) - 1;
        if dead < scores.least {
            return AnchoredOutcome::TooNarrow;
        }

        let StripLanes { codes: lanes, gain, goal, end_values } =
            StripLanes::<W::Elem>::new(at, gains, top..bottom, end_rows, count, scores.least);
        // SAFETY: the caller guarantees the instructions of W. `above` and `gaps` have n columns
        // with space for a vector on either side. `cells` grows to the size that each step needs.
        unsafe {
            skew.begin(&scores.table, &codes, &lanes);
            let (goal, below) = (W::load(goal.as_ptr()), W::splat(W::Elem::from_number(-1)));
            let base = used;
            let sweep = StripSweep {
                at,
                end_rows,
                end_values: &end_values,
                lowest,
                gain: W::load(gain.as_ptr()),
                goal,
                floor: W::splat(W::Elem::from_number(dead)),
                steps: low..n + count - 1,
                quiet,
                above: above.as_mut_ptr(),
                gaps: gaps.as_mut_ptr(),
            };
            let swept = sweep.run::<AFFINE>(&mut skew, cells, &mut used, max_values);
            let Some((t, over)) = swept else { return AnchoredOutcome::OutOfMemory };
            strips.push(AnchoredStrip { base, from: low, steps: t - low, dead });
            if over.exceeds(below) {
                let kept = &cells.at_least(used)[base..];
                for (step, vector) in (low..t).zip(kept.chunks(*arrays * count)) {
                    let vector = &vector[..count];
                    if W::load(vector.as_ptr()).sub(goal).exceeds(below) {
                        add_start_cells(at, gains, top..bottom, step, vector, start_cells);
                    }
                }
                if at.ends == [1, 1] && !start_cells.is_empty() {
                    return AnchoredOutcome::Done;
                }
            }

            // Only the last row of the strip becomes the row above the next strip. All other values
            // are cleared.
            let done = (t + 1).saturating_sub(count).clamp(low, n);
            let limit = W::Elem::from_number(dead.max(-gains.query[bottom]));
            for row in [&mut *above, &mut *gaps] {
                keep_last_row(row, low..done, count, t, limit, lowest);
            }
            (low, high) = trim_last_row(at, gains, bottom, [above, gaps], low..done, lowest);
        }
        top = bottom;
    }
    AnchoredOutcome::Done
}

/// Returns the set of codes that occur in a sequence.
fn distinct_codes(sequence: &[Code]) -> Vec<Code> {
    let present = sequence.iter().fold(0u32, |set, &code| set | 1 << code);
    (1..32).filter(|code| present >> code & 1 == 1).collect()
}
