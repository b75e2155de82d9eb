//! The format `vcf`: VCF 4.3, the differences of the queries from the targets, which are the
//! reference.
//!
//! Every record has one alternative allele. Its REF and ALT are as short as possible, and as far to
//! the left as possible ([`variants`]). An insertion or deletion includes the base before it, or the
//! base after it at position 1. The queries are one sample with the genotype 1, so that files of
//! several genomes can be merged: all records of the query's file are parts of one genome.
//!
//! Records are sorted by target and position. If several alignments contain a variant, the record
//! belongs to the alignment with the best score.
//!
//! Alignments of circular sequences are cut at the origin of the target only, so that the origin of
//! the query divides no insertion.
//!
//! As in `paf`, end gaps are variants only if they cost as much as inner gaps.

mod variants;

use std::cmp::{Ordering, Reverse};
use std::ffi::OsStr;
use std::path::Path;

use super::aligned_part::AlignedPart;
use super::long_context::{LongContext, LongPairAlignment, LongPaths};
use super::numbers::push_unsigned;
use super::{Output, OutputPair};
use crate::alignment::circular::{Sides, cut_at_origins};
use crate::error::{Error, Result};
use crate::seq::{Code, SequenceId};
use variants::{Variant, VariantCollector, target_letter};

const FIELDS: &str = "\
##INFO=<ID=QNAME,Number=1,Type=String,Description=\"Name of the query\">
##INFO=<ID=QSTART,Number=1,Type=Integer,Description=\"Position in the query of the first base of ALT, from 1\">
##INFO=<ID=QSTRAND,Number=1,Type=String,Description=\"Strand of the query: with -, ALT is its reverse complement\">
##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype: 1 is ALT\">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t";

/// Extensions of compressed files.
const COMPRESSED: [&str; 4] = [".gz", ".bz2", ".xz", ".zst"];

/// Symbols of a target that others replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SequenceChange {
    /// Number of replaced symbols; 0 for an insertion.
    pub(super) removed: u32,
    /// Number of symbols that replace them; 0 for a deletion.
    pub(super) inserted: u32,
    /// Letters of a substitution of one base, of the target and of the query.
    pub(super) bases: Option<[u8; 2]>,
}

/// A line of the file.
struct VcfRecord {
    target_id: SequenceId,
    variant: Variant,
    query_id: SequenceId,
    is_reverse: bool,
}

impl VcfRecord {
    /// Returns the symbols before and after the variant that REF and ALT include.
    fn anchors(&self) -> (u32, u32) {
        let Variant { start, end, letters, .. } = &self.variant;
        match (start < end && !letters.is_empty(), *start) {
            (true, _) => (0, 0),
            (false, 0) => (0, 1),
            (false, _) => (1, 0),
        }
    }

    /// Returns the range of the target that REF contains, from 0.
    fn range(&self) -> (u32, u32) {
        let (before, after) = self.anchors();
        (self.variant.start - before, self.variant.end + after)
    }

    /// Orders records by target and position, and those with equal positions as they follow each
    /// other in the target.
    fn compare(&self, other: &VcfRecord) -> Ordering {
        let place = |record: &VcfRecord| (record.target_id, record.range().0, record.variant.start, record.variant.end);
        place(self).cmp(&place(other)).then_with(|| self.variant.letters.cmp(&other.variant.letters))
    }

    /// Appends the line.
    fn push(&self, all: &LongContext, target: &[Code], out: &mut Vec<u8>) {
        let (start, end) = self.range();
        let reference = &target[start as usize..end as usize];
        let (before, after) = self.anchors();
        let letters = |codes: &[Code], out: &mut Vec<u8>| out.extend(codes.iter().map(|&code| target_letter(code)));
        out.extend_from_slice(all.targets().name(self.target_id).as_bytes());
        out.push(b'\t');
        push_unsigned(out, u64::from(start) + 1);
        out.extend_from_slice(b"\t.\t");
        letters(reference, out);
        out.push(b'\t');
        letters(&reference[..before as usize], out);
        out.extend_from_slice(&self.variant.letters);
        letters(&reference[reference.len() - after as usize..], out);
        out.extend_from_slice(b"\t.\t.\tQNAME=");
        out.extend_from_slice(encoded(all.queries().name_bytes(self.query_id)).as_bytes());
        out.extend_from_slice(b";QSTART=");
        let length = all.queries().length(self.query_id);
        // The query's position exceeds the length after the origin of a circular query.
        let first = self.variant.query.saturating_sub(before) % length.max(1);
        push_unsigned(out, u64::from(if self.is_reverse { length.saturating_sub(first).max(1) } else { first + 1 }));
        out.extend_from_slice(if self.is_reverse { b";QSTRAND=-\tGT\t1\n" } else { b";QSTRAND=+\tGT\t1\n" });
    }
}

