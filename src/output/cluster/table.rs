//! A table of all records with their clusters.

use super::ClusterContext;
use crate::cluster::ClusterSet;
use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::{push_fraction, push_unsigned};

const HEADER: &[u8] = b"cluster\tmember\trole\tidentity\tstrand\tsize\n";

/// Writes a table with a line for each record: the number of its cluster, its name, its role
/// (`centroid`, `identical` to the centroid, or `member`), its identity with the centroid, its
/// strand relative to the centroid, and its abundance. If there are several thresholds, the first
/// column is the threshold.
///
/// # Errors
/// Returns [`Error::Io`](crate::Error::Io) if writing fails.
pub fn write_table(context: &ClusterContext<'_>, clusters: &[ClusterSet], mut output: Output) -> Result<()> {
    let has_thresholds = clusters.len() > 1;
    if has_thresholds {
        output.buffer().extend_from_slice(b"threshold\t");
    }
    output.buffer().extend_from_slice(HEADER);
    for set in clusters {
        let threshold = if has_thresholds { format!("{}\t", set.threshold) } else { String::new() };
        for (number, cluster) in (0u64..).zip(&set.clusters) {
            for one in context.expand(cluster) {
                let out = output.buffer();
                out.extend_from_slice(threshold.as_bytes());
                push_unsigned(out, number);
                out.push(b'\t');
                out.extend_from_slice(context.name(one.record));
                out.push(b'\t');
                out.extend_from_slice(one.role.name().as_bytes());
                out.push(b'\t');
                push_fraction(out, one.identity);
                out.extend_from_slice(&[b'\t', one.sign(), b'\t']);
                push_unsigned(out, context.size(one.record));
                out.push(b'\n');
                output.pass_on()?;
            }
        }
    }
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    #[test]
    fn tables_have_a_line_for_each_record() {
        let example = ClusterExample::new();
        let text = written(|output| write_table(&example.context(), &example.sets[..1], output)).unwrap();
        let expected = "cluster\tmember\trole\tidentity\tstrand\tsize
0\tc1;size=3;sample=X\tcentroid\t1.000000\t+\t3
0\tc2;sample=Y\tidentical\t1.000000\t-\t1
0\tm1;size=2;sample=X;\tmember\t0.900000\t+\t2
0\tm2;sample=Y\tmember\t0.900000\t-\t1
0\tm3;sample=X\tmember\t0.833333\t-\t1
1\tlone;tax=d:B,p:F;sample=Z\tcentroid\t1.000000\t+\t1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn several_thresholds_are_in_the_first_column() {
        let example = ClusterExample::new();
        let text = written(|output| write_table(&example.context(), &example.sets, output)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 2 * 6);
        assert_eq!(lines[0], "threshold\tcluster\tmember\trole\tidentity\tstrand\tsize");
        assert_eq!(lines[6], "0.8\t1\tlone;tax=d:B,p:F;sample=Z\tcentroid\t1.000000\t+\t1");
        assert_eq!(lines[10], "0.95\t1\tm2;sample=Y\tidentical\t1.000000\t-\t1");
    }

    #[test]
    fn no_clusters_are_a_header() {
        let example = ClusterExample::new();
        let none = [ClusterSet { threshold: 0.8, clusters: vec![] }];
        let text = written(|output| write_table(&example.context(), &none, output)).unwrap();
        assert_eq!(text.as_bytes(), HEADER);
    }
}
