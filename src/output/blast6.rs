//! `blast6`: the twelve columns of BLAST's format 6, without a header.
//!
//! qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore
//!
//! A BLAST hit never begins or ends in a gap, so length, gapopen and the four positions are those of the part between
//! the end gaps (positions count from 1; 0 and 0 where that part holds no symbol of a sequence). pident is the identity
//! that was asked for, as a percentage with BLAST's three digits. Hits of a search have E-value and bits as BLAST prints them.
//! Other pairs have none; they are -1 and 0, as vsearch writes them, because readers of the format parse numbers there. Where the query's reverse
//! complement is aligned, positions are those of the forward strands and sstart is the greater one, as BLAST writes it.

use super::numbers::{push_units, push_unsigned, to_units};
use super::{Body, Context, Line, Pair};
use crate::error::Result;
use crate::score::Significance;
use crate::score::statistics::{BitScore, Evalue};
use crate::seq::Strand;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Blast6;

impl Body for Blast6 {
    fn lines(&self) -> Option<&dyn Line> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn Line>> {
        Some(Arc::new(self.clone()))
    }
}

impl Line for Blast6 {
    fn push(&self, context: &Context, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()> {
        let columns = context.columns(pair)?;
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let identity = context.identity.identity(&columns.counts, lengths.0, lengths.1);
        let (query_start, query_end) = columns.query.one_based();
        let (mut target_start, mut target_end) = columns.target.one_based();
        if pair.strand == Strand::Minus {
            std::mem::swap(&mut target_start, &mut target_end);
        }
        out.extend_from_slice(context.queries.name_bytes(pair.query));
        out.push(b'\t');
        out.extend_from_slice(context.targets.name_bytes(pair.target));
        out.push(b'\t');
        // Five digits of the fraction are three digits of the percentage, and rounded once.
        push_units(out, to_units(identity, 5), 3);
        for number in [
            columns.inner_total(),
            columns.counts.mismatches,
            columns.inner_gap_openings,
            u64::from(query_start),
            u64::from(query_end),
            u64::from(target_start),
            u64::from(target_end),
        ] {
            out.push(b'\t');
            push_unsigned(out, number);
        }
        match pair.significance() {
            Some(Significance { bits, evalue }) => {
                out.extend_from_slice(format!("\t{}\t{}\n", Evalue(evalue), BitScore(bits)).as_bytes());
            }
            None => out.extend_from_slice(b"\t-1\t0\n"),
        }
        Ok(())
    }
}
