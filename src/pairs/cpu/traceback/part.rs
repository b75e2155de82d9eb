//! Parts of a pair's matrices that are recomputed with directions.

use std::ops::Range;

use super::ScoredGroup;
use super::lane::{Gap, LaneTraceback, MARGIN};
use crate::pairs::cpu::pair_difference::{CellNotes, StepSource, StripOf};
use crate::pairs::cpu::skew::{PairBuffers, Strips};
use crate::score::difference::{Element, STEPS};
use crate::score::{DifferenceScoring, Substitution};
use crate::seq::{Code, PAD};
use crate::simd::{LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, Skew, array_of};

/// The proof for a part compares two values. If they differ by more than this many times the
/// greatest step, a narrower part would have been sufficient.
const RESERVE: i64 = 4;

/// Tracebacks of some lanes of a group.
pub(super) struct GroupTraceback<'a, 'g, E> {
    pub group: &'a mut ScoredGroup<'g, E>,
    pub buffers: &'a mut PartBuffers<E>,
    pub lane_traces: &'a mut [LaneTraceback],
}

/// Buffers that are reused for all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct PartBuffers<E> {
    /// The query with padding at both ends.
    padded: Vec<Code>,
    directions: PartDirections,
    pair: PairBuffers<E>,
}

/// Origin of the values of a step's cells, one bit per lane.
#[derive(Debug, Clone, Copy, Default)]
struct Origins {
    diagonal: u64,
    /// Whether the value comes from the preferred gap, which is the gap of query symbols.
    preferred: u64,
}

/// For affine gaps: whether the gap that continues to the next column or row is opened in a step's
/// cell, one bit per lane.
#[derive(Debug, Clone, Copy, Default)]
struct Opens {
    columns: u64,
    rows: u64,
}

/// Directions of a part, strip by strip.
#[derive(Debug, Clone, Default)]
struct PartDirections {
    origins: Vec<Origins>,
    opens: Vec<Opens>,
}

/// Writes directions during a computation.
struct DirectionWriter<'a, const AFFINE: bool> {
    origins: &'a mut [Origins],
    opens: &'a mut [Opens],
    rows_preferred: bool,
}

impl<W: Lanes, const AFFINE: bool> CellNotes<W> for DirectionWriter<'_, AFFINE> {
    #[inline(always)]
    unsafe fn take(&mut self, t: usize, step: W, z: W, e: W, f: W, opened: W) {
        // SAFETY: the caller guarantees the instructions of W.
        unsafe {
            let preferred = if self.rows_preferred { f } else { e };
            self.origins[t] = Origins { diagonal: z.equal(step), preferred: z.equal(preferred) };
            if AFFINE {
                let (columns, rows) = (opened.max(e).equal(opened), opened.max(f).equal(opened));
                self.opens[t] = Opens { columns, rows };
            }
        }
    }
}

/// Source of steps for substitution scores with two values: codes that share a bit match.
struct TwoSteps<'a, W> {
    /// The query with padding at both ends.
    columns: &'a [Code],
    /// Codes of the rows of all lanes.
    rows: [Code; MAX_LANES],
    yes: W,
    no: W,
}

impl<W: Lanes> StepSource<W> for TwoSteps<'_, W> {
    #[inline(always)]
    unsafe fn step(&mut self, t: usize) -> W {
        // Row k is in lane COUNT - 1 - k, which is at column t - k.
        let columns = &self.columns[MAX_LANES + t + 1 - W::COUNT..][..W::COUNT];
        // SAFETY: the caller guarantees the preconditions, and both arrays have COUNT codes.
        unsafe { self.yes.blend(self.no, W::disjoint_bytes(columns.as_ptr(), self.rows.as_ptr())) }
    }
}

impl<E: LaneElement> SimdKernel for GroupTraceback<'_, '_, E> {
    type Output = ();
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller guarantees the instructions of S.
        unsafe {
            match (self.group.form.opening() == 0, self.group.form.two_steps().is_some()) {
                (true, false) => trace_lanes::<E::In<S>, false, false>(self),
                (true, true) => trace_lanes::<E::In<S>, false, true>(self),
                (false, false) => trace_lanes::<E::In<S>, true, false>(self),
                (false, true) => trace_lanes::<E::In<S>, true, true>(self),
            }
        }
    }
}

