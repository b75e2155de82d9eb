//! The format `blast7`: BLAST's format 7, which is format 6 with comment lines that also mention
//! queries without hits.
//!
//! The first comment line of a query names this program instead of BLAST. The others are the same
//! as BLAST's.

use super::lines::HitLines;
use super::{SearchBody, SearchContext, SearchHit, SearchPairs};
use crate::error::Result;
use crate::output::{Field, Output};
use crate::seq::SequenceId;

/// Names of columns in BLAST's comments, by column.
const NAMES: &[(&str, &str)] = &[
    ("qseqid", "query id"),
    ("qacc", "query acc."),
    ("qaccver", "query acc.ver"),
    ("qlen", "query length"),
    ("sseqid", "subject id"),
    ("sallseqid", "subject ids"),
    ("sacc", "subject acc."),
    ("saccver", "subject acc.ver"),
    ("sallacc", "subject accs."),
    ("slen", "subject length"),
    ("qstart", "q. start"),
    ("qend", "q. end"),
    ("sstart", "s. start"),
    ("send", "s. end"),
    ("qseq", "query seq"),
    ("sseq", "subject seq"),
    ("evalue", "evalue"),
    ("bitscore", "bit score"),
    ("score", "score"),
    ("length", "alignment length"),
    ("pident", "% identity"),
    ("nident", "identical"),
    ("mismatch", "mismatches"),
    ("positive", "positives"),
    ("gapopen", "gap opens"),
    ("gaps", "gaps"),
    ("ppos", "% positives"),
    ("qframe", "query frame"),
    ("btop", "BTOP"),
    ("stitle", "subject title"),
    ("salltitles", "subject titles"),
    ("sstrand", "subject strand"),
    ("qcovs", "% query coverage per subject"),
    ("qcovhsp", "% query coverage per hsp"),
    ("qcovus", "% query coverage per uniq subject"),
];

const PROGRAM: &str = concat!("# pairwave ", env!("CARGO_PKG_VERSION"));

pub(super) struct Blast7 {
    lines: HitLines,
    /// Names of the columns in comments.
    names: String,
    queries: u64,
}

impl Blast7 {
    pub(super) fn new(fields: &[&'static Field]) -> Self {
        let name = |field: &&'static Field| {
            NAMES.iter().find(|(short, _)| *short == field.name).map_or(field.name, |(_, name)| name)
        };
        let names = fields.iter().map(name).collect::<Vec<_>>().join(", ");
        Blast7 { lines: HitLines::table(fields, false), names, queries: 0 }
    }
}

impl SearchBody for Blast7 {
    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()> {
        self.queries += 1;
        let out = output.buffer();
        out.extend_from_slice(format!("{PROGRAM}\n# Query: ").as_bytes());
        out.extend_from_slice(&all.search.query_line(query));
        out.extend_from_slice(format!("\n# Database: {}\n", all.search.database).as_bytes());
        if !hits.is_empty() {
            out.extend_from_slice(format!("# Fields: {}\n", self.names).as_bytes());
        }
        out.extend_from_slice(format!("# {} hits found\n", hits.len()).as_bytes());
        self.lines.query(all, query, hits, output)
    }

    fn end(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        output.buffer().extend_from_slice(format!("# pairwave processed {} queries\n", self.queries).as_bytes());
        Ok(())
    }
}
