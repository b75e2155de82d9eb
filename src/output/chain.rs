//! The format `chain`: UCSC's chains for `liftOver` and other programs, from the target to the
//! query. Each alignment is a chain, and numbers from 1 are the identifiers.
//!
//! A chain starts and ends with a column of two symbols, whatever end gaps cost. Positions count
//! from 0 on the aligned strand. Chains do not store which symbols match. Between two columns, they
//! do not store the order of an insertion and a deletion.

use super::Output;
use super::aligned_part::AlignedCore;
use super::columns::is_gap;
use super::long_context::{LongContext, LongPairAlignment};
use super::numbers::{push_integer, push_unsigned};
use crate::alignment::Op;
use crate::error::Result;

/// Writes a chain for each alignment with a column of two symbols.
pub(super) fn write(context: &LongContext, alignments: &[LongPairAlignment<'_>], output: &mut Output) -> Result<()> {
    let mut identifier = 0;
    for alignment in alignments {
        let (strand, pair) = context.pair(alignment)?;
        let Some(core) = AlignedCore::from_pair(strand, &pair)? else { continue };
        identifier += 1;
        let out = output.buffer();
        out.extend_from_slice(b"chain ");
        push_integer(out, alignment.score);
        let sign = if alignment.is_reverse { b'-' } else { b'+' };
        let sides = [
            (strand.targets.name_bytes(pair.target), strand.targets.length(pair.target), b'+', core.target),
            (strand.queries.name_bytes(pair.query), strand.queries.length(pair.query), sign, core.query),
        ];
        for (name, length, sign, part) in sides {
            out.push(b' ');
            out.extend_from_slice(name);
            out.push(b' ');
            push_unsigned(out, length.into());
            out.extend_from_slice(&[b' ', sign]);
            for position in [part.start, part.end] {
                out.push(b' ');
                push_unsigned(out, position.into());
            }
        }
        out.push(b' ');
        push_unsigned(out, identifier);
        push_blocks(&core, out);
        out.extend_from_slice(b"\n\n");
        output.pass_on()?;
    }
    Ok(())
}

/// Appends the lines of the blocks: size, and the gaps before the next block in target and query.
fn push_blocks(core: &AlignedCore, out: &mut Vec<u8>) {
    let mut size = 0u64;
    // Target and query symbols in the gap after the block.
    let mut gap = (0u64, 0u64);
    for &(length, op) in &core.runs {
        if !is_gap(op) && gap != (0, 0) {
            out.push(b'\n');
            push_unsigned(out, size);
            for symbols in [gap.0, gap.1] {
                out.push(b'\t');
                push_unsigned(out, symbols);
            }
            (size, gap) = (0, (0, 0));
        }
        match op {
            Op::Match | Op::Mismatch => size += u64::from(length),
            Op::Deletion => gap.0 += u64::from(length),
            Op::Insertion => gap.1 += u64::from(length),
        }
    }
    out.push(b'\n');
    push_unsigned(out, size);
}
