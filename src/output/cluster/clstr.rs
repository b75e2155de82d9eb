//! CD-HIT's list of clusters.

use super::{ClusterContext, ClusterRole};
use crate::cluster::ClusterSet;
use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::{push_units, push_unsigned, to_units};
use crate::seq::Alphabet;

/// Writes clusters as CD-HIT writes them with complete names (`-d 0`). Lines of nucleotides contain
/// the strand. The representative comes first and ends with `*`.
///
/// # Errors
/// Returns [`Error::Io`](crate::Error::Io) if writing fails.
pub fn write_clstr(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    let is_dna = context.records.alphabet() == Alphabet::Dna;
    let unit: &[u8] = if is_dna { b"nt, >" } else { b"aa, >" };
    for (number, cluster) in (0u64..).zip(&clusters.clusters) {
        output.buffer().extend_from_slice(b">Cluster ");
        push_unsigned(output.buffer(), number);
        output.buffer().push(b'\n');
        for (index, one) in (0u64..).zip(context.expand(cluster)) {
            let out = output.buffer();
            push_unsigned(out, index);
            out.push(b'\t');
            push_unsigned(out, context.records.length(one.record).into());
            out.extend_from_slice(unit);
            out.extend_from_slice(context.name(one.record));
            out.extend_from_slice(b"... ");
            if one.role == ClusterRole::Centroid {
                out.extend_from_slice(b"*\n");
                continue;
            }
            out.extend_from_slice(b"at ");
            if is_dna {
                out.extend_from_slice(&[one.sign(), b'/']);
            }
            push_units(out, to_units(100.0 * one.identity, 2), 2);
            out.extend_from_slice(b"%\n");
            output.pass_on()?;
        }
    }
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;
    use crate::cluster::{ClusterMember, SequenceCluster, UniqueSet};
    use crate::seq::{AlphabetChoice, ReadOptions, Strand, read_bytes};

    #[test]
    fn nucleotides_have_strands() {
        let example = ClusterExample::new();
        let text = written(|output| write_clstr(&example.context(), &example.sets[0], output)).unwrap();
        let expected = "\
>Cluster 0
0\t10nt, >c1;size=3;sample=X... *
1\t10nt, >c2;sample=Y... at -/100.00%
2\t10nt, >m1;size=2;sample=X;... at +/90.00%
3\t10nt, >m2;sample=Y... at -/90.00%
4\t12nt, >m3;sample=X... at -/83.33%
>Cluster 1
0\t8nt, >lone;tax=d:B,p:F;sample=Z... *
";
        assert_eq!(text, expected);
    }

    #[test]
    fn proteins_have_no_strands() {
        let options = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Protein), ..ReadOptions::default() };
        let records = read_bytes("x.fa", b">p1 first\nMKVLA\n>p2 second\nMKVL\n", &options).unwrap();
        let unique = UniqueSet::new(&records, &[1, 1], false);
        let member = ClusterMember { sequence: 1, identity: 0.8, strand: Strand::Plus, cigar: None };
        let clusters = vec![SequenceCluster { centroid: 0, size: 2, members: vec![member] }];
        let context = ClusterContext { records: &records, unique: &unique, sizes: &[1, 1] };
        let set = ClusterSet { threshold: 0.8, clusters };
        let text = written(|output| write_clstr(&context, &set, output)).unwrap();
        assert_eq!(text, ">Cluster 0\n0\t5aa, >p1... *\n1\t4aa, >p2... at 80.00%\n");
    }
}
