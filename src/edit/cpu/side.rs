//! Pairs side by side: one a lane, all words of a pattern in it one after the other (inter-sequence vectors).

use std::marker::PhantomData;

use super::cutoff::CutOff;
use super::ends::Ends;
use super::layout::{Layout, MAX_PAIRS, VECTORS};
use super::least::{Least, Steps};
use super::planes::{MAX_PLANES, Matcher, Planes};
use super::step::{Horizontal, Vertical, step};
use super::{Diagonals, Pair};
use crate::score::{EditMode, Found};
use crate::simd::{BITS, Kernel, Level, Lines, Simd, Words};

/// Buffers that live from group to group.
#[derive(Debug, Clone, Default)]
pub(super) struct SideBuffers {
    /// For each word of rows: its planes, then pv, then mv, each of all lanes.
    words: Lines<u64>,
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
    pub found: &'a mut [Found],
}

/// Computes a group.
pub(super) fn align_group<M: Matcher>(level: Level, task: SideTask<'_>) {
    level.run(Matched(task, PhantomData::<M>));
}

/// A task with its matcher.
struct Matched<'a, M>(SideTask<'a>, PhantomData<M>);

impl<M: Matcher> Kernel for Matched<'_, M> {
    type Output = ();
    const JOINS: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's.
        unsafe { align::<S::Words, M>(self.0) }
    }
}

/// Bits of a word below a row that is counted from the first word's.
fn below(row: usize, word: usize) -> u64 {
    match row.saturating_sub(word * BITS) {
        rows @ 0..BITS => (1 << rows) - 1,
        _ => u64::MAX,
    }
}

