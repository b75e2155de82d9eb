//! Parameters of dispatches, stored one after another in a uniform buffer.

use crate::gpu::device::Gpu;

/// The contents of a uniform buffer that dispatches bind at different offsets.
pub(crate) struct Uniforms {
    bytes: Vec<u8>,
    /// Alignment of offsets in bytes, which the device demands.
    alignment: usize,
}

impl Uniforms {
    /// Creates an empty list.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        Uniforms { bytes: Vec::new(), alignment: alignment(gpu) }
    }

    /// Returns the number of bytes that the parameters of `dispatches` dispatches occupy.
    pub(crate) fn bytes_of<P>(gpu: &Gpu, dispatches: u32) -> u64 {
        size_of::<P>().next_multiple_of(alignment(gpu)) as u64 * u64::from(dispatches)
    }

    /// Appends the parameters of one dispatch and returns their offset in bytes.
    pub(crate) fn push<P: bytemuck::Pod>(&mut self, params: &P) -> u32 {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::bytes_of(params));
        self.bytes.resize(self.bytes.len().next_multiple_of(self.alignment), 0);
        offset as u32
    }

    /// Returns the contents of the buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the alignment of offsets that the device demands, in bytes.
fn alignment(gpu: &Gpu) -> usize {
    gpu.device.limits().min_uniform_buffer_offset_alignment as usize
}
