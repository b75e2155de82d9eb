//! The format `maf`: UCSC's multiple alignment format, version 1. Each alignment is a block with a
//! line for the target, which is the reference, and one for the query.
//!
//! Positions count from 0 on the aligned strand. On the minus strand, they count from the end of the
//! query as in its file. As in `paf`, end gaps are columns only if they cost as much as inner gaps.

use super::aligned_part::AlignedPart;
use super::columns::push_row;
use super::long_context::{LongContext, LongPairAlignment};
use super::numbers::{push_integer, push_unsigned};
use super::{Output, OutputPair, Range32};
use crate::alignment::Op;
use crate::error::Result;

/// Writes the header and a block for each alignment.
pub(super) fn write(context: &LongContext, alignments: &[LongPairAlignment<'_>], output: &mut Output) -> Result<()> {
    output.buffer().extend_from_slice(b"##maf version=1 scoring=pairwave\n");
    for alignment in alignments {
        let (strand, pair) = context.pair(alignment)?;
        let Some(part) = AlignedPart::from_pair(strand, &pair)? else { continue };
        let OutputPair { query, target, .. } = pair;
        output.buffer().extend_from_slice(b"\na score=");
        push_integer(output.buffer(), alignment.score);
        output.buffer().push(b'\n');
        let alphabet = context.alphabet();
        push_source(output, strand.targets.name_bytes(target), part.target, b'+', strand.targets.length(target));
        let codes = strand.targets.codes(target);
        push_row(output.buffer(), part.runs(), codes, part.target.start, alphabet, Op::Insertion);
        output.buffer().push(b'\n');
        output.pass_on()?;
        let sign = if alignment.is_reverse { b'-' } else { b'+' };
        push_source(output, strand.queries.name_bytes(query), part.query, sign, strand.queries.length(query));
        let codes = strand.queries.codes(query);
        push_row(output.buffer(), part.runs(), codes, part.query.start, alphabet, Op::Deletion);
        output.buffer().push(b'\n');
        output.pass_on()?;
    }
    Ok(())
}

/// Appends the start of a line, up to the row of the alignment.
fn push_source(output: &mut Output, name: &[u8], part: Range32, strand: u8, length: u32) {
    let out = output.buffer();
    out.extend_from_slice(b"s ");
    out.extend_from_slice(name);
    for number in [part.start, part.end - part.start] {
        out.push(b' ');
        push_unsigned(out, number.into());
    }
    out.extend_from_slice(&[b' ', strand, b' ']);
    push_unsigned(out, length.into());
    out.push(b' ');
}