/// Follows all tracebacks part by part until they are complete or lost.
///
/// # Safety
/// The processor has the instructions of `W`. `TWO` is set only if the form of `task.group` has two
/// steps. Codes of the targets are less than [`STEPS`]. `j` of a traceback is at most the length of
/// the query.
#[inline(always)]
unsafe fn trace_lanes<W: Lanes, const AFFINE: bool, const TWO: bool>(task: GroupTraceback<'_, '_, W::Elem>) {
    let GroupTraceback { group, buffers, lane_traces } = task;
    let ScoredGroup { form, substitution, query, codes, targets, ref mut kept, .. } = *group;
    let PartBuffers { padded, directions, pair } = buffers;
    let spacing = kept.spacing();
    let PairBuffers { skew, above, gaps } = pair;
    if TWO {
        let padding = || std::iter::repeat_n(PAD, MAX_LANES);
        padded.clear();
        padded.extend(padding().chain(query.iter().copied()).chain(padding()));
    }
    let mut skew = Skew::<W>::new(if TWO { &[] } else { query }, form.size(), skew);
    let matches = Matches::from_substitution(substitution, form.size());
    // All targets end in the same row, so that a kept row is read for one lane after another.
    for index in 0.. {
        let mut is_done = true;
        for lane_trace in lane_traces.iter_mut().filter(|lane_trace| !lane_trace.is_done()) {
            is_done = false;
            let target = targets[lane_trace.lane];
            let top = target.len().saturating_sub((index + 1) * spacing);
            // Below a border that never rises, no value proves that the path does not come from
            // further left.
            let is_flat = top == 0 && form.border_step() == 0;
            let mut margin = if is_flat { lane_trace.j } else { lane_trace.margin };
            if lane_trace.trusts_bits && lane_trace.i > top && lane_trace.gap.is_none() {
                let pairs = lane_trace.i - top;
                let above = lane_trace.j.checked_sub(pairs).and_then(|column| match top {
                    0 => Some(W::Elem::from_number(form.border_value(column))),
                    _ => kept.value(index, lane_trace.lane, column),
                });
                if let Some(above) = above {
                    Diagonal::pairs_before(lane_trace.i, lane_trace.j, pairs, target, query)
                        .take_if_right(form, above, &matches, lane_trace);
                }
            }
            while lane_trace.i > top && !lane_trace.is_done() {
                // If a part starts at a border of the matrix, its padding precedes its first row.
                let height = lane_trace.i - top;
                let rows = if top > 0 { height.next_multiple_of(W::COUNT) } else { height };
                let rows = &target[top..][..rows];
                let Some(least) = (if top == 0 { Some(0) } else { kept.first_column(index, lane_trace.j) }) else {
                    lane_trace.fail();
                    break;
                };
                let columns = lane_trace.j.saturating_sub(height + margin).max(least)..lane_trace.j;
                let strips = Strips::new(rows, W::COUNT);
                let part = RecomputedPart::<W> { form, query, codes, padded, strips, rows, height, columns, top };
                let n = part.columns.len();
                let (dh, f) = (above.at_least(n + 2 * MAX_LANES), gaps.at_least(n + 2 * MAX_LANES));
                if top == 0 {
                    part.border(&mut dh[MAX_LANES..], &mut f[MAX_LANES..]);
                } else {
                    kept.read(index, lane_trace.lane, part.columns.clone(), &mut dh[MAX_LANES..], &mut f[MAX_LANES..]);
                }
                // SAFETY: the caller guarantees the preconditions, and there is space for a vector
                // before and after the columns.
                let value =
                    unsafe { part.compute::<AFFINE, TWO>(lane_trace.is_exchanged, dh, f, &mut skew, directions) };
                let opening = if lane_trace.gap.is_some() { form.opening() } else { 0 };
                let spare = value - form.greatest_step() * height as i64 - opening;
                if part.columns.start > 0 && spare <= 0 {
                    if part.columns.start == least {
                        lane_trace.fail();
                        break;
                    }
                    margin = 2 * margin + MARGIN;
                    continue;
                }
                if !is_flat {
                    lane_trace.learn(margin, spare > RESERVE * form.greatest_step());
                }
                part.follow::<AFFINE>(lane_trace, &matches, directions);
            }
            if lane_trace.is_done() {
                lane_trace.finish(form);
            }
        }
        if is_done {
            return;
        }
    }
}

