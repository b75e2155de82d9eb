//! Pairs side by side: one a lane, all words of a pattern in it one after the other (inter-sequence vectors).

mod group;

use std::marker::PhantomData;
use std::ops::Range;

use self::group::{Followed, SideGroup, last_cell};
use super::cutoff::CutOff;
use super::layout::{Layout, MAX_PAIRS, VECTORS};
use super::least::Steps;
use super::planes::{MAX_PLANES, Matcher, Planes};
use super::step::{Horizontal, Vertical, step};
use super::{Diagonals, Pair};
use crate::score::{EditDistance, EditMode};
use crate::simd::{AlignedBuffer, BITS, InstructionSet, LanesU64, Simd, SimdKernel};

/// Buffers that live from group to group.
#[derive(Debug, Clone, Default)]
pub(super) struct SideBuffers {
    /// For each word of rows: its planes, then pv, then mv, each of all lanes.
    words: AlignedBuffer<u64>,
}

/// A group of pairs, in global mode by falling length of the text, in the others of patterns of equally many words.
pub(super) struct SideTask<'a> {
    /// At most two vectors of them.
    pub pairs: &'a [Pair<'a>],
    /// Of all patterns and texts.
    pub planes: &'a Planes<'a>,
    /// What the patterns are compared with.
    pub mode: EditMode,
    /// Room.
    pub buffers: &'a mut SideBuffers,
    /// What comes out, one a pair; not yet compared with limits.
    pub found: &'a mut [EditDistance],
}

/// Computes a group.
pub(super) fn align_group<M: Matcher>(level: InstructionSet, task: SideTask<'_>) {
    level.run(Matched(task, PhantomData::<M>));
}

/// A task with its matcher.
struct Matched<'a, M>(SideTask<'a>, PhantomData<M>);

impl<M: Matcher> SimdKernel for Matched<'_, M> {
    type Output = ();
    const USES_VBMI2: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<S::U64Lanes, M>(self.0) }
    }
}

/// Goes on by one column in one word of all lanes.
///
/// # Safety
/// The processor has the instructions of `V`. `buffer` points to words that are laid out as `at`
/// has them and may be written, `word` among them. `at` is of [`VECTORS`] vectors and the planes of
/// `M`.
#[inline(always)]
unsafe fn go_on<V: LanesU64, M: Matcher>(
    buffer: *mut u64,
    at: Layout,
    word: usize,
    below: [Horizontal<V>; VECTORS],
    symbols: &[[V; MAX_PLANES]; VECTORS],
) -> [Horizontal<V>; VECTORS] {
    let mut tops = below;
    for v in 0..VECTORS {
        // SAFETY: the caller's: V's instructions are there, and the buffer has the word.
        unsafe {
            let lanes = buffer.add(v * V::COUNT);
            let state = Vertical { pv: V::load(lanes.add(at.pv(word))), mv: V::load(lanes.add(at.mv(word))) };
            let pattern = |plane| V::load(lanes.add(at.plane(word, plane)));
            let (state, top) = step::<V, M>(state, below[v], pattern, |plane| symbols[v][plane]);
            state.pv.store(lanes.add(at.pv(word)));
            state.mv.store(lanes.add(at.mv(word)));
            tops[v] = top;
        }
    }
    tops
}

/// Goes on by one column in a range of words of all lanes. Returns the steps that leave the last
/// word.
///
/// # Safety
/// The conditions of [`go_on`] hold for all words of the range.
#[inline(always)]
unsafe fn column<V: LanesU64, M: Matcher>(
    buffer: *mut u64,
    at: Layout,
    range: Range<usize>,
    beginning: [Horizontal<V>; VECTORS],
    symbols: &[[V; MAX_PLANES]; VECTORS],
) -> [Horizontal<V>; VECTORS] {
    let mut steps = beginning;
    // SAFETY: the caller's.
    unsafe {
        // Two words a turn, so that what one hands on need not be moved for the next.
        let mut word = range.start;
        while word + 1 < range.end {
            steps = go_on::<V, M>(buffer, at, word, steps, symbols);
            steps = go_on::<V, M>(buffer, at, word + 1, steps, symbols);
            word += 2;
        }
        if word < range.end {
            steps = go_on::<V, M>(buffer, at, word, steps, symbols);
        }
    }
    steps
}