/// Goes on by one column in one word of all lanes.
///
/// # Safety
/// The processor has the instructions of `V`. `buffer` points to words that are laid out as `at`
/// has them and may be written, `word` among them. `at` is of [`VECTORS`] vectors and the planes of
/// `M`.
#[inline(always)]
unsafe fn go_on<V: Words, M: Matcher>(
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

/// Computes a group, 64 columns at a time.
///
/// # Safety
/// The processor has the instructions of `V`. There are at most `VECTORS * V::COUNT` pairs.
#[inline(always)]
unsafe fn align<V: Words, M: Matcher>(task: SideTask<'_>) {
    let SideTask { pairs, planes, mode, buffers, found } = task;
    let is_global = mode == EditMode::Global;
    let reach = if let EditMode::Overlap(reach) = mode { Some(reach) } else { None };
    // Whether something is told of a text's last column.
    let is_read_down = is_global || reach.is_some();
    let words = pairs.iter().map(|pair| pair.pattern.len().div_ceil(BITS)).max().unwrap_or(0);
    let n = pairs.iter().map(|pair| pair.text.len()).max().unwrap_or(0);
    let at = Layout { lanes: VECTORS * V::COUNT, planes: M::PLANES };
    assert!(pairs.len() <= at.lanes, "every pair has a lane");
    debug_assert!(is_global || pairs.iter().all(|pair| pair.padding() < BITS));
    let buffer = buffers.words.at_least(at.plane(words, 0));
    // Rows before the pattern's first one, so that its last is a word's top bit, which is followed. In global mode no
    // row is followed, and rows beyond the last do not matter.
    let padding = |pair: &Pair<'_>| if is_global { 0 } else { pair.padding() };
    let mut paddings = [0; MAX_PAIRS];
    buffer[..at.plane(words, 0)].fill(0);
    for word in 0..words {
        buffer[at.pv(word)..][..at.lanes].fill(u64::MAX);
    }
    for (lane, pair) in pairs.iter().enumerate() {
        let same_as_before = lane > 0 && std::ptr::eq(pairs[lane - 1].pattern, pair.pattern);
        let rows_before = padding(pair);
        paddings[lane] = below(rows_before, 0);
        for word in 0..words {
            if same_as_before {
                for plane in 0..=M::PLANES {
                    buffer[at.plane(word, plane) + lane] = buffer[at.plane(word, plane) + lane - 1];
                }
                continue;
            }
            let mut bits = [0; MAX_PLANES];
            let first = (word * BITS) as isize - rows_before as isize;
            // SAFETY: the caller's: V's instructions are there.
            unsafe { planes.read::<V>(pair.pattern, first, &mut bits[..M::PLANES]) };
            if let Some(plane) = planes.padding() {
                bits[plane] = below(rows_before, word);
            }
            for (plane, bits) in bits[..M::PLANES].iter().enumerate() {
                buffer[at.plane(word, plane) + lane] = *bits;
            }
            // An overlap begins in any row at no cost.
            buffer[at.pv(word) + lane] = if reach.is_some() { 0 } else { !below(rows_before, word) };
        }
    }
    let band = Diagonals::around(pairs);
    let lengths = |length: fn(&Pair<'_>) -> usize| {
        let mut lengths = [0; MAX_PAIRS];
        lengths.iter_mut().zip(pairs).for_each(|(to, pair)| *to = length(pair));
        lengths
    };
    let (patterns, texts) = (lengths(|pair| pair.pattern.len()), lengths(|pair| pair.text.len()));
    let mut rows = Least::new(patterns.map(|m| m as i64));
    let mut ends = Ends::new();
    // Columns of each text that end no overlap, and rows of each pattern.
    let (mut open_columns, mut open_rows) = ([0; MAX_PAIRS], [0; MAX_PAIRS]);
    if let Some(reach) = reach {
        for (lane, (&m, &n)) in patterns.iter().zip(&texts).enumerate().take(pairs.len()) {
            let before = |own: usize, other: usize| {
                let last = own as u64 - 1;
                last.saturating_sub(reach.unaligned(own as u32, other as u32)) as usize
            };
            (open_rows[lane], open_columns[lane]) = (before(m, n), before(n, m));
        }
    }
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
                rows.set_distance(distance);
                ends.set_distance(distance);
            }
            for (lane, pair) in pairs.iter().enumerate() {
                let mut bits = [0; MAX_PLANES];
                planes.read::<V>(pair.text, before as isize, &mut bits[..M::PLANES]);
                for (plane, bits) in bits[..M::PLANES].iter().enumerate() {
                    text[plane * at.lanes + lane] = *bits;
                }
            }
            let columns = BITS.min(n - before);
            let (mut up, mut down) = ([V::splat(0); VECTORS], [V::splat(0); VECTORS]);
            let mut c = 0;
            while c < columns {
                // In global mode a text's last column is the one where the distance is; an overlap may end in it.
                let last = texts[..pairs.len()].iter().filter(|&&end| is_read_down && end > before + c);
                let until = *last.min().unwrap_or(&n).min(&(before + columns)) - before;
                for c in c..until {
                    let mut symbols = [[V::splat(0); MAX_PLANES]; VECTORS];
                    for (v, symbols) in symbols.iter_mut().enumerate() {
                        for (plane, symbol) in symbols[..M::PLANES].iter_mut().enumerate() {
                            *symbol = V::load(text.as_ptr().add(plane * at.lanes + v * V::COUNT)).test(1 << c);
                        }
                    }
                    let range = if is_global { band.words(before + c + 1, words) } else { 0..cut.words };
                    let mut steps = beginning;
                    // Two words a turn, so that what one hands on need not be moved for the next.
                    let mut word = range.start;
                    while word + 1 < range.end {
                        steps = go_on::<V, M>(buffer, at, word, steps, &symbols);
                        steps = go_on::<V, M>(buffer, at, word + 1, steps, &symbols);
                        word += 2;
                    }
                    if word < range.end {
                        steps = go_on::<V, M>(buffer, at, word, steps, &symbols);
                    }
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
                        let (padding, n) = (pairs[lane].padding(), texts[lane] as u32);
                        let most = |row: usize| reach.most_edits((row - padding) as u32, n);
                        found[lane].distance = least_down((0..cut.words).map(word), open_rows[lane] + padding, most);
                        continue;
                    }
                    let end = texts[lane] as u32;
                    // All words are as in the text's last column, or as they were when the band left them; from then
                    // on, each column adds one.
                    let distance = (0..words).fold(end, |distance, number| {
                        let own = below(patterns[lane], number);
                        let (pv, mv) = word(number);
                        distance + (pv & own).count_ones() - (mv & own).count_ones()
                    });
                    found[lane] = Found { distance, end };
                }
            }
            if !is_global && cut.words == words {
                let mut steps = Steps { up: [0; MAX_PAIRS], down: [0; MAX_PAIRS] };
                for v in 0..VECTORS {
                    up[v].store(steps.up.as_mut_ptr().add(v * V::COUNT));
                    down[v].store(steps.down.as_mut_ptr().add(v * V::COUNT));
                }
                // The first column's bit came in first.
                steps.up = steps.up.map(|bits| bits << (BITS - columns));
                steps.down = steps.down.map(|bits| bits << (BITS - columns));
                let columns = texts.map(|end| end.saturating_sub(before).min(BITS));
                match reach {
                    None => rows.advance(steps, before, columns),
                    Some(reach) => {
                        let skipped = open_columns.map(|open| open.saturating_sub(before));
                        ends.advance(steps, skipped, columns, |lane, column| {
                            reach.most_edits(patterns[lane] as u32, (before + column) as u32)
                        });
                    }
                }
            }
        }
    }
    match reach {
        Some(_) => {
            for (found, least) in found.iter_mut().zip(ends.least()) {
                *found = Found { distance: found.distance.min(least), end: 0 };
            }
        }
        None if is_global => {}
        None => found.iter_mut().zip(rows.found()).for_each(|(to, found)| *to = found),
    }
}

/// The least value of a column that is at most `most` in its row, counted from 1, given by the differences of its words; of the
/// first rows, so many, none counts. Row 0 is at 0.
#[inline(always)]
fn least_down(words: impl Iterator<Item = (u64, u64)>, skipped: usize, most: impl Fn(usize) -> u32) -> u32 {
    let mut ends = Ends::new();
    for (number, (pv, mv)) in words.enumerate() {
        // Steps go from the highest bit on, rows from the lowest.
        let steps = Steps { up: [pv.reverse_bits()], down: [mv.reverse_bits()] };
        let skipped = skipped.saturating_sub(number * BITS);
        ends.advance(steps, [skipped], [BITS], |_, row| most(number * BITS + row));
    }
    ends.least()[0]
}
