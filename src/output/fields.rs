//! The table of fields: what can be said of a pair.
//!
//! Positions count from 1 and include the last one, as BLAST's do. A local alignment has no end gaps: what is said to
//! lie between them is all of it.
//!
//! A field goes by our name, by those of vsearch and of BLAST for the same thing, and each program has names for things that
//! only it prints so, as percentages (`borrowed`). What was typed is what stands above the column.

mod borrowed;
mod edit;
mod facts;
mod long;
mod search;
mod theirs;

use super::PairKind;
use crate::error::Result;
use crate::score::IdentityDefinition;
use borrowed::Table;
use theirs::Theirs;
pub(super) use theirs::whole_percentage;

pub use edit::{EDIT_FIELDS, EditDefaults};
pub(super) use facts::{Facts, Quotes};
pub use long::LONG_FIELDS;
pub use search::SEARCH_FIELDS;

/// One thing that `tsv` and `jsonl` can say of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name: what `--fields` takes, the column's header, the JSON key.
    pub name: &'static str,
    /// vsearch's name of the same thing, which `--fields` takes as well.
    pub vsearch: Option<&'static str>,
    /// BLAST's name of the same thing (in `-outfmt 6`), which `--fields` takes as well.
    pub blast: Option<&'static str>,
    /// What it is.
    pub description: &'static str,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Query,
    Target,
    Strands,
    Score,
    QueryLength,
    TargetLength,
    Edits(OfEdits),
    Hit(OfHit),
    /// What headers of files say after the names.
    QueryTitle,
    TargetTitle,
    /// How significant a hit of a search is.
    Evalue,
    Bits,
    /// Needs the alignment, as do all that follow.
    Identity,
    IdentityBy(IdentityDefinition),
    Count(Count),
    QueryCoverage,
    TargetCoverage,
    Cigar,
    QueryRow,
    TargetRow,
    /// What only vsearch or BLAST calls so; some of it needs the alignment.
    Theirs(Theirs),
}

/// What is known of a pattern in a text without an alignment, but for the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfEdits {
    Distance,
    Start,
    End,
    RegionStart,
    RegionEnd,
    Ends,
}

/// What is known of an alignment of two very long sequences: ends even if it was only scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfHit {
    Strands,
    QueryStart,
    QueryEnd,
    TargetStart,
    TargetEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
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
    TargetStart,
    TargetEnd,
}

const fn field(name: &'static str, vsearch: Option<&'static str>, description: &'static str, value: Value) -> Field {
    Field { name, vsearch, blast: None, description, value }
}

/// A field that BLAST has under this name.
const fn also(blast: &'static str, field: Field) -> Field {
    Field { blast: Some(blast), ..field }
}

