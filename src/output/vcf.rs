//! The format `vcf`: VCF 4.3, the differences of the query from the target, which is the reference.
//!
//! Every record has one alternative allele. Its REF and ALT are as short as possible, and as far to
//! the left as possible ([`variants`]). An insertion or deletion includes the base before it, or the
//! base after it at position 1. The query is a sample with the genotype 1, so that files of several
//! queries can be merged.
//!
//! Records are sorted by position. If several alignments contain a variant, the record belongs to
//! the alignment with the best score.
//!
//! As in `paf`, end gaps are variants only if they cost as much as inner gaps.

mod variants;

use std::borrow::Cow;
use std::cmp::Ordering;

use super::aligned_part::AlignedPart;
use super::long_context::{LongContext, LongPairAlignment, LongPaths};
use super::numbers::push_unsigned;
use super::{Output, OutputPair};
use crate::error::{Error, Result};
use crate::seq::Code;
use variants::{Variant, VariantCollector, target_letter};

const FIELDS: &str = "\
##INFO=<ID=QNAME,Number=1,Type=String,Description=\"Name of the query\">
##INFO=<ID=QSTART,Number=1,Type=Integer,Description=\"Position in the query of the first base of ALT, from 1\">
##INFO=<ID=QSTRAND,Number=1,Type=String,Description=\"Strand of the query: with -, ALT is its reverse complement\">
##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype: 1 is ALT\">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t";

/// A line of the file.
struct VcfRecord {
    variant: Variant,
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

    /// Orders records by position, and those with equal positions as they follow each other in the
    /// target.
    fn compare(&self, other: &VcfRecord) -> Ordering {
        let place = |record: &VcfRecord| (record.range().0, record.variant.start, record.variant.end);
        place(self).cmp(&place(other)).then_with(|| self.variant.letters.cmp(&other.variant.letters))
    }

    /// Appends the line.
    fn push(&self, all: &LongContext, target: &[Code], names: &VcfNames<'_>, out: &mut Vec<u8>) {
        let (start, end) = self.range();
        let reference = &target[start as usize..end as usize];
        let (before, after) = self.anchors();
        let letters = |codes: &[Code], out: &mut Vec<u8>| out.extend(codes.iter().map(|&code| target_letter(code)));
        out.extend_from_slice(names.target.as_bytes());
        out.push(b'\t');
        push_unsigned(out, u64::from(start) + 1);
        out.extend_from_slice(b"\t.\t");
        letters(reference, out);
        out.push(b'\t');
        letters(&reference[..before as usize], out);
        out.extend_from_slice(&self.variant.letters);
        letters(&reference[reference.len() - after as usize..], out);
        out.extend_from_slice(b"\t.\t.\tQNAME=");
        out.extend_from_slice(names.query.as_bytes());
        out.extend_from_slice(b";QSTART=");
        let first = self.variant.query.saturating_sub(before);
        let length = all.query_length();
        push_unsigned(out, u64::from(if self.is_reverse { length.saturating_sub(first).max(1) } else { first + 1 }));
        out.extend_from_slice(if self.is_reverse { b";QSTRAND=-\tGT\t1\n" } else { b";QSTRAND=+\tGT\t1\n" });
    }
}

/// Names as the file contains them.
struct VcfNames<'a> {
    target: &'a str,
    query: Cow<'a, str>,
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

/// Writes the header and the variants of all alignments. The best alignment is first.
pub(super) fn write(
    context: &LongContext,
    paths: &LongPaths,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    let names = VcfNames { target: context.target_name(), query: encoded(context.query_name_bytes()).into() };
    push_header(context, paths, &names, output);
    let mut records: Vec<VcfRecord> = Vec::new();
    for alignment in alignments {
        let (forward, pair) = context.pair(alignment)?;
        let Some(part) = AlignedPart::from_pair(forward, &pair)? else { continue };
        let OutputPair { query, target, .. } = pair;
        let (query, target) = (forward.queries.codes(query), forward.targets.codes(target));
        let from = (part.query.start, part.target.start);
        let is_reverse = alignment.is_reverse;
        let found = VariantCollector::collect(part.runs(), query, target, from);
        records.extend(found.into_iter().map(|variant| VcfRecord { variant, is_reverse }));
    }
    // Stable: among equal records, the record of the best alignment stays first.
    records.sort_by(VcfRecord::compare);
    records.dedup_by(|later, first| later.compare(first).is_eq());
    let target = context.target_codes();
    for record in &records {
        if record.range().1 as usize > target.len() {
            return Err(Error::usage("VCF has no record of a deletion of the whole target or an insertion into none"));
        }
        record.push(context, target, &names, output.buffer());
        output.pass_on()?;
    }
    Ok(())
}

fn push_header(context: &LongContext, paths: &LongPaths, names: &VcfNames<'_>, output: &mut Output) {
    let out = output.buffer();
    out.extend_from_slice(concat!("##fileformat=VCFv4.3\n##source=pairwave ", env!("CARGO_PKG_VERSION")).as_bytes());
    if paths.target != "-" {
        out.extend_from_slice(b"\n##reference=");
        out.extend(paths.target.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().as_bytes());
    }
    out.extend_from_slice(b"\n##contig=<ID=");
    out.extend_from_slice(names.target.as_bytes());
    out.extend_from_slice(b",length=");
    push_unsigned(out, u64::from(context.target_length()));
    out.extend_from_slice(b">\n");
    out.extend_from_slice(FIELDS.as_bytes());
    out.extend_from_slice(names.query.as_bytes());
    out.push(b'\n');
}
