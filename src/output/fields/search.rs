//! The table of fields of `pairwave search`, which describe a hit.
//!
//! A local alignment has no end gaps, so everything that is described as between the end gaps
//! refers to the whole alignment. Global searches have no E-values.

use super::borrowed::{self, FieldTable};
use super::{ColumnCount, Field, FieldValue, field, with_blast_name};
use crate::error::Result;

/// Every field of `pairwave search`, in the order of the help.
#[rustfmt::skip]
pub const SEARCH_FIELDS: &[Field] = {
    use ColumnCount::*;
    use FieldValue::{Bits, Cigar, Evalue, Identity, Query, QueryCoverage, QueryLength, QueryRow, QueryTitle, Score, Strand, Target, TargetCoverage, TargetLength, TargetRow, TargetTitle};
    &[
        with_blast_name("qseqid", field("query", None, "name of the query", Query)),
        field("query_title", None, "what the query's header says after the name", QueryTitle),
        with_blast_name("sseqid", field("target", None, "name of the sequence that was found", Target)),
        with_blast_name("stitle", field("target_title", None, "what its header says after the name", TargetTitle)),
        field("strand", None, "+, or - if the query's reverse complement is aligned; positions are those of the \
                               sequences as they were read", Strand),
        field("evalue", None, "how many hits that score as much are to be expected by chance, as BLAST prints it", Evalue),
        with_blast_name("bitscore", field("bits", None, "the score in bits, as BLAST prints it", Bits)),
        field("score", Some("raw"), "score of the alignment", Score),
        field("identity", None, "matches / columns between the end gaps, a fraction from 0 to 1", Identity),
        with_blast_name("nident", field("matches", Some("ids"), "columns of two symbols that match", FieldValue::Count(Matches))),
        with_blast_name("mismatch", field("mismatches", Some("mism"), "columns of two symbols that do not match",
              FieldValue::Count(Mismatches))),
        field("columns", None, "columns of the alignment, end gaps included", FieldValue::Count(Columns)),
        field("gaps", None, "columns with a gap, end gaps included", FieldValue::Count(Gaps)),
        field("gap_openings", None, "runs of gaps, end gaps included", FieldValue::Count(GapOpenings)),
        with_blast_name("length", field("inner_columns", Some("alnlen"), "columns between the end gaps; in a local alignment all",
              FieldValue::Count(InnerColumns))),
        field("inner_gaps", None, "columns with a gap between the end gaps", FieldValue::Count(InnerGaps)),
        with_blast_name("gapopen", field("inner_gap_openings", Some("opens"), "runs of gaps between the end gaps",
              FieldValue::Count(InnerGapOpenings))),
        with_blast_name("qstart", field("query_start", Some("qilo"), "first query symbol between the end gaps, from 1",
              FieldValue::Count(QueryStart))),
        with_blast_name("qend", field("query_end", Some("qihi"), "last query symbol between the end gaps", FieldValue::Count(QueryEnd))),
        with_blast_name("qlen", field("query_length", Some("ql"), "length of the query in symbols", QueryLength)),
        with_blast_name("sstart", field("target_start", Some("tilo"), "first target symbol between the end gaps, from 1",
              FieldValue::Count(TargetStart))),
        with_blast_name("send", field("target_end", Some("tihi"), "last target symbol between the end gaps", FieldValue::Count(TargetEnd))),
        with_blast_name("slen", field("target_length", Some("tl"), "length of the target in symbols", TargetLength)),
        field("query_coverage", None, "(matches + mismatches) / query_length, a fraction from 0 to 1",
              QueryCoverage),
        field("target_coverage", None, "(matches + mismatches) / target_length, a fraction from 0 to 1",
              TargetCoverage),
        field("cigar", None, "the alignment: = match, X mismatch, I query symbol against a gap, D target symbol against a \
                              gap", Cigar),
        field("query_row", None, "the alignment's upper row: the query with its gaps", QueryRow),
        field("target_row", None, "the alignment's lower row: the target with its gaps", TargetRow),
    ]
};

static SEARCH: FieldTable = {
    const COUNT: usize = borrowed::count(SEARCH_FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(SEARCH_FIELDS);
    FieldTable { fields: SEARCH_FIELDS, aliases: &ALIASES, job: borrowed::SEARCH }
};

const TSV: &str = "query,target,evalue,bits,score,identity,columns,query_start,query_end,query_length,\
                   target_start,target_end,target_length";
const JSON: &str = "query,target,evalue,bits,score,identity,matches,mismatches,columns,gaps,gap_openings,query_start,\
                    query_end,query_length,target_start,target_end,target_length,cigar";
const SCORES: &str = "query,target,evalue,bits,score,query_length,target_length";

impl Field {
    /// Returns the default fields of `tsv` for hits.
    pub fn search_tsv_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { TSV })
    }

    /// Returns the default fields of `jsonl` for hits.
    pub fn search_json_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { JSON })
    }

    /// Returns the default columns of BLAST's formats 6 and 7.
    pub fn blast_defaults() -> Vec<&'static Field> {
        Field::parse_search_list("std", false).expect("its names are in the table")
    }

    /// Parses a list of fields of `pairwave search`, separated by commas (or as in
    /// [`Field::parse_list`]).
    ///
    /// # Errors
    /// Returns [`crate::Error::Usage`] for an unknown name, for a name that occurs twice, and for a
    /// field that needs the alignment if there is none.
    pub fn parse_search_list(list: &str, score_only: bool) -> Result<Vec<&'static Field>> {
        let usable = |field: &Field| !score_only || !field.needs_alignment();
        SEARCH.parse(list, usable, "needs the alignment, which `score_only` leaves out")
    }

    /// Removes the fields that need the significance of hits, for schemes without parameters.
    pub fn without_significance(fields: Vec<&'static Field>) -> Vec<&'static Field> {
        fields.into_iter().filter(|field| !field.needs_significance()).collect()
    }

    /// Returns whether the field is the significance of a hit.
    pub fn needs_significance(&self) -> bool {
        matches!(self.value, FieldValue::Evalue | FieldValue::Bits)
    }

    /// Returns the table of fields of `pairwave search` as text, one field per line.
    pub fn search_table() -> String {
        SEARCH.text()
    }
}

fn defaults(list: &str) -> Vec<&'static Field> {
    list.split(',').map(|name| SEARCH.named(name).expect("the defaults are in the table")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blast_names_are_known() {
        let fields = Field::parse_search_list("std qlen slen qcovs stitle btop", false).unwrap();
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        assert_eq!(names[10..], ["evalue", "bitscore", "qlen", "slen", "qcovs", "stitle", "btop"]);
        assert!(Field::parse_search_list("query,sgi", false).is_err());
        assert!(Field::parse_search_list("query,evalue,cigar", true).is_err());
        assert!(Field::search_tsv_defaults(true).iter().all(|field| !field.needs_alignment()));
        assert_eq!((Field::search_tsv_defaults(false).len(), Field::search_json_defaults(false).len()), (13, 18));
        assert_eq!(Field::without_significance(Field::search_tsv_defaults(false)).len(), 11);
    }

    #[test]
    fn search_table_is_complete() {
        insta::assert_snapshot!(Field::search_table());
    }
}
