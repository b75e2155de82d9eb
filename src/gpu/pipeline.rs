//! Pipelines: shader sources with constants, each compiled only once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::bindings;
use super::device::Gpu;
use super::kernels::{Kernel, KernelProgram};
use crate::error::Result;

/// A change of a shader's text before compilation.
pub(crate) type Rewrite = Box<dyn Fn(String) -> String + Send>;

/// The pipelines of a device for programs of one kind. Engines of one device can share them.
pub(crate) struct Pipelines<P> {
    runtime_checks: bool,
    rewrite: Option<Rewrite>,
    /// Layouts by the stem of a kernel and the number of arenas.
    layouts: HashMap<(&'static str, u32), wgpu::BindGroupLayout>,
    known: Arc<Mutex<HashMap<P, Compiled>>>,
}

/// Programs that threads compile. Dropping this value waits for the threads, because a process must
/// not end during a compilation.
#[must_use]
pub(crate) struct CompilingAhead(Vec<JoinHandle<()>>);

impl Drop for CompilingAhead {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // If the thread panicked, the program is compiled again when it is needed.
            let _ = thread.join();
        }
    }
}

/// A program that is ready for dispatches.
#[derive(Clone)]
pub struct Compiled {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    /// The pipeline.
    pub pipeline: wgpu::ComputePipeline,
}

impl Compiled {
    /// Binds buffers by the binding names of the kernel.
    pub fn bind(&self, gpu: &Gpu, buffers: &[(&str, &wgpu::Buffer)]) -> Result<wgpu::BindGroup> {
        bindings::group(gpu, self.kernel, &self.layout, buffers)
    }
}

impl<P> Default for Pipelines<P> {
    fn default() -> Self {
        Pipelines { runtime_checks: false, rewrite: None, layouts: HashMap::new(), known: Arc::default() }
    }
}

impl<P: KernelProgram + Copy + Eq + std::hash::Hash + std::fmt::Debug> Pipelines<P> {
    /// Compiles future programs with wgpu's bounds and loop checks.
    pub(crate) fn with_runtime_checks(self) -> Self {
        Pipelines { runtime_checks: true, known: Arc::default(), ..self }
    }

    /// Returns pipelines for another engine on the same device. Both engines have every pipeline that
    /// either engine compiles. Does not copy a change of sources.
    pub(crate) fn shared(&self) -> Self {
        let (layouts, known) = (self.layouts.clone(), Arc::clone(&self.known));
        Pipelines { runtime_checks: self.runtime_checks, rewrite: None, layouts, known }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<P, Compiled>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the sources of future programs before compilation.
    pub(crate) fn with_rewrite(self, rewrite: Rewrite) -> Self {
        Pipelines { rewrite: Some(rewrite), known: Arc::default(), ..self }
    }

    /// Returns the pipeline of a program, and compiles it if necessary.
    pub(crate) fn get(&mut self, gpu: &Gpu, program: P) -> Result<Compiled> {
        let known = self.known().get(&program).cloned();
        if let Some(compiled) = known {
            return Ok(compiled);
        }
        let compiled = self.program_source(gpu, program)?.compile(gpu)?;
        self.known().insert(program, compiled.clone());
        Ok(compiled)
    }

    /// Returns the pipelines of several programs. Missing ones are compiled in parallel.
    pub(crate) fn get_all(&mut self, gpu: &Gpu, programs: &[P]) -> Result<Vec<Compiled>> {
        let mut missing: Vec<P> = Vec::new();
        for &program in programs {
            if !self.known().contains_key(&program) && !missing.contains(&program) {
                missing.push(program);
            }
        }
        if missing.len() > 1 {
            let sources: Vec<PipelineSource> =
                missing.iter().map(|&program| self.program_source(gpu, program)).collect::<Result<_>>()?;
            let compiled: Vec<Result<Compiled>> = std::thread::scope(|scope| {
                let all: Vec<_> = sources.into_iter().map(|source| scope.spawn(|| source.compile(gpu))).collect();
                let done =
                    all.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                done.collect()
            });
            for (program, compiled) in missing.into_iter().zip(compiled) {
                self.known().insert(program, compiled?);
            }
        }
        programs.iter().map(|&program| self.get(gpu, program)).collect()
    }

    /// Starts to compile the programs that are not known yet, each on a thread. An error is
    /// reported when the program is needed.
    pub(crate) fn compile_ahead(&mut self, gpu: &Gpu, programs: &[P]) -> CompilingAhead
    where
        P: Send + 'static,
    {
        let missing: Vec<P> = programs.iter().copied().filter(|program| !self.known().contains_key(program)).collect();
        let start = |program: P| {
            let source = self.program_source(gpu, program).ok()?;
            let (known, gpu) = (Arc::clone(&self.known), gpu.clone());
            let compile = move || {
                if let Ok(compiled) = source.compile(&gpu) {
                    known.lock().unwrap_or_else(PoisonError::into_inner).entry(program).or_insert(compiled);
                }
            };
            std::thread::Builder::new().name("pairwave-compiler".into()).spawn(compile).ok()
        };
        CompilingAhead(missing.into_iter().filter_map(start).collect())
    }

    /// Returns the number of known programs.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.known().len()
    }

