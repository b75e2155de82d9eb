//! Lists on their way to the device: written by many threads where the device's copy reads them.

use std::sync::mpsc;

use rayon::prelude::*;

use crate::error::Result;
use crate::gpu::device::Gpu;

/// Bytes that one thread writes at a time.
const PIECE_BYTES: usize = 64 << 10;

/// A buffer that the host writes and the device copies from, used again and again.
#[derive(Default)]
pub(super) struct Staging {
    buffer: Option<wgpu::Buffer>,
}

impl Staging {
    /// Fills the buffer with entries of `N` bytes, a power of two: `entry(i)` is the i-th. To be called when the device has copied what was
    /// in it before; the buffer is then ready to be copied from.
    pub(super) fn fill<const N: usize>(
        &mut self,
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        label: &str,
        count: usize,
        entry: impl Fn(usize) -> [u8; N] + Sync,
    ) -> Result<wgpu::Buffer> {
        let bytes = (count * N) as u64;
        let buffer = match self.buffer.take().filter(|buffer| buffer.size() >= bytes) {
            Some(buffer) => buffer,
            // A little more than is asked for: batches differ.
            None => {
                gpu.buffer(label, bytes + bytes / 8, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC)?
            }
        };
        if count > 0 {
            map(gpu, &buffer, bytes)?;
            let error = |error| gpu.error(format!("{label} could not be written: {error}"));
            let mut view = buffer.slice(..bytes).get_mapped_range_mut().map_err(error)?;
            let write = |first: usize, mut piece: wgpu::WriteOnly<'_, [u8]>| {
                let mut written = Vec::with_capacity(piece.len());
                (first..first + piece.len() / N).for_each(|index| written.extend_from_slice(&entry(index)));
                piece.copy_from_slice(&written);
            };
            let (pieces, last) = view.slice(..).into_chunks::<PIECE_BYTES>();
            let whole = pieces.len();
            let pieces: Vec<_> = pieces.into_iter().enumerate().collect();
            let write_piece =
                |(index, piece): (usize, _)| write(index * (PIECE_BYTES / N), wgpu::WriteOnly::into(piece));
            pool.install(|| pieces.into_par_iter().for_each(write_piece));
            write(whole * (PIECE_BYTES / N), last);
            drop(view);
            buffer.unmap();
        }
        self.buffer = Some(buffer.clone());
        Ok(buffer)
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
