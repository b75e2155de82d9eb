//! The cluster format of UCLUST, as vsearch's `cluster_size` writes it.

use super::ClusterContext;
use crate::alignment::{Cigar, Op};
use crate::cluster::ClusterSet;
use crate::error::{Error, Result};
use crate::output::Output;
use crate::output::numbers::{push_units, push_unsigned, to_units};

/// Writes S lines (centroids), H lines (other records) and, at the end, C lines (clusters with
/// their abundance). The lines of a cluster follow each other. vsearch writes the same lines in
/// another order. In alignments, `D` is a symbol of the record without a partner, `I` is a symbol
/// of the centroid without a partner, a count of 1 is omitted, and `=` stands for an alignment
/// without differences.
///
/// # Errors
/// Returns [`Error::Internal`] for a member without an alignment, and [`Error::Io`] if writing
/// fails.
pub fn write_uc(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    for (number, cluster) in (0u64..).zip(&clusters.clusters) {
        let centroid = context.centroid(cluster);
        let out = output.buffer();
        start(out, b'S', number, context.records.length(centroid).into());
        end_of_centroid(out, context.name(centroid));
        for one in context.expand(cluster).skip(1) {
            let out = output.buffer();
            start(out, b'H', number, context.records.length(one.record).into());
            push_units(out, to_units(100.0 * one.identity, 1), 1);
            out.extend_from_slice(&[b'\t', one.sign()]);
            out.extend_from_slice(b"\t0\t0\t");
            match one.member.map(|member| member.cigar.as_ref()) {
                None => out.push(b'='),
                Some(Some(cigar)) => push_cigar(out, cigar),
                Some(None) => return Err(Error::Internal("a member of a cluster without its alignment".into())),
            }
            out.push(b'\t');
            out.extend_from_slice(context.name(one.record));
            out.push(b'\t');
            out.extend_from_slice(context.name(centroid));
            out.push(b'\n');
            output.pass_on()?;
        }
    }
    for (number, cluster) in (0u64..).zip(&clusters.clusters) {
        let out = output.buffer();
        start(out, b'C', number, cluster.size);
        end_of_centroid(out, context.centroid_name(cluster));
        output.pass_on()?;
    }
    output.finish()
}

/// Appends the first three columns: type, number of the cluster, and length or size.
pub(super) fn start(out: &mut Vec<u8>, kind: u8, number: u64, size: u64) {
    out.extend_from_slice(&[kind, b'\t']);
    push_unsigned(out, number);
    out.push(b'\t');
    push_unsigned(out, size);
    out.push(b'\t');
}

/// Appends the last columns of S and C lines.
pub(super) fn end_of_centroid(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(b"*\t*\t*\t*\t*\t");
    out.extend_from_slice(name);
    out.extend_from_slice(b"\t*\n");
}

/// Appends an alignment in vsearch's form.
fn push_cigar(out: &mut Vec<u8>, cigar: &Cigar) {
    if cigar.columns_of(Op::Match) == cigar.columns() {
        out.push(b'=');
        return;
    }
    let letter = |op: Op| match op {
        Op::Match | Op::Mismatch => b'M',
        Op::Insertion => b'D',
        Op::Deletion => b'I',
    };
    let mut runs = cigar.iter().peekable();
    while let Some((length, op)) = runs.next() {
        let mut columns = u64::from(length);
        while let Some((more, _)) = runs.next_if(|run| letter(run.1) == letter(op)) {
            columns += u64::from(more);
        }
        if columns != 1 {
            push_unsigned(out, columns);
        }
        out.push(letter(op));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    #[test]
    fn lines_have_the_columns_of_vsearch() {
        let example = ClusterExample::new();
        let text = written(|output| write_uc(&example.context(), &example.sets[0], output)).unwrap();
        let expected = "\
S\t0\t10\t*\t*\t*\t*\t*\tc1;size=3;sample=X\t*
H\t0\t10\t100.0\t-\t0\t0\t=\tc2;sample=Y\tc1;size=3;sample=X
H\t0\t10\t90.0\t+\t0\t0\t10M\tm1;size=2;sample=X;\tc1;size=3;sample=X
H\t0\t10\t90.0\t-\t0\t0\t10M\tm2;sample=Y\tc1;size=3;sample=X
H\t0\t12\t83.3\t-\t0\t0\t10M2D\tm3;sample=X\tc1;size=3;sample=X
S\t1\t8\t*\t*\t*\t*\t*\tlone;tax=d:B,p:F;sample=Z\t*
C\t0\t8\t*\t*\t*\t*\t*\tc1;size=3;sample=X\t*
C\t1\t1\t*\t*\t*\t*\t*\tlone;tax=d:B,p:F;sample=Z\t*
";
        assert_eq!(text, expected);
    }

    #[test]
    fn alignments_are_written_as_in_vsearch() {
        let text = |cigar: &str| {
            let mut out = Vec::new();
            push_cigar(&mut out, &cigar.parse().unwrap());
            String::from_utf8(out).unwrap()
        };
        // vsearch 2.22.1 wrote the right side for these alignments.
        for (own, vsearch) in [
            ("30=3D67=", "30M3I67M"),
            ("30=2I70=", "30M2D70M"),
            ("50=1X49=", "100M"),
            ("1D38=1D51=", "I38MI51M"),
            ("100=3I", "100M3D"),
            ("100=", "="),
        ] {
            assert_eq!(text(own), vsearch);
        }
    }

    #[test]
    fn members_without_an_alignment_are_refused() {
        let mut example = ClusterExample::new();
        example.sets[0].clusters[0].members[0].cigar = None;
        let result = written(|output| write_uc(&example.context(), &example.sets[0], output));
        assert!(matches!(result, Err(Error::Internal(_))));
    }
}
