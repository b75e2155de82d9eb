//! Finds the end of a local alignment in narrow lanes: Smith and Waterman's recurrence row by row,
//! with each row in stripes (Farrar 2007).
//!
//! A row of n columns is divided into runs of adjacent columns, one run per lane. Vector k contains
//! the k-th column of each run, so the recurrence of [`super::forward`] computes each vector from
//! the previous one. Only gaps along the row that cross from one run to the next need a second
//! pass. The gaps that enter each run are computed lane by lane. They are then extended until they
//! are no better, in any lane, than a gap opened at the current cell.
//!
//! [`LocalScoring`] defines the values and the scores up to which they are exact. Lanes are in
//! reverse order: the last lane contains the first run.

use super::forward::LocalEnd;
use crate::score::difference::Element;
use crate::score::{LocalScoring, Scoring};
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, InstructionSet, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel};

/// Result of a sweep with integers of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StripedResult {
    /// The first cell with the greatest score. `None` if no alignment scores more than 0, or none
    /// reaches the requested score.
    End(Option<LocalEnd>),
    /// The integers do not hold the scores.
    TooNarrow,
}

/// Rows of one integer width.
#[derive(Debug, Default)]
pub(super) struct Stripes<E> {
    /// Scores of the columns against each code.
    profile: AlignedBuffer<E>,
    has_profile: Vec<bool>,
    /// Codes of the columns, vector by vector.
    columns: Vec<Code>,
    above: AlignedBuffer<E>,
    h: AlignedBuffer<E>,
    insertion: AlignedBuffer<E>,
}

/// Rows of every integer width.
#[derive(Debug, Default)]
pub(super) struct StripedBuffers {
    lanes_8: Stripes<i8>,
    lanes_16: Stripes<i16>,
    lanes_32: Stripes<i32>,
}

/// Returns the end of the canonical local alignment, using the narrowest integers that hold its
/// score. `enough` is the greatest score, above 0, if known. The sweep then stops after the first
/// row that reaches it.
pub(super) fn sweep(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    buffers: &mut StripedBuffers,
    instructions: InstructionSet,
) -> StripedResult {
    let StripedBuffers { lanes_8, lanes_16, lanes_32 } = buffers;
    let mut result = sweep_in(query, target, scoring, enough, lanes_8, instructions);
    if result == StripedResult::TooNarrow {
        result = sweep_in(query, target, scoring, enough, lanes_16, instructions);
    }
    if result == StripedResult::TooNarrow {
        result = sweep_in(query, target, scoring, enough, lanes_32, instructions);
    }
    result
}

/// Returns the end of the canonical local alignment, using integers of one width.
pub(super) fn sweep_in<E: LaneElement>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    stripes: &mut Stripes<E>,
    instructions: InstructionSet,
) -> StripedResult {
    let Some(form) = LocalScoring::<E>::new(scoring) else { return StripedResult::TooNarrow };
    if enough.is_some_and(|enough| enough > form.limit()) {
        return StripedResult::TooNarrow;
    }
    if query.is_empty() || target.is_empty() {
        return StripedResult::End(None);
    }
    instructions.run(Striped { query, target, form: &form, enough, stripes })
}

struct Striped<'a, E> {
    query: &'a [Code],
    target: &'a [Code],
    form: &'a LocalScoring<E>,
    enough: Option<i64>,
    stripes: &'a mut Stripes<E>,
}

impl<E: LaneElement> SimdKernel for Striped<'_, E> {
    type Output = StripedResult;
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> StripedResult {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe { rows::<E::In<S>>(self) }
    }
}

