//! Exact filter for a pattern in long texts: pieces that occur without edits.
//!
//! If a pattern is cut into k + 1 pieces, k edits leave at least one piece unchanged (Wu and Manber
//! 1992). Only the surroundings of exact occurrences of pieces can contain a part with at most k
//! edits. [`PieceFilter::windows`] returns these surroundings, and kernels compute their distances.
//!
//! An occurrence of a piece of L symbols contains L - q + 1 consecutive q-grams. So it suffices to
//! look up every (L - q + 1)-th q-gram of the text in a table of the q-grams of all pieces. Texts
//! are stored with two bits per symbol for this purpose. Codes other than A, C, G and T are not
//! compared: pieces contain none, and the surroundings of such codes in texts are always windows.

mod packed;

pub use packed::PackedTexts;

use std::ops::Range;

use self::packed::PackedText;
use crate::score::{EditMode, EditScheme, Equality, Limit};
use crate::seq::{Alphabet, Code, SequenceId};

/// Maximum number of symbols of a piece that are compared at once: what a u64 read at any symbol
/// contains.
const MAX_COMPARED: usize = 29;
/// Maximum number of symbols of a piece. Longer pieces have more q-grams and save few lookups.
const MAX_PIECE: usize = 64;
/// Range of the number of symbols of a q-gram.
const MIN_GRAM: usize = 4;
const MAX_GRAM: usize = 10;
/// The table of q-grams has at most one entry for this number of possible q-grams.
const GRAMS_PER_ENTRY: usize = 8;

/// Approximate costs in clock cycles: a lookup of a q-gram, a comparison after a successful lookup,
/// a window, and 64 rows of a column in a kernel.
const LOOKUP_COST: f64 = 2.5;
const COMPARE_COST: f64 = 40.0;
const WINDOW_COST: f64 = 250.0;
const COLUMN_COST: f64 = 2.0;

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
    /// Number of compared symbols of a piece.
    compared: usize,
    /// One bit for each possible q-gram: whether there is an entry.
    is_present: Vec<u64>,
    /// Entries sorted by q-gram.
    entries: Vec<PieceEntry>,
    /// Index of the first entry whose q-gram has these highest bits.
    starts: Vec<u32>,
    /// Number of bits of a q-gram that `starts` ignores.
    ignored_bits: u32,
}

/// A q-gram of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PieceEntry {
    /// The q-gram, two bits per symbol, the first symbol in the lowest bits.
    gram: u32,
    /// Number of symbols of the pattern before the piece.
    piece_start: u32,
    /// Number of symbols of the piece before the q-gram.
    offset: u32,
    /// The compared symbols of the piece.
    symbols: u64,
}

impl PieceFilter {
    /// Returns whether the filter supports a scheme. Then A, C, G and T must equal only themselves
    /// among these four.
    pub fn supports(scheme: &EditScheme) -> bool {
        let is_limited = matches!(scheme.limit, Limit::Distance(_) | Limit::Rate(_));
        scheme.mode == EditMode::Infix && is_limited && has_distinct_bases(&scheme.equality)
    }

    /// Creates the filter for a pattern and a maximum number of edits. Returns `None` if comparing
    /// the pattern with the whole text is expected to be faster.
    pub fn new(pattern: &[Code], limit: u32) -> Option<PieceFilter> {
        let limit = limit as usize;
        if limit >= pattern.len() {
            return None;
        }
        let runs = base_runs(pattern);
        let piece = piece_length(&runs, pattern.len(), limit + 1)?.min(MAX_PIECE);
        let gram = cheapest_gram(pattern.len(), limit, piece)?;
        let starts = runs.iter().flat_map(|run| (run.start..run.end + 1 - piece.min(run.len() + 1)).step_by(piece));
        Some(Self::with(pattern, limit, starts.take(limit + 1).collect(), piece, gram))
    }

    /// Creates the filter for pieces with these starts, and of this length.
    fn with(pattern: &[Code], limit: usize, piece_starts: Vec<usize>, piece: usize, gram: usize) -> PieceFilter {
        let (step, compared) = (piece - gram + 1, piece.min(MAX_COMPARED));
        let mut entries = Vec::with_capacity(piece_starts.len() * step);
        for start in piece_starts {
            let number = |codes: &[Code]| {
                codes.iter().rev().fold(0u64, |number, code| number << 2 | u64::from(code.trailing_zeros()))
            };
            let symbols = number(&pattern[start..start + compared]);
            for offset in 0..step {
                let gram = number(&pattern[start + offset..start + offset + gram]) as u32;
                entries.push(PieceEntry { gram, piece_start: start as u32, offset: offset as u32, symbols });
            }
        }
        entries.sort_unstable();
        let mut is_present = vec![0u64; (1 << (2 * gram)) / 64];
        let ignored_bits = (2 * gram as u32).saturating_sub(8);
        let mut starts = vec![0u32; (1 << (2 * gram as u32 - ignored_bits)) + 1];
        for entry in &entries {
            is_present[entry.gram as usize / 64] |= 1 << (entry.gram % 64);
            starts[(entry.gram >> ignored_bits) as usize + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let pattern_symbols = pattern.len();
        PieceFilter { pattern_symbols, limit, gram, step, compared, is_present, entries, starts, ignored_bits }
    }

    /// Returns the windows of a range of a text: disjoint ranges in increasing order. Every part of
    /// the range with at most the limit's edits is in one of them.
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
        let mask = (1u64 << (2 * self.compared)) - 1;
        for entry in &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize] {
            let start = position.wrapping_sub(entry.offset as usize);
            let fits = entry.gram == gram && position >= part.start + entry.offset as usize;
            if !fits || start + self.compared > part.end || packed.read(start) & mask != entry.symbols {
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

/// Returns the greatest length of `pieces` disjoint pieces that consist of A, C, G and T.
fn piece_length(runs: &[Range<usize>], symbols: usize, pieces: usize) -> Option<usize> {
    let fits = |length: usize| runs.iter().map(|run| run.len() / length).sum::<usize>() >= pieces;
    // The number of pieces does not increase with their length.
    let (mut fitting, mut longer) = (0, symbols / pieces + 1);
    while longer - fitting > 1 {
        let middle = (fitting + longer) / 2;
        if fits(middle) { fitting = middle } else { longer = middle }
    }
    (fitting >= MIN_GRAM).then_some(fitting)
}

/// Returns the length of q-grams with the least expected cost for texts of random bases. Returns
/// `None` if a kernel that compares the whole text is expected to be faster.
fn cheapest_gram(symbols: usize, limit: usize, piece: usize) -> Option<usize> {
    let words = symbols.div_ceil(64) as f64;
    let chance = |symbols: usize| 0.25f64.powi(symbols as i32);
    let pieces = (limit + 1) as f64;
    let window = WINDOW_COST + (symbols + 2 * limit) as f64 * words * COLUMN_COST;
    let verification = pieces * chance(piece.min(MAX_COMPARED)) * window;
    let cost =
        |gram: usize| LOOKUP_COST / (piece - gram + 1) as f64 + pieces * chance(gram) * COMPARE_COST + verification;
    let is_sparse = |gram: usize| (limit + 1) * (piece - gram + 1) * GRAMS_PER_ENTRY <= 1 << (2 * gram);
    let grams = (MIN_GRAM..=MAX_GRAM.min(piece)).filter(|&gram| is_sparse(gram));
    let gram = grams.min_by(|&a, &b| cost(a).total_cmp(&cost(b)))?;
    (cost(gram) < COLUMN_COST * words).then_some(gram)
}

#[cfg(test)]
mod tests;
