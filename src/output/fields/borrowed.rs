//! Field names of vsearch and BLAST. Some are other names of this program's fields. The others are
//! names of values that only those programs print in that form.
//!
//! `gaps` is a field of this program and includes end gaps. The `gaps` of vsearch and BLAST are
//! `inner_gaps`.

use std::fmt::Write;

use super::foreign::{AlignedEnd, ForeignValue};
use super::{ColumnCount, Field, FieldValue, field};
use crate::error::{Error, Result};
use crate::score::IdentityDefinition;

/// Jobs, as bits of a set.
pub(super) const ALLPAIRS: u8 = 1;
pub(super) const EDIT: u8 = 2;
pub(super) const LONG: u8 = 4;
pub(super) const SEARCH: u8 = 8;

/// The fields of one job.
pub(super) struct FieldTable {
    /// Fields by their names in this program.
    pub fields: &'static [Field],
    /// Fields by their names in the other programs.
    pub aliases: &'static [Field],
    pub job: u8,
}

/// Returns the number of names that these fields have in other programs.
pub(super) const fn count(fields: &[Field]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < fields.len() {
        count += fields[at].vsearch.is_some() as usize + fields[at].blast.is_some() as usize;
        at += 1;
    }
    count
}

/// Returns a copy of each field for each of its names in other programs.
pub(super) const fn aliases<const COUNT: usize>(fields: &[Field]) -> [Field; COUNT] {
    let mut all = [fields[0]; COUNT];
    let (mut at, mut filled) = (0, 0);
    while at < fields.len() {
        let Field { vsearch, blast, description, value, .. } = fields[at];
        if let Some(name) = vsearch {
            all[filled] = field(name, None, description, value);
            filled += 1;
        }
        if let Some(name) = blast {
            all[filled] = field(name, None, description, value);
            filled += 1;
        }
        at += 1;
    }
    all
}

/// Fields of another program.
struct OtherProgram {
    name: &'static str,
    /// Remark that applies to all fields of the program.
    manner: &'static str,
    /// Fields with the jobs that have them.
    fields: &'static [(u8, Field)],
}

const ALL: u8 = ALLPAIRS | EDIT | LONG | SEARCH;
const SCORED: u8 = ALLPAIRS | LONG | SEARCH;

const fn foreign(name: &'static str, description: &'static str, value: ForeignValue) -> Field {
    field(name, None, description, FieldValue::Theirs(value))
}

#[rustfmt::skip]
const VSEARCH: OtherProgram = {
    use IdentityDefinition as Id;
    use ForeignValue::*;
    OtherProgram {
        name: "vsearch",
        manner: "identities and coverages are percentages with one digit",
        fields: &[
            (ALL, foreign("id", "identity (in allpairs as `definition` defines it)", Percent)),
            (SCORED, foreign("id0", "100 * matches / length of the shorter sequence", PercentBy(Id::Shorter))),
            (SCORED, foreign("id1", "100 * matches / columns", PercentBy(Id::Columns))),
            (SCORED, foreign("id2", "100 * matches / columns between the end gaps", PercentBy(Id::InnerColumns))),
            (ALLPAIRS, foreign("id3", "100 * (1 - (mismatches + gap openings) / length of the longer sequence)", PercentBy(Id::Mbl))),
            (SCORED, foreign("id4", "as id1", PercentBy(Id::Blast))),
            (ALL, foreign("pctpv", "100 * matches / alnlen", PercentMatches)),
            (ALL, foreign("pctgaps", "100 * columns with a gap / alnlen, between the end gaps", PercentGaps)),
            (ALL, foreign("qcov", "100 * pairs / ql", QueryCovered)),
            (ALL, foreign("tcov", "100 * pairs / tl", TargetCovered)),
            (ALL, foreign("pairs", "columns of two symbols", Pairs)),
            (ALL, field("pv", None, "as ids", FieldValue::Count(ColumnCount::Matches))),
            (ALL, foreign("exts", "columns with a gap less gap openings, between the end gaps", Extensions)),
            (ALL, foreign("qlo", "first query symbol of the alignment with its end gaps; with qstrand - the last", Position(AlignedEnd::QueryFirst))),
            (ALL, foreign("qhi", "last query symbol of the alignment with its end gaps; with qstrand - the first", Position(AlignedEnd::QueryLast))),
            (ALL, foreign("tlo", "first target symbol of the alignment with its end gaps", Position(AlignedEnd::TargetFirst))),
            (ALL, foreign("thi", "last target symbol of the alignment with its end gaps", Position(AlignedEnd::TargetLast))),
            (EDIT, foreign("qilo", "first symbol of the pattern, from 1", Position(AlignedEnd::QueryFirst))),
            (EDIT, foreign("qihi", "last symbol of the pattern", Position(AlignedEnd::QueryLast))),
            (ALL, field("qs", None, "as ql", FieldValue::QueryLength)),
            (ALL, field("ts", None, "as tl", FieldValue::TargetLength)),
            (ALL, foreign("aln", "the alignment, a letter a column: M two symbols, D query symbol against a gap, I target \
                                 symbol against a gap (in cigar I and D are the other way round)", Columns)),
            (ALL, foreign("caln", "the same in runs, in which 1 is left out: 6I66MD", Runs)),
            (ALL, foreign("qrow", "the query with its gaps, without end gaps", QueryRow)),
            (ALL, foreign("trow", "the target with its gaps, without end gaps", TargetRow)),
            (ALL, foreign("qstrand", "+, or - if the query's reverse complement is aligned", QueryStrand)),
            (ALL, foreign("tstrand", "always +", Text("+"))),
            (ALL, foreign("qframe", "always +0", Text("+0"))),
            (ALL, foreign("tframe", "always +0", Text("+0"))),
            (ALLPAIRS, foreign("evalue", "always -1: E-values are not computed", Number("-1"))),
            (ALLPAIRS, foreign("bits", "always 0: bit scores are not computed", Number("0"))),
        ],
    }
};

