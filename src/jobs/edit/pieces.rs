//! Places in a part of the texts whose first and last text may be pieces of longer texts.
//!
//! A plateau of distances that reaches the end of a part is carried to the next part, which decides
//! whether it is a local minimum. It is aligned before its text is dropped.

use std::collections::HashMap;

use super::EditResult;
use crate::edit::places::{LocalMinima, Place};
use crate::error::{Error, Result};
use crate::seq::{PartOfTexts, SequenceId, Strand};

/// The borders of a part, and the plateaus that reach the border before it.
#[derive(Debug, Default)]
pub(super) struct PieceBorders {
    /// Number of the part's first text.
    first: SequenceId,
    /// Number of symbols of the first text before its piece.
    offset: u32,
    /// Number of symbols of the first piece that belong to the part before.
    before: u32,
    /// The last text, counted in the part, and its position of the border, if it does not end in
    /// this part.
    border: Option<(SequenceId, u32)>,
    /// Plateaus by pattern, counting each strand.
    carried: HashMap<SequenceId, CarriedPlateau>,
}

/// A plateau that reaches the border of a part.
#[derive(Debug)]
pub(super) struct CarriedPlateau {
    pub(super) minima: LocalMinima,
    pub(super) aligned: AlignedPlace,
}

/// A place that was aligned in an earlier part.
#[derive(Debug, Clone)]
pub(super) struct AlignedPlace {
    pub(super) place: Place,
    /// The result; `None` if it is not reported.
    pub(super) result: Option<EditResult>,
}

/// The local minima of a pattern in a text. Their positions count from the start of the whole text.
#[derive(Debug)]
pub(super) struct TextMinima {
    /// The pattern, counting each strand.
    pub(super) query: SequenceId,
    /// The text, counted in the part.
    pub(super) text: SequenceId,
    pub(super) strand: Strand,
    pub(super) minima: LocalMinima,
    /// The place of the carried plateau.
    pub(super) aligned: Option<AlignedPlace>,
}

impl TextMinima {
    /// Creates the state before the first position of a text.
    pub(super) fn new(query: SequenceId, text: SequenceId, strand: Strand) -> Self {
        TextMinima { query, text, strand, minima: LocalMinima::new(strand), aligned: None }
    }
}

impl PieceBorders {
    /// Starts the next part.
    pub(super) fn enter(&mut self, part: &PartOfTexts) {
        let last = part.store.len() as SequenceId - 1;
        let border = part.store.length(last) - part.after;
        (self.first, self.offset, self.before) = (part.first, part.offset, part.before);
        self.border = (part.after > 0).then_some((last, border));
    }

    /// Returns whether a plateau of a pattern reaches the border before the part.
    pub(super) fn is_carried(&self, query: SequenceId) -> bool {
        self.carried.contains_key(&query)
    }

    /// Returns the state before the first position of a text in this part.
    pub(super) fn begin(&mut self, query: SequenceId, text: SequenceId, strand: Strand) -> TextMinima {
        match self.carried.remove(&query).filter(|_| text == 0) {
            Some(CarriedPlateau { minima, aligned }) => {
                TextMinima { query, text, strand, minima, aligned: Some(aligned) }
            }
            None => TextMinima::new(query, text, strand),
        }
    }

    /// Returns a place with its position in the whole text. `None` if it belongs to another part.
    pub(super) fn whole(&self, minima: &TextMinima, place: Place) -> Option<Place> {
        let TextMinima { text, strand, .. } = *minima;
        // An end belongs to the same part as the symbol before it, and a start to the same part
        // as the symbol after it. The first end and the last start of a text belong to its first and last part.
        let is_plus = strand == Strand::Plus;
        let is_after_start = text > 0
            || self.before == 0
            || if is_plus { place.position > self.before.into() } else { place.position >= self.before.into() };
        let is_before_end = match self.border {
            Some((last, border)) if last == text => {
                if is_plus {
                    place.position <= border.into()
                } else {
                    place.position < border.into()
                }
            }
            _ => true,
        };
        let position = i64::from(self.offset_of(text)) + place.position;
        (is_after_start && is_before_end).then_some(Place { position, ..place })
    }

    /// Returns whether the next part can extend the last plateau of a text.
    pub(super) fn reaches_border(&self, minima: &TextMinima) -> bool {
        let Some((_, border)) = self.border.filter(|(last, _)| *last == minima.text) else { return false };
        let last = border - u32::from(minima.strand == Strand::Minus);
        minima.minima.last_position() == Some(i64::from(self.offset_of(minima.text) + last))
    }

    /// Keeps a plateau for the next part.
    pub(super) fn carry(&mut self, query: SequenceId, plateau: CarriedPlateau) {
        self.carried.insert(query, plateau);
    }

    /// Returns the position of a place in its piece.
    pub(super) fn in_piece(&self, text: SequenceId, place: Place) -> Place {
        Place { position: place.position - i64::from(self.offset_of(text)), ..place }
    }

    /// Converts the positions of a result in the part to those in the whole texts.
    pub(super) fn to_whole(&self, result: &mut EditResult) {
        let offset = self.offset_of(result.region.text);
        result.region.text += self.first;
        result.region.start += offset;
        result.region.end += offset;
        result.end += offset;
        if let Some(alignment) = &mut result.alignment {
            alignment.start += offset;
        }
    }

    fn offset_of(&self, text: SequenceId) -> u32 {
        if text == 0 { self.offset } else { 0 }
    }

    /// Checks after the last part that no plateau is left.
    pub(super) fn end(&self) -> Result<()> {
        match self.carried.is_empty() {
            true => Ok(()),
            false => Err(Error::Internal("a place at the border of two parts is not reported".into())),
        }
    }
}
