//! The format `phylip`: a distance matrix for phylogeny programs.
//!
//! For one file against itself, it is the square matrix or its lower triangle without the diagonal.
//! The number of sequences is followed by a line for each with its name and its distances. Names
//! are relaxed PHYLIP: they have any length and end at a blank. Short names are padded to the ten
//! characters of strict PHYLIP, so that both kinds of reader accept them. A name that PHYLIP cannot
//! contain, or that another row has, is changed as in alignments ([`NameRules::PHYLIP`]).
//!
//! For one file against another, it is a rectangle, which PHYLIP does not define: the numbers of
//! rows and columns, a line with the columns' names, and then the rows (queries) in the format
//! above.
//!
//! A pair that is too distant for the formula or without comparable columns gets -1, as in PHYLIP's
//! dnadist. Some readers interpret that as infinite and some literally, so a warning reports the
//! number of such pairs.

use super::distance::{Distance, DistanceMatrixShape, Substitutions};
use super::msa::push_padded;
use super::numbers::{push_units, push_unsigned, to_units};
use super::{Context, FormatBody, Output, OutputPair, PairLine};
use crate::error::{Error, Result};
use crate::score::Mode;
use crate::seq::{NameRules, SequenceStore};

/// Maximum number of changed names that are listed.
const NAMED: usize = 5;
/// Number of characters in a strict name.
const STRICT_CHARS: usize = 10;
/// Number of decimals.
const DIGITS: u32 = 6;
const MISSING: u32 = u32::MAX;
const SATURATED: u32 = u32::MAX - 1;
const MAX: u32 = u32::MAX - 2;

/// The format `phylip`, which stores the whole matrix with four bytes per pair. Distances are in
/// millionths, which is the printed precision.
pub(super) struct Phylip {
    distance: Distance,
    shape: DistanceMatrixShape,
    /// Row by row, the triangle below the diagonal for one set, or the rectangle for two sets.
    millionths: Vec<u32>,
}

/// Refuses matrices that do not exist.
pub(super) fn check(shape: DistanceMatrixShape, context: &Context) -> Result<()> {
    if context.scoring.mode == Mode::Local {
        let message = "distances compare whole sequences: local alignments give no matrix of them";
        return Err(Error::usage_of("mode", message));
    }
    if !context.is_one_set() && shape == DistanceMatrixShape::Lower {
        return Err(Error::usage_of("shape", "a matrix of two files has no lower triangle"));
    }
    Ok(())
}

impl Phylip {
    pub(super) fn new(distance: Distance, shape: DistanceMatrixShape, context: &Context) -> Result<Self> {
        check(shape, context)?;
        let (rows, columns) = (context.queries.len(), context.targets.len());
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
        let names = written_names(&context.queries, output);
        push_unsigned(output.buffer(), count as u64);
        output.buffer().push(b'\n');
        for (row, name) in names.iter().enumerate() {
            let out = output.buffer();
            push_padded(out, name, STRICT_CHARS);
            for column in 0..row {
                self.push_value(out, triangle(row) + column)?;
            }
            if self.shape == DistanceMatrixShape::Square {
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
        let [row_names, column_names] =
            [&context.queries, &context.targets].map(|sequences| written_names(sequences, output));
        let out = output.buffer();
        push_unsigned(out, rows as u64);
        out.push(b' ');
        push_unsigned(out, columns as u64);
        out.push(b'\n');
        out.extend_from_slice(&column_names.join(&b' '));
        out.push(b'\n');
        for (row, name) in row_names.iter().enumerate() {
            let out = output.buffer();
            push_padded(out, name, STRICT_CHARS);
            for column in 0..columns {
                self.push_value(out, row * columns + column)?;
            }
            out.push(b'\n');
            output.pass_on()?;
        }
        Ok(())
    }
}

impl FormatBody for Phylip {
    fn lines(&self) -> Option<&dyn PairLine> {
        None
    }

    fn pair(&mut self, context: &Context, pair: &OutputPair<'_>, _output: &mut Output) -> Result<()> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let alphabet = context.queries.alphabet();
        let substitutions = match self.distance {
            Distance::Identity => Substitutions::default(),
            _ => {
                let (query, target) = (context.query_codes(pair), context.targets.codes(pair.target));
                Substitutions::count(cigar, &query, target, alphabet)
            }
        };
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let identity = context.identity.identity(&pair.counts.unwrap_or_else(|| cigar.counts()), lengths.0, lengths.1);
        let millionths = match substitutions.distance(self.distance, alphabet, identity) {
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

/// Returns the number of cells in the first `rows` rows of a triangle, which is the start of row
/// `rows`.
fn triangle(rows: usize) -> usize {
    rows * rows.saturating_sub(1) / 2
}

/// Returns the names of sequences in PHYLIP, and warns about changed names.
fn written_names(sequences: &SequenceStore, output: &Output) -> Vec<Vec<u8>> {
    let order: Vec<u32> = (0..sequences.len() as u32).collect();
    let names: Vec<&[u8]> = order.iter().map(|&id| sequences.name_bytes(id)).collect();
    let (written, renamed) = NameRules::PHYLIP.apply(&names, &order);
    let file = output.name().display();
    renamed.iter().take(NAMED).for_each(|one| tracing::warn!("{file}: {one}"));
    if renamed.len() > NAMED {
        tracing::warn!("{file}: {} names in total differ from the input", renamed.len());
    }
    written
}
