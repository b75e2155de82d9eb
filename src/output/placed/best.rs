//! The table of best edges: a line a read.

use crate::error::Result;
use crate::output::Output;
use crate::output::numbers::{push_integer, push_unsigned};
use crate::seq::Strand;

/// A read's best edge.
#[derive(Debug, Clone, Copy)]
pub struct Best<'a> {
    /// The read's name.
    pub name: &'a [u8],
    /// The edge's number.
    pub edge: u32,
    /// Its score.
    pub score: i32,
    /// The next best edge and its score, where there is another one.
    pub runner_up: Option<(u32, i32)>,
    /// The read's strand that was aligned.
    pub strand: Strand,
}

/// Writes tab-separated values under a header line; what is not there is a point.
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

    /// Writes a line. `split` is a name of the edge's split.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn write(&mut self, best: &Best<'_>, split: &[u8]) -> Result<()> {
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

    /// Makes the output final.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn finish(self) -> Result<()> {
        self.output.finish()
    }
}
