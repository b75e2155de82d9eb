//! The table of fields of `pairwave edit`: what can be said of a pattern and the part of a text where it was found.

use super::borrowed::{self, Table};
use super::{Count, Field, OfEdits, Value, also, field};
use crate::error::Result;

/// Every field of `pairwave edit`, in the order in which help lists them.
#[rustfmt::skip]
pub const EDIT_FIELDS: &[Field] = {
    use OfEdits::*;
    use Value::{Cigar, Identity, Query, QueryLength, QueryRow, Strands, Target, TargetLength, TargetRow};
    &[
        also("qseqid", field("query", None, "name of the pattern: with one file, of the earlier sequence", Query)),
        also("sseqid", field("target", None, "name of the text", Target)),
        field("strand", None, "+, or - if the pattern's reverse complement is compared; positions in the text are \
                               those of the text as it was read", Strands),
        field("distance", None, "the least number of edits", Value::Edits(Distance)),
        also("sstart", field("target_start", Some("tilo"), "first text symbol of the part where the pattern was found, \
                             from 1; one more than target_end if the part is empty", Value::Edits(Start))),
        also("send", field("target_end", Some("tihi"), "last text symbol of the part, from 1; the first end of least \
                           distance", Value::Edits(End))),
        field("ends", None, "all ends within `limit` as end:distance, separated by commas; a list of pairs in \
                             jsonl", Value::Edits(Ends)),
        field("region_start", None, "text symbols before the region, as in `candidates`", Value::Edits(RegionStart)),
        field("region_end", None, "text symbols up to the region's end, as in `candidates`", Value::Edits(RegionEnd)),
        also("qlen", field("query_length", Some("ql"), "length of the pattern in symbols", QueryLength)),
        also("slen", field("target_length", Some("tl"), "length of the text in symbols", TargetLength)),
        field("identity", None, "matches / columns, a fraction from 0 to 1", Identity),
        also("nident", field("matches", Some("ids"), "columns of two symbols that are equal",
             Value::Count(Count::Matches))),
        also("mismatch", field("mismatches", Some("mism"), "columns of two symbols that are not equal",
             Value::Count(Count::Mismatches))),
        also("length", field("columns", Some("alnlen"), "columns of the alignment", Value::Count(Count::Columns))),
        field("gaps", None, "columns with a gap", Value::Count(Count::Gaps)),
        also("gapopen", field("gap_openings", Some("opens"), "runs of gaps", Value::Count(Count::GapOpenings))),
        field("cigar", None, "the alignment of the pattern with the part: = equal, X not equal, I pattern symbol \
                              against a gap, D text symbol against a gap", Cigar),
        field("query_row", None, "the alignment's upper row: the pattern with its gaps", QueryRow),
        field("target_row", None, "the alignment's lower row: the part of the text with its gaps", TargetRow),
    ]
};

static EDIT: Table = {
    const COUNT: usize = borrowed::count(EDIT_FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(EDIT_FIELDS);
    Table { fields: EDIT_FIELDS, aliases: &ALIASES, job: borrowed::EDIT }
};

/// What is known of pairs, which decides what is written of them if no fields are named.
#[derive(Debug, Clone, Copy, Default)]
pub struct EditDefaults {
    /// Pairs are candidates, parts of texts.
    pub regions: bool,
    /// A part of the text is looked for, not the whole.
    pub parts: bool,
    /// Pairs are aligned.
    pub aligned: bool,
    /// All ends are found.
    pub ends: bool,
}

impl EditDefaults {
    /// The fields that are written by default.
    pub fn fields(self) -> Vec<&'static Field> {
        let names = [
            ("query", true),
            ("target", true),
            ("region_start", self.regions),
            ("region_end", self.regions),
            ("distance", true),
            ("target_start", self.parts && self.aligned),
            ("target_end", self.parts),
            ("ends", self.ends),
            ("identity", self.aligned),
            ("cigar", self.aligned),
        ];
        let wanted = names.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(name, _)| EDIT.named(name).expect("the defaults are in the table")).collect()
    }
}

impl Field {
    /// The fields of `pairwave edit` of a list of names separated by commas (or as in [`Field::parse_list`]).
    pub fn parse_edit_list(list: &str) -> Result<Vec<&'static Field>> {
        EDIT.parse(list, |_| true, "")
    }

    /// The table of fields of `pairwave edit` as text, one field a line.
    pub fn edit_table() -> String {
        EDIT.text()
    }

    /// Whether it needs all ends, not only the first one of least distance.
    pub fn needs_all_ends(&self) -> bool {
        self.value == Value::Edits(OfEdits::Ends)
    }

    /// Whether it shows letters of sequences.
    pub fn shows_letters(&self) -> bool {
        matches!(self.value, Value::QueryRow | Value::TargetRow) || self.value.is_letters_of_theirs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names: Vec<&str> =
            EDIT_FIELDS.iter().flat_map(|field| [Some(field.name), field.vsearch, field.blast]).flatten().collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} twice");
        }
        for (at, field) in EDIT_FIELDS.iter().enumerate() {
            assert!(EDIT_FIELDS[..at].iter().all(|other| other.value != field.value), "{} is a double", field.name);
        }
    }

    #[test]
    fn defaults_say_what_is_known() {
        let names = |defaults: EditDefaults| defaults.fields().iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(names(EditDefaults::default()), ["query", "target", "distance"]);
        let all = EditDefaults { regions: true, parts: true, aligned: true, ends: true };
        assert_eq!(names(all).len(), 10);
        let error = Field::parse_edit_list("query,score").unwrap_err().to_string();
        assert!(error.contains("no field 'score'; there are query, target, strand, distance, target_start"), "{error}");
    }
}
