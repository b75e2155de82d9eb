//! Encoding of the result of a pair.

use std::borrow::Cow;

use super::PairResult;
use crate::alignment::Alignment;
use crate::jobs::blocks::bytes::{
    push, push_cigar, push_float, push_signed, take, take_byte, take_cigar, take_float, take_signed, take_u32,
};
use crate::score::AlignmentCounts;
use crate::seq::{SequenceId, Strand};

/// Flag in the first byte of a record: the strand is minus.
const MINUS: u8 = 1;
/// Flag: there is an alignment.
const ALIGNED: u8 = 2;
/// Flag: the alignment does not start at the start of both sequences, or has a score that differs
/// from the result's.
const LOCATED: u8 = 4;
/// Flag: the numbers of columns differ from those in the alignment.
const COUNTED: u8 = 8;
/// Flag: the identity is not 0.
const IDENTITY: u8 = 16;

/// The encoded properties of a result, with the numbers of its two sequences.
///
/// [`PairResult`] and the hits of a search share this encoding. A hit counts its target in the
/// database, whose size can exceed 32 bits. `OutputPair` cannot serve here, because it has neither
/// the alignment's own score nor the identity.
pub(in crate::jobs) struct PairRecord<'a> {
    pub query: SequenceId,
    pub target: u64,
    pub strand: Strand,
    pub score: i64,
    pub alignment: Option<Cow<'a, Alignment>>,
    pub counts: AlignmentCounts,
    pub identity: f64,
}

impl<'a> From<&'a PairResult> for PairRecord<'a> {
    fn from(row: &'a PairResult) -> Self {
        let &PairResult { query, target, strand, score, counts, identity, ref alignment } = row;
        let alignment = alignment.as_ref().map(Cow::Borrowed);
        PairRecord { query, target: target.into(), strand, score, alignment, counts, identity }
    }
}

/// Returns the numbers of columns that follow from an alignment.
fn counts_of(alignment: Option<&Alignment>) -> AlignmentCounts {
    alignment.map_or_else(AlignmentCounts::default, |alignment| alignment.cigar.counts())
}

/// Appends a row in bytes.
pub(in crate::jobs) fn encode(row: &PairResult, bytes: &mut Vec<u8>) {
    encode_record(&row.into(), bytes);
}

/// Appends a result in bytes.
pub(in crate::jobs) fn encode_record(row: &PairRecord<'_>, bytes: &mut Vec<u8>) {
    let alignment = row.alignment.as_deref();
    let location = |alignment: &&Alignment| (alignment.score, alignment.query_start, alignment.target_start);
    let located = alignment.filter(|alignment| location(alignment) != (row.score, 0, 0));
    let is_counted = row.counts != counts_of(alignment);
    let has_identity = row.identity.to_bits() != 0;
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    bytes.push(
        flag(row.strand == Strand::Minus, MINUS)
            | flag(alignment.is_some(), ALIGNED)
            | flag(located.is_some(), LOCATED)
            | flag(is_counted, COUNTED)
            | flag(has_identity, IDENTITY),
    );
    push(bytes, row.query.into());
    push(bytes, row.target);
    push_signed(bytes, row.score);
    if let Some(alignment) = alignment {
        push_cigar(bytes, &alignment.cigar);
    }
    if let Some(alignment) = located {
        push_signed(bytes, alignment.score);
        push(bytes, alignment.query_start.into());
        push(bytes, alignment.target_start.into());
    }
    if is_counted {
        let AlignmentCounts { matches, mismatches, gap_columns, gap_openings, end_gap_columns } = row.counts;
        let all = [matches, mismatches, gap_columns, gap_openings, end_gap_columns];
        all.into_iter().for_each(|count| push(bytes, count));
    }
    if has_identity {
        push_float(bytes, row.identity);
    }
}

/// Takes a row that [`encode`] appended.
pub(in crate::jobs) fn decode(bytes: &mut &[u8]) -> Option<PairResult> {
    let PairRecord { query, target, strand, score, alignment, counts, identity } = decode_record(bytes)?;
    let target = SequenceId::try_from(target).ok()?;
    Some(PairResult { query, target, strand, score, alignment: alignment.map(Cow::into_owned), counts, identity })
}

