//! The recording of one batch: uploads, dispatches and copies of buffers, which are named like the
//! kernels' bindings.

use std::ops::Range;

use super::buffers::Buffers;
use super::commands::{BoundProgram, Commands, fold};
use super::uniforms::Uniforms;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::pipeline::Compiled;

/// The steps of a batch, which use the buffers of its slot.
pub(crate) struct Recording<'a> {
    gpu: &'a Gpu,
    buffers: &'a mut Buffers,
    /// Buffers by the names of bindings; an array of bindings has one entry for each element.
    bound: Vec<(&'static str, wgpu::Buffer)>,
    programs: Vec<&'a Compiled>,
    uniforms: Uniforms,
    commands: Commands,
    /// Largest number of workgroups in one dimension of a dispatch.
    max_workgroups: u32,
    /// Smallest staging memory of the slot, in bytes of results.
    min_result_bytes: u64,
}

impl Buffers {
    /// Starts a batch.
    pub(crate) fn record<'a>(&'a mut self, gpu: &'a Gpu) -> Recording<'a> {
        Recording {
            buffers: self,
            bound: Vec::new(),
            programs: Vec::new(),
            uniforms: Uniforms::new(gpu),
            commands: Commands::default(),
            max_workgroups: gpu.device.limits().max_compute_workgroups_per_dimension,
            min_result_bytes: 0,
            gpu,
        }
    }
}

impl<'a> Recording<'a> {
    /// Binds a buffer that stays on the device from batch to batch.
    pub(crate) fn resident(&mut self, name: &'static str, buffer: &wgpu::Buffer) {
        self.bound.push((name, buffer.clone()));
    }

    /// Binds a buffer of the slot with this content.
    pub(crate) fn upload<T: bytemuck::Pod>(&mut self, name: &'static str, content: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(content);
        let buffer = self.reserve(name, bytes.len() as u64)?;
        self.gpu.queue.write_buffer(&buffer, 0, bytes);
        Ok(())
    }

    /// Binds a buffer of the slot of `bytes` bytes, whose content is undefined.
    pub(crate) fn reserve(&mut self, name: &'static str, bytes: u64) -> Result<wgpu::Buffer> {
        let buffer = self.buffers.reserve(self.gpu, name, bytes)?;
        self.bound.push((name, buffer.clone()));
        Ok(buffer)
    }

    /// Binds a buffer of the slot with the contents that the last batch left. Returns `false` if
    /// there is none.
    pub(crate) fn reuse(&mut self, name: &'static str) -> bool {
        let buffer = self.buffers.get(name).cloned();
        let is_there = buffer.is_some();
        self.bound.extend(buffer.map(|buffer| (name, buffer)));
        is_there
    }

    /// Copies a range of a buffer that the host wrote to a buffer of the slot.
    pub(crate) fn copy_in(&mut self, from: &wgpu::Buffer, bytes: Range<u64>, name: &str) -> Result<()> {
        let to = self.named(name)?;
        self.commands.copy(from, bytes.start, &to, bytes.end - bytes.start);
        Ok(())
    }

    /// Sets a range of a bound buffer, in bytes, to 0.
    pub(crate) fn zero(&mut self, name: &str, bytes: Range<u64>) -> Result<()> {
        let buffer = self.named(name)?;
        self.commands.zero(&buffer, bytes);
        Ok(())
    }

    /// Runs a program with these parameters on `workgroups` workgroups, divided over x and y.
    pub(crate) fn dispatch<P: bytemuck::Pod>(&mut self, program: &'a Compiled, params: &P, workgroups: u64) {
        self.dispatch_grid(program, params, fold(workgroups, self.max_workgroups));
    }

    /// Runs a program with these parameters on `tasks` rows of `tiles` workgroups. Tasks are
    /// divided over x and z, and tiles are along y.
    pub(crate) fn dispatch_tiles<P: bytemuck::Pod>(
        &mut self,
        program: &'a Compiled,
        params: &P,
        tasks: u64,
        tiles: u32,
    ) {
        let [x, z, _] = fold(tasks, self.max_workgroups);
        self.dispatch_grid(program, params, [x, tiles, z]);
    }

    fn dispatch_grid<P: bytemuck::Pod>(&mut self, program: &'a Compiled, params: &P, workgroups: [u32; 3]) {
        let known = self.programs.iter().position(|other| other.pipeline == program.pipeline);
        let index = known.unwrap_or_else(|| {
            self.programs.push(program);
            self.programs.len() - 1
        });
        let offset = self.uniforms.push(params);
        self.commands.dispatch(index, offset, workgroups);
    }

    /// Starts another submission, so that drivers count the time of each one separately.
    pub(crate) fn cut(&mut self) {
        self.commands.cut();
    }

    /// Copies a range of a bound buffer, in bytes, to the host after the last step. The results
    /// contain the ranges one after another.
    pub(crate) fn copy_back(&mut self, name: &str, bytes: Range<u64>) -> Result<()> {
        let buffer = self.named(name)?;
        self.commands.copy_back(&buffer, bytes);
        Ok(())
    }

    /// Reserves staging memory for `bytes` bytes of results, so that the next batch may copy back
    /// more than this one.
    pub(crate) fn make_room_for_results(&mut self, bytes: u64) {
        self.min_result_bytes = bytes;
    }

    /// Submits the batch. Does not wait.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if memory is short, a binding has no buffer or the
    /// device was lost.
    pub(crate) fn submit(mut self, label: &str) -> Result<()> {
        let Recording { gpu, buffers, uniforms, commands, .. } = self;
        let usage = wgpu::BufferUsages::UNIFORM;
        let params = buffers.params.fill(gpu, "parameters", usage, uniforms.bytes())?;
        self.bound.push(("params", params));
        let bound: Vec<_> = self.bound.iter().map(|(name, buffer)| (*name, buffer)).collect();
        let programs: Vec<BoundProgram> =
            self.programs.iter().map(|program| program.bound(gpu, &bound)).collect::<Result<_>>()?;
        buffers.submit(gpu, label, commands, &programs, self.min_result_bytes)
    }

    /// Returns the buffer that is bound to a name.
    fn named(&self, name: &str) -> Result<wgpu::Buffer> {
        let buffer = self.bound.iter().find(|(key, _)| *key == name);
        buffer
            .map(|(_, buffer)| buffer.clone())
            .ok_or_else(|| self.gpu.error(format!("no buffer is bound to '{name}'")))
    }
}
