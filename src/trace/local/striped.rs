//! Where a local alignment ends, in narrow lanes: Smith and Waterman's recurrence row by row, a row in stripes (Farrar 2007).
//!
//! A row of n columns is cut into as many runs as a vector has lanes, and vector k holds the k-th column of each. So the
//! recurrence ([`super::forward`] has it) takes a vector from the one before it, and only gaps along the row that go from one
//! run to the next are left for later: what comes into each run is found lane by lane, and carried on until no lane has one
//! that betters what begins at its cell.
//!
//! Values are those of [`LocalScoring`], which says up to which score they are right. Lanes are turned round: the last
//! one has the first run.

use super::forward::End;
use crate::score::difference::Element;
use crate::score::{LocalScoring, Scoring};
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, InstructionSet, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel};

/// What a sweep in numbers of some width finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The first cell with the greatest score; none if nothing scores more than 0, or as much as was asked for.
    End(Option<End>),
    /// The numbers do not hold the scores.
    TooNarrow,
}

/// Rows of one width.
#[derive(Debug, Default)]
pub(super) struct Stripes<E> {
    /// Scores of the columns against each code, and which codes have theirs.
    profile: AlignedBuffer<E>,
    has_profile: Vec<bool>,
    /// Codes of the columns, vector by vector.
    columns: Vec<Code>,
    above: AlignedBuffer<E>,
    h: AlignedBuffer<E>,
    insertion: AlignedBuffer<E>,
}

/// Rows of every width.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    bytes: Stripes<i8>,
    shorts: Stripes<i16>,
    words: Stripes<i32>,
}

/// The end of the canonical local alignment in the narrowest numbers that hold it. With `enough`, the greatest score, which
/// is above 0, the first row that reaches it is the last one that is computed.
pub(super) fn sweep(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    buffers: &mut Buffers,
    level: InstructionSet,
) -> Found {
    let Buffers { bytes, shorts, words } = buffers;
    let mut found = sweep_in(query, target, scoring, enough, bytes, level);
    if found == Found::TooNarrow {
        found = sweep_in(query, target, scoring, enough, shorts, level);
    }
    if found == Found::TooNarrow {
        found = sweep_in(query, target, scoring, enough, words, level);
    }
    found
}

/// The same in numbers of one width.
pub(super) fn sweep_in<E: LaneElement>(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    enough: Option<i64>,
    stripes: &mut Stripes<E>,
    level: InstructionSet,
) -> Found {
    let Some(form) = LocalScoring::<E>::new(scoring) else { return Found::TooNarrow };
    if enough.is_some_and(|enough| enough > form.limit()) {
        return Found::TooNarrow;
    }
    if query.is_empty() || target.is_empty() {
        return Found::End(None);
    }
    level.run(Striped { query, target, form: &form, enough, stripes })
}

struct Striped<'a, E> {
    query: &'a [Code],
    target: &'a [Code],
    form: &'a LocalScoring<E>,
    enough: Option<i64>,
    stripes: &'a mut Stripes<E>,
}

impl<E: LaneElement> SimdKernel for Striped<'_, E> {
    type Output = Found;
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Found {
        // SAFETY: the caller's.
        unsafe { rows::<E::In<S>>(self) }
    }
}

/// Finds the first cell with the greatest score, row by row.
///
/// # Safety
/// The processor has the instructions of `W`. Codes of `task.target` are less than
/// [`STEPS`](crate::score::difference::STEPS).
#[inline(always)]
unsafe fn rows<W: Lanes>(task: Striped<'_, W::Elem>) -> Found {
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
    // What a row has to better.
    let mut least = enough.map_or(0, |enough| enough - 1);
    let mut best = None;
    for (i, &code) in query.iter().enumerate() {
        let scores = &mut profile[usize::from(code) * length..][..length];
        // SAFETY: the caller's: W's instructions are there; all of these are `vectors` vectors.
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
        // SAFETY: as above.
        if unsafe { greatest.exceeds(W::splat(bound)) } {
            let mut lanes = [form.zero(); MAX_LANES];
            // SAFETY: there is room for the most lanes.
            unsafe { greatest.store(lanes.as_mut_ptr()) };
            let value = lanes[..W::COUNT].iter().copied().max().unwrap_or(form.zero());
            let Some(score) = form.decode(value) else { return Found::TooNarrow };
            // Run by run, each down its lane.
            let runs = (0..W::COUNT).map(|run| h[W::COUNT - 1 - run..length].iter().step_by(W::COUNT));
            let Some(column) = runs.flatten().position(|&cell| cell == value) else { return Found::TooNarrow };
            best = Some(End { score, query: i + 1, target: column + 1 });
            least = score;
            if enough.is_some() {
                break;
            }
        }
        std::mem::swap(&mut above, &mut h);
    }
    Found::End(best)
}

