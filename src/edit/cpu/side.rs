//! Groups of pairs with one pair per lane. A lane computes the words of its pattern one after
//! another (inter-sequence vectors).

mod group;

use std::marker::PhantomData;
use std::ops::Range;

use self::group::{GroupLastRows, SideGroup, last_cell};
use super::cutoff::CutOff;
use super::layout::{GroupLayout, MAX_PAIRS, VECTORS};
use super::least::RowSteps;
use super::planes::{MAX_PLANES, Matcher, Planes};
use super::step::{HorizontalDeltas, VerticalDeltas, step};
use super::{DiagonalBand, EditPair};
use crate::score::{EditDistance, EditMode};
use crate::simd::{AlignedBuffer, BITS, InstructionSet, LanesU64, Simd, SimdKernel, array_of};

/// Scratch memory, reused for all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct SideBuffers {
    /// For each word of rows its planes, then pv, then mv, each for all lanes.
    words: AlignedBuffer<u64>,
}

/// A group of pairs. In global mode, they are sorted by decreasing length of the text. In the other
/// modes, all patterns have the same number of words.
pub(super) struct SideTask<'a> {
    /// At most two vectors of pairs.
    pub pairs: &'a [EditPair<'a>],
    /// Planes of all patterns and texts.
    pub planes: &'a Planes<'a>,
    /// Mode of the distance.
    pub mode: EditMode,
    /// Scratch memory.
    pub buffers: &'a mut SideBuffers,
    /// Results, one per pair. Limits are not applied.
    pub results: &'a mut [EditDistance],
}

/// Computes a group.
pub(super) fn align_group<M: Matcher>(instructions: InstructionSet, task: SideTask<'_>) {
    instructions.run(SideKernel(task, PhantomData::<M>));
}

/// A task with its matcher.
struct SideKernel<'a, M>(SideTask<'a>, PhantomData<M>);

impl<M: Matcher> SimdKernel for SideKernel<'_, M> {
    type Output = ();
    const USES_VBMI2: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: guaranteed by the caller.
        unsafe { align::<S::U64Lanes, M>(self.0) }
    }
}

/// Advances one word of all lanes by one column.
///
/// # Safety
/// The processor has the instructions of `V`. `buffer` points to words in the layout `at`, which
/// include `word` and may be written. `at` is the layout for [`VECTORS`] vectors and the planes of
/// `M`.
#[inline(always)]
unsafe fn advance_word<V: LanesU64, M: Matcher>(
    buffer: *mut u64,
    at: GroupLayout,
    word: usize,
    below: [HorizontalDeltas<V>; VECTORS],
    symbols: &[[V; MAX_PLANES]; VECTORS],
) -> [HorizontalDeltas<V>; VECTORS] {
    let mut tops = below;
    for v in 0..VECTORS {
        // SAFETY: the caller guarantees the instructions of V, and that the buffer contains the
        // word.
        unsafe {
            let lanes = buffer.add(v * V::COUNT);
            let state = VerticalDeltas { pv: V::load(lanes.add(at.pv(word))), mv: V::load(lanes.add(at.mv(word))) };
            let pattern = |plane| V::load(lanes.add(at.plane(word, plane)));
            let (state, top) = step::<V, M>(state, below[v], pattern, |plane| symbols[v][plane]);
            state.pv.store(lanes.add(at.pv(word)));
            state.mv.store(lanes.add(at.mv(word)));
            tops[v] = top;
        }
    }
    tops
}

/// Advances a range of words of all lanes by one column. Returns the steps that leave the last
/// word.
///
/// # Safety
/// The conditions of [`advance_word`] hold for all words of the range.
#[inline(always)]
unsafe fn column<V: LanesU64, M: Matcher>(
    buffer: *mut u64,
    at: GroupLayout,
    range: Range<usize>,
    beginning: [HorizontalDeltas<V>; VECTORS],
    symbols: &[[V; MAX_PLANES]; VECTORS],
) -> [HorizontalDeltas<V>; VECTORS] {
    let mut steps = beginning;
    // SAFETY: guaranteed by the caller.
    unsafe {
        // Two words per iteration, so that the values passed from word to word need not be moved.
        let mut word = range.start;
        while word + 1 < range.end {
            steps = advance_word::<V, M>(buffer, at, word, steps, symbols);
            steps = advance_word::<V, M>(buffer, at, word + 1, steps, symbols);
            word += 2;
        }
        if word < range.end {
            steps = advance_word::<V, M>(buffer, at, word, steps, symbols);
        }
    }
    steps
}

/// Returns the planes of all lanes' symbols in column `c` of the current 64 columns.
///
/// # Safety
/// The processor has the instructions of `V`. `at` is the layout for [`VECTORS`] vectors and the
/// planes of `M`.
#[inline(always)]
unsafe fn symbols_of<V: LanesU64, M: Matcher>(
    text: &[u64; MAX_PLANES * MAX_PAIRS],
    at: GroupLayout,
    c: usize,
) -> [[V; MAX_PLANES]; VECTORS] {
    // SAFETY: guaranteed by the caller. All lanes of a plane are within the text.
    unsafe {
        let mut symbols = [[V::splat(0); MAX_PLANES]; VECTORS];
        for (v, symbols) in symbols.iter_mut().enumerate() {
            for (plane, symbol) in symbols[..M::PLANES].iter_mut().enumerate() {
                *symbol = V::load(text.as_ptr().add(plane * at.lanes + v * V::COUNT)).test(1 << c);
            }
        }
        symbols
    }
}

