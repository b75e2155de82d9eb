//! The table of fields that describe a pair.
//!
//! Positions count from 1 and include the last one, as in BLAST. A local alignment has no end gaps,
//! so everything that is described as between the end gaps refers to the whole alignment.
//!
//! A field can be selected by its name here and by the names of vsearch and BLAST for the same
//! value. Each program also has names for values that only it prints in that form, such as
//! percentages (`borrowed`). The header of a column is the name that the user typed.

mod borrowed;
mod edit;
mod facts;
mod foreign;
mod long;
mod search;

use super::PairKind;
use crate::error::Result;
use crate::score::IdentityDefinition;
use borrowed::FieldTable;
use foreign::ForeignValue;
pub(super) use foreign::whole_percentage;

pub use edit::{EDIT_FIELDS, EditDefaults};
pub(super) use facts::{PairFacts, Quotes};
pub use long::LONG_FIELDS;
pub use search::SEARCH_FIELDS;

/// A value that `tsv` and `jsonl` can write for a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name for `--fields`, the column header and the JSON key.
    pub name: &'static str,
    /// vsearch's name of the same value, which `--fields` accepts too.
    pub vsearch: Option<&'static str>,
    /// BLAST's name of the same value (in `-outfmt 6`), which `--fields` accepts too.
    pub blast: Option<&'static str>,
    /// Description for the table of fields.
    pub description: &'static str,
    value: FieldValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldValue {
    Query,
    Target,
    Strand,
    Score,
    QueryLength,
    TargetLength,
    Edits(EditValue),
    Hit(LongValue),
    /// Descriptions after the names in headers.
    QueryTitle,
    TargetTitle,
    /// Significance of a search hit.
    Evalue,
    Bits,
    /// This value and all that follow require the alignment.
    Identity,
    IdentityBy(IdentityDefinition),
    Count(ColumnCount),
    QueryCoverage,
    TargetCoverage,
    Cigar,
    QueryRow,
    TargetRow,
    /// Values in a form of vsearch or BLAST. Some need the alignment.
    Theirs(ForeignValue),
}

/// Values of a pattern in a text. All but the start are known without an alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditValue {
    Distance,
    Start,
    End,
    RegionStart,
    RegionEnd,
    Ends,
}

/// Values of an alignment of two very long sequences. The ends are known even if only the score was
/// computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongValue {
    Strand,
    QueryStart,
    QueryEnd,
    TargetStart,
    TargetEnd,
    Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnCount {
    Matches,
    Mismatches,
    Columns,
    Gaps,
    GapOpenings,
    InnerColumns,
    InnerGaps,
    InnerGapOpenings,
    QueryStart,
    QueryEnd,
    /// The first and the last query symbol, including end gaps.
    WholeQueryStart,
    WholeQueryEnd,
    TargetStart,
    TargetEnd,
}

const fn field(
    name: &'static str,
    vsearch: Option<&'static str>,
    description: &'static str,
    value: FieldValue,
) -> Field {
    Field { name, vsearch, blast: None, description, value }
}

/// Returns the field with `blast` as its name in BLAST.
const fn with_blast_name(blast: &'static str, field: Field) -> Field {
    Field { blast: Some(blast), ..field }
}

