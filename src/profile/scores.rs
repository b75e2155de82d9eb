//! Scores of the columns of two profiles.
//!
//! The score of two columns is a tenth of a scalar product: the score of each letter with the first
//! column times the share of this letter in the second column, in tenths. Profiles of similar
//! sequences have few distinct columns, so products are computed for distinct columns only. A small
//! table of all scores is stored. For larger tables, each row is computed when it is needed.

use std::collections::HashMap;

use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Maximum number of stored scores.
const MAX_STORED_SCORES: usize = 1 << 22;

/// Scores of the columns of one profile with the columns of another.
#[derive(Debug)]
pub struct ColumnScores {
    /// Distinct columns of the first profile. All letters of one column are consecutive.
    first: Vec<i32>,
    /// Index of the distinct column of each column.
    first_places: Vec<u32>,
    /// Distinct columns of the second profile, restricted to the letters that occur in it. All
    /// columns of one letter are consecutive.
    second: Vec<i32>,
    /// Number of distinct columns of the second profile.
    second_count: usize,
    /// Index of the distinct column of each column. `None` if all columns are stored.
    second_places: Option<Vec<u32>>,
    /// Letters that occur in the second profile.
    used: Vec<usize>,
    letters: usize,
    second_columns: usize,
    /// Scores of all distinct columns of the first profile, if they are stored.
    table: Option<Vec<i32>>,
}

/// Returns the distinct columns, and the index of the distinct column of each column.
fn distinct(columns: &[i32], letters: usize) -> (Vec<&[i32]>, Vec<u32>) {
    let mut known: HashMap<&[i32], u32> = HashMap::new();
    let mut all = Vec::new();
    let places = columns.chunks_exact(letters).map(|column| {
        *known.entry(column).or_insert_with(|| {
            all.push(column);
            all.len() as u32 - 1
        })
    });
    let places = places.collect();
    (all, places)
}

impl ColumnScores {
    /// Prepares the scores of two profiles. In both inputs, all letters of one column are
    /// consecutive.
    ///
    /// # Panics
    /// Panics if there are no letters, or if the processor does not have the instructions.
    pub fn new(first: &[i32], second: &[i32], letters: usize, instructions: InstructionSet) -> ColumnScores {
        ColumnScores::with_limit(first, second, letters, instructions, MAX_STORED_SCORES)
    }

    /// Prepares the scores without storing any, for callers that need few of them.
    ///
    /// # Panics
    /// Panics in the same cases as [`ColumnScores::new`].
    pub fn without_table(first: &[i32], second: &[i32], letters: usize, instructions: InstructionSet) -> ColumnScores {
        ColumnScores::with_limit(first, second, letters, instructions, 0)
    }

    /// Prepares the scores, and stores at most `most` of them.
    pub(super) fn with_limit(
        first: &[i32],
        second: &[i32],
        letters: usize,
        instructions: InstructionSet,
        most: usize,
    ) -> ColumnScores {
        let (first_all, first_places) = distinct(first, letters);
        let (mut second_all, second_places) = distinct(second, letters);
        let second_columns = second_places.len();
        let mut second_places = Some(second_places);
        if 2 * second_all.len() > second_columns {
            second_all = second.chunks_exact(letters).collect();
            second_places = None;
        }
        let used: Vec<usize> = (0..letters).filter(|&letter| second_all.iter().any(|c| c[letter] != 0)).collect();
        let mut scores = ColumnScores {
            first: first_all.concat(),
            first_places,
            second: used.iter().flat_map(|&letter| second_all.iter().map(move |column| column[letter])).collect(),
            second_count: second_all.len(),
            second_places,
            used,
            letters,
            second_columns,
            table: None,
        };
        if first_all.len().saturating_mul(second_columns) <= most {
            scores.table = Some(instructions.run(ComputeScoreTable { scores: &scores, rows: first_all.len() }));
        }
        scores
    }

    /// Returns the numbers of columns of both profiles.
    pub fn columns(&self) -> [usize; 2] {
        [self.first_places.len(), self.second_columns]
    }