/// Some rows and columns of a pair.
struct RecomputedPart<'a, W: Lanes> {
    form: &'a DifferenceScoring<W::Elem>,
    query: &'a [Code],
    codes: &'a [Code],
    /// The query with padding at both ends.
    padded: &'a [Code],
    rows: &'a [Code],
    strips: Strips<'a>,
    /// Number of rows that the traceback may pass through.
    height: usize,
    columns: Range<usize>,
    /// Number of matrix rows before the part.
    top: usize,
}

impl<W: Lanes> RecomputedPart<'_, W> {
    /// Sets dh and f of the matrix's first row, a border.
    fn border(&self, dh: &mut [W::Elem], f: &mut [W::Elem]) {
        let RecomputedPart { form, columns, strips, .. } = self;
        for ((dh, f), column) in dh.iter_mut().zip(f).zip(columns.clone()) {
            // The first column below padding is not the first column of the matrix.
            *dh = match column {
                0 if form.own_ends() && strips.pad() > 0 => W::Elem::from_number(form.border_step()),
                _ => form.border_difference(column + 1),
            };
            *f = W::Elem::from_number(dh.number() - form.opening());
        }
    }

    /// Computes the directions. Returns the value of the cell in the last column and in the
    /// traceback's current row, relative to the row above's value before the first column.
    ///
    /// # Safety
    /// The processor has the instructions of `W`. `dh` and `f` have [`MAX_LANES`] elements before
    /// the columns, one for each column, and [`MAX_LANES`] after them. With `TWO` the form has two
    /// steps. Without it, `skew` is made from the query. Codes of the rows are less than [`STEPS`].
    /// The columns are within the query.
    #[inline(always)]
    unsafe fn compute<const AFFINE: bool, const TWO: bool>(
        &self,
        rows_preferred: bool,
        dh: &mut [W::Elem],
        f: &mut [W::Elem],
        skew: &mut Skew<'_, W>,
        directions: &mut PartDirections,
    ) -> i64 {
        let RecomputedPart { form, ref strips, ref columns, height, .. } = *self;
        let width = columns.len() + W::COUNT - 1;
        let PartDirections { origins, opens } = directions;
        let cells = strips.count() * width;
        if origins.len() < cells {
            origins.resize(cells, Origins::default());
        }
        if AFFINE && opens.len() < cells {
            opens.resize(cells, Opens::default());
        }
        let mut value: i64 = dh[MAX_LANES..][..columns.len()].iter().map(|&dh| form.difference(dh)).sum();
        let mut lanes = [PAD; MAX_LANES];
        for (strip, origins) in origins.chunks_exact_mut(width).take(strips.count()).enumerate() {
            let opens = if AFFINE { &mut opens[strip * width..][..width] } else { &mut [] };
            strips.codes(strip, &mut lanes);
            let borders = &self.borders(strip);
            // SAFETY: the caller guarantees the preconditions.
            let ends = unsafe {
                let (dh, f) = (dh.as_mut_ptr().add(MAX_LANES), f.as_mut_ptr().add(MAX_LANES));
                let cells = StripOf { form, columns: columns.clone(), borders, dh, f };
                let notes = &mut DirectionWriter::<AFFINE> { origins, opens, rows_preferred };
                let is_last = strip + 1 == strips.count();
                match form.two_steps() {
                    Some((yes, no)) if TWO => {
                        // Padding shares no bit with any symbol, but has a step of its own.
                        let mut others = [no; MAX_LANES];
                        if lanes[W::COUNT - 1] == PAD {
                            let gap = form.table()[PAD as usize][1];
                            lanes
                                .iter()
                                .zip(&mut others)
                                .filter(|(code, _)| **code == PAD)
                                .for_each(|(_, no)| *no = gap);
                        }
                        let (yes, no) = (W::splat(yes), W::load(others.as_ptr()));
                        let mut steps = TwoSteps { columns: self.padded, rows: lanes, yes, no };
                        cells.compute_last::<AFFINE>(is_last, &mut steps, notes)
                    }
                    _ => {
                        skew.begin(form.table(), self.codes, &lanes);
                        cells.compute_last::<AFFINE>(is_last, skew, notes)
                    }
                }
            };
            // Rows 1 to `height` of the part, without padding.
            let first = strips.done(strip, W::COUNT - 1).max(1);
            let last = strips.done(strip, 0).min(height);
            let lane_of = |done: usize| strips.done(strip, 0) - done;
            for &end in ends[..W::COUNT].iter().take(lane_of(first) + 1).skip(lane_of(last)) {
                value += form.difference(end);
            }
        }
        value
    }

    /// Returns dv before the first column of a strip, for all lanes.
    fn borders(&self, strip: usize) -> [W::Elem; MAX_LANES] {
        let RecomputedPart { form, strips, top, .. } = self;
        let mut borders = [W::Elem::from_number(0); MAX_LANES];
        if self.columns.start == 0 {
            for (lane, border) in borders[..W::COUNT].iter_mut().enumerate() {
                *border = match strips.done(strip, lane) {
                    0 if strips.is_corner(strip, lane) => form.corner_difference(),
                    0 => W::Elem::from_number(0),
                    done => form.border_difference(top + done),
                };
            }
        } else if let Some(lane) = (strips.done(strip, 0)).checked_sub(1).filter(|&lane| lane < W::COUNT) {
            // A gap opens down from the row above.
            borders[lane] = W::Elem::from_number(-form.opening());
        }
        borders
    }

    /// Follows the directions to the row above, or to a border.
    #[inline(always)]
    fn follow<const AFFINE: bool>(
        &self,
        lane_trace: &mut LaneTraceback,
        matches: &Matches,
        directions: &PartDirections,
    ) {
        let RecomputedPart { form, query, rows, ref columns, top, .. } = *self;
        let (width, pad) = (columns.len() + W::COUNT - 1, self.strips.pad());
        while lane_trace.i > top && lane_trace.j > columns.start {
            let row = lane_trace.i - top - 1 + pad;
            let (strip, k) = (row / W::COUNT, row % W::COUNT);
            let (at, lane) = (strip * width + lane_trace.j - columns.start - 1 + k, W::COUNT - 1 - k);
            let has = |bits: u64| bits >> lane & 1 == 1;
            if AFFINE && let Some(within) = lane_trace.gap {
                let Opens { columns, rows } = directions.opens[at];
                if has(if within == Gap::Rows { rows } else { columns }) {
                    lane_trace.gap = None;
                }
            }
            let Origins { diagonal, preferred } = directions.origins[at];
            if lane_trace.gap.is_none() && has(diagonal) {
                // Number of following diagonal steps within the strip. The next cell is two steps
                // earlier and one lane further.
                let most = (k + 1).min(lane_trace.i - top).min(lane_trace.j - columns.start);
                let goes_on = |pairs: usize| directions.origins[at - 2 * pairs].diagonal >> (lane + pairs) & 1 == 1;
                let pairs = (1..most).take_while(|&pairs| goes_on(pairs)).count() + 1;
                let diagonal = Diagonal::pairs_before(lane_trace.i - top, lane_trace.j, pairs, rows, query);
                diagonal.take(diagonal.value(form), matches, lane_trace);
                continue;
            }
            let within = lane_trace.gap.unwrap_or_else(|| {
                lane_trace.value -= form.opening();
                if has(preferred) == lane_trace.is_exchanged { Gap::Rows } else { Gap::Columns }
            });
            lane_trace.push(1, within);
            match within {
                Gap::Rows => lane_trace.i -= 1,
                Gap::Columns => lane_trace.j -= 1,
            }
            lane_trace.gap = AFFINE.then_some(within);
        }
        debug_assert!(lane_trace.i == top || columns.start == 0, "the traceback stays within its part");
    }
}

