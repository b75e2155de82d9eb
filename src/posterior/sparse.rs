//! Probabilities of one pair of sequences, row by row, and the chain of pairs of residues whose sum is greatest.

use super::kernel::Found;

/// What 1 is stored as.
const ONE: f32 = 65_535.0;
/// The longest sequence whose places fit 16 bits.
pub const LONGEST: usize = 65_536;

/// A column and a probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cell(u32);

impl Cell {
    /// A probability between 0 and 1 at a column.
    pub(super) fn new(column: u32, probability: f32) -> Self {
        Cell(column << 16 | (probability * ONE + 0.5).clamp(0.0, ONE) as u32)
    }

    /// Its column.
    pub(super) fn column(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Its probability.
    pub(super) fn probability(self) -> f32 {
        (self.0 & 0xffff) as f32 / ONE
    }
}

/// A matrix most of whose entries are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sparse {
    starts: Vec<u32>,
    cells: Vec<Cell>,
}

impl Sparse {
    /// What was found, from the last row and column to the first.
    pub(super) fn new(rows: usize, found: &[Found]) -> Self {
        let mut starts = vec![0; rows + 1];
        for &(row, ..) in found {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let cells = found.iter().rev().map(|&(_, column, probability)| Cell::new(column, probability)).collect();
        Sparse { starts, cells }
    }

    /// Rows that a function fills, one after the other.
    pub(super) fn filled(rows: usize, mut fill: impl FnMut(usize, &mut Vec<Cell>)) -> Self {
        let mut all = Sparse { starts: vec![0], cells: Vec::new() };
        for row in 0..rows {
            fill(row, &mut all.cells);
            all.starts.push(all.cells.len() as u32);
        }
        all
    }

    /// Rows.
    pub(super) fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The entries of a row by rising column.
    pub(super) fn row(&self, row: usize) -> &[Cell] {
        &self.cells[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Rows as columns.
    pub(super) fn transposed(&self, columns: usize) -> Self {
        let mut starts = vec![0; columns + 1];
        for cell in &self.cells {
            starts[cell.column() + 1] += 1;
        }
        for column in 0..columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut cells = vec![Cell::default(); self.cells.len()];
        for row in 0..self.rows() {
            for cell in self.row(row) {
                let place = &mut next[cell.column()];
                cells[*place as usize] = Cell((row as u32) << 16 | cell.0 & 0xffff);
                *place += 1;
            }
        }
        Sparse { starts, cells }
    }

    /// The sum of probabilities along the best chain: how many residues are expected to be aligned rightly.
    pub(super) fn accuracy(&self, columns: usize) -> f32 {
        let mut chain = Chain::new(columns);
        for row in 0..self.rows() {
            chain.add_row(row, self.row(row).iter().map(|cell| (cell.column(), cell.probability())));
        }
        chain.best().0
    }
}

const NONE: u32 = u32::MAX;

/// Finds the chain of entries, rows and columns both rising, whose sum is greatest. Rows are given one after the other.
#[derive(Debug)]
pub(super) struct Chain {
    /// Greatest sums of chains that end before a column (a tree of prefixes), with the last link.
    prefixes: Vec<(f32, u32)>,
    links: Vec<Link>,
    row: Vec<(usize, f32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    row: u32,
    column: u32,
    before: u32,
}

impl Chain {
    /// For so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Chain { prefixes: vec![(0.0, NONE); columns + 1], links: Vec::new(), row: Vec::new() }
    }

    /// The next row's entries, by rising column.
    pub(super) fn add_row(&mut self, row: usize, entries: impl Iterator<Item = (usize, f32)>) {
        self.row.clear();
        for (column, value) in entries {
            let mut best = (0.0, NONE);
            let mut at = column;
            while at > 0 {
                if self.prefixes[at].0 > best.0 {
                    best = self.prefixes[at];
                }
                at &= at - 1;
            }
            self.row.push((column, best.0 + value, best.1));
        }
        for &(column, sum, before) in &self.row {
            let mut link = NONE;
            let mut at = column + 1;
            while at < self.prefixes.len() {
                if sum > self.prefixes[at].0 {
                    if link == NONE {
                        link = self.links.len() as u32;
                        self.links.push(Link { row: row as u32, column: column as u32, before });
                    }
                    self.prefixes[at] = (sum, link);
                }
                at += at & at.wrapping_neg();
            }
        }
    }

    /// The greatest sum and its entries, rising.
    pub(super) fn best(&self) -> (f32, Vec<(u32, u32)>) {
        let mut best = (0.0, NONE);
        let mut at = self.prefixes.len() - 1;
        while at > 0 {
            if self.prefixes[at].0 > best.0 {
                best = self.prefixes[at];
            }
            at &= at - 1;
        }
        let (sum, mut link) = best;
        let mut entries = Vec::new();
        while link != NONE {
            let Link { row, column, before } = self.links[link as usize];
            entries.push((row, column));
            link = before;
        }
        entries.reverse();
        (sum, entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_chain_is_that_of_the_whole_table() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (rows, columns) = (random.usize(0..12), random.usize(1..12));
            let mut table = vec![vec![0.0f32; columns]; rows];
            let mut chain = Chain::new(columns);
            for (at, row) in table.iter_mut().enumerate() {
                for value in row.iter_mut() {
                    *value = random.u32(..192).saturating_sub(128) as f32 / 64.0;
                }
                chain.add_row(at, row.iter().copied().enumerate().filter(|&(_, value)| value > 0.0));
            }
            let mut best = vec![vec![0.0f32; columns + 1]; rows + 1];
            for row in 0..rows {
                for column in 0..columns {
                    best[row + 1][column + 1] =
                        best[row][column + 1].max(best[row + 1][column]).max(best[row][column] + table[row][column]);
                }
            }
            let (sum, entries) = chain.best();
            assert_eq!(sum, best[rows][columns]);
            assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            assert_eq!(entries.iter().map(|&(row, column)| table[row as usize][column as usize]).sum::<f32>(), sum);
        }
    }

    #[test]
    fn rows_become_columns_and_back() {
        let found = [(3, 1, 0.25), (1, 4, 1.0), (1, 0, 0.5), (0, 2, 0.125)];
        let sparse = Sparse::new(4, &found);
        assert_eq!(sparse.row(1).iter().map(|cell| cell.column()).collect::<Vec<_>>(), [0, 4]);
        assert!((sparse.row(3)[0].probability() - 0.25).abs() < 1e-4 && sparse.row(2).is_empty());
        let transposed = sparse.transposed(5);
        assert_eq!((transposed.rows(), transposed.row(4)[0].column()), (5, 1));
        assert_eq!(transposed.transposed(4), sparse);
        assert!((sparse.accuracy(5) - 1.125).abs() < 1e-4);
    }
}
