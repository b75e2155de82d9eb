//! The alignments of known score that end in one of a few cells: from there back over the reversed prefixes, in narrow
//! lanes, over no more of the matrix than the score leaves.
//!
//! A\[p,q\] is the greatest score of a global alignment of the p query symbols and q target symbols before an end, whichever
//! end is best. Let g(a) be the greatest score that symbol a has with any other (or 0), and G\[p\] the sum of these over the p
//! query symbols. What is computed is
//!
//! ```text
//! W[p,q] = A[p,q] - G[p]
//! ```
//!
//! to which no column adds: a pair of a and b adds sub(a,b) - g(a), a gap its cost, and one in the target g(a) besides. So
//! what falls below a limit stays below it, and numbers are as narrow as the alignment is short of the best that its query
//! symbols could score. Two limits hold along the canonical alignment, of score S (its proof is in [`super::backward`]):
//! no more than the rest of G can still be gained, so that `W >= S - G[m]`, which is one number for all cells; and a part of
//! it at its end scores more than 0, `W > -G[p]`, of which a strip of rows takes what its last row leaves. The same holds of
//! what the rest of the target's symbols could score, by which a strip's last row is cut at both sides.
//!
//! Strips of rows are computed as in [`Skew`]: each from the first column that the row above leaves to the first where no
//! lane is left. All values are kept, for [`super::reach`] to follow the alignments.

mod strip;

use self::strip::{StripLanes, StripSweep, add_begins, keep_last_row, keep_what_leads};
use crate::score::Scoring;
use crate::score::difference::{Element, STEPS};
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, InstructionSet, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew, SkewBuffers};

/// Steps of a strip between two looks at whether any lane is left.
const STEPS_AT_ONCE: usize = 16;

/// Where to begin: sequences turned round, so that row 0 and column 0 are the last symbols that an alignment may end with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor<'a> {
    pub query: &'a [Code],
    pub target: &'a [Code],
    /// An alignment ends with one of the first so many symbols of either, at least one.
    pub ends: [usize; 2],
    /// The score of the alignments that are looked for, above 0: the greatest there is.
    pub score: i64,
    pub scoring: &'a Scoring,
}

/// What can be gained by symbols.
#[derive(Debug, Default)]
pub(super) struct Gains {
    /// The most that each code scores with any other, or 0.
    pub of: Vec<i64>,
    /// Sums over the first symbols of the query, and of the target.
    pub query: Vec<i64>,
    target: Vec<i64>,
}

impl Gains {
    pub(super) fn set(&mut self, at: &Anchor) {
        let substitution = &at.scoring.substitution;
        let size = substitution.size() as Code;
        let greatest = |a: Code| (1..size).map(|b| substitution.score(a, b).into()).max().unwrap_or(0).max(0);
        self.of.clear();
        self.of.extend((0..size).map(|a| if a == PAD { 0 } else { greatest(a) }));
        let of = &self.of;
        for (sums, symbols) in [(&mut self.query, at.query), (&mut self.target, at.target)] {
            sums.clear();
            sums.push(0);
            let mut sum = 0;
            sums.extend(symbols.iter().map(|&code| {
                sum += of[usize::from(code)];
                sum
            }));
        }
    }
}

/// Rows that were computed together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    /// Where its first vector is.
    pub base: usize,
    /// Its first step, and how many there are.
    pub from: usize,
    pub steps: usize,
    /// A cell that leads nowhere has this value, and all others greater ones.
    pub dead: i64,
}

/// What a sweep leaves, in numbers of one width.
#[derive(Debug, Default)]
pub(super) struct Values<E> {
    skew: SkewBuffers<E>,
    above: AlignedBuffer<E>,
    gaps: AlignedBuffer<E>,
    /// W of each step's lanes, after it (with affine gaps) its I and D.
    pub cells: AlignedBuffer<E>,
    pub strips: Vec<Strip>,
    /// Row and column of the first symbols of alignments with the score.
    pub begins: Vec<[usize; 2]>,
    /// Lanes of a vector, and vectors of a step.
    pub lanes: usize,
    pub arrays: usize,
}

/// How a sweep came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swept {
    /// Everything is there.
    Done,
    /// The numbers do not hold the values.
    TooNarrow,
    /// The values do not fit in memory.
    TooMany,
}

/// Computes all cells that alignments with the score may visit, if no more than so many bytes hold them. From a single end it
/// stops with the strip in which one begins: of those that begin further on none is canonical.
pub(super) fn sweep<E: LaneElement>(
    at: &Anchor,
    gains: &Gains,
    values: &mut Values<E>,
    most_bytes: usize,
    level: InstructionSet,
) -> Swept {
    let Some(form) = Form::<E>::new(at, gains) else { return Swept::TooNarrow };
    values.strips.clear();
    values.begins.clear();
    values.lanes = E::lanes(level);
    values.arrays = if at.scoring.gaps.is_linear() { 1 } else { 3 };
    level.run(Sweep { at, gains, form: &form, values, most: most_bytes / size_of::<E>() })
}

/// Steps in numbers of one width.
struct Form<E> {
    /// What each pair of codes (target, query) adds to W.
    table: Vec<[E; STEPS]>,
    /// Below it are only numbers that a cell which leads nowhere may pass through.
    least: i64,
}

