//! Checks the fields of a job for a long pair.

use super::{LongAlignment, Strands};
use crate::error::{Error, Result};
use crate::score::Mode;
use crate::seq::{Alphabet, SequenceId, SequenceStore};

impl LongAlignment {
    /// Checks that the fields of the job are valid together.
    pub(super) fn check(&self) -> Result<()> {
        let missing =
            |store: &SequenceStore| format!("numbers start at 0, and the number of sequences is {}", store.len());
        if self.query_id as usize >= self.query.len() {
            return Err(Error::usage_value("query_id", self.query_id, missing(&self.query)));
        }
        if self.target_id as usize >= self.target.len() {
            return Err(Error::usage_value("target_id", self.target_id, missing(&self.target)));
        }
        if let Some(wrong) = self.unsuitable(&self.query, self.query_id, self.rows_of(self.query_id)) {
            return Err(Error::usage_of("query", wrong));
        }
        if let Some(wrong) = self.unsuitable(&self.target, self.target_id, self.columns_of(self.target_id)) {
            return Err(Error::usage_of("target", wrong));
        }
        self.scoring.check_gaps()?;
        if self.strand != Strands::Plus && self.scoring.alphabet != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a minus strand"));
        }
        self.check_top(self.top)?;
        let is_local = self.scoring.mode == Mode::Local;
        if self.circular.any() && !is_local {
            return Err(Error::usage_of("circular", "only local alignments cross the origin: use local mode"));
        }
        if is_local && self.min_score < 1 {
            return Err(Error::usage_value("min_score", self.min_score, "a local alignment scores at least 1"));
        }
        if self.strip == Some(0) {
            return Err(Error::usage_value("strip", 0, "strips have at least one column"));
        }
        if self.chunk == Some(0) {
            return Err(Error::usage_value("chunk", 0, "chunks have at least one row"));
        }
        Ok(())
    }

    /// Checks the maximum number of alignments of a pair.
    pub(super) fn check_top(&self, top: u32) -> Result<()> {
        if top == 0 {
            return Err(Error::usage_value("top", top, "at least 1 is needed"));
        }
        if top > 1 && self.scoring.mode != Mode::Local {
            return Err(Error::usage_value("top", top, "only local mode finds several alignments of a pair"));
        }
        Ok(())
    }

    /// Returns the reason why this job cannot align a sequence that has `lines` rows or columns of
    /// the matrix; `None` if it can.
    fn unsuitable(&self, store: &SequenceStore, id: SequenceId, lines: u64) -> Option<String> {
        if store.alphabet() != self.scoring.alphabet {
            let (read, scored) = (store.alphabet().letters(), self.scoring.alphabet.letters());
            return Some(format!("it contains {read}, but the scores are for {scored}"));
        }
        if store.length(id) == u32::MAX {
            return Some(format!("it is longer than {} symbols", u32::MAX - 1));
        }
        let is_too_long = lines >= u32::MAX.into();
        is_too_long.then(|| format!("it is longer than {} symbols, the limit of circular sequences", u32::MAX / 2))
    }
}