/// Every field, in the order in which help lists them.
#[rustfmt::skip]
pub const FIELDS: &[Field] = {
    use IdentityDefinition as Id;
    use Count::*;
    use Value::{Cigar, Identity, IdentityBy, Query, QueryCoverage, QueryLength, QueryRow, Score, Strands, Target, TargetCoverage, TargetLength, TargetRow};
    &[
        also("qseqid", field("query", None, "name of the sequence that is first in the input", Query)),
        also("sseqid", field("target", None, "name of the other sequence", Target)),
        field("strand", None, "+, or - if the query's reverse complement is aligned; positions are those of the \
                               sequences as they were read", Strands),
        field("identity", None, "identity as `definition` defines it, a fraction from 0 to 1", Identity),
        field("identity0", None, "matches / length of the shorter sequence", IdentityBy(Id::Shorter)),
        field("identity1", None, "matches / columns", IdentityBy(Id::Columns)),
        field("identity2", None, "matches / columns between the end gaps (in a local alignment as identity1)",
              IdentityBy(Id::InnerColumns)),
        field("identity3", None, "1 - (mismatches + gap openings) / length of the longer sequence", IdentityBy(Id::Mbl)),
        field("identity4", None, "as identity1 (BLAST's)", IdentityBy(Id::Blast)),
        field("score", Some("raw"), "score of the alignment", Score),
        also("nident", field("matches", Some("ids"), "columns of two symbols that match", Value::Count(Matches))),
        also("mismatch", field("mismatches", Some("mism"), "columns of two symbols that do not match",
              Value::Count(Mismatches))),
        field("columns", None, "columns of the alignment, end gaps included", Value::Count(Columns)),
        field("gaps", None, "columns with a gap, end gaps included", Value::Count(Gaps)),
        field("gap_openings", None, "runs of gaps, end gaps included", Value::Count(GapOpenings)),
        also("length", field("inner_columns", Some("alnlen"), "columns between the end gaps",
              Value::Count(InnerColumns))),
        field("inner_gaps", None, "columns with a gap between the end gaps (gaps in vsearch and BLAST)",
              Value::Count(InnerGaps)),
        also("gapopen", field("inner_gap_openings", Some("opens"), "runs of gaps between the end gaps",
              Value::Count(InnerGapOpenings))),
        also("qlen", field("query_length", Some("ql"), "length of the query in symbols", QueryLength)),
        also("slen", field("target_length", Some("tl"), "length of the target in symbols", TargetLength)),
        also("qstart",
             field("query_start", Some("qilo"), "first query symbol between the end gaps, from 1; 0 if there is none",
              Value::Count(QueryStart))),
        also("qend",
             field("query_end", Some("qihi"), "last query symbol between the end gaps, from 1; 0 if there is none",
              Value::Count(QueryEnd))),
        also("sstart",
             field("target_start", Some("tilo"), "first target symbol between the end gaps, from 1; 0 if there is none",
              Value::Count(TargetStart))),
        also("send",
             field("target_end", Some("tihi"), "last target symbol between the end gaps, from 1; 0 if there is none",
              Value::Count(TargetEnd))),
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

/// What `tsv` writes if nothing else is asked for.
const TSV: &str = "query,target,identity,score,matches,columns,gaps,query_length,target_length";
/// What `jsonl` writes if nothing else is asked for.
const JSON: &str = "query,target,identity,score,matches,mismatches,columns,gaps,gap_openings,query_length,\
                    target_length,cigar";
/// The same of local alignments, which say where they lie.
const LOCAL_TSV: &str = "query,target,identity,score,matches,columns,gaps,query_start,query_end,query_length,\
                         target_start,target_end,target_length";
const LOCAL_JSON: &str = "query,target,identity,score,matches,mismatches,columns,gaps,gap_openings,query_start,\
                          query_end,query_length,target_start,target_end,target_length,cigar";
/// What either writes if only scores are computed and nothing else is asked for.
const SCORES: &str = "query,target,score";

impl Field {
    /// The field of this name: ours, vsearch's or BLAST's. It has the name that was asked for.
    pub fn named(name: &str) -> Option<&'static Field> {
        ALLPAIRS.named(name)
    }

    /// Returns the only kind of pairs that has the field; `None` if all have it.
    pub(crate) fn kind(&self) -> Option<PairKind> {
        match self.value {
            Value::Edits(_) => Some(PairKind::Edit),
            Value::Hit(_) => Some(PairKind::Long),
            _ => None,
        }
    }

    /// Whether it can be said only of a pair that was aligned, not of one that was merely scored.
    pub fn needs_alignment(&self) -> bool {
        match self.value {
            Value::Query | Value::Target | Value::Strands | Value::Score | Value::QueryLength | Value::TargetLength => {
                false
            }
            Value::QueryTitle | Value::TargetTitle | Value::Evalue | Value::Bits => false,
            Value::Edits(what) => what == OfEdits::Start,
            Value::Hit(_) => false,
            Value::Theirs(what) => what.needs_alignment(),
            _ => true,
        }
    }

    /// Whether it is a name.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.value, Value::Query | Value::Target)
    }

    /// The fields that `tsv` writes by default.
    pub fn tsv_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { TSV })
    }

    /// The fields that `jsonl` writes by default.
    pub fn json_defaults(score_only: bool) -> Vec<&'static Field> {
        defaults(if score_only { SCORES } else { JSON })
    }

    /// The fields that `tsv` writes by default of local alignments.
    pub fn local_tsv_defaults() -> Vec<&'static Field> {
        defaults(LOCAL_TSV)
    }

    /// The fields that `jsonl` writes by default of local alignments.
    pub fn local_json_defaults() -> Vec<&'static Field> {
        defaults(LOCAL_JSON)
    }

    /// The fields that are written by default where the other strand is compared too: with the strand, after the target.
    pub fn with_strand(mut defaults: Vec<&'static Field>, table: &'static [Field]) -> Vec<&'static Field> {
        let place = defaults.iter().position(|field| field.value == Value::Target).map_or(0, |target| target + 1);
        let is_strand = |field: &&Field| field.value == Value::Strands;
        defaults.splice(place..place, table.iter().filter(is_strand));
        defaults
    }

    /// Whether it is an identity by the definition that the job has, and not by one of its own.
    pub fn follows_definition(&self) -> bool {
        matches!(self.value, Value::Identity | Value::Theirs(Theirs::Percent | Theirs::PercentIdentical))
    }

    /// Whether it says something of whole sequences, which a local alignment does not tell.
    pub fn needs_whole_sequences(&self) -> bool {
        let mbl = IdentityDefinition::Mbl;
        [Value::IdentityBy(mbl), Value::Theirs(Theirs::PercentBy(mbl))].contains(&self.value)
    }

    /// The fields of a list of names separated by commas, by `+` as in vsearch, or by blanks as in BLAST, whose `std`
    /// stands for its twelve columns.
    pub fn parse_list(list: &str, score_only: bool) -> Result<Vec<&'static Field>> {
        let usable = |field: &Field| !score_only || !field.needs_alignment();
        ALLPAIRS.parse(list, usable, "needs the alignment, which `score_only` leaves out")
    }

    /// The table of fields as text, one field a line. What users choose is named as in the library, between backquotes.
    pub fn table() -> String {
        ALLPAIRS.text()
    }
}

/// The fields of `pairwave allpairs`.
static ALLPAIRS: Table = {
    const COUNT: usize = borrowed::count(FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(FIELDS);
    Table { fields: FIELDS, aliases: &ALIASES, job: borrowed::ALLPAIRS }
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
    fn every_value_is_in_the_table_once() {
        for (at, field) in FIELDS.iter().enumerate() {
            assert!(FIELDS[..at].iter().all(|other| other.value != field.value), "{} is a double", field.name);
        }
        for number in 0..=4 {
            let field = Field::named(&format!("identity{number}")).unwrap();
            assert_eq!(field.value, Value::IdentityBy(IdentityDefinition::from_number(number).unwrap()));
        }
    }

    #[test]
    fn lists_take_commas_plus_signs_and_other_programs_names() {
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
