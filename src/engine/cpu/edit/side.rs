//! Pairs side by side: one a lane, all words of a pattern in it one after the other (inter-sequence vectors).

use super::least::Least;
use super::planes::{MAX_PLANES, Matcher, Planes};
use super::step::{Horizontal, Vertical, step};
use super::words::{BITS, MAX_LANES, Words, kernel};
use super::{Band, Pair};
use crate::engine::cpu::simd::Lines;
use crate::score::{EditMode, Found};

/// Vectors that are computed in turn: while one waits for its last operation, the other goes on.
pub const VECTORS: usize = 2;
/// The most pairs.
pub const MAX_PAIRS: usize = VECTORS * MAX_LANES;

/// Buffers that live from group to group.
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    /// For each word of rows: its planes, then pv, then mv, each of all lanes.
    words: Lines<u64>,
}

/// A group of pairs, in global mode by falling length of the text, in the others of patterns of equally many words.
pub struct Task<'a> {
    /// At most two vectors of them.
    pub pairs: &'a [Pair<'a>],
    /// Of all patterns and texts.
    pub planes: &'a Planes<'a>,
    /// What the patterns are compared with.
    pub mode: EditMode,
    /// Room.
    pub buffers: &'a mut Buffers,
    /// What comes out, one a pair; not yet compared with limits.
    pub found: &'a mut [Found],
}

kernel! {
    /// Computes a group.
    fn align_group(Task) = align;
}

/// Where things are in the words' buffer.
#[derive(Clone, Copy)]
struct Layout {
    /// Words of a vector's lanes, of all vectors.
    lanes: usize,
    planes: usize,
}

impl Layout {
    /// A plane of a word of rows.
    #[inline(always)]
    fn plane(self, word: usize, plane: usize) -> usize {
        (word * (self.planes + 2) + plane) * self.lanes
    }
    #[inline(always)]
    fn pv(self, word: usize) -> usize {
        self.plane(word, self.planes)
    }
    #[inline(always)]
    fn mv(self, word: usize) -> usize {
        self.plane(word, self.planes + 1)
    }
}

/// Bits of a word below a row that is counted from the first word's.
fn below(row: usize, word: usize) -> u64 {
    match row.saturating_sub(word * BITS) {
        rows @ 0..BITS => (1 << rows) - 1,
        _ => u64::MAX,
    }
}

#[inline(always)]
unsafe fn align<V: Words, M: Matcher>(task: Task<'_>) {
    let Task { pairs, planes, mode, buffers, found } = task;
    let is_global = mode == EditMode::Global;
    let words = pairs.iter().map(|pair| pair.pattern.len().div_ceil(BITS)).max().unwrap_or(0);
    let n = pairs.iter().map(|pair| pair.text.len()).max().unwrap_or(0);
    let at = Layout { lanes: VECTORS * V::COUNT, planes: M::PLANES };
    debug_assert!(pairs.len() <= at.lanes && (is_global || pairs.iter().all(|pair| pair.padding() < BITS)));
    let buffer = buffers.words.at_least(at.plane(words, 0));
    // Rows before the pattern's first one, so that its last is a word's top bit, which is followed. In global mode no row
    // is followed, and rows beyond the last do not matter.
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
            buffer[at.pv(word) + lane] = !below(rows_before, word);
        }
    }
    let band = Band::around(pairs);
    let mut rows: [Least; MAX_PAIRS] =
        std::array::from_fn(|lane| Least::new(pairs.get(lane).map_or(0, |pair| pair.pattern.len() as u32)));
    let mut text = [0u64; MAX_PLANES * MAX_PAIRS];
    // SAFETY: the caller's: V's instructions are there. The buffer has all words; the arrays have MAX_PAIRS lanes, and the
    // layout no more.
    unsafe {
        // A text's begin costs in all modes but one. There, padding matches, so that it is free as well.
        let is_free = mode == EditMode::Infix;
        let beginning: [Horizontal<V>; VECTORS] = std::array::from_fn(|v| Horizontal {
            hp: V::splat(if is_free { 0 } else { u64::MAX }),
            hn: V::splat(0),
            as_matches: if is_free { V::load(paddings.as_ptr().add(v * V::COUNT)) } else { V::splat(0) },
        });
        let buffer = buffer.as_mut_ptr();
        for before in (0..n).step_by(BITS) {
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
                // In global mode a text's last column is the one where the distance is.
                let ends = pairs.iter().map(|pair| pair.text.len()).filter(|&end| is_global && end > before + c);
                let until = ends.min().unwrap_or(n).min(before + columns) - before;
                for c in c..until {
                    let mut symbols = [[V::splat(0); MAX_PLANES]; VECTORS];
                    for (v, symbols) in symbols.iter_mut().enumerate() {
                        for (plane, symbol) in symbols[..M::PLANES].iter_mut().enumerate() {
                            *symbol = V::load(text.as_ptr().add(plane * at.lanes + v * V::COUNT)).test(1 << c);
                        }
                    }
                    let range = if is_global { band.words(before + c + 1, words) } else { 0..words };
                    let mut steps = beginning;
                    for word in range {
                        for v in 0..VECTORS {
                            let lanes = buffer.add(v * V::COUNT);
                            let state =
                                Vertical { pv: V::load(lanes.add(at.pv(word))), mv: V::load(lanes.add(at.mv(word))) };
                            let pattern = |plane| V::load(lanes.add(at.plane(word, plane)));
                            let (state, top) = step::<V, M>(state, steps[v], pattern, |plane| symbols[v][plane]);
                            state.pv.store(lanes.add(at.pv(word)));
                            state.mv.store(lanes.add(at.mv(word)));
                            steps[v] = top;
                        }
                    }
                    if !is_global {
                        for v in 0..VECTORS {
                            up[v] = up[v].shift_in(steps[v].hp);
                            down[v] = down[v].shift_in(steps[v].hn);
                        }
                    }
                }
                c = until;
                for (lane, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.text.len() == before + c) {
                    if is_global {
                        let word = |index: usize| *buffer.add(index + lane);
                        let m = pair.pattern.len();
                        rows[lane].found = (0..words).fold(
                            Found { distance: pair.text.len() as u32, end: pair.text.len() as u32 },
                            |found, k| {
                                let own = below(m, k);
                                let (pv, mv) = (word(at.pv(k)) & own, word(at.mv(k)) & own);
                                Found { distance: found.distance + pv.count_ones() - mv.count_ones(), ..found }
                            },
                        );
                    }
                }
            }
            if !is_global {
                let (mut ups, mut downs) = ([0; MAX_PAIRS], [0; MAX_PAIRS]);
                for v in 0..VECTORS {
                    up[v].store(ups.as_mut_ptr().add(v * V::COUNT));
                    down[v].store(downs.as_mut_ptr().add(v * V::COUNT));
                }
                for (lane, pair) in pairs.iter().enumerate() {
                    let own = columns.min(pair.text.len().saturating_sub(before));
                    if own > 0 {
                        // The first column's bit came in first.
                        let ordered = |bits: u64| (bits >> (columns - own) << (BITS - own)).reverse_bits();
                        rows[lane].advance(ordered(ups[lane]), ordered(downs[lane]), before as u32, own);
                    }
                }
            }
        }
    }
    for (found, row) in found.iter_mut().zip(rows) {
        *found = row.found;
    }
}
