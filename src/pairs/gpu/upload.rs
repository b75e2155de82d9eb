//! What every batch brings to the device beside the sequences: parameters, targets, tasks, the table.

use std::sync::Arc;

use super::resident::Resident;
use crate::error::Result;
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::pairs::Band;
use crate::pairs::kernels::layout::Target;
use crate::seq::{SequenceId, SequenceStore};

/// Buffers that batches fill one after the other.
#[derive(Default)]
pub(super) struct Uploads {
    params: GrowingBuffer,
    targets: GrowingBuffer,
    tasks: GrowingBuffer,
    table: GrowingBuffer,
    /// What the buffer of targets holds, if that is the whole order of a band over a whole store: the next batch of the slot
    /// mostly is of the same band.
    held: Option<(Arc<[SequenceId]>, Arc<SequenceStore>)>,
}

/// The buffers of one batch.
pub(super) struct Uploaded {
    params: wgpu::Buffer,
    targets: wgpu::Buffer,
    tasks: wgpu::Buffer,
    table: wgpu::Buffer,
    /// Bytes from the parameters of one dispatch to those of the next.
    pub params_stride: u32,
}

impl Uploads {
    /// Fills the buffers, with tasks and parameters of dispatches as the kernel has them.
    pub(super) fn fill<T: bytemuck::Pod, P: bytemuck::Pod>(
        &mut self,
        gpu: &Gpu,
        band: &Band,
        resident_targets: &Resident,
        tasks: &[T],
        table: &[i32],
        dispatches: impl ExactSizeIterator<Item = P>,
    ) -> Result<Uploaded> {
        let targets = self.targets(gpu, band, resident_targets)?;
        let stride = size_of::<P>().next_multiple_of(gpu.device.limits().min_uniform_buffer_offset_alignment as usize);
        let mut params = vec![0u8; stride * dispatches.len()];
        for (place, dispatch) in params.chunks_mut(stride).zip(dispatches) {
            place[..size_of::<P>()].copy_from_slice(bytemuck::bytes_of(&dispatch));
        }
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(Uploaded {
            params: fill(gpu, &mut self.params, "parameters", wgpu::BufferUsages::UNIFORM, &params)?,
            targets,
            tasks: fill(gpu, &mut self.tasks, "tasks", storage, bytemuck::cast_slice(tasks))?,
            table: fill(gpu, &mut self.table, "table", storage, bytemuck::cast_slice(table))?,
            params_stride: stride as u32,
        })
    }

    /// Whether the buffer of targets holds those of a band.
    fn holds(&self, band: &Band, resident: &Resident) -> bool {
        let is_same = |(order, store): &(Arc<[SequenceId]>, Arc<SequenceStore>)| {
            Arc::ptr_eq(order, &band.order) && Arc::ptr_eq(store, &band.targets)
        };
        // Where a part of a store lies differs from batch to batch.
        resident.is_whole() && self.held.as_ref().is_some_and(is_same)
    }

    /// The targets of a band, uploaded unless the buffer holds them.
    fn targets(&mut self, gpu: &Gpu, band: &Band, resident: &Resident) -> Result<wgpu::Buffer> {
        if self.holds(band, resident)
            && let Some(buffer) = self.targets.get()
        {
            return Ok(buffer.clone());
        }
        self.held = None;
        let target = |&id: &SequenceId| Target {
            end_word: resident.end_word(&band.targets, id),
            symbols: band.targets.length(id),
            number: id,
        };
        let targets: Vec<Target> = band.order.iter().map(target).collect();
        let storage = wgpu::BufferUsages::STORAGE;
        let buffer = fill(gpu, &mut self.targets, "targets", storage, bytemuck::cast_slice(&targets))?;
        self.held = resident.is_whole().then(|| (Arc::clone(&band.order), Arc::clone(&band.targets)));
        Ok(buffer)
    }
}

/// Writes what a buffer is to hold, after what was submitted before has read what it held.
pub(super) fn fill(
    gpu: &Gpu,
    buffer: &mut GrowingBuffer,
    label: &str,
    usage: wgpu::BufferUsages,
    content: &[u8],
) -> Result<wgpu::Buffer> {
    let buffer = buffer.reserve(gpu, label, content.len() as u64, usage | wgpu::BufferUsages::COPY_DST)?;
    gpu.queue.write_buffer(buffer, 0, content);
    Ok(buffer.clone())
}

impl Uploaded {
    /// The bindings of a kernel: these buffers, the sequences, and its own.
    pub(super) fn bind(
        &self,
        gpu: &Gpu,
        program: &Compiled,
        queries: &Resident,
        targets: &Resident,
        own: &[(&str, &wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup> {
        let shared = [
            ("params", &self.params),
            ("query_words", &queries.buffer),
            ("target_words", &targets.buffer),
            ("targets", &self.targets),
            ("tasks", &self.tasks),
            ("table", &self.table),
        ];
        program.bind(gpu, &[&shared, own].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;
    use crate::gpu::resident::Residents;
    use crate::pairs::gpu::resident::ResidentStores;
    use crate::pairs::gpu::tune::random_batch;
    use crate::pairs::kernels::layout::{Params, Task};
    use crate::pairs::{Batch, Want};
    use crate::score::Scoring;

    #[test]
    fn targets_are_uploaded_once_a_band() {
        let Some(found) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let gpu = Gpu::open(&found).unwrap();
        let scoring = Arc::new(Scoring::truong());
        let [one, two] = [9, 12].map(|count| random_batch(&scoring, count, count, 20, Want::Scores));
        let mut uploads = Uploads::default();
        let mut fill = |batch: &Batch| {
            let stores = ResidentStores::new(u64::MAX);
            let [_, targets] = stores.of_batch(&gpu, &mut Residents::default(), batch).unwrap();
            let held = uploads.holds(&batch.band, &targets);
            uploads.fill::<Task, Params>(&gpu, &batch.band, &targets, &[], &[0; 4], std::iter::empty()).unwrap();
            held
        };
        // Batches of a band after each other, and of two bands in turn.
        let held: Vec<bool> = [&one, &one, &two, &two, &one].into_iter().map(|batch| fill(batch)).collect();
        assert_eq!(held, [false, true, false, true, false]);
    }
}
