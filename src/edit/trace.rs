//! Alignments of patterns with the parts of texts where they were found (Levenshtein distance).
//!
//! The canonical alignment of a pattern and its best part does not depend on the engine:
//!
//! 1. The part ends at the first end with the least distance. The empty part ends before all others
//!    ([`EditDistance::first_end`]).
//! 2. In infix mode, it is the longest part with that end and distance, so it has the least start,
//!    as in edlib. The alignment therefore does not start with an insertion where a mismatch is
//!    possible. In the other modes, the part starts where the text starts.
//! 3. The rule of [`crate::trace`], with [`Equality::scoring`], aligns pattern and part. Among all
//!    alignments with this distance, it chooses one with the most matches.
//!
//! The start is found by a search in reverse: it is the last end of the reversed pattern in the
//! reversed text before the end. A part with d edits has at most m + d symbols, so only this much
//! of the text is read.
//!
//! Bit vectors of vertical differences give the distances to all ends, with 64 rows per u64 (Myers
//! 1999, Hyyrö 2003).

use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::score::{EditDistance, EditMode, EditScheme, Equality, Scoring};
use crate::seq::Code;
use crate::trace::{Hint, TracebackWorkspace, traceback};

/// Scratch memory of a thread, reused for all pairs.
#[derive(Debug, Default)]
pub struct EditWorkspace {
    bits: PatternBits,
    trace: TracebackWorkspace,
}

/// Aligns patterns according to a scheme.
#[derive(Debug)]
pub struct EditTracer<'a> {
    scheme: &'a EditScheme,
    scoring: Scoring,
}

impl<'a> EditTracer<'a> {
    /// Creates a tracer for a scheme.
    pub fn new(scheme: &'a EditScheme) -> Self {
        EditTracer { scheme, scoring: scheme.equality.scoring() }
    }

    /// Returns the scores that represent edits.
    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// Returns the canonical alignment of a pattern that was found in a text: the number of text
    /// symbols before the alignment, and the alignment's columns.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the traceback finds another distance. One of the two
    /// distances is then wrong.
    pub fn align(
        &self,
        pattern: &[Code],
        text: &[Code],
        result: EditDistance,
        workspace: &mut EditWorkspace,
    ) -> Result<(u32, Cigar)> {
        let text = text.get(..result.end as usize).ok_or_else(|| {
            Error::Internal(format!("the reported end {} is behind the text of {} symbols", result.end, text.len()))
        })?;
        let start = match self.scheme.mode {
            EditMode::Infix => start(pattern, text, result.distance, &self.scheme.equality, &mut workspace.bits)?,
            EditMode::Global | EditMode::Prefix => 0,
            EditMode::Overlap(_) => {
                return Err(Error::Internal("overlaps have no position, so they cannot be aligned".into()));
            }
        };
        Ok((start as u32, self.align_whole(pattern, &text[start..], result.distance, workspace)?))
    }

    /// Aligns a pattern with a whole part. Returns the alignment's columns.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the least distance is another one.
    pub fn align_whole(
        &self,
        pattern: &[Code],
        part: &[Code],
        distance: u32,
        workspace: &mut EditWorkspace,
    ) -> Result<Cigar> {
        let hint = Hint { score: Some(-i64::from(distance)), matches: None };
        Ok(traceback(pattern, part, &self.scoring, hint, &mut workspace.trace)?.cigar)
    }

    /// Aligns a pattern with the longest part that has this distance and starts where the text
    /// starts. `distance` must be the least distance of all such parts. Returns the number of
    /// symbols of the part, and the alignment's columns.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the least distance is another one.
    pub fn align_from_start(
        &self,
        pattern: &[Code],
        text: &[Code],
        distance: u32,
        workspace: &mut EditWorkspace,
    ) -> Result<(u32, Cigar)> {
        let text = &text[..text.len().min(pattern.len() + distance as usize)];
        let reversed = |codes: &[Code]| codes.iter().rev().copied().collect::<Vec<Code>>();
        let (reversed_pattern, reversed_text) = (reversed(pattern), reversed(text));
        let bits = &mut workspace.bits;
        let before = start(&reversed_pattern, &reversed_text, distance, &self.scheme.equality, bits)?;
        let part = &text[..text.len() - before];
        Ok((part.len() as u32, self.align_whole(pattern, part, distance, workspace)?))
    }

    /// Returns every end within a limit with its distance, in increasing order of ends. The first
    /// end belongs to the empty part.
    pub fn ends(&self, pattern: &[Code], text: &[Code], limit: u32, workspace: &mut EditWorkspace) -> Vec<(u32, u32)> {
        let m = pattern.len() as u32;
        let mut ends = if m <= limit { vec![(0, m)] } else { Vec::new() };
        if pattern.is_empty() || text.is_empty() {
            return ends;
        }
        let step = u32::from(self.scheme.mode != EditMode::Infix);
        workspace.bits.set(pattern.iter().copied());
        workspace.bits.last_row(text.iter().copied(), &self.scheme.equality, step, |end, distance| {
            if distance <= limit {
                ends.push((end, distance));
            }
        });
        ends
    }
}

