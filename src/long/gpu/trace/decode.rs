//! Decodes the results of the chase and the trace: the parts of a path and their columns.

use crate::alignment::cigar::{Cigar, Op};
use crate::long::PathPoint;
use crate::long::kernels::striped_trace::{PATHS_HEADER_WORDS, PathPart, Stop, point};

/// The part of a path that one round found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DecodedRound {
    /// Position that the traceback has reached.
    pub at: PathPoint,
    /// Reason why the traceback stopped there.
    pub stop: Stop,
    /// Number of parts.
    pub parts: u32,
    /// Number of u32 values of their directions.
    pub directions_words: u32,
}

/// Appends the columns of a round to `backward`, which starts at the end of the path. Returns a
/// description of the error if the results are impossible.
pub(super) fn decode(
    words: &[u32],
    parts_capacity: u32,
    from: PathPoint,
    backward: &mut Cigar,
) -> Result<DecodedRound, &'static str> {
    let (header, rest) = words.split_at_checked(PATHS_HEADER_WORDS).ok_or("too few words")?;
    let path_words = size_of::<PathPart>() / 4;
    let list_words = parts_capacity as usize * path_words;
    let (list, runs) = rest.split_at_checked(list_words).ok_or("too few words")?;
    let parts = header[0];
    if parts > parts_capacity {
        return Err("the chase found more parts than there can be");
    }
    let stop = Stop::from_code(header[1]).ok_or("the chase went astray")?;
    let mut at = from;
    for words in list.chunks_exact(path_words).take(parts as usize) {
        let path: PathPart = bytemuck::pod_read_unaligned(bytemuck::cast_slice(words));
        if point(path.end_row, path.end_column, path.end_state) != Some(at) {
            return Err("the parts of a path do not meet");
        }
        let start = point(path.start_row, path.start_column, path.start_state).ok_or("a part starts nowhere")?;
        let begin = path.runs_begin as usize;
        let path_runs = runs.get(begin..begin + path.run_count as usize).ok_or("a part has more runs than symbols")?;
        let (mut rows, mut columns) = (0u64, 0u64);
        for run in path_runs {
            let (op, length) = ([Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion][(run & 3) as usize], run >> 2);
            rows += u64::from(length) * u64::from(op.consumes_query());
            columns += u64::from(length) * u64::from(op.consumes_target());
            backward.push(length, op);
        }
        let (i, j) = (u64::from(at.i) - rows.min(u64::from(at.i)), u64::from(at.j) - columns.min(u64::from(at.j)));
        if (i, j) != (u64::from(start.i), u64::from(start.j)) {
            return Err("the columns of a part do not lead to its start");
        }
        at = start;
    }
    if point(header[2], header[3], header[4]) != Some(at) {
        return Err("the chase stopped elsewhere");
    }
    Ok(DecodedRound { at, stop, parts, directions_words: header[5] })
}