impl<E: Element> Form<E> {
    fn new(at: &Anchor, gains: &Gains) -> Option<Self> {
        let (substitution, gaps) = (&at.scoring.substitution, at.scoring.gaps);
        let worst = i64::from(substitution.min_score()).min(0);
        let best = gains.of.iter().copied().max().unwrap_or(0);
        let margin = 4 * (i64::from(gaps.first) + best - worst);
        if margin > E::MAX / 2 {
            return None;
        }
        let size = substitution.size();
        let mut table = vec![[E::from_number(worst - best); STEPS]; size];
        for (b, row) in table.iter_mut().enumerate().skip(1) {
            for (a, entry) in row[..size].iter_mut().enumerate().skip(1) {
                *entry = E::from_number(i64::from(substitution.score(a as Code, b as Code)) - gains.of[a]);
            }
        }
        Some(Form { table, least: E::MIN + margin })
    }
}

struct Sweep<'a, E> {
    at: &'a Anchor<'a>,
    gains: &'a Gains,
    form: &'a Form<E>,
    values: &'a mut Values<E>,
    /// Elements that may be kept.
    most: usize,
}

impl<E: LaneElement> SimdKernel for Sweep<'_, E> {
    type Output = Swept;
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Swept {
        // SAFETY: the caller's.
        unsafe {
            if self.at.scoring.gaps.is_linear() {
                strips::<E::In<S>, false>(self)
            } else {
                strips::<E::In<S>, true>(self)
            }
        }
    }
}

/// Computes strip after strip, and stores all values and where alignments start.
///
/// # Safety
/// The processor has the instructions of `W`. `task.values.arrays` is 3 if `AFFINE`, else 1. Codes
/// of both sequences are less than the number of rows of the table in `task.form`.
#[inline(always)]
unsafe fn strips<W: Lanes, const AFFINE: bool>(task: Sweep<'_, W::Elem>) -> Swept {
    let Sweep { at, gains, form, values, most } = task;
    let Values { skew, above, gaps, cells, strips, begins, arrays, .. } = values;
    let (m, n, count) = (at.query.len(), at.target.len(), W::COUNT);
    let nowhere = W::Elem::from_number(form.least);
    let codes = codes_of(at.target);
    let mut skew = Skew::<W>::new(at.target, form.table.len(), skew);
    // Column c is at MAX_LANES + c: before and behind the columns there is room for the other lanes of a vector.
    let length = n + 2 * MAX_LANES;
    let above = &mut above.at_least(length)[..length];
    let gaps = &mut gaps.at_least(length)[..if AFFINE { length } else { 0 }];
    above.fill(nowhere);
    gaps.fill(nowhere);
    // Columns in which the row above leads somewhere.
    let (mut low, mut high) = (0, 0);
    let (mut top, mut used) = (0, 0);
    while top < m {
        let bottom = (top + count).min(m);
        // Rows above which ends are.
        let starts = at.ends[0].saturating_sub(top).min(count);
        let mut quiet = high;
        if starts > 0 {
            (low, quiet) = (0, high.max(at.ends[1] + starts));
        } else if low >= high {
            break;
        }
        let dead = (at.score - gains.query[m]).max(1 - gains.query[bottom]) - 1;
        if dead < form.least {
            return Swept::TooNarrow;
        }

        let StripLanes { codes: lanes, gain, goal, start } =
            StripLanes::<W::Elem>::new(at, gains, top..bottom, starts, count, form.least);
        // SAFETY: the caller's: W's instructions are there; `above` and `gaps` have n columns and a vector's room on
        // either side, and `cells` what was asked for.
        unsafe {
            skew.begin(&form.table, &codes, &lanes);
            let (goal, below) = (W::load(goal.as_ptr()), W::splat(W::Elem::from_number(-1)));
            let base = used;
            let sweep = StripSweep {
                at,
                starts,
                start: &start,
                nowhere,
                gain: W::load(gain.as_ptr()),
                goal,
                floor: W::splat(W::Elem::from_number(dead)),
                steps: low..n + count - 1,
                quiet,
                above: above.as_mut_ptr(),
                gaps: gaps.as_mut_ptr(),
            };
            let found = sweep.run::<AFFINE>(&mut skew, cells, &mut used, most);
            let Some((t, over)) = found else { return Swept::TooMany };
            strips.push(Strip { base, from: low, steps: t - low, dead });
            if over.exceeds(below) {
                let kept = &cells.at_least(used)[base..];
                for (step, vector) in (low..t).zip(kept.chunks(*arrays * count)) {
                    let vector = &vector[..count];
                    if W::load(vector.as_ptr()).sub(goal).exceeds(below) {
                        add_begins(at, gains, top..bottom, step, vector, begins);
                    }
                }
                if at.ends == [1, 1] && !begins.is_empty() {
                    return Swept::Done;
                }
            }

            // The last row is the next one's row above, and nothing else is.
            let done = (t + 1).saturating_sub(count).clamp(low, n);
            let limit = W::Elem::from_number(dead.max(-gains.query[bottom]));
            for row in [&mut *above, &mut *gaps] {
                keep_last_row(row, low..done, count, t, limit, nowhere);
            }
            (low, high) = keep_what_leads(at, gains, bottom, [above, gaps], low..done, nowhere);
        }
        top = bottom;
    }
    Swept::Done
}

/// Codes that a sequence has.
fn codes_of(sequence: &[Code]) -> Vec<Code> {
    let present = sequence.iter().fold(0u32, |set, &code| set | 1 << code);
    (1..32).filter(|code| present >> code & 1 == 1).collect()
}
