//! Lists on their way to the device: written by many threads where the device's copies read them.

use std::sync::mpsc;

use rayon::prelude::*;

use crate::error::Result;
use crate::gpu::device::Gpu;

/// Words that one thread writes at a time: they stay in its nearest cache until they are copied as a whole.
const PIECE_WORDS: usize = 1 << 12;
const PIECE_BYTES: usize = 4 * PIECE_WORDS;

/// A list to be written. Its entries take 1, 2 or 4 words.
pub(super) struct List<'a> {
    /// Words that it has.
    pub words: usize,
    /// Writes its words from one on, which begins an entry.
    pub write: &'a (dyn Fn(usize, &mut [u32]) + Sync),
}

/// A buffer that the host writes and the device copies from, used again and again.
#[derive(Default)]
pub(super) struct Staging {
    buffer: Option<wgpu::Buffer>,
}

impl Staging {
    /// Writes lists one after the other; gives the byte at which each begins. To be called when the device has copied what was
    /// in the buffer before; it is then ready to be copied from.
    pub(super) fn fill<const LISTS: usize>(
        &mut self,
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        label: &str,
        lists: [List<'_>; LISTS],
    ) -> Result<(wgpu::Buffer, [u64; LISTS])> {
        let mut bytes = 0;
        let begins = lists.each_ref().map(|list| {
            let begin = bytes;
            bytes += 4 * list.words as u64;
            begin
        });
        let buffer = match self.buffer.take().filter(|buffer| buffer.size() >= bytes) {
            Some(buffer) => buffer,
            // A little more than is asked for: batches differ.
            None => {
                gpu.buffer(label, bytes + bytes / 8, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC)?
            }
        };
        if bytes > 0 {
            map(gpu, &buffer, bytes)?;
            let error = |error| gpu.error(format!("{label} could not be written: {error}"));
            let mut view = buffer.slice(..bytes).get_mapped_range_mut().map_err(error)?;
            let mut rest = view.slice(..);
            let write = |list: &List<'_>, first: usize, mut piece: wgpu::WriteOnly<'_, [u8]>| {
                let mut words = [0u32; PIECE_WORDS];
                let own = &mut words[..piece.len() / 4];
                (list.write)(first, own);
                piece.copy_from_slice(bytemuck::cast_slice(own));
            };
            let mut pieces = Vec::with_capacity(bytes as usize / PIECE_BYTES);
            for list in &lists {
                let (own, others) = rest.split_at(4 * list.words);
                rest = others;
                let (whole, last) = own.into_chunks::<PIECE_BYTES>();
                let before = pieces.len();
                pieces.extend(whole.into_iter().enumerate().map(|(number, piece)| (list, number * PIECE_WORDS, piece)));
                write(list, (pieces.len() - before) * PIECE_WORDS, last);
            }
            let write_piece =
                |(list, first, piece): (&List<'_>, usize, _)| write(list, first, wgpu::WriteOnly::into(piece));
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
        // The receiver is gone only if nobody wants the result any more.
        let _ = sender.send(result);
    });
    for wait in [wgpu::PollType::Poll, wgpu::PollType::wait_indefinitely()] {
        let polled = gpu.device.poll(wait);
        match mapped.try_recv() {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => return Err(gpu.error(format!("lists could not be written: {error}"))),
            Err(_) => _ = polled.map_err(|error| gpu.error(format!("waiting failed: {error}")))?,
        }
    }
    Err(gpu.error("a buffer was never mapped"))
}
