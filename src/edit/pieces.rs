//! Exact filter for a pattern in long texts: pieces that occur with few edits.
//!
//! If a pattern is cut into k + 1 pieces, k edits leave at least one piece unchanged (Wu and Manber
//! 1992). If it is cut into k / 2 + 1 pieces, rounded down, at least one has at most one edit. Only
//! the surroundings of such occurrences of pieces can contain a part with at most k edits.
//! [`PieceFilter::windows`] returns these surroundings, and kernels compute their distances. The
//! expected cost decides whether unchanged pieces are sought, which are short and few, or longer
//! ones with an edit, which have many variants.
//!
//! A variant of a piece of L symbols has at least L - 1 symbols, or L without edits. An occurrence
//! of n symbols contains n - q + 1 consecutive q-grams. So it suffices to look up every
//! (n - q + 1)-th q-gram of the text, for the least n, in a table of the q-grams of all variants.
//! Texts are stored with two bits per symbol for this purpose. Codes other than A, C, G and T are
//! not compared: pieces contain none, and the surroundings of such codes in texts are always
//! windows.

mod index;
mod packed;
mod recent;

pub(super) use index::consecutive_ranges;
pub use index::{FoundWindow, PieceIndex, PieceIndexPlan};
pub(super) use packed::PackedText;
pub use packed::PackedTexts;
pub use recent::RecentFilters;

use std::ops::Range;

use crate::score::{EditMode, EditScheme, Equality, Limit};
use crate::seq::{Alphabet, Code, SequenceId};

/// Maximum number of symbols of a piece that are compared at once. A u64 that is read at any symbol
/// contains as many.
const MAX_COMPARED: usize = 29;
/// Maximum number of symbols of an unchanged piece. Longer pieces have more q-grams and save few
/// lookups.
const MAX_PIECE: usize = 64;
/// Maximum number of symbols of a piece with an edit. An inserted symbol is also compared.
const MAX_EDITED_PIECE: usize = MAX_COMPARED - 1;
/// Range of the number of symbols of a q-gram.
const MIN_GRAM: usize = 4;
const MAX_GRAM: usize = 10;
/// The table of q-grams has at most one entry for this number of possible q-grams.
const GRAMS_PER_ENTRY: usize = 8;

/// Approximate costs in clock cycles: a lookup of a q-gram, a comparison after a successful lookup,
/// a window, 64 rows of a column in a kernel, and an entry of the table.
const LOOKUP_COST: f64 = 2.5;
const COMPARE_COST: f64 = 40.0;
const WINDOW_COST: f64 = 250.0;
const COLUMN_COST: f64 = 2.0;
const ENTRY_COST: f64 = 100.0;

/// The pieces of one pattern.
#[derive(Debug)]
pub struct PieceFilter {
    /// Number of symbols of the pattern.
    pattern_symbols: usize,
    /// Maximum number of edits.
    limit: usize,
    /// Number of symbols of a q-gram.
    gram: usize,
    /// Distance of q-grams in the text that are looked up.
    step: usize,
    /// One bit for each possible q-gram: whether there is an entry.
    is_present: Vec<u64>,
    /// Entries sorted by q-gram.
    entries: Vec<PieceEntry>,
    /// Index of the first entry whose q-gram has these highest bits.
    starts: Vec<u32>,
    /// Number of bits of a q-gram that `starts` ignores.
    ignored_bits: u32,
}

/// A q-gram of a variant of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PieceEntry {
    /// The q-gram, two bits per symbol, the first symbol in the lowest bits.
    gram: u32,
    /// Number of symbols of the pattern before the piece.
    piece_start: u32,
    /// Number of symbols of the variant before the q-gram.
    offset: u32,
    /// The first symbols of the variant.
    symbols: u64,
    /// Number of these symbols.
    compared: u32,
}

