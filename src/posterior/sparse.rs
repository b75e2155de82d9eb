//! Sparse probabilities of one pair of sequences, and the chain of residue pairs with the highest
//! sum.

use super::kernel::ResiduePair;

/// Stored value of probability 1.
const ONE: f32 = SparseCell::ONE_SHARE as f32;
/// Length limit (exclusive) of sequences, because positions have 16 bits.
pub const LENGTH_LIMIT: usize = 65_536;

/// A column and a probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SparseCell(u32);

impl SparseCell {
    /// Creates a cell. The probability is between 0 and 1.
    pub(super) fn new(column: u32, probability: f32) -> Self {
        SparseCell(column << 16 | (probability * ONE + 0.5).clamp(0.0, ONE) as u32)
    }

    /// Stored value of probability 1.
    pub(super) const ONE_SHARE: u32 = 65_535;

    /// Returns the stored value of the probability, at most [`SparseCell::ONE_SHARE`].
    pub(super) fn share(self) -> u32 {
        self.0 & 0xffff
    }

    /// Returns the column.
    pub(super) fn column(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Returns the probability.
    pub(super) fn probability(self) -> f32 {
        self.share() as f32 * (1.0 / ONE)
    }
}

/// A sparse matrix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sparse {
    starts: Vec<u32>,
    cells: Vec<SparseCell>,
}

impl Sparse {
    /// Creates a matrix from entries that run from the last row and column to the first.
    pub(super) fn new(rows: usize, pairs: &[ResiduePair]) -> Self {
        let mut starts = vec![0; rows + 1];
        for &(row, ..) in pairs {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let cells = pairs.iter().rev().map(|&(_, column, probability)| SparseCell::new(column, probability)).collect();
        Sparse { starts, cells }
    }

    /// Creates a matrix from entries in any order.
    pub(super) fn from_any_order(rows: usize, pairs: impl Iterator<Item = ResiduePair> + Clone) -> Self {
        let mut starts = vec![0; rows + 1];
        for (row, ..) in pairs.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut cells = vec![SparseCell::default(); starts[rows] as usize];
        // Each start moves to the end of its row, which is the start of the next row.
        for (row, column, probability) in pairs {
            let slot = &mut starts[row as usize];
            cells[*slot as usize] = SparseCell::new(column, probability);
            *slot += 1;
        }
        starts.copy_within(..rows, 1);
        starts[0] = 0;
        for row in starts.windows(2) {
            cells[row[0] as usize..row[1] as usize].sort_unstable_by_key(|cell| cell.0);
        }
        Sparse { starts, cells }
    }

    /// Returns a matrix without rows, with reserved memory.
    pub(super) fn with_capacity(rows: usize, cells: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Sparse { starts, cells: Vec::with_capacity(cells) }
    }

    /// Appends a row. Its cells have increasing columns.
    pub(super) fn push_row(&mut self, cells: impl Iterator<Item = SparseCell>) {
        self.cells.extend(cells);
        self.starts.push(self.cells.len() as u32);
    }

    /// Releases unused memory.
    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }

    /// Returns the number of cells.
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Adds the probabilities of another matrix of the same shape, divided by `models` and rounded
    /// down. Sums of up to `models` matrices do not depend on their order.
    pub(super) fn add_share(&mut self, other: &Sparse, models: u32) {
        let merged = (0..other.rows()).map(|row| merged_columns(self.row(row), other.row(row))).sum();
        let mut sum = Sparse::with_capacity(other.rows(), merged);
        for row in 0..other.rows() {
            let mut own = self.row(row).iter().copied().peekable();
            for cell in other.row(row) {
                while let Some(before) = own.next_if(|before| before.column() < cell.column()) {
                    sum.cells.push(before);
                }
                let before = own.next_if(|before| before.column() == cell.column()).map_or(0, SparseCell::share);
                sum.cells.push(SparseCell(cell.0 & !SparseCell::ONE_SHARE | (before + cell.share() / models)));
            }
            sum.push_row(own);
        }
        *self = sum;
    }

    /// Removes the cells with a probability below `least`.
    pub(super) fn retain_from(&mut self, least: f32) {
        let is_kept = |cell: &SparseCell| cell.probability() >= least;
        let mut kept = Sparse::with_capacity(self.rows(), self.cells.iter().copied().filter(is_kept).count());
        for row in 0..self.rows() {
            kept.push_row(self.row(row).iter().copied().filter(is_kept));
        }
        *self = kept;
    }

