//! Trains the pair hidden Markov model of nucleotides that `pairwave msa` uses, from reference
//! alignments by maximum likelihood, and prints it as the constant `NUCLEOTIDES` of
//! `src/posterior/model.rs`. The shipped values come from 141 alignments of 5 to 10 sequences of 56
//! Rfam families:
//!
//! ```text
//! cargo run --release -p pairwave-benches --bin train_nucleotides -- FOLDER
//! ```
//!
//! The program reads all files `*.ref.fa` below the folder, in the order of their paths. Each pair
//! of rows is one observation. Its weight is (1 - identity)² divided by the number of pairs of its
//! alignment, because parameters decide little in close relatives.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pairwave::Alphabet;
use pairwave::seq::aligned::is_gap;
use pairwave::seq::{AlignedRows, Code};

/// Suffix of the files that are read.
const SUFFIX: &str = ".ref.fa";
/// Code of a letter that represents any base.
const UNKNOWN: Code = 15;

/// Weighted numbers of events in the pairs of rows.
#[derive(Default)]
struct Counts {
    /// Pairs of bases in a column, in both orders.
    pairs: [[f64; 4]; 4],
    /// Columns with two bases that follow such a column.
    matches: f64,
    /// Inner gaps and their symbols.
    gaps: f64,
    gap_symbols: f64,
    /// Ends of alignments with and without a gap, and the symbols of their gaps.
    end_gaps: f64,
    plain_ends: f64,
    end_symbols: f64,
}

/// Kinds of columns of two rows.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Both(Code, Code),
    First,
    Second,
}

impl Column {
    fn is_match(self) -> bool {
        matches!(self, Column::Both(..))
    }
}

/// Returns the columns of two rows without those where both have a gap.
fn columns(a: &[u8], b: &[u8]) -> Vec<Column> {
    let code = |letter: u8| Alphabet::Dna.encode(letter.to_ascii_uppercase()).unwrap_or(UNKNOWN);
    let column = |(&a, &b): (&u8, &u8)| match (is_gap(a), is_gap(b)) {
        (false, false) => Some(Column::Both(code(a), code(b))),
        (false, true) => Some(Column::First),
        (true, false) => Some(Column::Second),
        (true, true) => None,
    };
    a.iter().zip(b).filter_map(column).collect()
}

/// Returns the base of a code that represents only one.
fn base(code: Code) -> Option<usize> {
    code.is_power_of_two().then(|| code.trailing_zeros() as usize)
}

impl Counts {
    /// Adds a pair of rows with the given factor of its weight.
    fn add(&mut self, columns: &[Column], factor: f64) {
        let Some(first) = columns.iter().position(|column| column.is_match()) else { return };
        let last = columns.iter().rposition(|column| column.is_match()).unwrap_or(first);
        let inner = &columns[first..=last];
        let matched = inner.iter().filter(|column| column.is_match()).count();
        let equal = inner.iter().filter(|column| matches!(column, Column::Both(a, b) if a == b)).count();
        let distance = 1.0 - equal as f64 / matched as f64;
        let weight = factor * distance * distance;
        for symbols in [first, columns.len() - 1 - last] {
            if symbols > 0 {
                self.end_gaps += weight;
                self.end_symbols += weight * symbols as f64;
            } else {
                self.plain_ends += weight;
            }
        }
        for (index, &column) in inner.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| inner[before]);
            match column {
                Column::Both(a, b) => {
                    if let (Some(a), Some(b)) = (base(a), base(b)) {
                        self.pairs[a][b] += weight / 2.0;
                        self.pairs[b][a] += weight / 2.0;
                    }
                    if before.is_some_and(Column::is_match) {
                        self.matches += weight;
                    }
                }
                gap => {
                    self.gap_symbols += weight;
                    if before != Some(gap) {
                        self.gaps += weight;
                    }
                }
            }
        }
    }

    /// Returns the lines of the constant.
    fn print(&self) -> String {
        let total: f64 = self.pairs.iter().flatten().sum();
        let row = |row: &[f64; 4]| row.map(|count| decimal(count / total)).join(", ");
        let joint: Vec<String> = self.pairs.iter().map(|pairs| format!("        [{}],\n", row(pairs))).collect();
        let values = [
            ("open", self.gaps / (self.gaps + self.matches) / 2.0),
            ("extend", 1.0 - self.gaps / self.gap_symbols),
            ("end_gap", self.end_gaps / (self.end_gaps + self.plain_ends) / 2.0),
            ("end_extend", 1.0 - self.end_gaps / self.end_symbols),
        ];
        let values = values.map(|(name, value)| format!("    {name}: {},\n", decimal(value)));
        format!("    joint: [\n{}    ],\n{}", joint.concat(), values.concat())
    }
}

/// Returns a fraction with nine digits, in groups of three.
fn decimal(value: f64) -> String {
    let digits = format!("{value:.9}");
    format!("{}_{}_{}", &digits[..5], &digits[5..8], &digits[8..])
}

/// Lists the reference alignments below a folder, in the order of their paths.
fn alignments(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(alignments(&path)?);
        } else if path.to_string_lossy().ends_with(SUFFIX) {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

/// Counts the events in all reference alignments below a folder.
fn count_events(folder: &str) -> Result<Counts, String> {
    let files = alignments(Path::new(folder)).map_err(|error| format!("{folder}: {error}"))?;
    if files.is_empty() {
        return Err(format!("{folder}: no file ends with {SUFFIX}"));
    }
    let mut counts = Counts::default();
    for file in files {
        let rows = AlignedRows::read(&file).map_err(|error| error.to_string())?.rows;
        let pairs = rows.len() * (rows.len() - 1) / 2;
        for (index, b) in rows.iter().enumerate() {
            for a in &rows[..index] {
                counts.add(&columns(a, b), 1.0 / pairs as f64);
            }
        }
    }
    Ok(counts)
}

fn main() -> ExitCode {
    let folder = std::env::args().nth(1).ok_or_else(|| "usage: train_nucleotides FOLDER".to_owned());
    match folder.and_then(|folder| count_events(&folder)) {
        Ok(counts) => {
            print!("{}", counts.print());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
