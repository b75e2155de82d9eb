//! What a field says of one pair.

use super::{Count, Field, OfEdits, OfHit, Value};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::columns::{Columns, push_row, push_runs};
use crate::output::numbers::{push_fraction, push_integer, push_unsigned};
use crate::output::{Context, Edits, Hit, Pair, Range32};
use crate::score::statistics::{BitScore, Evalue};
use crate::score::{IdentityDefinition, Significance};
use crate::seq::{SequenceId, SequenceStore, Strand};

/// What the fields of one pair are taken from.
pub(in crate::output) struct Facts<'a> {
    pub(super) context: &'a Context,
    pub(super) pair: &'a Pair<'a>,
    pub(super) aligned: Option<(Columns, &'a Cigar)>,
}

/// How text is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Quotes {
    None,
    Json,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(context: &'a Context, pair: &'a Pair<'a>) -> Result<Self> {
        let aligned = pair.alignment.map(|cigar| Ok((context.columns(pair)?, cigar))).transpose()?;
        Ok(Facts { context, pair, aligned })
    }

    /// Appends the value of `field`.
    pub(crate) fn push(&self, field: &Field, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let Facts { context, pair, .. } = *self;
        let query_length = context.queries.length(pair.query);
        let target_length = context.targets.length(pair.target);
        // Without an alignment only one end is known.
        let is_turned = pair.is_reverse() && pair.alignment.is_some();
        let value = if is_turned { field.on_the_other_strand() } else { field.value };
        match value {
            Value::Query => push_name(out, &context.queries, pair.query, quotes),
            Value::Target => push_name(out, &context.targets, pair.target, quotes),
            Value::Strands => push_strand(out, pair.strand == Strand::Minus, quotes),
            Value::QueryTitle => push_title(out, context.queries.description(pair.query), quotes),
            Value::TargetTitle => push_title(out, context.targets.description(pair.target), quotes),
            Value::Evalue | Value::Bits => {
                push_significance(out, pair.significance().as_ref(), value == Value::Evalue, quotes);
            }
            Value::Score => push_integer(out, pair.score),
            Value::QueryLength => push_unsigned(out, u64::from(query_length)),
            Value::TargetLength => push_unsigned(out, u64::from(target_length)),
            Value::Edits(what) => {
                let edits = pair.edits();
                let edits = &edits.ok_or_else(|| Error::Internal(format!("field '{}' of a score", field.name)))?;
                what.push(pair, edits, quotes, out)?;
            }
            Value::Hit(what) => {
                let hit = pair
                    .long_hit()
                    .ok_or_else(|| Error::Internal(format!("field '{}' of no long pair", field.name)))?;
                if what == OfHit::Strands {
                    push_strand(out, hit.is_reverse, quotes);
                } else {
                    let columns = self.aligned.as_ref().map(|(columns, _)| columns);
                    match what.of(hit, columns, query_length) {
                        Some(position) => push_unsigned(out, u64::from(position)),
                        None => out.extend_from_slice(if quotes == Quotes::Json { b"null" } else { b"." }),
                    }
                }
            }
            Value::Theirs(what) => what.push(self, quotes, out)?,
            value => self.push_aligned(value, field, quotes, out)?,
        }
        Ok(())
    }

    /// Appends the value of a field that needs the alignment.
    fn push_aligned(&self, value: Value, field: &Field, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let Facts { context, pair, aligned } = *self;
        let (columns, cigar) = aligned
            .ok_or_else(|| Error::Internal(format!("field '{}' of a pair without its alignment", field.name)))?;
        let query_length = context.queries.length(pair.query);
        let target_length = context.targets.length(pair.target);
        let identity = |by: IdentityDefinition| by.identity(&columns.counts, query_length, target_length);
        let covered = (columns.counts.matches + columns.counts.mismatches) as f64;
        let alphabet = context.queries.alphabet();
        match value {
            Value::IdentityBy(definition) => push_fraction(out, identity(definition)),
            Value::Count(count) => push_unsigned(out, count.of(&columns)),
            Value::QueryCoverage => push_fraction(out, covered / f64::from(query_length.max(1))),
            Value::TargetCoverage => push_fraction(out, covered / f64::from(target_length.max(1))),
            Value::Cigar => push_text(out, quotes, |out| push_runs(out, cigar.iter())),
            Value::QueryRow => push_text(out, quotes, |out| {
                let (codes, start) = (&context.query_codes(pair), pair.query_start);
                push_row(out, cigar.iter(), codes, start, alphabet, Op::Deletion);
            }),
            Value::TargetRow => push_text(out, quotes, |out| {
                let (codes, start) = (context.targets.codes(pair.target), pair.target_start);
                push_row(out, cigar.iter(), codes, start, alphabet, Op::Insertion);
            }),
            _ => push_fraction(out, identity(context.identity)),
        }
        Ok(())
    }
}

/// Appends text, in quotes where these are asked for.
fn push_text(out: &mut Vec<u8>, quotes: Quotes, write: impl FnOnce(&mut Vec<u8>)) {
    let quote: &[u8] = if quotes == Quotes::Json { b"\"" } else { b"" };
    out.extend_from_slice(quote);
    write(out);
    out.extend_from_slice(quote);
}

