//! Local scores of one query against many targets, one a lane (Smith and Waterman 1981, Gotoh 1982, equations 1 to 3;
//! lanes as in SWIPE, Rognes 2011).
//!
//! Operations on a vector of cells: 10 under affine gaps (6 of them maxima, which Intel's servers do one of a cycle in 512
//! bits: 6 cycles at least), 6 under linear ones.

use super::group::{GroupBuffers, GroupTask, ROWS, Strip};
use crate::score::LocalScoring;
use crate::seq::Code;
use crate::simd::{Kernel, LaneElement, Lanes, MAX_LANES, Simd};

impl<E: LaneElement> Kernel for GroupTask<'_, LocalScoring<E>, E, E> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<E::In<S>>(self) }
    }
}

#[inline(always)]
unsafe fn align<W: Lanes>(task: GroupTask<'_, LocalScoring<W::Elem>, W::Elem, W::Elem>) {
    let GroupTask { form, query, codes, group, buffers, values } = task;
    let (m, count) = (query.len(), W::COUNT);
    let affine = !form.is_linear();
    let GroupBuffers { above: h, gaps: f, profile } = buffers;
    let h = h.at_least(m * count);
    let f = f.at_least(if affine { m * count } else { 0 });
    let profile = profile.at_least(form.size() * ROWS * count);
    h[..m * count].fill(form.zero());
    if affine {
        f[..m * count].fill(form.zero());
    }
    let mut strip: Strip = [[0; MAX_LANES]; ROWS];
    // SAFETY: the caller's: W's instructions are there; buffers hold `m` vectors each, the profile those of all codes.
    unsafe {
        let mut best = W::splat(form.zero());
        for r in (0..group.rows()).step_by(ROWS) {
            group.strip(r, &mut strip);
            for &code in codes {
                let row = &form.table()[code as usize];
                for (k, symbols) in strip.iter().enumerate() {
                    let steps = W::lookup(row, symbols.as_ptr());
                    steps.store(profile[(code as usize * ROWS + k) * count..][..count].as_mut_ptr());
                }
            }
            best = if affine {
                affine_rows(query, form, h.as_mut_ptr(), f.as_mut_ptr(), profile.as_ptr(), best)
            } else {
                linear_rows(query, form, h.as_mut_ptr(), profile.as_ptr(), best)
            };
        }
        best.store(values.as_mut_ptr());
    }
}

/// Rows under linear gaps.
#[inline(always)]
unsafe fn linear_rows<W: Lanes>(
    query: &[Code],
    form: &LocalScoring<W::Elem>,
    h: *mut W::Elem,
    profile: *const W::Elem,
    mut best: W,
) -> W {
    // SAFETY: the caller's.
    unsafe {
        let (cost, zero) = (W::splat(form.next()), W::splat(form.zero()));
        let mut left = [zero; ROWS];
        let mut corner = zero;
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let column = h.add(j * W::COUNT);
            let top = W::load(column);
            let (mut diagonal, mut above) = (corner, top);
            for (k, left) in left.iter_mut().enumerate() {
                let gap = above.max(*left).sub(cost).max(zero);
                let cell = diagonal.add(W::load(steps.add(k * W::COUNT))).max(gap);
                best = best.max(cell);
                (diagonal, above) = (*left, cell);
                *left = cell;
            }
            above.store(column);
            corner = top;
        }
        best
    }
}

/// Rows under affine gaps.
#[inline(always)]
unsafe fn affine_rows<W: Lanes>(
    query: &[Code],
    form: &LocalScoring<W::Elem>,
    h: *mut W::Elem,
    f: *mut W::Elem,
    profile: *const W::Elem,
    mut best: W,
) -> W {
    // SAFETY: the caller's.
    unsafe {
        let (first, next, zero) = (W::splat(form.first()), W::splat(form.next()), W::splat(form.zero()));
        let (mut left, mut e) = ([zero; ROWS], [zero; ROWS]);
        let mut corner = zero;
        for (j, &code) in query.iter().enumerate() {
            let steps = profile.add(code as usize * ROWS * W::COUNT);
            let (column, gaps) = (h.add(j * W::COUNT), f.add(j * W::COUNT));
            let (top, mut gap) = (W::load(column), W::load(gaps));
            let mut diagonal = corner;
            for (k, (left, e)) in left.iter_mut().zip(&mut e).enumerate() {
                let cell = diagonal.add(W::load(steps.add(k * W::COUNT))).max(*e).max(gap);
                best = best.max(cell);
                // Not below zero, so that neither are E and F, nor H.
                let opened = cell.sub(first).max(zero);
                *e = e.sub(next).max(opened);
                gap = gap.sub(next).max(opened);
                diagonal = std::mem::replace(left, cell);
            }
            left[ROWS - 1].store(column);
            gap.store(gaps);
            corner = top;
        }
        best
    }
}
