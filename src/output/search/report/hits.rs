//! Hits of a query in a page: numbers and texts as JSON, alignments as packed CIGARs and letters.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::super::rows::header;
use super::super::{SearchHit, SearchPairs};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::output::fields::whole_percentage;
use crate::output::markup::{push_base64, push_script_json};
use crate::output::numbers::push_unsigned;
use crate::output::{Context, OutputPair, Range32};
use crate::score::Significance;
use crate::score::statistics::{BitScore, Evalue};
use crate::seq::{SequenceId, SequenceStore, Strand};

/// A subject is stored as a whole if it has at most this many times the symbols of its first
/// alignment.
const WHOLE_SUBJECT: u32 = 2;

/// The subjects of all queries so far. Each is written with the first query that it is a hit of.
#[derive(Default)]
pub(super) struct WrittenSubjects(HashMap<u64, WrittenSubject>);

struct WrittenSubject {
    /// Index of the query whose part of the page contains the subject.
    home: u64,
    /// Index in that part.
    index: usize,
    /// The symbols that the page contains.
    part: Range<u32>,
}

/// A hit in the table.
pub(super) struct TableHit {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) bits: String,
    pub(super) evalue: String,
    pub(super) score: i64,
    pub(super) identity: String,
    pub(super) cover: u64,
    /// First and last position in the query and in the subject, from 1. On the minus strand, the
    /// first position in the subject is greater than the last.
    pub(super) query: [u32; 2],
    pub(super) subject: [u32; 2],
    pub(super) length: u32,
    pub(super) strand: Strand,
    /// Number of the alignment among those with the subject, from 1.
    pub(super) part: u32,
}

/// The part of the page with the hits of one query.
#[derive(serde::Serialize)]
struct PageQuery {
    /// Length of the query.
    length: u32,
    /// Number of query symbols before the packed ones.
    from: u32,
    /// Number of packed query symbols.
    letters: u32,
    /// Name, title, length, first packed position and number of packed symbols of each subject that
    /// was not written before.
    subjects: Vec<(String, String, u32, u32, u32)>,
    hits: Vec<HitRow>,
    /// Indices of hits that are further alignments of the previous hit's subject.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<usize>,
    /// Number of packed bytes.
    size: usize,
    /// CIGARs separated by blanks, a line end, letters of the query, and letters of the subjects:
    /// deflated, in base64.
    packed: String,
}

/// Home and index of the subject, bits, E-value, score, identity, coverage, positions in query and
/// subject, and 1 for the minus strand.
type HitRow = (u64, usize, String, String, i64, String, u64, u32, u32, u32, u32, u8);

/// Subjects that the part of a query adds to the page.
#[derive(Default)]
struct AddedSubjects {
    /// The subjects as in [`PageQuery`].
    subjects: Vec<(String, String, u32, u32, u32)>,
    /// Letters of their stored parts, one part after another.
    letters: Vec<u8>,
}

impl TableHit {
    fn new(context: &Context, pair: &OutputPair<'_>) -> Result<Self> {
        let columns = context.columns(pair)?;
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let line = header(&[], context.targets.description(pair.target));
        let identity = 100.0 * context.identity.identity(&columns.counts, lengths.0, lengths.1);
        let covered = u64::from(columns.whole_query.end - columns.whole_query.start);
        let (bits, evalue) = match pair.significance() {
            Some(Significance { bits, evalue }) => (BitScore(bits).to_string(), Evalue(evalue).to_string()),
            None => ("–".into(), "–".into()),
        };
        let positions = |range: Range32| <[u32; 2]>::from(range.one_based());
        let mut subject = positions(columns.whole_target);
        if pair.strand == Strand::Minus {
            subject.reverse();
        }
        Ok(TableHit {
            name: String::from_utf8_lossy(context.targets.name_bytes(pair.target)).into_owned(),
            title: String::from_utf8_lossy(&line).trim().to_owned(),
            bits,
            evalue,
            score: pair.score,
            identity: format!("{identity:.1}"),
            cover: whole_percentage(covered, u64::from(lengths.0)),
            query: positions(columns.whole_query),
            subject,
            length: lengths.1,
            strand: pair.strand,
            part: 1,
        })
    }
}

