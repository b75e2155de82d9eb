//! Sequences on the device: a whole store that is uploaded once, or the part of a larger store that
//! a batch needs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::resident::Residents;
use crate::pairs::PairsBatch;
use crate::seq::{SequenceId, SequenceStore};

/// Packed sequences in a buffer.
#[derive(Debug)]
pub(super) struct ResidentSequences {
    /// The buffer.
    pub buffer: wgpu::Buffer,
    /// End of each sequence in words. `None` if the buffer is a copy of the whole store.
    end_words: Option<HashMap<SequenceId, u32>>,
}

impl ResidentSequences {
    /// Returns whether the buffer is a copy of the whole store.
    pub(super) fn is_whole(&self) -> bool {
        self.end_words.is_none()
    }

    /// Returns the index of the word after a sequence's last symbol, or 0 if the buffer does not
    /// contain the sequence.
    pub(super) fn end_word(&self, store: &SequenceStore, id: SequenceId) -> u32 {
        match &self.end_words {
            None => store.end_word(id) as u32,
            Some(end_words) => end_words.get(&id).copied().unwrap_or(0),
        }
    }
}

/// Uploads stores to the device.
#[derive(Debug)]
pub(super) struct ResidentStores {
    /// Size of the largest buffer of sequences in bytes.
    limit: u64,
}

impl ResidentStores {
    /// Limits every buffer to `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        ResidentStores { limit }
    }

    /// Returns the size of the largest buffer of sequences in bytes.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Lowers the limit of buffers.
    pub(super) fn limit_to(&mut self, bytes: u64) {
        self.limit = self.limit.min(bytes) & !3;
    }

    /// Returns buffers with a batch's queries and targets.
    pub(super) fn for_batch(
        &self,
        gpu: &Gpu,
        residents: &mut Residents,
        batch: &PairsBatch,
    ) -> Result<[Arc<ResidentSequences>; 2]> {
        let chunk = &batch.chunk;
        let queries = self.get(gpu, residents, &chunk.queries, batch.blocks.iter().map(|block| block.query))?;
        let indices = batch.blocks.iter().flat_map(|block| block.targets.clone());
        let targets = self.get(gpu, residents, &chunk.targets, indices.map(|index| chunk.order[index as usize]))?;
        Ok([queries, targets])
    }

    /// Returns a buffer that contains at least the sequences `ids` of a store.
    fn get(
        &self,
        gpu: &Gpu,
        residents: &mut Residents,
        store: &Arc<SequenceStore>,
        ids: impl Iterator<Item = SequenceId>,
    ) -> Result<Arc<ResidentSequences>> {
        let bytes = store.packed_bytes().len() as u64;
        if bytes <= self.limit {
            if let Some(resident) = residents.find(store, |_: &ResidentSequences| true) {
                return Ok(resident);
            }
            residents.make_room(bytes);
            let resident =
                ResidentSequences { buffer: gpu.upload("sequences", store.packed_bytes())?, end_words: None };
            return Ok(residents.keep(store, resident.buffer.size(), resident));
        }
        let ids: BTreeSet<SequenceId> = ids.collect();
        let bytes: u64 = ids.iter().map(|&id| store.packed_sequence(id).len() as u64).sum();
        if bytes > self.limit {
            return Err(gpu.refusal(format!("{bytes} bytes of sequences exceed its limit of {}", self.limit)));
        }
        let mut packed = Vec::with_capacity(bytes as usize);
        let mut end_words = HashMap::with_capacity(ids.len());
        for id in ids {
            packed.extend_from_slice(store.packed_sequence(id));
            end_words.insert(id, (packed.len() / 4) as u32);
        }
        residents.make_room(bytes);
        let buffer = gpu.upload("some sequences", &packed)?;
        Ok(residents.count(buffer.size(), ResidentSequences { buffer, end_words: Some(end_words) }))
    }
}