/// The number and length of the pieces and q-grams.
#[derive(Debug, Clone, Copy)]
struct PieceShape {
    /// Number of pieces.
    pieces: usize,
    /// Number of symbols of a piece.
    symbols: usize,
    /// Maximum number of edits in a piece: 0 or 1.
    edits: usize,
    /// Number of symbols of a q-gram.
    gram: usize,
    /// Distance of q-grams in the text that are looked up. At most the number of q-grams in a
    /// variant with the least number of symbols.
    step: usize,
}

/// Bases with two bits per symbol, the first in the lowest bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PackedBases {
    bits: u128,
    length: usize,
}

impl PieceFilter {
    /// Returns whether the filter supports a scheme. Then A, C, G and T must equal only themselves
    /// among these four.
    pub fn supports(scheme: &EditScheme) -> bool {
        let is_limited = matches!(scheme.limit, Limit::Distance(_) | Limit::Rate(_));
        scheme.mode == EditMode::Infix && is_limited && has_distinct_bases(&scheme.equality)
    }

    /// Creates the filter for a pattern and a maximum number of edits. Returns `None` if comparing
    /// the pattern with the whole text of `text_symbols` is expected to be faster.
    pub fn new(pattern: &[Code], limit: u32, text_symbols: u64) -> Option<PieceFilter> {
        let limit = limit as usize;
        if limit >= pattern.len() {
            return None;
        }
        let cost = |shape: &PieceShape| shape.cost(pattern.len(), limit, text_symbols);
        let shapes = PieceShape::all(&base_runs(pattern), pattern.len(), limit).into_iter();
        let shape = shapes.filter(|shape| shape.is_sparse()).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
        let words = pattern.len().div_ceil(64) as f64;
        (cost(&shape) < COLUMN_COST * words).then(|| Self::with_shape(pattern, limit, shape))
    }