/// Finds the first cell with the greatest score, row by row.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `task.target` are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn rows<W: Lanes>(task: Striped<'_, W::Elem>) -> StripedResult {
    let Striped { query, target, form, enough, stripes } = task;
    let Stripes { profile, has_profile, columns, above, h, insertion } = stripes;
    let vectors = target.len().div_ceil(W::COUNT);
    let length = vectors * W::COUNT;
    columns.clear();
    columns.resize(length, PAD);
    for (run, symbols) in target.chunks(vectors).enumerate() {
        for (k, &code) in symbols.iter().enumerate() {
            columns[k * W::COUNT + W::COUNT - 1 - run] = code;
        }
    }
    has_profile.clear();
    has_profile.resize(form.size(), false);
    let profile = profile.at_least(form.size() * length);
    let (mut above, mut h) = (above.at_least(length), h.at_least(length));
    let insertion = insertion.at_least(length);
    above[..length].fill(form.zero());
    insertion[..length].fill(form.zero());
    // Score that a row must exceed.
    let mut least = enough.map_or(0, |enough| enough - 1);
    let mut best = None;
    for (i, &code) in query.iter().enumerate() {
        let scores = &mut profile[usize::from(code) * length..][..length];
        // SAFETY: the caller guarantees the instructions of W, and each of these slices holds
        // `vectors` vectors.
        let greatest = unsafe {
            if !std::mem::replace(&mut has_profile[usize::from(code)], true) {
                let row = &form.table()[usize::from(code)];
                for (scores, codes) in scores.chunks_exact_mut(W::COUNT).zip(columns.chunks_exact(W::COUNT)) {
                    W::lookup(row, codes.as_ptr()).store(scores.as_mut_ptr());
                }
            }
            row::<W>(form, scores, &above[..length], &mut h[..length], &mut insertion[..length])
        };
        let bound = W::Elem::from_number(form.zero().number() + least);
        // SAFETY: the caller guarantees the instructions of W.
        if unsafe { greatest.exceeds(W::splat(bound)) } {
            let mut lanes = [form.zero(); MAX_LANES];
            // SAFETY: `lanes` has MAX_LANES elements.
            unsafe { greatest.store(lanes.as_mut_ptr()) };
            let value = lanes[..W::COUNT].iter().copied().max().unwrap_or(form.zero());
            let Some(score) = form.decode(value) else { return StripedResult::TooNarrow };
            // The columns in their order, run by run.
            let runs = (0..W::COUNT).map(|run| h[W::COUNT - 1 - run..length].iter().step_by(W::COUNT));
            let Some(column) = runs.flatten().position(|&cell| cell == value) else { return StripedResult::TooNarrow };
            best = Some(LocalEnd { score, query: i + 1, target: column + 1 });
            least = score;
            if enough.is_some() {
                break;
            }
        }
        std::mem::swap(&mut above, &mut h);
    }
    StripedResult::End(best)
}

/// Computes a row of H below `above`, and the values of I for the next row. Returns the greatest
/// value of each lane.
///
/// # Safety
/// The processor has the instructions of `W`. `scores`, `above`, `h` and `insertion` have the same
/// length, a positive multiple of [`Lanes::COUNT`].
#[inline(always)]
unsafe fn row<W: Lanes>(
    form: &LocalScoring<W::Elem>,
    scores: &[W::Elem],
    above: &[W::Elem],
    h: &mut [W::Elem],
    insertion: &mut [W::Elem],
) -> W {
    let length = scores.len();
    // SAFETY: the caller guarantees the instructions. All slices have the same length, and every
    // index is the start of a whole vector in them.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let mut deletion = zero;
        let mut greatest = zero;
        // The column before a run's first column is the last column of the previous run.
        let mut diagonal = W::load(above[length - W::COUNT..].as_ptr()).shift_down(form.zero());
        for at in (0..length).step_by(W::COUNT) {
            let gap = W::load(insertion.as_ptr().add(at));
            let cell = diagonal.add(W::load(scores.as_ptr().add(at))).max(gap).max(deletion);
            diagonal = W::load(above.as_ptr().add(at));
            greatest = greatest.max(cell);
            cell.store(h.as_mut_ptr().add(at));
            // Clamping to zero keeps I, D and H from falling below zero.
            let opened = cell.sub(first).max(zero);
            gap.sub(next).max(opened).store(insertion.as_mut_ptr().add(at));
            deletion = deletion.sub(next).max(opened);
        }
        // Extends gaps into the next run, until each lane could open a gap there that is as good.
        deletion = deletion.shift_down(form.zero());
        if !deletion.exceeds(W::load(h.as_ptr()).sub(first).max(zero)) {
            return greatest;
        }
        deletion = carry_gaps(form, deletion, length / W::COUNT);
        for at in (0..length).step_by(W::COUNT) {
            let cell = W::load(h.as_ptr().add(at));
            if !deletion.exceeds(cell.sub(first).max(zero)) {
                break;
            }
            let cell = cell.max(deletion);
            cell.store(h.as_mut_ptr().add(at));
            let opened = cell.sub(first).max(zero);
            W::load(insertion.as_ptr().add(at)).max(opened).store(insertion.as_mut_ptr().add(at));
            deletion = deletion.sub(next).max(zero);
        }
        greatest
    }
}

/// Number of runs through which gaps are passed in all lanes at once, before the computation
/// continues lane by lane.
const RUNS_AT_ONCE: usize = 4;

