//! Encoding of hits, and lookup of their subjects by position in the database.

use std::borrow::Cow;

use super::{Search, SearchHit};
use crate::error::{Error, Result};
use crate::jobs::allpairs::row::{PairRecord, decode_record, encode_record};
use crate::jobs::blocks::bytes::{push, push_float, take, take_byte, take_float};
use crate::jobs::blocks::unresolved_store;
use crate::score::statistics::Significance;

/// Appends a hit in bytes, without its subject.
pub(super) fn encode(hit: &SearchHit, bytes: &mut Vec<u8>) {
    let &SearchHit { query, subject_index, strand, score, counts, identity, ref alignment, .. } = hit;
    let alignment = alignment.as_ref().map(Cow::Borrowed);
    encode_record(&PairRecord { query, target: subject_index, strand, score, alignment, counts, identity }, bytes);
    push(bytes, hit.record);
    bytes.push(u8::from(hit.significance.is_some()));
    if let Some(Significance { bits, evalue }) = hit.significance {
        push_float(bytes, bits);
        push_float(bytes, evalue);
    }
}

/// Decodes a hit. Its subject is unknown.
pub(super) fn decode(bytes: &mut &[u8]) -> Option<SearchHit> {
    let PairRecord { query, target: subject_index, strand, score, alignment, counts, identity } = decode_record(bytes)?;
    let record = take(bytes)?;
    let significance = match take_byte(bytes)? {
        0 => None,
        1 => Some(Significance { bits: take_float(bytes)?, evalue: take_float(bytes)? }),
        _ => return None,
    };
    let alignment = alignment.map(Cow::into_owned);
    let (subjects, subject) = (unresolved_store(), 0);
    Some(SearchHit {
        query,
        subjects,
        subject,
        subject_index,
        record,
        strand,
        score,
        significance,
        alignment,
        counts,
        identity,
    })
}

/// Finds the subjects of hits. Reads no other sequence of a database.
pub(super) fn resolve(job: &Search, hits: &mut [SearchHit]) -> Result<()> {
    for hit in hits {
        let wrong = || {
            Error::Internal(format!(
                "a hit of query {} in subject {} does not belong to this search",
                hit.query, hit.subject_index
            ))
        };
        if hit.subject_index >= job.subjects.size().sequences || hit.query as usize >= job.queries.len() {
            return Err(wrong());
        }
        let chunk = job.subjects.chunk(hit.subject_index..hit.subject_index + 1)?;
        if chunk.record(0) != hit.record {
            return Err(wrong());
        }
        (hit.subjects, hit.subject) = (chunk.store, 0);
    }
    Ok(())
}

/// Hits are equal if all observable properties are equal. The store that holds the subject does not
/// matter.
impl PartialEq for SearchHit {
    fn eq(&self, other: &Self) -> bool {
        let about = |hit: &Self| (hit.query, hit.subject_index, hit.record, hit.strand, hit.score, hit.significance);
        let aligned = |hit: &Self| (hit.counts, hit.identity);
        let (subjects, others) = (&self.subjects, &other.subjects);
        about(self) == about(other)
            && aligned(self) == aligned(other)
            && self.alignment == other.alignment
            && subjects.name_bytes(self.subject) == others.name_bytes(other.subject)
            && subjects.description(self.subject) == others.description(other.subject)
            && subjects.codes(self.subject) == others.codes(other.subject)
    }
}
