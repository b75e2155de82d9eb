//! Directions of the cells of a tile, four bits per cell, in the order of computation.

/// Number of cells per u64 in rows that are computed one by one.
pub(super) const PACKED: usize = 16;

/// Next step of a traceback at a cell in state H.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectionStep {
    /// H is 0 and clamped: a local alignment starts here.
    Ends,
    /// Align two symbols.
    Two,
    /// Enter state I.
    Insertion,
    /// Enter state D.
    Deletion,
}

/// Directions of all cells of a tile.
///
/// A u64 consists of four fields of 16 bits, with one bit for each lane of a vector:
///
/// - Field 0: H comes from the alignment of two symbols.
/// - Field 1: H comes from I, and not from two symbols. Both bits are set where H is 0 and clamped.
/// - Field 2: the gap that enters the next row is opened here, not extended.
/// - Field 3: the gap that enters the next column is opened here, not extended.
#[derive(Debug, Default)]
pub struct TileDirections {
    words: Vec<u64>,
    columns: usize,
    strips: Vec<StripDirections>,
    /// Number of the strip of each row.
    of_row: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct StripDirections {
    first_row: usize,
    /// Index of its first u64.
    words: usize,
    /// Number of lanes, and number of rows per lane; `None` if rows were computed one by one.
    shape: Option<(usize, usize)>,
}

impl TileDirections {
    /// Returns the bytes of the directions.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>() + self.of_row.len() * size_of::<u32>()
    }

    /// Returns the next step of a traceback at a cell in state H. Row and column count from 0.
    pub fn step(&self, row: usize, column: usize) -> DirectionStep {
        let word = self.shifted_u64(row, column);
        match (word & 1, word >> 16 & 1) {
            (1, 1) => DirectionStep::Ends,
            (1, _) => DirectionStep::Two,
            (_, 1) => DirectionStep::Insertion,
            _ => DirectionStep::Deletion,
        }
    }

    /// Returns whether the gap that enters the row below a cell is opened at the cell. A traceback
    /// then leaves the gap there.
    pub fn insertion_leaves(&self, row: usize, column: usize) -> bool {
        self.shifted_u64(row, column) >> 32 & 1 == 1
    }

    /// Returns whether the gap that enters the column right of a cell is opened at the cell.
    pub fn deletion_leaves(&self, row: usize, column: usize) -> bool {
        self.shifted_u64(row, column) >> 48 & 1 == 1
    }

    /// Returns the u64 of a cell, shifted so that the cell's bits are the lowest bits of the
    /// fields.
    #[inline]
    fn shifted_u64(&self, row: usize, column: usize) -> u64 {
        let strip = self.strips[self.of_row[row] as usize];
        let row = row - strip.first_row;
        match strip.shape {
            Some((lanes, slots)) => {
                let (block, slot) = (row / slots, row % slots);
                self.words[strip.words + (column + block) * slots + slot] >> (lanes - 1 - block)
            }
            None => {
                self.words[strip.words + row * self.columns.div_ceil(PACKED) + column / PACKED] >> (column % PACKED)
            }
        }
    }

    /// Clears the directions for a tile of this number of columns.
    pub(super) fn clear(&mut self, columns: usize) {
        self.words.clear();
        self.strips.clear();
        self.of_row.clear();
        self.columns = columns;
    }

    /// Adds space for the directions of a strip.
    pub(super) fn strip(&mut self, first_row: usize, rows: usize, shape: Option<(usize, usize)>) -> &mut [u64] {
        let words = match shape {
            Some((lanes, slots)) => (self.columns + lanes - 1) * slots,
            None => self.columns.div_ceil(PACKED) * rows,
        };
        let begin = self.words.len();
        self.of_row.resize(first_row + rows, self.strips.len() as u32);
        self.strips.push(StripDirections { first_row, words: begin, shape });
        self.words.resize(begin + words, 0);
        &mut self.words[begin..]
    }
}
