//! Encoding of a finished read.

use crate::jobs::PhyloResult;
use crate::jobs::blocks::bytes::{
    push, push_cigar, push_signed, push_text, take, take_byte, take_cigar, take_signed, take_text, take_u32,
};
use crate::seq::Strand;

/// Flag of a record with a runner-up.
const SECOND: u8 = 1;
/// Flag of a record on the minus strand.
const MINUS: u8 = 2;

impl PhyloResult {
    /// Appends the read in bytes.
    pub(in crate::jobs::papara) fn add_to(&self, out: &mut Vec<u8>) {
        push(out, self.number);
        push_text(out, &self.name);
        push_text(out, &self.letters);
        push(out, self.edge.into());
        push_signed(out, self.score.into());
        let minus = if self.strand == Strand::Minus { MINUS } else { 0 };
        out.push(minus | if self.runner_up.is_some() { SECOND } else { 0 });
        if let Some((edge, score)) = self.runner_up {
            push(out, edge.into());
            push_signed(out, score.into());
        }
        push(out, self.first_site.into());
        push_cigar(out, &self.cigar);
    }

    /// Removes a read from the front of `bytes`. Returns `None` if the bytes are not valid.
    pub(in crate::jobs::papara) fn take_from(bytes: &mut &[u8]) -> Option<PhyloResult> {
        let score = |bytes: &mut &[u8]| i32::try_from(take_signed(bytes)?).ok();
        let (number, name, letters) = (take(bytes)?, take_text(bytes)?.to_vec(), take_text(bytes)?.to_vec());
        let (edge, best) = (take_u32(bytes)?, score(bytes)?);
        let flags = take_byte(bytes)?;
        if flags & !(SECOND | MINUS) != 0 {
            return None;
        }
        let runner_up = if flags & SECOND != 0 { Some((take_u32(bytes)?, score(bytes)?)) } else { None };
        let strand = if flags & MINUS != 0 { Strand::Minus } else { Strand::Plus };
        let (first_site, cigar) = (take_u32(bytes)?, take_cigar(bytes)?);
        Some(PhyloResult { number, name, letters, edge, score: best, runner_up, strand, first_site, cigar })
    }
}

/// Decodes `records` reads. Returns `None` unless they fill `bytes`.
pub(super) fn decode(mut bytes: &[u8], records: u64) -> Option<Vec<PhyloResult>> {
    let records: Option<Vec<PhyloResult>> = (0..records).map(|_| PhyloResult::take_from(&mut bytes)).collect();
    records.filter(|_| bytes.is_empty())
}
