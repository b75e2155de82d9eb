//! `phylip`: a distance matrix as phylogeny programs read it.
//!
//! One file against itself gives the square matrix or its lower triangle (without the diagonal): the number of
//! sequences, then a line for each with its name and its distances. Names are relaxed PHYLIP: of any length, ended by a
//! blank; short ones are filled up to the ten characters of strict PHYLIP, so that both kinds of reader take them.
//! A name that PHYLIP cannot hold, or that another row has, is changed as in alignments ([`NameRules::PHYLIP`]).
//!
//! One file against another gives a rectangle, which PHYLIP does not know: the numbers of rows and of columns, a line
//! with the columns' names, then the rows (queries) as above.
//!
//! A pair too far apart for the formula, or without a column to compare, gets -1, as PHYLIP's dnadist writes it. Some
//! readers take that as infinite and some take it literally, so that a warning tells how many there are.

use super::distance::{Distance, Substitutions};
use super::numbers::{push_units, push_unsigned, to_units};
use super::{Body, Context, Line, Output, Pair};
use crate::error::{Error, Result};
use crate::score::Mode;
use crate::seq::{NameRules, SequenceStore};

/// Which part of a matrix is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MatrixShape {
    /// All of it.
    #[default]
    Square,
    /// The half below the diagonal.
    Lower,
}

/// Greatest number of changed names that are listed one by one.
const NAMED: usize = 5;
/// Digits after the point.
const DIGITS: u32 = 6;
const MISSING: u32 = u32::MAX;
const SATURATED: u32 = u32::MAX - 1;
const MAX: u32 = u32::MAX - 2;

/// Keeps the whole matrix, four bytes a pair: distances in millionths, just as they are printed.
pub(super) struct Phylip {
    distance: Distance,
    shape: MatrixShape,
    /// Of one set: row by row the triangle below the diagonal. Of two: row by row the rectangle.
    millionths: Vec<u32>,
}

impl Phylip {
    pub(super) fn new(distance: Distance, shape: MatrixShape, context: &Context) -> Result<Self> {
        let (rows, columns) = (context.queries.len(), context.targets.len());
        if context.scoring.mode == Mode::Local {
            return Err(Error::usage_of(
                "mode",
                "distances compare whole sequences: local alignments give no matrix of them",
            ));
        }
        if !context.is_one_set() && shape == MatrixShape::Lower {
            return Err(Error::usage_of("shape", "a matrix of two files has no lower triangle"));
        }
        let pairs = if context.is_one_set() { triangle(rows) } else { rows * columns };
        let mut millionths = Vec::new();
        millionths.try_reserve_exact(pairs).map_err(|_| {
            let gibibytes = pairs as f64 * 4.0 / (1u64 << 30) as f64;
            Error::usage(format!(
                "a matrix of {pairs} distances needs {gibibytes:.1} GiB of memory, which there is not"
            ))
        })?;
        millionths.resize(pairs, MISSING);
        Ok(Phylip { distance, shape, millionths })
    }

    fn push_value(&self, out: &mut Vec<u8>, at: usize) -> Result<()> {
        out.push(b' ');
        match self.millionths[at] {
            MISSING => return Err(Error::Internal(format!("no distance for place {at} of the matrix"))),
            SATURATED => out.extend_from_slice(b"-1.000000"),
            millionths => push_units(out, u64::from(millionths), DIGITS),
        }
        Ok(())
    }

    fn end_one_set(&self, context: &Context, output: &mut Output) -> Result<()> {
        let count = context.queries.len();
        let names = written_names(&context.queries);
        push_unsigned(output.buffer(), count as u64);
        output.buffer().push(b'\n');
        for (row, name) in names.iter().enumerate() {
            let out = output.buffer();
            push_padded_name(out, name);
            for column in 0..row {
                self.push_value(out, triangle(row) + column)?;
            }
            if self.shape == MatrixShape::Square {
                out.extend_from_slice(b" 0.000000");
                for column in row + 1..count {
                    self.push_value(out, triangle(column) + row)?;
                }
            }
            out.push(b'\n');
            output.pass_on()?;
        }
        Ok(())
    }

    fn end_two_sets(&self, context: &Context, output: &mut Output) -> Result<()> {
        let (rows, columns) = (context.queries.len(), context.targets.len());
        let [row_names, column_names] = [&context.queries, &context.targets].map(|sequences| written_names(sequences));
        let out = output.buffer();
        push_unsigned(out, rows as u64);
        out.push(b' ');
        push_unsigned(out, columns as u64);
        out.push(b'\n');
        out.extend_from_slice(&column_names.join(&b' '));
        out.push(b'\n');
        for (row, name) in row_names.iter().enumerate() {
            let out = output.buffer();
            push_padded_name(out, name);
            for column in 0..columns {
                self.push_value(out, row * columns + column)?;
            }
            out.push(b'\n');
            output.pass_on()?;
        }
        Ok(())
    }
}

impl Body for Phylip {
    fn lines(&self) -> Option<&dyn Line> {
        None
    }

    fn pair(&mut self, context: &Context, pair: &Pair<'_>, _output: &mut Output) -> Result<()> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let alphabet = context.queries.alphabet();
        let found = match self.distance {
            Distance::Identity => Substitutions::default(),
            _ => {
                let (query, target) = (context.query_codes(pair), context.targets.codes(pair.target));
                Substitutions::count(cigar, &query, target, alphabet)
            }
        };
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let identity = context.identity.identity(&pair.counts.unwrap_or_else(|| cigar.counts()), lengths.0, lengths.1);
        let millionths = match found.distance(self.distance, alphabet, identity) {
            Some(distance) => to_units(distance, DIGITS).min(u64::from(MAX)) as u32,
            None => SATURATED,
        };
        let (row, column) = (pair.query as usize, pair.target as usize);
        let at = if context.is_one_set() {
            triangle(row.max(column)) + row.min(column)
        } else {
            row * context.targets.len() + column
        };
        self.millionths[at] = millionths;
        Ok(())
    }

    fn end(&mut self, context: &Context, output: &mut Output) -> Result<()> {
        let saturated = self.millionths.iter().filter(|&&value| value == SATURATED).count();
        if saturated > 0 {
            tracing::warn!(
                "{saturated} of {} pairs are too far apart for this distance: the matrix has -1 for them",
                self.millionths.len()
            );
        }
        if context.is_one_set() { self.end_one_set(context, output) } else { self.end_two_sets(context, output) }
    }
}

/// Cells of a triangle's first `rows` rows: where row `rows` begins.
fn triangle(rows: usize) -> usize {
    rows * rows.saturating_sub(1) / 2
}

/// Returns the names of sequences as PHYLIP holds them, and warns of changed names.
fn written_names(sequences: &SequenceStore) -> Vec<Vec<u8>> {
    let order: Vec<u32> = (0..sequences.len() as u32).collect();
    let names: Vec<&[u8]> = order.iter().map(|&id| sequences.name_bytes(id)).collect();
    let (written, renamed) = NameRules::PHYLIP.apply(&names, &order);
    renamed.iter().take(NAMED).for_each(|one| tracing::warn!("{one}"));
    if renamed.len() > NAMED {
        tracing::warn!("{} names in all are not those of the input", renamed.len());
    }
    written
}

fn push_padded_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(name);
    out.extend(std::iter::repeat_n(b' ', 10usize.saturating_sub(name.len())));
}
