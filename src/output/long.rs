//! The alignments of very long sequences, which are written all at once.
//!
//! An alignment of circular sequences that crosses an origin is cut there (`long_context`). `vcf`
//! cuts at the origin of the target only.
//!
//! Alignments are in the order of the queries, then of the targets. The best of a pair is first.
//!
//! `tsv`, `jsonl` and `paf` are the formats of many pairs: each alignment becomes an
//! [`OutputPair`](super::OutputPair) of the aligned strand and the target, and a
//! [`LongPairEnd`](super::LongPairEnd) defines how to write its positions. The other
//! formats are modules of their own.

mod report;

use super::fields::Field;
use super::long_context::{CONTENTS, cut};
use super::paf::CsForm;
use super::{Contents, FormatBody, Output, chain, delta, jsonl, maf, paf, sam, text, tsv, vcf};
use crate::error::{Error, Result};

pub use self::report::write_report;
pub use super::long_context::{LongContext, LongPairAlignment, LongPaths, StoredRecords, WholeAlignment};
pub use super::sam::name_problem;

/// An output format for long pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LongFormat {
    /// Tab-separated values below a header line.
    Tsv(Vec<&'static Field>),
    /// minimap2's pairwise mapping format.
    Paf {
        /// Form of the tag `cs`; `None` omits it.
        cs: Option<CsForm>,
    },
    /// SAM.
    Sam {
        /// Command line of the program, for the header.
        command: String,
    },
    /// VCF: variants of the target, which is the reference.
    Vcf(LongPaths),
    /// UCSC's multiple alignment format.
    Maf,
    /// UCSC's chains from the target to the query.
    Chain,
    /// MUMmer's alignments. The target is the reference.
    Delta(LongPaths),
    /// One JSON object per line.
    JsonLines(Vec<&'static Field>),
    /// Blocks of alignment for people to read.
    Text {
        /// Number of columns in a block.
        width: u32,
    },
}

/// Writes all alignments and completes the output. They are in the order of queries and targets,
/// and the best alignment of a pair is first.
///
/// # Errors
/// Returns [`Error::Usage`] if a format needs alignments but there is only a score, as do circular
/// sequences, and
/// [`Error::Io`] if writing fails.
pub fn write(
    format: &LongFormat,
    context: &LongContext,
    alignments: &[LongPairAlignment<'_>],
    mut output: Output,
) -> Result<()> {
    let contents = Contents { has_alignments: alignments.iter().all(|one| one.cigar.is_some()), ..CONTENTS };
    match format {
        LongFormat::Tsv(fields) | LongFormat::JsonLines(fields) => contents.check_fields(fields)?,
        LongFormat::Paf { .. }
        | LongFormat::Sam { .. }
        | LongFormat::Vcf(_)
        | LongFormat::Maf
        | LongFormat::Chain
        | LongFormat::Delta(_)
        | LongFormat::Text { .. } => contents.check_alignments()?,
    }
    if let LongFormat::Vcf(paths) = format {
        vcf::write(context, paths, alignments, &mut output)?;
        return output.finish();
    }
    let parts = if context.circular().any() { cut(context, alignments)? } else { Vec::new() };
    let parts: Vec<LongPairAlignment<'_>> = parts.iter().map(|part| part.alignment()).collect();
    let alignments = if context.circular().any() { &parts } else { alignments };
    match format {
        LongFormat::Tsv(fields) => lines(&mut tsv::Tsv::new(fields), context, alignments, &mut output)?,
        LongFormat::JsonLines(fields) => lines(&mut jsonl::JsonLines::new(fields), context, alignments, &mut output)?,
        LongFormat::Paf { cs } => lines(&mut paf::Paf { cs: *cs }, context, alignments, &mut output)?,
        LongFormat::Sam { command } => sam::write(context, command, alignments, &mut output)?,
        LongFormat::Vcf(_) => {}
        LongFormat::Maf => maf::write(context, alignments, &mut output)?,
        LongFormat::Chain => chain::write(context, alignments, &mut output)?,
        LongFormat::Delta(paths) => delta::write(context, paths, alignments, &mut output)?,
        LongFormat::Text { width } => text::write(context, *width, alignments, &mut output)?,
    }
    output.finish()
}

fn lines(
    body: &mut dyn FormatBody,
    context: &LongContext,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    body.begin(&context.forward, output)?;
    let line = body.lines().ok_or_else(|| Error::Internal("a format without lines for long pairs".into()))?;
    for alignment in alignments {
        let (context, pair) = context.pair(alignment)?;
        line.push(context, &pair, output.buffer())?;
        output.pass_on()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