/// Returns a name as the value of an INFO field: other characters are percent-encoded.
fn encoded(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    for &byte in name {
        match byte {
            b';' | b'=' | b',' | b'%' => out.push_str(&format!("%{byte:02X}")),
            _ if byte.is_ascii_graphic() => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Writes the header and the variants of all alignments. The best alignment of a pair is first.
pub(super) fn write(
    context: &LongContext,
    paths: &LongPaths,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    push_header(context, paths, output);
    for record in &records(context, alignments)? {
        let target = context.targets().codes(record.target_id);
        if record.range().1 as usize > target.len() {
            return Err(Error::usage("VCF has no record of a deletion of the whole target or an insertion into none"));
        }
        record.push(context, target, output.buffer());
        output.pass_on()?;
    }
    Ok(())
}

/// Returns the differences that the format has as records. The best alignment of a pair is first.
///
/// # Errors
/// Returns an error if there is only a score.
pub(super) fn changes(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Vec<SequenceChange>> {
    let change = |record: &VcfRecord| {
        let Variant { start, end, letters, .. } = &record.variant;
        let replaced = &context.targets().codes(record.target_id)[*start as usize..*end as usize];
        SequenceChange {
            removed: end - start,
            inserted: letters.len() as u32,
            bases: match (replaced, letters.as_slice()) {
                (&[code], &[letter]) => Some([target_letter(code), letter]),
                _ => None,
            },
        }
    };
    Ok(records(context, alignments)?.iter().map(change).collect())
}

/// Returns the records of the file, sorted.
fn records(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Vec<VcfRecord>> {
    let mut best_first: Vec<&LongPairAlignment<'_>> = alignments.iter().collect();
    best_first.sort_by_key(|alignment| Reverse(alignment.score));
    let mut records: Vec<VcfRecord> = Vec::new();
    for alignment in best_first {
        let (forward, pair) = context.pair(alignment)?;
        let Some(part) = AlignedPart::from_pair(forward, &pair)? else { continue };
        let OutputPair { query, target, .. } = pair;
        let (query, target) = (forward.queries.codes(query), forward.targets.codes(target));
        let LongPairAlignment { query_id, target_id, is_reverse, .. } = *alignment;
        let record = |variant| VcfRecord { target_id, variant, query_id, is_reverse };
        let from = Sides { query: part.query.start, target: part.target.start };
        if !context.circular().target {
            records.extend(VariantCollector::collect(part.runs(), query, target, from).into_iter().map(record));
            continue;
        }
        // A gap at the origin of the target is a variant at its start and one at its end.
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let lengths = Sides { query: None, target: Some(target.len() as u32) };
        for part in cut_at_origins(cigar, from, lengths) {
            let from = Sides { query: part.query.start, target: part.target.start };
            records.extend(VariantCollector::collect(part.cigar.iter(), query, target, from).into_iter().map(record));
        }
    }
    // Stable: among equal records, the record of the best alignment stays first.
    records.sort_by(VcfRecord::compare);
    records.dedup_by(|later, first| later.compare(first).is_eq());
    Ok(records)
}

fn push_header(context: &LongContext, paths: &LongPaths, output: &mut Output) {
    let out = output.buffer();
    out.extend_from_slice(concat!("##fileformat=VCFv4.3\n##source=pairwave ", env!("CARGO_PKG_VERSION")).as_bytes());
    if paths.target != "-" {
        out.extend_from_slice(b"\n##reference=");
        out.extend(paths.target.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().as_bytes());
    }
    out.push(b'\n');
    for &target in context.target_ids() {
        out.extend_from_slice(b"##contig=<ID=");
        out.extend_from_slice(context.targets().name(target).as_bytes());
        out.extend_from_slice(b",length=");
        push_unsigned(out, u64::from(context.targets().length(target)));
        out.extend_from_slice(b">\n");
    }
    out.extend_from_slice(FIELDS.as_bytes());
    out.extend_from_slice(sample(context, paths).as_bytes());
    out.push(b'\n');
}

/// Returns the name of the sample: the name of the only query, or the name of the queries' file
/// without its extensions.
fn sample(context: &LongContext, paths: &LongPaths) -> String {
    if let &[query] = context.query_ids() {
        return encoded(context.queries().name_bytes(query));
    }
    let name = Path::new(&paths.query).file_name().and_then(OsStr::to_str).unwrap_or("-");
    let plain = COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    match plain.rsplit_once('.').map_or(plain, |(stem, _)| stem) {
        "" | "-" => "query".into(),
        stem => encoded(stem.as_bytes()),
    }
}
