//! The table of fields of `pairwave long`, which describe an alignment of two very long sequences.
//!
//! They are the fields in [`FIELDS`](super::FIELDS), with a strand. Positions that are known
//! without an alignment are written even if only scores were computed.

use super::borrowed::{self, FieldTable};
use super::{ColumnCount, Field, FieldValue, LongValue, field, with_blast_name};
use crate::error::Result;

/// Every field of `pairwave long`, in the order of the help.
#[rustfmt::skip]
pub const LONG_FIELDS: &[Field] = {
    use LongValue::*;
    use FieldValue::{Bits, Cigar, Evalue, Identity, Query, QueryCoverage, QueryLength, QueryRow, Score, Target, TargetCoverage, TargetLength, TargetRow};
    &[
        with_blast_name("qseqid", field("query", None, "name of the query", Query)),
        with_blast_name("sseqid", field("target", None, "name of the target", Target)),
        field("strand", None, "+, or - if the query's reverse complement is aligned", FieldValue::Hit(Strand)),
        field("evalue", None, "how many alignments that score as much are to be expected by chance, as BLAST prints it; -1 \
                               (null in jsonl) if BLAST has no parameters", Evalue),
        with_blast_name("bitscore", field("bits", None, "the score in bits, as BLAST prints it; 0 (null in jsonl) if BLAST has no \
                                                         parameters", Bits)),
        field("score", Some("raw"), "score of the alignment", Score),
        field("identity", None, "matches / columns between the end gaps, a fraction from 0 to 1", Identity),
        with_blast_name("nident", field("matches", Some("ids"), "columns of two symbols that match", FieldValue::Count(ColumnCount::Matches))),
        with_blast_name("mismatch", field("mismatches", Some("mism"), "columns of two symbols that do not match",
             FieldValue::Count(ColumnCount::Mismatches))),
        field("columns", None, "columns of the alignment, end gaps included", FieldValue::Count(ColumnCount::Columns)),
        field("gaps", None, "columns with a gap, end gaps included", FieldValue::Count(ColumnCount::Gaps)),
        field("gap_openings", None, "runs of gaps, end gaps included", FieldValue::Count(ColumnCount::GapOpenings)),
        with_blast_name("length", field("inner_columns", Some("alnlen"), "columns between the end gaps",
             FieldValue::Count(ColumnCount::InnerColumns))),
        field("inner_gaps", None, "columns with a gap between the end gaps", FieldValue::Count(ColumnCount::InnerGaps)),
        with_blast_name("gapopen", field("inner_gap_openings", Some("opens"), "runs of gaps between the end gaps",
             FieldValue::Count(ColumnCount::InnerGapOpenings))),
        with_blast_name("qstart", field("query_start", Some("qilo"), "first query symbol between the end gaps, from 1, on the strand \
             that the file has", FieldValue::Hit(QueryStart))),
        with_blast_name("qend", field("query_end", Some("qihi"), "last query symbol between the end gaps, on the same strand",
             FieldValue::Hit(QueryEnd))),
        with_blast_name("qlen", field("query_length", Some("ql"), "length of the query in symbols", QueryLength)),
        with_blast_name("sstart", field("target_start", Some("tilo"), "first target symbol between the end gaps, from 1",
             FieldValue::Hit(TargetStart))),
        with_blast_name("send", field("target_end", Some("tihi"), "last target symbol between the end gaps",
             FieldValue::Hit(TargetEnd))),
        with_blast_name("slen", field("target_length", Some("tl"), "length of the target in symbols", TargetLength)),
        field("query_coverage", None, "(matches + mismatches) / query_length, a fraction from 0 to 1",
              QueryCoverage),
        field("target_coverage", None, "(matches + mismatches) / target_length, a fraction from 0 to 1",
              TargetCoverage),
        field("cigar", None, "the alignment along the target: = match, X mismatch, I query symbol against a gap, D \
                              target symbol against a gap", Cigar),
        field("alignment", None, "number of the alignment, from 1; rows with the same number are the parts of one alignment that \
                              crosses the origin of a circular sequence", FieldValue::Hit(Number)),
        field("query_row", None, "the alignment's upper row: the query's aligned strand with its gaps", QueryRow),
        field("target_row", None, "the alignment's lower row: the target with its gaps", TargetRow),
    ]
};

static LONG: FieldTable = {
    const COUNT: usize = borrowed::count(LONG_FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(LONG_FIELDS);
    FieldTable { fields: LONG_FIELDS, aliases: &ALIASES, job: borrowed::LONG }
};

const TSV: &str = "query,target,strand,score,identity,matches,mismatches,gaps,query_start,query_end,query_length,\
                   target_start,target_end,target_length";
const JSON: &str = "query,target,strand,score,identity,matches,mismatches,gaps,gap_openings,query_start,query_end,\
                    query_length,target_start,target_end,target_length,cigar";
const NUMBER: &str = "alignment";
const SIGNIFICANCE: &str = "evalue,bits";
const SCORES: &str =
    "query,target,strand,score,query_start,query_end,query_length,target_start,target_end,target_length";

impl Field {
    /// Returns the default fields of `tsv` for long pairs.
    pub fn long_tsv_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { TSV })
    }

    /// Returns the default fields of `jsonl` for long pairs.
    pub fn long_json_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { JSON })
    }

    /// Returns the field with the numbers of alignments, which only circular sequences have.
    pub fn long_number() -> &'static Field {
        LONG.named(NUMBER).expect("the field is in the table")
    }

    /// Adds the significance before the score to the default fields, for jobs with a maximum E-value.
    pub fn with_significance(mut defaults: Vec<&'static Field>) -> Vec<&'static Field> {
        let score = defaults.iter().position(|field| field.value == FieldValue::Score).unwrap_or(defaults.len());
        defaults.splice(score..score, self::defaults(SIGNIFICANCE));
        defaults
    }

    /// Parses a list of fields of `pairwave long`, separated by commas (or as in
    /// [`Field::parse_list`]).
    pub fn parse_long_list(list: &str, score_only: bool) -> Result<Vec<&'static Field>> {
        let usable = |field: &Field| !score_only || !field.needs_alignment();
        LONG.parse(list, usable, "needs the alignment, which `score_only` leaves out")
    }

    /// Returns the table of fields of `pairwave long` as text, one field per line.
    pub fn long_table() -> String {
        LONG.text()
    }
}

fn defaults(list: &str) -> Vec<&'static Field> {
    list.split(',').map(|name| LONG.named(name).expect("the defaults are in the table")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_unique() {
        let names: Vec<&str> =
            LONG_FIELDS.iter().flat_map(|field| [Some(field.name), field.vsearch, field.blast]).flatten().collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} twice");
        }
        for (at, field) in LONG_FIELDS.iter().enumerate() {
            assert!(LONG_FIELDS[..at].iter().all(|other| other.value != field.value), "{} is a double", field.name);
        }
    }

    #[test]
    fn score_fields_need_no_alignment() {
        assert!(Field::long_tsv_defaults(true).iter().all(|field| !field.needs_alignment()));
        assert!(Field::parse_long_list("query,strand,qstart,send", true).is_ok());
        assert!(Field::parse_long_list("query,cigar", true).is_err());
        assert_eq!((Field::long_tsv_defaults(false).len(), Field::long_json_defaults(false).len()), (14, 16));
    }
}
