//! Steps over buffers that the caller owns, encoded and submitted together.

use std::ops::Range;

use crate::gpu::device::Gpu;
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::gpu::timer::{PassTimer, TIME_BYTES};

/// A pipeline with the buffers that its dispatches use.
#[derive(Clone)]
pub(crate) struct BoundProgram {
    /// The pipeline.
    pub pipeline: wgpu::ComputePipeline,
    /// Its buffers.
    pub group: wgpu::BindGroup,
}

/// One step of the device.
enum DeviceStep {
    /// Sets bytes to 0.
    Zero { buffer: wgpu::Buffer, bytes: Range<u64> },
    /// Copies `bytes` bytes from `offset` of one buffer to the start of another.
    Copy { from: wgpu::Buffer, offset: u64, to: wgpu::Buffer, bytes: u64 },
    /// Runs a program.
    Dispatch(DispatchStep),
    /// Starts another command buffer of the same submission.
    Split,
    /// Starts another submission.
    Cut,
}

/// One run of a program.
struct DispatchStep {
    /// Index of the program in the list given to [`Commands::submit`].
    program: usize,
    /// Offset of the parameters in the uniform buffer, in bytes.
    params_offset: u32,
    workgroups: [u32; 3],
}

/// Steps of the device in their order, and the ranges that the host reads afterwards.
#[derive(Default)]
pub(crate) struct Commands {
    steps: Vec<DeviceStep>,
    copies_back: Vec<(wgpu::Buffer, Range<u64>)>,
}

/// Divides workgroups over x and y so that neither dimension exceeds `limit`. The last row may be
/// incomplete, so kernels compare their index with the number of tasks.
pub(crate) fn fold(workgroups: u64, limit: u32) -> [u32; 3] {
    let rows = workgroups.div_ceil(u64::from(limit)).max(1);
    [workgroups.div_ceil(rows) as u32, rows as u32, 1]
}

impl Commands {
    /// Sets a range of a buffer, in bytes, to 0.
    pub(crate) fn zero(&mut self, buffer: &wgpu::Buffer, bytes: Range<u64>) {
        self.steps.push(DeviceStep::Zero { buffer: buffer.clone(), bytes });
    }

    /// Copies `bytes` bytes from `offset` of one buffer to the start of another.
    pub(crate) fn copy(&mut self, from: &wgpu::Buffer, offset: u64, to: &wgpu::Buffer, bytes: u64) {
        self.steps.push(DeviceStep::Copy { from: from.clone(), offset, to: to.clone(), bytes });
    }

    /// Runs the program with this index, with its parameters at `params_offset` of the uniform
    /// buffer.
    pub(crate) fn dispatch(&mut self, program: usize, params_offset: u32, workgroups: [u32; 3]) {
        self.steps.push(DeviceStep::Dispatch(DispatchStep { program, params_offset, workgroups }));
    }

    /// Starts another command buffer of the same submission. The barriers at its start cover
    /// everything that it uses first.
    pub(crate) fn split(&mut self) {
        self.steps.push(DeviceStep::Split);
    }

    /// Starts another submission, so that drivers count the time of each one separately.
    pub(crate) fn cut(&mut self) {
        self.steps.push(DeviceStep::Cut);
    }

    /// Copies a range of a buffer, in bytes, to the host after the last step. The results contain
    /// the ranges one after another.
    pub(crate) fn copy_back(&mut self, buffer: &wgpu::Buffer, bytes: Range<u64>) {
        self.copies_back.push((buffer.clone(), bytes));
    }

    /// Returns whether a program runs.
    pub(super) fn has_dispatches(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, DeviceStep::Dispatch(_)))
    }

    /// Returns the number of bytes that are copied to the host.
    pub(crate) fn bytes_back(&self) -> u64 {
        self.copies_back.iter().map(|(_, bytes)| bytes.end - bytes.start).sum()
    }

    /// Returns the bytes that a staging buffer needs for the results and, with a clock, their
    /// times.
    pub(crate) fn staging_bytes(&self, has_clock: bool) -> u64 {
        if has_clock { self.time_offset() + TIME_BYTES } else { self.bytes_back() }
    }

    /// Offset of the times in the staging buffer, in bytes.
    fn time_offset(&self) -> u64 {
        self.bytes_back().next_multiple_of(8)
    }

    /// Encodes and submits all steps, and requests the results in `staging`. Does not wait.
    ///
    /// With a `clock`, the times of the first and the last dispatch follow the results.
    pub(crate) fn submit(
        self,
        gpu: &Gpu,
        label: &str,
        programs: &[BoundProgram],
        staging: &wgpu::Buffer,
        clock: Option<&PassTimer>,
    ) -> Readback {
        let (bytes, time_offset) = (self.staging_bytes(clock.is_some()), self.time_offset());
        let has_dispatches = self.has_dispatches();
        let mut encoding = encode(gpu, label, self.steps, programs, clock);
        let mut offset = 0;
        for (buffer, bytes) in &self.copies_back {
            let count = bytes.end - bytes.start;
            encoding.encoder.copy_buffer_to_buffer(buffer, bytes.start, staging, offset, count);
            offset += count;
        }
        if let Some(clock) = clock.filter(|_| has_dispatches) {
            clock.resolve(&mut encoding.encoder, staging, time_offset);
        }
        Readback::begin(staging, bytes, encoding.submit())
    }

    /// Encodes and submits all steps without results. Does not wait.
    pub(crate) fn execute(self, gpu: &Gpu, label: &str) {
        encode(gpu, label, self.steps, &[], None).submit();
    }
}

