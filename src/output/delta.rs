//! The format `delta`: MUMmer's alignments of nucleotides, for `show-coords`, `show-snps`,
//! `delta-filter`, `dnadiff` and `mummerplot`. The target is the reference.
//!
//! Positions count from 1 on the strand of the file, so the query's positions decrease on the minus
//! strand. An alignment starts and ends with a column of two symbols, whatever end gaps cost. The
//! numbers below an alignment are the distances from gap column to gap column: positive for a
//! reference symbol against a gap, negative for a query symbol against a gap.

use super::Output;
use super::aligned_part::AlignedCore;
use super::long_context::{LongContext, LongPairAlignment, LongPaths};
use super::numbers::push_unsigned;
use crate::alignment::Op;
use crate::error::Result;

/// Writes the header and all alignments with a column of two symbols. Each pair of sequences with
/// such an alignment has a line with its names and lengths.
pub(super) fn write(
    context: &LongContext,
    paths: &LongPaths,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    output.buffer().extend_from_slice(format!("{} {}\nNUCMER\n", paths.target, paths.query).as_bytes());
    let mut described_pair = None;
    for alignment in alignments {
        let (strand, pair) = context.pair(alignment)?;
        let (m, n) = (strand.queries.length(pair.query), strand.targets.length(pair.target));
        let Some(core) = AlignedCore::from_pair(strand, &pair)? else { continue };
        let out = output.buffer();
        let ids = Some((alignment.query_id, alignment.target_id));
        if std::mem::replace(&mut described_pair, ids) != ids {
            out.push(b'>');
            out.extend_from_slice(strand.targets.name_bytes(pair.target));
            out.push(b' ');
            out.extend_from_slice(strand.queries.name_bytes(pair.query));
            push_numbers(out, &[n, m]);
        }
        let query = match alignment.is_reverse {
            true => [m - core.query.start, m - core.query.end + 1],
            false => [core.query.start + 1, core.query.end],
        };
        push_unsigned(out, u64::from(core.target.start) + 1);
        let errors = core.edits();
        push_numbers(out, &[core.target.end, query[0], query[1], errors, errors, 0]);
        push_distances(&core, output)?;
    }
    Ok(())
}

/// Appends numbers after blanks, and the end of the line.
fn push_numbers(out: &mut Vec<u8>, numbers: &[u32]) {
    for &number in numbers {
        out.push(b' ');
        push_unsigned(out, number.into());
    }
    out.push(b'\n');
}

/// Writes a line for each gap column, and 0.
fn push_distances(core: &AlignedCore, output: &mut Output) -> Result<()> {
    let mut columns = 0;
    for &(length, op) in &core.runs {
        if matches!(op, Op::Match | Op::Mismatch) {
            columns += length;
            continue;
        }
        for _ in 0..length {
            if op == Op::Insertion {
                output.buffer().push(b'-');
            }
            push_unsigned(output.buffer(), u64::from(columns) + 1);
            output.buffer().push(b'\n');
            columns = 0;
        }
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"0\n");
    output.pass_on()
}
