//! Upload of lists: several threads write them directly to a buffer that the device copies from.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::readback::wait_for_callback;

/// Number of u32 values that one thread writes at a time. They stay in the thread's L1 cache until
/// they are copied to the buffer in one go.
const PIECE_WORDS: usize = 1 << 12;
const PIECE_BYTES: usize = 4 * PIECE_WORDS;

/// Longest time to wait until a buffer is mapped.
const CALLBACK_PATIENCE: Duration = Duration::from_secs(60);

/// A list to upload. Each entry consists of 1, 2 or 4 u32 values.
pub(super) struct StagedList<'a> {
    /// Number of u32 values.
    pub words: usize,
    /// Writes the u32 values from an index on, which must start an entry.
    pub write: &'a (dyn Fn(usize, &mut [u32]) + Sync),
}

/// A buffer that the host writes and the device copies from, reused for all batches.
#[derive(Default)]
pub(super) struct Staging {
    buffer: Option<wgpu::Buffer>,
}

impl Staging {
    /// Writes the lists one after the other and returns the byte offset of each. The device must
    /// have finished copying the previous contents. The returned buffer is ready to be copied from.
    pub(super) fn fill<const LISTS: usize>(
        &mut self,
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        label: &str,
        lists: [StagedList<'_>; LISTS],
    ) -> Result<(wgpu::Buffer, [u64; LISTS])> {
        let mut bytes = 0;
        let begins = lists.each_ref().map(|list| {
            let begin = bytes;
            bytes += 4 * list.words as u64;
            begin
        });
        let buffer = match self.buffer.take().filter(|buffer| buffer.size() >= bytes) {
            Some(buffer) => buffer,
            // Slightly more than required, because batches differ in size.
            None => {
                gpu.buffer(label, bytes + bytes / 8, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC)?
            }
        };
        if bytes > 0 {
            map(gpu, &buffer, bytes)?;
            let error = |error| gpu.error(format!("{label} could not be written: {error}"));
            let mut view = buffer.slice(..bytes).get_mapped_range_mut().map_err(error)?;
            let mut rest = view.slice(..);
            let write = |list: &StagedList<'_>, first: usize, mut piece: wgpu::WriteOnly<'_, [u8]>| {
                let mut words = [0u32; PIECE_WORDS];
                let piece_words = &mut words[..piece.len() / 4];
                (list.write)(first, piece_words);
                piece.copy_from_slice(bytemuck::cast_slice(piece_words));
            };
            let mut pieces = Vec::with_capacity(bytes as usize / PIECE_BYTES);
            for list in &lists {
                let (list_bytes, others) = rest.split_at(4 * list.words);
                rest = others;
                let (whole, last) = list_bytes.into_chunks::<PIECE_BYTES>();
                let before = pieces.len();
                pieces.extend(whole.into_iter().enumerate().map(|(number, piece)| (list, number * PIECE_WORDS, piece)));
                write(list, (pieces.len() - before) * PIECE_WORDS, last);
            }
            let write_piece =
                |(list, first, piece): (&StagedList<'_>, usize, _)| write(list, first, wgpu::WriteOnly::into(piece));
            pool.install(|| pieces.into_par_iter().for_each(write_piece));
            drop(view);
            buffer.unmap();
        }
        self.buffer = Some(buffer.clone());
        Ok((buffer, begins))
    }
}

fn map(gpu: &Gpu, buffer: &wgpu::Buffer, bytes: u64) -> Result<()> {
    let (sender, mapped) = mpsc::channel();
    buffer.slice(..bytes).map_async(wgpu::MapMode::Write, move |result| {
        // The receiver is gone only if the result is no longer needed.
        let _ = sender.send(result);
    });
    // No submission uses the buffer, so the next poll maps it.
    gpu.device.poll(wgpu::PollType::Poll).map_err(|error| gpu.error(format!("waiting failed: {error}")))?;
    wait_for_callback(gpu, &mapped, Instant::now() + CALLBACK_PATIENCE)
}
