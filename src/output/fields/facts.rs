//! Values of the fields of one pair.

use super::{ColumnCount, EditValue, Field, FieldValue, LongValue};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::{AlignmentColumns, push_row, push_runs};
use crate::output::numbers::{push_fraction, push_integer, push_unsigned};
use crate::output::{Context, Edits, LongPairEnd, OutputPair, Range32};
use crate::score::statistics::{BitScore, Evalue};
use crate::score::{IdentityDefinition, Significance};
use crate::seq::{SequenceId, SequenceStore, Strand};

/// Data for the fields of one pair.
pub(in crate::output) struct PairFacts<'a> {
    pub(super) context: &'a Context,
    pub(super) pair: &'a OutputPair<'a>,
    pub(super) aligned: Option<(AlignmentColumns, &'a Cigar)>,
}

/// Quoting of text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Quotes {
    None,
    Json,
}

impl<'a> PairFacts<'a> {
    pub(crate) fn new(context: &'a Context, pair: &'a OutputPair<'a>) -> Result<Self> {
        let aligned = pair.alignment.map(|cigar| Ok((context.columns(pair)?, cigar))).transpose()?;
        Ok(PairFacts { context, pair, aligned })
    }

    /// Appends the value of `field`.
    pub(crate) fn push(&self, field: &Field, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let PairFacts { context, pair, .. } = *self;
        let query_length = context.queries.length(pair.query);
        let target_length = context.targets.length(pair.target);
        // Without an alignment, only one end is known.
        let is_turned = pair.is_reverse() && pair.alignment.is_some();
        let value = if is_turned { field.on_the_other_strand() } else { field.value };
        match value {
            FieldValue::Query => push_name(out, &context.queries, pair.query, quotes),
            FieldValue::Target => push_name(out, &context.targets, pair.target, quotes),
            FieldValue::Strand => push_strand(out, pair.strand == Strand::Minus, quotes),
            FieldValue::QueryTitle => push_title(out, context.queries.description(pair.query), quotes),
            FieldValue::TargetTitle => push_title(out, context.targets.description(pair.target), quotes),
            FieldValue::Evalue | FieldValue::Bits => {
                push_significance(out, pair.significance().as_ref(), value == FieldValue::Evalue, quotes);
            }
            FieldValue::Score => push_integer(out, pair.score),
            FieldValue::QueryLength => push_unsigned(out, u64::from(query_length)),
            FieldValue::TargetLength => push_unsigned(out, u64::from(target_length)),
            FieldValue::Edits(what) => {
                let edits = pair.edits();
                let edits = &edits.ok_or_else(|| Error::Internal(format!("field '{}' of a score", field.name)))?;
                what.push(pair, edits, quotes, out)?;
            }
            FieldValue::Hit(what) => {
                let hit = pair
                    .long_hit()
                    .ok_or_else(|| Error::Internal(format!("field '{}' of no long pair", field.name)))?;
                if what == LongValue::Strand {
                    push_strand(out, hit.is_reverse, quotes);
                } else {
                    let columns = self.aligned.as_ref().map(|(columns, _)| columns);
                    match what.get(hit, columns, query_length) {
                        Some(position) => push_unsigned(out, u64::from(position)),
                        None => out.extend_from_slice(if quotes == Quotes::Json { b"null" } else { b"." }),
                    }
                }
            }
            FieldValue::Theirs(what) => what.push(self, quotes, out)?,
            value => self.push_aligned(value, field, quotes, out)?,
        }
        Ok(())
    }