/// Returns the least start of a part that ends with the text and has this distance. `distance` must
/// be the least distance of all parts with that end.
fn start(pattern: &[Code], text: &[Code], distance: u32, equality: &Equality, bits: &mut PatternBits) -> Result<usize> {
    if pattern.is_empty() {
        return Ok(text.len());
    }
    let window = &text[text.len().saturating_sub(pattern.len() + distance as usize)..];
    let all = pattern.len() as u32;
    let (mut longest, mut least) = ((all == distance).then_some(0), all);
    bits.set(pattern.iter().rev().copied());
    bits.last_row(window.iter().rev().copied(), equality, 1, |symbols, edits| {
        least = least.min(edits);
        longest = (edits == distance).then_some(symbols).or(longest);
    });
    match longest {
        Some(symbols) if least == distance => Ok(text.len() - symbols as usize),
        _ => Err(Error::Internal(format!("the traceback found distance {least}, but the engine reported {distance}"))),
    }
}

/// A pattern as bit vectors, and the current column of a sweep.
#[derive(Debug, Default)]
struct PatternBits {
    rows: usize,
    words: usize,
    /// Codes of the pattern, and the rows of each.
    pattern_codes: CodeBits,
    /// Codes of the text seen so far, and the rows that match each.
    text_codes: CodeBits,
    /// Vertical differences of +1 and of -1.
    column: Vec<(u64, u64)>,
}

/// One bit vector for each code.
#[derive(Debug)]
struct CodeBits {
    codes: Vec<Code>,
    /// Index of each code in `codes`.
    index_of_code: [u16; 256],
    bits: Vec<u64>,
}

impl Default for CodeBits {
    fn default() -> Self {
        CodeBits { codes: Vec::new(), index_of_code: [u16::MAX; 256], bits: Vec::new() }
    }
}

impl CodeBits {
    fn clear(&mut self) {
        self.codes.drain(..).for_each(|code| self.index_of_code[code as usize] = u16::MAX);
        self.bits.clear();
    }

    /// Returns the index of a code, and whether it is new.
    #[inline]
    fn index(&mut self, code: Code, words: usize) -> (usize, bool) {
        let index = &mut self.index_of_code[code as usize];
        if *index != u16::MAX {
            return (*index as usize, false);
        }
        *index = self.codes.len() as u16;
        self.codes.push(code);
        self.bits.resize(self.codes.len() * words, 0);
        (*index as usize, true)
    }
}

impl PatternBits {
    /// Sets the pattern, which must not be empty.
    fn set(&mut self, pattern: impl ExactSizeIterator<Item = Code>) {
        self.rows = pattern.len();
        self.words = self.rows.div_ceil(64);
        self.pattern_codes.clear();
        self.text_codes.clear();
        for (row, code) in pattern.enumerate() {
            let (index, _) = self.pattern_codes.index(code, self.words);
            self.pattern_codes.bits[index * self.words + row / 64] |= 1 << (row % 64);
        }
    }

    /// Returns the index of the first word of the rows that match a code of the text.
    #[inline]
    fn rows_of(&mut self, symbol: Code, equality: &Equality) -> usize {
        let (index, is_new) = self.text_codes.index(symbol, self.words);
        if is_new {
            let rows = &mut self.text_codes.bits[index * self.words..];
            let rows_by_code = self.pattern_codes.codes.iter().zip(self.pattern_codes.bits.chunks_exact(self.words));
            for (_, matching_rows) in rows_by_code.filter(|(code, _)| equality.is_match(**code, symbol)) {
                rows.iter_mut().zip(matching_rows).for_each(|(row, matching)| *row |= matching);
            }
        }
        index * self.words
    }

    /// Sweeps over a text. Calls `visit` with each number of symbols from 1 on and the distance of
    /// the whole pattern at that position. `step` is the increase of the first row per symbol: 0 if
    /// a part may start anywhere, otherwise 1.
    fn last_row(
        &mut self,
        text: impl Iterator<Item = Code>,
        equality: &Equality,
        step: u32,
        mut visit: impl FnMut(u32, u32),
    ) {
        let (last_word, last_bit) = (self.words - 1, (self.rows - 1) % 64);
        let mut distance = self.rows as u32;
        self.column.clear();
        self.column.resize(self.words, (u64::MAX, 0));
        for (symbols, symbol) in (1..).zip(text) {
            let first = self.rows_of(symbol, equality);
            let equal = &self.text_codes.bits[first..][..self.words];
            // Horizontal differences from the word above: +1 and -1.
            let (mut plus_in, mut minus_in) = (u64::from(step), 0u64);
            for (word, ((plus, minus), &equal)) in self.column.iter_mut().zip(equal).enumerate() {
                let vertical = equal | *minus;
                let equal = equal | minus_in;
                let diagonal = (((equal & *plus).wrapping_add(*plus)) ^ *plus) | equal;
                let (up, down) = (*minus | !(diagonal | *plus), *plus & diagonal);
                let bit = if word == last_word { last_bit } else { 63 };
                let (plus_out, minus_out) = (up >> bit & 1, down >> bit & 1);
                let (up, down) = (up << 1 | plus_in, down << 1 | minus_in);
                *plus = down | !(vertical | up);
                *minus = up & vertical;
                (plus_in, minus_in) = (plus_out, minus_out);
            }
            distance = distance + plus_in as u32 - minus_in as u32;
            visit(symbols, distance);
        }
    }
}

#[cfg(test)]
mod tests;
