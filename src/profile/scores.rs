//! Scores of the columns of two profiles.
//!
//! The score of two columns is a product of vectors, a tenth of it: what each letter scores with the first column times how many
//! tenths of the second it is. Profiles of like sequences have few different columns, so products are computed of different
//! columns only; if the table of all scores is small it is kept, otherwise rows are computed when they are asked for.

use std::collections::HashMap;

use crate::simd::{InstructionSet, Simd, SimdKernel};

/// How many scores are kept at most.
const KEPT: usize = 1 << 22;

/// Scores of any column of one profile with any of another.
#[derive(Debug)]
pub struct Scores {
    /// Different columns of the first profile, letters of one column first.
    first: Vec<i32>,
    /// Which of them each column is.
    first_places: Vec<u32>,
    /// Different columns of the second profile, of those letters that it has, all columns of the first letter first.
    second: Vec<i32>,
    /// How many different columns these are.
    second_count: usize,
    /// Which of them each column is; none if that is each itself.
    second_places: Option<Vec<u32>>,
    /// Letters that the second profile has.
    used: Vec<usize>,
    letters: usize,
    second_columns: usize,
    /// All rows of different columns of the first profile.
    table: Option<Vec<i32>>,
}

/// Different columns, and which of them each is.
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

impl Scores {
    /// Of two profiles, each with the letters of its first column first.
    ///
    /// # Panics
    /// If there are no letters, or the processor does not have the instructions.
    pub fn new(first: &[i32], second: &[i32], letters: usize, level: InstructionSet) -> Scores {
        Scores::keeping(first, second, letters, level, KEPT)
    }

    /// As above, for whoever asks for few of all scores: none are kept.
    ///
    /// # Panics
    /// As above.
    pub fn sparingly(first: &[i32], second: &[i32], letters: usize, level: InstructionSet) -> Scores {
        Scores::keeping(first, second, letters, level, 0)
    }

    /// As above; so many scores are kept at most.
    pub(super) fn keeping(first: &[i32], second: &[i32], letters: usize, level: InstructionSet, most: usize) -> Scores {
        let (first_all, first_places) = distinct(first, letters);
        let (mut second_all, second_places) = distinct(second, letters);
        let second_columns = second_places.len();
        let mut second_places = Some(second_places);
        if 2 * second_all.len() > second_columns {
            second_all = second.chunks_exact(letters).collect();
            second_places = None;
        }
        let used: Vec<usize> = (0..letters).filter(|&letter| second_all.iter().any(|c| c[letter] != 0)).collect();
        let mut scores = Scores {
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
            scores.table = Some(level.run(Rows { scores: &scores, rows: first_all.len() }));
        }
        scores
    }

    /// Columns of both profiles.
    pub fn columns(&self) -> [usize; 2] {
        [self.first_places.len(), self.second_columns]
    }

    /// The scores of a column of the first profile, if they are kept.
    #[inline(always)]
    pub(super) fn kept(&self, first: usize) -> Option<&[i32]> {
        let row = self.first_places[first] as usize;
        self.table.as_ref().map(|table| &table[row * self.second_columns..][..self.second_columns])
    }

    /// Computes the scores of a different column of the first profile with the different ones of the second.
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

    /// Computes the scores of a column of the first profile with columns of the second; `spare` has room for a row.
    #[inline(always)]
    pub(super) fn compute(&self, first: usize, from: usize, row: &mut [i32], spare: &mut Vec<i32>) {
        self.expand(self.first_places[first] as usize, from, row, spare);
    }

    /// A small part of a row, without what is not asked for.
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
                    for (sum, &place) in products.iter_mut().zip(&places[from..]) {
                        *sum = sum.wrapping_add(score.wrapping_mul(tenths[place as usize]));
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
                row.iter_mut().zip(places).for_each(|(score, &place)| *score = spare[place as usize]);
            }
        }
    }

    /// The score of two columns.
    pub fn score(&self, first: usize, second: usize) -> i32 {
        if let Some(row) = self.kept(first) {
            return row[second];
        }
        let column = &self.first[self.first_places[first] as usize * self.letters..][..self.letters];
        let place = self.second_places.as_ref().map_or(second, |places| places[second] as usize);
        let tenths = |k: usize| self.second[k * self.second_count + place];
        let products = self.used.iter().enumerate().map(|(k, &letter)| column[letter].wrapping_mul(tenths(k)));
        products.fold(0i32, i32::wrapping_add) / 10
    }
}

/// All rows.
struct Rows<'a> {
    scores: &'a Scores,
    rows: usize,
}

impl SimdKernel for Rows<'_> {
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