    /// Returns a matrix without cells.
    pub(super) fn empty(rows: usize) -> Self {
        Sparse { starts: vec![0; rows + 1], cells: Vec::new() }
    }

    /// Checks whether the columns of every row increase and are below `columns`.
    pub(super) fn is_within(&self, columns: usize) -> bool {
        let rises = |row: &[SparseCell]| row.windows(2).all(|two| two[0].column() < two[1].column());
        (0..self.rows())
            .map(|row| self.row(row))
            .all(|row| rises(row) && row.last().is_none_or(|cell| cell.column() < columns))
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the cells of a row, in increasing order of their columns.
    pub(super) fn row(&self, row: usize) -> &[SparseCell] {
        &self.cells[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Returns the transposed matrix.
    pub(super) fn transposed(&self, columns: usize) -> Self {
        let mut starts = vec![0; columns + 1];
        for cell in &self.cells {
            starts[cell.column() + 1] += 1;
        }
        for column in 0..columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut cells = vec![SparseCell::default(); self.cells.len()];
        for row in 0..self.rows() {
            for cell in self.row(row) {
                let slot = &mut next[cell.column()];
                cells[*slot as usize] = SparseCell((row as u32) << 16 | cell.0 & 0xffff);
                *slot += 1;
            }
        }
        Sparse { starts, cells }
    }

    /// Returns the expected number of correctly aligned residues: the sum of probabilities along
    /// the best chain.
    pub(super) fn accuracy(&self) -> f32 {
        let mut chain = BestChain::default();
        for row in 0..self.rows() {
            chain.add_row(row, self.row(row).iter().map(|cell| (cell.column(), cell.probability())));
        }
        chain.best().0
    }
}

const NO_LINK: u32 = u32::MAX;

/// Number of steps at the end of the list that are searched one by one. The rest is searched by
/// bisection. Most entries are near the end.
const NEAR_STEPS: usize = 8;

/// Finds the chain of entries with the greatest sum, in which rows and columns both increase. Rows
/// are added one after the other.
#[derive(Debug, Default)]
pub(super) struct BestChain {
    /// Columns where the highest sum of a chain up to that column increases. Columns and sums both
    /// increase along the list.
    steps: Vec<ChainStep>,
    links: Vec<ResidueLink>,
    row: Vec<(usize, f32, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct ChainStep {
    column: u32,
    sum: f32,
    link: u32,
}

#[derive(Debug, Clone, Copy)]
struct ResidueLink {
    row: u32,
    column: u32,
    before: u32,
}

impl BestChain {
    /// Adds a row of entries with increasing columns.
    pub(super) fn add_row(&mut self, row: usize, entries: impl Iterator<Item = (usize, f32)>) {
        self.row.clear();
        for (column, value) in entries {
            let (sum, link) = self.steps_before(column as u32).checked_sub(1).map_or((0.0, NO_LINK), |at| {
                let step = self.steps[at];
                (step.sum, step.link)
            });
            self.row.push((column, sum + value, link));
        }
        for index in 0..self.row.len() {
            let (column, sum, before) = self.row[index];
            let column = column as u32;
            let at = self.steps_before(column);
            if at.checked_sub(1).is_some_and(|at| self.steps[at].sum >= sum)
                || self.steps.get(at).is_some_and(|step| step.column == column && step.sum >= sum)
            {
                continue;
            }
            let step = ChainStep { column, sum, link: self.links.len() as u32 };
            self.links.push(ResidueLink { row: row as u32, column, before });
            match self.steps[at..].iter().take_while(|step| step.sum <= sum).count() {
                0 => self.steps.insert(at, step),
                passed => {
                    self.steps[at] = step;
                    self.steps.drain(at + 1..at + passed);
                }
            }
        }
    }

    /// Returns the number of steps before a column.
    fn steps_before(&self, column: u32) -> usize {
        let far = self.steps.len().saturating_sub(NEAR_STEPS);
        match self.steps[far..].iter().rposition(|step| step.column < column) {
            Some(at) => far + at + 1,
            None => self.steps[..far].partition_point(|step| step.column < column),
        }
    }

    /// Returns the highest sum and the entries of its chain, in increasing order.
    pub(super) fn best(&self) -> (f32, Vec<(u32, u32)>) {
        let (sum, mut link) = self.steps.last().map_or((0.0, NO_LINK), |step| (step.sum, step.link));
        let mut entries = Vec::new();
        while link != NO_LINK {
            let ResidueLink { row, column, before } = self.links[link as usize];
            entries.push((row, column));
            link = before;
        }
        entries.reverse();
        (sum, entries)
    }
}

/// Returns the number of columns in the union of two rows.
fn merged_columns(a: &[SparseCell], b: &[SparseCell]) -> usize {
    let mut rest = a.iter().peekable();
    let mut columns = a.len();
    for cell in b {
        while rest.next_if(|other| other.column() < cell.column()).is_some() {}
        columns += usize::from(rest.next_if(|other| other.column() == cell.column()).is_none());
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_chain_equals_the_full_table() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut random = fastrand::Rng::with_seed(seed);
            let (rows, columns) = (random.usize(0..12), random.usize(1..12));
            let mut table = vec![vec![0.0f32; columns]; rows];
            let mut chain = BestChain::default();
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
    fn entries_may_come_in_any_order() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut rng = fastrand::Rng::with_seed(seed);
            let (rows, columns) = (rng.usize(0..9), rng.u32(1..70));
            let all = (0..rows as u32).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let all: Vec<(u32, u32)> = all.filter(|_| rng.u32(..3) == 0).collect();
            let mut pairs: Vec<ResiduePair> =
                all.into_iter().rev().map(|(row, column)| (row, column, rng.f32())).collect();
            let expected = Sparse::new(rows, &pairs);
            rng.shuffle(&mut pairs);
            assert_eq!(Sparse::from_any_order(rows, pairs.iter().copied()), expected);
        }
    }

    /// Shares are rounded down, and the sum does not depend on the order of the matrices.
    #[test]
    fn shares_of_models_are_added_in_any_order() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut rng = fastrand::Rng::with_seed(seed);
            let (rows, columns, models) = (rng.usize(0..9), rng.u32(1..20), rng.u32(2..7));
            let mut table = vec![0; rows * columns as usize];
            let mut matrices = Vec::new();
            for _ in 0..models {
                let mut cells = Vec::new();
                for row in 0..rows as u32 {
                    for column in 0..columns {
                        if rng.bool() {
                            continue;
                        }
                        let probability = if rng.u32(..9) == 0 { 1.0 } else { rng.f32() };
                        table[(row * columns + column) as usize] +=
                            SparseCell::new(column, probability).share() / models;
                        cells.push((row, column, probability));
                    }
                }
                matrices.push(Sparse::from_any_order(rows, cells.into_iter()));
            }
            let sum_of = |matrices: &[Sparse]| {
                let mut sum = Sparse::empty(rows);
                matrices.iter().for_each(|matrix| sum.add_share(matrix, models));
                sum
            };
            let mut sum = sum_of(&matrices);
            for (at, &share) in table.iter().enumerate() {
                let (row, column) = (at / columns as usize, at % columns as usize);
                let cell = sum.row(row).iter().find(|cell| cell.column() == column);
                assert_eq!(cell.map_or(0, |cell| cell.share()), share);
            }
            assert!(sum.is_within(columns as usize));
            matrices.reverse();
            assert_eq!(sum_of(&matrices), sum);
            sum.retain_from(0.5);
            let above = table.iter().filter(|&&share| share as f32 * (1.0 / ONE) >= 0.5).count();
            assert_eq!(sum.cells(), above);
        }
    }

    #[test]
    fn transposing_twice_restores_the_matrix() {
        let pairs = [(3, 1, 0.25), (1, 4, 1.0), (1, 0, 0.5), (0, 2, 0.125)];
        let sparse = Sparse::new(4, &pairs);
        assert_eq!(sparse.row(1).iter().map(|cell| cell.column()).collect::<Vec<_>>(), [0, 4]);
        assert!((sparse.row(3)[0].probability() - 0.25).abs() < 1e-4 && sparse.row(2).is_empty());
        let transposed = sparse.transposed(5);
        assert_eq!((transposed.rows(), transposed.row(4)[0].column()), (5, 1));
        assert_eq!(transposed.transposed(4), sparse);
        assert!((sparse.accuracy() - 1.125).abs() < 1e-4);
    }
}