    /// Creates the filter for pieces of this shape.
    fn with_shape(pattern: &[Code], limit: usize, shape: PieceShape) -> PieceFilter {
        let PieceShape { gram, symbols, step, .. } = shape;
        let mut entries = Vec::new();
        for start in shape.starts(&base_runs(pattern)) {
            let piece = PackedBases::new(&pattern[start..start + symbols]);
            for variant in piece.variants(shape.edits) {
                let compared = variant.length.min(MAX_COMPARED);
                let symbols = variant.range(0, compared) as u64;
                entries.extend((0..step).map(|offset| PieceEntry {
                    gram: variant.range(offset, gram) as u32,
                    piece_start: start as u32,
                    offset: offset as u32,
                    symbols,
                    compared: compared as u32,
                }));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let mut is_present = vec![0u64; (1 << (2 * gram)) / 64];
        let ignored_bits = (2 * gram as u32).saturating_sub(8.max(entries.len().ilog2() + 2));
        let mut starts = vec![0u32; (1 << (2 * gram as u32 - ignored_bits)) + 1];
        for entry in &entries {
            is_present[entry.gram as usize / 64] |= 1 << (entry.gram % 64);
            starts[(entry.gram >> ignored_bits) as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        PieceFilter { pattern_symbols: pattern.len(), limit, gram, step, is_present, entries, starts, ignored_bits }
    }

    /// Returns the windows of a range of a text: disjoint ranges in increasing order. Each part of
    /// the range within the limit is in a window.
    pub fn windows(&self, texts: &PackedTexts, text: SequenceId, part: Range<usize>) -> Vec<Range<usize>> {
        let packed = texts.text(text);
        let mut windows = Vec::new();
        let reach = self.pattern_symbols + self.limit;
        for run in packed.ambiguous(part.clone()) {
            windows.push(run.start.saturating_sub(reach).max(part.start)..(run.end + reach).min(part.end));
        }
        self.look_up(packed, &part, &mut windows);
        windows.sort_unstable_by_key(|window| window.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(windows.len());
        for window in windows {
            match merged.last_mut() {
                Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
                _ => merged.push(window),
            }
        }
        merged
    }

    /// Appends the windows around the pieces that occur in a part of a text.
    fn look_up(&self, packed: &PackedText, part: &Range<usize>, windows: &mut Vec<Range<usize>>) {
        let mask = (1u64 << (2 * self.gram)) - 1;
        let Some(last) = part.len().checked_sub(self.gram).map(|before| part.start + before) else { return };
        let mut position = part.start;
        while position <= last {
            let gram = packed.read(position) & mask;
            if self.is_present[(gram / 64) as usize] >> (gram % 64) & 1 != 0 {
                self.compare(packed, part, position, gram as u32, windows);
            }
            position += self.step;
        }
    }

    /// Compares the pieces that contain a q-gram with the text around its position.
    #[inline(never)]
    fn compare(
        &self,
        packed: &PackedText,
        part: &Range<usize>,
        position: usize,
        gram: u32,
        windows: &mut Vec<Range<usize>>,
    ) {
        let bucket = (gram >> self.ignored_bits) as usize;
        for entry in &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize] {
            let start = position.wrapping_sub(entry.offset as usize);
            let compared = entry.compared as usize;
            let mask = (1u64 << (2 * compared)) - 1;
            let fits = entry.gram == gram && position >= part.start + entry.offset as usize;
            if !fits || start + compared > part.end || packed.read(start) & mask != entry.symbols {
                continue;
            }
            let before = entry.piece_start as usize + self.limit;
            let after = self.pattern_symbols - entry.piece_start as usize + self.limit;
            let window = start.saturating_sub(before).max(part.start)..(start + after).min(part.end);
            match windows.last_mut() {
                Some(last) if window.start <= last.end && last.start <= window.end => {
                    *last = last.start.min(window.start)..last.end.max(window.end);
                }
                _ => windows.push(window),
            }
        }
    }
}

impl PieceShape {
    /// Returns the shapes that a pattern with these runs of bases admits.
    fn all(runs: &[Range<usize>], pattern_symbols: usize, limit: usize) -> Vec<PieceShape> {
        Self::of_lengths(piece_lengths(runs, pattern_symbols, limit), limit)
    }

    /// Returns the shapes of pieces with these numbers of symbols, without and with an edit.
    fn of_lengths(lengths: [usize; 2], limit: usize) -> Vec<PieceShape> {
        let mut shapes = Vec::new();
        for (edits, symbols) in lengths.into_iter().enumerate() {
            let pieces = limit / (edits + 1) + 1;
            let grams = MIN_GRAM..=MAX_GRAM.min(symbols.saturating_sub(edits));
            let step = |gram: usize| symbols - edits - gram + 1;
            shapes.extend(grams.map(|gram| PieceShape { pieces, symbols, edits, gram, step: step(gram) }));
        }
        shapes
    }

    /// Returns whether most q-grams of a random text are not in the table.
    fn is_sparse(self) -> bool {
        self.distinct_grams() * GRAMS_PER_ENTRY <= 1 << (2 * self.gram)
    }

    /// Returns the number of symbols of a pattern before each piece.
    fn starts(self, runs: &[Range<usize>]) -> Vec<usize> {
        let of_run = |run: &Range<usize>| (run.start..=run.end - self.symbols).step_by(self.symbols);
        let fitting = runs.iter().filter(|run| run.len() >= self.symbols);
        fitting.flat_map(of_run).take(self.pieces).collect()
    }

    /// Returns the maximum number of variants of `symbols` symbols.
    fn variants(self, symbols: usize) -> usize {
        if self.edits == 0 { 1 } else { 8 * symbols }
    }

    /// Returns the maximum number of different q-grams in the table.
    fn distinct_grams(self) -> usize {
        self.pieces * self.step * self.variants(self.gram)
    }

    /// Returns the number of entries of the table. Some may be equal.
    fn entries(self) -> usize {
        self.pieces * self.step * self.variants(self.symbols)
    }

    /// Returns the expected cost for each symbol of a text of random bases, in clock cycles.
    fn cost(self, pattern_symbols: usize, limit: usize, text_symbols: u64) -> f64 {
        LOOKUP_COST / self.step as f64 + self.cost_of_hits(pattern_symbols, limit, text_symbols)
    }

    /// Returns the part of [`PieceShape::cost`] that grows with the number of patterns if they share
    /// a table: comparisons, windows and entries.
    fn cost_of_hits(self, pattern_symbols: usize, limit: usize, text_symbols: u64) -> f64 {
        let words = pattern_symbols.div_ceil(64) as f64;
        let chance = |symbols: usize| 0.25f64.powi(symbols as i32);
        let window = WINDOW_COST + (pattern_symbols + 2 * limit) as f64 * words * COLUMN_COST;
        let occurrences =
            (self.pieces * self.variants(self.symbols - 1)) as f64 * chance(self.symbols.min(MAX_COMPARED));
        self.distinct_grams() as f64 * chance(self.gram) * COMPARE_COST
            + occurrences * window
            + self.entries() as f64 * ENTRY_COST / text_symbols.max(1) as f64
    }
}

impl PackedBases {
    /// Packs A, C, G and T, at most 64.
    fn new(codes: &[Code]) -> PackedBases {
        let bits = codes.iter().rev().fold(0, |bits, code| bits << 2 | u128::from(code.trailing_zeros()));
        PackedBases { bits, length: codes.len() }
    }

    /// Returns the bits of some symbols.
    fn range(self, start: usize, length: usize) -> u128 {
        self.bits >> (2 * start) & (u128::MAX >> (128 - 2 * length))
    }

    /// Returns the sequences that occur wherever this one occurs with at most this number of edits,
    /// 0 or 1. A sequence without its first or last symbol occurs wherever it occurs unchanged, or
    /// with an edit at this end.
    fn variants(self, edits: usize) -> Vec<PackedBases> {
        if edits == 0 {
            return vec![self];
        }
        let PackedBases { bits, length } = self;
        let before = |symbols: usize| bits & !(u128::MAX << (2 * symbols));
        let deleted = (0..length).map(|at| before(at) | bits >> (2 * at + 2) << (2 * at));
        let mut variants: Vec<_> = deleted.map(|bits| PackedBases { bits, length: length - 1 }).collect();
        for at in 1..length - 1 {
            variants.extend((1..4).map(|change| PackedBases { bits: bits ^ change << (2 * at), length }));
        }
        for at in 1..length {
            let inserted = |base: u128| before(at) | base << (2 * at) | bits >> (2 * at) << (2 * at + 2);
            variants.extend((0..4).map(|base| PackedBases { bits: inserted(base), length: length + 1 }));
        }
        variants
    }
}

/// Returns whether each of A, C, G and T equals only itself among these four.
fn has_distinct_bases(equality: &Equality) -> bool {
    let bases = || (0..4).map(|bit| 1 << bit);
    equality.alphabet() == Alphabet::Dna && bases().all(|a| bases().all(|b| equality.is_match(a, b) == (a == b)))
}

/// Returns the longest ranges of A, C, G and T.
fn base_runs(pattern: &[Code]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for run in pattern.chunk_by(|a, b| a.is_power_of_two() == b.is_power_of_two()) {
        if run[0].is_power_of_two() {
            runs.push(start..start + run.len());
        }
        start += run.len();
    }
    runs
}

/// Returns the greatest lengths of pieces without and with an edit.
fn piece_lengths(runs: &[Range<usize>], pattern_symbols: usize, limit: usize) -> [usize; 2] {
    let length = |edits: usize, most| piece_length(runs, pattern_symbols, limit / (edits + 1) + 1).min(most);
    [length(0, MAX_PIECE), length(1, MAX_EDITED_PIECE)]
}

/// Returns the greatest length of `pieces` disjoint pieces that consist of A, C, G and T.
fn piece_length(runs: &[Range<usize>], symbols: usize, pieces: usize) -> usize {
    let fits = |length: usize| runs.iter().map(|run| run.len() / length).sum::<usize>() >= pieces;
    // The number of pieces does not increase with their length.
    let (mut fitting, mut longer) = (0, symbols / pieces + 1);
    while longer - fitting > 1 {
        let middle = (fitting + longer) / 2;
        if fits(middle) { fitting = middle } else { longer = middle }
    }
    fitting
}

#[cfg(test)]
mod tests;
