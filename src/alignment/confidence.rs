//! Confidence of the residues and columns of a multiple alignment, and the selection of columns.

use super::multiple::MultipleAlignment;

/// Confidence of every residue and column of an alignment.
///
/// The confidence of a residue is the expected fraction of the other sequences with which it is
/// aligned correctly. A sequence with a residue in the same column counts with the posterior
/// probability that both residues are homologous. A sequence with a gap in this column counts with
/// the probability that it has no homologous residue. These are the terms of AMAP's and FSA's
/// expected accuracy (Bradley et al. 2009). The confidence of a column is the mean of its residues.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Confidence {
    residues: Vec<Vec<f32>>,
    columns: Vec<f32>,
}

impl Confidence {
    /// Creates the confidence of an alignment from that of the residues of each row, from 0 to 1.
    /// Columns without residues get 0. Returns `None` if a row has another number of residues.
    pub fn new(alignment: &MultipleAlignment, residues: Vec<Vec<f32>>) -> Option<Self> {
        if !fits(alignment, &residues) {
            return None;
        }
        let mut sums = vec![(0.0f64, 0u32); alignment.columns()];
        for (row, values) in residues.iter().enumerate() {
            for (&column, &value) in alignment.residue_columns(row).iter().zip(values) {
                let (sum, count) = &mut sums[column as usize];
                *sum += f64::from(value);
                *count += 1;
            }
        }
        let columns = sums.into_iter().map(|(sum, count)| (sum / f64::from(count.max(1))) as f32).collect();
        Some(Confidence { residues, columns })
    }

    /// Returns whether rows and columns have the sizes of an alignment.
    pub fn belongs_to(&self, alignment: &MultipleAlignment) -> bool {
        fits(alignment, &self.residues) && self.columns.len() == alignment.columns()
    }

    /// Returns the confidence of each residue of a row.
    pub fn residues(&self, row: usize) -> &[f32] {
        &self.residues[row]
    }

    /// Returns the confidence of each column: the mean over its residues.
    pub fn columns(&self) -> &[f32] {
        &self.columns
    }

    /// Returns the columns whose confidence is at least `least`.
    pub fn select(&self, least: f32) -> ColumnSelection {
        ColumnSelection::new(self.columns.iter().map(|&value| value >= least))
    }

    /// Returns the confidence of the selected columns.
    pub fn selected(&self, alignment: &MultipleAlignment, selection: &ColumnSelection) -> Confidence {
        let rows = self.residues.iter().enumerate();
        Confidence {
            residues: rows.map(|(row, values)| selection.residues(alignment.residue_columns(row), values)).collect(),
            columns: selection.of_columns(&self.columns),
        }
    }
}

/// Returns whether there is one value for each residue of an alignment.
fn fits(alignment: &MultipleAlignment, residues: &[Vec<f32>]) -> bool {
    residues.len() == alignment.rows()
        && residues.iter().enumerate().all(|(row, values)| values.len() == alignment.residue_columns(row).len())
}

/// Returns the sign of a confidence, as HMMER and Pfam write it: `*` from 0.95 on, otherwise the
/// digit `d` for which the value is between `d`/10 - 0.05 and `d`/10 + 0.05.
pub fn confidence_sign(value: f32) -> u8 {
    match (value * 10.0 + 0.5) as u8 {
        tenth @ 0..=9 => b'0' + tenth,
        _ => b'*',
    }
}

/// A selection of the columns of an alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSelection {
    /// New index of each column; [`ColumnSelection::DROPPED`] if it is not selected.
    index: Vec<u32>,
    selected: usize,
}

impl ColumnSelection {
    const DROPPED: u32 = u32::MAX;

    /// Creates a selection from whether each column is selected.
    pub fn new(is_selected: impl Iterator<Item = bool>) -> Self {
        let mut selected = 0;
        let index = is_selected.map(|is_selected| {
            selected += u32::from(is_selected);
            if is_selected { selected - 1 } else { Self::DROPPED }
        });
        let index = index.collect();
        ColumnSelection { index, selected: selected as usize }
    }

    /// Returns the number of selected columns.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the number of columns that are not selected.
    pub fn dropped(&self) -> usize {
        self.index.len() - self.selected
    }

    /// Returns the alignment of the residues in the selected columns.
    pub fn alignment(&self, alignment: &MultipleAlignment) -> MultipleAlignment {
        let row = |row: usize| {
            let new = alignment.residue_columns(row).iter().map(|&column| self.index[column as usize]);
            new.filter(|&column| column != Self::DROPPED).collect()
        };
        let rows = (0..alignment.rows()).map(row).collect();
        // Selecting keeps the order of the columns.
        MultipleAlignment::new(self.selected, rows).unwrap_or_default()
    }

    /// Returns the values of the residues in the selected columns, given the columns and the values
    /// of all residues of a row.
    pub fn residues<T: Copy>(&self, places: &[u32], values: &[T]) -> Vec<T> {
        let is_selected = |column: u32| self.index[column as usize] != Self::DROPPED;
        places.iter().zip(values).filter(|&(&column, _)| is_selected(column)).map(|(_, &value)| value).collect()
    }

    /// Returns the values of the selected columns.
    fn of_columns<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let pairs = values.iter().zip(&self.index);
        pairs.filter(|&(_, &index)| index != Self::DROPPED).map(|(&value, _)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_those_of_stockholm() {
        let values = [0.0, 0.049, 0.051, 0.149, 0.849, 0.851, 0.949, 0.951, 1.0];
        assert_eq!(&values.map(confidence_sign), b"0011899**");
    }

    #[test]
    fn selected_columns_keep_their_residues_and_values() {
        let alignment = MultipleAlignment::new(4, vec![vec![0, 1, 3], vec![1, 2]]).unwrap();
        assert!(Confidence::new(&alignment, vec![vec![0.5; 3]]).is_none());
        assert!(Confidence::new(&alignment, vec![vec![0.5; 3], vec![0.5; 3]]).is_none());
        let confidence = Confidence::new(&alignment, vec![vec![0.25, 0.5, 1.0], vec![1.0, 0.125]]).unwrap();
        assert_eq!(confidence.columns(), [0.25, 0.75, 0.125, 1.0]);
        let selection = confidence.select(0.25);
        assert_eq!((selection.selected(), selection.dropped()), (3, 1));
        let few = selection.alignment(&alignment);
        assert_eq!((few.columns(), few.residue_columns(0), few.residue_columns(1)), (3, &[0, 1, 2][..], &[1][..]));
        assert_eq!(selection.residues(alignment.residue_columns(1), b"AC"), b"A");
        let values = vec![vec![0.25, 0.5, 1.0], vec![1.0]];
        assert_eq!(confidence.selected(&alignment, &selection), Confidence::new(&few, values).unwrap());
        assert_eq!(confidence.select(0.0).alignment(&alignment), alignment);
        assert_eq!(confidence.select(1.0).selected(), 1);
    }

    #[test]
    fn columns_without_residues_have_no_confidence() {
        let alignment = MultipleAlignment::new(2, vec![vec![1]]).unwrap();
        assert_eq!(Confidence::new(&alignment, vec![vec![1.0]]).unwrap().columns(), [0.0, 1.0]);
    }
}