    /// Appends the value of a field that needs the alignment.
    fn push_aligned(&self, value: FieldValue, field: &Field, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let PairFacts { context, pair, aligned } = *self;
        let (columns, cigar) = aligned
            .ok_or_else(|| Error::Internal(format!("field '{}' of a pair without its alignment", field.name)))?;
        let query_length = context.queries.length(pair.query);
        let target_length = context.targets.length(pair.target);
        let identity = |by: IdentityDefinition| by.identity(&columns.counts, query_length, target_length);
        let covered = (columns.counts.matches + columns.counts.mismatches) as f64;
        let alphabet = context.queries.alphabet();
        match value {
            FieldValue::IdentityBy(definition) => push_fraction(out, identity(definition)),
            FieldValue::Count(count) => push_unsigned(out, count.get(&columns)),
            FieldValue::QueryCoverage => push_fraction(out, covered / f64::from(query_length.max(1))),
            FieldValue::TargetCoverage => push_fraction(out, covered / f64::from(target_length.max(1))),
            FieldValue::Cigar => push_text(out, quotes, |out| push_runs(out, cigar.iter())),
            FieldValue::QueryRow => push_text(out, quotes, |out| {
                let (codes, start) = (&context.query_codes(pair), pair.query_start);
                push_row(out, cigar.iter(), codes, start, alphabet, Op::Deletion);
            }),
            FieldValue::TargetRow => push_text(out, quotes, |out| {
                let (codes, start) = (context.targets.codes(pair.target), pair.target_start);
                push_row(out, cigar.iter(), codes, start, alphabet, Op::Insertion);
            }),
            _ => push_fraction(out, identity(context.identity)),
        }
        Ok(())
    }
}

/// Appends text, in quotes if required.
fn push_text(out: &mut Vec<u8>, quotes: Quotes, write: impl FnOnce(&mut Vec<u8>)) {
    let quote: &[u8] = if quotes == Quotes::Json { b"\"" } else { b"" };
    out.extend_from_slice(quote);
    write(out);
    out.extend_from_slice(quote);
}

fn push_strand(out: &mut Vec<u8>, is_minus: bool, quotes: Quotes) {
    push_text(out, quotes, |out| out.push(if is_minus { b'-' } else { b'+' }));
}

/// Appends an E-value or a bit score.
fn push_significance(out: &mut Vec<u8>, significance: Option<&Significance>, is_evalue: bool, quotes: Quotes) {
    let number = match significance {
        Some(significance) if is_evalue => Evalue(significance.evalue).to_string(),
        Some(significance) => BitScore(significance.bits).to_string(),
        // vsearch writes these for unknown values.
        None if quotes == Quotes::None => if is_evalue { "-1" } else { "0" }.to_owned(),
        None => "null".to_owned(),
    };
    out.extend_from_slice(number.as_bytes());
}

fn push_name(out: &mut Vec<u8>, store: &SequenceStore, id: SequenceId, quotes: Quotes) {
    match quotes {
        // A name ends at the first blank, so it contains no tab and no line end.
        Quotes::None => out.extend_from_slice(store.name_bytes(id)),
        Quotes::Json => serde_json::to_writer(out, store.name(id)).expect("a string is JSON and a vector takes all"),
    }
}

/// Appends a description. In a table, a tab would start another column, so control characters
/// become blanks.
fn push_title(out: &mut Vec<u8>, title: &[u8], quotes: Quotes) {
    match quotes {
        Quotes::None => out.extend(title.iter().map(|&byte| if byte.is_ascii_control() { b' ' } else { byte })),
        Quotes::Json => {
            let title = String::from_utf8_lossy(title);
            serde_json::to_writer(out, &title).expect("a string is JSON and a vector takes all");
        }
    }
}

impl ColumnCount {
    fn get(self, columns: &AlignmentColumns) -> u64 {
        let counts = &columns.counts;
        match self {
            ColumnCount::Matches => counts.matches,
            ColumnCount::Mismatches => counts.mismatches,
            ColumnCount::Columns => columns.total(),
            ColumnCount::Gaps => counts.gap_columns,
            ColumnCount::GapOpenings => counts.gap_openings,
            ColumnCount::InnerColumns => columns.inner_total(),
            ColumnCount::InnerGaps => columns.inner_gaps(),
            ColumnCount::InnerGapOpenings => columns.inner_gap_openings,
            ColumnCount::QueryStart => u64::from(columns.query.one_based().0),
            ColumnCount::QueryEnd => u64::from(columns.query.one_based().1),
            ColumnCount::WholeQueryStart => u64::from(columns.whole_query.start) + 1,
            ColumnCount::WholeQueryEnd => u64::from(columns.whole_query.end),
            ColumnCount::TargetStart => u64::from(columns.target.one_based().0),
            ColumnCount::TargetEnd => u64::from(columns.target.one_based().1),
        }
    }
}