/// Returns the planes of all lanes' symbols in column `c` of 64.
///
/// # Safety
/// The processor has the instructions of `V`. `at` is of [`VECTORS`] vectors and the planes of `M`.
#[inline(always)]
unsafe fn symbols_of<V: LanesU64, M: Matcher>(
    text: &[u64; MAX_PLANES * MAX_PAIRS],
    at: Layout,
    c: usize,
) -> [[V; MAX_PLANES]; VECTORS] {
    // SAFETY: the caller's; all lanes of a plane are within the text.
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
unsafe fn last_steps<V: LanesU64>(up: [V; VECTORS], down: [V; VECTORS], columns: usize) -> Steps<MAX_PAIRS> {
    let mut steps = Steps { up: [0; MAX_PAIRS], down: [0; MAX_PAIRS] };
    for v in 0..VECTORS {
        // SAFETY: the caller's; there is room for all lanes.
        unsafe {
            up[v].store(steps.up.as_mut_ptr().add(v * V::COUNT));
            down[v].store(steps.down.as_mut_ptr().add(v * V::COUNT));
        }
    }
    // The first column's bit came in first.
    steps.up = steps.up.map(|bits| bits << (BITS - columns));
    steps.down = steps.down.map(|bits| bits << (BITS - columns));
    steps
}

/// Computes a group, 64 columns at a time.
///
/// # Safety
/// The processor has the instructions of `V`. There are at most `VECTORS * V::COUNT` pairs.
#[inline(always)]
unsafe fn align<V: LanesU64, M: Matcher>(task: SideTask<'_>) {
    let SideTask { pairs, planes, mode, buffers, found } = task;
    let group = SideGroup::new::<V, M>(pairs, planes, mode);
    let SideGroup { at, words, texts, .. } = group;
    let (is_global, reach) = (group.is_global(), group.reach());
    // Whether something is told of a text's last column.
    let is_read_down = is_global || reach.is_some();
    let n = pairs.iter().map(|pair| pair.text.len()).max().unwrap_or(0);
    assert!(pairs.len() <= at.lanes, "every pair has a lane");
    debug_assert!(is_global || pairs.iter().all(|pair| pair.padding() < BITS));
    let buffer = buffers.words.at_least(at.plane(words, 0));
    // SAFETY: the caller's: V's instructions are there.
    let paddings = unsafe { group.set_patterns::<V, M>(buffer) };
    let band = Diagonals::around(pairs);
    let mut followed = Followed::new(&group);
    let mut text = [0u64; MAX_PLANES * MAX_PAIRS];
    // SAFETY: the caller's: V's instructions are there. The buffer has all words; the arrays have MAX_PAIRS lanes, and
    // the layout no more.
    unsafe {
        // A text's begin costs in all modes but one. There, padding matches, so that it is free as well.
        let is_free = mode == EditMode::Infix || reach.is_some();
        let beginning: [Horizontal<V>; VECTORS] = std::array::from_fn(|v| Horizontal {
            hp: V::splat(if is_free { 0 } else { u64::MAX }),
            hn: V::splat(0),
            as_matches: if is_free { V::load(paddings.as_ptr().add(v * V::COUNT)) } else { V::splat(0) },
        });
        let buffer = buffer.as_mut_ptr();
        let mut cut = CutOff::new(pairs, mode, words);
        for before in (0..n).step_by(BITS) {
            if cut.pays && before > 0 {
                let Some(distance) = cut.advance::<V>(buffer, at, &texts, before) else { break };
                followed.rows.set_distance(distance);
                followed.ends.set_distance(distance);
            }
            group.read_texts::<V, M>(before, &mut text);
            let columns = BITS.min(n - before);
            let (mut up, mut down) = ([V::splat(0); VECTORS], [V::splat(0); VECTORS]);
            let mut c = 0;
            while c < columns {
                // In global mode a text's last column is the one where the distance is; an overlap may end in it.
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
                        found[lane].distance = followed.least_down(&group, reach, lane, (0..cut.words).map(word));
                    } else {
                        // All words are as in the text's last column, or as they were when the band left them; from then
                        // on, each column adds one.
                        found[lane] = last_cell((0..words).map(word), group.patterns[lane], texts[lane] as u32);
                    }
                }
            }
            if !is_global && cut.words == words {
                followed.advance(&group, last_steps(up, down, columns), before);
            }
        }
    }
    followed.finish(&group, found);
}
