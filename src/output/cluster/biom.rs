//! A table of OTUs and samples in BIOM 1.0, a format in JSON.

use std::io::Write;

use super::ClusterContext;
use super::samples::{OtuRow, SampleIndex, otu_rows};
use crate::cluster::ClusterSet;
use crate::error::Result;
use crate::output::Output;

/// Value of the mandatory key `date`. The bytes of an output depend on its content only.
const DATE: &str = "1970-01-01T00:00:00";

/// Writes the table of [`write_otu_table`](super::write_otu_table) in BIOM 1.0, as a sparse matrix.
/// If a centroid has a value of `tax`, every row has `taxonomy` in its metadata, as in vsearch. The
/// key `date` is always the start of 1970, because the same clusters have the same bytes. Bytes of
/// names that are not UTF-8 become U+FFFD.
///
/// # Errors
/// Returns [`Error::Io`](crate::Error::Io) if writing fails.
pub fn write_biom(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    let samples = SampleIndex::new(context);
    let rows = otu_rows(context, clusters, &samples);
    let has_taxonomy = rows.values().any(|row| row.taxonomy.is_some());
    let (version, shape) = (env!("CARGO_PKG_VERSION"), (rows.len(), samples.samples.len()));
    let mut start = String::from("{\"id\":null,\n\"format\":\"Biological Observation Matrix 1.0.0\",\n");
    start += "\"format_url\":\"http://biom-format.org\",\n";
    start += &format!("\"type\":\"OTU table\",\n\"generated_by\":\"pairwave {version}\",\n\"date\":\"{DATE}\",\n");
    start += "\"matrix_type\":\"sparse\",\n\"matrix_element_type\":\"int\",\n";
    start += &format!("\"shape\":[{},{}],\n\"rows\":[", shape.0, shape.1);
    output.buffer().extend_from_slice(start.as_bytes());
    for (index, (label, row)) in rows.iter().enumerate() {
        push_row(output.buffer(), index, label, row, has_taxonomy);
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"\n],\n\"columns\":[");
    for (index, sample) in samples.samples.iter().enumerate() {
        let out = output.buffer();
        start_element(out, index);
        push_object_start(out, sample);
        out.extend_from_slice(b"null}");
    }
    output.buffer().extend_from_slice(b"\n],\n\"data\":[");
    let mut element = 0;
    for (row, (_, otu)) in rows.iter().enumerate() {
        for (sample, count) in &otu.counts {
            start_element(output.buffer(), element);
            write!(output.buffer(), "[{row},{sample},{count}]").expect("a vector takes all");
            element += 1;
        }
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"\n]}\n");
    output.finish()
}

/// Appends the object of a row.
fn push_row(out: &mut Vec<u8>, index: usize, label: &[u8], row: &OtuRow<'_>, has_taxonomy: bool) {
    start_element(out, index);
    push_object_start(out, label);
    if has_taxonomy {
        out.extend_from_slice(b"{\"taxonomy\":");
        push_string(out, row.taxonomy.unwrap_or_default());
        out.extend_from_slice(b"}}");
    } else {
        out.extend_from_slice(b"null}");
    }
}

/// Appends the line break before an element of a list, and the comma after the previous one.
fn start_element(out: &mut Vec<u8>, index: usize) {
    out.extend_from_slice(if index > 0 { b",\n" } else { b"\n" });
}

/// Appends an object with this `id`, up to the value of its `metadata`.
fn push_object_start(out: &mut Vec<u8>, id: &[u8]) {
    out.extend_from_slice(b"{\"id\":");
    push_string(out, id);
    out.extend_from_slice(b",\"metadata\":");
}

/// Appends a string in JSON.
fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    serde_json::to_writer(out, &String::from_utf8_lossy(text)).expect("a vector takes all");
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    fn biom(example: &ClusterExample, set: &ClusterSet) -> String {
        written(|output| write_biom(&example.context(), set, output)).unwrap()
    }

    #[test]
    fn tables_have_all_mandatory_keys() {
        let example = ClusterExample::new();
        let text = biom(&example, &example.sets[0]);
        let expected = "{\"id\":null,
\"format\":\"Biological Observation Matrix 1.0.0\",
\"format_url\":\"http://biom-format.org\",
\"type\":\"OTU table\",
\"generated_by\":\"pairwave VERSION\",
\"date\":\"1970-01-01T00:00:00\",
\"matrix_type\":\"sparse\",
\"matrix_element_type\":\"int\",
\"shape\":[2,3],
\"rows\":[
{\"id\":\"c1\",\"metadata\":{\"taxonomy\":\"\"}},
{\"id\":\"lone\",\"metadata\":{\"taxonomy\":\"d:B,p:F\"}}
],
\"columns\":[
{\"id\":\"X\",\"metadata\":null},
{\"id\":\"Y\",\"metadata\":null},
{\"id\":\"Z\",\"metadata\":null}
],
\"data\":[
[0,0,6],
[0,1,2],
[1,2,1]
]}
";
        assert_eq!(text, expected.replace("VERSION", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn tables_are_valid_json() {
        let example = ClusterExample::from_records(
            ">a\"\\;size=9\nACGTACGTAC\n>m1;size=3;sample=c1\nACGTTCGTAC\n>m3\nCCGTACGTACGT\n>b.1\nTTTTTTTT\n",
        );
        for set in [&example.sets[0], &example.sets[1], &ClusterSet { threshold: 0.5, clusters: vec![] }] {
            let table: serde_json::Value = serde_json::from_str(&biom(&example, set)).unwrap();
            let length = |key: &str| table[key].as_array().unwrap().len();
            assert_eq!(table["shape"], serde_json::json!([length("rows"), length("columns")]));
            if !set.clusters.is_empty() {
                assert_eq!(table["rows"][0], serde_json::json!({ "id": "a\"\\", "metadata": null }));
            }
        }
    }
}
