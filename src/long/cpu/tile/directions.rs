//! Directions of a tile's cells: four bits each, as its strips make them.

/// Cells of one row in a word, where rows are computed one by one.
pub(super) const PACKED: usize = 16;

/// Which way a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// H is 0 where H is cut off: a local alignment begins.
    Ends,
    /// Two symbols.
    Two,
    /// I.
    Insertion,
    /// D.
    Deletion,
}

/// Directions of all cells of a tile.
///
/// A word has, in each of four fields of 16 bits, one bit for each lane of a vector: whether H comes from two symbols;
/// from I, and not from two symbols (both bits: H is 0 where it is cut off); whether the gap that enters the next row is
/// opened here rather than extended; and the one that enters the next column.
#[derive(Debug, Default)]
pub struct Directions {
    words: Vec<u64>,
    columns: usize,
    strips: Vec<Place>,
    /// The strip of each row.
    of_row: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    first_row: usize,
    /// Where its words begin.
    words: usize,
    /// Lanes and rows a lane; none if rows were computed one by one.
    shape: Option<(usize, usize)>,
}

impl Directions {
    /// Bytes that are kept.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>() + self.of_row.len() * size_of::<u32>()
    }

    /// How a walk goes on from H of a cell (row and column from 0).
    pub fn step(&self, row: usize, column: usize) -> Step {
        let word = self.word(row, column);
        match (word & 1, word >> 16 & 1) {
            (1, 1) => Step::Ends,
            (1, _) => Step::Two,
            (_, 1) => Step::Insertion,
            _ => Step::Deletion,
        }
    }

    /// Whether the gap that enters the next row below a cell is opened there: a walk leaves it.
    pub fn insertion_leaves(&self, row: usize, column: usize) -> bool {
        self.word(row, column) >> 32 & 1 == 1
    }

    /// Whether the gap that enters the next column behind a cell is opened there.
    pub fn deletion_leaves(&self, row: usize, column: usize) -> bool {
        self.word(row, column) >> 48 & 1 == 1
    }

    /// The word of a cell, its bits moved to the lowest of each field.
    #[inline]
    fn word(&self, row: usize, column: usize) -> u64 {
        let place = self.strips[self.of_row[row] as usize];
        let row = row - place.first_row;
        match place.shape {
            Some((lanes, slots)) => {
                let (block, slot) = (row / slots, row % slots);
                self.words[place.words + (column + block) * slots + slot] >> (lanes - 1 - block)
            }
            None => {
                self.words[place.words + row * self.columns.div_ceil(PACKED) + column / PACKED] >> (column % PACKED)
            }
        }
    }

    /// Forgets all; the next tile has so many columns.
    pub(super) fn clear(&mut self, columns: usize) {
        self.words.clear();
        self.strips.clear();
        self.of_row.clear();
        self.columns = columns;
    }

    /// Room for a strip's words.
    pub(super) fn strip(&mut self, first_row: usize, rows: usize, shape: Option<(usize, usize)>) -> &mut [u64] {
        let words = match shape {
            Some((lanes, slots)) => (self.columns + lanes - 1) * slots,
            None => self.columns.div_ceil(PACKED) * rows,
        };
        let begin = self.words.len();
        self.of_row.resize(first_row + rows, self.strips.len() as u32);
        self.strips.push(Place { first_row, words: begin, shape });
        self.words.resize(begin + words, 0);
        &mut self.words[begin..]
    }
}