    /// Returns the stored scores of a column of the first profile.
    #[inline(always)]
    pub(super) fn stored(&self, first: usize) -> Option<&[i32]> {
        let row = self.first_places[first] as usize;
        self.table.as_ref().map(|table| &table[row * self.second_columns..][..self.second_columns])
    }

    /// Computes the scores of a distinct column of the first profile with all distinct columns of
    /// the second.
    #[inline(always)]
    fn products(&self, row: usize, products: &mut [i32]) {
        products.fill(0);
        let column = &self.first[row * self.letters..][..self.letters];
        for (&letter, tenths) in self.used.iter().zip(self.second.chunks_exact(self.second_count.max(1))) {
            let score = column[letter];
            for (sum, &tenths) in products.iter_mut().zip(tenths) {
                *sum = sum.wrapping_add(score.wrapping_mul(tenths));
            }
        }
        products.iter_mut().for_each(|sum| *sum /= 10);
    }

    /// Computes the scores of a column of the first profile with consecutive columns of the second.
    /// `spare` is a buffer for a row.
    #[inline(always)]
    pub(super) fn compute(&self, first: usize, from: usize, row: &mut [i32], spare: &mut Vec<i32>) {
        self.expand(self.first_places[first] as usize, from, row, spare);
    }

    /// Computes a short part of a row directly, without the other columns.
    #[inline(always)]
    fn part(&self, row: usize, from: usize, products: &mut [i32]) {
        products.fill(0);
        let column = &self.first[row * self.letters..][..self.letters];
        for (&letter, tenths) in self.used.iter().zip(self.second.chunks_exact(self.second_count.max(1))) {
            let score = column[letter];
            match &self.second_places {
                None => {
                    for (sum, &tenths) in products.iter_mut().zip(&tenths[from..]) {
                        *sum = sum.wrapping_add(score.wrapping_mul(tenths));
                    }
                }
                Some(places) => {
                    for (sum, &index) in products.iter_mut().zip(&places[from..]) {
                        *sum = sum.wrapping_add(score.wrapping_mul(tenths[index as usize]));
                    }
                }
            }
        }
        products.iter_mut().for_each(|sum| *sum /= 10);
    }

    #[inline(always)]
    fn expand(&self, column: usize, from: usize, row: &mut [i32], spare: &mut Vec<i32>) {
        if 4 * row.len() < self.second_count {
            return self.part(column, from, row);
        }
        spare.resize(self.second_count, 0);
        self.products(column, spare);
        match &self.second_places {
            None => row.copy_from_slice(&spare[from..from + row.len()]),
            Some(places) => {
                let places = &places[from..from + row.len()];
                row.iter_mut().zip(places).for_each(|(score, &index)| *score = spare[index as usize]);
            }
        }
    }

    /// Returns the score of two columns.
    pub fn score(&self, first: usize, second: usize) -> i32 {
        if let Some(row) = self.stored(first) {
            return row[second];
        }
        let column = &self.first[self.first_places[first] as usize * self.letters..][..self.letters];
        let index = self.second_places.as_ref().map_or(second, |places| places[second] as usize);
        let tenths = |k: usize| self.second[k * self.second_count + index];
        let products = self.used.iter().enumerate().map(|(k, &letter)| column[letter].wrapping_mul(tenths(k)));
        products.fold(0i32, i32::wrapping_add) / 10
    }
}

/// Computes the table of all scores.
struct ComputeScoreTable<'a> {
    scores: &'a ColumnScores,
    rows: usize,
}

impl SimdKernel for ComputeScoreTable<'_> {
    type Output = Vec<i32>;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> Vec<i32> {
        let columns = self.scores.second_columns;
        let (mut table, mut spare) = (vec![0; self.rows * columns], Vec::new());
        for (row, entries) in table.chunks_exact_mut(columns.max(1)).enumerate() {
            self.scores.expand(row, 0, entries, &mut spare);
        }
        table
    }
}
