//! Alignments of patterns with the parts of texts where they were found (Levenshtein distance).
//!
//! The canonical alignment of a pattern and its best part, whoever found that:
//!
//! 1. The part ends at the first end of least distance. The empty part ends before all others ([`EditDistance::first_end`]).
//! 2. In infix mode it is the longest part that ends there and has that distance: it has the least start, as in edlib, so
//!    that the alignment does not begin with an insertion where it can begin with a mismatch. Else it begins where the text
//!    does.
//! 3. Pattern and part are aligned by the rule of [`crate::trace`], with [`Equality::scoring`]: among all alignments
//!    with this distance it has the most matches.
//!
//! The start is found from behind: it is the last end of the reversed pattern in the reversed text before the end.
//! With d edits no part has more than m + d symbols, so no more of the text is looked at.
//!
//! Distances to all ends are computed by bit vectors of vertical differences, 64 rows a word (Myers 1999, Hyyrö 2003).

use crate::alignment::Cigar;
use crate::error::{Error, Result};
use crate::score::{EditDistance, EditMode, EditScheme, Equality, Scoring};
use crate::seq::Code;
use crate::trace::{Hint, TracebackWorkspace, traceback};

/// Buffers that are used again and again; one for each thread.
#[derive(Debug, Default)]
pub struct EditWorkspace {
    bits: Bits,
    trace: TracebackWorkspace,
}

/// How patterns are aligned.
#[derive(Debug)]
pub struct EditTracer<'a> {
    scheme: &'a EditScheme,
    scoring: Scoring,
}

impl<'a> EditTracer<'a> {
    /// Aligns as this scheme says.
    pub fn new(scheme: &'a EditScheme) -> Self {
        EditTracer { scheme, scoring: scheme.equality.scoring() }
    }

    /// The scores that stand for edits.
    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// The canonical alignment of a pattern that was found in a text: text symbols before it, and its columns.
    ///
    /// # Errors
    /// [`Error::Internal`] if the distance is not what the traceback finds: one of the two was computed wrongly.
    pub fn align(
        &self,
        pattern: &[Code],
        text: &[Code],
        found: EditDistance,
        workspace: &mut EditWorkspace,
    ) -> Result<(u32, Cigar)> {
        let text = text
            .get(..found.end as usize)
            .ok_or_else(|| Error::Internal(format!("an end after {} of {} symbols", found.end, text.len())))?;
        let start = match self.scheme.mode {
            EditMode::Infix => start(pattern, text, found.distance, &self.scheme.equality, &mut workspace.bits)?,
            EditMode::Global | EditMode::Prefix => 0,
            EditMode::Overlap(_) => return Err(Error::Internal("an overlap does not tell where it is".into())),
        };
        let hint = Hint { score: Some(-i64::from(found.distance)), matches: None };
        let alignment = traceback(pattern, &text[start..], &self.scoring, hint, &mut workspace.trace)?;
        Ok((start as u32, alignment.cigar))
    }

    /// Returns every end within a limit with its distance, by rising end. The first belongs to the empty part.
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

/// The least start of a part that ends with the text and has this distance, which has to be the least of all that
/// end there.
fn start(pattern: &[Code], text: &[Code], distance: u32, equality: &Equality, bits: &mut Bits) -> Result<usize> {
    if pattern.is_empty() {
        return Ok(text.len());
    }
    let window = &text[text.len().saturating_sub(pattern.len() + distance as usize)..];
    let all = pattern.len() as u32;
    let (mut longest, mut least) = ((all == distance).then_some(0), all);
    bits.set(pattern.iter().rev().copied());
    bits.last_row(window.iter().rev().copied(), equality, 1, |symbols, found| {
        least = least.min(found);
        longest = (found == distance).then_some(symbols).or(longest);
    });
    match longest {
        Some(symbols) if least == distance => Ok(text.len() - symbols as usize),
        _ => Err(Error::Internal(format!("the traceback found distance {least}, the engine {distance}"))),
    }
}

/// A pattern as bit vectors, and the columns of a sweep.
#[derive(Debug, Default)]
struct Bits {
    rows: usize,
    words: usize,
    /// The codes that the pattern has, and the rows of each.
    own: Table,
    /// Codes of the text, and the rows that each equals; those seen so far.
    equal: Table,
    /// Vertical differences of +1 and of -1.
    column: Vec<(u64, u64)>,
}

/// Words of bits for some codes.
#[derive(Debug)]
struct Table {
    codes: Vec<Code>,
    /// Place of each code in `codes`.
    places: [u16; 256],
    bits: Vec<u64>,
}

impl Default for Table {
    fn default() -> Self {
        Table { codes: Vec::new(), places: [u16::MAX; 256], bits: Vec::new() }
    }
}

impl Table {
    fn clear(&mut self) {
        self.codes.drain(..).for_each(|code| self.places[code as usize] = u16::MAX);
        self.bits.clear();
    }

    /// Place of a code, and whether it is new.
    #[inline]
    fn place(&mut self, code: Code, words: usize) -> (usize, bool) {
        let place = &mut self.places[code as usize];
        if *place != u16::MAX {
            return (*place as usize, false);
        }
        *place = self.codes.len() as u16;
        self.codes.push(code);
        self.bits.resize(self.codes.len() * words, 0);
        (*place as usize, true)
    }
}

impl Bits {
    /// Takes a pattern that is not empty.
    fn set(&mut self, pattern: impl ExactSizeIterator<Item = Code>) {
        self.rows = pattern.len();
        self.words = self.rows.div_ceil(64);
        self.own.clear();
        self.equal.clear();
        for (row, code) in pattern.enumerate() {
            let (place, _) = self.own.place(code, self.words);
            self.own.bits[place * self.words + row / 64] |= 1 << (row % 64);
        }
    }

    /// First word of the rows that equal a code of the text.
    #[inline]
    fn rows_of(&mut self, symbol: Code, equality: &Equality) -> usize {
        let (place, is_new) = self.equal.place(symbol, self.words);
        if is_new {
            let rows = &mut self.equal.bits[place * self.words..];
            let own = self.own.codes.iter().zip(self.own.bits.chunks_exact(self.words));
            for (_, own) in own.filter(|(code, _)| equality.is_match(**code, symbol)) {
                rows.iter_mut().zip(own).for_each(|(row, own)| *row |= own);
            }
        }
        place * self.words
    }

    /// Sweeps over a text: `visit` is given each number of symbols from 1 on and the distance of the whole pattern
    /// there. `step`: what the first row grows by with every symbol, 0 if a part may begin anywhere, else 1.
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
            let equal = &self.equal.bits[first..][..self.words];
            // Horizontal differences that come in from the word above: +1 and -1.
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
