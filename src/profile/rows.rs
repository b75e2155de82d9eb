//! Aligned rows as letters and gaps, for algorithms that process single columns.

use super::group::ProfileGroup;
use super::letters::ProfileLetters;

/// Marks a column where a row has no letter.
pub(super) const GAP: u8 = u8::MAX;

/// A row of an alignment: the number of a letter, or [`GAP`], for each column.
pub(super) type GappedRow = Vec<u8>;

/// Returns the row of a sequence whose letters are in the given columns.
pub(super) fn row(sequence: &[u8], places: &[u32], columns: usize) -> GappedRow {
    let mut row = vec![GAP; columns];
    sequence.iter().zip(places).for_each(|(&letter, &column)| row[column as usize] = letter);
    row
}

/// Returns the columns of the letters of a row.
pub(super) fn residue_columns(row: &[u8]) -> Vec<u32> {
    (0..row.len() as u32).zip(row).filter(|(_, letter)| **letter != GAP).map(|(column, _)| column).collect()
}

/// Moves the columns of rows to new indices.
pub(super) fn move_columns<R: AsRef<[u8]>>(rows: &[R], places: &[u32], columns: usize) -> Vec<GappedRow> {
    rows.iter().map(|sequence| row(sequence.as_ref(), places, columns)).collect()
}

/// Removes columns without letters.
pub(super) fn packed<R: AsRef<[u8]>>(rows: &[R]) -> Vec<GappedRow> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let kept: Vec<usize> = (0..columns).filter(|&column| rows.iter().any(|row| row.as_ref()[column] != GAP)).collect();
    rows.iter().map(|row| kept.iter().map(|&column| row.as_ref()[column]).collect()).collect()
}

impl ProfileGroup {
    /// Returns the group of aligned sequences with the given weights. Columns may have no letter.
    pub(super) fn from_rows<R: AsRef<[u8]>>(
        letters: &ProfileLetters,
        ids: &[u32],
        rows: &[R],
        weights: &[i32],
    ) -> ProfileGroup {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut group = ProfileGroup::empty(letters, columns);
        for (&id, (row, &weight)) in ids.iter().zip(rows.iter().zip(weights)) {
            let places = residue_columns(row.as_ref());
            let sequence: Vec<u8> = places.iter().map(|&column| row.as_ref()[column as usize]).collect();
            group.add(&ProfileGroup::from_sequence(letters, id, &sequence, weight), letters, &places);
            group.members.push(id);
            group.weight += weight;
            group.residues += places.len() as i64;
        }
        group.members.sort_unstable();
        group.sort_runs();
        group
    }
}
