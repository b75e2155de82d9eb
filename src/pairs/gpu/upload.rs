//! Uploads the data that every batch of pairs needs in addition to the sequences: targets, tasks
//! and the score table.

use std::sync::Arc;

use super::resident::ResidentSequences;
use crate::error::Result;
use crate::gpu::launch::Recording;
use crate::pairs::PairsChunk;
use crate::pairs::kernels::layout::NwTarget;
use crate::seq::{SequenceId, SequenceStore};

/// Input of every kernel for pairs.
pub(super) struct Inputs<'a, T> {
    /// The queries, the targets and their order.
    pub chunk: &'a PairsChunk,
    /// The queries on the device.
    pub queries: &'a ResidentSequences,
    /// The targets on the device.
    pub targets: &'a ResidentSequences,
    /// Tasks in the layout of the kernel.
    pub tasks: &'a [T],
    /// Scores of diagonal steps in the layout of the kernel.
    pub table: &'a [i32],
}

/// Content of a slot's target buffer, if it is the whole order of a chunk over a whole store. The
/// slot's next batch usually belongs to the same chunk, so it can use the same content.
#[derive(Default)]
pub(super) struct HeldTargets(Option<(Arc<[SequenceId]>, Arc<SequenceStore>)>);

impl HeldTargets {
    /// Records the input of a batch. Uploads targets only if the slot's buffer does not contain
    /// them already.
    pub(super) fn record<T: bytemuck::Pod>(
        &mut self,
        recording: &mut Recording<'_>,
        inputs: &Inputs<'_, T>,
    ) -> Result<()> {
        let Inputs { chunk, queries, targets, tasks, table } = *inputs;
        recording.resident("query_words", &queries.buffer);
        recording.resident("target_words", &targets.buffer);
        if !(self.holds(chunk, targets) && recording.reuse("targets")) {
            self.0 = None;
            let target = |&id: &SequenceId| NwTarget {
                end_word: targets.end_word(&chunk.targets, id),
                symbols: chunk.targets.length(id),
                number: id,
            };
            let all: Vec<NwTarget> = chunk.order.iter().map(target).collect();
            recording.upload("targets", &all)?;
            self.0 = targets.is_whole().then(|| (Arc::clone(&chunk.order), Arc::clone(&chunk.targets)));
        }
        recording.upload("tasks", tasks)?;
        recording.upload("table", table)
    }

    /// Returns whether the buffer already contains the targets of a chunk.
    fn holds(&self, chunk: &PairsChunk, resident: &ResidentSequences) -> bool {
        let is_same = |(order, store): &(Arc<[SequenceId]>, Arc<SequenceStore>)| {
            Arc::ptr_eq(order, &chunk.order) && Arc::ptr_eq(store, &chunk.targets)
        };
        // If only part of a store is on the device, positions differ from batch to batch.
        resident.is_whole() && self.0.as_ref().is_some_and(is_same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;
    use crate::gpu::device::Gpu;
    use crate::gpu::launch::{Buffers, Slot};
    use crate::gpu::resident::Residents;
    use crate::pairs::gpu::resident::ResidentStores;
    use crate::pairs::gpu::tune::random_batch;
    use crate::pairs::kernels::layout::NwTask;
    use crate::pairs::{PairsBatch, ResultFilter};
    use crate::score::Scoring;

    #[test]
    fn targets_are_uploaded_once_per_chunk() {
        let Some(adapter) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let gpu = Gpu::open(&adapter).unwrap();
        let scoring = Arc::new(Scoring::truong());
        let [one, two] = [9, 12].map(|count| random_batch(&scoring, count, count, 20, ResultFilter::Scores));
        let (mut buffers, mut held_targets) = (Buffers::new(&gpu), HeldTargets::default());
        let mut fill = |batch: &PairsBatch| {
            let stores = ResidentStores::new(u64::MAX);
            let [queries, targets] = &stores.for_batch(&gpu, &mut Residents::default(), batch).unwrap();
            let held = held_targets.holds(&batch.chunk, targets);
            let tasks: &[NwTask] = &[];
            let inputs = Inputs { chunk: &batch.chunk, queries, targets, tasks, table: &[0; 4] };
            held_targets.record(&mut buffers.record(&gpu), &inputs).unwrap();
            held
        };
        // Batches of one chunk in succession, then of two chunks alternately.
        let held: Vec<bool> = [&one, &one, &two, &two, &one].into_iter().map(|batch| fill(batch)).collect();
        assert_eq!(held, [false, true, false, true, false]);
    }
}
