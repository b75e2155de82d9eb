//! The table of variants by type.

use crate::alignment::Op;
use crate::error::{Error, Result};
use crate::output::long::{LongContext, LongPairAlignment};
use crate::output::markup::chart::put;
use crate::output::numbers::grouped;
use crate::output::vcf::{self, SequenceChange};
use crate::seq::Alphabet;

/// Maximum lengths of the classes of insertions and deletions, and their names. The last class has
/// no maximum.
const LENGTH_CLASSES: [(u32, &str); 5] =
    [(1, "1"), (10, "2 to 10"), (50, "11 to 50"), (1000, "51 to 1,000"), (u32::MAX, "more than 1,000")];

/// Variants of one type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ChangeCount {
    variants: u64,
    /// Number of symbols: of the longer side of each variant.
    symbols: u64,
}

impl ChangeCount {
    fn add(&mut self, change: &SequenceChange) {
        self.variants += 1;
        self.symbols += u64::from(change.removed.max(change.inserted));
    }
}

/// Numbers of variants by type.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChangeCounts {
    substitutions: ChangeCount,
    /// Substitutions of A and G with each other, and of C and T with each other.
    transitions: u64,
    transversions: u64,
    /// Several symbols replaced by others, and insertions and deletions that touch.
    replacements: ChangeCount,
    insertions: [ChangeCount; LENGTH_CLASSES.len()],
    deletions: [ChangeCount; LENGTH_CLASSES.len()],
}

impl ChangeCounts {
    /// Counts the variants of all alignments. For nucleotides these are the records of the format
    /// `vcf`. For proteins each differing column is a substitution, and each gap an insertion or
    /// deletion.
    ///
    /// # Errors
    /// Returns an error if there is only a score.
    pub(super) fn new(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<Self> {
        let mut counts = ChangeCounts::default();
        if context.alphabet() == Alphabet::Dna {
            vcf::changes(context, alignments)?.iter().for_each(|change| counts.add(change));
            return Ok(counts);
        }
        for alignment in alignments {
            let (strand, pair) = context.pair(alignment)?;
            let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
            for (length, op) in strand.columns(&pair)?.inner_runs(cigar) {
                let change = |removed, inserted| SequenceChange { removed, inserted, bases: None };
                match op {
                    Op::Match => {}
                    Op::Mismatch => (0..length).for_each(|_| counts.add(&change(1, 1))),
                    Op::Insertion => counts.add(&change(0, length)),
                    Op::Deletion => counts.add(&change(length, 0)),
                }
            }
        }
        Ok(counts)
    }

    fn add(&mut self, change: &SequenceChange) {
        let class = |length: u32| LENGTH_CLASSES.iter().position(|(most, _)| length <= *most).unwrap_or(0);
        match (change.removed, change.inserted) {
            (1, 1) => self.substitutions.add(change),
            (0, length) => self.insertions[class(length)].add(change),
            (length, 0) => self.deletions[class(length)].add(change),
            _ => self.replacements.add(change),
        }
        match change.bases {
            Some([b'A', b'G'] | [b'G', b'A'] | [b'C', b'T'] | [b'T', b'C']) => self.transitions += 1,
            Some(bases) if bases.iter().all(|base| b"ACGT".contains(base)) => self.transversions += 1,
            _ => {}
        }
    }

    /// Returns the number of variants.
    pub(super) fn total(&self) -> u64 {
        self.rows().iter().map(|(_, count)| count.variants).sum()
    }

    /// Returns the types with their counts.
    fn rows(&self) -> Vec<(String, ChangeCount)> {
        let classes = |name: &str, counts: &[ChangeCount]| {
            let row = |((_, class), count): (&(u32, &str), &ChangeCount)| (format!("{name} of {class}"), *count);
            LENGTH_CLASSES.iter().zip(counts).map(row).collect::<Vec<_>>()
        };
        let first = [("Substitution", self.substitutions), ("Replacement", self.replacements)];
        let mut rows: Vec<_> = first.map(|(name, count)| (name.to_owned(), count)).into();
        rows.extend(classes("Insertion", &self.insertions));
        rows.extend(classes("Deletion", &self.deletions));
        rows
    }

    /// Appends the table.
    pub(super) fn push(&self, alphabet: Alphabet, out: &mut Vec<u8>) {
        let is_dna = alphabet == Alphabet::Dna;
        let unit = if is_dna { "Bases" } else { "Residues" };
        out.extend_from_slice(match is_dna {
            true => {
                b"<p>Differences of the queries from the targets, as VCF has them: each once, even if \
                  several alignments contain it. A replacement has several bases on one side and at least one on the \
                  other.</p>\n"
            }
            false => &b"<p>Differences of the queries from the targets in all alignments.</p>\n"[..],
        });
        out.extend_from_slice(b"<div class=\"table\"><table>\n<thead><tr><th class=\"left\" scope=\"col\">Type</th>");
        put(out, format_args!("<th scope=\"col\">Variants</th><th scope=\"col\">{unit}</th>"));
        out.extend_from_slice(b"<th class=\"left wide\" scope=\"col\">Share</th></tr></thead>\n<tbody>\n");
        let all = self.total().max(1);
        for (name, ChangeCount { variants, symbols }) in self.rows() {
            let share = 100.0 * variants as f64 / all as f64;
            let (variants, symbols) = (grouped(variants), grouped(symbols));
            put(out, format_args!("<tr><td class=\"left\">{name}</td><td>{variants}</td><td>{symbols}</td>"));
            out.extend_from_slice(b"<td><svg class=\"share\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" ");
            put(out, format_args!("aria-hidden=\"true\"><rect width=\"{share:.1}\" height=\"8\"/></svg></td></tr>\n"));
        }
        out.extend_from_slice(b"</tbody>\n</table></div>\n");
        if is_dna && self.transversions > 0 {
            let ratio = self.transitions as f64 / self.transversions as f64;
            let (transitions, transversions) = (grouped(self.transitions), grouped(self.transversions));
            put(
                out,
                format_args!("<p>Transitions {transitions}, transversions {transversions}, ratio {ratio:.2}.</p>\n"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_type_and_length() {
        let mut counts = ChangeCounts::default();
        let mut add = |removed, inserted, bases: Option<&[u8; 2]>| {
            counts.add(&SequenceChange { removed, inserted, bases: bases.copied() });
        };
        add(1, 1, Some(b"AG"));
        add(1, 1, Some(b"CT"));
        add(1, 1, Some(b"AC"));
        add(1, 1, Some(b"AN"));
        add(2, 1, None);
        for length in [1, 2, 10, 11, 50, 51, 1000, 1001, 70_000] {
            add(0, length, None);
            add(length, 0, None);
        }
        assert_eq!((counts.transitions, counts.transversions, counts.total()), (2, 1, 23));
        assert_eq!(counts.insertions, counts.deletions);
        assert_eq!(counts.insertions.map(|count| count.variants), [1, 2, 2, 2, 2]);
        assert_eq!(counts.insertions.map(|count| count.symbols), [1, 12, 61, 1051, 71_001]);
        assert_eq!((counts.substitutions.symbols, counts.replacements.symbols), (4, 2));
        let mut out = Vec::new();
        counts.push(Alphabet::Dna, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("<td class=\"left\">Deletion of more than 1,000</td><td>2</td><td>71,001</td>"),
            "{text}"
        );
        assert!(text.contains("<p>Transitions 2, transversions 1, ratio 2.00.</p>"));
    }
}
