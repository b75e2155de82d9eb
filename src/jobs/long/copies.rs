//! Copies of the sequences of a pair, which its matrices share.

use std::sync::Arc;

use super::bound::TargetWords;
use super::circular::unroll;
use crate::seq::{Code, SequenceId, SequenceStore, Strand, reverse_complement};

/// The form of a sequence in the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SequenceForm {
    /// Each symbol once.
    Linear,
    /// As [`circular`](super::circular) describes.
    Unrolled,
}

impl SequenceForm {
    /// Returns the form of a sequence.
    pub(super) fn of_sequence(is_circular: bool) -> Self {
        if is_circular { SequenceForm::Unrolled } else { SequenceForm::Linear }
    }

    fn codes(self, mut codes: Vec<Code>) -> Arc<[Code]> {
        if self == SequenceForm::Unrolled {
            unroll(&mut codes);
        }
        codes.into()
    }
}

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
    /// Returns a strand of a query, unrolled if it is circular. All calls must have the same store
    /// and form.
    pub(super) fn query(
        &mut self,
        store: &SequenceStore,
        id: SequenceId,
        strand: Strand,
        form: SequenceForm,
    ) -> Arc<[Code]> {
        match strand {
            Strand::Plus => CodeCopy::get(&mut self.plus, id, || form.codes(store.codes(id).to_vec())),
            Strand::Minus => CodeCopy::get(&mut self.minus, id, || form.codes(reverse_complement(store.codes(id)))),
        }
    }

    /// Returns a target, unrolled if it is circular. All calls must have the same store and form.
    pub(super) fn target(&mut self, store: &SequenceStore, id: SequenceId, form: SequenceForm) -> Arc<[Code]> {
        CodeCopy::get(&mut self.target, id, || form.codes(store.codes(id).to_vec()))
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