    /// Returns the input of the compiler for a program.
    fn program_source(&mut self, gpu: &Gpu, program: P) -> Result<PipelineSource> {
        let (kernel, arenas) = (program.kernel(), program.arenas());
        // wgpu does not check this limit.
        let (bytes, limit) = (program.workgroup_memory(), gpu.description.workgroup_memory_bytes);
        if bytes > limit {
            let message = format!("{} needs {bytes} bytes of workgroup memory, and it has {limit}", kernel.stem);
            return Err(gpu.refusal(message));
        }
        let layout = self.layouts.entry((kernel.stem, arenas));
        let layout = layout.or_insert_with(|| bindings::layout(&gpu.device, kernel, arenas)).clone();
        let mut source = program.source()?;
        if let Some(rewrite) = gpu.rewrite {
            source = rewrite(source);
        }
        if let Some(rewrite) = &self.rewrite {
            source = rewrite(source);
        }
        let runtime_checks = self.runtime_checks;
        let name = format!("{program:?}");
        Ok(PipelineSource { kernel, layout, source, overrides: program.overrides(), runtime_checks, name })
    }
}

/// A program before its compilation.
struct PipelineSource {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    source: String,
    overrides: Vec<(&'static str, f64)>,
    runtime_checks: bool,
    /// Name of the program in logs of compile times.
    name: String,
}

impl PipelineSource {
    fn compile(self, gpu: &Gpu) -> Result<Compiled> {
        let PipelineSource { kernel, layout, source, overrides, runtime_checks, name } = self;
        let start = std::time::Instant::now();
        let pipeline = build(gpu, kernel, &layout, source, &overrides, runtime_checks)?;
        tracing::debug!(shader = kernel.stem, program = name, seconds = start.elapsed().as_secs_f64(), "compiled");
        Ok(Compiled { kernel, layout, pipeline })
    }
}

/// Compiles a shader. With `runtime_checks`, the code contains wgpu's bounds and loop checks.
fn build(
    gpu: &Gpu,
    kernel: &Kernel,
    layout: &wgpu::BindGroupLayout,
    source: String,
    overrides: &[(&str, f64)],
    runtime_checks: bool,
) -> Result<wgpu::ComputePipeline> {
    let device = &gpu.device;
    let label = Some(kernel.stem);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor = wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(source.into()) };
    let checks =
        if runtime_checks { wgpu::ShaderRuntimeChecks::checked() } else { wgpu::ShaderRuntimeChecks::unchecked() };
    // SAFETY: every index that a shader forms is below the size of the array that it indexes. Task
    // and target indices come from lists of the given sizes. Sequence words come from ranges inside
    // the store. Scratch indices use slot < slots and row < rows_words. Arena words lie in the part
    // that the host assigned to the task. Symbol codes come from stores of the alphabet. Every loop
    // ends. The tests run the same sources with all checks enabled.
    let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: overrides,
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    });
    match pollster::block_on(validation.pop()) {
        Some(error) => Err(gpu.error(format!("{}: the shader does not compile: {error}", kernel.stem))),
        None => Ok(pipeline),
    }
}
