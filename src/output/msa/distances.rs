//! Distances between all sequences, with six decimals.

use super::{Output, characters, push_padded};
use crate::error::{Error, Result};
use crate::output::DistanceMatrixShape;
use crate::output::numbers::{push_fraction, push_unsigned};
use crate::seq::{NameRules, Renamed};
use crate::tree::Distances;

/// The format of distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceFormat {
    /// The number of sequences, and then a line for each with its name and its distances to all
    /// others, or (lower) to the sequences before it.
    Phylip(DistanceMatrixShape),
    /// A line of names, and then a line for each sequence with its distances to all.
    Tsv,
    /// ClustalW's format: the number of sequences, and then the name and the distances to all for
    /// each, with three decimals and eight distances per line. The last line has no line end.
    Clustal,
}

/// Writes the distances between sequences, with rows and columns in this order, and returns the
/// names that were changed.
///
/// # Errors
/// Returns [`Error::Internal`] if names and order do not match the distances or a distance is NaN,
/// and [`Error::Io`] if writing fails.
pub fn write_distances(
    format: DistanceFormat,
    distances: &Distances,
    names: &[&[u8]],
    order: &[u32],
    mut output: Output,
) -> Result<Vec<Renamed>> {
    let count = distances.sequences();
    if names.len() != count || order.iter().any(|&row| row as usize >= count) {
        return Err(Error::Internal("distances of other sequences".into()));
    }
    let rules = match format {
        DistanceFormat::Phylip(_) => NameRules::PHYLIP,
        DistanceFormat::Clustal => NameRules::CLUSTALW,
        DistanceFormat::Tsv => NameRules::TSV,
    };
    let (names, renamed) = rules.apply(names, order);
    let (width, separator) = match format {
        DistanceFormat::Phylip(_) => {
            push_unsigned(output.buffer(), names.len() as u64);
            // Ten characters, so that strict readers accept short names.
            (names.iter().map(|name| characters(name)).max().unwrap_or(0).max(10), b' ')
        }
        DistanceFormat::Clustal => {
            push_clustal(&mut output, distances, &names, order)?;
            output.finish()?;
            return Ok(renamed);
        }
        DistanceFormat::Tsv => {
            let out = output.buffer();
            out.extend_from_slice(b"name");
            for name in &names {
                out.push(b'\t');
                out.extend_from_slice(name);
            }
            (0, b'\t')
        }
    };
    output.buffer().push(b'\n');
    for (row, name) in names.iter().enumerate() {
        let columns = match format {
            DistanceFormat::Phylip(DistanceMatrixShape::Lower) => row,
            _ => names.len(),
        };
        let out = output.buffer();
        push_padded(out, name, width);
        for &column in &order[..columns] {
            let distance = distances.get(order[row] as usize, column as usize);
            out.push(separator);
            push_distance(out, distance)?;
        }
        out.push(b'\n');
        output.pass_on()?;
    }
    output.finish()?;
    Ok(renamed)
}

fn push_clustal<N: AsRef<[u8]>>(output: &mut Output, distances: &Distances, names: &[N], order: &[u32]) -> Result<()> {
    let width = names.iter().map(|name| characters(name.as_ref())).max().unwrap_or(0).max(10);
    output.buffer().extend_from_slice(format!("{:>6}", names.len()).as_bytes());
    for (row, name) in names.iter().enumerate() {
        let out = output.buffer();
        out.push(b'\n');
        push_padded(out, name.as_ref(), width);
        out.push(b' ');
        for (at, &column) in order.iter().enumerate() {
            if at > 0 && at % 8 == 0 {
                out.extend_from_slice(b"\n          ");
            }
            let distance = format!("{:.3}", distances.get(order[row] as usize, column as usize));
            out.extend_from_slice(format!(" {distance:<6}").as_bytes());
        }
        output.pass_on()?;
    }
    Ok(())
}

fn push_distance(out: &mut Vec<u8>, distance: f64) -> Result<()> {
    // The digits of greater distances would not fit the integer.
    const MAX: f64 = 1e12;
    if distance.is_nan() || distance.abs() > MAX {
        return Err(Error::Internal(format!("a distance of {distance}")));
    }
    if distance < 0.0 {
        out.push(b'-');
    }
    push_fraction(out, distance.abs());
    Ok(())
}