impl WrittenSubjects {
    /// Appends the part of a query as JSON, and returns its hits as in the table. `home` is the
    /// index of the query in the page.
    pub(super) fn push(
        &mut self,
        all: &mut SearchPairs,
        home: u64,
        query: SequenceId,
        hits: &[SearchHit],
        out: &mut Vec<u8>,
    ) -> Result<Vec<TableHit>> {
        let mut table = Vec::with_capacity(hits.len());
        let mut rows = Vec::with_capacity(hits.len());
        let (mut added, mut cigars) = (AddedSubjects::default(), Vec::new());
        let mut further = Vec::new();
        let mut previous: Option<(u64, u32)> = None;
        let mut span: Option<Range<u32>> = None;
        for hit in hits {
            let (context, pair) = all.pair(query, hit);
            let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
            let mut shown = TableHit::new(context, &pair)?;
            if let Some((_, part)) = previous.filter(|&(record, _)| record == hit.record) {
                shown.part = part + 1;
                further.push(rows.len());
            }
            previous = Some((hit.record, shown.part));
            let aligned = context.columns(&pair)?.whole_target;
            let (home, index) = self.index_of(home, hit, &shown, aligned, &mut added);
            if !cigars.is_empty() {
                cigars.push(b' ');
            }
            push_cigar(cigar, pair.strand, &mut cigars);
            let aligned = shown.query[0].saturating_sub(1)..shown.query[1];
            span = Some(span.map_or(aligned.clone(), |span| span.start.min(aligned.start)..span.end.max(aligned.end)));
            let ([first, last], [start, end]) = (shown.query, shown.subject);
            let TableHit { bits, evalue, identity, .. } = &shown;
            let [bits, evalue, identity] = [bits, evalue, identity].map(String::clone);
            let is_minus = u8::from(shown.strand == Strand::Minus);
            rows.push((
                home,
                index,
                bits,
                evalue,
                shown.score,
                identity,
                shown.cover,
                first,
                last,
                start,
                end,
                is_minus,
            ));
            table.push(shown);
        }
        let span = span.unwrap_or_default();
        let mut packed = cigars;
        packed.push(b'\n');
        push_letters(&all.search.queries, query, span.clone(), &mut packed);
        packed.append(&mut added.letters);
        let part = PageQuery {
            length: all.search.queries.length(query),
            from: span.start,
            letters: span.end - span.start,
            subjects: added.subjects,
            hits: rows,
            further,
            size: packed.len(),
            packed: deflate(&packed)?,
        };
        push_script_json(out, &part)?;
        Ok(table)
    }

    /// Returns home and index of the subject of a hit. If the page lacks the aligned part, adds the
    /// subject to the subjects of this query. `home` is the index of the query.
    fn index_of(
        &mut self,
        home: u64,
        hit: &SearchHit,
        shown: &TableHit,
        aligned: Range32,
        added: &mut AddedSubjects,
    ) -> (u64, usize) {
        let known = self.0.get(&hit.record).filter(|known| known.part.start <= aligned.start);
        if let Some(known) = known.filter(|known| known.part.end >= aligned.end) {
            return (known.home, known.index);
        }
        let part = stored_part(aligned, shown.length);
        let (name, title) = (shown.name.clone(), shown.title.clone());
        added.subjects.push((name, title, shown.length, part.start, part.end - part.start));
        push_letters(&hit.subjects, hit.subject, part.clone(), &mut added.letters);
        let index = added.subjects.len() - 1;
        self.0.insert(hit.record, WrittenSubject { home, index, part });
        (home, index)
    }
}

/// Returns the part of a subject that the page stores for an alignment.
fn stored_part(aligned: Range32, length: u32) -> Range<u32> {
    let span = aligned.end - aligned.start;
    if length <= span.saturating_mul(WHOLE_SUBJECT) { 0..length } else { aligned.start..aligned.end }
}

fn push_letters(store: &SequenceStore, id: SequenceId, part: Range<u32>, out: &mut Vec<u8>) {
    let codes = &store.codes(id)[part.start as usize..part.end as usize];
    out.extend(codes.iter().map(|&code| store.alphabet().decode(code)));
}

/// Appends the runs of an alignment in the direction of the file's query: `M` for two symbols, `I`
/// for a query symbol, `D` for a subject symbol.
fn push_cigar(cigar: &Cigar, strand: Strand, out: &mut Vec<u8>) {
    let mut runs: Vec<(u32, u8)> = Vec::new();
    for (length, op) in cigar.iter() {
        let letter = match op {
            Op::Match | Op::Mismatch => b'M',
            Op::Insertion => b'I',
            Op::Deletion => b'D',
        };
        match runs.last_mut() {
            Some(last) if last.1 == letter => last.0 += length,
            _ => runs.push((length, letter)),
        }
    }
    if strand == Strand::Minus {
        runs.reverse();
    }
    for (length, letter) in runs {
        push_unsigned(out, u64::from(length));
        out.push(letter);
    }
}

fn deflate(bytes: &[u8]) -> Result<String> {
    let failed = |problem| Error::Internal(format!("the letters of a page: {problem}"));
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).map_err(failed)?;
    let mut text = Vec::new();
    push_base64(&mut text, &encoder.finish().map_err(failed)?);
    Ok(text.into_iter().map(char::from).collect())
}