impl Field {
    /// Returns the value to write if the query's reverse complement was compared. BLAST reverses
    /// the target instead, so its `sstart` is after its `send`.
    fn on_the_other_strand(&self) -> FieldValue {
        match (self.name, self.value) {
            ("sstart", FieldValue::Count(ColumnCount::TargetStart)) => FieldValue::Count(ColumnCount::TargetEnd),
            ("send", FieldValue::Count(ColumnCount::TargetEnd)) => FieldValue::Count(ColumnCount::TargetStart),
            ("sstart", FieldValue::Hit(LongValue::TargetStart)) => FieldValue::Hit(LongValue::TargetEnd),
            ("send", FieldValue::Hit(LongValue::TargetEnd)) => FieldValue::Hit(LongValue::TargetStart),
            ("sstart", FieldValue::Edits(EditValue::Start)) => FieldValue::Edits(EditValue::End),
            ("send", FieldValue::Edits(EditValue::End)) => FieldValue::Edits(EditValue::Start),
            (_, value) => value,
        }
    }
}

impl LongValue {
    /// Returns a position in the query of this length on the file's strand, or in the target, or the
    /// number of the alignment. Returns `None` if a position is unknown without an alignment, and if
    /// there is no number.
    fn get(self, hit: LongPairEnd, columns: Option<&AlignmentColumns>, query_length: u32) -> Option<u32> {
        let (query, target) = match columns {
            Some(columns) => (hit.in_file(columns.query, query_length).one_based(), columns.target.one_based()),
            None => {
                // Only the last column is known. It is the end, or the start on the other strand.
                let last = |end: u32| Range32 { start: end.saturating_sub(1), end };
                (hit.in_file(last(hit.query_end), query_length).one_based(), last(hit.target_end).one_based())
            }
        };
        let is_known = |is_end: bool| columns.is_some() || is_end;
        match self {
            LongValue::QueryStart => is_known(hit.is_reverse).then_some(query.0),
            LongValue::QueryEnd => is_known(!hit.is_reverse).then_some(query.1),
            LongValue::TargetStart => is_known(false).then_some(target.0),
            LongValue::TargetEnd => Some(target.1),
            LongValue::Number => hit.number,
            LongValue::Strand => None,
        }
    }
}

impl EditValue {
    fn push(self, pair: &OutputPair<'_>, edits: &Edits<'_>, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let number = match self {
            EditValue::Distance => edits.distance,
            EditValue::Start if pair.alignment.is_none() => {
                return Err(Error::Internal("field 'target_start' of a pair without its alignment".into()));
            }
            EditValue::Start => pair.target_start + 1,
            EditValue::End => edits.end,
            EditValue::RegionStart => edits.region.start,
            EditValue::RegionEnd => edits.region.end,
            EditValue::Ends => {
                push_ends(edits.ends, quotes, out);
                return Ok(());
            }
        };
        push_unsigned(out, u64::from(number));
        Ok(())
    }
}

fn push_ends(ends: &[(u32, u32)], quotes: Quotes, out: &mut Vec<u8>) {
    let (open, between, close): (&[u8], &[u8], &[u8]) = match quotes {
        Quotes::None => (b"", b":", b""),
        Quotes::Json => (b"[", b",", b"]"),
    };
    out.extend_from_slice(open);
    for (at, &(end, distance)) in ends.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(open);
        push_unsigned(out, u64::from(end));
        out.extend_from_slice(between);
        push_unsigned(out, u64::from(distance));
        out.extend_from_slice(close);
    }
    out.extend_from_slice(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_formatted_for_tables_and_json() {
        let text = |ends: &[(u32, u32)], quotes| {
            let mut out = Vec::new();
            push_ends(ends, quotes, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&[(5, 1), (12, 0)], Quotes::None), "5:1,12:0");
        assert_eq!(text(&[(5, 1), (12, 0)], Quotes::Json), "[[5,1],[12,0]]");
        assert_eq!((text(&[], Quotes::None), text(&[], Quotes::Json)), (String::new(), "[]".into()));
    }
}