#[rustfmt::skip]
const BLAST: OtherProgram = {
    use ForeignValue::*;
    OtherProgram {
        name: "BLAST",
        manner: "percentages with BLAST's digits; std stands for the columns of blast6",
        fields: &[
            (ALL, foreign("pident", "identity, three digits (in allpairs as `definition` defines it)", PercentIdentical)),
            (SCORED, foreign("positive", "columns of two symbols that match or score more than 0", Positives)),
            (SCORED, foreign("ppos", "100 * positive / length, two digits", PercentPositives)),
            (ALL, foreign("qcovhsp", "100 * (qend - qstart + 1) / qlen, a whole number, 100 only if all is covered", WholeCoverage)),
            (ALL, foreign("qcovs", "as qcovhsp, of all alignments with the target together", SubjectCoverage)),
            (ALL, foreign("qcovus", "as qcovs", SubjectCoverage)),
            (EDIT, foreign("qstart", "first symbol of the pattern, from 1", Position(AlignedEnd::QueryFirst))),
            (EDIT, foreign("qend", "last symbol of the pattern", Position(AlignedEnd::QueryLast))),
            (ALL, foreign("qseq", "the query with its gaps, without end gaps", QueryRow)),
            (ALL, foreign("sseq", "the target with its gaps, without end gaps", TargetRow)),
            (ALL, foreign("btop", "the alignment without end gaps: a number of columns of the same letter, or a query \
                                  and a target letter that differ: 7AG2C-", Btop)),
            (ALL, foreign("sstrand", "plus, or minus if the query's reverse complement is aligned; N/A of proteins", SubjectStrand)),
            (ALLPAIRS, foreign("bitscore", "always 0: bit scores are not computed", Number("0"))),
            (ALL, field("qacc", None, "as query", FieldValue::Query)),
            (ALL, field("qaccver", None, "as query", FieldValue::Query)),
            (ALL, field("sacc", None, "as target", FieldValue::Target)),
            (ALL, field("saccver", None, "as target", FieldValue::Target)),
            (ALL, field("sallseqid", None, "as target", FieldValue::Target)),
            (ALL, field("sallacc", None, "as target", FieldValue::Target)),
            (SEARCH, field("salltitles", None, "as stitle", FieldValue::TargetTitle)),
        ],
    }
};

const PROGRAMS: [OtherProgram; 2] = [VSEARCH, BLAST];
/// The fields of both programs. This is a static because look-ups return static references.
static BORROWED: [&[(u8, Field)]; 2] = [VSEARCH.fields, BLAST.fields];

/// Expansion of BLAST's `std`.
const STD: &str = "qaccver,saccver,pident,length,mismatch,gapopen,qstart,qend,sstart,send,evalue,bitscore";

/// Fields of BLAST that need missing data, and the explanation.
const REFUSED: &[(&[&str], &str)] = &[
    (&["qgi", "sgi", "sallgi"], "GI numbers are not read; qseqid and sseqid are the names in the files"),
    (
        &[
            "staxid",
            "staxids",
            "ssciname",
            "sscinames",
            "scomname",
            "scomnames",
            "sblastname",
            "sblastnames",
            "sskingdom",
            "sskingdoms",
        ],
        "sequences come from files without a taxonomy",
    ),
    (&["stitle", "salltitles"], "a name ends at its first blank, and the title after it is not kept"),
    (&["frames", "sframe"], "nothing is translated, so that there is no reading frame"),
];

