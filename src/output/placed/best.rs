//! The table of best edges: one line for each read.

use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::{push_integer, push_unsigned};
use crate::seq::Strand;

/// The best edge of a read.
#[derive(Debug, Clone, Copy)]
pub struct BestEdge<'a> {
    /// Name of the read.
    pub name: &'a [u8],
    /// Number of the edge.
    pub edge: u32,
    /// Score of the edge.
    pub score: i32,
    /// The next best edge and its score, if there is another edge.
    pub runner_up: Option<(u32, i32)>,
    /// Aligned strand of the read.
    pub strand: Strand,
}

/// A writer of tab-separated values below a header line. A missing value is written as `.`.
#[derive(Debug)]
pub struct BestTable {
    output: Output,
}

impl BestTable {
    /// Writes the header.
    pub fn begin(mut output: Output) -> Self {
        output.buffer().extend_from_slice(b"read\tedge\tscore\trunner_up\trunner_up_score\tstrand\tsplit\n");
        BestTable { output }
    }

    /// Writes a line. `split` is the name of the edge's split.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn write(&mut self, best: &BestEdge<'_>, split: &[u8]) -> Result<()> {
        let out = self.output.buffer();
        out.extend_from_slice(best.name);
        out.push(b'\t');
        push_unsigned(out, best.edge.into());
        out.push(b'\t');
        push_integer(out, best.score);
        match best.runner_up {
            Some((edge, score)) => {
                out.push(b'\t');
                push_unsigned(out, edge.into());
                out.push(b'\t');
                push_integer(out, score);
            }
            None => out.extend_from_slice(b"\t.\t."),
        }
        out.extend_from_slice(if best.strand == Strand::Minus { b"\t-\t" } else { b"\t+\t" });
        out.extend_from_slice(split);
        out.push(b'\n');
        self.output.pass_on()
    }

    /// Completes the output.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn finish(self) -> Result<()> {
        self.output.finish()
    }
}
