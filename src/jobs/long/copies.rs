//! Copies of the sequences of a pair, which its matrices share.

use std::sync::Arc;

use super::bound::TargetWords;
use crate::seq::{Code, SequenceId, SequenceStore, Strand, reverse_complement};

/// Sequences of the last pair. The next pair reuses a sequence that it shares with the last pair.
/// Devices keep them in memory and recognise them by their addresses.
#[derive(Debug, Default)]
pub(super) struct CodeCopies {
    plus: Option<CodeCopy>,
    minus: Option<CodeCopy>,
    target: Option<CodeCopy>,
    /// Words of the last target of a bound.
    pub(super) target_words: Option<TargetWords>,
}

#[derive(Debug)]
struct CodeCopy {
    id: SequenceId,
    codes: Arc<[Code]>,
}

impl CodeCopies {
    /// Returns a strand of a query. All calls must have the same store.
    pub(super) fn query(&mut self, store: &SequenceStore, id: SequenceId, strand: Strand) -> Arc<[Code]> {
        match strand {
            Strand::Plus => CodeCopy::get(&mut self.plus, id, || store.codes(id).into()),
            Strand::Minus => CodeCopy::get(&mut self.minus, id, || reverse_complement(store.codes(id)).into()),
        }
    }

    /// Returns a target. All calls must have the same store.
    pub(super) fn target(&mut self, store: &SequenceStore, id: SequenceId) -> Arc<[Code]> {
        CodeCopy::get(&mut self.target, id, || store.codes(id).into())
    }
}

impl CodeCopy {
    fn get(last: &mut Option<CodeCopy>, id: SequenceId, copy: impl FnOnce() -> Arc<[Code]>) -> Arc<[Code]> {
        match last {
            Some(last) if last.id == id => Arc::clone(&last.codes),
            _ => Arc::clone(&last.insert(CodeCopy { id, codes: copy() }).codes),
        }
    }
}