fn push_strand(out: &mut Vec<u8>, is_minus: bool, quotes: Quotes) {
    push_text(out, quotes, |out| out.push(if is_minus { b'-' } else { b'+' }));
}

/// Appends an E-value or bits.
fn push_significance(out: &mut Vec<u8>, found: Option<&Significance>, is_evalue: bool, quotes: Quotes) {
    let number = match found {
        Some(found) if is_evalue => Evalue(found.evalue).to_string(),
        Some(found) => BitScore(found.bits).to_string(),
        // As vsearch has what it does not know.
        None if quotes == Quotes::None => if is_evalue { "-1" } else { "0" }.to_owned(),
        None => "null".to_owned(),
    };
    out.extend_from_slice(number.as_bytes());
}

fn push_name(out: &mut Vec<u8>, store: &SequenceStore, id: SequenceId, quotes: Quotes) {
    match quotes {
        // A name ends at the first blank, so it holds no tab and no line end.
        Quotes::None => out.extend_from_slice(store.name_bytes(id)),
        Quotes::Json => serde_json::to_writer(out, store.name(id)).expect("a string is JSON and a vector takes all"),
    }
}

/// What a header says after the name. In a table a tab would begin another column.
fn push_title(out: &mut Vec<u8>, title: &[u8], quotes: Quotes) {
    match quotes {
        Quotes::None => out.extend(title.iter().map(|&byte| if byte.is_ascii_control() { b' ' } else { byte })),
        Quotes::Json => {
            let title = String::from_utf8_lossy(title);
            serde_json::to_writer(out, &title).expect("a string is JSON and a vector takes all");
        }
    }
}

impl Count {
    fn of(self, columns: &Columns) -> u64 {
        let counts = &columns.counts;
        match self {
            Count::Matches => counts.matches,
            Count::Mismatches => counts.mismatches,
            Count::Columns => columns.total(),
            Count::Gaps => counts.gap_columns,
            Count::GapOpenings => counts.gap_openings,
            Count::InnerColumns => columns.inner_total(),
            Count::InnerGaps => columns.inner_gaps(),
            Count::InnerGapOpenings => columns.inner_gap_openings,
            Count::QueryStart => u64::from(columns.query.one_based().0),
            Count::QueryEnd => u64::from(columns.query.one_based().1),
            Count::TargetStart => u64::from(columns.target.one_based().0),
            Count::TargetEnd => u64::from(columns.target.one_based().1),
        }
    }
}

impl Field {
    /// What it says where the query's reverse complement was compared: BLAST turns the target round instead, so that its
    /// `sstart` is after its `send`.
    fn on_the_other_strand(&self) -> Value {
        match (self.name, self.value) {
            ("sstart", Value::Count(Count::TargetStart)) => Value::Count(Count::TargetEnd),
            ("send", Value::Count(Count::TargetEnd)) => Value::Count(Count::TargetStart),
            ("sstart", Value::Hit(OfHit::TargetStart)) => Value::Hit(OfHit::TargetEnd),
            ("send", Value::Hit(OfHit::TargetEnd)) => Value::Hit(OfHit::TargetStart),
            ("sstart", Value::Edits(OfEdits::Start)) => Value::Edits(OfEdits::End),
            ("send", Value::Edits(OfEdits::End)) => Value::Edits(OfEdits::Start),
            (_, value) => value,
        }
    }
}

impl OfHit {
    /// A position in a query of this length as its file has it, or in the target; `None` where a score does not tell.
    fn of(self, hit: Hit, columns: Option<&Columns>, query_length: u32) -> Option<u32> {
        let (query, target) = match columns {
            Some(columns) => (hit.in_file(columns.query, query_length).one_based(), columns.target.one_based()),
            None => {
                // The last column alone is known: the end, on the other strand the start.
                let last = |end: u32| Range32 { start: end.saturating_sub(1), end };
                (hit.in_file(last(hit.query_end), query_length).one_based(), last(hit.target_end).one_based())
            }
        };
        let is_known = |is_end: bool| columns.is_some() || is_end;
        match self {
            OfHit::QueryStart => is_known(hit.is_reverse).then_some(query.0),
            OfHit::QueryEnd => is_known(!hit.is_reverse).then_some(query.1),
            OfHit::TargetStart => is_known(false).then_some(target.0),
            OfHit::TargetEnd => Some(target.1),
            OfHit::Strands => None,
        }
    }
}

impl OfEdits {
    fn push(self, pair: &Pair<'_>, edits: &Edits<'_>, quotes: Quotes, out: &mut Vec<u8>) -> Result<()> {
        let number = match self {
            OfEdits::Distance => edits.distance,
            OfEdits::Start if pair.alignment.is_none() => {
                return Err(Error::Internal("field 'target_start' of a pair without its alignment".into()));
            }
            OfEdits::Start => pair.target_start + 1,
            OfEdits::End => edits.end,
            OfEdits::RegionStart => edits.region.start,
            OfEdits::RegionEnd => edits.region.end,
            OfEdits::Ends => {
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
    fn ends_in_both_forms() {
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