/// Every field, in the order of the help.
#[rustfmt::skip]
pub const FIELDS: &[Field] = {
    use IdentityDefinition as Id;
    use ColumnCount::*;
    use FieldValue::{Cigar, Identity, IdentityBy, Query, QueryCoverage, QueryLength, QueryRow, Score, Strand, Target, TargetCoverage, TargetLength, TargetRow};
    &[
        with_blast_name("qseqid", field("query", None, "name of the sequence that is first in the input", Query)),
        with_blast_name("sseqid", field("target", None, "name of the other sequence", Target)),
        field("strand", None, "+, or - if the query's reverse complement is aligned; positions are those of the \
                               sequences as they were read", Strand),
        field("identity", None, "identity as `definition` defines it, a fraction from 0 to 1", Identity),
        field("identity0", None, "matches / length of the shorter sequence", IdentityBy(Id::Shorter)),
        field("identity1", None, "matches / columns", IdentityBy(Id::Columns)),
        field("identity2", None, "matches / columns between the end gaps (in a local alignment as identity1)",
              IdentityBy(Id::InnerColumns)),
        field("identity3", None, "1 - (mismatches + gap openings) / length of the longer sequence", IdentityBy(Id::Mbl)),
        field("identity4", None, "as identity1 (BLAST's)", IdentityBy(Id::Blast)),
        field("score", Some("raw"), "score of the alignment", Score),
        with_blast_name("nident", field("matches", Some("ids"), "columns of two symbols that match", FieldValue::Count(Matches))),
        with_blast_name("mismatch", field("mismatches", Some("mism"), "columns of two symbols that do not match",
              FieldValue::Count(Mismatches))),
        field("columns", None, "columns of the alignment, end gaps included", FieldValue::Count(Columns)),
        field("gaps", None, "columns with a gap, end gaps included", FieldValue::Count(Gaps)),
        field("gap_openings", None, "runs of gaps, end gaps included", FieldValue::Count(GapOpenings)),
        with_blast_name("length", field("inner_columns", Some("alnlen"), "columns between the end gaps",
              FieldValue::Count(InnerColumns))),
        field("inner_gaps", None, "columns with a gap between the end gaps (gaps in vsearch and BLAST)",
              FieldValue::Count(InnerGaps)),
        with_blast_name("gapopen", field("inner_gap_openings", Some("opens"), "runs of gaps between the end gaps",
              FieldValue::Count(InnerGapOpenings))),
        with_blast_name("qlen", field("query_length", Some("ql"), "length of the query in symbols", QueryLength)),
        with_blast_name("slen", field("target_length", Some("tl"), "length of the target in symbols", TargetLength)),
        with_blast_name("qstart",
             field("query_start", Some("qilo"), "first query symbol between the end gaps, from 1; 0 if there is none",
              FieldValue::Count(QueryStart))),
        with_blast_name("qend",
             field("query_end", Some("qihi"), "last query symbol between the end gaps, from 1; 0 if there is none",
              FieldValue::Count(QueryEnd))),
        with_blast_name("sstart",
             field("target_start", Some("tilo"), "first target symbol between the end gaps, from 1; 0 if there is none",
              FieldValue::Count(TargetStart))),
        with_blast_name("send",
             field("target_end", Some("tihi"), "last target symbol between the end gaps, from 1; 0 if there is none",
              FieldValue::Count(TargetEnd))),
        field("query_coverage", None, "(matches + mismatches) / query_length, a fraction from 0 to 1",
              QueryCoverage),
        field("target_coverage", None, "(matches + mismatches) / target_length, a fraction from 0 to 1",
              TargetCoverage),
        field("cigar", None, "the alignment, end gaps included: = match, X mismatch, I query symbol against a gap, D \
                              target symbol against a gap", Cigar),
        field("query_row", None, "the alignment's upper row: the query with its gaps", QueryRow),
        field("target_row", None, "the alignment's lower row: the target with its gaps", TargetRow),
    ]
};

/// Default fields of `tsv`.
const TSV: &str = "query,target,identity,score,matches,columns,gaps,query_length,target_length";
/// Default fields of `jsonl`.
const JSON: &str = "query,target,identity,score,matches,mismatches,columns,gaps,gap_openings,query_length,\
                    target_length,cigar";
/// Default fields of local alignments, which include positions.
const LOCAL_TSV: &str = "query,target,identity,score,matches,columns,gaps,query_start,query_end,query_length,\
                         target_start,target_end,target_length";
const LOCAL_JSON: &str = "query,target,identity,score,matches,mismatches,columns,gaps,gap_openings,query_start,\
                          query_end,query_length,target_start,target_end,target_length,cigar";
/// Default fields if only scores are computed.
const SCORES: &str = "query,target,score";