/// Computes a row of H below `above`, and the values of I that the next row takes. Returns the
/// greatest value of each lane.
///
/// # Safety
/// The processor has the instructions of `W`. `scores`, `above`, `h` and `insertion` have the same
/// length, a multiple of [`Lanes::COUNT`] above 0.
#[inline(always)]
unsafe fn row<W: Lanes>(
    form: &LocalScoring<W::Elem>,
    scores: &[W::Elem],
    above: &[W::Elem],
    h: &mut [W::Elem],
    insertion: &mut [W::Elem],
) -> W {
    let length = scores.len();
    // SAFETY: the caller's; every place is a vector's, and all slices are as long.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let mut deletion = zero;
        let mut greatest = zero;
        // Before a run's first column is the last one of the run before it.
        let mut diagonal = W::load(above[length - W::COUNT..].as_ptr()).shift_down(form.zero());
        for at in (0..length).step_by(W::COUNT) {
            let gap = W::load(insertion.as_ptr().add(at));
            let cell = diagonal.add(W::load(scores.as_ptr().add(at))).max(gap).max(deletion);
            diagonal = W::load(above.as_ptr().add(at));
            greatest = greatest.max(cell);
            cell.store(h.as_mut_ptr().add(at));
            // Not below zero, so that neither are I and D, nor H.
            let opened = cell.sub(first).max(zero);
            gap.sub(next).max(opened).store(insertion.as_mut_ptr().add(at));
            deletion = deletion.sub(next).max(opened);
        }
        // Gaps that go on in the next run, until each lane has opened one there that is as good.
        deletion = deletion.shift_down(form.zero());
        if !deletion.exceeds(W::load(h.as_ptr()).sub(first).max(zero)) {
            return greatest;
        }
        deletion = carried(form, deletion, length / W::COUNT);
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

/// Runs that gaps are carried through all lanes at once, before it is done lane by lane.
const RUNS_AT_ONCE: usize = 4;

/// Returns the gaps at the first column of each run, given those that leave the run before it. Adds
/// those that come through it, a run of `columns` columns, from earlier runs.
///
/// # Safety
/// The processor has the instructions of `W`.
#[inline(always)]
unsafe fn carried<W: Lanes>(form: &LocalScoring<W::Elem>, mut deletion: W, columns: usize) -> W {
    let through = form.next().number().saturating_mul(columns as i64);
    // Below this nothing comes through a run.
    let least = form.zero().number().saturating_add(through);
    if least > W::Elem::MAX {
        return deletion;
    }
    // SAFETY: the caller's; there is room for the most lanes.
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

    /// Two sequences, of which some are relatives.
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
    fn every_width_and_level_finds_the_textbooks_end() {
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
            let end = (expected.score > 0).then_some(End {
                score: expected.score,
                query: expected.query.end,
                target: expected.target.end,
            });
            for level in InstructionSet::available() {
                for enough in [None, end.map(|end| end.score)] {
                    let Buffers { bytes, shorts, words } = &mut Buffers::default();
                    let found = [
                        sweep_in(&query, &target, scoring, enough, bytes, level),
                        sweep_in(&query, &target, scoring, enough, shorts, level),
                        sweep_in(&query, &target, scoring, enough, words, level),
                    ];
                    for (width, found) in widths.iter_mut().zip(found) {
                        if found != Found::TooNarrow {
                            assert_eq!(found, Found::End(end), "{longest} {level:?} {enough:?} {scoring:?}");
                            *width += 1;
                        }
                    }
                    assert_eq!(found[2], Found::End(end));
                }
                let beyond = end.map_or(1, |end| end.score + 1);
                let buffers = &mut Buffers::default();
                assert_eq!(sweep(&query, &target, scoring, Some(beyond), buffers, level), Found::End(None));
            }
        }
        assert!(widths[0] > 0 && widths[0] < widths[1], "{widths:?}");
    }
}
