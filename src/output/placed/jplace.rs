//! The best edges of reads as a placement file: jplace, version 3 (Matsen et al. 2012,
//! doi:10.1371/journal.pone.0031009).
//!
//! PaPaRa compares edges as a whole, by scores and without likelihoods. Readers of the format
//! require the fields of a likelihood placement, so these have neutral values: the middle of the
//! edge, a pendant length of 0, a likelihood of 0, and a weight of 1 for the best edge and of 0 for
//! the runner-up. The field `parsimony` has the score.

use std::io::Write;

use super::best::BestEdge;
use crate::error::Result;
use crate::output::Output;

/// Names of the fields, in the order of the values of a placement.
const FIELDS: [&str; 6] =
    ["edge_num", "likelihood", "like_weight_ratio", "distal_length", "pendant_length", "parsimony"];

/// Explanation of the values, for readers of the file.
const NOTE: &str = "parsimony is PaPaRa's score, and the highest is the best. Likelihoods were not computed: likelihood and \
                    pendant_length are 0, distal_length is half of the edge, like_weight_ratio is 1 for the best edge and 0 for \
                    the runner-up.";

/// A writer of a placement file.
#[derive(Debug)]
pub struct PlacementFile {
    output: Output,
    /// Whether a read was written.
    has_reads: bool,
}

impl PlacementFile {
    /// Writes the part of the file before the reads. `tree` is a Newick tree with the number of each
    /// edge in braces.
    pub fn begin(mut output: Output, tree: &[u8]) -> Self {
        let out = output.buffer();
        out.extend_from_slice(b"{\"version\": 3,\n\"tree\": ");
        push_string(out, &String::from_utf8_lossy(tree));
        out.extend_from_slice(b",\n\"fields\": [");
        for (index, field) in FIELDS.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"" } else { b", " });
            push_string(out, field);
        }
        out.extend_from_slice(b"],\n\"placements\": [");
        PlacementFile { output, has_reads: false }
    }

    /// Writes a read with its best edge and the runner-up. `edge_length` returns the length of an
    /// edge.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn write(&mut self, best: &BestEdge<'_>, edge_length: impl Fn(u32) -> f64) -> Result<()> {
        let out = self.output.buffer();
        out.extend_from_slice(if self.has_reads { b",\n" } else { b"\n" });
        self.has_reads = true;
        out.extend_from_slice(b"{\"p\": [");
        let placements = [Some((best.edge, best.score, 1)), best.runner_up.map(|(edge, score)| (edge, score, 0))];
        for (index, (edge, score, weight)) in placements.into_iter().flatten().enumerate() {
            let (separator, middle) = (if index == 0 { "" } else { ", " }, edge_length(edge) / 2.0);
            write!(out, "{separator}[{edge}, 0, {weight}, {middle}, 0, {score}]").expect("memory takes all");
        }
        out.extend_from_slice(b"], \"n\": [");
        push_string(out, &String::from_utf8_lossy(best.name));
        out.extend_from_slice(b"]}");
        self.output.pass_on()
    }

    /// Completes the output.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn finish(mut self) -> Result<()> {
        let out = self.output.buffer();
        out.extend_from_slice(b"\n],\n\"metadata\": {\"program\": ");
        push_string(out, concat!("pairwave ", env!("CARGO_PKG_VERSION")));
        out.extend_from_slice(b", \"note\": ");
        push_string(out, NOTE);
        out.extend_from_slice(b"}}\n");
        self.output.finish()
    }
}

/// Appends a JSON string.
fn push_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("memory takes all");
}
