//! The format `blast6`: the twelve columns of BLAST's format 6, without a header.
//!
//! qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore
//!
//! A BLAST hit never starts or ends with a gap, so length, gapopen and the four positions refer to
//! the part between the end gaps. Positions count from 1; they are 0 and 0 if that part contains no
//! symbol of a sequence. pident is the chosen identity, as a percentage with three decimals like
//! BLAST's. Search hits have the E-value and the bit score in BLAST's formats. Other pairs have
//! none: they get -1 and 0, as in vsearch, because readers of the format parse numbers there. If
//! the query's reverse complement is aligned, positions refer to the plus strands, and sstart is
//! greater than send, as in BLAST.

use super::numbers::{push_units, push_unsigned, to_units};
use super::{Context, FormatBody, OutputPair, PairLine};
use crate::error::Result;
use crate::score::Significance;
use crate::score::statistics::{BitScore, Evalue};
use crate::seq::Strand;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Blast6;

impl FormatBody for Blast6 {
    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        Some(Arc::new(self.clone()))
    }
}

impl PairLine for Blast6 {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
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
        // Five decimals of the fraction are three decimals of the percentage, and are rounded once.
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
