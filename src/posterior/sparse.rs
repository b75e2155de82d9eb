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
        (self.0 & 0xffff) as f32 * (1.0 / ONE)
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

    /// What was found, in any order.
    pub(super) fn from_any_order(rows: usize, found: impl Iterator<Item = Found> + Clone) -> Self {
        let mut starts = vec![0; rows + 1];
        for (row, ..) in found.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut cells = vec![Cell::default(); starts[rows] as usize];
        // Each start moves on to its row's end, which is where the next row begins.
        for (row, column, probability) in found {
            let place = &mut starts[row as usize];
            cells[*place as usize] = Cell::new(column, probability);
            *place += 1;
        }
        starts.copy_within(..rows, 1);
        starts[0] = 0;
        for row in starts.windows(2) {
            cells[row[0] as usize..row[1] as usize].sort_unstable_by_key(|cell| cell.0);
        }
        Sparse { starts, cells }
    }

    /// No rows yet, with room for some.
    pub(super) fn with_capacity(rows: usize, cells: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Sparse { starts, cells: Vec::with_capacity(cells) }
    }

    /// The next row's entries, by rising column.
    pub(super) fn push_row(&mut self, cells: impl Iterator<Item = Cell>) {
        self.cells.extend(cells);
        self.starts.push(self.cells.len() as u32);
    }

    /// Gives back room that no entry took.
    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }

    /// Entries.
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Whether the columns of every row rise and are below this.
    pub(super) fn is_within(&self, columns: usize) -> bool {
        let rises = |row: &[Cell]| row.windows(2).all(|two| two[0].column() < two[1].column());
        (0..self.rows())
            .map(|row| self.row(row))
            .all(|row| rises(row) && row.last().is_none_or(|cell| cell.column() < columns))
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
    pub(super) fn accuracy(&self) -> f32 {
        let mut chain = Chain::default();
        for row in 0..self.rows() {
            chain.add_row(row, self.row(row).iter().map(|cell| (cell.column(), cell.probability())));
        }
        chain.best().0
    }
}

const NONE: u32 = u32::MAX;

/// Steps from the end that are looked at one by one before the rest is halved and halved: most entries are near the end.
const NEAR: usize = 8;

/// Finds the chain of entries, rows and columns both rising, whose sum is greatest. Rows are given one after the other.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// Where the greatest sum of a chain that ends there or before rises; columns and sums both rise.
    steps: Vec<Step>,
    links: Vec<Link>,
    row: Vec<(usize, f32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    column: u32,
    sum: f32,
    link: u32,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    row: u32,
    column: u32,
    before: u32,
}

impl Chain {
    /// The next row's entries, by rising column.
    pub(super) fn add_row(&mut self, row: usize, entries: impl Iterator<Item = (usize, f32)>) {
        self.row.clear();
        for (column, value) in entries {
            let (sum, link) = self.before(column as u32).checked_sub(1).map_or((0.0, NONE), |at| {
                let step = self.steps[at];
                (step.sum, step.link)
            });
            self.row.push((column, sum + value, link));
        }
        for index in 0..self.row.len() {
            let (column, sum, before) = self.row[index];
            let column = column as u32;
            let at = self.before(column);
            if at.checked_sub(1).is_some_and(|at| self.steps[at].sum >= sum)
                || self.steps.get(at).is_some_and(|step| step.column == column && step.sum >= sum)
            {
                continue;
            }
            let step = Step { column, sum, link: self.links.len() as u32 };
            self.links.push(Link { row: row as u32, column, before });
            match self.steps[at..].iter().take_while(|step| step.sum <= sum).count() {
                0 => self.steps.insert(at, step),
                passed => {
                    self.steps[at] = step;
                    self.steps.drain(at + 1..at + passed);
                }
            }
        }
    }

    /// How many steps are before a column.
    fn before(&self, column: u32) -> usize {
        let far = self.steps.len().saturating_sub(NEAR);
        match self.steps[far..].iter().rposition(|step| step.column < column) {
            Some(at) => far + at + 1,
            None => self.steps[..far].partition_point(|step| step.column < column),
        }
    }

    /// The greatest sum and its entries, rising.
    pub(super) fn best(&self) -> (f32, Vec<(u32, u32)>) {
        let (sum, mut link) = self.steps.last().map_or((0.0, NONE), |step| (step.sum, step.link));
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
            let mut chain = Chain::default();
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
    fn any_order_will_do() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut rng = fastrand::Rng::with_seed(seed);
            let (rows, columns) = (rng.usize(0..9), rng.u32(1..70));
            let all = (0..rows as u32).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let all: Vec<(u32, u32)> = all.filter(|_| rng.u32(..3) == 0).collect();
            let mut found: Vec<Found> = all.into_iter().rev().map(|(row, column)| (row, column, rng.f32())).collect();
            let expected = Sparse::new(rows, &found);
            rng.shuffle(&mut found);
            assert_eq!(Sparse::from_any_order(rows, found.iter().copied()), expected);
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
        assert!((sparse.accuracy() - 1.125).abs() < 1e-4);
    }
}
