//! Two columns, as MMseqs2 writes them: representative and member.

use super::ClusterContext;
use crate::cluster::ClusterSet;
use crate::error::Result;
use crate::output::Output;

/// Writes a line for each record: the name of its centroid and its own name, separated by a tab.
/// The centroid has a line too.
///
/// # Errors
/// Returns [`Error::Io`](crate::Error::Io) if writing fails.
pub fn write_pairs(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    for cluster in &clusters.clusters {
        let centroid = context.centroid_name(cluster);
        for one in context.expand(cluster) {
            let out = output.buffer();
            out.extend_from_slice(centroid);
            out.push(b'\t');
            out.extend_from_slice(context.name(one.record));
            out.push(b'\n');
            output.pass_on()?;
        }
    }
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    #[test]
    fn every_record_follows_its_centroid() {
        let example = ClusterExample::new();
        let text = written(|output| write_pairs(&example.context(), &example.sets[0], output)).unwrap();
        let expected = "\
c1;size=3;sample=X\tc1;size=3;sample=X
c1;size=3;sample=X\tc2;sample=Y
c1;size=3;sample=X\tm1;size=2;sample=X;
c1;size=3;sample=X\tm2;sample=Y
c1;size=3;sample=X\tm3;sample=X
lone;tax=d:B,p:F;sample=Z\tlone;tax=d:B,p:F;sample=Z
";
        assert_eq!(text, expected);
    }
}
