//! The sequences of hits as FASTA: the target itself, or its aligned region.

use std::collections::HashSet;

use super::{HitPart, SearchBody, SearchHit, SearchPairs};
use crate::error::Result;
use crate::output::{Output, push_fasta_header, push_fasta_letters};
use crate::seq::{SequenceId, Strand, reverse_complement};

/// Writes each target or region once, at its first hit.
pub(super) struct HitSequences {
    part: HitPart,
    written: HashSet<WrittenPart>,
}

/// A target, and the written part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct WrittenPart {
    /// Rank of the target in the database.
    subject_index: u64,
    start: u32,
    end: u32,
    /// Strand of the target that is written.
    strand: Strand,
}

impl HitSequences {
    pub(super) fn new(part: HitPart) -> Self {
        HitSequences { part, written: HashSet::new() }
    }

    /// Returns the part of a hit's target to write, or `None` if the hit aligns no symbol of it.
    fn written_part(&self, all: &mut SearchPairs, query: SequenceId, hit: &SearchHit) -> Result<Option<WrittenPart>> {
        let (subject_index, length) = (hit.subject_index, hit.subjects.length(hit.subject));
        let HitPart::Region { flank } = self.part else {
            return Ok(Some(WrittenPart { subject_index, start: 0, end: length, strand: Strand::Plus }));
        };
        let (context, pair) = all.pair(query, hit);
        let region = context.columns(&pair)?.target;
        let (start, end) = (region.start.saturating_sub(flank), region.end.saturating_add(flank).min(length));
        Ok((region.start < region.end).then_some(WrittenPart { subject_index, start, end, strand: hit.strand }))
    }
}

impl SearchBody for HitSequences {
    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()> {
        for hit in hits {
            let Some(part) = self.written_part(all, query, hit)? else { continue };
            let (store, WrittenPart { start, end, strand, .. }) = (&*hit.subjects, part);
            if !self.written.insert(part) {
                continue;
            }
            let mut name = store.name_bytes(hit.subject).to_vec();
            if self.part != HitPart::Whole {
                let range = match strand {
                    Strand::Plus => format!(":{}-{end}", start + 1),
                    Strand::Minus => format!(":c{end}-{}", start + 1),
                };
                name.extend_from_slice(range.as_bytes());
            }
            let codes = &store.codes(hit.subject)[start as usize..end as usize];
            push_fasta_header(&name, store.description(hit.subject), output.buffer());
            match strand {
                Strand::Plus => push_fasta_letters(store.alphabet(), codes, output.buffer()),
                Strand::Minus => push_fasta_letters(store.alphabet(), &reverse_complement(codes), output.buffer()),
            }
            output.pass_on()?;
        }
        Ok(())
    }
}
