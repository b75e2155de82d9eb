//! mothur's files: lists of the sequences of each OTU, and abundances in samples.

use std::collections::HashSet;

use super::ClusterContext;
use super::otu_table::push_dense;
use super::samples::{SampleIndex, SparseCounts};
use crate::cluster::{ClusterSet, annotations};
use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::push_unsigned;
use crate::seq::{SequenceId, SequenceStore};

/// Maximum number of decimals of a distance.
const MAX_DECIMALS: usize = 9;

/// Checks that [`write_list`] can write these records, before they are clustered.
///
/// # Errors
/// Returns an error with the location of the record if a name is empty, contains a comma, or occurs
/// twice.
pub fn check_list(records: &SequenceStore) -> Result<()> {
    let mut names: HashSet<&[u8]> = HashSet::with_capacity(records.len());
    for record in 0..records.len() as SequenceId {
        let name = records.name_bytes(record);
        if name.is_empty() {
            let message = format!("record {} has no name, which mothur's list needs", record + 1);
            return Err(records.record_error(record, message));
        }
        if name.contains(&b',') {
            let message = "mothur's list separates names by commas; rename the record or write a table";
            return Err(records.record_error(record, message));
        }
        if !names.insert(name) {
            let message = format!(
                "record {} has the name of an earlier one, but mothur's list needs different names; rename the record",
                record + 1
            );
            return Err(records.record_error(record, message));
        }
    }
    Ok(())
}

/// Checks that [`write_shared`] can write these records, before they are clustered.
///
/// # Errors
/// Returns an error with the location of the record if its name has no sample.
pub fn check_shared(records: &SequenceStore) -> Result<()> {
    let has_sample = |&record: &SequenceId| !annotations::sample(records.name_bytes(record)).is_empty();
    match (0..records.len() as SequenceId).find(|record| !has_sample(record)) {
        Some(record) => {
            let message = format!(
                "record {} has no sample, which mothur's shared file needs; add ;sample=NAME to the name",
                record + 1
            );
            Err(records.record_error(record, message))
        }
        None => Ok(()),
    }
}

/// Writes mothur's list: a header and a line for each threshold with its distance, the number of
/// clusters, and the clusters as names separated by commas. Names keep their annotations, so that
/// they match mothur's other files.
///
/// # Errors
/// Returns the errors of [`check_list`], and [`Io`](crate::Error::Io) if writing fails.
pub fn write_list(context: &ClusterContext<'_>, clusters: &[ClusterSet], mut output: Output) -> Result<()> {
    check_list(context.records)?;
    push_header(&mut output, b"label\tnumOtus", clusters)?;
    for set in clusters {
        output.buffer().extend_from_slice(distance(set.threshold).as_bytes());
        output.buffer().push(b'\t');
        push_unsigned(output.buffer(), set.clusters.len() as u64);
        for cluster in &set.clusters {
            for (index, one) in context.expand(cluster).enumerate() {
                output.buffer().push(if index == 0 { b'\t' } else { b',' });
                output.buffer().extend_from_slice(context.name(one.record));
            }
            output.pass_on()?;
        }
        output.buffer().push(b'\n');
    }
    output.finish()
}

/// Writes mothur's shared file: a header and, for each threshold and sample, a line with the
/// distance, the sample, the number of clusters, and the abundance of each cluster in the sample.
/// Clusters have the numbers and the order of [`write_list`].
///
/// # Errors
/// Returns the errors of [`check_shared`], and [`Io`](crate::Error::Io) if writing fails.
pub fn write_shared(context: &ClusterContext<'_>, clusters: &[ClusterSet], mut output: Output) -> Result<()> {
    check_shared(context.records)?;
    let samples = SampleIndex::new(context);
    push_header(&mut output, b"label\tGroup\tnumOtus", clusters)?;
    for set in clusters {
        let mut lines: Vec<SparseCounts> = vec![Vec::new(); samples.samples.len()];
        for (number, cluster) in (0..).zip(&set.clusters) {
            for (sample, count) in samples.counts(context, cluster) {
                lines[sample as usize].push((number, count));
            }
        }
        let label = distance(set.threshold);
        for (sample, counts) in samples.samples.iter().zip(&lines) {
            let out = output.buffer();
            out.extend_from_slice(label.as_bytes());
            out.push(b'\t');
            out.extend_from_slice(sample);
            out.push(b'\t');
            push_unsigned(out, set.clusters.len() as u64);
            push_dense(out, counts, set.clusters.len());
            out.push(b'\n');
            output.pass_on()?;
        }
    }
    output.finish()
}

