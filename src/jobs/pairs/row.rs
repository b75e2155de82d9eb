//! Encoding of rows, and lookup of their sequences by row number.

use std::sync::Arc;

use super::{PairList, PairRow, PairSource};
use crate::error::{Error, Result};
use crate::jobs::PairResult;
use crate::jobs::allpairs::row::{decode as decode_result, encode as encode_result};
use crate::jobs::blocks::bytes::{push, take};
use crate::jobs::blocks::unresolved_store;
use crate::seq::SequenceId;

/// Appends a row in bytes, without its sequences.
pub(super) fn encode(row: &PairRow, bytes: &mut Vec<u8>) {
    push(bytes, row.number);
    encode_result(&row.result, bytes);
}

/// Removes a row from the front of `bytes`. Its sequence stores are empty until [`resolve`].
pub(super) fn decode(bytes: &mut &[u8]) -> Option<PairRow> {
    let number = take(bytes)?;
    Some(PairRow { number, queries: unresolved_store(), targets: unresolved_store(), result: decode_result(bytes)? })
}

/// Sets the sequence stores of decoded rows. Reads input files again.
pub(super) fn resolve(job: &PairList, rows: &mut [PairRow]) -> Result<()> {
    for row in rows {
        let PairResult { query, target, .. } = row.result;
        let wrong = || Error::Internal(format!("row {} does not belong to a pair of this list", row.number));
        match &job.source {
            PairSource::Listed { queries, targets, pairs } => {
                let pair = usize::try_from(row.number).ok().and_then(|number| pairs.get(number));
                if pair != Some(&(query, target)) {
                    return Err(wrong());
                }
                (row.queries, row.targets) = (Arc::clone(queries), Arc::clone(targets));
            }
            PairSource::InStep(chunks) => {
                let mut chunks = chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let chunk = chunks.at(row.number)?.ok_or_else(wrong)?;
                let id = (row.number - chunk.first) as SequenceId;
                if (query, target) != (id, id) {
                    return Err(wrong());
                }
                (row.queries, row.targets) = (chunk.queries, chunk.targets);
            }
        }
    }
    Ok(())
}
