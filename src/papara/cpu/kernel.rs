//! Computation of cells. A stripe of symbols stays in registers while the sweep visits the sites of
//! a block.

use std::marker::PhantomData;

use super::costs::CellCosts;
use super::group::{GroupScratch, LaneReads, ReadLaneGroup};
use super::sites::BlockProfile;
use crate::papara::vectors::OCTET;
use crate::score::difference::Element;
use crate::seq::{Code, PAD};
use crate::simd::{
    AlignedBuffer, InstructionSet, Instructions, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel, array_of,
};

/// Number of symbols in a stripe with 32 vector registers. Cells, deletions and their inputs stay
/// in registers.
const WIDE_STRIPE: usize = 12;
/// Number of symbols in a stripe with fewer registers.
const STRIPE: usize = 6;

/// Returns the number of symbols in a stripe.
pub(super) const fn stripe(instructions: Instructions) -> usize {
    if instructions.has_32_registers() { WIDE_STRIPE } else { STRIPE }
}

/// Computes a group with elements of type `E`. Returns the scores of its lanes.
pub(super) fn scores<E: LaneElement>(
    instructions: InstructionSet,
    group: &ReadLaneGroup<'_>,
    memory: &mut GroupMemory,
) -> [i64; MAX_LANES] {
    instructions.run(TypedKernel { group, memory, kind: PhantomData::<E> })
}

/// Scratch memory, reused for all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupMemory {
    elements: AlignedBuffer<u64>,
    codes: Vec<Code>,
}

struct TypedKernel<'a, E> {
    group: &'a ReadLaneGroup<'a>,
    memory: &'a mut GroupMemory,
    kind: PhantomData<E>,
}

impl<E: LaneElement> SimdKernel for TypedKernel<'_, E> {
    type Output = [i64; MAX_LANES];
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> [i64; MAX_LANES] {
        // SAFETY: guaranteed by the caller.
        unsafe {
            // Only a single branch is compiled.
            if const { stripe(S::INSTRUCTIONS) == WIDE_STRIPE } {
                compute::<E::In<S>, WIDE_STRIPE>(self.group, self.memory)
            } else {
                compute::<E::In<S>, STRIPE>(self.group, self.memory)
            }
        }
    }
}

/// Computes the best score of each lane of a group, in stripes of `R` symbols.
///
/// # Safety
/// The processor must have the instructions of `V`. Each row of a read's symbols must be less than
/// the number of its sets, as ensured by [`ReadRows::set`](super::group::ReadRows::set).
#[inline(always)]
unsafe fn compute<V: Lanes, const R: usize>(group: &ReadLaneGroup<'_>, memory: &mut GroupMemory) -> [i64; MAX_LANES] {
    let ReadLaneGroup { costs, reads, side, .. } = group;
    let (lanes, n) = (V::COUNT, side.vectors.sites() as usize);
    let symbols = reads.longest().next_multiple_of(R);
    let GroupMemory { elements: memory, codes } = memory;
    group.codes(codes, symbols, lanes);
    let block = group.sites::<V::Elem>(lanes).min(n);
    let elements = group.elements(symbols, block, lanes);
    let memory = memory.at_least((elements * size_of::<V::Elem>()).div_ceil(size_of::<u64>()));
    let scratch = &mut group.scratch::<V::Elem>(bytemuck::cast_slice_mut(memory), symbols, block, lanes);
    let kinds = costs.kinds::<V::Elem>();
    let origin = costs.origin::<V::Elem>();
    // `scores` is the score of the whole read after the sites so far. `best` is the highest of
    // these scores.
    let mut scores = [0; MAX_LANES];
    let part = lanes.min(OCTET);
    for (eight, first) in (0..lanes).step_by(part).enumerate() {
        scores[first..first + part].fill(costs.leading_score(reads.symbols(eight)));
    }
    start_column::<V, R>(group, scratch.column, symbols, origin);
    let mut best = scores;
    let score_origin = costs.score_origin::<V::Elem>(block);
    for first in (0..n).step_by(block) {
        let sites = block.min(n - first);
        let range = first as u32..(first + sites) as u32;
        let mut profile = BlockProfile { rows: scratch.rows, opening: scratch.opening, gained: scratch.gained };
        // SAFETY: the caller guarantees the instructions of `V`. The scratch memory covers all
        // sites and symbols.
        unsafe {
            let block = side.block(lanes, &range);
            block.profile::<V>(sites, reads.sets(), &kinds, &mut profile);
            let (start, opening) =
                (V::splat(V::Elem::from_number(origin)), V::splat(V::Elem::from_number(costs.opening)));
            for site in 0..sites {
                let cell = start.add(V::load(scratch.gained.as_ptr().add(site * lanes)));
                cell.store(scratch.cells.as_mut_ptr().add(site * lanes));
                cell.sub(opening).store(scratch.insertions.as_mut_ptr().add(site * lanes));
            }
            let site_opening = V::splat(V::Elem::from_number(costs.site_opening));
            let (rows, before) = (reads.rows(), V::splat(V::Elem::from_number(0)));
            let mut step = StripeSweep { sites, rows, start, opening, site_opening, before };
            for first in (0..symbols).step_by(R) {
                let column = scratch.column.as_mut_ptr().add(2 * first * lanes);
                match reads {
                    LaneReads::One(read) => {
                        let offset = |r: usize| {
                            let index = (first + r).checked_sub(symbols - read.rows.len());
                            index.map_or(read.sets.len(), |symbol| read.rows[symbol]) * lanes
                        };
                        let stripe_scores = SharedRead::<R> { offsets: array_of(offset) };
                        step.pass::<R>(stripe_scores, column, scratch);
                    }
                    LaneReads::Each(_) => {
                        let codes = &codes[first * lanes..][..R * lanes];
                        let stripe_scores = OctetReads {
                            codes: codes.as_ptr(),
                            sites: block.byte(0, 0),
                            is_padded: codes.contains(&PAD),
                        };
                        step.pass::<R>(stripe_scores, column, scratch);
                    }
                }
            }
            // Scores of the whole read at the block's sites, relative to the score before the
            // block.
            let score_start = V::splat(V::Elem::from_number(score_origin));
            let (mut most, mut now) = (score_start, score_start);
            for site in 0..sites {
                let cell = V::load(scratch.cells.as_ptr().add(site * lanes)).sub(step.before);
                now = cell.sub(V::load(scratch.gained.as_ptr().add(site * lanes))).sub(start).add(score_start);
                most = most.max(now);
            }
            let (mut greatest, mut last) = ([V::Elem::default(); MAX_LANES], [V::Elem::default(); MAX_LANES]);
            most.store(greatest.as_mut_ptr());
            now.store(last.as_mut_ptr());
            for lane in 0..lanes {
                best[lane] = best[lane].max(scores[lane] + greatest[lane].number() - score_origin);
                scores[lane] += last[lane].number() - score_origin;
            }
        }
    }
    if costs.is_free {
        take_last_column::<V, R>(costs, scratch.column, origin, &mut best);
    }
    best
}