/// Encodes steps. Consecutive dispatches share a pass. A clock times the first and the last
/// dispatch.
fn encode<'a>(
    gpu: &'a Gpu,
    label: &str,
    steps: Vec<DeviceStep>,
    programs: &[BoundProgram],
    clock: Option<&PassTimer>,
) -> Encoding<'a> {
    let mut encoding = Encoding::new(gpu);
    let mut left = steps.iter().filter(|step| matches!(step, DeviceStep::Dispatch(_))).count();
    let mut is_first = true;
    let mut steps = steps.into_iter().peekable();
    while let Some(step) = steps.next() {
        let mut next = match step {
            DeviceStep::Zero { buffer, bytes } => {
                encoding.encoder.clear_buffer(&buffer, bytes.start, Some(bytes.end - bytes.start));
                continue;
            }
            DeviceStep::Copy { from, offset, to, bytes } => {
                encoding.encoder.copy_buffer_to_buffer(&from, offset, &to, 0, bytes);
                continue;
            }
            DeviceStep::Split => {
                encoding.split();
                continue;
            }
            DeviceStep::Cut => {
                encoding.submit();
                continue;
            }
            DeviceStep::Dispatch(dispatch) => Some(dispatch),
        };
        let mut run = Vec::new();
        while let Some(dispatch) = next {
            run.push(dispatch);
            let follower = steps.next_if(|step| matches!(step, DeviceStep::Dispatch(_)));
            next =
                follower.and_then(|step| if let DeviceStep::Dispatch(dispatch) = step { Some(dispatch) } else { None });
        }
        left -= run.len();
        let encoder = &mut encoding.encoder;
        let mut pass = match clock {
            Some(clock) => clock.begin_pass(encoder, label, is_first, left == 0),
            None => {
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes: None })
            }
        };
        is_first = false;
        for DispatchStep { program, params_offset, workgroups: [x, y, z] } in run {
            pass.set_pipeline(&programs[program].pipeline);
            pass.set_bind_group(0, &programs[program].group, &[params_offset]);
            pass.dispatch_workgroups(x, y, z);
        }
    }
    encoding
}

/// Command buffers under construction.
struct Encoding<'a> {
    gpu: &'a Gpu,
    encoder: wgpu::CommandEncoder,
    finished: Vec<wgpu::CommandBuffer>,
}

impl<'a> Encoding<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let encoder = gpu.device.create_command_encoder(&Default::default());
        Encoding { gpu, encoder, finished: Vec::new() }
    }

    /// Starts another command buffer.
    fn split(&mut self) {
        let next = self.gpu.device.create_command_encoder(&Default::default());
        self.finished.push(std::mem::replace(&mut self.encoder, next).finish());
    }

    /// Submits all command buffers so far.
    fn submit(&mut self) -> wgpu::SubmissionIndex {
        self.split();
        self.gpu.queue.submit(self.finished.drain(..))
    }
}

impl Compiled {
    /// Binds buffers by the names in the kernel's row.
    pub(crate) fn bound(&self, gpu: &Gpu, buffers: &[(&str, &wgpu::Buffer)]) -> crate::error::Result<BoundProgram> {
        Ok(BoundProgram { pipeline: self.pipeline.clone(), group: self.bind(gpu, buffers)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_workgroups_cover_all_and_waste_less_than_a_row() {
        for limit in [3, 65_535] {
            let limits = u64::from(limit);
            for workgroups in [0, 1, limits - 1, limits, limits + 1, 2 * limits, 3 * limits - 1, limits * limits] {
                let [x, y, z] = fold(workgroups, limit);
                assert!(x <= limit && y >= 1 && y <= limit && z == 1, "{workgroups} of {limit}: {x} {y}");
                let all = u64::from(x) * u64::from(y);
                assert!((workgroups..workgroups + u64::from(y)).contains(&all), "{workgroups} of {limit}: {all}");
            }
        }
    }
}
