//! A hit as bytes, and its subject found again by its place in the database.

use std::borrow::Cow;

use super::{Search, SearchHit};
use crate::error::{Error, Result};
use crate::jobs::allpairs::row::{Parts, decode_parts, encode_parts};
use crate::jobs::blocks::bytes::{push, push_float, take, take_byte, take_float};
use crate::jobs::blocks::nowhere;
use crate::score::statistics::Significance;

pub(super) fn encode(hit: &SearchHit, bytes: &mut Vec<u8>) {
    let &SearchHit { query, place, strand, score, counts, identity, ref alignment, .. } = hit;
    let alignment = alignment.as_ref().map(Cow::Borrowed);
    encode_parts(&Parts { query, target: place, strand, score, alignment, counts, identity }, bytes);
    push(bytes, hit.record);
    bytes.push(u8::from(hit.significance.is_some()));
    if let Some(Significance { bits, evalue }) = hit.significance {
        push_float(bytes, bits);
        push_float(bytes, evalue);
    }
}

/// A hit whose subject is not known yet.
pub(super) fn decode(bytes: &mut &[u8]) -> Option<SearchHit> {
    let Parts { query, target: place, strand, score, alignment, counts, identity } = decode_parts(bytes)?;
    let record = take(bytes)?;
    let significance = match take_byte(bytes)? {
        0 => None,
        1 => Some(Significance { bits: take_float(bytes)?, evalue: take_float(bytes)? }),
        _ => return None,
    };
    let alignment = alignment.map(Cow::into_owned);
    let (subjects, subject) = (nowhere(), 0);
    Some(SearchHit {
        query,
        subjects,
        subject,
        place,
        record,
        strand,
        score,
        significance,
        alignment,
        counts,
        identity,
    })
}

/// Finds the subjects of hits, each alone: of a database no more is read.
pub(super) fn resolve(job: &Search, hits: &mut [SearchHit]) -> Result<()> {
    for hit in hits {
        let wrong =
            || Error::Internal(format!("a hit of query {} in subject {} is not of this search", hit.query, hit.place));
        if hit.place >= job.subjects.size().sequences || hit.query as usize >= job.queries.len() {
            return Err(wrong());
        }
        let own = job.subjects.chunk(hit.place..hit.place + 1)?;
        if own.record(0) != hit.record {
            return Err(wrong());
        }
        (hit.subjects, hit.subject) = (own.store, 0);
    }
    Ok(())
}

/// Equal if all is that can be asked of them, wherever the subject is held.
impl PartialEq for SearchHit {
    fn eq(&self, other: &Self) -> bool {
        let about = |hit: &Self| (hit.query, hit.place, hit.record, hit.strand, hit.score, hit.significance);
        let aligned = |hit: &Self| (hit.counts, hit.identity);
        let (own, others) = (&self.subjects, &other.subjects);
        about(self) == about(other)
            && aligned(self) == aligned(other)
            && self.alignment == other.alignment
            && own.name_bytes(self.subject) == others.name_bytes(other.subject)
            && own.description(self.subject) == others.description(other.subject)
            && own.codes(self.subject) == others.codes(other.subject)
    }
}