/// Sets the cells before the first site, stripe by stripe. The cells of a stripe are relative to
/// the last cell of the previous stripe.
#[inline(always)]
fn start_column<V: Lanes, const R: usize>(
    group: &ReadLaneGroup<'_>,
    column: &mut [V::Elem],
    symbols: usize,
    origin: i64,
) {
    let ReadLaneGroup { costs, reads, .. } = group;
    let (lanes, part) = (V::COUNT, V::COUNT.min(OCTET));
    for (eight, first) in (0..lanes).step_by(part).enumerate() {
        let padding = symbols - reads.symbols(eight);
        for (stripe, column) in column.chunks_exact_mut(2 * R * lanes).enumerate() {
            let mut held = origin;
            let (cells, deletions) = column.split_at_mut(R * lanes);
            for (r, (cell, deletion)) in
                cells.chunks_exact_mut(lanes).zip(deletions.chunks_exact_mut(lanes)).enumerate()
            {
                let symbols_before = (stripe * R + r + 1).saturating_sub(padding);
                held += costs.symbol
                    + if symbols_before > 0 {
                        costs.leading_score(symbols_before) - costs.leading_score(symbols_before - 1)
                    } else {
                        0
                    };
                cell[first..first + part].fill(V::Elem::from_number(held));
                deletion[first..first + part].fill(V::Elem::from_number(held - costs.site_opening));
            }
        }
    }
}

/// Updates the best scores with all cells of the last site. Schemes need this if the rest of a read
/// may extend beyond the last site for free.
#[inline(always)]
fn take_last_column<V: Lanes, const R: usize>(
    costs: &CellCosts,
    column: &[V::Elem],
    origin: i64,
    best: &mut [i64; MAX_LANES],
) {
    let lanes = V::COUNT;
    let mut before = [0; MAX_LANES];
    for column in column.chunks_exact(2 * R * lanes) {
        let mut now = before;
        for (r, cells) in column[..R * lanes].chunks_exact(lanes).enumerate() {
            for lane in 0..lanes {
                now[lane] = before[lane] + cells[lane].number() - origin - (r as i64 + 1) * costs.symbol;
                best[lane] = best[lane].max(now[lane]);
            }
        }
        before = now;
    }
}

/// Scores of the symbols in a stripe.
trait StripeScores<V: Lanes>: Copy {
    /// Returns the score of symbol `r` of the stripe at a site of the block.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`. `rows` points to the vectors of the site in
    /// the profile, `site` is less than the sites of the block, and `r` less than the stripe's
    /// symbols.
    unsafe fn at(&self, rows: *const V::Elem, site: usize, r: usize) -> V;
}