/// Pairs of symbols on a diagonal.
struct Diagonal<'a> {
    rows: &'a [Code],
    columns: &'a [Code],
}

impl<'a> Diagonal<'a> {
    /// Returns the `pairs` pairs up to and including the cell after `i` rows and `j` columns.
    #[inline(always)]
    fn pairs_before(i: usize, j: usize, pairs: usize, rows: &'a [Code], columns: &'a [Code]) -> Self {
        Diagonal { rows: &rows[i - pairs..i], columns: &columns[j - pairs..j] }
    }

    /// Returns the change of the value over all pairs.
    #[inline(always)]
    fn value<E: Element>(&self, form: &DifferenceScoring<E>) -> i64 {
        match form.two_steps().map(|(yes, no)| (form.step_value(yes), form.step_value(no))) {
            Some((yes, no)) => {
                let shared = self.blocks().fold(0, |all, (rows, columns)| all + shared(rows, columns).count_ones());
                i64::from(shared) * (yes - no) + self.rows.len() as i64 * no
            }
            None => self.rows.iter().zip(self.columns).fold(0, |value, (&a, &b)| value + form.step(b, a)),
        }
    }

    /// Takes the diagonal if the cell that it leads to has the low bits `above`.
    #[inline(always)]
    fn take_if_right<E: Element>(
        self,
        form: &DifferenceScoring<E>,
        above: E,
        matches: &Matches,
        lane_trace: &mut LaneTraceback,
    ) {
        let value = self.value(form);
        if E::from_number(lane_trace.cell_value() - value) == above {
            self.take(value, matches, lane_trace);
        }
    }

