//! Multiple alignments. An alignment is stored as the column of every residue.

/// A multiple alignment of sequences that are stored elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MultipleAlignment {
    columns: usize,
    places: Vec<Vec<u32>>,
}

impl MultipleAlignment {
    /// Creates an alignment of `columns` columns from the increasing columns of each sequence's
    /// residues. Returns `None` if a sequence's columns do not increase or are out of range.
    pub fn new(columns: usize, places: Vec<Vec<u32>>) -> Option<Self> {
        let fits = |row: &Vec<u32>| {
            row.windows(2).all(|pair| pair[0] < pair[1]) && row.last().is_none_or(|&last| (last as usize) < columns)
        };
        places.iter().all(fits).then_some(MultipleAlignment { columns, places })
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of sequences.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// Returns the column of every residue of a sequence.
    pub fn residue_columns(&self, row: usize) -> &[u32] {
        &self.places[row]
    }

    /// Formats a row: the letters of the sequence, and `gap` elsewhere.
    ///
    /// # Panics
    /// Panics if the number of letters is not the number of residues.
    pub fn text(&self, row: usize, letters: &[u8], gap: u8) -> Vec<u8> {
        let mut text = vec![gap; self.columns];
        for (&column, &letter) in self.places[row].iter().zip(letters) {
            text[column as usize] = letter;
        }
        assert_eq!(self.places[row].len(), letters.len(), "letters of another sequence");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_formatted_and_invalid_columns_refused() {
        let alignment = MultipleAlignment::new(4, vec![vec![0, 1, 3], vec![], vec![2]]).unwrap();
        assert_eq!((alignment.columns(), alignment.rows()), (4, 3));
        assert_eq!(alignment.text(0, b"ACG", b'-'), b"AC-G");
        assert_eq!(alignment.text(1, b"", b'.'), b"....");
        assert_eq!(alignment.text(2, b"T", b'-'), b"--T-");
        assert!(MultipleAlignment::new(3, vec![vec![0, 3]]).is_none());
        assert!(MultipleAlignment::new(3, vec![vec![1, 1]]).is_none());
    }
}