/// Scores where all lanes have the same read. The profile has one vector per set. `offsets`
/// contains the offset of the vector of each symbol in the stripe.
#[derive(Clone, Copy)]
struct SharedRead<const R: usize> {
    offsets: [usize; R],
}

impl<V: Lanes, const R: usize> StripeScores<V> for SharedRead<R> {
    #[inline(always)]
    unsafe fn at(&self, rows: *const V::Elem, _site: usize, r: usize) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::load(rows.add(self.offsets[r])) }
    }
}

/// Scores where each group of eight lanes has its own nucleotide read. Some symbols of the stripe
/// may be padding.
#[derive(Clone, Copy)]
struct OctetReads {
    codes: *const Code,
    sites: *const u8,
    is_padded: bool,
}

impl<V: Lanes> StripeScores<V> for OctetReads {
    #[inline(always)]
    unsafe fn at(&self, rows: *const V::Elem, site: usize, r: usize) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let codes = self.codes.add(r * V::COUNT);
            let is_mismatch = V::disjoint_bytes(self.sites.add(site * V::COUNT), codes);
            let chosen = V::load(rows).blend(V::load(rows.add(V::COUNT)), is_mismatch);
            if self.is_padded {
                let is_padding = V::disjoint_bytes(codes, [u8::MAX; MAX_LANES].as_ptr());
                chosen.blend(V::load(rows.add(2 * V::COUNT)), is_padding)
            } else {
                chosen
            }
        }
    }
}

/// A block of sites that is swept stripe by stripe.
struct StripeSweep<V> {
    sites: usize,
    /// Number of vectors per site in the profile.
    rows: usize,
    /// Stored value of the cell before the stripe and the block.
    start: V,
    /// Opening of an insertion.
    opening: V,
    /// Opening of a deletion.
    site_opening: V,
    /// Difference between the reference cells of this stripe and the previous one. This stripe
    /// subtracts it from the values that the previous stripe stored.
    before: V,
}

impl<V: Lanes> StripeSweep<V> {
    /// Computes a stripe's cells at all sites of the block.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`. `column` points to `2 * R` vectors that may
    /// be read and written. `scratch.cells`, `scratch.insertions` and `scratch.opening` have a
    /// vector for each of the `self.sites` sites, and `scratch.rows` has `self.rows` vectors for
    /// each site. `scores` accepts these sites and `R` symbols.
    #[inline(always)]
    unsafe fn pass<const R: usize>(
        &mut self,
        scores: impl StripeScores<V>,
        column: *mut V::Elem,
        scratch: &mut GroupScratch<'_, V::Elem>,
    ) {
        let lanes = V::COUNT;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut cells: [V; R] = array_of(|r| V::load(column.add(r * lanes)));
            let mut deletions: [V; R] = array_of(|r| V::load(column.add((R + r) * lanes)));
            let next = cells[R - 1].sub(self.start);
            let mut corner = self.start;
            let (mut rows, mut opening) = (scratch.rows.as_ptr(), scratch.opening.as_ptr());
            let (mut to_cells, mut to_insertions) = (scratch.cells.as_mut_ptr(), scratch.insertions.as_mut_ptr());
            for site in 0..self.sites {
                let left = V::load(to_cells).sub(self.before);
                let mut inserted = V::load(to_insertions).sub(self.before);
                let site_opening = V::load(opening);
                let mut diagonal = corner;
                for r in 0..R {
                    let up = cells[r];
                    deletions[r] = up.sub(site_opening).max(deletions[r]);
                    // An insertion that continues depends only on the insertion before it.
                    let ended = diagonal.add(scores.at(rows, site, r)).max(deletions[r]);
                    cells[r] = ended.max(inserted);
                    inserted = ended.sub(self.opening).max(inserted);
                    diagonal = up;
                }
                corner = left;
                cells[R - 1].store(to_cells);
                inserted.store(to_insertions);
                rows = rows.add(self.rows * lanes);
                opening = opening.add(lanes);
                to_cells = to_cells.add(lanes);
                to_insertions = to_insertions.add(lanes);
            }
            // Store the cells relative to the cell before the stripe and the next block. The stored
            // deletion is at least the score of a deletion that opens at the next site. Therefore
            // it cannot fall below the element range, and scores do not change.
            let gained = corner.sub(self.start);
            for r in 0..R {
                let deletion = cells[r].sub(self.site_opening).max(deletions[r]);
                cells[r].sub(gained).store(column.add(r * lanes));
                deletion.sub(gained).store(column.add((R + r) * lanes));
            }
            self.before = next;
        }
    }
}