/// Returns the steps along the last row in the last `columns` columns, of all lanes.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn last_steps<V: LanesU64>(up: [V; VECTORS], down: [V; VECTORS], columns: usize) -> RowSteps<MAX_PAIRS> {
    let mut steps = RowSteps { up: [0; MAX_PAIRS], down: [0; MAX_PAIRS] };
    for v in 0..VECTORS {
        // SAFETY: guaranteed by the caller. The arrays have space for all lanes.
        unsafe {
            up[v].store(steps.up.as_mut_ptr().add(v * V::COUNT));
            down[v].store(steps.down.as_mut_ptr().add(v * V::COUNT));
        }
    }
    // The bit of the first column was shifted in first.
    let (up, down) = (steps.up, steps.down);
    steps.up = array_of(|lane| up[lane] << (BITS - columns));
    steps.down = array_of(|lane| down[lane] << (BITS - columns));
    steps
}

/// Computes a group, 64 columns at a time.
///
/// # Safety
/// The processor has the instructions of `V`. There are at most `VECTORS * V::COUNT` pairs.
#[inline(always)]
unsafe fn align<V: LanesU64, M: Matcher>(task: SideTask<'_>) {
    let SideTask { pairs, planes, mode, buffers, results } = task;
    let group = SideGroup::new::<V, M>(pairs, planes, mode);
    let SideGroup { at, words, texts, .. } = group;
    let (is_global, reach) = (group.is_global(), group.overlap_reach());
    // Whether a result is read from the last column of each text.
    let is_read_down = is_global || reach.is_some();
    let n = pairs.iter().map(|pair| pair.text.len()).max().unwrap_or(0);
    assert!(pairs.len() <= at.lanes, "every pair has a lane");
    debug_assert!(is_global || pairs.iter().all(|pair| pair.padding() < BITS));
    let buffer = buffers.words.at_least(at.plane(words, 0));
    // SAFETY: the caller guarantees the instructions of V.
    let paddings = unsafe { group.set_patterns::<V, M>(buffer) };
    let band = DiagonalBand::band_around(pairs);
    let mut last_rows = GroupLastRows::new(&group);
    let mut text = [0u64; MAX_PLANES * MAX_PAIRS];
    // SAFETY: the caller guarantees the instructions of V. The buffer has all words. The arrays
    // have MAX_PAIRS lanes, and the layout has no more.
    unsafe {
        // In infix and overlap mode, skipping the start of a text is free. Padding rows match
        // there, so they cost nothing, too.
        let is_free = mode == EditMode::Infix || reach.is_some();
        let beginning: [HorizontalDeltas<V>; VECTORS] = array_of(|v| HorizontalDeltas {
            hp: V::splat(if is_free { 0 } else { u64::MAX }),
            hn: V::splat(0),
            as_matches: if is_free { V::load(paddings.as_ptr().add(v * V::COUNT)) } else { V::splat(0) },
        });
        let buffer = buffer.as_mut_ptr();
        let mut cut = CutOff::new(pairs, mode, words);
        for before in (0..n).step_by(BITS) {
            if cut.pays && before > 0 {
                let Some(distance) = cut.advance::<V>(buffer, at, &texts, before) else { break };
                last_rows.rows.set_distance(distance);
                last_rows.ends.set_distance(distance);
            }
            group.read_texts::<V, M>(before, &mut text);
            let columns = BITS.min(n - before);
            let (mut up, mut down) = ([V::splat(0); VECTORS], [V::splat(0); VECTORS]);
            let mut c = 0;
            while c < columns {
                // In global mode, the distance is in the last column of a text. An overlap may also
                // end there.
                let last = texts[..pairs.len()].iter().filter(|&&end| is_read_down && end > before + c);
                let until = *last.min().unwrap_or(&n).min(&(before + columns)) - before;
                for c in c..until {
                    let symbols = symbols_of::<V, M>(&text, at, c);
                    let range = if is_global { band.words(before + c + 1, words) } else { 0..cut.words };
                    let steps = column::<V, M>(buffer, at, range, beginning, &symbols);
                    if !is_global {
                        for v in 0..VECTORS {
                            up[v] = up[v].shift_in(steps[v].hp);
                            down[v] = down[v].shift_in(steps[v].hn);
                        }
                    }
                }
                c = until;
                for lane in (0..pairs.len()).filter(|&lane| is_read_down && texts[lane] == before + c) {
                    let word = |word| (*buffer.add(at.pv(word) + lane), *buffer.add(at.mv(word) + lane));
                    if let Some(reach) = reach {
                        results[lane].distance = last_rows.least_down(&group, reach, lane, (0..cut.words).map(word));
                    } else {
                        // All words are up to date for the text's last column, or unchanged since
                        // the band left them. Each column since then adds one.
                        results[lane] = last_cell((0..words).map(word), group.patterns[lane], texts[lane] as u32);
                    }
                }
            }
            if !is_global && cut.words == words {
                last_rows.advance(&group, last_steps(up, down, columns), before);
            }
        }
    }
    last_rows.finish(&group, results);
}
