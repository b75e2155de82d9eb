//! The table of fields of `pairwave edit`, which describe a pattern and the part of a text where it
//! was found.

use super::borrowed::{self, FieldTable};
use super::{ColumnCount, EditValue, Field, FieldValue, field, with_blast_name};
use crate::error::Result;

/// Every field of `pairwave edit`, in the order of the help.
#[rustfmt::skip]
pub const EDIT_FIELDS: &[Field] = {
    use EditValue::*;
    use FieldValue::{Cigar, Identity, Query, QueryLength, QueryRow, Strand, Target, TargetLength, TargetRow};
    &[
        with_blast_name("qseqid", field("query", None, "name of the pattern: with one file, of the earlier sequence", Query)),
        with_blast_name("sseqid", field("target", None, "name of the text", Target)),
        field("strand", None, "+, or - if the pattern's reverse complement is compared; positions in the text are \
                               those of the text as it was read", Strand),
        field("distance", None, "the least number of edits", FieldValue::Edits(Distance)),
        with_blast_name("sstart", field("target_start", Some("tilo"), "first text symbol of the part where the pattern was found, \
                             from 1; one more than target_end if the part is empty", FieldValue::Edits(Start))),
        with_blast_name("send", field("target_end", Some("tihi"), "last text symbol of the part, from 1; the first end of least \
                           distance", FieldValue::Edits(End))),
        field("query_start", None, "first pattern symbol that is aligned, from 1, of the pattern as it was read; greater \
                                    than 1 if the pattern hangs over an end of the text",
             FieldValue::Count(ColumnCount::WholeQueryStart)),
        field("query_end", None, "last pattern symbol that is aligned, from 1; one less than query_start if there is none",
             FieldValue::Count(ColumnCount::WholeQueryEnd)),
        field("ends", None, "all ends within `limit` as end:distance, separated by commas; a list of pairs in \
                             jsonl", FieldValue::Edits(Ends)),
        field("region_start", None, "text symbols before the region, as in `candidates`", FieldValue::Edits(RegionStart)),
        field("region_end", None, "text symbols up to the region's end, as in `candidates`", FieldValue::Edits(RegionEnd)),
        with_blast_name("qlen", field("query_length", Some("ql"), "length of the pattern in symbols", QueryLength)),
        with_blast_name("slen", field("target_length", Some("tl"), "length of the text in symbols", TargetLength)),
        field("identity", None, "matches / columns, a fraction from 0 to 1", Identity),
        with_blast_name("nident", field("matches", Some("ids"), "columns of two symbols that are equal",
             FieldValue::Count(ColumnCount::Matches))),
        with_blast_name("mismatch", field("mismatches", Some("mism"), "columns of two symbols that are not equal",
             FieldValue::Count(ColumnCount::Mismatches))),
        with_blast_name("length", field("columns", Some("alnlen"), "columns of the alignment", FieldValue::Count(ColumnCount::Columns))),
        field("gaps", None, "columns with a gap", FieldValue::Count(ColumnCount::Gaps)),
        with_blast_name("gapopen", field("gap_openings", Some("opens"), "runs of gaps", FieldValue::Count(ColumnCount::GapOpenings))),
        field("cigar", None, "the alignment of the pattern with the part: = equal, X not equal, I pattern symbol \
                              against a gap, D text symbol against a gap", Cigar),
        field("query_row", None, "the alignment's upper row: the pattern with its gaps", QueryRow),
        field("target_row", None, "the alignment's lower row: the part of the text with its gaps", TargetRow),
    ]
};

static EDIT: FieldTable = {
    const COUNT: usize = borrowed::count(EDIT_FIELDS);
    static ALIASES: [Field; COUNT] = borrowed::aliases(EDIT_FIELDS);
    FieldTable { fields: EDIT_FIELDS, aliases: &ALIASES, job: borrowed::EDIT }
};

/// Properties of the pairs that decide the default fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct EditDefaults {
    /// Whether pairs are candidates, which name parts of texts.
    pub regions: bool,
    /// Whether a part of the text is searched, instead of the whole.
    pub parts: bool,
    /// Whether pairs are aligned.
    pub aligned: bool,
    /// Whether all ends are reported.
    pub ends: bool,
    /// Whether patterns may hang over the ends of texts.
    pub overhang: bool,
}

impl EditDefaults {
    /// Returns the default fields.
    pub fn fields(self) -> Vec<&'static Field> {
        let names = [
            ("query", true),
            ("target", true),
            ("region_start", self.regions),
            ("region_end", self.regions),
            ("distance", true),
            ("query_start", self.overhang),
            ("query_end", self.overhang),
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
    /// Parses a list of fields of `pairwave edit`, separated by commas (or as in
    /// [`Field::parse_list`]).
    pub fn parse_edit_list(list: &str) -> Result<Vec<&'static Field>> {
        EDIT.parse(list, |_| true, "")
    }

    /// Returns the table of fields of `pairwave edit` as text, one field per line.
    pub fn edit_table() -> String {
        EDIT.text()
    }

    /// Returns whether the field needs all ends, and not only the first one with the least
    /// distance.
    pub fn needs_all_ends(&self) -> bool {
        self.value == FieldValue::Edits(EditValue::Ends)
    }

    /// Returns whether the field contains letters of sequences.
    pub fn shows_letters(&self) -> bool {
        matches!(self.value, FieldValue::QueryRow | FieldValue::TargetRow) || self.value.is_letters_in_foreign_form()
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
    fn edit_defaults_depend_on_known_values() {
        let names = |defaults: EditDefaults| defaults.fields().iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(names(EditDefaults::default()), ["query", "target", "distance"]);
        let all = EditDefaults { regions: true, parts: true, aligned: true, ends: true, overhang: true };
        assert_eq!(names(all).len(), 12);
        let error = Field::parse_edit_list("query,score").unwrap_err().to_string();
        assert!(error.contains("no field 'score'; there are query, target, strand, distance, target_start"), "{error}");
    }
}
