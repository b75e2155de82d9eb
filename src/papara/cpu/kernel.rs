//! Cells: a stripe of symbols in registers, site after site.

use std::marker::PhantomData;

use super::costs::Costs;
use super::group::{Group, Reads, Room};
use super::sites::Profile;
use crate::papara::vectors::OCTET;
use crate::score::difference::Element;
use crate::seq::{Code, PAD};
use crate::simd::{AlignedBuffer, InstructionSet, LaneElement, Lanes, MAX_LANES, Simd, SimdKernel};

/// Symbols of a stripe where there are 32 registers of vectors: cells and deletions of all, and what they are made from.
const WIDE_STRIPE: usize = 12;
/// Symbols of a stripe where there are fewer.
const STRIPE: usize = 6;

/// Symbols of a stripe.
pub(super) fn stripe(level: InstructionSet) -> usize {
    if level.instructions().has_32_registers() { WIDE_STRIPE } else { STRIPE }
}

/// Computes a group in elements of a kind; scores of its lanes.
pub(super) fn scores<E: LaneElement>(
    level: InstructionSet,
    group: &Group<'_>,
    memory: &mut Memory,
) -> [i64; MAX_LANES] {
    level.run(Typed { group, memory, kind: PhantomData::<E> })
}

/// Buffers that live from group to group.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    elements: AlignedBuffer<u64>,
    codes: Vec<Code>,
}

struct Typed<'a, E> {
    group: &'a Group<'a>,
    memory: &'a mut Memory,
    kind: PhantomData<E>,
}

