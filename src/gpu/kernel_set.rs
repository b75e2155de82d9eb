//! Parts that every kind of work has on a device: the pipelines of its kernels, their sizes, and
//! the limits of the device.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use super::adapter::FoundAdapter;
use super::device::Gpu;
use super::engine::{GpuEngine, GpuKind};
use super::kernels::KernelProgram;
use super::pipeline::{Compiled, Pipelines, Rewrite};
use super::resident::Residents;
use crate::error::Result;

/// A buffer that stays on the device as long as the host holds the data from which it was made.
pub struct ResidentBuffer {
    /// The buffer.
    pub(crate) buffer: wgpu::Buffer,
}

/// Sizes of a kind's kernels: of workgroups, and the numbers of rows or columns that an invocation
/// keeps.
pub trait KernelSizes: Copy {
    /// Returns the default sizes on an adapter.
    fn for_adapter(adapter: &FoundAdapter, gpu: &Gpu) -> Self;
}

/// The kernels of a kind on a device, with programs `P` of sizes `S`.
pub struct KernelSet<P, S> {
    /// The device.
    pub(crate) gpu: Gpu,
    /// Sizes of the kernels.
    pub(crate) shape: S,
    /// Largest binding in bytes.
    pub(crate) binding: u64,
    /// Number of loop iterations that an invocation may make in a dispatch, if the device limits
    /// them.
    pub(crate) loop_budget: Option<u64>,
    pipelines: Pipelines<P>,
}

impl<P, S: KernelSizes> KernelSet<P, S> {
    /// Creates a kernel set with the default sizes of an adapter. Kernels are compiled when they
    /// are first used.
    pub(crate) fn new(gpu: &Gpu, adapter: &FoundAdapter) -> Self {
        KernelSet {
            shape: S::for_adapter(adapter, gpu),
            binding: gpu.binding_bytes(),
            loop_budget: gpu.description.loop_budget(),
            pipelines: Pipelines::default(),
            gpu: gpu.clone(),
        }
    }

    /// Returns a resident buffer for the data that the host holds as `source`. Uploads the data if
    /// necessary. `what` names the data in errors, and `limit` is its largest size in bytes.
    ///
    /// # Errors
    /// [`Error::Unsuited`](crate::Error::Unsuited) if the data exceeds the limit; errors of the
    /// device.
    pub(crate) fn resident<T: Send + Sync + ?Sized + 'static>(
        &self,
        residents: &mut Residents,
        source: &Arc<T>,
        what: &str,
        bytes: &[u8],
        limit: u64,
    ) -> Result<Arc<ResidentBuffer>> {
        if let Some(buffer) = residents.find(source, |_: &ResidentBuffer| true) {
            return Ok(buffer);
        }
        let (size, limit) = (bytes.len() as u64, self.binding.min(limit));
        if size > limit {
            return Err(self.gpu.refusal(format!("{size} bytes of {what} exceed its limit of {limit}")));
        }
        residents.make_room(size);
        let buffer = self.gpu.upload(what, bytes)?;
        Ok(residents.keep(source, buffer.size(), ResidentBuffer { buffer }))
    }
}

impl<P: KernelProgram + Copy + Eq + Hash + Debug + Send, S: KernelSizes> KernelSet<P, S> {
    /// Returns the pipeline of a program.
    pub(crate) fn get(&mut self, program: P) -> Result<Compiled> {
        self.pipelines.get(&self.gpu, program)
    }

    /// Returns the pipelines of several programs, compiled in parallel.
    pub(crate) fn get_all(&mut self, programs: &[P]) -> Result<Vec<Compiled>> {
        self.pipelines.get_all(&self.gpu, programs)
    }
}

/// A device state that contains a kernel set.
pub trait HasKernelSet {
    /// Programs of the kind.
    type Program: KernelProgram + Copy + Eq + Hash + Debug;
    /// Sizes of its kernels.
    type Shape: KernelSizes;

    /// Returns the kernel set.
    fn kernels(&self) -> &KernelSet<Self::Program, Self::Shape>;

    /// Returns the kernel set for modification.
    fn kernels_mut(&mut self) -> &mut KernelSet<Self::Program, Self::Shape>;
}

/// Implements [`HasKernelSet`] for a device state whose kernel set is the field `kernels`.
macro_rules! has_kernel_set {
    ($host:ty, $program:ty, $shape:ty) => {
        impl $crate::gpu::kernel_set::HasKernelSet for $host {
            type Program = $program;
            type Shape = $shape;

            fn kernels(&self) -> &$crate::gpu::kernel_set::KernelSet<$program, $shape> {
                &self.kernels
            }

            fn kernels_mut(&mut self) -> &mut $crate::gpu::kernel_set::KernelSet<$program, $shape> {
                &mut self.kernels
            }
        }
    };
}
pub(crate) use has_kernel_set;

impl<K: GpuKind<DeviceState: HasKernelSet>> GpuEngine<K> {
    /// Sets the sizes of the kernels.
    pub fn with_shape(mut self, shape: <K::DeviceState as HasKernelSet>::Shape) -> Self {
        self.state.kernels_mut().shape = shape;
        self
    }

    /// Returns the sizes of the kernels.
    pub fn shape(&self) -> <K::DeviceState as HasKernelSet>::Shape {
        self.state.kernels().shape
    }

    /// Compiles shaders with wgpu's bounds and loop checks, which make them slower. For tests.
    pub fn with_runtime_checks(self) -> Self {
        self.with_pipelines(Pipelines::with_runtime_checks)
    }

    /// Rewrites the source text of shaders before compilation, so that tests can imitate other
    /// hardware.
    pub fn with_rewritten_shaders(self, rewrite: Rewrite) -> Self {
        self.with_pipelines(|pipelines| pipelines.with_rewrite(rewrite))
    }

    fn with_pipelines<F>(mut self, change: F) -> Self
    where
        F: FnOnce(
            Pipelines<<K::DeviceState as HasKernelSet>::Program>,
        ) -> Pipelines<<K::DeviceState as HasKernelSet>::Program>,
    {
        let pipelines = &mut self.state.kernels_mut().pipelines;
        *pipelines = change(std::mem::take(pipelines));
        self
    }
}
