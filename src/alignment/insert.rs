//! Insertion of rows into an alignment whose columns are kept.

/// Columns of an alignment and of the rows that were added to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InsertedRows {
    /// Number of columns.
    pub columns: usize,
    /// New column of each column of the alignment, in increasing order.
    pub base: Vec<u32>,
    /// Column of every residue of each added row.
    pub added: Vec<Vec<u32>>,
}

/// Adds rows to an alignment of `columns` columns. `rows` contains, for each residue, the column in
/// which it is aligned, or `None` if it is not aligned. The columns of aligned residues increase.
///
/// Residues that are not aligned get new columns, which the rows share: residues before the first
/// aligned residue of a row end right before its column, residues after the last aligned residue
/// start right after its column. Of the residues between two aligned residues, the first half starts
/// right after the column of the former, and the other half ends right before the alignment's next
/// column. A row without aligned residues starts after the last column. The number of new columns
/// between two columns is the maximum over all rows.
pub fn insert(columns: usize, rows: &[Vec<Option<u32>>]) -> InsertedRows {
    let segments: Vec<Vec<Segment>> = rows.iter().map(|row| segments(columns, row)).collect();
    // Number of new columns before each column, and after the last.
    let mut widths = vec![0u32; columns + 1];
    for segment in segments.iter().flatten() {
        let width = &mut widths[segment.slot];
        *width = (*width).max(segment.length);
    }
    let mut base = Vec::with_capacity(columns);
    let mut next = 0;
    for &width in &widths[..columns] {
        next += width;
        base.push(next);
        next += 1;
    }
    let place = |(row, segments): (&Vec<Option<u32>>, Vec<Segment>)| {
        let mut places: Vec<u32> = Vec::with_capacity(row.len());
        let mut segments = segments.into_iter();
        let mut at = 0;
        while at < row.len() {
            if let Some(column) = row[at] {
                places.push(base[column as usize]);
                at += 1;
            } else if let Some(Segment { slot, length, left }) = segments.next() {
                let end = base.get(slot).map_or(next + widths[columns], |&column| column);
                let start = end - widths[slot];
                places.extend(start..start + left);
                places.extend(end - (length - left)..end);
                at += length as usize;
            }
        }
        places
    };
    let added = rows.iter().zip(segments).map(place).collect();
    InsertedRows { columns: (next + widths[columns]) as usize, base, added }
}

/// Consecutive residues of a row that are not aligned.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Column of the alignment before which they are.
    slot: usize,
    /// Number of residues.
    length: u32,
    /// Number of residues at the left end of the new columns. All others are at the right end.
    left: u32,
}

fn segments(columns: usize, row: &[Option<u32>]) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut before: Option<u32> = None;
    let mut length = 0;
    for place in row {
        match *place {
            None => length += 1,
            Some(column) => {
                if length > 0 {
                    // Residues before the first aligned residue end right before its column.
                    let (slot, left) = match before {
                        None => (column as usize, 0),
                        Some(before) => (before as usize + 1, u32::div_ceil(length, 2)),
                    };
                    segments.push(Segment { slot, length, left });
                }
                (before, length) = (Some(column), 0);
            }
        }
    }
    if length > 0 {
        let slot = before.map_or(columns, |before| before as usize + 1);
        segments.push(Segment { slot, length, left: length });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows as text: the first is the alignment itself.
    fn drawn(columns: usize, rows: &[Vec<Option<u32>>]) -> Vec<String> {
        let inserted = insert(columns, rows);
        let draw = |places: &[u32], letter: char| {
            let mut text = vec!['.'; inserted.columns];
            places.iter().for_each(|&column| text[column as usize] = letter);
            text.into_iter().collect()
        };
        let added = inserted.added.iter().map(|places| draw(places, 'a'));
        std::iter::once(draw(&inserted.base, 'x')).chain(added).collect()
    }

    #[test]
    fn insertions_share_columns_from_both_sides() {
        let at = |columns: &[i32]| columns.iter().map(|&column| u32::try_from(column).ok()).collect::<Vec<_>>();
        let rows = [
            at(&[-1, -1, 0, -1, -1, -1, 1, 2, -1]),
            at(&[-1, 0, -1, 1, 2]),
            at(&[1, -1, -1]),
            at(&[-1, 1, 2, -1, -1]),
            at(&[-1]),
        ];
        let expected = ["..x...x..x..", "aaaaaaa..aa.", ".aaa..a..a..", "......aaa...", ".....aa..aaa", "..........a."];
        assert_eq!(drawn(3, &rows), expected);
    }

    #[test]
    fn columns_of_the_alignment_are_kept_in_any_order_of_rows() {
        for seed in 0..200 {
            println!("seed {seed}");
            let mut rng = fastrand::Rng::with_seed(seed);
            let columns = rng.usize(0..8);
            let row = |rng: &mut fastrand::Rng| {
                let mut row = Vec::new();
                for column in 0..=columns as u32 {
                    row.extend(std::iter::repeat_n(None, rng.usize(..4).saturating_sub(1)));
                    if (column as usize) < columns && rng.bool() {
                        row.push(Some(column));
                    }
                }
                row
            };
            let mut rows: Vec<_> = (0..rng.usize(0..6)).map(|_| row(&mut rng)).collect();
            let inserted = insert(columns, &rows);
            assert_eq!(inserted.base.len(), columns);
            assert!(inserted.base.windows(2).all(|pair| pair[0] < pair[1]));
            let mut is_filled = vec![false; inserted.columns];
            inserted.base.iter().for_each(|&column| is_filled[column as usize] = true);
            for (row, places) in rows.iter().zip(&inserted.added) {
                assert_eq!(row.len(), places.len());
                assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
                for (column, &place) in row.iter().zip(places) {
                    is_filled[place as usize] = true;
                    let is_base = column.is_some_and(|column| inserted.base[column as usize] == place);
                    assert_eq!(is_base, inserted.base.contains(&place));
                }
            }
            // New columns exist only where a row has a residue.
            assert!(is_filled.into_iter().all(|is_filled| is_filled));
            let mut expected = inserted.added.clone();
            rows.reverse();
            expected.reverse();
            assert_eq!(insert(columns, &rows), InsertedRows { added: expected, ..inserted });
        }
    }
}
