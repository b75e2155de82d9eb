//! The parts of a format: its body converts pairs to bytes, and [`FormatWriter`] writes the bytes.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Context, LineMaker, Output, OutputPair, PairWriter};
use crate::error::{Error, Result};
use crate::seq::SequenceStore;

/// A destination of a format's bytes.
pub(super) trait ByteSink {
    fn buffer(&mut self) -> &mut Vec<u8>;
    /// Writes the buffered bytes to the destination, if it has one and they are worth a system
    /// call.
    fn pass_on(&mut self) -> Result<()>;
}

impl ByteSink for Output {
    fn buffer(&mut self) -> &mut Vec<u8> {
        Output::buffer(self)
    }

    fn pass_on(&mut self) -> Result<()> {
        Output::pass_on(self)
    }
}

impl ByteSink for Vec<u8> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self
    }

    fn pass_on(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A format: converts pairs to bytes. It appends whole lines to the output's buffer.
pub(super) trait FormatBody: Send {
    fn begin(&mut self, _context: &Context, _output: &mut Output) -> Result<()> {
        Ok(())
    }

    /// Accepts new sequences.
    fn accept_context(&mut self, _context: &Context) -> Result<()> {
        Ok(())
    }

    /// Returns the object that formats a pair as a line, if lines do not depend on each other.
    fn lines(&self) -> Option<&dyn PairLine>;

    /// Returns the object for other threads, if lines are so short that many of them can be
    /// buffered until they are written.
    fn shared_line(&self) -> Option<Arc<dyn PairLine>> {
        None
    }

    /// Accepts a pair that is not formatted as a line.
    fn pair(&mut self, _context: &Context, _pair: &OutputPair<'_>, _output: &mut Output) -> Result<()> {
        Err(Error::Internal("a format without lines has to take pairs".into()))
    }

    fn end(&mut self, _context: &Context, _output: &mut Output) -> Result<()> {
        Ok(())
    }
}

/// A format with one line for each pair.
pub(super) trait PairLine: Send + Sync {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()>;
}

/// Number of pairs in a piece of parallel formatting.
const PAIRS_PER_PIECE: usize = 1 << 10;

/// Writer of a format: passes each pair to the body of the format.
pub(super) struct FormatWriter {
    pub context: Context,
    pub body: Box<dyn FormatBody>,
    pub output: Output,
}

impl PairWriter for FormatWriter {
    fn begin(&mut self) -> Result<()> {
        self.body.begin(&self.context, &mut self.output)
    }

    fn replace_sequences(&mut self, queries: &Arc<SequenceStore>, targets: &Arc<SequenceStore>) -> Result<()> {
        let context = &mut self.context;
        if Arc::ptr_eq(&context.queries, queries) && Arc::ptr_eq(&context.targets, targets) {
            return Ok(());
        }
        (context.queries, context.targets) = (Arc::clone(queries), Arc::clone(targets));
        self.body.accept_context(context)
    }

    fn write(&mut self, pair: &OutputPair<'_>) -> Result<()> {
        match self.body.lines() {
            Some(line) => line.push(&self.context, pair, self.output.buffer())?,
            None => self.body.pair(&self.context, pair, &mut self.output)?,
        }
        self.output.pass_on()
    }

    fn write_all(&mut self, pairs: &[OutputPair<'_>]) -> Result<()> {
        let Some(line) = self.body.lines().filter(|_| pairs.len() > PAIRS_PER_PIECE) else {
            return pairs.iter().try_for_each(|pair| self.write(pair));
        };
        let context = &self.context;
        let piece = |pairs: &[OutputPair<'_>]| {
            let mut out = Vec::new();
            pairs.iter().try_for_each(|pair| line.push(context, pair, &mut out)).map(|()| out)
        };
        let pieces: Result<Vec<Vec<u8>>> = pairs.par_chunks(PAIRS_PER_PIECE).map(piece).collect();
        for piece in pieces? {
            self.output.buffer().extend_from_slice(&piece);
            self.output.pass_on()?;
        }
        Ok(())
    }

    fn line_maker(&self) -> Option<LineMaker> {
        Some(LineMaker { context: self.context.clone(), line: self.body.shared_line()? })
    }

    fn write_lines(&mut self, lines: &[u8]) -> Result<()> {
        self.output.append(lines)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.body.end(&self.context, &mut self.output)?;
        self.output.finish()
    }
}