impl<E: LaneElement> SimdKernel for Typed<'_, E> {
    type Output = [i64; MAX_LANES];
    const PORTABLE_ONLY: bool = E::PORTABLE_ONLY;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> [i64; MAX_LANES] {
        // SAFETY: the caller's.
        unsafe {
            // One of the two branches is compiled.
            if const { S::INSTRUCTIONS.has_32_registers() } {
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
/// The processor has the instructions of `V`. Each row of a read's symbols is less than the number
/// of its sets, as [`Read::set`](super::group::Read::set) leaves them.
#[inline(always)]
unsafe fn compute<V: Lanes, const R: usize>(group: &Group<'_>, memory: &mut Memory) -> [i64; MAX_LANES] {
    let Group { costs, reads, side, .. } = group;
    let (lanes, n) = (V::COUNT, side.vectors.sites() as usize);
    let symbols = reads.longest().next_multiple_of(R);
    let Memory { elements: memory, codes } = memory;
    group.codes(codes, symbols, lanes);
    let block = group.sites::<V::Elem>(lanes).min(n);
    let elements = group.elements(symbols, block, lanes);
    let memory = memory.at_least((elements * size_of::<V::Elem>()).div_ceil(size_of::<u64>()));
    let room = &mut group.rooms::<V::Elem>(bytemuck::cast_slice_mut(memory), symbols, block, lanes);
    let kinds = costs.kinds::<V::Elem>();
    let origin = costs.origin::<V::Elem>();
    // The score of the whole read after the sites so far, and the best of those.
    let mut scores = [0; MAX_LANES];
    let part = lanes.min(OCTET);
    for (eight, first) in (0..lanes).step_by(part).enumerate() {
        scores[first..first + part].fill(costs.before(reads.symbols(eight)));
    }
    start_column::<V, R>(group, room.column, symbols, origin);
    let mut best = scores;
    let score_origin = costs.score_origin::<V::Elem>(block);
    for first in (0..n).step_by(block) {
        let sites = block.min(n - first);
        let range = first as u32..(first + sites) as u32;
        let mut profile = Profile { rows: room.rows, opening: room.opening, gained: room.gained };
        // SAFETY: the caller's: V's instructions are there. Rooms have all sites and symbols.
        unsafe {
            let block = side.block(lanes, &range);
            block.profile::<V>(sites, reads.sets(), &kinds, &mut profile);
            let (start, opening) =
                (V::splat(V::Elem::from_number(origin)), V::splat(V::Elem::from_number(costs.opening)));
            for site in 0..sites {
                let cell = start.add(V::load(room.gained.as_ptr().add(site * lanes)));
                cell.store(room.cells.as_mut_ptr().add(site * lanes));
                cell.sub(opening).store(room.insertions.as_mut_ptr().add(site * lanes));
            }
            let site_opening = V::splat(V::Elem::from_number(costs.site_opening));
            let (rows, before) = (reads.rows(), V::splat(V::Elem::from_number(0)));
            let mut step = Step { sites, rows, start, opening, site_opening, before };
            for first in (0..symbols).step_by(R) {
                let column = room.column.as_mut_ptr().add(2 * first * lanes);
                match reads {
                    Reads::One(read) => {
                        let offset = |r: usize| {
                            let own = (first + r).checked_sub(symbols - read.rows.len());
                            own.map_or(read.sets.len(), |symbol| read.rows[symbol]) * lanes
                        };
                        let own = Same::<R> { offsets: std::array::from_fn(offset) };
                        step.pass::<R>(own, column, room);
                    }
                    Reads::Each(_) => {
                        let codes = &codes[first * lanes..][..R * lanes];
                        let own =
                            Own { codes: codes.as_ptr(), sites: block.byte(0, 0), is_padded: codes.contains(&PAD) };
                        step.pass::<R>(own, column, room);
                    }
                }
            }
            // Of the last symbol: scores of the block's sites from that before it.
            let score_start = V::splat(V::Elem::from_number(score_origin));
            let (mut most, mut now) = (score_start, score_start);
            for site in 0..sites {
                let cell = V::load(room.cells.as_ptr().add(site * lanes)).sub(step.before);
                now = cell.sub(V::load(room.gained.as_ptr().add(site * lanes))).sub(start).add(score_start);
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
        take_last_column::<V, R>(costs, room.column, origin, &mut best);
    }
    best
}

/// Sets the cells before the first site, stripe by stripe. A stripe's cells count from the one
/// before it.
#[inline(always)]
fn start_column<V: Lanes, const R: usize>(group: &Group<'_>, column: &mut [V::Elem], symbols: usize, origin: i64) {
    let Group { costs, reads, .. } = group;
    let (lanes, part) = (V::COUNT, V::COUNT.min(OCTET));
    for (eight, first) in (0..lanes).step_by(part).enumerate() {
        let padding = symbols - reads.symbols(eight);
        for (stripe, column) in column.chunks_exact_mut(2 * R * lanes).enumerate() {
            let mut held = origin;
            let (cells, deletions) = column.split_at_mut(R * lanes);
            for (r, (cell, deletion)) in
                cells.chunks_exact_mut(lanes).zip(deletions.chunks_exact_mut(lanes)).enumerate()
            {
                let own = (stripe * R + r + 1).saturating_sub(padding);
                held += costs.symbol + if own > 0 { costs.before(own) - costs.before(own - 1) } else { 0 };
                cell[first..first + part].fill(V::Elem::from_number(held));
                deletion[first..first + part].fill(V::Elem::from_number(held - costs.site_opening));
            }
        }
    }
}

/// Raises the best scores to those of the last site's cells, where the rest of a read costs
/// nothing.
#[inline(always)]
fn take_last_column<V: Lanes, const R: usize>(
    costs: &Costs,
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

/// What symbols of a stripe score.
trait Scores<V: Lanes>: Copy {
    /// Returns what symbol `r` of the stripe scores at a site of the block.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `rows` points to the vectors of the site in the
    /// profile, `site` is less than the sites of the block, and `r` less than the stripe's symbols.
    unsafe fn at(&self, rows: *const V::Elem, site: usize, r: usize) -> V;
}

/// All lanes have the same read: the profile has a vector for each symbol, so many elements from its first.
#[derive(Clone, Copy)]
struct Same<const R: usize> {
    offsets: [usize; R],
}

impl<V: Lanes, const R: usize> Scores<V> for Same<R> {
    #[inline(always)]
    unsafe fn at(&self, rows: *const V::Elem, _site: usize, r: usize) -> V {
        // SAFETY: the caller's.
        unsafe { V::load(rows.add(self.offsets[r])) }
    }
}

/// Lanes have nucleotides of their own, and some of the stripe may be padding.
#[derive(Clone, Copy)]
struct Own {
    codes: *const Code,
    sites: *const u8,
    is_padded: bool,
}

impl<V: Lanes> Scores<V> for Own {
    #[inline(always)]
    unsafe fn at(&self, rows: *const V::Elem, site: usize, r: usize) -> V {
        // SAFETY: the caller's.
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

/// A block of sites, as stripes pass it.
struct Step<V> {
    sites: usize,
    /// Of the profile.
    rows: usize,
    /// What the cell before the stripe and the block is held as.
    start: V,
    /// Of an insertion.
    opening: V,
    /// Of a deletion.
    site_opening: V,
    /// How much too great the stripe before has left its cells for the next.
    before: V,
}

impl<V: Lanes> Step<V> {
    /// Computes a stripe's cells at all sites of the block.
    ///
    /// # Safety
    /// The processor has the instructions of `V`. `column` points to `2 * R` vectors that may be
    /// read and written. `room.cells`, `room.insertions` and `room.opening` have a vector for each of
    /// `self.sites`, and `room.rows` has `self.rows` vectors for each. `scores` has scores of those
    /// sites and of `R` symbols.
    #[inline(always)]
    unsafe fn pass<const R: usize>(
        &mut self,
        scores: impl Scores<V>,
        column: *mut V::Elem,
        room: &mut Room<'_, V::Elem>,
    ) {
        let lanes = V::COUNT;
        // SAFETY: the caller's.
        unsafe {
            let mut cells: [V; R] = std::array::from_fn(|r| V::load(column.add(r * lanes)));
            let mut deletions: [V; R] = std::array::from_fn(|r| V::load(column.add((R + r) * lanes)));
            let next = cells[R - 1].sub(self.start);
            let mut corner = self.start;
            let (mut rows, mut opening) = (room.rows.as_ptr(), room.opening.as_ptr());
            let (mut to_cells, mut to_insertions) = (room.cells.as_mut_ptr(), room.insertions.as_mut_ptr());
            for site in 0..self.sites {
                let left = V::load(to_cells).sub(self.before);
                let mut inserted = V::load(to_insertions).sub(self.before);
                let site_opening = V::load(opening);
                let mut diagonal = corner;
                for r in 0..R {
                    let up = cells[r];
                    deletions[r] = up.sub(site_opening).max(deletions[r]);
                    // An insertion that goes on waits for nothing but the one before it.
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
            // Held from the cell before the stripe and the next block. A deletion that opens at the next site is never
            // worse than one that is held as less: so none falls out of an element's range.
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
