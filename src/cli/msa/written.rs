//! Rows of an alignment as they are written: without the columns of low confidence.

use std::borrow::Cow;

use indicatif::HumanCount;
use pairwave::alignment::{ColumnSelection, Confidence, MultipleAlignment};
use pairwave::jobs::msa::MsaSummary;

/// Returns how many columns were dropped, if a minimum confidence is given.
pub(super) fn dropped_line(summary: &MsaSummary) -> Option<String> {
    let dropped = HumanCount(summary.dropped_columns? as u64);
    let columns = HumanCount(summary.columns as u64);
    Some(format!("{dropped} of {columns} columns dropped, because their confidence is too low"))
}

/// Rows to write.
pub(super) struct WrittenRows<'a> {
    pub alignment: MultipleAlignment,
    pub letters: Vec<Cow<'a, [u8]>>,
    pub confidence: Option<Confidence>,
}

impl WrittenRows<'_> {
    /// Returns the rows without the columns that are not selected.
    pub(super) fn select(self, selection: Option<&ColumnSelection>) -> Self {
        let Some(selection) = selection.filter(|selection| selection.dropped() > 0) else { return self };
        let WrittenRows { alignment, letters, confidence } = self;
        let rows = letters.iter().enumerate();
        let letters =
            rows.map(|(row, letters)| Cow::Owned(selection.residues(alignment.residue_columns(row), letters)));
        WrittenRows {
            letters: letters.collect(),
            confidence: confidence.map(|confidence| confidence.selected(&alignment, selection)),
            alignment: selection.alignment(&alignment),
        }
    }
}