/// Returns the gaps at the first column of each run, given the gaps that leave the previous run.
/// Includes gaps from earlier runs that pass through a whole run of `columns` columns.
///
/// # Safety
/// The processor has the instructions of `W`.
#[inline(always)]
unsafe fn carry_gaps<W: Lanes>(form: &LocalScoring<W::Elem>, mut deletion: W, columns: usize) -> W {
    let through = form.next().number().saturating_mul(columns as i64);
    // No gap with a value below this passes through a run.
    let least = form.zero().number().saturating_add(through);
    if least > W::Elem::MAX {
        return deletion;
    }
    // SAFETY: the caller guarantees the instructions, and `lanes` has MAX_LANES elements.
    unsafe {
        let (cost, floor) = (W::splat(W::Elem::from_number(through)), W::splat(W::Elem::from_number(least)));
        for _ in 0..RUNS_AT_ONCE {
            let passed = deletion.shift_down(form.zero()).max(floor).sub(cost);
            if !passed.exceeds(deletion) {
                return deletion;
            }
            deletion = deletion.max(passed);
        }
        let mut lanes = [form.zero(); MAX_LANES];
        deletion.store(lanes.as_mut_ptr());
        let mut before = form.zero().number();
        for lane in lanes[..W::COUNT].iter_mut().rev() {
            before = (before - through).max(lane.number());
            *lane = W::Elem::from_number(before);
        }
        W::load(lanes.as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::oracle::smith_waterman;
    use crate::score::{Ambiguity, EndGaps, Gaps, Mode};

    /// Returns two random sequences with related parts.
    fn pair(rng: &mut fastrand::Rng, scoring: &Scoring, longest: usize) -> [Vec<Code>; 2] {
        let code = |rng: &mut fastrand::Rng| match scoring.substitution.size() {
            16 => 1 << rng.u8(..4),
            size => rng.u8(1..size as u8),
        };
        let mut random = |length: usize| -> Vec<Code> { (0..length).map(|_| code(rng)).collect() };
        let (query, mut target) = (random(longest / 2), random(longest));
        let from = target.len() / 3;
        let part = query.len() / 2;
        target[from..from + part].copy_from_slice(&query[..part]);
        if longest.is_multiple_of(2) {
            target.drain(from + part / 2..from + part / 2 + part / 5);
        }
        [query, target]
    }

    #[test]
    fn every_width_and_instruction_set_finds_the_end_of_the_oracle() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        let dna = |a, b, gaps| Scoring::nucleotide(a, b, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
        let mut scorings = [
            dna(5, -4, Gaps::linear(10)),
            dna(2, -1, Gaps::linear(1)),
            dna(1, -1, Gaps::linear(0)),
            dna(3, -2, Gaps::from_blast(4, 0)),
            dna(5, -4, Gaps::from_blast(20, 5)),
            dna(20, -16, Gaps::from_blast(20, 10)),
            Scoring::protein(),
        ];
        scorings.iter_mut().for_each(|scoring| scoring.mode = Mode::Local);
        let mut widths = [0; 3];
        for (scoring, longest) in scorings.iter().flat_map(|scoring| [1, 2, 9, 33, 64, 70, 131].map(|n| (scoring, n))) {
            let [query, target] = pair(rng, scoring, longest);
            let expected = smith_waterman::align(&query, &target, scoring);
            let end = (expected.score > 0).then_some(LocalEnd {
                score: expected.score,
                query: expected.query.end,
                target: expected.target.end,
            });
            for instructions in InstructionSet::available() {
                for enough in [None, end.map(|end| end.score)] {
                    let StripedBuffers { lanes_8, lanes_16, lanes_32 } = &mut StripedBuffers::default();
                    let result = [
                        sweep_in(&query, &target, scoring, enough, lanes_8, instructions),
                        sweep_in(&query, &target, scoring, enough, lanes_16, instructions),
                        sweep_in(&query, &target, scoring, enough, lanes_32, instructions),
                    ];
                    for (width, result) in widths.iter_mut().zip(result) {
                        if result != StripedResult::TooNarrow {
                            assert_eq!(
                                result,
                                StripedResult::End(end),
                                "{longest} {instructions:?} {enough:?} {scoring:?}"
                            );
                            *width += 1;
                        }
                    }
                    assert_eq!(result[2], StripedResult::End(end));
                }
                let beyond = end.map_or(1, |end| end.score + 1);
                let buffers = &mut StripedBuffers::default();
                assert_eq!(
                    sweep(&query, &target, scoring, Some(beyond), buffers, instructions),
                    StripedResult::End(None)
                );
            }
        }
        assert!(widths[0] > 0 && widths[0] < widths[1], "{widths:?}");
    }
}