/// Takes a result that [`encode_record`] appended.
pub(in crate::jobs) fn decode_record(bytes: &mut &[u8]) -> Option<PairRecord<'static>> {
    let flags = take_byte(bytes)?;
    let has = |flag: u8| flags & flag != 0;
    if flags >= IDENTITY << 1 || has(LOCATED) && !has(ALIGNED) {
        return None;
    }
    let (query, target, score) = (take_u32(bytes)?, take(bytes)?, take_signed(bytes)?);
    let mut alignment = match has(ALIGNED) {
        true => Some(Alignment::end_to_end(score, take_cigar(bytes)?)),
        false => None,
    };
    if let Some(alignment) = alignment.as_mut().filter(|_| has(LOCATED)) {
        alignment.score = take_signed(bytes)?;
        (alignment.query_start, alignment.target_start) = (take_u32(bytes)?, take_u32(bytes)?);
    }
    let counts = if has(COUNTED) {
        AlignmentCounts {
            matches: take(bytes)?,
            mismatches: take(bytes)?,
            gap_columns: take(bytes)?,
            gap_openings: take(bytes)?,
            end_gap_columns: take(bytes)?,
        }
    } else {
        counts_of(alignment.as_ref())
    };
    let identity = if has(IDENTITY) { take_float(bytes)? } else { 0.0 };
    let strand = if has(MINUS) { Strand::Minus } else { Strand::Plus };
    let alignment = alignment.map(Cow::Owned);
    Some(PairRecord { query, target, strand, score, alignment, counts, identity })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(row: &PairResult) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(row, &mut bytes);
        bytes
    }

    /// Generates an alignment at any position, or `None`.
    fn alignment() -> impl Strategy<Value = Option<Alignment>> {
        let runs = prop::collection::vec((1..5000u32, 0..4usize), 0..6);
        let location = prop_oneof![Just((0, 0)), any::<(u32, u32)>()];
        prop::option::of((any::<i64>(), location, runs).prop_map(|(score, (query_start, target_start), runs)| {
            let text: String =
                runs.iter().map(|&(length, op)| format!("{length}{}", ["=", "X", "I", "D"][op])).collect();
            Alignment { score, query_start, target_start, cigar: text.parse().unwrap_or_default() }
        }))
    }

    fn row() -> impl Strategy<Value = PairResult> {
        let columns = (any::<(u32, u32, bool)>(), alignment(), prop::option::of(any::<i64>()));
        let counts = prop::option::of(any::<[u64; 5]>());
        (columns, counts, any::<f64>()).prop_map(|(((query, target, minus), alignment, score), counts, identity)| {
            let counts_from = |[matches, mismatches, gap_columns, gap_openings, end_gap_columns]: [u64; 5]| {
                AlignmentCounts { matches, mismatches, gap_columns, gap_openings, end_gap_columns }
            };
            let score = score.or(alignment.as_ref().map(|alignment| alignment.score)).unwrap_or(-7);
            let strand = if minus { Strand::Minus } else { Strand::Plus };
            let counts = counts.map_or_else(|| counts_of(alignment.as_ref()), counts_from);
            PairResult { query, target, strand, score, counts, identity, alignment }
        })
    }

    #[test]
    fn typical_rows_are_short() {
        let cigar = "703=1X20=2D700=".parse().unwrap();
        let alignment = Some(Alignment::end_to_end(7_000, cigar));
        let counts = counts_of(alignment.as_ref());
        let usual = PairResult {
            query: 20_000,
            target: 24_000,
            strand: Strand::Plus,
            score: 7_000,
            alignment,
            counts,
            identity: 0.9,
        };
        assert_eq!(bytes_of(&usual).len(), 1 + 3 + 3 + 2 + 1 + 2 + 1 + 1 + 1 + 2 + 8);
        let scored = PairResult { alignment: None, counts: AlignmentCounts::default(), identity: 0.0, ..usual };
        assert_eq!(bytes_of(&scored).len(), 1 + 3 + 3 + 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn rows_survive_encoding_and_decoding(rows in prop::collection::vec(row(), 0..5)) {
            let bytes: Vec<u8> = rows.iter().flat_map(bytes_of).collect();
            let mut left = &bytes[..];
            for row in &rows {
                let read = decode(&mut left).expect("a row");
                prop_assert_eq!(read.identity.to_bits(), row.identity.to_bits());
                // An identity that is not a number equals nothing.
                let (read, row) = (PairResult { identity: 0.0, ..read }, PairResult { identity: 0.0, ..row.clone() });
                prop_assert_eq!(read, row);
            }
            prop_assert!(left.is_empty());
        }

        #[test]
        fn damaged_bytes_never_panic(row in row(), at in any::<prop::sample::Index>(), change in 1..=255u8, cut in any::<bool>()) {
            let mut bytes = bytes_of(&row);
            let at = at.index(bytes.len());
            if cut {
                prop_assert!(decode(&mut &bytes[..at]).is_none());
            }
            bytes[at] ^= change;
            _ = decode(&mut &bytes[..]);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut left = &bytes[..];
            while let Some(_row) = decode(&mut left) {}
            prop_assert!(left.len() <= bytes.len());
        }
    }
}