/// Appends the header: the given columns and the names of the clusters (`Otu01` and so on), as many
/// as the longest line needs.
fn push_header(output: &mut Output, columns: &[u8], clusters: &[ClusterSet]) -> Result<()> {
    let count = clusters.iter().map(|set| set.clusters.len()).max().unwrap_or(0);
    let digits = count.to_string().len();
    output.buffer().extend_from_slice(columns);
    for number in 1..=count {
        output.buffer().extend_from_slice(format!("\tOtu{number:0digits$}").as_bytes());
        output.pass_on()?;
    }
    output.buffer().push(b'\n');
    Ok(())
}

/// Returns the distance that corresponds to a minimum identity, with the decimals of the identity,
/// but at least two.
fn distance(threshold: f64) -> String {
    let text = threshold.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len()).clamp(2, MAX_DECIMALS);
    format!("{:.decimals$}", (1.0 - threshold).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    #[test]
    fn lists_have_a_line_for_each_threshold() {
        let example = ClusterExample::new();
        let records = |text: &str| text.replace("lone;tax=d:B,p:F;sample=Z", "lone");
        let message = written(|output| write_list(&example.context(), &example.sets, output)).unwrap_err().to_string();
        assert!(message.starts_with("x.fa, record 'lone;tax=d:B,p:F;sample=Z': "), "{message}");
        let example = ClusterExample::from_records(&records(super::super::tests::RECORDS));
        let text = written(|output| write_list(&example.context(), &example.sets, output)).unwrap();
        let expected = "label\tnumOtus\tOtu1\tOtu2\tOtu3\tOtu4
0.20\t2\tc1;size=3;sample=X,c2;sample=Y,m1;size=2;sample=X;,m2;sample=Y,m3;sample=X\tlone
0.05\t4\tc1;size=3;sample=X,c2;sample=Y\tm1;size=2;sample=X;,m2;sample=Y\tm3;sample=X\tlone
";
        assert_eq!(text, expected);
    }

    #[test]
    fn shared_files_have_a_line_for_each_sample() {
        let example = ClusterExample::new();
        let text = written(|output| write_shared(&example.context(), &example.sets, output)).unwrap();
        let expected = "label\tGroup\tnumOtus\tOtu1\tOtu2\tOtu3\tOtu4
0.20\tX\t2\t6\t0
0.20\tY\t2\t2\t0
0.20\tZ\t2\t0\t1
0.05\tX\t4\t3\t2\t1\t0
0.05\tY\t4\t1\t1\t0\t0
0.05\tZ\t4\t0\t0\t0\t1
";
        assert_eq!(text, expected);
    }

    #[test]
    fn records_without_a_sample_are_refused() {
        let example =
            ClusterExample::from_records(&super::super::tests::RECORDS.replace(">lone;tax=d:B,p:F;sample=Z", ">.lone"));
        let result = written(|output| write_shared(&example.context(), &example.sets, output));
        let message = result.unwrap_err().to_string();
        assert!(
            message.starts_with("x.fa, record '.lone': record 6 has no sample")
                && message.ends_with("add ;sample=NAME to the name"),
            "{message}"
        );
    }

    #[test]
    fn equal_names_are_refused_with_the_file() {
        let records = super::super::tests::RECORDS.replace("lone;tax=d:B,p:F;sample=Z", "m1;size=2;sample=X;");
        let example = ClusterExample::from_records(&records);
        let result = written(|output| write_list(&example.context(), &example.sets, output));
        let message = result.unwrap_err().to_string();
        assert!(message.starts_with("x.fa, record 'm1;size=2;sample=X;': record 6 has the name"), "{message}");
    }

    #[test]
    fn distances_have_the_decimals_of_the_threshold() {
        for (threshold, expected) in [
            (0.97, "0.03"),
            (1.0, "0.00"),
            (0.9, "0.10"),
            (0.985, "0.015"),
            (0.9999, "0.0001"),
            (2.0 / 3.0, "0.333333333"),
        ] {
            assert_eq!(distance(threshold), expected);
        }
    }

    #[test]
    fn numbers_of_clusters_have_equal_width() {
        let example = ClusterExample::new();
        let mut set = example.sets[1].clone();
        set.clusters = (0..12).map(|index| set.clusters[index % 4].clone()).collect();
        let text = written(|output| write_shared(&example.context(), &[set], output)).unwrap();
        assert!(text.starts_with("label\tGroup\tnumOtus\tOtu01\tOtu02\t"));
        assert!(text.contains("\tOtu09\tOtu10\tOtu11\tOtu12\n"));
    }
}