    /// Adds the pairs to the alignment, the last one first.
    #[inline(always)]
    fn take(&self, value: i64, matches: &Matches, lane_trace: &mut LaneTraceback) {
        for (rows, columns) in self.blocks() {
            let equal = match matches {
                Matches::Shared => shared(rows, columns),
                Matches::Each(matches) => {
                    let mut equal = 0;
                    for (&a, &b) in rows.iter().zip(columns) {
                        equal = equal << 1 | u64::from(matches[b as usize % STEPS] >> (a as usize % STEPS) & 1);
                    }
                    equal
                }
            };
            lane_trace.push_pairs(equal, rows.len() as u32);
        }
        lane_trace.value += value;
        (lane_trace.i, lane_trace.j) = (lane_trace.i - self.rows.len(), lane_trace.j - self.rows.len());
    }

    /// Returns the last 64 pairs, then the 64 pairs before them, and so on.
    #[inline(always)]
    fn blocks(&self) -> impl Iterator<Item = (&'a [Code], &'a [Code])> {
        let &Diagonal { rows, columns } = self;
        let mut end = rows.len();
        std::iter::from_fn(move || {
            let block = end.saturating_sub(u64::BITS as usize)..end;
            end = block.start;
            (!block.is_empty()).then(|| (&rows[block.clone()], &columns[block]))
        })
    }
}

/// Returns one bit for each of at most 64 pairs of codes: whether they share a bit. The last pair
/// has the lowest bit.
#[inline(always)]
fn shared(a: &[Code], b: &[Code]) -> u64 {
    /// Moves the lowest bit of byte k to bit 56 + k.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (a, a_words) = a.as_rchunks::<8>();
    let (b, b_words) = b.as_rchunks::<8>();
    let mut bits = 0;
    for (&a, &b) in a.iter().zip(b) {
        bits = bits << 1 | u64::from(a & b != 0);
    }
    for (a, b) in a_words.iter().zip(b_words) {
        // Codes have fewer than eight bits, so a sum has its eighth bit set if any bit of the byte
        // is set.
        let any = (u64::from_be_bytes(*a) & u64::from_be_bytes(*b)) + 0x7f7f_7f7f_7f7f_7f7f;
        bits = bits << 8 | (any >> 7 & 0x0101_0101_0101_0101).wrapping_mul(GATHER) >> 56;
    }
    bits
}

/// Rule that determines which pairs of symbols match.
enum Matches {
    /// Codes that share a bit match.
    Shared,
    /// For each symbol, a set of bits with the symbols that match it.
    Each([u32; STEPS]),
}

impl Matches {
    /// Determines the matches of all symbols of an alphabet with `codes` codes, including padding.
    fn from_substitution(substitution: &Substitution, codes: usize) -> Self {
        let real = 1..codes as Code;
        let is_told = |a: Code, b: Code| substitution.is_match(a, b) == (a & b != 0);
        if real.clone().all(|a| real.clone().all(|b| is_told(a, b))) {
            return Matches::Shared;
        }
        let bits = |a: Code| real.clone().fold(0, |bits, b| bits | u32::from(substitution.is_match(a, b)) << b);
        Matches::Each(array_of(|a| if real.contains(&(a as Code)) { bits(a as Code) } else { 0 }))
    }
}