impl FieldTable {
    /// Returns the field with this name, in any of the three programs.
    pub(super) fn named(&self, name: &str) -> Option<&'static Field> {
        let borrowed = || BORROWED.iter().copied().flatten().filter(|(jobs, _)| jobs & self.job != 0);
        let own_fields = self.fields.iter().chain(self.aliases);
        own_fields.chain(borrowed().map(|(_, field)| field)).find(|field| field.name == name)
    }

    /// Parses a list of names. `why` explains why a field is not usable.
    pub(super) fn parse(&self, list: &str, usable: impl Fn(&Field) -> bool, why: &str) -> Result<Vec<&'static Field>> {
        let wrong = |message: String| Err(Error::usage_of("fields", message));
        let names = || {
            let usable = self.fields.iter().filter(|field| usable(field));
            usable.map(|field| field.name).collect::<Vec<_>>().join(", ")
        };
        let mut fields: Vec<&'static Field> = Vec::new();
        for name in words(list) {
            let Some(field) = self.named(name) else {
                let refused = REFUSED.iter().find(|(names, _)| names.contains(&name));
                return match refused {
                    Some((_, why)) => wrong(format!("there is no field '{name}': {why}")),
                    None => wrong(format!("there is no field '{name}'; there are {}", names())),
                };
            };
            if !usable(field) {
                return wrong(format!("'{name}' {why}; without it there are {}", names()));
            }
            if fields.contains(&field) {
                return wrong(format!("'{name}' is named twice"));
            }
            fields.push(field);
        }
        Ok(fields)
    }

    /// Returns all fields as text, one per line, with the other programs' own fields at the end.
    /// Options are named as in the library, in backquotes.
    pub(super) fn text(&self) -> String {
        let width = self.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
        let mut text = format!("{:width$}  {:8}  {:8}  {}\n", "FIELD", "VSEARCH", "BLAST", "MEANING");
        for field in self.fields {
            let (vsearch, blast) = (field.vsearch.unwrap_or(""), field.blast.unwrap_or(""));
            writeln!(text, "{:width$}  {vsearch:8}  {blast:8}  {}", field.name, field.description)
                .expect("a string takes all");
        }
        let ends = if self.job == EDIT { "; here all columns lie between the end gaps" } else { "" };
        for OtherProgram { name, manner, fields } in PROGRAMS {
            writeln!(text, "\nAs {name} has them ({manner}{ends}):").expect("a string takes all");
            for (_, field) in fields.iter().filter(|(jobs, _)| jobs & self.job != 0) {
                writeln!(text, "{:width$}  {}", field.name, field.description).expect("a string takes all");
            }
        }
        text
    }
}

/// Returns the names in a list. An empty string between two commas counts as a name, which no field
/// has.
fn words(list: &str) -> impl Iterator<Item = &str> {
    let pieces = list.split([',', '+']).map(str::trim);
    let names = pieces.flat_map(|piece| piece.split_whitespace().chain(piece.is_empty().then_some("")));
    names.flat_map(|name| if name == "std" { STD } else { name }.split(','))
}

#[cfg(test)]
mod tests {
    use super::super::{ALLPAIRS as ALLPAIRS_TABLE, EDIT_FIELDS, FIELDS, LONG_FIELDS, SEARCH_FIELDS};
    use super::*;

    #[test]
    fn names_are_unique_in_each_job() {
        for (job, fields) in [(ALLPAIRS, FIELDS), (EDIT, EDIT_FIELDS), (LONG, LONG_FIELDS), (SEARCH, SEARCH_FIELDS)] {
            let own_fields = fields.iter().flat_map(|field| [Some(field.name), field.vsearch, field.blast]).flatten();
            let theirs = BORROWED.iter().copied().flatten().filter(|(jobs, _)| jobs & job != 0);
            let mut names: Vec<&str> = own_fields.chain(theirs.map(|(_, field)| field.name)).collect();
            let refused = REFUSED.iter().flat_map(|(names, _)| names.iter().copied());
            // Only searches keep titles.
            let is_title = |name: &&str| ["stitle", "salltitles"].contains(name);
            names.extend(refused.filter(|name| job != SEARCH || !is_title(name)));
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "job {job}");
        }
    }

    /// Every userfield of vsearch 2.22.1 and every column of BLAST 2.12.0 is a field, or the error
    /// explains why it is not.
    #[test]
    fn every_name_of_other_programs_is_known() {
        let vsearch = "aln alnlen bits caln evalue exts gaps id id0 id1 id2 id3 id4 ids mism opens pairs pctgaps pctpv pv qcov \
                       qframe qhi qihi qilo ql qlo qrow qs qstrand query raw target tcov tframe thi tihi tilo tl tlo trow \
                       ts tstrand";
        let blast = "qseqid qgi qacc qaccver qlen sseqid sallseqid sgi sallgi sacc saccver sallacc slen qstart qend sstart \
                     send qseq sseq evalue bitscore score length pident nident mismatch positive gapopen gaps ppos frames \
                     qframe sframe btop staxid ssciname scomname sblastname sskingdom staxids sscinames scomnames \
                     sblastnames sskingdoms stitle salltitles sstrand qcovs qcovhsp qcovus";
        for name in vsearch.split_whitespace().chain(blast.split_whitespace()) {
            let is_refused = REFUSED.iter().any(|(names, _)| names.contains(&name));
            assert_ne!(ALLPAIRS_TABLE.named(name).is_some(), is_refused, "{name}");
        }
    }

    #[test]
    fn lists_accept_blanks_and_std() {
        assert_eq!(words("a, b+c d").collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(words("a,,b").collect::<Vec<_>>(), ["a", "", "b"]);
        assert_eq!(words("std,qlen").count(), 13);
    }
}
