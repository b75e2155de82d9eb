//! A table of OTUs and samples, as vsearch's `otutabout` writes it.

use super::ClusterContext;
use super::samples::{SampleIndex, SparseCounts, otu_rows};
use crate::cluster::ClusterSet;
use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::push_unsigned;

/// Writes a table with a line for each cluster and a column for each sample, with the bytes of
/// vsearch. Lines and samples are ordered by their bytes. A sample is the value of `sample` or
/// `barcodelabel` in the name of a record, or else the letters, digits and underscores at the start
/// of the name. The label of a cluster is the value of `otu` in the name of its centroid, or else
/// the name up to the first semicolon. Clusters with the same label share a line. If a centroid has
/// a value of `tax`, the last column is the taxonomy.
///
/// # Errors
/// Returns [`Error::Io`](crate::Error::Io) if writing fails.
pub fn write_otu_table(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    let samples = SampleIndex::new(context);
    let rows = otu_rows(context, clusters, &samples);
    let has_taxonomy = rows.values().any(|row| row.taxonomy.is_some());
    let out = output.buffer();
    out.extend_from_slice(b"#OTU ID");
    for sample in &samples.samples {
        out.push(b'\t');
        out.extend_from_slice(sample);
    }
    out.extend_from_slice(if has_taxonomy { b"\ttaxonomy\n" } else { b"\n" });
    for (label, row) in &rows {
        let out = output.buffer();
        out.extend_from_slice(label);
        push_dense(out, &row.counts, samples.samples.len());
        if has_taxonomy {
            out.push(b'\t');
            out.extend_from_slice(row.taxonomy.unwrap_or_default());
        }
        out.push(b'\n');
        output.pass_on()?;
    }
    output.finish()
}

/// Appends `columns` counts, each after a tab.
pub(super) fn push_dense(out: &mut Vec<u8>, counts: &SparseCounts, columns: usize) {
    let mut rest = counts.iter().peekable();
    for column in 0..columns as u32 {
        let count = rest.next_if(|(index, _)| *index == column).map_or(0, |(_, count)| *count);
        out.push(b'\t');
        push_unsigned(out, count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    #[test]
    fn tables_have_the_columns_of_vsearch() {
        let example = ClusterExample::new();
        let text = written(|output| write_otu_table(&example.context(), &example.sets[0], output)).unwrap();
        assert_eq!(text, "#OTU ID\tX\tY\tZ\ttaxonomy\nc1\t6\t2\t0\t\nlone\t0\t0\t1\td:B,p:F\n");
    }

    #[test]
    fn taxonomy_is_optional() {
        let example = ClusterExample::from_records(
            ">c1;size=9\nACGTACGTAC\n>m1;size=3;sample=c1\nACGTTCGTAC\n>m3\nCCGTACGTACGT\n>b.1\nTTTTTTTT\n",
        );
        let text = written(|output| write_otu_table(&example.context(), &example.sets[0], output)).unwrap();
        assert_eq!(text, "#OTU ID\tb\tc1\tm3\nb.1\t1\t0\t0\nc1\t0\t12\t1\n");
    }
}