impl Field {
    /// Returns the field with this name, in any of the three programs. The name of the returned
    /// field is `name`.
    pub fn named(name: &str) -> Option<&'static Field> {
        ALLPAIRS.named(name)
    }

    /// Returns the only kind of pairs that has the field, or `None` if all have it.
    pub(crate) fn kind(&self) -> Option<PairKind> {
        match self.value {
            FieldValue::Edits(_) => Some(PairKind::Edit),
            FieldValue::Hit(_) => Some(PairKind::Long),
            _ => None,
        }
    }

    /// Returns whether the field requires an alignment.
    pub fn needs_alignment(&self) -> bool {
        match self.value {
            FieldValue::Query
            | FieldValue::Target
            | FieldValue::Strand
            | FieldValue::Score
            | FieldValue::QueryLength
            | FieldValue::TargetLength => false,
            FieldValue::QueryTitle | FieldValue::TargetTitle | FieldValue::Evalue | FieldValue::Bits => false,
            FieldValue::Edits(what) => what == EditValue::Start,
            FieldValue::Hit(_) => false,
            FieldValue::Theirs(what) => what.needs_alignment(),
            _ => true,
        }
    }

    /// Returns whether the field is the name of a sequence.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.value, FieldValue::Query | FieldValue::Target)
    }

    /// Returns the default fields of `tsv`.
    pub fn tsv_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { TSV })
    }

    /// Returns the default fields of `jsonl`.
    pub fn json_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { JSON })
    }

    /// Returns the default fields of `tsv` for local alignments.
    pub fn local_tsv_defaults() -> Vec<&'static Field> {
        defaults(LOCAL_TSV)
    }

    /// Returns the default fields of `jsonl` for local alignments.
    pub fn local_json_defaults() -> Vec<&'static Field> {
        defaults(LOCAL_JSON)
    }

    /// Adds the strand after the target to the default fields, for jobs that also compare the other
    /// strand.
    pub fn with_strand(mut defaults: Vec<&'static Field>, table: &'static [Field]) -> Vec<&'static Field> {
        let index = defaults.iter().position(|field| field.value == FieldValue::Target).map_or(0, |target| target + 1);
        let is_strand = |field: &&Field| field.value == FieldValue::Strand;
        defaults.splice(index..index, table.iter().filter(is_strand));
        defaults
    }

    /// Returns whether the field is an identity by the job's definition.
    pub fn follows_definition(&self) -> bool {
        matches!(
            self.value,
            FieldValue::Identity | FieldValue::Theirs(ForeignValue::Percent | ForeignValue::PercentIdentical)
        )
    }

    /// Returns whether the field describes whole sequences, so that local alignments cannot have
    /// it.
    pub fn needs_whole_sequences(&self) -> bool {
        let mbl = IdentityDefinition::Mbl;
        [FieldValue::IdentityBy(mbl), FieldValue::Theirs(ForeignValue::PercentBy(mbl))].contains(&self.value)
    }

    /// Parses a list of names separated by commas, by `+` as in vsearch, or by blanks as in BLAST.
    /// `std` stands for BLAST's twelve columns.
    pub fn parse_list(list: &str, score_only: bool) -> Result<Vec<&'static Field>> {
        let usable = |field: &Field| !score_only || !field.needs_alignment();
        ALLPAIRS.parse(list, usable, "needs the alignment, which `score_only` leaves out")
    }

    /// Returns the table of fields as text, one field per line. Options are named as in the
    /// library, in backquotes.
    pub fn table() -> String {
        ALLPAIRS.text()
    }
}

/// The fields of `pairwave allpairs`.
static ALLPAIRS: FieldTable = {
    const COUNT: usize = borrowed::count(FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(FIELDS);
    FieldTable { fields: FIELDS, aliases: &ALIASES, job: borrowed::ALLPAIRS }
};

fn defaults(list: &str) -> Vec<&'static Field> {
    list.split(',').map(|name| Field::named(name).expect("the defaults are in the table")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lower_case() {
        let names: Vec<&str> =
            FIELDS.iter().flat_map(|field| [Some(field.name), field.vsearch, field.blast]).flatten().collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} twice");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
        }
    }

    #[test]
    fn each_value_is_in_the_table_once() {
        for (at, field) in FIELDS.iter().enumerate() {
            assert!(FIELDS[..at].iter().all(|other| other.value != field.value), "{} is a double", field.name);
        }
        for number in 0..=4 {
            let field = Field::named(&format!("identity{number}")).unwrap();
            assert_eq!(field.value, FieldValue::IdentityBy(IdentityDefinition::from_number(number).unwrap()));
        }
    }

    #[test]
    fn lists_accept_separators_and_names_of_other_programs() {
        let names = |list: &str| Field::parse_list(list, false).unwrap().iter().map(|f| f.name).collect::<Vec<_>>();
        assert_eq!(names("query, target,cigar"), ["query", "target", "cigar"]);
        assert_eq!(names("query+target+id+alnlen"), ["query", "target", "id", "alnlen"]);
        assert_eq!(names("qstart  qend sstart,send"), ["qstart", "qend", "sstart", "send"]);
        assert_eq!(names("std slen").len(), 13);
        let value = |name: &str| Field::named(name).unwrap().value;
        assert_eq!((value("alnlen"), value("ids")), (value("inner_columns"), value("nident")));
    }

    #[test]
    fn wrong_lists_are_refused() {
        let message = |list: &str, score_only| Field::parse_list(list, score_only).unwrap_err().to_string();
        assert!(
            message("query,e", false).contains("no field 'e'; there are query, target, strand, identity, identity0")
        );
        assert!(message("", false).contains("no field ''"));
        assert!(message("query,identity", true).ends_with("query, target, strand, score, query_length, target_length"));
        assert!(message("query,id,id", false).contains("'id' is named twice"));
        assert!(Field::parse_list("query,query_length,evalue,ql,slen", true).is_ok());
        for (name, why) in
            [("sgi", "GI numbers"), ("staxids", "taxonomy"), ("stitle", "first blank"), ("frames", "frame")]
        {
            let message = message(&format!("query,{name}"), false);
            assert!(message.contains(&format!("'{name}'")) && message.contains(why), "{message}");
        }
    }
}
