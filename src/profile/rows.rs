//! Aligned rows as letters and gaps, where columns have to be looked at one by one.

use super::group::Group;
use super::letters::Letters;

/// Stands where a row has no letter.
pub(super) const GAP: u8 = u8::MAX;

/// The numbers of a sequence's letters, and gaps.
pub(super) type Row = Vec<u8>;

/// A sequence with its letters at these places of so many columns.
pub(super) fn row(sequence: &[u8], places: &[u32], columns: usize) -> Row {
    let mut row = vec![GAP; columns];
    sequence.iter().zip(places).for_each(|(&letter, &place)| row[place as usize] = letter);
    row
}

/// Where the letters of a row stand.
pub(super) fn places(row: &[u8]) -> Vec<u32> {
    (0..row.len() as u32).zip(row).filter(|(_, letter)| **letter != GAP).map(|(place, _)| place).collect()
}

/// Rows whose columns become other columns.
pub(super) fn moved<R: AsRef<[u8]>>(rows: &[R], places: &[u32], columns: usize) -> Vec<Row> {
    rows.iter().map(|own| row(own.as_ref(), places, columns)).collect()
}

/// Rows without the columns in which none has a letter.
pub(super) fn packed<R: AsRef<[u8]>>(rows: &[R]) -> Vec<Row> {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let kept: Vec<usize> = (0..columns).filter(|&column| rows.iter().any(|row| row.as_ref()[column] != GAP)).collect();
    rows.iter().map(|row| kept.iter().map(|&column| row.as_ref()[column]).collect()).collect()
}

impl Group {
    /// Aligned sequences, of which each counts so much. Columns may have no letter at all.
    pub(super) fn of_rows<R: AsRef<[u8]>>(letters: &Letters, ids: &[u32], rows: &[R], weights: &[i32]) -> Group {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut group = Group::empty(letters, columns);
        for (&id, (row, &weight)) in ids.iter().zip(rows.iter().zip(weights)) {
            let places = places(row.as_ref());
            let sequence: Vec<u8> = places.iter().map(|&place| row.as_ref()[place as usize]).collect();
            group.add(&Group::of_sequence(letters, id, &sequence, weight), letters, &places);
            group.members.push(id);
            group.weight += weight;
            group.residues += places.len() as i64;
        }
        group.members.sort_unstable();
        group.sort_runs();
        group
    }
}
